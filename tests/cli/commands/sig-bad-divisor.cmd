nereid compile add.py:add --sig 'scale=fp32:16'
