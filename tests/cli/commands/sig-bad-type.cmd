nereid compile add.py:add --sig 'x_ptr=*fp31'
