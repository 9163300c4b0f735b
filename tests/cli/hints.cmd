# Hints widen accesses, and those that are false are found.
S='x=*fp32:16,o=*fp32:16'
width() { nereid compile hints.py:$1 --sig "$2" $3 --emit ptx | grep -cE '(ld|st).global.v4.b32'; }
width scalar "$S,n=i32"
width tile "$S,n=i32"
try() { echo "$@"; nereid run hints.py:"$@" 2>&1 | head -1; }
for n in 32 3; do
  for k in scalar tile; do
    try $k x=ones:f32[2048] o=zeros:f32[2048] n=$n --grid 1 --device interp
    try $k x=ones:f32[2048] o=zeros:f32[2048] n=$n --grid 1 --device nest
  done
done
try wrapped x=ones:f32[128] o=zeros:f32[128] M=128 -D BM=64 --grid 2 --device interp
try wrapped x=ones:f32[128] o=zeros:f32[128] M=100 -D BM=64 --grid 2 --device interp
try equal o=empty:i32[64] n=8 --grid 1 --device interp
try equal o=empty:i32[64] n=12 --grid 1 --device interp
nereid run hints.py:equal o=empty:i32[64] n=20 --grid 1 --device interp > $TMP/out
