# Pointers as arguments and as results of inline assembly.
for device in interp nest cpu; do
  nereid run asm_pointers.py x=ones:f32[8] count=ones:i32[1] addresses=ones:i64[8] out=zeros:f32[8] \
    --grid 1 --device $device
done
