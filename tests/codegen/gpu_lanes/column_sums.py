# nereid: --sig x_ptr=*bf16:16,out_ptr=*bf16:16,sums_ptr=*fp32:16,columns=i32:16
# Elements of a tile whose first axis is the fastest in memory are loaded and stored by vectors.
import triton
import triton.language as tl


@triton.jit
def column_sums(x_ptr, out_ptr, sums_ptr, columns):
    column = tl.program_id(0) * 32 + tl.arange(0, 32)[:, None]
    row = tl.arange(0, 64)[None, :]
    x = tl.load(x_ptr + row * columns + column).to(tl.float32)
    doubled = (x * 2.0).to(tl.bfloat16)
    tl.store(out_ptr + row * columns + column, doubled)
    tl.store(sums_ptr + column, tl.sum(doubled.to(tl.float32), 1, keep_dims=True))
