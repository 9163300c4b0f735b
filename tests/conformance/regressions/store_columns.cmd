# Stores of indices of registers, which are several numbers and not one.
for warps in 1 4; do
  for device in interp nest cpu; do
    nereid run store_columns.py x=zeros:i32[512] -D ROWS=128 --grid 1 --num-warps $warps --device $device
  done
done | sort | uniq -c | tr -s ' '
