nereid compile add.py:add -D BLOCK=18446744073709551615
