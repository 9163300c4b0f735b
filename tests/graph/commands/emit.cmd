# A graph as text: printed again, with weights, after passes, as a plan that reads back, drawn.
cp ../../models/mlp/readable.txt $TMP/mlp.py
nereid graph $TMP/mlp.py --emit graph | cmp - ../../models/mlp/readable.txt
nereid graph ../../models/mlp/model.pt2 --emit graph -o $TMP/again.py && cmp $TMP/again.py $TMP/mlp.py
nereid graph $TMP/mlp.py --emit plan | grep -c '^weight'
nereid graph $TMP/mlp.py --weights ../../models/mlp/model.pt2 --emit plan -o $TMP/mlp.plan
grep -c '^weight' $TMP/mlp.plan
nereid graph $TMP/mlp.plan --emit plan | cmp - $TMP/mlp.plan
nereid graph $TMP/mlp.py --run-passes functionalize,simplify --emit graph | grep -c return
nereid graph $TMP/mlp.py --emit kernels -o $TMP/kernels.py && nereid list $TMP/kernels.py | wc -l
nereid graph $TMP/mlp.py --emit dot --run-passes ""
nereid graph $TMP/mlp.py --emit dot | grep -c subgraph
