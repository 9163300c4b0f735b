# Narrower ranges of sizes: in the plan, and for inputs.
m=../models/dyn_mlp
nereid graph $m/model.pt2 --emit plan | grep symbol
s=$(nereid graph $m/model.pt2 --emit plan | sed -n 's/^symbol \(s[0-9]*\) .*/\1/p' | head -1)
nereid graph $m/model.pt2 --emit plan --range $s=4..32 | grep symbol
nereid graph $m/model.pt2 --emit plan -o $TMP/mlp.plan
nereid graph $TMP/mlp.plan --emit plan --range $s=4..4 | grep symbol
nereid graph $m/model.pt2 $m/input_0.npy --device interp --range $s=2..3
nereid graph $m/model.pt2 --range $s=0..3
nereid graph $m/model.pt2 --range $s=3..2
nereid graph $m/model.pt2 --range batch=2..3
nereid graph ../models/mlp/model.pt2 --range s0=2..3
