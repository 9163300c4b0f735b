# The nest interpreter gives the same before and after the pass.
for file in fields words; do for passes in cse field_tables; do
  nereid compile $file.thread --run-passes $passes --emit thread |
    nereid run - w_ptr=randint:i32[64]:-2147483648:2147483647 s_ptr=randn:f32[4] out_ptr=zeros:f32[64] --grid 1 --device nest
done; done
