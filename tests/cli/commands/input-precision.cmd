# The reference says that products are of TF32, and --input-precision chooses on all devices.
run() { nereid run input-precision.py:"$@" a=randn:f32[16,16]:1 b=randn:f32[16,16]:2 o=empty:f32[16,16] -D B=16 --grid 1; }
for device in interp nest cpu; do
  for option in "" "--input-precision ieee" "--input-precision tf32" "--input-precision tf32x3"; do
    echo "$device $option"
    run product --device $device $option
  done
done 2>&1
run exact --device interp
nereid run input-precision.py:product --input-precision f32 --grid 1
