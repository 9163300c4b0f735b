for device in interp nest cpu; do
  nereid run constexprs_between.py out_ptr=zeros:i32[16] x_ptr=randint:i32[16]:0:9:1 y_ptr=ones:i32[20] z_ptr=ones:i32[4] -D A=16 -D B=2 -D C=3 --grid 1 --device $device
done
