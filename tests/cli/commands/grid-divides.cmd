nereid run add.py:add --device interp n=0 --grid '8 // n'
