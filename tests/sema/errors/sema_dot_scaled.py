# nereid: --sig x_ptr=*fp32
import triton
import triton.language as tl


@triton.jit
def scaled(x_ptr):
    a = tl.full((32, 64), 56, tl.uint8)
    b = tl.full((64, 32), 56, tl.uint8)
    scale = tl.full((32, 2), 127, tl.uint8)
    tl.dot_scaled(a, scale, "e2m3", b, scale, "e4m3")
    tl.dot_scaled(a, scale, tl.float8e5, b, scale, "e4m3")
    tl.dot_scaled(a, scale, "e2m1", b, scale, "e2m1", lhs_k_pack=False, rhs_k_pack=False)
    tl.dot_scaled(a, scale, "e4m3", b, scale, "e2m1")
    tl.dot_scaled(a, scale, "e4m3", b, scale, "e4m3", rhs_k_pack=False)
    tl.dot_scaled(a, scale, "bf16", b, scale, "e4m3")
    tl.dot_scaled(a.to(tl.int8), scale, "e2m1", b, scale, "e2m1")
    tl.dot_scaled(a, scale, "e4m3", b, tl.trans(scale), "e4m3")
    tl.dot_scaled(a, tl.full((32, 1), 127, tl.uint8), "e4m3", b, scale, "e4m3")
    tl.dot_scaled(a, scale.to(tl.int32), "e4m3", b, scale, "e4m3")
    tl.dot_scaled(a, 127, "e4m3", b, scale, "e4m3")
    tl.dot_scaled(a, scale, "e4m3", tl.trans(b), scale, "e4m3")
    tl.dot_scaled(1.0, scale, "e4m3", b, scale, "e4m3")
    tl.dot_scaled(a, scale, "e4m3", b, scale)
    tl.dot_scaled(a, scale, "e4m3", b[None, :, :], scale, "e4m3")
    tl.dot_scaled(a, scale, "e4m3", b, scale, "e4m3", out_dtype=tl.float16)
    tl.dot_scaled(a, scale, "e4m3", b, scale, "e4m3", tl.zeros((32, 32), tl.float16))
    tl.dot_scaled(a, scale, "e4m3", b, scale, "e4m3", tl.zeros((32, 64), tl.float32))
