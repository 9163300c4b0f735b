# nereid: --sig x_ptr=*bf16:16,w_ptr=*bf16:16,out_ptr=*bf16:16
# Weights of columns are loaded as the rows that they scale: no thread waits for another.
import triton
import triton.language as tl


@triton.jit
def scaled_rows(x_ptr, w_ptr, out_ptr):
    row = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    column = tl.arange(0, 128)[None, :]
    acc = tl.full([8, 128], 0, tl.float32)
    for i in range(0, 7):
        x = tl.load(x_ptr + (row + i) * 128 + column).to(tl.float32)
        w = tl.load(w_ptr + i * 128 + column).to(tl.float32)
        acc = acc + x * w
    tl.store(out_ptr + row * 128 + column, acc.to(tl.bfloat16))
