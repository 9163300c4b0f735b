for case in "f64 f64 48 3 4" "f64 f64 8 3 8" "f64 f64 16 6 16" "f16 f32 16 9 8" "bf16 f32 32 12 16" "f32 f32 16 5 8" "i8 i32 16 24 8"; do
  set -- $case
  for device in interp nest cpu; do
    nereid run odd_k.py x_ptr=randint:$1[$3,$4]:-4:4:1 y_ptr=randint:$1[$4,$5]:-4:4:2 out_ptr=zeros:$2[$3,$5] -D M=$3 -D K=$4 -D N=$5 --grid 1 --num-warps 2 --device $device
  done | uniq -c | tr -s ' '
done
