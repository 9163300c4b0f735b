nereid run add.py:add --device interp BLOCK=64 --grid 1
