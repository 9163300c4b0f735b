nereid run add.py:unmasked --device interp x_ptr=ones:f32[64] -D BLOCK=64 --grid 1
