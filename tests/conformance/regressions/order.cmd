for device in interp nest cpu; do
  nereid run order.py:in_loops p_ptr=zeros:i32[300] out_ptr=zeros:i32[256] n=5 -D BLOCK=256 --grid 1 --device $device
done
for n in 0 1; do
  for device in interp nest cpu; do
    nereid run order.py:at_joins p_ptr=zeros:i32[256] out_ptr=zeros:i32[256] n=$n -D BLOCK=256 --grid 1 --device $device
  done
done
