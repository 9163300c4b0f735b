nereid compile add.py:add --emit til
