for shape in "1 100 1 1" "1 65 1 1" "3 129 1 3" "5 33 1 5" "33 5 0 5" "100 7 0 7" "40 3 0 3" "7 17 1 7"; do
  set -- $shape
  for warps in 1 4; do
    for device in interp nest cpu; do
      nereid run padded_reductions.py:kernel x_ptr=randint:i32[$1,$2]:-50:20:3 out_ptr=zeros:i32[3,$4] -D M=$1 -D N=$2 -D AXIS=$3 --grid 1 --num-warps $warps --device $device
    done
  done | uniq -c | tr -s ' '
done
for n in 17 1000 1024 5003; do
  for device in interp nest; do
    nereid run padded_reductions.py:variance x_ptr=randint:f32[$n]:-9:9:1 out_ptr=zeros:f32[3] -D N=$n --grid 1 --device $device
  done
done
for n in 17 117 250 1003; do
  for device in interp nest cpu; do
    nereid run padded_reductions.py:ends x_ptr=randint:i32[$n]:0:100000:1 out_ptr=zeros:i32[2] -D N=$n --grid 1 --device $device
  done | uniq -c | tr -s ' '
done
# Threads share the axis: none goes through all of it.
lines=$(nereid compile padded_reductions.py:variance --sig 'x_ptr=*fp32,out_ptr=*fp32' -D N=1000 | grep -c ';')
[ $lines -lt 1000 ] && echo short
