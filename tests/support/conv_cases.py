"""Convolutions, pooling, products and recurrent networks in NumPy, and calls of graphs with their
tensors: the cases of graph/conv.py."""
import itertools, math

import numpy as np

RNG = np.random.default_rng(7)


def tensor(*shape, dtype=np.float32):
    x = RNG.normal(size=shape)
    return (x * 9).astype(dtype) if np.issubdtype(dtype, np.integer) else x.astype(dtype)


# ---- windows ----

GRADIENT = "convolution_backward.default(y, x, w, None, [1, 1], [1, 1], "


def taps(y, x, w, dilation=(1, 1)):
    """The gradient of a depthwise convolution's weights: y is that of its result."""
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    (rows, columns), (down, along) = y.shape[2:], dilation
    return np.stack([np.stack([
        (y * x[:, :, i * down:i * down + rows, j * along:j * along + columns]).sum((0, 2, 3))
        for j in range(3)], -1) for i in range(3)], -2)[:, None]


def row_taps(y, x, count, padding, dilation):
    """The same along one axis, of `count` positions."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    moved = [x[..., i * dilation:i * dilation + y.shape[2]] for i in range(count)]
    return np.stack([(y * m).sum((0, 2)) for m in moved], -1)[:, None]


def spread(x, axes, by):
    """x with by - 1 zeros between its elements along each axis."""
    for axis, s in zip(axes, by):
        shape = list(x.shape)
        shape[axis] = (shape[axis] - 1) * s + 1
        y = np.zeros(shape, x.dtype)
        y[(slice(None), ) * axis + (slice(None, None, s), )] = x
        x = y
    return x


def windows(x, size, stride, pads, dilation, fill=0):
    """[.., places, size] of x with n last axes; pads are pairs."""
    n = len(size)
    low = [(max(a, 0), max(b, 0)) for a, b in pads]
    x = np.pad(x, [(0, 0)] * (x.ndim - n) + low, constant_values=fill)
    for i, (a, b) in enumerate(pads):  # negative ones cut
        axis = x.ndim - n + i
        x = x.take(range(max(-a, 0), x.shape[axis] - max(-b, 0)), axis)
    reach = [d * (k - 1) + 1 for k, d in zip(size, dilation)]
    y = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(x.ndim - n, x.ndim)))
    places = tuple(slice(None, None, s) for s in stride)
    inner = tuple(slice(None, None, d) for d in dilation)
    return y[(slice(None), ) * (x.ndim - n) + places + inner]


def conv(x, w, b=None, stride=1, pads=0, dilation=1, groups=1, by=1):
    n = w.ndim - 2
    each = lambda v: [v] * n if isinstance(v, int) else list(v)
    stride, dilation, by = each(stride), each(dilation), each(by)
    pads = [(p, p) if isinstance(p, int) else p for p in each(pads)]
    lead = x.ndim == n + 1
    x = spread(x[None] if lead else x, range(2, n + 2), by).astype(np.float64)
    v = windows(x, w.shape[2:], stride, pads, dilation)
    cg, og = x.shape[1] // groups, w.shape[0] // groups
    out = []
    for g in range(groups):
        part = v[:, g * cg:(g + 1) * cg]
        weight = w[g * og:(g + 1) * og].astype(np.float64)
        axes = [1, *range(2 + n, 2 + 2 * n)]
        y = np.tensordot(part, weight, (axes, [1, *range(2, 2 + n)]))
        out.append(np.moveaxis(y, -1, 1))
    y = np.concatenate(out, 1)
    if b is not None:
        y += b.reshape(-1, *[1] * n)
    return y[0] if lead else y


def conv_transposed(x, w, b=None, stride=1, padding=0, more=0, groups=1, dilation=1):
    n = w.ndim - 2
    each = lambda v: [v] * n if isinstance(v, int) else list(v)
    stride, padding, more, dilation = map(each, (stride, padding, more, dilation))
    cg = w.shape[0] // groups
    flip = w[(slice(None), slice(None)) + (slice(None, None, -1), ) * n]
    turned = np.concatenate([flip[g * cg:(g + 1) * cg].swapaxes(0, 1) for g in range(groups)])
    reach = [d * (k - 1) for d, k in zip(dilation, w.shape[2:])]
    pads = [(r - p, r - p + m) for r, p, m in zip(reach, padding, more)]
    return conv(x, turned, b, 1, pads, dilation, groups, stride)


def pool(x, size, stride, pads, dilation=None, fill=0):
    n = len(size)
    return windows(x, size, stride, pads, dilation or [1] * n, fill)


def max_pool(x, size, stride, padding, dilation=None, more=0):
    n = len(size)
    pads = [(p, p + more) for p in padding]
    v = pool(x.astype(np.float64), size, stride, pads, dilation, -np.inf)
    return v.max(tuple(range(-n, 0)))


def max_places(x, size, stride, padding, dilation=None):
    n = len(size)
    number = np.arange(math.prod(x.shape[-n:])).reshape(x.shape[-n:]).astype(np.float64)
    number = np.broadcast_to(number, x.shape)
    pads = [(p, p) for p in padding]
    v = pool(x.astype(np.float64), size, stride, pads, dilation, -np.inf)
    k = pool(number, size, stride, pads, dilation)
    flat = v.reshape(*v.shape[:-n], -1).argmax(-1)
    return np.take_along_axis(k.reshape(*v.shape[:-n], -1), flat[..., None], -1)[..., 0]


def avg_pool(x, size, stride, padding, include=True, ceil=False, divisor=None):
    n = len(size)
    more = []
    for i in range(n):
        length, k, s, p = x.shape[x.ndim - n + i], size[i], stride[i], padding[i]
        places = (length + 2 * p - k) // s + 1
        if ceil:
            places = -(-(length + 2 * p - k) // s) + 1
            places -= (places - 1) * s >= length + p
        more.append((p, (places - 1) * s + k - length - p))
    sums = pool(x.astype(np.float64), size, stride, more).sum(tuple(range(-n, 0)))
    ones = np.ones(x.shape[-n:])
    if include:
        ones = np.pad(ones, [(p, p) for p in padding], constant_values=1)
        rest = [(0, b - p) for (_, b), p in zip(more, padding)]
    else:
        rest = more
    count = pool(ones, size, stride, rest).sum(tuple(range(-n, 0)))
    return sums / (divisor or count)


def adaptive(x, sizes, f):
    n = len(sizes)
    out = np.zeros(x.shape[:-n] + tuple(sizes))
    lead = (slice(None), ) * (x.ndim - n)
    for place in itertools.product(*map(range, sizes)):
        box = tuple(slice(o * s // p, -(-(o + 1) * s // p))
                    for o, p, s in zip(place, sizes, x.shape[-n:]))
        out[lead + place] = f(x[lead + box].reshape(*x.shape[:-n], -1).astype(np.float64))
    return out


# ---- between convolutions ----


def shifted(a):
    return a * a.sum(1, keepdims=True) + a.mean((2, 3), keepdims=True)


def parts(c):
    p = np.pad(c[:, 2:4], [(0, 0), (1, 0), (0, 2), (1, 0)], constant_values=0.5)
    return np.concatenate([p[:, :, :7, 1:7], c[:, :3]], 1)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


# ---- recurrent networks ----


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, x, h, c, u, bias):
    if kind == "lstm":
        i, f, g, o = np.split(x + h @ u.T + bias, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if kind == "gru":
        y = h @ u.T + bias
        r, z = np.split(sigmoid(x + y)[:, :2 * c.shape[-1]], 2, -1)
        fresh = np.tanh(x[:, 2 * c.shape[-1]:] + r * y[:, 2 * c.shape[-1]:])
        return (1 - z) * fresh + z * h, c
    y = x + h @ u.T + bias
    return (np.tanh(y) if kind == "tanh" else np.maximum(y, 0)), c


def recurrent(kind, x, h, c, params, directions=1, biased=True, project=False):
    """[all states, last states, last cells] of x[T, B, I]."""
    each = 2 + 2 * biased + project
    last, cells = [], []
    for layer in range(len(params) // each // directions):
        sides = []
        for k in range(directions):
            i = layer * directions + k
            w, u, *rest = params[i * each:(i + 1) * each]
            bias = rest[:2] if biased else [0, 0]
            state, cell, states = h[i], c[i], []
            for row in x[::-1] if k else x:
                state, cell = step(kind, row @ w.T + bias[0], state, cell, u, bias[1])
                state = state @ rest[-1].T if project else state
                states.append(state)
            sides.append(np.stack(states[::-1] if k else states))
            last.append(state)
            cells.append(cell)
        x = np.concatenate(sides, -1)
    return x, np.stack(last), np.stack(cells)


def unfolded(x, kernel, dilation, padding, stride):
    v = windows(x, kernel, stride, [(p, p) for p in padding], dilation)
    return np.moveaxis(v, (-2, -1), (-4, -3)).reshape(*x.shape[:-3], -1, v.shape[-4] * v.shape[-3])


def folded(cols, size, kernel, dilation, padding, stride):
    """What unfolded takes where, added up: its transpose."""
    channels = cols.shape[-2] // math.prod(kernel)
    image = np.arange(channels * math.prod(size)).reshape(channels, *size) + 1.0
    places = unfolded(image, kernel, dilation, padding, stride).astype(int).ravel()
    out = np.zeros((len(cols), channels * math.prod(size) + 1))
    for y, x in zip(out, cols):
        np.add.at(y, places, x.ravel())
    return out[:, 1:].reshape(-1, channels, *size)


# ---- cases: the call, its tensors, and the same in NumPy ----

X = tensor(2, 4, 9, 8)
S = np.abs(tensor(6)) + 0.5
IMAGE = tensor(1, 32, 7, 7)
LINE = tensor(2, 6, 11)
SIGNAL = tensor(3, 6, 51)
ENDLESS = np.where(np.arange(11) == 4, np.inf, LINE).astype(np.float32)
CUBE = tensor(1, 3, 5, 6, 4)
LSTM = [tensor(1, 2, 5), tensor(1, 2, 5), tensor(20, 4), tensor(20, 5), tensor(20), tensor(20)]
GRU = [tensor(15, 3), tensor(15, 5), tensor(15), tensor(15)]
CASES = [
    ("conv2d.default(x, w)", [X, tensor(6, 4, 3, 3)], conv),
    ("conv2d.default(x, w, b, [2, 1], [1, 2], [2, 1])", [X, tensor(6, 4, 3, 2), tensor(6)],
     lambda x, w, b: conv(x, w, b, (2, 1), (1, 2), (2, 1))),
    ("conv2d.default(x, w, b)", [X, tensor(5, 4, 1, 1), tensor(5)], conv),
    ("conv2d.default(x, w, None, [2, 3])", [X, tensor(5, 4, 1, 1)],
     lambda x, w: conv(x, w, None, (2, 3))),
    ("conv2d.default(x, w, None, 1, 1)", [X, tensor(5, 4, 1, 1)],
     lambda x, w: conv(x, w, None, 1, 1)),
    ("conv2d.default(x, w, b, [3, 4])", [X, tensor(5, 4, 3, 4), tensor(5)],
     lambda x, w, b: conv(x, w, b, (3, 4))),
    ("conv2d.default(x, w, b, 1, 1)", [IMAGE, tensor(20, 32, 3, 3), tensor(20)],
     lambda x, w, b: conv(x, w, b, 1, 1)),
    ("conv2d.default(x, w, None, 2, 3, 1, 2)", [IMAGE, tensor(24, 16, 7, 7)],
     lambda x, w: conv(x, w, None, 2, 3, 1, 2)),
    ("conv2d.default(x, w, b, 1, 1, 1, 4)", [X, tensor(4, 1, 3, 3), tensor(4)],
     lambda x, w, b: conv(x, w, b, 1, 1, 1, 4)),
    # numbers of 16 bits whose windows' rows are too short for panels of f32, to which they would be
    # copied
    ("a = to.dtype(x, torch.bfloat16); v = to.dtype(w, torch.bfloat16); "
     "y = conv2d.default(a, v, None, 1, [1, 0], 1, 2); to.dtype(y, torch.float32)",
     [(np.arange(1152, dtype=np.float32) % 7 - 3).reshape(1, 8, 12, 12),
      (np.arange(128, dtype=np.float32) % 5 - 2).reshape(32, 4, 1, 1)],
     lambda x, w: conv(x, w, pads=(1, 0), groups=2)),
    ("conv2d.default(x, w, None, 2, 3, 2, 32)", [IMAGE, tensor(32, 1, 5, 7)],
     lambda x, w: conv(x, w, None, 2, 3, 2, 32)),
    # each channel by itself, whose rows a CPU's vectors go along: tiles within and at both ends
    ("conv1d.default(x, w, b, 1, 15, 1, 33)", [tensor(2, 33, 150), tensor(33, 1, 31), tensor(33)],
     lambda x, w, b: conv(x, w, b, 1, 15, 1, 33)),
    ("a = relu.default(x); y = conv1d.default(a, w, None, 1, 3, 1, 4); relu.default(y)",
     [tensor(1, 4, 5), tensor(8, 1, 4)],
     lambda x, w: np.maximum(conv(np.maximum(x, 0), w, None, 1, 3, 1, 4), 0)),
    ("conv1d.default(x, w, None, 2, 8, 4, 3)", [tensor(2, 3, 231), tensor(3, 1, 5)],
     lambda x, w: conv(x, w, None, 2, 8, 4, 3)),
    ("conv2d.default(x, w, None, [2, 1], [2, 0], [1, 2], 40)",
     [tensor(1, 40, 9, 101), tensor(40, 1, 4, 3)],
     lambda x, w: conv(x, w, None, (2, 1), (2, 0), (1, 2), 40)),
    ("convolution.default(y, w, None, [1, 1], [1, 1], [1, 1], True, [0, 0], 33)",
     [tensor(1, 33, 7, 20), tensor(33, 1, 3, 3)],
     lambda y, w: conv_transposed(y, w, None, 1, 1, 0, 33)),
    ("conv3d.default(x, w, None, 1, 1, 1, 2)", [tensor(1, 2, 3, 4, 35), tensor(2, 1, 3, 3, 3)],
     lambda x, w: conv(x, w, None, 1, 1, 1, 2)),
    ("conv2d.default(x, w, None, 1, 0, 1, 4)", [X, tensor(12, 1, 2, 2)],
     lambda x, w: conv(x, w, None, 1, 0, 1, 4)),
    ("conv2d.default(x, w, None, 1, 0, 1, 2)", [X, tensor(6, 2, 3, 3)],
     lambda x, w: conv(x, w, None, 1, 0, 1, 2)),
    ("conv2d.padding(x, w, b, 1, 'same', [1, 3])", [X, tensor(6, 4, 4, 3), tensor(6)],
     lambda x, w, b: conv(x, w, b, 1, [(1, 2), (3, 3)], (1, 3))),
    ("conv2d.padding(x, w, None, 2, 'valid')", [X, tensor(6, 4, 3, 3)],
     lambda x, w: conv(x, w, None, 2)),
    ("conv2d.default(x, w)", [tensor(4, 6, 5), tensor(3, 4, 2, 2)], conv),
    ("conv1d.default(x, w, b, 2, 1)", [LINE, tensor(4, 6, 3), tensor(4)],
     lambda x, w, b: conv(x, w, b, 2, 1)),
    ("conv1d.default(x, w, None, 1, 2, 2, 6)", [LINE, tensor(6, 1, 3)],
     lambda x, w: conv(x, w, None, 1, 2, 2, 6)),
    # Signals whose channels are first in memory are products of their windows on CPUs.
    ("conv1d.default(x, w, b, 1, 4, 4)", [SIGNAL, tensor(33, 6, 3), tensor(33)],
     lambda x, w, b: conv(x, w, b, 1, 4, 4)),
    ("conv1d.padding(x, w, None, 1, 'same')", [SIGNAL, tensor(17, 6, 4)],
     lambda x, w: conv(x, w, None, 1, [(1, 2)])),
    ("conv1d.default(x, w)", [SIGNAL, tensor(24, 6, 2)], conv),
    ("conv1d.default(x, w, None, 5)", [tensor(2, 1, 203), tensor(40, 1, 10)],
     lambda x, w: conv(x, w, None, 5)),
    ("conv1d.default(x, w)", [tensor(40, 51), tensor(16, 40, 1)], conv),
    ("t = transpose.int(x, 1, 2); c = conv1d.default(t, w, None, 1, 1); relu.default(c)",
     [tensor(2, 51, 6), tensor(24, 6, 3)],
     lambda x, w: np.maximum(conv(x.transpose(0, 2, 1), w, None, 1, 1), 0)),
    ("c = conv1d.default(x, w, None, 1, 1); r = relu.default(c); conv1d.default(r, u, None, 2)",
     [SIGNAL, tensor(24, 6, 3), tensor(5, 24, 3)],
     lambda x, w, u: conv(np.maximum(conv(x, w, None, 1, 1), 0), u, None, 2)),
    ("c = conv1d.default(x, w, None, 1, 1); r = relu.default(c); conv1d.default(r, u)",
     [SIGNAL, tensor(24, 6, 3), tensor(18, 24, 3)],
     lambda x, w, u: conv(np.maximum(conv(x, w, None, 1, 1), 0), u)),
    ("conv1d.padding(x, w, None, 1, 'same')", [LINE, tensor(4, 6, 4)],
     lambda x, w: conv(x, w, None, 1, [(1, 2)])),
    ("conv1d.default(x, w)", [tensor(6, 11), tensor(4, 6, 1)], conv),
    ("conv3d.default(x, w, b, [1, 2, 1], 1)", [CUBE, tensor(4, 3, 3, 2, 3), tensor(4)],
     lambda x, w, b: conv(x, w, b, (1, 2, 1), 1)),
    ("conv3d.default(x, w, None, 1, 1, 1, 3)", [CUBE, tensor(6, 1, 2, 3, 3)],
     lambda x, w: conv(x, w, None, 1, 1, 1, 3)),
    ("conv3d.padding(x, w, None, 1, 'same', [2, 1, 1])", [CUBE, tensor(4, 3, 2, 3, 2)],
     lambda x, w: conv(x, w, None, 1, [(1, 1), (1, 1), (0, 1)], (2, 1, 1))),
    ("convolution.default(x, w, b, [1, 1], [1, 0], [1, 1], False, [0, 0], 1)",
     [X, tensor(6, 4, 3, 3), tensor(6)], lambda x, w, b: conv(x, w, b, 1, (1, 0))),
    ("convolution.default(x, w, None, [2], [0], [1], True, [1], 1)", [LINE, tensor(6, 3, 3)],
     lambda x, w: conv_transposed(x, w, None, 2, 0, 1)),
    ("conv_transpose2d.input(x, w, b)", [X, tensor(4, 5, 3, 2), tensor(5)], conv_transposed),
    ("conv_transpose2d.input(x, w, b, [2, 3], [1, 0], [1, 2], 2)",
     [X, tensor(4, 3, 3, 4), tensor(6)],
     lambda x, w, b: conv_transposed(x, w, b, (2, 3), (1, 0), (1, 2), 2)),
    ("conv_transpose2d.input(x, w, None, 2, 3, 0, 1, 2)", [X, tensor(4, 3, 3, 2)],
     lambda x, w: conv_transposed(x, w, None, 2, 3, 0, 1, 2)),
    ("conv_transpose2d.input(x, w, None, 2, 0, 0, 4)", [X, tensor(4, 2, 3, 3)],
     lambda x, w: conv_transposed(x, w, None, 2, 0, 0, 4)),
    # Phases of many results whose places begin at several of theirs are convolved one by one.
    ("conv_transpose2d.input(x, w, b, 2, 1)", [X, tensor(4, 32, 4, 4), tensor(32)],
     lambda x, w, b: conv_transposed(x, w, b, 2, 1)),
    ("conv_transpose2d.input(x, w, None, [2, 3], [1, 2], [1, 0])", [X, tensor(4, 48, 4, 6)],
     lambda x, w: conv_transposed(x, w, None, (2, 3), (1, 2), (1, 0))),
    ("conv_transpose2d.input(x, w, None, 2)", [IMAGE, tensor(32, 8, 2, 2)],
     lambda x, w: conv_transposed(x, w, None, 2)),
    ("conv_transpose2d.input(x, w, b, 2, 1)", [X, tensor(4, 3, 4, 4), tensor(3)],
     lambda x, w, b: conv_transposed(x, w, b, 2, 1)),
    ("conv_transpose2d.input(x, w, b, [4, 1], [2, 1], [3, 0])", [X, tensor(4, 3, 2, 3), tensor(3)],
     lambda x, w, b: conv_transposed(x, w, b, (4, 1), (2, 1), (3, 0))),
    ("conv_transpose2d.input(x, w, None, 2, 2, 1)", [tensor(4, 5, 6), tensor(4, 3, 3, 3)],
     lambda x, w: conv_transposed(x[None], w, None, 2, 2, 1)[0]),
    ("conv_transpose1d.default(x, w, None, 2)", [ENDLESS, np.ones((6, 2, 3), np.float32)],
     lambda x, w: conv_transposed(x, w, None, 2)),
    ("conv_transpose1d.default(x, w, None, 3, 1)", [LINE, tensor(6, 2, 4)],
     lambda x, w: conv_transposed(x, w, None, 3, 1)),
    ("conv_transpose3d.input(x, w, None, 2, 1)", [CUBE, tensor(3, 2, 3, 2, 3)],
     lambda x, w: conv_transposed(x, w, None, 2, 1)),
    # dtypes that are summed up without units for products
    ("conv2d.default(x, w, b, 2, 1)", [v.astype(np.float64) for v in (X, tensor(6, 4, 3, 3),
                                                                     tensor(6))],
     lambda x, w, b: conv(x, w, b, 2, 1)),
    ("conv1d.default(x, w, None, 1, 2, 1, 3)", [tensor(2, 6, 9, dtype=np.int64),
                                               tensor(3, 2, 3, dtype=np.int64)],
     lambda x, w: conv(x, w, None, 1, 2, 1, 3)),
    ("mm.default(x, w)", [tensor(5, 7).astype(np.float64), tensor(7, 3).astype(np.float64)],
     np.matmul),
    ("bmm.default(x, w)", [tensor(2, 5, 7, dtype=np.int64), tensor(2, 7, 3, dtype=np.int64)],
     np.matmul),
    ("linear.default(x, w)", [tensor(2, 4, 7, dtype=np.int32), tensor(3, 7, dtype=np.int32)],
     lambda x, w: x @ w.T),
    # so many rows that a CPU packs what is no weight
    ("mm.default(x, y)", [tensor(513, 70), tensor(70, 67)], np.matmul),
    ("linear.default(x, y)", [tensor(520, 70), tensor(130, 70)], lambda x, y: x @ y.T),
    ("einsum.default('ki,kj->ij', [x, y])", [tensor(70, 515), tensor(70, 65)],
     lambda x, y: x.T @ y),
    # sums over so much that a CPU cuts them into parts
    ("einsum.default('ki,kj->ij', [x, y])", [tensor(4096, 20), tensor(4096, 9)],
     lambda x, y: x.T @ y),
    ("einsum.default('bki,bkj->bij', [x, y])", [tensor(2, 2048, 9), tensor(2, 2048, 17)],
     lambda x, y: x.swapaxes(1, 2) @ y),
    ("mm.default(x, y)", [tensor(3, 2048).astype(np.float64), tensor(2048, 5).astype(np.float64)],
     np.matmul),
    # gradients of depthwise weights, along vectors of channels whose last has few
    (GRADIENT + "[1, 1], False, [0, 0], 50, [False, True, False])[1]",
     [tensor(2, 50, 5, 6), tensor(2, 50, 5, 6), tensor(50, 1, 3, 3)], taps),
    (GRADIENT + "[2, 1], False, [0, 0], 16, [False, True, False])[1]",
     [tensor(2, 16, 3, 6), tensor(2, 16, 5, 6), tensor(16, 1, 3, 3)],
     lambda y, x, w: taps(y, x, w, (2, 1))),
    # the same along rows, with places before, within and after the signal
    ("convolution_backward.default(y, x, w, None, [1], [2], [3], False, [0], 5, "
     "[False, True, False])[1]",
     [tensor(3, 5, 70), tensor(3, 5, 75), tensor(5, 1, 4)],
     lambda y, x, w: row_taps(y, x, 4, 2, 3)),
    ("convolution_backward.default(y, x, w, None, [1], [9], [2], False, [0], 1, "
     "[False, True, False])[1]",
     [tensor(1, 1, 76), tensor(1, 1, 60), tensor(1, 1, 2)],
     lambda y, x, w: row_taps(y, x, 2, 9, 2)),
    # blocks
    ("im2col.default(x, [3, 2], [1, 2], [1, 0], [2, 1])", [X],
     lambda x: unfolded(x, (3, 2), (1, 2), (1, 0), (2, 1))),
    ("im2col.default(x, [2, 2], [1, 1], [0, 0], [2, 2])", [tensor(3, 4, 6)],
     lambda x: unfolded(x, (2, 2), (1, 1), (0, 0), (2, 2))),
    ("col2im.default(x, [6, 5], [3, 2], [1, 2], [1, 0], [2, 1])", [tensor(2, 18, 9)],
     lambda x: folded(x, (6, 5), (3, 2), (1, 2), (1, 0), (2, 1))),
    # recurrent networks
    ("lstm.input(x, [h, c], [w, u, a, b], True, 1, 0.0, False, False, False)[0]",
     [tensor(5, 2, 4), *LSTM], lambda x, h, c, *p: recurrent("lstm", x, h, c, p)[0]),
    ("lstm.input(x, [h, c], [w, u, a, b], True, 1, 0.0, False, False, False)[2]",
     [tensor(5, 2, 4), *LSTM], lambda x, h, c, *p: recurrent("lstm", x, h, c, p)[2]),
    ("lstm.input(x, [h, c], [w, u, p], False, 1, 0.0, False, False, True)[0]",
     [tensor(2, 4, 3), tensor(1, 2, 2), tensor(1, 2, 5), tensor(20, 3), tensor(20, 2),
      tensor(2, 5)],
     lambda x, h, c, *p: recurrent("lstm", x.swapaxes(0, 1), h, c, p, 1, False, True)[0]
     .swapaxes(0, 1)),
    ("gru.input(x, h, [w, u, a, b, d, e, f, g], True, 1, 0.0, False, True, False)[0]",
     [tensor(4, 2, 3), tensor(2, 2, 5), *GRU, *[v * 0.5 for v in GRU]],
     lambda x, h, *p: recurrent("gru", x, h, h, p, 2)[0]),
    ("rnn_tanh.input(x, h, [w, u, d, e], False, 2, 0.0, False, False, False)[1]",
     [tensor(4, 2, 3), tensor(2, 2, 5), tensor(5, 3), tensor(5, 5), tensor(5, 5), tensor(5, 5)],
     lambda x, h, *p: recurrent("tanh", x, h, h, p, 1, False)[1]),
    ("rnn_relu.input(x, h, [w, u], False, 1, 0.0, False, False, True)[0]",
     [tensor(2, 4, 3), tensor(1, 2, 5), tensor(5, 3), tensor(5, 5)],
     lambda x, h, *p: recurrent("relu", x.swapaxes(0, 1), h, h, p, 1, False)[0].swapaxes(0, 1)),
    # pooling
    ("max_pool2d.default(x, 3, 2, 1)", [X], lambda x: max_pool(x, (3, 3), (2, 2), (1, 1))),
    ("max_pool2d.default(x, [2, 3], 1, 1, [1, 2])", [X],
     lambda x: max_pool(x, (2, 3), (1, 1), (1, 1), (1, 2))),
    ("max_pool2d.default(x, 3, 2, 0, 1, True)", [tensor(2, 3, 10, 8)],
     lambda x: max_pool(x, (3, 3), (2, 2), (0, 0), None, 1)),
    ("max_pool2d.default(x, 7, 1, 3)", [IMAGE], lambda x: max_pool(x, (7, 7), (1, 1), (3, 3))),
    ("max_pool1d.default(x, 2)", [LINE], lambda x: max_pool(x, (2, ), (2, ), (0, ))),
    ("max_pool3d.default(x, 2, 1)", [CUBE], lambda x: max_pool(x, (2, ) * 3, (1, ) * 3, (0, ) * 3)),
    ("max_pool2d.default(x, 2)", [tensor(3, 4, 6)], lambda x: max_pool(x, (2, 2), (2, 2), (0, 0))),
    ("max_pool2d.default(x, 2)", [tensor(1, 2, 4, 6, dtype=np.int64)],
     lambda x: max_pool(x, (2, 2), (2, 2), (0, 0))),
    ("max_pool2d_with_indices.default(x, 3, 2, 1)[0]", [X],
     lambda x: max_pool(x, (3, 3), (2, 2), (1, 1))),
    ("max_pool2d_with_indices.default(x, 3, 2, 1)[1]", [X],
     lambda x: max_places(x, (3, 3), (2, 2), (1, 1))),
    ("max_pool1d_with_indices.default(x, 3, 1, 1, 2)[1]", [LINE],
     lambda x: max_places(x, (3, ), (1, ), (1, ), (2, ))),
    ("max_pool3d_with_indices.default(x, 2)[1]", [CUBE],
     lambda x: max_places(x, (2, ) * 3, (2, ) * 3, (0, ) * 3)),
    ("avg_pool2d.default(x, 3)", [X], lambda x: avg_pool(x, (3, 3), (3, 3), (0, 0))),
    ("avg_pool2d.default(x, [3, 2], 2, 1)", [X], lambda x: avg_pool(x, (3, 2), (2, 2), (1, 1))),
    ("avg_pool2d.default(x, 3, 2, 1, False, False)", [X],
     lambda x: avg_pool(x, (3, 3), (2, 2), (1, 1), False)),
    ("avg_pool2d.default(x, 3, 2, 1, True)", [X],
     lambda x: avg_pool(x, (3, 3), (2, 2), (1, 1), True, True)),
    ("avg_pool2d.default(x, 3, 2, 1, True, False)", [X],
     lambda x: avg_pool(x, (3, 3), (2, 2), (1, 1), False, True)),
    ("avg_pool2d.default(x, 3, 2, 1, False, True, 5)", [X],
     lambda x: avg_pool(x, (3, 3), (2, 2), (1, 1), True, False, 5)),
    ("avg_pool1d.default(x, 4, 3, 2)", [LINE], lambda x: avg_pool(x, (4, ), (3, ), (2, ))),
    ("avg_pool3d.default(x, 2, 1, 1, False, False)", [CUBE],
     lambda x: avg_pool(x, (2, ) * 3, (1, ) * 3, (1, ) * 3, False)),
    ("avg_pool2d.default(x, 2, 1)", [X.astype(np.float16)],
     lambda x: avg_pool(x, (2, 2), (1, 1), (0, 0))),
    ("adaptive_avg_pool2d.default(x, [3, 4])", [X],
     lambda x: adaptive(x, (3, 4), lambda v: v.mean(-1))),
    ("adaptive_avg_pool2d.default(x, [5, 3])", [X],
     lambda x: adaptive(x, (5, 3), lambda v: v.mean(-1))),
    ("adaptive_avg_pool2d.default(x, [12, 1])", [X],
     lambda x: adaptive(x, (12, 1), lambda v: v.mean(-1))),
    ("adaptive_avg_pool1d.default(x, [4])", [LINE],
     lambda x: adaptive(x, (4, ), lambda v: v.mean(-1))),
    ("_adaptive_avg_pool3d.default(x, [2, 4, 3])", [CUBE],
     lambda x: adaptive(x, (2, 4, 3), lambda v: v.mean(-1))),
    ("adaptive_max_pool2d.default(x, [5, 3])[0]", [X],
     lambda x: adaptive(x, (5, 3), lambda v: v.max(-1))),
    ("adaptive_max_pool2d.default(x, [3, 2])[0]", [X],
     lambda x: adaptive(x, (3, 2), lambda v: v.max(-1))),
    ("adaptive_max_pool1d.default(x, [4])[1]", [LINE], lambda x: np.stack([
        o * 11 // 4 + x[..., o * 11 // 4:-(-(o + 1) * 11 // 4)].argmax(-1) for o in range(4)], -1)),
    # what stands between convolutions: the layout that they like goes through it
    ("c = conv2d.default(x, w, v, 1, 1); m = max_pool2d.default(c, 2); r = relu.default(m); "
     "conv2d.default(r, u)",
     [X, tensor(16, 4, 3, 3), tensor(16), tensor(5, 16, 2, 2)],
     lambda x, w, v, u: conv(np.maximum(max_pool(conv(x, w, v, 1, 1), (2, 2), (2, 2), (0, 0)), 0),
                             u)),
    ("c = conv2d.default(x, w); a = add.Tensor(c, v); m = mean.dim(a, [2, 3]); "
     "s = sum.dim_IntList(a, [1], True); t = mul.Tensor(a, s); u = view.default(m, [2, 6, 1, 1]); "
     "add.Tensor(t, u)", [X, tensor(6, 4, 3, 3), tensor(6, 1, 1)],
     lambda x, w, v: shifted(conv(x, w) + v)),
    ("c = conv2d.default(x, w); l = split.Tensor(c, 2, 1); s = l[1]; p = constant_pad_nd.default("
     "s, [1, 0, 0, 2, 1, 0], 0.5); k = slice.Tensor(c, 1, 0, 3); q = slice.Tensor(p, 2, 0, 7); "
     "o = slice.Tensor(q, 3, 1, 7); d = cat.default([o, k], 1); conv2d.default(d, v)",
     [X, tensor(6, 4, 3, 3), tensor(3, 6, 2, 2)],
     lambda x, w, v: conv(parts(conv(x, w)), v)),
    ("c = conv2d.default(x, w); v = view.default(c, [2, 2, 3, 7, 6]); t = transpose.int(v, 1, 2); "
     "y = reshape.default(t, [2, 6, 7, 6]); conv2d.default(y, u, None, 1, 0, 1, 3)",
     [X, tensor(6, 4, 3, 3), tensor(6, 2, 3, 3)],
     lambda x, w, u: conv(conv(x, w).reshape(2, 2, 3, 7, 6).swapaxes(1, 2).reshape(2, 6, 7, 6), u,
                          groups=3)),
    ("c = conv1d.default(x, w); t = transpose.int(c, 1, 2); s = softmax.int(t, -1); "
     "transpose.int(s, 1, 2)", [LINE, tensor(4, 6, 3)],
     lambda x, w: softmax(conv(x, w), 1)),
]
