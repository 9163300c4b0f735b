"""Normalizations over groups, batches and instances, gated activations, and their gradients."""
import triton
import triton.language as tl


@triton.jit
def combine_welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    """Mean, sum of squared differences and count of two sets together."""
    n = n_a + n_b
    share = tl.where(n == 0, 0.0, n_b / n)
    delta = mean_b - mean_a
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@triton.jit
def group_norm(x_ptr, w_ptr, b_ptr, out_ptr, channels, pixels, groups, eps, BLOCK: tl.constexpr):
    """A program takes one group of one image: a run of channels / groups * pixels elements.
    One group is layer norm; as many as channels, instance norm."""
    image, group = tl.program_id(0), tl.program_id(1)
    per_group = channels // groups
    n = per_group * pixels
    base = (image * groups + group) * n
    total = tl.zeros((BLOCK, ), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + base + i, mask=i < n, other=0.0)
    mean = tl.sum(total, axis=0) / n
    squares = tl.zeros((BLOCK, ), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        d = tl.where(i < n, tl.load(x_ptr + base + i, mask=i < n, other=0.0) - mean, 0.0)
        squares += d * d
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / n + eps)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        channel = group * per_group + i // pixels
        w = tl.load(w_ptr + channel, mask=i < n)
        b = tl.load(b_ptr + channel, mask=i < n)
        y = (tl.load(x_ptr + base + i, mask=i < n) - mean) * rstd * w + b
        tl.store(out_ptr + base + i, y, mask=i < n)


@triton.jit
def batch_norm_stats(x_ptr, mean_ptr, var_ptr, running_mean_ptr, images, channels, pixels, momentum,
                     BLOCK: tl.constexpr):
    """Mean and variance of each channel over all images, by Welford's method with tuples."""
    channel = tl.program_id(0)
    mean, m2 = tl.zeros((BLOCK, ), tl.float32), tl.zeros((BLOCK, ), tl.float32)
    count = tl.zeros((BLOCK, ), tl.float32)
    for image in range(images):
        for start in range(0, pixels, BLOCK):
            i = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + (image * channels + channel) * pixels + i, mask=i < pixels, other=0)
            one = tl.where(i < pixels, 1.0, 0.0)
            mean, m2, count = combine_welford(mean, m2, count, x, tl.zeros_like(x), one)
    mean, m2, count = tl.reduce((mean, m2, count), 0, combine_welford)
    tl.store(mean_ptr + channel, mean)
    tl.store(var_ptr + channel, m2 / count)
    running = tl.load(running_mean_ptr + channel)
    tl.store(running_mean_ptr + channel, running + momentum * (mean - running))


@triton.jit
def batch_norm_apply(x_ptr, mean_ptr, var_ptr, w_ptr, b_ptr, out_ptr, channels, pixels, eps,
                     BLOCK_C: tl.constexpr, BLOCK_P: tl.constexpr):
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    p = tl.program_id(2) * BLOCK_P + tl.arange(0, BLOCK_P)
    inside = (c[:, None] < channels) & (p[None, :] < pixels)
    at = (tl.program_id(0) * channels + c[:, None]) * pixels + p[None, :]
    scale = tl.load(w_ptr + c, mask=c < channels, other=0.0) / tl.sqrt(
        tl.load(var_ptr + c, mask=c < channels, other=1.0) + eps)
    shift = tl.load(b_ptr + c, mask=c < channels, other=0.0) - scale * tl.load(
        mean_ptr + c, mask=c < channels, other=0.0)
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, x * scale[:, None] + shift[:, None], mask=inside)


@triton.jit
def rms_norm_residual(x_ptr, residual_ptr, w_ptr, out_ptr, cols, eps, ROWS: tl.constexpr,
                      BLOCK: tl.constexpr):
    """Adds x to the residual stream in place and normalizes the sum; several rows a program."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    at = r[:, None] * cols + c[None, :]
    inside = (c < cols)[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=0).to(tl.float32)
    x += tl.load(residual_ptr + at, mask=inside, other=0).to(tl.float32)
    tl.store(residual_ptr + at, x.to(residual_ptr.dtype.element_ty), mask=inside)
    rstd = tl.rsqrt(tl.sum(x * x, axis=1, keep_dims=True) / cols + eps)
    w = tl.load(w_ptr + c, mask=c < cols, other=0).to(tl.float32)
    tl.store(out_ptr + at, (x * rstd * w[None, :]).to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def gelu(x):
    return 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def gated(x_ptr, out_ptr, cols, ACT: tl.constexpr, BLOCK: tl.constexpr):
    """GEGLU and SwiGLU: a row holds the gate and then the value."""
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        gate = tl.load(x_ptr + row * 2 * cols + c, mask=c < cols).to(tl.float32)
        value = tl.load(x_ptr + row * 2 * cols + cols + c, mask=c < cols).to(tl.float32)
        y = ACT(gate) * value
        tl.store(out_ptr + row * cols + c, y.to(out_ptr.dtype.element_ty), mask=c < cols)


@triton.jit
def swiglu_backward(x_ptr, dy_ptr, dx_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(x_ptr + row * 2 * cols + c, mask=c < cols)
    value = tl.load(x_ptr + row * 2 * cols + cols + c, mask=c < cols)
    dy = tl.load(dy_ptr + row * cols + c, mask=c < cols)
    s = tl.sigmoid(gate)
    tl.store(dx_ptr + row * 2 * cols + c, dy * value * s * (1 + gate * (1 - s)), mask=c < cols)
    tl.store(dx_ptr + row * 2 * cols + cols + c, dy * gate * s, mask=c < cols)


@triton.jit
def softmax_backward(y_ptr, dy_ptr, dx_ptr, rows, cols, BLOCK_R: tl.constexpr,
                     BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.arange(0, BLOCK_C)
    at = r[:, None] * cols + c[None, :]
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    y = tl.load(y_ptr + at, mask=inside, other=0.0)
    dy = tl.load(dy_ptr + at, mask=inside, other=0.0)
    dx = y * (dy - tl.sum(y * dy, axis=1)[:, None])
    tl.store(dx_ptr + at, dx, mask=inside)
