# nereid: --sig x=*bf16:16,w=*bf16:16,y=*fp32:16 --num-warps 1 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def reshaped_rows(x, w, y):
    """The right operand's rows, whose elements are in another order, go through shared memory: four
    lanes read 64 bytes of a row, so that the next one begins 64 bytes further in the banks."""
    m, n, k = tl.arange(0, 16)[:, None], tl.arange(0, 8), tl.arange(0, 64)
    left = tl.load(w + m * 64 + k[None, :])
    right = tl.load(x + n[:, None] * 64 + k[None, :])
    right = tl.permute(tl.reshape(right, [8, 2, 4, 2, 2, 2]), [1, 3, 4, 2, 5, 0])
    acc = tl.dot(left, tl.reshape(right, [64, 8]))
    tl.store(y + m * 8 + n[None, :], acc)
