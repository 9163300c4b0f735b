nereid run add.py:unmasked --device interp x_ptr=randn:bf16[64]:5 out_ptr=empty:bf16[64] -D BLOCK=64 --grid 1 --out out_ptr="$TMP/o.npy"
ls "$TMP"
nereid run add.py:unmasked --device interp "x_ptr=@$TMP/o.npy:bf16" out_ptr=empty:bf16[64] -D BLOCK=64 --grid 1
