nereid run add.py:add --device interp xptr=ones:f32[8] --grid 1
