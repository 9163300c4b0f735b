# Sums that begin as zeros are zeros in the unit for tiles: nobody stores them before.
nereid compile tiles_made.py --sig x=*i32:16,w=*i32:16,y=*i32:16 --target cpu:amx --emit c |
  sed -n '/^static void tiles_made_program/,/^}/p' | grep -E 'made|vsplat|vstore|vstream'
for device in interp cpu; do
  nereid run tiles_made.py x=randint:i32[16,48]:-2000000000:2000000000:1 w=randint:i32[48,32]:-2000000000:2000000000:2 \
    y=empty:i32[16,32] --grid 1 --device $device
done
