nereid run add.py:add --device interp n=5 --grid 'n / 2'
