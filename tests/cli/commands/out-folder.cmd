# Where the result can't be written is said before the run; an old file stays as it was.
R="x_ptr=ones:f32[64] out_ptr=empty:f32[64] -D BLOCK=64 --grid 1 --device interp"
nereid run add.py:unmasked $R --out out_ptr="$TMP/none/o.npy" 2>&1 | sed "s|$TMP|TMP|"
nereid run add.py:unmasked $R --out out_ptr="$TMP" 2>&1 | sed "s|$TMP|TMP|"
nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=64 -o "$TMP/none/x.ptx" 2>&1 | sed "s|$TMP|TMP|"
nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=64 -o ''; echo $?
echo old > "$TMP/o.npy"
nereid run add.py:unmasked x_ptr=ones:f64[64] $R --out out_ptr="$TMP/o.npy" 2>/dev/null
nereid run add.py:unmasked x_ptr=ones:f32[64] -D BLOCK=64 --grid 1 --out out_ptr="$TMP/o.npy" 2>/dev/null
cat "$TMP/o.npy"; ls "$TMP"
