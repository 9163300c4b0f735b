# Triton's other names of types: of truth values, and of pointers that are only read.
nereid compile add.py:add --sig 'x_ptr=*kfp32:16,y_ptr=*ku1,out_ptr=*fp32,n=i32,scale=u1' -D BLOCK=16 --emit tile | head -1
nereid compile add.py:add --sig 'x_ptr=kfp32,y_ptr=*u1,out_ptr=*fp32,n=i32,scale=i1' -D BLOCK=16
