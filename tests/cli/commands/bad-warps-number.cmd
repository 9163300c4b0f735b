nereid compile add.py:add --num-warps many
