nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=64 --emit c
