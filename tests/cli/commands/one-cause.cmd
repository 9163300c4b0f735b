# Messages name the cause once, and what to do.
cat > $TMP/a.py <<'P'
import triton
@triton.jit
def f(x_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)
P
cat > $TMP/b.py <<'P'
import triton
import triton.language as tl
@triton.jit
def f(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    try:
        y = tl.load(x_ptr + i)
    except ValueError:
        y = 0
    tl.store(x_ptr + i, y)
@triton.jit
def before(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i - 3))
P
cd $TMP
nereid compile a.py --sig 'x_ptr=*fp32,n=i32' -D BLOCK=8; echo $? >&2
nereid run b.py:f x_ptr=zeros:f32[8] n=8 -D BLOCK=8 --grid 1
for t in sm_90 sm_100 sm_91a h100; do
  nereid compile b.py:before --sig 'x_ptr=*fp32,y_ptr=*fp32' -D BLOCK=8 --target $t
done
nereid run b.py:before x_prt=zeros:f32[8] y_ptr=zeros:f32[8] -D BLOCK=8 --grid 1
nereid run b.py:before source=zeros:f32[8] y_ptr=zeros:f32[8] -D BLOCK=8 --grid 1
for d in interp nest; do
  nereid run b.py:before x_ptr=zeros:f32[8] y_ptr=zeros:f32[8] -D BLOCK=8 --grid 1 --device $d > out
done
