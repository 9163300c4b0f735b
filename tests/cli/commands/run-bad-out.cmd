nereid run add.py:add --device interp n=1 --grid 1 --out z_ptr=z.npy
