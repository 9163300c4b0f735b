nereid run add.py:add --device interp --grid 1,1,1,1
