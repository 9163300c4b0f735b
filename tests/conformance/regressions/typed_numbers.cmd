for device in interp nest cpu; do
  nereid run typed_numbers.py x_ptr=ones:f32[128] out_ptr=zeros:f32[3] n=128 -D BLOCK=64 --grid 1 --device $device
done
