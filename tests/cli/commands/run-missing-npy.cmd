nereid run add.py:add --device interp x_ptr=@missing.npy --grid 1
