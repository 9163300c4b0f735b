# nereid: --sig i_ptr=*i64:16,x_ptr=*bf16:16,out_ptr=*bf16:16,n=i32 -D ROWS=2 -D COLUMNS=1024
# Rows of memory by an index each: what is next to each other in a row is read together, under a mask
# of rows too.
import triton
import triton.language as tl


@triton.jit
def gather_rows(i_ptr, x_ptr, out_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    at = tl.load(i_ptr + row)
    x = tl.load(x_ptr + at * 1000 + column, mask=(at < n) & (column < 1000), other=0.0)
    tl.store(out_ptr + row * 1000 + column, x, mask=column < 1000)
