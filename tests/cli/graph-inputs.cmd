# Inputs of another shape or dtype, too many of them, and one that is no file.
m=../models
nereid graph $m/chain/model.pt2 $m/mlp/input_0.npy --device interp
nereid graph $m/dyn_mlp/model.pt2 $m/mlp/input_0.npy --device interp
nereid graph $m/chain/model.pt2 $m/hf_bert/input_0.npy --device interp
nereid graph $m/chain/model.pt2 $m/chain/input_0.npy $m/chain/input_0.npy --device interp
nereid graph $m/chain/model.pt2 $m/chain/readable.txt --device interp
nereid graph $m/mlp/readable.txt --weights $m/chain/model.pt2 --device interp
nereid graph $m/none.pt2
