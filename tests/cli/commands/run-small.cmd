nereid run add.py:add --device interp x_ptr=randint:i32[3]:0:10:4 y_ptr=ones:i32[3] out_ptr=empty:i32[3] n=3 scale=2 -D BLOCK=64 --grid 1
