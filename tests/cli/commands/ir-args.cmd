nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=64 --emit tile -o "$TMP/x.tile"
cd "$TMP"
nereid compile x.tile --sig 'x_ptr=*fp32'
nereid compile x.tile --num-warps 8
nereid compile x.tile:other
nereid compile x.tile --emit ast
nereid run x.tile --device interp x_ptr=ones:f64[64] --grid 1
nereid run x.tile --device interp x_ptr=ones:f32[64] --grid 1
