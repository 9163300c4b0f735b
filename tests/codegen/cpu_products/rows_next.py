# Four blocks of eight rows of memory times 16 vectors of shared memory, in a loop: rows without gaps
# are followed by those of the next turn.  GAP elements between rows: they are not.
import triton
import triton.language as tl


@triton.jit
def rows_next(x_ptr, w_ptr, out_ptr, M: tl.constexpr, GAP: tl.constexpr):
    k = tl.arange(0, 128)
    n = tl.arange(0, 16)[None, :]
    w = tl.load(w_ptr + k[:, None] + n * 128)
    for start in range(0, M, 32):
        m = start + tl.arange(0, 32)[:, None]
        x = tl.load(x_ptr + m * (128 + GAP) + k[None, :])
        tl.store(out_ptr + m * 16 + n, tl.dot(x, w, input_precision="ieee"))
