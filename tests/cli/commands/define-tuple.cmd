# -D takes tuples as arguments do.
cat > $TMP/f.py <<'P'
import triton
import triton.language as tl
@triton.jit
def f(x, S: tl.constexpr):
    tl.store(x, S[0] * 10 + S[1])
@triton.jit
def nested(x, S: tl.constexpr):
    tl.store(x, S[0][1] * 10 + S[1])
P
nereid run $TMP/f.py:f x=zeros:i32[1] -D 'S=(4,1)' --grid 1 --device interp
nereid run $TMP/f.py:nested x=zeros:i32[1] -D 'S=((1,2),3)' --grid 1 --device nest
nereid run $TMP/f.py:f x=zeros:i32[1] -D 'S=(4,1)' -D 'S=(4,2)' --grid 1 --device interp
nereid compile $TMP/f.py:f --sig 'x=*i32' -D 'S=(4,1)' --emit tile | sed -n 2p
nereid bench $TMP/f.py:f 'x=zeros:i32[n]' --x n=1,2 -D 'S=({n},1)' --grid 1 --device cpu | wc -l
