# The tile interpreter gives the same before and after the pass, where iterations are none, one and several.
for n in 0 200 1000; do
  for kernel in sums numbers; do
    for passes in fold_ranges load_ahead; do
      nereid compile $kernel.tile --run-passes $passes --emit tile |
        nereid run - x_ptr=randn:f32[1000] out_ptr=empty:f32[1] n=$n --grid 1 --device interp
    done
  done
done
