# A masked store of 64 bits is the last call of a kernel with arguments on the stack.
import triton
import triton.language as tl


@triton.jit
def last(p0_ptr, p1_ptr, p2_ptr, p3_ptr, p4_ptr, p5_ptr, p6_ptr, p7_ptr,
         p8_ptr, p9_ptr, p10_ptr, p11_ptr, p12_ptr, p13_ptr, p14_ptr, p15_ptr,
         p16_ptr, p17_ptr, p18_ptr, p19_ptr, p20_ptr, p21_ptr, out_ptr, n,
         BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(p0_ptr + i, mask=mask)
    x += tl.load(p1_ptr + i, mask=mask)
    x += tl.load(p2_ptr + i, mask=mask)
    x += tl.load(p3_ptr + i, mask=mask)
    x += tl.load(p4_ptr + i, mask=mask)
    x += tl.load(p5_ptr + i, mask=mask)
    x += tl.load(p6_ptr + i, mask=mask)
    x += tl.load(p7_ptr + i, mask=mask)
    x += tl.load(p8_ptr + i, mask=mask)
    x += tl.load(p9_ptr + i, mask=mask)
    x += tl.load(p10_ptr + i, mask=mask)
    x += tl.load(p11_ptr + i, mask=mask)
    x += tl.load(p12_ptr + i, mask=mask)
    x += tl.load(p13_ptr + i, mask=mask)
    x += tl.load(p14_ptr + i, mask=mask)
    x += tl.load(p15_ptr + i, mask=mask)
    x += tl.load(p16_ptr + i, mask=mask)
    x += tl.load(p17_ptr + i, mask=mask)
    x += tl.load(p18_ptr + i, mask=mask)
    x += tl.load(p19_ptr + i, mask=mask)
    x += tl.load(p20_ptr + i, mask=mask)
    x += tl.load(p21_ptr + i, mask=mask)
    tl.store(out_ptr + i, x, mask=mask)
