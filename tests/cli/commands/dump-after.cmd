nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=64 --emit tile --dump-after schedule 2>&1 >/dev/null | sed '1s/[0-9.]* ms/T ms/' | head -3
