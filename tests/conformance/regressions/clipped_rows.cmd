for device in interp nest cpu:4 cpu:8; do
  case $device in cpu:*) on="--device cpu --target $device" ;; *) on="--device $device" ;; esac
  nereid run clipped_rows.py x_ptr=randint:f32[640]:0:4:1 y_ptr=randint:f32[1584]:0:4:2 out_ptr=zeros:f32[20,16] --grid 4 $on
done
