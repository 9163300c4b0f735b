# Sizes that a node takes to be equal, as the model does not say it, are so in every run, also of
# the plan.
m=../../models
nereid graph equal.py $m/mlp/input_0.npy $m/mlp/input_0.npy --device interp | cut -c1-20
nereid graph equal.py --emit plan | grep equal
nereid graph equal.py --emit plan > $TMP/equal.plan
nereid graph $TMP/equal.plan --emit plan | cmp - $TMP/equal.plan
nereid graph $TMP/equal.plan $m/mlp/input_0.npy $m/chain/input_0.npy --device interp 2>&1
nereid graph equal.py $m/mlp/input_0.npy $m/chain/input_0.npy --device interp
# An annotation says it as well.
nereid graph annotated.py $m/mlp/input_0.npy $m/chain/input_0.npy --device interp
# Heads that are shared by groups divide the query's.
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "import numpy; [numpy.save(f'$TMP/{n}.npy', numpy.ones((n, 32), 'f4')) for n in (0, 3, 4, 6)]"
for k in 3 4 0; do
  nereid graph heads.py $TMP/6.npy $TMP/$k.npy --device interp
done
