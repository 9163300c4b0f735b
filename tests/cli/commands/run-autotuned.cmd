# An autotuned kernel runs as it stands: with its first configuration, until one was measured.
# slow: it measures
export NEREID_CACHE_DIR="$TMP/cache"
cp -r "$MEASURED" "$NEREID_CACHE_DIR"
try() { k=$1; shift; nereid run decorated.py:$k "$@" --grid 'cdiv(n, BLOCK)' 2>&1; }
for d in interp nest cpu; do
  try pair x=ones:i8[4] y=empty:i32[4] n=4 --device $d
done
try pair x=ones:i8[4] y=empty:i32[4] n=4 --device interp -D BLOCK=64
try pair x=ones:i8[4] y=empty:i32[4] n=4 --device interp -D BLOCK=16 k=5
try single x=ones:i8[4] y=empty:i32[4] n=4 --device interp
try pruned y=empty:i32[40] n=40 --device interp
# What was measured is taken; a sweep takes nothing else.
try pruned y=empty:i32[40] n=40 --device cpu --tune > $TMP/out || cat $TMP/out
try pruned y=empty:i32[40] n=40 --device cpu > $TMP/out && grep -c note $TMP/out
nereid bench decorated.py:pruned 'y=empty:i32[n]' --x n=48 --grid 'cdiv(n, BLOCK)' --device cpu 2>&1; echo $?
# A configuration's pre_hook zeroes arrays before the launch; options alone are a choice too.
for d in interp nest cpu; do
  try split_sum x_ptr=ones:f32[256] out_ptr=ones:f32[1] n=256 --device $d
  try split_sum x_ptr=ones:f32[64] out_ptr=ones:f32[1] n=64 -D SPLIT=1 --device $d
  try warps x_ptr=ones:f32[64] out_ptr=empty:f32[64] n=64 -D BLOCK=64 --device $d
done
try warps x_ptr=ones:f32[64] out_ptr=empty:f32[64] n=64 -D BLOCK=64 --device nest --num-warps 2 -v 2>&1 |
  grep tune:
# What can't be evaluated needs values.
nereid run tuning.py:listed x=ones:f32[64] y=zeros:f32[64] n=64 --grid 'cdiv(n, BLOCK)' --device interp 2>&1
