"""Kernels that take a row whole which registers can't hold."""
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    at = tl.program_id(0) * n + cols
    x = tl.load(x_ptr + at, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def from_largest(x_ptr, out_ptr, where_ptr, n, BLOCK: tl.constexpr):
    """The combine function of the reduction is a block of ops; the row has two axes."""
    cols = tl.arange(0, BLOCK)[None, :]
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf"))
    largest, where = tl.max(x, axis=1, keep_dims=True, return_indices=True)
    tl.store(out_ptr + row * n + cols, x - largest, mask=cols < n)
    tl.store(where_ptr + row + tl.arange(0, 1)[:, None], where)


@triton.jit
def scaled_norm(x_ptr, w_ptr, scale_ptr, length_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Scalars are stored and loaded between the reductions."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    length = tl.sqrt(tl.sum(x * x, axis=0))
    tl.store(length_ptr + row, length)
    scale = tl.load(scale_ptr + row)
    y = x / length * w
    tl.store(out_ptr + row * n + cols, (y - tl.sum(y, axis=0) / n) * scale, mask=mask)


@triton.jit
def gradients(dy_ptr, x_ptr, dx_ptr, dw_ptr, locks_ptr, n, BLOCK: tl.constexpr):
    """A sum over rows in memory, which a lock guards; two reductions that one loop can do."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    dy = tl.load(dy_ptr + row * n + cols, mask=mask, other=0.0)
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0)
    along = tl.sum(x * dy, axis=0) / n
    mean = tl.sum(dy, axis=0) / n
    tl.store(dx_ptr + row * n + cols, dy - x * along - mean, mask=mask)
    while tl.atomic_cas(locks_ptr, 0, 1) == 1:
        pass
    tl.store(dw_ptr + cols, tl.load(dw_ptr + cols, mask=mask) + dy * x, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(locks_ptr, 0)


@triton.jit
def centered_in_place(x_ptr, n, BLOCK: tl.constexpr):
    """The row can't be loaded once more: it is written."""
    cols = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + cols
    x = tl.load(x_ptr + at, mask=cols < n, other=0.0)
    mean = tl.sum(x, axis=0) / n
    tl.store(x_ptr + at, x - mean, mask=cols < n)


@triton.jit
def shifted_in_place(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    """Elements are stored where others are loaded, so strips may not change the order."""
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    y = tl.load(x_ptr + cols, mask=cols < n, other=0.0) * 2
    total = tl.sum(x, axis=0) + tl.sum(y + x, axis=0)
    tl.store(x_ptr + (cols + 7) % n, y, mask=cols < n)
    tl.store(sum_ptr, total)


@triton.jit
def masked_rows(x_ptr, mask_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The mask of a row is a row that is loaded."""
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    mask = inside & (tl.load(mask_ptr + cols, mask=inside, other=0.0) > 0)
    x = tl.load(x_ptr + tl.program_id(0) * n + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + tl.program_id(0) * n + cols, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def written_and_read(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """A row is loaded after it has been stored."""
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, tl.load(x_ptr + cols) * 2)
    y = tl.load(y_ptr + cols)
    tl.store(out_ptr + cols, y - tl.max(y, axis=0))


@triton.jit
def after_element(x_ptr, BLOCK: tl.constexpr):
    """One thread stores an element of the row that all load."""
    cols = tl.arange(0, BLOCK)
    tl.store(x_ptr + 5, 1000.0)
    x = tl.load(x_ptr + cols)
    tl.store(x_ptr + cols, x - tl.max(x, axis=0))


@triton.jit
def reduced_to_row(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """The first reduction is along an axis of one element."""
    cols = tl.arange(0, BLOCK)
    x = tl.sum(tl.load(x_ptr + cols[None, :]), axis=0)
    tl.store(out_ptr + cols, x - tl.max(x, axis=0))


@triton.jit
def reversed_rows(x_ptr, t_ptr, b_ptr, out_ptr, BLOCK: tl.constexpr):
    """Where arguments are one array, nothing may pass a store."""
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    t = tl.load(t_ptr + cols)
    total = tl.sum(x, axis=0) + tl.sum(t, axis=0)
    tl.store(b_ptr + cols, t - total)
    tl.store(out_ptr + BLOCK - 1 - cols, x + total)
