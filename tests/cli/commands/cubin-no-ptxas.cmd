NEREID_PTXAS= NEREID_LIBCUDA=/no/libcuda.so nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=64 --emit cubin
