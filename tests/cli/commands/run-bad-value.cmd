nereid run add.py:add --device interp n=twelve --grid 1
