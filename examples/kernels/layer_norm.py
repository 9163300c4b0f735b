"""Layer normalization of each row, y = (x - mean) / sqrt(var + eps) * w + b, and its gradients.

The gradients of w and b are sums over all rows.  Programs add their rows into one of GROUPS
partial sums, each guarded by a lock; a second kernel adds up the partial sums.  Where registers can
hold a row of sums, each of GROUPS programs takes every GROUPS-th row, and no lock is needed.  Of
wider rows, programs that take a row each are followed by those that add up columns of a band of
them, which the cache still holds.

build/nereid run examples/kernels/layer_norm.py:layer_norm_forward x_ptr=randn:f32[64,1000] w_ptr=rand:f32[1000] b_ptr=rand:f32[1000] out_ptr=empty:f32[64,1000] mean_ptr=empty:f32[64] rstd_ptr=empty:f32[64] n_cols=1000 eps=1e-5 -D BLOCK=1024 --grid 64
build/nereid run examples/kernels/layer_norm.py:layer_norm_backward dy_ptr=randn:f32[64,1000] x_ptr=randn:f32[64,1000] w_ptr=rand:f32[1000] mean_ptr=zeros:f32[64] rstd_ptr=ones:f32[64] dx_ptr=empty:f32[64,1000] dw_parts_ptr=zeros:f32[8,1000] db_parts_ptr=zeros:f32[8,1000] locks_ptr=zeros:i32[8] n_cols=1000 -D GROUPS=8 -D BLOCK=1024 --grid 64
build/nereid run examples/kernels/layer_norm.py:layer_norm_backward_rows dy_ptr=randn:f32[64,1000] x_ptr=randn:f32[64,1000] w_ptr=rand:f32[1000] mean_ptr=zeros:f32[64] rstd_ptr=ones:f32[64] dx_ptr=empty:f32[64,1000] dw_parts_ptr=empty:f32[8,1000] db_parts_ptr=empty:f32[8,1000] n_rows=64 n_cols=1000 -D GROUPS=8 -D BLOCK=1024 --grid 8
build/nereid run examples/kernels/layer_norm.py:layer_norm_backward_bands dy_ptr=randn:f32[64,1000] x_ptr=randn:f32[64,1000] w_ptr=rand:f32[1000] mean_ptr=zeros:f32[64] rstd_ptr=ones:f32[64] dx_ptr=empty:f32[64,1000] dw_parts_ptr=empty:f32[8,1000] db_parts_ptr=empty:f32[8,1000] n_rows=64 n_cols=1000 -D BAND=8 -D ROWS=4 -D COLS=128 -D BLOCK=256 --grid "cdiv(n_rows, BAND) * (BAND + cdiv(n_cols, COLS))"
build/nereid run examples/kernels/layer_norm.py:layer_norm_sum_parts dw_parts_ptr=rand:f32[8,1000] db_parts_ptr=rand:f32[8,1000] dw_ptr=empty:f32[1000] db_ptr=empty:f32[1000] n_cols=1000 -D GROUPS=8 -D BLOCK=128 --grid "cdiv(n_cols, BLOCK)"
"""
import triton
import triton.language as tl


@triton.jit
def layer_norm_forward(x_ptr, w_ptr, b_ptr, out_ptr, mean_ptr, rstd_ptr, n_cols, eps,
                       BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_cols
    centered = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centered * centered, axis=0) / n_cols + eps)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * n_cols + cols, centered * rstd * w + b, mask=mask)
    tl.store(mean_ptr + row, mean)  # kept for the backward pass
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def layer_norm_backward(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_parts_ptr,
                        db_parts_ptr, locks_ptr, n_cols, GROUPS: tl.constexpr,
                        BLOCK: tl.constexpr):
    """The partial sums and the locks start as zeros."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)

    # dx is wdy without its mean and without its part along xhat.
    wdy = w * dy
    along = tl.sum(xhat * wdy, axis=0) / n_cols
    mean = tl.sum(wdy, axis=0) / n_cols
    tl.store(dx_ptr + row * n_cols + cols, (wdy - xhat * along - mean) * rstd, mask=mask)

    group = row % GROUPS
    dw_parts = dw_parts_ptr + group * n_cols + cols
    db_parts = db_parts_ptr + group * n_cols + cols
    while tl.atomic_cas(locks_ptr + group, 0, 1) == 1:
        pass
    tl.store(dw_parts, tl.load(dw_parts, mask=mask) + dy * xhat, mask=mask)
    tl.store(db_parts, tl.load(db_parts, mask=mask) + dy, mask=mask)
    tl.debug_barrier()  # all threads have stored before one of them opens the lock
    tl.atomic_xchg(locks_ptr + group, 0)


@triton.jit
def layer_norm_backward_rows(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_parts_ptr,
                             db_parts_ptr, n_rows, n_cols, GROUPS: tl.constexpr,
                             BLOCK: tl.constexpr):
    """GROUPS programs; the sums of a program are in registers until its last row."""
    group = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(group, n_rows, GROUPS):
        dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        xhat = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
        wdy = w * dy
        along = tl.sum(xhat * wdy, axis=0) / n_cols
        mean = tl.sum(wdy, axis=0) / n_cols
        tl.store(dx_ptr + row * n_cols + cols, (wdy - xhat * along - mean) * rstd, mask=mask)
        dw += dy * xhat
        db += dy
    tl.store(dw_parts_ptr + group * n_cols + cols, dw, mask=mask)
    tl.store(db_parts_ptr + group * n_cols + cols, db, mask=mask)


@triton.jit
def layer_norm_backward_bands(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_parts_ptr,
                              db_parts_ptr, n_rows, n_cols, BAND: tl.constexpr, ROWS: tl.constexpr,
                              COLS: tl.constexpr, BLOCK: tl.constexpr):
    """BAND programs take a row each in blocks of BLOCK columns, and those after them COLS columns
    of these rows, ROWS at a time.  A band has sums of its own."""
    programs = BAND + tl.cdiv(n_cols, COLS)
    band = tl.program_id(0) // programs
    place = tl.program_id(0) % programs
    if place < BAND:
        row = band * BAND + place
        exists = row < n_rows
        mean = tl.load(mean_ptr + row, mask=exists, other=0.0)
        rstd = tl.load(rstd_ptr + row, mask=exists, other=0.0)
        along = tl.zeros((BLOCK,), dtype=tl.float32)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for start in range(0, n_cols, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            mask = (cols < n_cols) & exists
            dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
            wdy = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32) * dy
            along += (x - mean) * rstd * wdy
            total += wdy
        along_mean = tl.sum(along, axis=0) / n_cols
        wdy_mean = tl.sum(total, axis=0) / n_cols
        for start in range(0, n_cols, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            mask = (cols < n_cols) & exists
            dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
            wdy = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32) * dy
            dx = (wdy - (x - mean) * rstd * along_mean - wdy_mean) * rstd
            tl.store(dx_ptr + row * n_cols + cols, dx, mask=mask)
    else:
        cols = (place - BAND) * COLS + tl.arange(0, COLS)
        dw = tl.zeros((ROWS, COLS), dtype=tl.float32)
        db = tl.zeros((ROWS, COLS), dtype=tl.float32)
        for first in range(band * BAND, band * BAND + BAND, ROWS):
            rows = first + tl.arange(0, ROWS)[:, None]
            mask = (cols < n_cols)[None, :] & (rows < n_rows)
            offsets = rows * n_cols + cols[None, :]
            dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
            mean = tl.load(mean_ptr + rows, mask=rows < n_rows, other=0.0)
            rstd = tl.load(rstd_ptr + rows, mask=rows < n_rows, other=0.0)
            dw += dy * (x - mean) * rstd
            db += dy
        at = band * n_cols + cols
        tl.store(dw_parts_ptr + at, tl.sum(dw, axis=0), mask=cols < n_cols)
        tl.store(db_parts_ptr + at, tl.sum(db, axis=0), mask=cols < n_cols)


@triton.jit
def layer_norm_sum_parts(dw_parts_ptr, db_parts_ptr, dw_ptr, db_ptr, n_cols,
                         GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offsets = tl.arange(0, GROUPS)[:, None] * n_cols + cols[None, :]
    mask = (cols < n_cols)[None, :]
    dw = tl.load(dw_parts_ptr + offsets, mask=mask, other=0.0)
    db = tl.load(db_parts_ptr + offsets, mask=mask, other=0.0)
    tl.store(dw_ptr + cols, tl.sum(dw, axis=0), mask=cols < n_cols)
    tl.store(db_ptr + cols, tl.sum(db, axis=0), mask=cols < n_cols)
