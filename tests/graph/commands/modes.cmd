# All modes give the same where there is no GPU, also for a model that updates its cache.
for model in chain kv_decode; do
  m=../../models/$model
  for mode in default eager reduce-overhead max-autotune; do
    nereid graph $m/model.pt2 $m/input_*.npy --device interp --mode $mode --compare $m > $TMP/out
    echo "$model $mode: $?"
  done
done
# Stages of the modes that measure or record are those of the default.
m=../../models/mlp/model.pt2
nereid graph $m --emit plan -o $TMP/default.plan
for mode in reduce-overhead max-autotune; do
  nereid graph $m --emit plan --mode $mode | cmp - $TMP/default.plan
done
nereid graph $m --emit plan --mode eager | cmp -s - $TMP/default.plan; echo "eager differs: $?"
