nereid compile add.py:add --sig 'n=i32,n=i64'
