# The tile interpreter gives the same before and after the pass, where iterations are none, one and several.
for n in 0 200 1000; do
  for kernel in twice by_turns; do
    for passes in fold_ranges reverse_loops; do
      nereid compile $kernel.tile --run-passes $passes --emit tile |
        nereid run - x_ptr=randn:f32[1000] out_ptr=zeros:f32[1000] n=$n --grid 1 --device interp
    done
  done
done
for passes in fold_ranges reverse_loops; do
  nereid compile in_place.tile --run-passes $passes --emit tile |
    nereid run - x_ptr=randn:f32[1000] out_ptr=zeros:f32[1] n=1000 --grid 1 --device interp 2>&1
done
