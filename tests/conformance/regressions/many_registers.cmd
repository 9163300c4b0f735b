for device in interp nest cpu; do
  nereid run many_registers.py x_ptr=randint:i32[256,64]:0:9:1 out_ptr=zeros:i32[256] -D M=256 -D N=64 --grid 1 --num-warps 1 --device $device
done
