for shape in "1 100 1" "1 65 1" "1 129 1" "5 33 1" "33 5 0" "3 7 0"; do
  set -- $shape
  for warps in 1 4; do
    for device in interp nest cpu; do
      nereid run padded_scans.py x_ptr=randint:i32[$1,$2]:-3:4:1 out_ptr=zeros:i32[3,$1,$2] -D M=$1 -D N=$2 -D AXIS=$3 --grid 1 --num-warps $warps --device $device
    done
  done | uniq -c | tr -s ' '
done
nereid run padded_scans.py x_ptr=randint:i32[1,3100]:-3:4:1 out_ptr=zeros:i32[3,1,3100] -D M=1 -D N=3100 -D AXIS=1 --grid 1 --num-warps 1 --device nest | uniq -c | tr -s ' '
nereid run padded_scans.py x_ptr=randint:i32[1,3100]:-3:4:1 out_ptr=zeros:i32[3,1,3100] -D M=1 -D N=3100 -D AXIS=1 --grid 1 --device interp | uniq -c | tr -s ' '
