# The nest gives what the tile IR says.
for device in interp nest; do
  nereid run chunks.tile p=randint:i32[512]:-9:9 q=empty:i32[512] --grid 1 --device $device
done
