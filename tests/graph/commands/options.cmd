# What is not there yet, or wrong.
m=../../models/chain/model.pt2
for args in "" "$m --explain=x" "$m --range s0=1..2" "$m --range s0" "$m --range s0=1..2x" "$m --range =1..2" "$m --rewrite x.py" \
  "$m --emit fused" "$m --emit grph" \
  "$m --mode reduce-overhead --random-inputs" "$m --mode fast" "$m --run-passes simplify" "$m -o x" \
  "$m --tol -1" "$m --tol x --compare ." "$m --device interp a.npy" "$m --device tpu" \
  "$m --emit graph --run-passes fuse" "$m --weights args.h" "$m --time=3"; do
  nereid graph $args
  echo "$args: $?"
done
