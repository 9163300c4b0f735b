# Plans as text that can run, but not be built, or that can't run at all.
cat >$TMP/base.plan <<'PLAN'
plan P
symbol s0 1..
input %x 0 "f32[s0]"
temporary %t "f32[s0]" 0..1
output %y 0 "f32[s0]"
return %y
step double(x_ptr = %x, y_ptr = %t, n = "s0", B: 16) grid "(s0 + 15)//16", 1, 1 warps 1 stages 1
step double(x_ptr = %t, y_ptr = %y, n = "s0", B: 16) grid "(s0 + 15)//16", 1, 1 warps 1 stages 1
source
import triton
import triton.language as tl

@triton.jit
def double(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y_ptr + i, 2.0 * tl.load(x_ptr + i, mask=i < n), mask=i < n)
PLAN
cd $TMP
build() {
  sed "$1" base.plan >a.plan
  nereid build a.plan -o p --target cpu
  echo $?
}
build 's/input %x 0 "f32\[s0\]"/input %x 0 "f32[8]"/'
build 's/temporary %t "f32\[s0\]"/temporary %t "f32[s0**8]"/'
build 's/return %y/temporary %n "i64[]" 0..1\n&\nread u0 = %n at most "s0" before 1/'
build 's/B: 16/B: "s0"/'
build 's/y_ptr = %t/y_ptr = %y/'
build 's/return %y/output %z 1 "f32[s0]"\n&/; s/y_ptr = %t/y_ptr = %z/; s/x_ptr = %t/x_ptr = %z/'
build 's/^temporary %t "f32\[s0\]" 0..1/constant %t "f32[s0]"/'
build 's/return %y/pool 64\n&/; s/0\.\.1/0..1 at 0/;s/%t "f32\[s0\]"/%t "f32[512]"/'
build 's/return %y/weight %w "w" "f32[4]"\n&/; s/x_ptr = %x/x_ptr = %w/'
build 's/def double/def twice/'
ls
build ''
grep -A 6 'double, 1' p/plan.c || sed -n '/^static int step_1/,/^}/p; /^static const Symbol/,/^}/p' p/plan.c
