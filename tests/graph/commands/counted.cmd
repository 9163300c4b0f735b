# A size that data decides is what its annotation says, in every run, also of the plan.
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "import numpy; [numpy.save(f'$TMP/{n}.npy', numpy.arange(4, dtype='f4') - 3 + n) for n in (1, 2, 3)]"
nereid graph counted.py --emit plan > $TMP/counted.plan
grep -E '^(equal|read)' $TMP/counted.plan
nereid graph $TMP/counted.plan --emit plan | cmp - $TMP/counted.plan
nereid graph counted.py $TMP/2.npy $TMP/2.npy --device interp
nereid graph counted.py $TMP/2.npy $TMP/3.npy --device interp
nereid graph counted.py $TMP/3.npy $TMP/3.npy --device interp
nereid graph $TMP/counted.plan $TMP/1.npy $TMP/1.npy --device interp
