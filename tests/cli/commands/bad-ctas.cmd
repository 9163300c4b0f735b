nereid compile add.py:add --num-ctas 3
