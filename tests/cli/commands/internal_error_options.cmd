# The command that repeats a compilation has all of its options.
NEREID_FAIL_STAGE=schedule nereid compile ../../../examples/kernels/vector_add.py \
  --sig 'x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32' -D BLOCK=256 --num-warps 2 --num-stages 4 \
  --maxnreg 64 --no-fp-fusion --debug --allow-overflow --denormals --pdl \
  --input-precision ieee 2> "$TMP/report"
status=$?
grep 'repeat it by' "$TMP/report" >&2
exit $status
