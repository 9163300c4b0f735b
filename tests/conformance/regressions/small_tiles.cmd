for device in interp nest cpu; do
  nereid run small_tiles.py:small_sum x_ptr=ones:i32[8] out_ptr=zeros:i32[8] -D BLOCK=8 --grid 1 --device $device
done
for device in interp nest cpu; do
  nereid run small_tiles.py:carried_constants x_ptr=randint:i32[24]:0:9:1 out_ptr=zeros:i32[8] n=2 -D BLOCK=8 --grid 1 --device $device
done
