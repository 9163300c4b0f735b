# nereid: --sig x=*fp16:16,y=*fp32,rows=i32,cols=i32 -D M=16 -D N=32
# A descriptor's accesses are views at the offsets that they give, checked on all axes.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, rows, cols, M: tl.constexpr, N: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [M, N], padding_option="nan")
    b = tl.make_tensor_descriptor(y, shape=[cols], strides=[1], block_shape=[N])
    tl.static_assert(isinstance(a, tl.tensor_descriptor) and not isinstance(x, tl.tensor_descriptor))
    tl.static_assert(a.block_shape == [M, N] and a.dtype == tl.float16 and len(b.strides) == 1)
    total = tl.zeros((N,), tl.float32)
    for i in range(0, rows, M):
        total += tl.sum(a.load([i, a.shape[1] - N]), axis=0)
    b.store([tl.program_id(0) * N], total)
