# A kernel that faults on device cpu ends the program with a message, whoever starts it.
cat > $TMP/kernels.py <<'END'
import triton
import triton.language as tl


@triton.jit
def far(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i + (1 << 50), 1, i < n)

END
cat > $TMP/model.plan <<'END'
plan P
input %x 0 "f32[4]"
output %y 0 "f32[4]"
return %y
step far_out(x = %x, y = %y, B: 4) grid 1, 1, 1 warps 1 stages 1
source
import triton
import triton.language as tl


@triton.jit
def far_out(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i + (1 << 50), tl.load(x + i))
END
cd $TMP
nereid run kernels.py:far x=zeros:i32[256] n=256 -D BLOCK=64 --grid 4 --device cpu; echo $?
nereid bench kernels.py:far 'x=zeros:i32[{N}]' 'n={N}' -D BLOCK=64 --grid 1 --x N=64,128 --device cpu \
  -o plot.svg; echo $?
nereid graph model.plan --random-inputs --device cpu --time; echo $?
