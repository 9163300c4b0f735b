# The tile interpreter gives the same before and after the pass.
for passes in fold_ranges strip_rows; do
  nereid compile parts.tile --run-passes $passes --emit tile |
    nereid run - x_ptr=randn:f32[2,100001] out_ptr=empty:f32[2,100001] n=100001 --grid 2 --device interp
  nereid compile cluster.tile --run-passes $passes --emit tile |
    nereid run - x_ptr=randn:f32[2,100001] out_ptr=empty:f32[2,100001] n=100001 --grid 2 --device interp
done
