nereid run add.py:add --device interp n=0 -D BLOCK=64 --grid 'cdiv(n, BLOCK)'
