# Hints widen accesses, and those that are false are found.
S='x=*fp32:16,o=*fp32:16'
width() { nereid compile hints.py:$1 --sig "$2" $3 --emit ptx | grep -cE '(ld|st).global.v4.b32'; }
width scalar "$S,n=i32"
width tile "$S,n=i32"
width wrapped "$S,M=i32" "-D BM=512"
width gathered "x=*fp32:16,p=*i32:16,o=*fp32:16"
try() { echo "$@"; nereid run hints.py:"$@" 2>&1 | head -1; }
for n in 32 3; do
  for k in scalar tile; do
    try $k x=ones:f32[2048] o=zeros:f32[2048] n=$n --grid 1 --device interp
    try $k x=ones:f32[2048] o=zeros:f32[2048] n=$n --grid 1 --device nest
  done
done
for device in interp nest; do
  for M in 128 100; do
    try wrapped x=ones:f32[128] o=zeros:f32[128] M=$M -D BM=64 --grid 2 --device $device
  done
  for n in 8 12; do try equal o=empty:i32[64] n=$n --grid 1 --device $device; done
  for p in zeros:i32[512] randint:i32[512]:0:5:1; do
    try gathered x=ones:f32[8] p=$p o=empty:f32[512] --grid 1 --device $device
  done
  for n in 6 5; do try assumed o=zeros:i32[1] n=$n --grid 1 --device $device; done
done
for device in interp nest cpu; do
  try wrapped x=randn:f32[128]:1 o=zeros:f32[256] M=128 -D BM=64 --grid 4 --device $device
done
nereid run hints.py:equal o=empty:i32[64] n=20 --grid 1 --device interp > $TMP/out
