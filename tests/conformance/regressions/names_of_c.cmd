# Names of a kernel that C, its headers or the printer of C have too.
for device in interp nest cpu:4 cpu:8 cpu:16; do
  case $device in cpu:*) on="--device cpu --target $device" ;; *) on="--device $device" ;; esac
  nereid run names_of_c.py:rows x=randint:i32[4,5000]:0:9:1 o=empty:i32[4,5000] lim=randint:i32[2]:3:9:1 n=5000 \
    -D B=8192 --grid 4 $on
  nereid run names_of_c.py:weighted x=randint:i32[40,64]:0:9:1 o=empty:i32[64] lim=randint:i32[2]:2:5:1 n=6 \
    -D B=64 --grid 1 $on
  nereid run names_of_c.py:tiles x=randint:i32[2,64]:0:9:1 o=empty:i32[64] lim=randint:i32[2]:2:5:1 n=6 \
    -D B=64 --grid 1 $on
  nereid run names_of_c.py:memset UINT32_MAX=randint:i32[64]:0:9:1 stdout=empty:i32[64] errno=randint:i32[2]:2:5:1 I=6 \
    -D B=64 --grid 1 $on
done | sort | uniq -c | tr -s ' '
