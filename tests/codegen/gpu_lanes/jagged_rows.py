# nereid: --sig x=*fp32:16,o=*fp32:16,rows=i32,row_stride=i32,column_stride=i32 -D M=64 -D N=64 --target sm_90a --num-warps 4
# Strides of run time: out of the loops move one step a row and one a column, which the addresses of
# both tensors share; no address an element is live across them.
import triton
import triton.language as tl


@triton.jit
def jagged_rows(x, o, rows, row_stride, column_stride, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * row_stride + tl.arange(0, N)[None, :] * column_stride
    for start in range(0, rows, M):
        inside = (start + tl.arange(0, M) < rows)[:, None]
        tl.store(o + at, tl.load(x + at, mask=inside), mask=inside)
        at += M * row_stride
