# More stages than the proof tells apart: the kernel is compiled without a ring.
nereid compile many_stages.py --target sm_80 --num-warps 1 --num-stages 50 --emit thread \
  --sig a_ptr=*fp16:16,b_ptr=*fp16:16,c_ptr=*fp32:16,K=i32:16 > $TMP/thread
grep -c 'cp.async' $TMP/thread
grep -c 'mma' $TMP/thread
