nereid compile add.py:add --sig x_pt=*fp32
