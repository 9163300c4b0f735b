# Inputs that are numbers: NAME=INTEGER, or a file; those that are left out are chosen.
nereid graph number.py --emit plan -o $TMP/n.plan
grep -E '^(symbol|input|output)' $TMP/n.plan
nereid graph $TMP/n.plan --emit plan | cmp - $TMP/n.plan
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "import numpy; numpy.save('$TMP/n.npy', numpy.array(3)); numpy.save('$TMP/x.npy', numpy.arange(8, dtype='f4').reshape(2, 4))"
nereid graph number.py $TMP/x.npy $TMP/n.npy m=4 --device interp
nereid graph number.py n=3 $TMP/x.npy --device interp
nereid graph $TMP/n.plan $TMP/x.npy n=0 --device cpu
nereid graph number.py --random-inputs --device interp | tail -2
nereid graph number.py $TMP/x.npy n=3 m=5 --device interp
nereid graph number.py $TMP/x.npy n=-1 --device interp
nereid graph number.py $TMP/x.npy $TMP/x.npy --device interp
nereid graph number.py k=3 --device interp
nereid graph number.py x=3 --device interp
nereid graph number.py n=3 n=4 --device interp
nereid graph number.py n=3 $TMP/x.npy m=4 $TMP/n.npy --device interp
nereid graph number.py --range s1=2..4 n=5 --random-inputs --device interp
nereid graph number_kinds.py --random-inputs --device interp
nereid graph number_operand.py --random-inputs --device interp
sed 's/"i64\[\]" gives/"f32[]" gives/' $TMP/n.plan > $TMP/bad.plan
nereid graph $TMP/bad.plan --emit plan 2>&1 | sed "s#.*/bad.plan#bad.plan#" >&2
