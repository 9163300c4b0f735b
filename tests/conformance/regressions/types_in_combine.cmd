for device in interp nest cpu; do
  nereid run types_in_combine.py x_ptr=randn:f32[64]:1 value_ptr=zeros:f32[64] index_ptr=zeros:i32[64] -D BLOCK=64 --grid 1 --device $device
done
