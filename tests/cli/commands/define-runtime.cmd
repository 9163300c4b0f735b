# A constant is no run-time parameter's value: it would promote as constexprs do.
nereid run add.py:add x_ptr=ones:f32[64] y_ptr=ones:f32[64] out_ptr=empty:f32[64] n=64 -D scale=2 -D BLOCK=64 \
    --grid 1 --device interp; echo $?
nereid compile add.py:add --sig 'x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,scale=fp32' -D n=64 -D BLOCK=64; echo $?
nereid estimate add.py:add x_ptr=ones:f32[64] y_ptr=ones:f32[64] out_ptr=empty:f32[64] n=64 -D scale=1.5 -D BLOCK=64 \
    --grid 1; echo $?
nereid tune add.py:add x_ptr=ones:f32[64] y_ptr=ones:f32[64] out_ptr=empty:f32[64] scale=1.5 -D n=64 --grid 1 \
    --device cpu; echo $?
# Pointers are left out by None, which is no number.
nereid compile add.py:add --sig 'x_ptr=*fp32,out_ptr=*fp32,n=i32,scale=fp32' -D y_ptr=None -D BLOCK=64 2>&1 | head -1
