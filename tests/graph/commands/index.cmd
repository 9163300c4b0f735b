# Indices in the data of an input that no tensor has.  They are told; without checks no other memory
# is read or written.
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "
import numpy
numpy.save('$TMP/x.npy', numpy.arange(1, 7, dtype='f4').reshape(3, 2))
numpy.save('$TMP/i.npy', numpy.array([-3, 2, 3 << 40, -(3 << 40)]))
numpy.save('$TMP/j.npy', numpy.array([0, 2, 2, 3 << 40]))"
inputs="$TMP/x.npy $TMP/i.npy"
for d in cpu nest interp; do
  nereid graph index.py $inputs --device $d
  nereid graph index.py $TMP/x.npy $TMP/j.npy --device $d
  nereid graph index.py $inputs --device $d --no-checks
done
nereid graph index.py $inputs --device interp --mode eager
nereid graph index.py $inputs --device interp --mode eager --no-checks
nereid graph index.py --device cpu --emit plan -o $TMP/index.plan
grep ^records $TMP/index.plan
nereid graph $TMP/index.plan $inputs --device interp
echo $?
