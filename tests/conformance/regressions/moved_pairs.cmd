# A pointer moves between the loads of an element and of the one after it, which are no pairs then.
for device in nest cpu; do
  nereid run - x=randint:i32[64]:0:99:1 y=zeros:i32[8] --grid 1 --device $device <<'TEXT'
nest @k level thread {target "cpu:8", num_warps 1, lanes 8} {
  param %x : *i32 {arg 0}
  param %y : *i32 {arg 1}
  var %lane : i32
  var %lane8 : i32
  var %lane4 : i32
  var %wide : i64
  var %wide4 : i64
  var %p : *i32
  var %q : *i32
  var %a : i32
  var %b : i32
  var %c : i32
  %lane = lane
  %lane8 = mul %lane, 8 : i32
  %lane4 = mul %lane, 4 : i32
  %wide = cast %lane8 : i32 to i64
  %wide4 = cast %lane4 : i32 to i64
  %p = ptr_add %x, %wide : *u8
  %q = ptr_add %y, %wide4 : *u8
  %a = ld [%p] : i32
  %p = ptr_add %p, (64) : *u8
  %b = ld [%p + 4] : i32
  %c = sub %a, %b : i32
  st [%q], %c : i32
}
TEXT
done
