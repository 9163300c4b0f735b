nereid run add.py:unmasked --device interp x_ptr=ones:f32[64] out_ptr=empty:f32[64] -D BLOCK=64 --grid 65536,65536
