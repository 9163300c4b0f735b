"""Reductions of rows and columns, in one piece or block by block.

build/nereid run bench/tune_kernels/reductions.py:sum_columns x_ptr=randn:f32[100,60] out_ptr=empty:f32[60] n_rows=100 n_cols=60 -D BLOCK_M=32 -D BLOCK_N=32 --grid "cdiv(n_cols, BLOCK_N)"
"""
import triton
import triton.language as tl


@triton.jit
def sum_columns(x_ptr, out_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
        x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)
        total += tl.sum(x.to(tl.float32), axis=0)
    tl.store(out_ptr + cols, total, mask=cols < n_cols)


@triton.jit
def sum_rows(x_ptr, out_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
        x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)
        total += tl.sum(x.to(tl.float32), axis=1)
    tl.store(out_ptr + rows, total, mask=rows < n_rows)


@triton.jit
def softmax_loop(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    """Rows that are gone through twice: the second time they may come from the cache."""
    x_ptr += tl.program_id(0).to(tl.int64) * n_cols
    out_ptr += tl.program_id(0).to(tl.int64) * n_cols
    largest = -float("inf")
    total = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        new_largest = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - new_largest) + tl.sum(tl.exp(x - new_largest), axis=0)
        largest = new_largest
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        tl.store(out_ptr + cols, tl.exp(x - largest) / total, mask=cols < n_cols)


@triton.jit
def softmax_rows(x_ptr, out_ptr, n_rows, n_cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Several short rows a program."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    at = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    tl.store(out_ptr + at, e / tl.sum(e, axis=1)[:, None], mask=mask)


@triton.jit
def rms_norm_rows(x_ptr, w_ptr, out_ptr, n_rows, n_cols, eps, ROWS: tl.constexpr,
                  BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    at = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=1) / n_cols + eps)
    tl.store(out_ptr + at, x * scale[:, None] * w[None, :], mask=mask)
