nereid compile add.py:add --target sm_70
