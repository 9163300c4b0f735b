# nereid: --sig in_ptr=*u8:16,scale_ptr=*bf16:16,out_ptr=*fp32:16 -D BLOCK=32
# Two elements of four bits a byte, and two interleaved arrays: a vector's elements are in one or
# two runs of neighbors.
import triton
import triton.language as tl


@triton.jit
def unpack(in_ptr, scale_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(in_ptr + i // 2).to(tl.int32) >> i % 2 * 4 & 15
    tl.store(out_ptr + i, x * tl.load(scale_ptr + i % 2 * 4096 + i // 2).to(tl.float32))
