for device in interp nest cpu; do
  nereid run rounding_in_combine.py x_ptr=rand:f32[64]:1 max_ptr=zeros:f32[1] scan_ptr=zeros:f32[64] -D BLOCK=64 --grid 1 --device $device
done
