nereid run add.py:add --device interp n=5 -D BLOCK=64 --grid 'cdiv(n, BLOK)'
