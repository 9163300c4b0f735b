nereid run add.py:unmasked --device interp x_ptr=ones:f32[64] out_ptr=ones:f32[64] --grid 1
