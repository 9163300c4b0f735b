# nereid: --sig a_ptr=*bf16:16,b_ptr=*u8:16,scale_ptr=*u8:16,c_ptr=*fp32:16 --target sm_90a
# A weight of e2m1, two elements a byte along K: it is unpacked and scaled in registers, in the
# layout of its load, and goes to shared memory once.
import triton
import triton.language as tl


@triton.jit
def dot_scaled(a_ptr, b_ptr, scale_ptr, c_ptr):
    m = tl.arange(0, 64)[:, None]
    n = tl.arange(0, 64)
    k = tl.arange(0, 64)[None, :]
    a = tl.load(a_ptr + m * 64 + k)
    b = tl.load(b_ptr + n[None, :] * 32 + tl.arange(0, 32)[:, None])
    scale = tl.load(scale_ptr + n[:, None] * 2 + tl.arange(0, 2)[None, :])
    c = tl.dot_scaled(a, None, "bf16", b, scale, "e2m1")
    tl.store(c_ptr + m * 64 + n[None, :], c)
