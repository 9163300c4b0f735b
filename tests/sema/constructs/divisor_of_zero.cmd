# A run-time integer is divided by a constexpr of 0, with a warning; as by one that is 0 at run time.
for device in interp nest cpu; do
  nereid run divisor_of_zero.py out=zeros:i32[13] n=-7 -D HEADS=8 -D GROUP=16 --grid 1 \
    --device $device 2>$TMP/$device
done
cat $TMP/interp
cmp $TMP/interp $TMP/nest && cmp $TMP/interp $TMP/cpu
nereid run divisor_of_zero.py out=zeros:i32[13] n=-7 -D HEADS=8 -D GROUP=4 --grid 1 --device interp
