nereid run add.py:add --device interp n --grid 1
