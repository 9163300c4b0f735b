for device in interp nest; do
  nereid run asm_order.py x=randint:i8[64]:0:99 -D B=64 --grid 1 --device $device
  echo $?
done
