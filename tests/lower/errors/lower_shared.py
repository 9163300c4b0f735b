# nereid: --sig a_ptr=*bf16:16,b_ptr=*bf16:16,c_ptr=*fp32:16 --target sm_86
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr):
    i = tl.arange(0, 256)
    k = tl.arange(0, 64)
    acc = tl.zeros((256, 256), tl.float32)
    for at in range(0, 1024, 64):
        a = tl.load(a_ptr + i[:, None] * 1024 + at + k[None, :])
        b = tl.load(b_ptr + (at + k[:, None]) * 256 + i[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + i[:, None] * 256 + i[None, :], acc)
