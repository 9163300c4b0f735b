nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=64 --emit tile -o "$TMP/x.tile"
ls "$TMP"
nereid compile "$TMP/x.tile" --emit tile | cmp - "$TMP/x.tile"
