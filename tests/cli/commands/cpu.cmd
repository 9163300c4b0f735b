NEREID_CACHE_DIR=$TMP/cache nereid run add.py:add --device cpu x_ptr=rand:f32[100] y_ptr=ones:f32[100] out_ptr=empty:f32[100] n=100 scale=2.0 -D BLOCK=64 --grid 'cdiv(n, BLOCK)'
