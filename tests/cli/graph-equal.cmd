# Sizes that a node takes to be equal, as the model does not say it, are so in every run.
m=../models
nereid graph graph_equal.py $m/mlp/input_0.npy $m/mlp/input_0.npy --device interp | cut -c1-20
nereid graph graph_equal.py $m/mlp/input_0.npy $m/chain/input_0.npy --device interp
