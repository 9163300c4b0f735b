for device in interp nest cpu; do
  nereid run masks.py x_ptr=randint:i32[64]:0:9:1 out_ptr=zeros:i32[64] -D BLOCK=64 --grid 1 --device $device
done
