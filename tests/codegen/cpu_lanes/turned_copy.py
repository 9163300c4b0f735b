# nereid: --sig x=*fp32:16,y=*fp32:16,n=i32 --num-warps 1 --target cpu:8
import triton
import triton.language as tl


@triton.jit
def turned_copy(x, y, n):
    """Rows become columns: eight stores of lanes that are rows are stores of rows, where all eight
    columns are stored; rows that overlap stay as they are.  A loop that comes after these has
    variables of its own."""
    row = tl.arange(0, 16)[:, None]
    column = tl.arange(0, 16)[None, :]
    mask = row < n
    v = tl.load(x + row * 64 + column, mask=mask)
    tl.store(y + column * 48 + row, v, mask=mask)
    tl.store(y + 1024 + column * 8 + row, v)
    for i in range(n):
        w = tl.load(x + 2048 + i * 16 + tl.arange(0, 16))
        tl.store(y + 2048 + i * 16 + tl.arange(0, 16), w * w + i)
