nereid run add.py:add --device interp n=5 --grid '1, n - 6'
