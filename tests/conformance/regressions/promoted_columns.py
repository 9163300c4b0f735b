# Products of 8-bit floats whose sums are added in parts: of 192 and 224 columns by one warpgroup no
# half of a half is whole instructions.
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    m = tl.arange(0, 128)[:, None]
    n = tl.arange(0, N)[None, :]
    k = tl.arange(0, 64)
    x = tl.load(x_ptr + m * 64 + k[None, :]).to(tl.float8e4nv)
    y = tl.load(y_ptr + n * 64 + k[:, None]).to(tl.float8e4nv)
    acc = tl.dot(x, y, tl.zeros([128, N], tl.float32), max_num_imprecise_acc=32)
    tl.store(out_ptr + m * N + n, acc)
