nereid run add.py:unmasked --device gpu --grid 1
