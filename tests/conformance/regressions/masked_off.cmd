nereid run masked_off.py x=ones:f16[3,40] y=empty:f32[16,16] n=40 -D ROWS=16 -D COLS=16 --grid 1 --device cpu
