nereid run add.py:add --device interp x_ptr=ones:f32[8]
