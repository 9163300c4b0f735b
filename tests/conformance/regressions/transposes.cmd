for type in f16 bf16; do
  for device in interp cpu "nest --target sm_80" "nest --target sm_90a"; do
    nereid run transposes.py x_ptr=randint:$type[64,64]:-2:3:1 y_ptr=randint:$type[64,64]:-1:2:2 out_ptr=zeros:f32[64,64] n=2 -D M=64 -D N=64 --grid 1 --device $device
  done | uniq -c | tr -s ' '
done
