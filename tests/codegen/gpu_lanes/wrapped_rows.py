# nereid: --sig x_ptr=*fp16:16,out_ptr=*fp16:16,rows=i32 --num-warps 1 --target sm_90a -D BLOCK=256
import triton
import triton.language as tl


@triton.jit
def wrapped_rows(x_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.max_contiguous(tl.multiple_of(i % rows, BLOCK), BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + row))
