nereid run add.py:add --device interp x_ptr=\&z_ptr --grid 1
