import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K):
    m, k = tl.arange(0, 16), tl.arange(0, 16)
    acc = tl.zeros((16, 16), tl.float32)
    for start in range(0, K, 16):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * 16 + m[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * 16 + m[None, :], acc)
