# Strides that are swapped: the mask is there, and the access out of bounds.
cat >$TMP/swapped.py <<'P'
import triton
import triton.language as tl


@triton.jit
def copy(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    r, c = tl.arange(0, BM)[:, None], tl.arange(0, BN)[None, :]
    mask = (r < M) & (c < N)
    tl.store(out + r * N + c, tl.load(x + r + c * M * N, mask=mask), mask=mask)
P
cd $TMP
for device in interp nest; do
  nereid run swapped.py x=rand:f32[8,16] out=zeros:f32[8,16] M=8 N=16 -D BM=8 -D BN=16 --grid 1 \
    --device $device
done
