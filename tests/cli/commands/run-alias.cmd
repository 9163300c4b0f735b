nereid run add.py:add --device interp x_ptr=ones:f32[4,16] y_ptr=\&x_ptr out_ptr=empty:f32[4,16] n=64 scale=1.0 -D BLOCK=64 --grid 1
