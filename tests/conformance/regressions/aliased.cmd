# Accesses through arguments that share memory stay in order.
for device in interp nest cpu:4 cpu:8; do
  case $device in cpu:*) on="--device cpu --target $device" ;; *) on="--device $device" ;; esac
  run() {
    nereid run aliased.py:"$@" --grid 1 $on --out "$name=$TMP/$device.npy" >"$TMP/text" &&
      cat "$TMP/text" && cksum <"$TMP/$device.npy"
  }
  name=o run reload o=zeros:i32[256] 'x=&o'
  name=o run rotate o=randint:i32[256]:0:9:1 'x=&o' n=3
  name=x run shift x=randint:i32[2100]:0:9:1 'o=&x[1:]' n=1000 -D B=1024
  name=x run shift x=randint:i32[2100]:0:9:1 'o=&x[1000:]' n=1000 -D B=1024
  name=x run shift x=randint:i32[2100]:0:9:1 'o=&x' n=1000 -D B=1024
  name=x run rows x=randint:i32[2100]:0:3:1 'o=&x[64:]' n=128 stride=128 -D B=128 -D R=4
  name=x run gathered x=randint:i32[300]:0:9:1 'o=&x[7:]' index=randint:i32[64]:0:128:3 -D B=64
  name=x run blocks x=randint:i32[64]:0:99:1 'o=&x'
  name=x run powers x=randint:f16[6,32,32]:0:2:1 m=randint:f16[32,32]:0:2:2 n=5
  name=x run powers x=randint:f16[6,32,32]:0:2:1 'm=&x[512:]' n=5
done | sort | uniq -c | tr -s ' '
