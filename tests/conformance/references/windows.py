import numpy as np
from cases import new, normal, sigmoid
from references import case, eighths

FILE = "windows.py"


def windows(x, size, stride=1, pad=0):
    """Windows of the last two axes, as two more axes."""
    x = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(pad, pad)] * 2)
    view = np.lib.stride_tricks.sliding_window_view(x, (size, size), (-2, -1))
    return view[..., ::stride, ::stride, :, :]


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, channels=1, length=3)
@case(FILE, tol=1e-5, channels=16, length=64, taps=2)
def conv1d_causal(rng, channels=5, length=75, taps=4):
    x, w, b = normal(rng, channels, length), normal(rng, channels, taps), normal(rng, channels)
    late = np.pad(x, ((0, 0), (taps - 1, 0)))
    y = sum(late[:, k:k + length] * w[:, k, None] for k in range(taps)) + b[:, None]
    args = dict(x_ptr=x, w_ptr=w, b_ptr=b, out_ptr=new("empty", "f32", channels, length),
                channels=channels, length=length)
    grid = "cdiv(length, BLOCK_T), cdiv(channels, BLOCK_C)"
    return args, dict(TAPS=taps, BLOCK_C=4, BLOCK_T=32), grid, dict(out_ptr=y * sigmoid(y))


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, stride=2, pad=0)
def conv2d_direct(rng, images=2, channels=3, shape=(7, 9), outs=2, size=3, stride=1, pad=1):
    x, w = normal(rng, images, channels, *shape), normal(rng, outs, channels, size, size)
    y = np.einsum("nchwyx,ocyx->nohw", windows(x, size, stride, pad), w)
    args = dict(x_ptr=x, w_ptr=w, out_ptr=new("empty", "f32", *y.shape), in_channels=channels,
                height=shape[0], width=shape[1], out_height=y.shape[2], out_width=y.shape[3],
                stride=stride, pad=pad)
    grid = f"cdiv(out_height * out_width, BLOCK), {images}, {outs}"
    return args, dict(SIZE=size, BLOCK=32), grid, dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, shape=(3, 7, 5), outs=40, tile=(4, 4, 4), channels=64, depth=32)
@case(FILE, tol=0, shape=(2, 9, 9), pad=2, dilation=2, tile=(1, 8, 8))
@case(FILE, tol=0, shape=(5, 4, 4), size=1, pad=0, tile=(16, 2, 2))
@case(FILE, tol=0, shape=(70, 3, 4), size=2, pad=0, tile=(64, 1, 1))
@case(FILE, tol=0, shape=(2, 4, 33), size=5, pad=2, tile=(2, 1, 32))
@case(FILE, tol=0, shape=(2, 9, 8), stride=2)
def conv2d_of_images(rng, shape=(2, 6, 7), channels=32, outs=64, size=3, stride=1, pad=1,
                     dilation=1, tile=(2, 4, 8), depth=32):
    images, height, width = shape
    x = eighths(rng, images, height, width, channels).astype(np.float16)
    w = eighths(rng, size, size, channels, outs).astype(np.float16)
    sides = [(n + 2 * pad - dilation * (size - 1) - 1) // stride + 1 for n in (height, width)]
    padded = np.pad(x.astype("f4"), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    y = np.zeros((images, *sides, outs), "f4")
    for i in range(size):
        for j in range(size):
            rows, columns = (slice(at * dilation, at * dilation + n * stride, stride)
                             for at, n in zip((i, j), sides))
            y += padded[:, rows, columns][:, :sides[0], :sides[1]] @ w[i, j].astype("f4")
    args = dict(x_ptr=x, w_ptr=w, out_ptr=new("empty", "f32", *y.shape))
    defines = dict(N=images, H=height, W=width, C=channels, O=outs, SIZE=size, STRIDE=stride,
                   PAD=pad, DILATION=dilation, BO=32, BK=depth)
    defines.update(zip(("BN", "BH", "BW"), tile))
    tiles = [-(-n // t) for n, t in zip((images, *sides), tile)]
    return args, defines, f"{np.prod(tiles)}, {-(-outs // 32)}", dict(out_ptr=y)


@case(FILE, tol=1e-4)
@case(FILE, tol=1e-4, images=1, channels=16, shape=(4, 16), outs=16, size=1)
def conv2d_as_matmul(rng, images=2, channels=3, shape=(7, 9), outs=5, size=3):
    x = eighths(rng, images, channels, *shape).astype(np.float16)
    w = eighths(rng, outs, channels, size, size).astype(np.float16)
    y = np.einsum("nchwyx,ocyx->nohw", windows(x, size, pad=size // 2).astype("f4"), w)
    args = dict(x_ptr=x, w_ptr=w, out_ptr=new("empty", "f32", *y.shape), images=images,
                in_channels=channels, height=shape[0], width=shape[1], out_channels=outs)
    grid = "cdiv(images * height * width, BLOCK_P), cdiv(out_channels, BLOCK_O)"
    return args, dict(SIZE=size, BLOCK_P=32, BLOCK_O=16, BLOCK_K=16), grid, dict(out_ptr=y)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, largest=False)
@case(FILE, tol=1e-5, size=3, stride=1)
def pool2d(rng, planes=2, shape=(9, 11), size=2, stride=2, largest=True):
    """The last window may hang over the edge; there it counts what it sees."""
    x = normal(rng, planes, *shape)
    out = [-(-n // stride) for n in shape]
    grown = [(n - 1) * stride + size - m for n, m in zip(out, shape)]
    pad = [(0, 0)] + [(0, max(g, 0)) for g in grown]
    w = windows(np.pad(x, pad, constant_values=np.nan), size, stride)[:, :out[0], :out[1]]
    w = w.reshape(*w.shape[:3], -1)
    at = np.nanargmax(w, 3)
    places = (np.arange(out[0])[:, None] * stride + at // size) * shape[1] + \
        np.arange(out[1]) * stride + at % size
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", planes, *out),
                where_ptr=new("zeros", "i32", planes, *out), height=shape[0], width=shape[1],
                out_height=out[0], out_width=out[1])
    expected = dict(out_ptr=np.nanmax(w, 3), where_ptr=places) if largest else \
        dict(out_ptr=np.nanmean(w, 3))
    defines = dict(SIZE=size, STRIDE=stride, MAX=largest, BLOCK=32)
    return args, defines, f"cdiv(out_height * out_width, BLOCK), {planes}", expected


@case(FILE, tol=1e-4)
@case(FILE, tol=1e-4, shape=(1, 16, 32))
def stencil_3d(rng, shape=(4, 7, 45)):
    x = normal(rng, *shape)
    y = x.copy()
    c = x[1:-1, 1:-1, 1:-1]
    y[1:-1, 1:-1, 1:-1] = (x[2:, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[1:-1, 2:, 1:-1] +
                           x[1:-1, :-2, 1:-1] + x[1:-1, 1:-1, 2:] + x[1:-1, 1:-1, :-2] - 6 * c)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", *shape), nz=shape[0], ny=shape[1],
                nx=shape[2])
    grid = "nz, cdiv(ny, BLOCK_Y), cdiv(nx, BLOCK_X)"
    return args, dict(BLOCK_Y=4, BLOCK_X=32), grid, dict(out_ptr=y)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, n=128, steps=4)
def heat_steps(rng, n=75, steps=5):
    x = normal(rng, n)
    both = [x, np.zeros_like(x)]
    for step in range(steps):
        wide = np.pad(both[step % 2], 1)
        both[1 - step % 2] = (wide[:-2] + wide[2:]) / 2
    args = dict(x_ptr=x, y_ptr=new("zeros", "f32", n), n=n, steps=steps)
    return args, dict(BLOCK=128), "1", dict(x_ptr=both[0], y_ptr=both[1])


@case(FILE, tol=0)
@case(FILE, tol=0, shape=(1, 5), radius=2)
def blur(rng, shape=(6, 75), radius=1):
    x = rng.integers(0, 256, shape, np.uint8)
    taps = 1 << (radius - np.abs(np.arange(-radius, radius + 1)))
    w = windows(np.pad(x.astype(int), radius, "edge"), 2 * radius + 1)
    y = np.einsum("hwyx,y,x->hw", w, taps, taps) // taps.sum()**2
    args = dict(x_ptr=x, out_ptr=new("empty", "u8", *shape), height=shape[0], width=shape[1])
    return args, dict(RADIUS=radius, BLOCK=32), "height, cdiv(width, BLOCK)", dict(out_ptr=y)
