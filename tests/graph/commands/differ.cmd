# An open axis that is squeezed stays, and is 1 in no run; what is reshaped to whole rows has whole rows.
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "import numpy; [numpy.save(f'$TMP/{n}.npy', numpy.ones((n, 32), 'f4')) for n in (0, 1, 2)]"
nereid graph differ.py --emit plan > $TMP/differ.plan
grep differ $TMP/differ.plan
nereid graph $TMP/differ.plan --emit plan | cmp - $TMP/differ.plan
for n in 0 1 2; do
  nereid graph differ.py $TMP/$n.npy --device interp
done
nereid graph $TMP/differ.plan $TMP/1.npy --device interp
nereid graph rows.py $TMP/1.npy --device interp
