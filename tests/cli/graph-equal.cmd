# Sizes that a node takes to be equal, as the model does not say it, are so in every run, also of
# the plan.
m=../models
nereid graph graph_equal.py $m/mlp/input_0.npy $m/mlp/input_0.npy --device interp | cut -c1-20
nereid graph graph_equal.py --emit plan | grep equal
nereid graph graph_equal.py --emit plan > $TMP/equal.plan
nereid graph $TMP/equal.plan --emit plan | cmp - $TMP/equal.plan
nereid graph $TMP/equal.plan $m/mlp/input_0.npy $m/chain/input_0.npy --device interp 2>&1
nereid graph graph_equal.py $m/mlp/input_0.npy $m/chain/input_0.npy --device interp
# An annotation says it as well.
nereid graph graph_annotated.py $m/mlp/input_0.npy $m/chain/input_0.npy --device interp
