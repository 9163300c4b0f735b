# nereid: --sig x_ptr=*bf16:16,out_ptr=*bf16:16 --target cpu:8
# Lanes whose elements of 16 bits are neighbours in pairs, at any distance, load a word a pair.
import triton
import triton.language as tl


@triton.jit
def pairs(x_ptr, out_ptr):
    i = tl.arange(0, 64)
    tl.store(out_ptr + i, tl.load(x_ptr + i // 2 * 42 + i % 2))
