"""Elementwise kernels of several shapes of access: flat, strided, by rows and columns, transposing.

build/nereid run bench/tune_kernels/elementwise.py:gelu x_ptr=randn:f32[1000] out_ptr=empty:f32[1000] n=1000 -D BLOCK=256 --grid "cdiv(n, BLOCK)"
"""
import triton
import triton.language as tl


@triton.jit
def gelu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + offsets, y, mask=mask)


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def mix(a_ptr, b_ptr, c_ptr, d_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(a_ptr + offsets, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + offsets, mask=mask).to(tl.float32)
    c = tl.load(c_ptr + offsets, mask=mask).to(tl.float32)
    d = tl.load(d_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, a * b + c * tl.sigmoid(d), mask=mask)


@triton.jit
def every_second(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + 2 * offsets, mask=mask), mask=mask)


@triton.jit
def swiglu(x_ptr, out_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    at = rows[:, None] * (2 * n_cols) + cols[None, :]
    gate = tl.load(x_ptr + at, mask=mask).to(tl.float32)
    up = tl.load(x_ptr + at + n_cols, mask=mask).to(tl.float32)
    out = gate * tl.sigmoid(gate) * up
    tl.store(out_ptr + rows[:, None] * n_cols + cols[None, :], out, mask=mask)


@triton.jit
def scale_add(x_ptr, y_ptr, scale_ptr, bias_ptr, out_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr,
              BLOCK_N: tl.constexpr):
    """Columns have a scale and a bias, rows none."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    at = rows[:, None] * n_cols + cols[None, :]
    scale = tl.load(scale_ptr + cols, mask=cols < n_cols)
    bias = tl.load(bias_ptr + cols, mask=cols < n_cols)
    x = tl.load(x_ptr + at, mask=mask) * scale[None, :] + bias[None, :]
    tl.store(out_ptr + at, x + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.jit
def transpose(x_ptr, out_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=mask)
    tl.store(out_ptr + cols[None, :] * n_rows + rows[:, None], x, mask=mask)
