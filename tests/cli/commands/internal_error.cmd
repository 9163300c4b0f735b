# The report of an internal error, but for the line and the build.
NEREID_FAIL_STAGE=schedule nereid compile ../../../examples/kernels/vector_add.py \
  --sig 'x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32' -D BLOCK=256 2> "$TMP/report"
status=$?
sed 's/bug\.c:[0-9]*/bug.c:LINE/; s/([0-9a-f]\{16\})/(BUILD)/' "$TMP/report" >&2
exit $status
