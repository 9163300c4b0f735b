nereid compile add.py:add --num-warps 3
