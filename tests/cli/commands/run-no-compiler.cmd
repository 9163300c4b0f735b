NEREID_CACHE_DIR= CC=/no/cc nereid run add.py:unmasked --device cpu x_ptr=ones:f32[64] out_ptr=ones:f32[64] -D BLOCK=64 --grid 1
