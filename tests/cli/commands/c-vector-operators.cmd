# What an elementwise kernel has by the hundred takes no loop over lanes, which GCC compiles slowly.
cat > $TMP/k.py <<'EOF'
import triton, triton.language as tl
from triton.language.extra import libdevice
@triton.jit
def k(x_ptr, y_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    y = tl.exp2(tl.where(x > 0.5, x * 2.0 + 1.0, libdevice.tanh(x)))
    tl.store(y_ptr + i, tl.minimum(tl.maximum(y, x), 3.0, propagate_nan=tl.PropagateNan.ALL))
EOF
for lanes in "4 -mfma" "8 -mavx2 -mfma" "16 -mavx512f"; do
  set -- $lanes
  nereid compile $TMP/k.py --sig 'x_ptr=*fp32:16,y_ptr=*fp32:16' -D B=64 --target cpu:$1 --emit c \
    > $TMP/k.c
  grep -c '^/\* Kernel k of ' $TMP/k.c
  shift
  cc -E -P -march=x86-64 "$@" $TMP/k.c | grep -c 'r\[i\] = \|v\[i\] = ' || :
done
