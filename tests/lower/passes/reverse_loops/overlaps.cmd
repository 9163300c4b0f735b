# Arrays that overlap: the loop runs forwards, as the language says.
for device in interp nest; do
  nereid run twice.tile 'x_ptr=ones:f32[4096]' 'out_ptr=&x_ptr[1000:]' n=3000 --grid 1 --device $device
done
