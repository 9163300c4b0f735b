for device in interp nest; do
  for grid in 2 3 8; do
    nereid run atomic_and_store.py:mix out_ptr=zeros:i32[1] --grid $grid --device $device 2>&1 | grep -o 'error: .*' | tr -d 0-9
  done
done | uniq -c | tr -s ' '
for device in interp nest cpu; do
  nereid run atomic_and_store.py:last count_ptr=zeros:i32[1] out_ptr=zeros:i32[1] --grid 8 --device $device
done
