"""Sliding windows: convolutions, pooling, stencils, blur."""
import triton
import triton.language as tl


@triton.jit
def conv1d_causal(x_ptr, w_ptr, b_ptr, out_ptr, channels, length, TAPS: tl.constexpr,
                  BLOCK_C: tl.constexpr, BLOCK_T: tl.constexpr):
    """Depthwise, as before the recurrence of state-space models: out[t] sees t - TAPS + 1 .. t."""
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    in_c = c < channels
    acc = tl.load(b_ptr + c, mask=in_c, other=0.0)[:, None] + tl.zeros((BLOCK_C, BLOCK_T),
                                                                       tl.float32)
    for tap in tl.static_range(TAPS):
        at = t + (tap - TAPS + 1)
        seen = in_c[:, None] & (at[None, :] >= 0) & (at[None, :] < length)
        x = tl.load(x_ptr + c[:, None] * length + at[None, :], mask=seen, other=0.0)
        acc += x * tl.load(w_ptr + c * TAPS + tap, mask=in_c, other=0.0)[:, None]
    inside = in_c[:, None] & (t[None, :] < length)
    tl.store(out_ptr + c[:, None] * length + t[None, :], acc * tl.sigmoid(acc), mask=inside)


@triton.jit
def conv2d_direct(x_ptr, w_ptr, out_ptr, in_channels, height, width, out_height, out_width, stride,
                  pad, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """A program makes BLOCK pixels of one output channel of one image."""
    image, channel = tl.program_id(1), tl.program_id(2)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y, x = p // out_width * stride - pad, p % out_width * stride - pad
    acc = tl.zeros((BLOCK, ), tl.float32)
    for c in range(in_channels):
        for dy in range(SIZE):
            for dx in range(SIZE):
                yy, xx = y + dy, x + dx
                seen = (yy >= 0) & (yy < height) & (xx >= 0) & (xx < width)
                plane = x_ptr + (image * in_channels + c) * height * width
                v = tl.load(plane + yy * width + xx, mask=seen, other=0.0)
                acc += v * tl.load(w_ptr + ((channel * in_channels + c) * SIZE + dy) * SIZE + dx)
    out = out_ptr + (image * tl.num_programs(2) + channel) * out_height * out_width
    tl.store(out + p, acc, mask=p < out_height * out_width)


@triton.jit
def conv2d_of_images(x_ptr, w_ptr, out_ptr, N: tl.constexpr, H: tl.constexpr, W: tl.constexpr,
                     C: tl.constexpr, O: tl.constexpr, SIZE: tl.constexpr, STRIDE: tl.constexpr,
                     PAD: tl.constexpr, DILATION: tl.constexpr, BN: tl.constexpr, BH: tl.constexpr,
                     BW: tl.constexpr, BO: tl.constexpr, BK: tl.constexpr):
    """Implicit matrix product, channels last: rows of a tile are a part of BN images, of BH by BW
    pixels, so that a step reads a box of them, moved by the place in the window."""
    OH: tl.constexpr = (H + 2 * PAD - DILATION * (SIZE - 1) - 1) // STRIDE + 1
    OW: tl.constexpr = (W + 2 * PAD - DILATION * (SIZE - 1) - 1) // STRIDE + 1
    across: tl.constexpr = (OW + BW - 1) // BW
    down: tl.constexpr = (OH + BH - 1) // BH
    pid = tl.program_id(0)
    o = tl.program_id(1) * BO + tl.arange(0, BO)[None, :]
    r = tl.arange(0, BN * BH * BW)[:, None]
    image = pid // (across * down) * BN + r // (BW * BH)
    y, x = pid // across % down * BH + r // BW % BH, pid % across * BW + r % BW
    acc = tl.zeros((BN * BH * BW, BO), tl.float32)
    for step in range(SIZE * SIZE * (C // BK)):
        place, c = step // (C // BK), step % (C // BK) * BK
        yy = y * STRIDE + (place // SIZE * DILATION - PAD)
        xx = x * STRIDE + (place % SIZE * DILATION - PAD)
        seen = (image < N) & (yy >= 0) & (yy < H) & (xx.to(tl.uint32) < W)
        at = ((image * H + yy) * W + xx) * C + c + tl.arange(0, BK)[None, :]
        v = tl.load(x_ptr + at, mask=seen, other=0.0)
        k = c + tl.arange(0, BK)[:, None]
        w = tl.load(w_ptr + (place * C + k) * O + o, mask=o < O, other=0.0)
        acc = tl.dot(v, w, acc)
    tl.store(out_ptr + ((image * OH + y) * OW + x) * O + o, acc,
             mask=(image < N) & (y < OH) & (x < OW) & (o < O))


@triton.jit
def conv2d_as_matmul(x_ptr, w_ptr, out_ptr, images, in_channels, height, width, out_channels,
                     SIZE: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr,
                     BLOCK_K: tl.constexpr):
    """Implicit matrix product, "same" padding: rows are pixels of all images, and the inner axis
    counts channels and window places, which the loads find by division."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    pixels = height * width
    image, y, x = p // pixels, p % pixels // width, p % width
    inner = in_channels * SIZE * SIZE
    acc = tl.zeros((BLOCK_P, BLOCK_O), tl.float32)
    for start in range(0, inner, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c, place = k // (SIZE * SIZE), k % (SIZE * SIZE)
        yy = y[:, None] + (place // SIZE - SIZE // 2)[None, :]
        xx = x[:, None] + (place % SIZE - SIZE // 2)[None, :]
        seen = (yy >= 0) & (yy < height) & (xx >= 0) & (xx < width)
        seen = seen & (p < images * pixels)[:, None] & (k < inner)[None, :]
        a = tl.load(x_ptr + (image[:, None] * in_channels + c[None, :]) * pixels + yy * width + xx,
                    mask=seen, other=0.0)
        w = tl.load(w_ptr + o[None, :] * inner + k[:, None],
                    mask=(o[None, :] < out_channels) & (k[:, None] < inner), other=0.0)
        acc = tl.dot(a, w, acc)
    # the p-th row of all images: channel o of its image
    at = (image[:, None] * out_channels + o[None, :]) * pixels + (p % pixels)[:, None]
    tl.store(out_ptr + at, acc,
             mask=(p < images * pixels)[:, None] & (o[None, :] < out_channels))


@triton.jit
def pool2d(x_ptr, out_ptr, where_ptr, height, width, out_height, out_width, SIZE: tl.constexpr,
           STRIDE: tl.constexpr, MAX: tl.constexpr, BLOCK: tl.constexpr):
    """Maximum (with the place it came from) or average of windows."""
    plane = tl.program_id(1)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y, x = p // out_width * STRIDE, p % out_width * STRIDE
    inside = p < out_height * out_width
    best = tl.full((BLOCK, ), -float("inf") if MAX else 0.0, tl.float32)
    place = tl.full((BLOCK, ), -1, tl.int32)
    count = tl.zeros((BLOCK, ), tl.int32)
    for dy in tl.static_range(SIZE):
        for dx in tl.static_range(SIZE):
            at = (y + dy) * width + x + dx
            seen = inside & (y + dy < height) & (x + dx < width)
            if MAX:
                v = tl.load(x_ptr + plane * height * width + at, mask=seen, other=-float("inf"))
                place = tl.where(v > best, at, place)
                best = tl.maximum(best, v)
            else:
                best += tl.load(x_ptr + plane * height * width + at, mask=seen, other=0.0)
                count += seen.to(tl.int32)
    to = plane * out_height * out_width + p
    if MAX:
        tl.store(where_ptr + to, place, mask=inside)
        tl.store(out_ptr + to, best, mask=inside)
    else:
        tl.store(out_ptr + to, best / count, mask=inside)


@triton.jit
def stencil_3d(x_ptr, out_ptr, nz, ny, nx, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr):
    """The seven-point Laplacian inside, a copy on the border."""
    z = tl.program_id(0)
    y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)[:, None]
    x = tl.program_id(2) * BLOCK_X + tl.arange(0, BLOCK_X)[None, :]
    at = (z * ny + y) * nx + x
    inside = (y < ny) & (x < nx)
    center = tl.load(x_ptr + at, mask=inside)
    inner = (z > 0) & (z < nz - 1) & (y > 0) & (y < ny - 1) & (x > 0) & (x < nx - 1)
    around = tl.load(x_ptr + at - 1, mask=inner, other=0.0) + tl.load(
        x_ptr + at + 1, mask=inner, other=0.0)
    around += tl.load(x_ptr + at - nx, mask=inner, other=0.0)
    around += tl.load(x_ptr + at + nx, mask=inner, other=0.0)
    around += tl.load(x_ptr + at - nx * ny, mask=inner, other=0.0)
    around += tl.load(x_ptr + at + nx * ny, mask=inner, other=0.0)
    tl.store(out_ptr + at, tl.where(inner, around - 6 * center, center), mask=inside)


@triton.jit
def heat_steps(x_ptr, y_ptr, n, steps, BLOCK: tl.constexpr):
    """Steps of a 1D stencil, one program, back and forth between two arrays."""
    i = tl.arange(0, BLOCK)
    for step in range(steps):
        if step % 2 == 0:
            left = tl.load(x_ptr + i - 1, mask=(i > 0) & (i < n), other=0.0)
            right = tl.load(x_ptr + i + 1, mask=i < n - 1, other=0.0)
            tl.store(y_ptr + i, 0.5 * left + 0.5 * right, mask=i < n)
        else:
            left = tl.load(y_ptr + i - 1, mask=(i > 0) & (i < n), other=0.0)
            right = tl.load(y_ptr + i + 1, mask=i < n - 1, other=0.0)
            tl.store(x_ptr + i, 0.5 * left + 0.5 * right, mask=i < n)
        tl.debug_barrier()


@triton.jit
def blur(x_ptr, out_ptr, height, width, RADIUS: tl.constexpr, BLOCK: tl.constexpr):
    """A Gaussian blur of bytes; borders repeat.  Weights are computed at compile time."""
    y = tl.program_id(0)
    x = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, ), tl.int32)
    for dy in tl.static_range(-RADIUS, RADIUS + 1):
        row = tl.clamp((y + dy).to(tl.float32), 0.0, height - 1.0).to(tl.int32)
        for dx in tl.static_range(-RADIUS, RADIUS + 1):
            at = tl.minimum(tl.maximum(x + dx, 0), width - 1)
            away = (dx if dx > 0 else -dx) + (dy if dy > 0 else -dy)
            acc += tl.load(x_ptr + row * width + at).to(tl.int32) * (1 << (2 * RADIUS - away))
    side: tl.constexpr = (3 << RADIUS) - 2  # the sum of 2^(RADIUS - |d|)
    tl.store(out_ptr + y * width + x, (acc // (side * side)).to(tl.uint8), mask=x < width)
