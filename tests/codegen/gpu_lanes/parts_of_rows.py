# nereid: --sig x_ptr=*bf16:16,y_ptr=*bf16:16,scale_ptr=*fp32:16,out_ptr=*bf16:16 -D B=1024
# Rows of 64 from x and 64 from y, next to each other: as no index is negative, a mask covers whole
# vectors.  What 8 elements share is loaded once, and a value is rounded without the slow unit.
import triton
import triton.language as tl


@triton.jit
def parts_of_rows(x_ptr, y_ptr, scale_ptr, out_ptr, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.assume(pid < 32768)
    i = pid * B + tl.arange(0, B)
    first = i % 128 < 64
    second = i % 128 >= 64
    x = tl.load(x_ptr + i // 128 * 64 + i % 128, mask=first, other=0.0)
    y = tl.load(y_ptr + i // 128 * 64 + i % 128 - 64, mask=second, other=0.0)
    scale = tl.load(scale_ptr + i // 8 % 16)
    scaled = (tl.where(first, x, y) * scale).to(tl.bfloat16).to(tl.float32)
    tl.store(out_ptr + i, tl.exp(scaled).to(tl.bfloat16))
