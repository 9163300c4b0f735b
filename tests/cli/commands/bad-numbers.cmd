# Numbers that fit nothing.
R="x_ptr=ones:f32[64] y_ptr=ones:f32[64] out_ptr=empty:f32[64] -D BLOCK=64 --device interp"
try() { nereid run add.py:add $R scale=1.0 "$@"; echo $?; }
try n=99999999999999999999 --grid 1
try n=-9223372036854775809 --grid 1
try n=1:i8 --grid 1 | tail -1
try n=300:i8 --grid 1
try n=1.5:i32 --grid 1
try n=1 --grid 99999999999999999999
try n=1 --grid 4294967296
try n=1 --grid "4294967295*4294967295*4294967295"
try n=1 --grid "$(printf '(%.0s' $(seq 5000))"
try n=1 --grid ''
try n=1 --grid ',,'
nereid run add.py:add x_ptr=rand:f32[99999999999999] y_ptr=ones:f32[1] out_ptr=ones:f32[1] n=1 scale=1.0 -D BLOCK=1 --grid 1 2>&1 | sed 's/, [0-9]* MiB free/, N MiB free/'
nereid run add.py:add x_ptr=rand:f32[-1] y_ptr=ones:f32[1] out_ptr=ones:f32[1] n=1 scale=1.0 -D BLOCK=1 --grid 1
nereid run add.py:add x_ptr=rand:f32[1,2,3,4,5,6,7,8,9,10] y_ptr=ones:f32[1] out_ptr=ones:f32[1] n=1 scale=1.0 -D BLOCK=1 --grid 1
