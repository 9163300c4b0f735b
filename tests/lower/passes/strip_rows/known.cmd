# The tile interpreter gives the same before and after the pass, and the nest is right.
for passes in fold_ranges strip_rows; do
  nereid compile known.tile --run-passes $passes --emit tile |
    nereid run - x_ptr=randn:bf16[2,304] w_ptr=rand:bf16[304] out_ptr=empty:bf16[2,304] --grid 2 --device interp
done
nereid run known.tile x_ptr=randn:bf16[2,304] w_ptr=rand:bf16[304] out_ptr=empty:bf16[2,304] --grid 2 --device nest
