export NEREID_CACHE_DIR=
GRID=1 DEVICE=cpu
try() {
  nereid tune tuning.py:scale x=rand:f32[64] y=zeros:f32[64] n=64 --grid "$GRID" --device "$DEVICE" "$@"
  echo $?
}
try --space BLOK=64
try --space n=64
try --space BLOCK
try --space BLOCK=
try --space BLOCK=,
try --space BLOCK=64,,32
try --space BLOCK=64 --space BLOCK=32
try --space BLOCK=64 --num-warps 4 --space num_warps=8
try --space BLOCK=64 -D BLOCK=32
try --space BLOCK=64 -D BLOK=32
GRID='cdiv(n, BLOCK)' try --space BLOCK=abc,2.5
try --space BLOCK=64 --num-warps x
try --space BLOCK=64 --num-stages 0
try --space BLOCK=5..1
try --space BLOCK=1..99999
try --space BLOCK=-9223372036854775808..9223372036854775807
try --space BLOCK=9223372036854775807..9223372036854775808
try --space BLOCK=1..1000 --num-warps 1..32 --num-stages 1..5
DEVICE=interp try --space BLOCK=64
DEVICE=nowhere try --space BLOCK=64
try --space BLOCK=64 --budget soon
try --space BLOCK=64 --budget -1
try --space BLOCK=64 --budget nan
try --space BLOCK=64 --seed x
try --space BLOCK=64 --json no-such/folder
try --space BLOCK=64 --report no-such/folder
try --space BLOCK=64 z=1
try --space BLOCK=64 n=1
try --space BLOCK=64 BLOCK=64
GRID=0 try --space BLOCK=64
nereid tune tuning.py:scale x=rand:f32[64] n=64 --grid 1 --device cpu --space BLOCK=64
nereid tune tuning.py:scale x=rand:f32[64] n=64 --device cpu --space BLOCK=64
nereid tune tuning.py:plain x=zeros:f32[1] --grid 1 --device cpu
nereid tune
