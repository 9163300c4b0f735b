# The tile interpreter gives the same before and after the pass, and the nest is right.
run_rows() { nereid run "$1" dy_ptr=randn:bf16[9,301] x_ptr=rand:bf16[9,301] w_ptr=rand:bf16[301] dx_ptr=zeros:bf16[9,301] dw_ptr=zeros:f32[4,301] n_rows=9 --grid "$2" --device "$3"; }
for kernel in looped:4 looped_odd:3 looped_carried:4 looped_overlaps:1 looped_counted:4 looped_others:4 looped_masked:4 looped_hinted:4; do
  programs=${kernel#*:} kernel=${kernel%:*}
  for passes in fold_ranges strip_rows; do
    nereid compile $kernel.tile --run-passes $passes --emit tile |
      run_rows - $programs interp
  done
  run_rows $kernel.tile $programs nest
done
# Rows of any length, with a version of the kernel for each number of strips.
sed 's/%n_rows: i32 {arg 5})/%n_rows: i32 {arg 5}, %n: i32 {arg 6})/; s/const {value 301} : i32\[512\]/splat %n : i32[512]/; s/= mul %\(row\|first\), %[0-9]*/= mul %\1, %n/' looped.tile >$TMP/any.tile
for n in 1 255 256 320 383 447 511 512 520; do
  nereid compile $TMP/any.tile --run-passes fold_ranges --emit tile >$TMP/before.tile
  for form in "before.tile --device interp" "any.tile --device nest"; do
    nereid run $TMP/$form dy_ptr=randn:bf16[9,$n] x_ptr=rand:bf16[9,$n] w_ptr=rand:bf16[$n] dx_ptr=zeros:bf16[9,$n] dw_ptr=zeros:f32[4,$n] n_rows=9 n=$n --grid 4
  done
done
# A sum of what is multiplied by itself again and again: as many ways lead to the row as 2 to the 40th.
{ sed '/%dw.3 = fma/,$d' looped.tile
  echo '    %q0 = mul %dy, %x : f32[512]'
  for i in $(seq 40); do echo "    %q$i = mul %q$((i - 1)), %q$((i - 1)) : f32[512]"; done
  echo '    %dw.3 = add %q40, %dw.2 : f32[512]'
  sed '1,/%dw.3 = fma/d' looped.tile; } >$TMP/powers.tile
nereid compile $TMP/powers.tile --run-passes strip_rows --emit tile | grep -c '= mul %q'
