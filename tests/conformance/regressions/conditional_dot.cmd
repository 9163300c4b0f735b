for type in f16 f32; do
  for first in 0 64; do
    for device in "interp" "cpu" "nest --target sm_80" "nest --target sm_90a"; do
      nereid run conditional_dot.py x_ptr=randint:$type[64,192]:-4:4:1 y_ptr=randint:$type[192,32]:-1:2:2 v_ptr=randint:$type[192,64]:-4:4:3 out_ptr=zeros:f32[64,64] first=$first -D K=192 -D N=64 --grid 1 --device $device
    done | uniq -c | tr -s ' '
  done
done
