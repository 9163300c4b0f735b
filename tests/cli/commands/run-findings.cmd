nereid run add.py:unmasked --device interp x_ptr=ones:f32[100] out_ptr=empty:f32[128] -D BLOCK=64 --grid 2
