for device in interp nest; do
  run="nereid run remarks.py"
  ${run}:forgot x_ptr=ones:f64[100] out_ptr=empty:f64[100] n=100 -D BLOCK=32 --grid 4 --device $device
  ${run}:double x_ptr=ones:f16[100] out_ptr=empty:f16[100] n=100 -D BLOCK=32 --grid 3 --device $device
  ${run}:double x_ptr=ones:f32[100] out_ptr=zeros:f32[100] n=100 -D BLOCK=32 --grid 3 --device $device
  ${run}:double x_ptr=ones:i8[100] out_ptr='&x_ptr' n=100 -D BLOCK=128 --grid 1 --device $device
  ${run}:locked lock_ptr=zeros:i32[1] out_ptr=empty:i32[1] n=7 --grid 5 --device $device
  ${run}:flag x_ptr=ones:i32[64] out_ptr=zeros:i32[1] n=7 --grid 4 --device $device
done 2>&1 | sed 's/, by programs.*/, by programs/; s/first out_ptr.[0-9]*., by/first N, by/' | grep -v '^out_ptr.*sum nan'
