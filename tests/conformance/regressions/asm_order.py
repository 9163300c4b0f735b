import triton
import triton.language as tl


@triton.jit
def kernel(x, B: tl.constexpr):
    """An element's result is that of its neighbour in the register, whichever that is."""
    o = tl.arange(0, B)
    v = tl.inline_asm_elementwise("prmt.b32 $0, $1, $1, 0x0123;", "=r,r", [tl.load(x + o)],
                                  dtype=tl.int8, is_pure=True, pack=4)
    tl.store(x + o, v)
