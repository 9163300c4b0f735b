# The tile interpreter gives the same before and after the pass where the row ends in any strip, and the nest is right.
for n in 1 63 64 65 129 511 512; do
  for passes in fold_ranges strip_rows; do
    nereid compile ragged.tile --run-passes $passes --emit tile |
      nereid run - x_ptr=randn:bf16[2,$n] w_ptr=rand:bf16[$n] out_ptr=empty:bf16[2,$n] n=$n --grid 2 --device interp
  done
  nereid run ragged.tile x_ptr=randn:bf16[2,$n] w_ptr=rand:bf16[$n] out_ptr=empty:bf16[2,$n] n=$n --grid 2 --device nest
done
for kernel in ragged_offset_last ragged_counted; do
  for passes in fold_ranges strip_rows; do
    nereid compile $kernel.tile --run-passes $passes --emit tile |
      nereid run - x_ptr=rand:bf16[3,301] out_ptr=empty:bf16[3,301] --grid 3 --device interp
  done
  nereid run $kernel.tile x_ptr=rand:bf16[3,301] out_ptr=empty:bf16[3,301] --grid 3 --device nest
done
# Rows that begin at odd elements and fill the tile, or are longer: the last column is none too many.
for n in 513 600; do
  for passes in fold_ranges strip_rows; do
    nereid compile ragged.tile --run-passes $passes --emit tile |
      nereid run - x_ptr=randn:bf16[4,$n] w_ptr=rand:bf16[$n] out_ptr=zeros:bf16[4,$n] n=$n --grid 4 --device interp
  done
  nereid run ragged.tile x_ptr=randn:bf16[4,$n] w_ptr=rand:bf16[$n] out_ptr=zeros:bf16[4,$n] n=$n --grid 4 --device nest
done
