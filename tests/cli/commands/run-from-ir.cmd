nereid compile add.py:add --sig 'x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i64,scale=fp32' -D BLOCK=64 --emit tile -o "$TMP/x.tile" --run-passes ''
nereid run "$TMP/x.tile" --device interp x_ptr=ones:f32[100] y_ptr=ones:f32[100] out_ptr=empty:f32[100] n=100 scale=0.5 --grid 'cdiv(n, 64)'
