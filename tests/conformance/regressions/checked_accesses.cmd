# With --debug each access through an argument is checked on device cpu.
for device in cpu:4 cpu:8; do
  run() { nereid run checked_accesses.py:"$@" --device cpu --target $device --debug 2>&1; }
  add() { run add x=ones:f32[1000] y=ones:f32[1000] o=zeros:f32[1000] -D B=256 --grid 4 "$@"; }
  moved() { run moved x=ones:f32[10,64] o=zeros:f32[64] -D B=64 --grid 1 "$@"; }
  index=randint:i32[64]:0:10:1 far=randint:i32[64]:0:11:1
  add n=1000
  add n=1001 | head -n 1
  moved n=10
  moved n=11 | head -n 1
  run gathered x=ones:f32[10] index=$index o=zeros:f32[64] -D B=64 --grid 1
  run gathered x=ones:f32[10] index=$far o=zeros:f32[64] -D B=64 --grid 1 | head -n 1
  run counted x=zeros:f32[10] index=$index -D B=64 --grid 1
  run counted x=zeros:f32[10] index=$far -D B=64 --grid 1 | head -n 1
  run before x=ones:f32[64] o=zeros:f32[64] -D B=64 --grid 1 | head -n 1
  run before x=zeros:f32[64] o=ones:f32[64] -D B=64 --grid 1
  run chosen x=zeros:f32[64] o=zeros:f32[64] index=$index -D B=64 --grid 1
done | sort | uniq -c | tr -s ' '
