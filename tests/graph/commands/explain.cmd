# What kernels do: without a run, floors; with one, times.  Interpreters have no rates.
m=../../models/chain/model.pt2
nereid graph $m --explain --device interp
nereid graph ../../models/dyn_mlp/readable.txt --emit explain --device cuda | sed -n '1,2p;/^step 1/,$p'
nereid graph $m --emit plan --device cpu -o $TMP/chain.plan
nereid graph $TMP/chain.plan --explain --device interp
nereid graph $m --random-inputs --time --explain --device interp | awk '/^ .*(#|k0|kernels)/ {print NF, $1, $NF} /reached/ {print $9, $10, $11, $12}'
nereid graph $m --explain --device cuda | sed 's/;.*//; s/device .*/device D/; s/  *[0-9.]*  memory/  T  memory/; s/, in .* us/, in T us/; /all kernels/d'
nereid graph $m --explain --mode eager --device cpu | grep -c mode.eager
# Bytes that any plan moves, with what a step reads of a cache and writes there, and bytes between kernels.
nereid graph cache_step.py --emit explain --device cuda | sed -n '/^ *[0-9]  /s/  [0-9.]*  memory/  T  memory/p; /^must/s/, in .* us/, in T us/p; /more for/s/[0-9.]* us/T us/p'
# What a run takes longer, by cause.
nereid graph $m --random-inputs --time --explain --device cpu 2>/dev/null | grep -c 'must move.*of the run'
