# The nest interpreter gives the same before and after the pass, for bounds of no column, of some, and below 0.
for n in -2147483648 -1 0 1 300 1024; do
  for passes in cse shift_compares; do
    nereid compile columns.thread --run-passes $passes --emit thread |
      nereid run - x_ptr=randn:f32[1024] out_ptr=zeros:f32[1024] n=$n --grid 1 --device nest
  done
done
