# A loop whose rows add to one sum is no block of sums: each row would begin with the same one.
cat >$TMP/sum.thread <<'END'
nest @k level thread {target "cpu:8", num_warps 1, lanes 8, shared 0} {
  param %x : *f32 {arg 0, div 16}
  param %w : *f32 {arg 1, div 16}
  param %y : *f32 {arg 2, div 16}
  var %lane : i32
  var %a : f32[4] uniform
  var %b : f32
  var %wp : *f32
  var %yp : *f32
  var %acc : f32
  %lane = lane : i32
  %wp = ptr_add %w, %lane : *f32
  %yp = ptr_add %y, %lane : *f32
  %acc = mov 0.0 : f32
  serial k:64 {
    unroll a:4 {
      %a[a] = ld [%x + 4*k + 256*a] : f32
    }
    %b = ld [%wp + 32*k] : f32
    unroll a:4 {
      %acc = fma %a[a], %b, %acc : f32
    }
  }
  st [%yp], %acc : f32
}
END
for device in nest "cpu --target cpu:8"; do
  nereid run $TMP/sum.thread x=ones:f32[256] w=ones:f32[512] y=zeros:f32[8] --grid 1 --device $device
done
