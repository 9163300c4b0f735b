nereid run add.py:add --device interp n=1 n=2 --grid 1
