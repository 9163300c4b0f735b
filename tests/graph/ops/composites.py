"""Ops that are made of others: losses, distances, recurrent cells, quantization, resizing."""
import math

import numpy as np

rng = np.random.default_rng(17)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


ARRAYS = {
    "x": f32(5, 6), "y": f32(5, 6), "p": rng.uniform(0.05, 0.95, (5, 6)).astype(np.float32),
    "q": rng.uniform(0.05, 0.95, (5, 6)).astype(np.float32), "w": f32(6), "i": np.array(
        [[0, 29], [7, 7]]), "c": np.array([0, 5, -100, 2, 3]),
    "cw": np.arange(1, 7, dtype=np.float32),
    "x3": f32(2, 4, 3), "y3": f32(3, 4, 2), "h": f32(5, 4), "cell": f32(5, 4), "wl": f32(16, 6),
    "ul": f32(16, 4), "bl": f32(16), "wg": f32(12, 6), "ug": f32(12, 4), "bg": f32(12),
    "wr": f32(4, 6), "ur": f32(4, 4), "v": f32(4, 3, 2), "g": f32(1, 3, 1), "img": f32(1, 2, 9, 7),
    "rows": f32(7, 4), "mats": f32(3, 4, 5), "ends": np.array([2, 2, 6], np.int32),
    "wide_ends": np.array([2, 2, 6]), "grads": f32(7, 5),
    "none": np.full((2, 3), np.nan, np.float32),
    "scale": np.array([.1, .2, .3, .4, .5, .6], np.float32),
    "wb": f32(3, 6, 6), "wt": f32(6, 3), "n0": np.array(1), "f0": np.array(1, np.float32),
    "zero": np.array([0, 1, -2, 3, 0, 5], np.int32), "n": rng.integers(-9, 9, (5, 6)),
    "query": f32(1, 4, 8, 16), "key": f32(1, 4, 16, 16), "value": f32(1, 4, 16, 64),
    "mask": f32(4, 8, 16), "image": f32(1, 256, 4, 2), "taps": f32(256, 1, 3, 3),
    "last": f32(8, 256, 1, 1),
    "n8": rng.integers(-9, 9, (5, 6)).astype(np.int8),
    "b8": np.arange(-128, 128, 9).astype(np.int8)[:24].reshape(4, 6),
    "z8": np.array([100, -100, 3, -7, 127, -128], np.int8),
    "endless": np.where(np.arange(200) < 199, f32(1, 1, 200), np.float32(np.inf)),
}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def nll(logs, c, weight=None, smoothing=0.0):
    """The mean over the rows that count."""
    use = c != -100
    k = np.where(use, c, 0)
    w = (np.ones(6, np.float32) if weight is None else weight)
    each = -logs[np.arange(5), k] * w[k]
    each = (1 - smoothing) * each - smoothing / 6 * (logs * w).sum(1)
    return np.float32(each[use].sum() / w[k][use].sum())


def lstm(x, h, cell, wl, ul, bl):
    i, f, n, o = np.split(x @ wl.T + h @ ul.T + bl, 4, 1)
    new = sigmoid(f) * cell + sigmoid(i) * np.tanh(n)
    return sigmoid(o) * np.tanh(new), new


def gru(x, h, wg, ug, bg):
    a, b = np.split(x @ wg.T + bg, 3, 1), np.split(h @ ug.T + bg, 3, 1)
    reset, update = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
    new = np.tanh(a[2] + reset * b[2])
    return (1 - update) * new + update * h


def smooth(size, to, cubic):
    """Weights [to, size] of a resize with antialias."""
    s = size / to
    d = np.abs(np.arange(size) + .5 - (np.arange(to)[:, None] + .5) * s) / max(s, 1)
    near, far = 1.5 * d**3 - 2.5 * d**2 + 1, -.5 * d**3 + 2.5 * d**2 - 4 * d + 2
    w = np.where(d < 1, near, np.where(d < 2, far, 0)) if cubic else np.maximum(1 - d, 0)
    return w / w.sum(1, keepdims=True)


def resized(img, rows, columns, cubic):
    out = smooth(9, rows, cubic) @ img @ smooth(7, columns, cubic).T
    return out.astype(np.float32)


def grouped(rows, mats, ends):
    out = np.zeros((7, 5), np.float32)
    for k, (a, b) in enumerate(zip([0, *ends], ends)):
        out[a:b] = rows[a:b] @ mats[k]
    return out


def grouped_gradients(rows, mats, ends, grads):
    """Gradients of the rows and of the matrices."""
    of_rows, of_mats = np.zeros_like(rows), np.zeros_like(mats)
    for k, (a, b) in enumerate(zip([0, *ends], ends)):
        of_rows[a:b] = grads[a:b] @ mats[k].T
        of_mats[k] = rows[a:b].T @ grads[a:b]
    return of_rows, of_mats


def quantized(x, scale, zero, low, high):
    return np.clip(np.rint(x * (np.float32(1) / scale)) + zero, low, high)


def bce(p, q):
    return -(q * np.log(p) + (1 - q) * np.log1p(-p))


def log_sigmoid(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def xlogy(x, y):
    return np.where(x == 0, np.float32(0), x * np.log(y)).astype(np.float32)


def bilinear(x, y, wb):
    return np.einsum("bi,kij,bj->bk", x, wb, y)


erf = np.vectorize(math.erf, otypes=[np.float32])
lgamma = np.vectorize(math.lgamma, otypes=[np.float32])

def convolved_attention(image, taps, query, key, mask, value, last):
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    conv = sum(padded[:, :, i:i + 4, j:j + 2] * taps[:, 0, i, j].reshape(256, 1, 1)
               for i in range(3) for j in range(3))
    scores = (query + conv.max()) @ key.swapaxes(2, 3) / np.float32(4) + mask
    y = (softmax(scores) @ value).swapaxes(2, 3).reshape(1, 256, 4, 2) + conv
    y = y * (1 + erf(y / math.sqrt(2))) / 2
    return np.einsum("bchw,oc->bohw", y, last[:, :, 0, 0])


CASES = [
    ("smooth_l1_loss.default(x, y, 0, 0.5)",
     lambda x, y: np.where(abs(x - y) < .5, (x - y)**2, abs(x - y) - np.float32(.25))),
    ("smooth_l1_loss.default(x, y, 1, 0.0)", lambda x, y: np.mean(abs(x - y))),
    ("huber_loss.default(x, y, 2, 2.0)",
     lambda x, y: np.sum(np.where(abs(x - y) <= 2, (x - y)**2 / 2, (abs(x - y) - 1) * 2))),
    ("binary_cross_entropy.default(p, q)", lambda p, q: np.mean(bce(p, q))),
    ("binary_cross_entropy.default(p, q, w, 0)", lambda p, q, w: bce(p, q) * w),
    ("binary_cross_entropy_with_logits.default(x, q, None, None, 0)",
     lambda x, q: (1 - q) * x - log_sigmoid(x)),
    ("binary_cross_entropy_with_logits.default(x, q, w, cw)",
     lambda x, q, w, cw: np.mean(w * ((1 - q) * x - ((cw - 1) * q + 1) * log_sigmoid(x)))),
    ("kl_div.default(x, q, 0)", lambda x, q: q * (np.log(q) - x)),
    ("kl_div.default(x, y, 2, log_target = True)", lambda x, y: np.sum(np.exp(y) * (y - x))),
    ("cross_entropy_loss.default(x, c)", lambda x, c: nll(np.log(softmax(x)), c)),
    ("cross_entropy_loss.default(x, c, cw, 1, -100, 0.1)",
     lambda x, c, cw: nll(np.log(softmax(x)), c, cw, 0.1)),
    ("cross_entropy_loss.default(x, p)",
     lambda x, p: np.float32(-np.mean((np.log(softmax(x)) * p).sum(1)))),
    ("nll_loss_nd.default(x, c, cw)", lambda x, c, cw: nll(x, c, cw)),
    ("nll_loss.default(x, c, None, 0)",
     lambda x, c: np.where(c >= 0, -x[np.arange(5), np.maximum(c, 0)], np.float32(0))),
    ("cosine_similarity.default(x, y)",
     lambda x, y: (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1))),
    ("pairwise_distance.default(x, w, 1.0)",
     lambda x, w: abs(x - w + np.float32(1e-6)).sum(1)),
    ("pdist.default(x)", lambda x: np.array(
        [np.sqrt(((x[a] - x[b])**2).sum()) for a in range(5) for b in range(a + 1, 5)])),
    ("bilinear.default(x, y, wb)", bilinear),
    ("tensordot.default(x3, y3, [2, 1], [0, 1])",
     lambda x3, y3: np.einsum("akm,mkb->ab", x3, y3)),
    ("linalg_matmul.default(x, wt)", lambda x, wt: x @ wt),
    ("lstm_cell.default(x, [h, cell], wl, ul, bl) -> 0,1", lstm),
    ("gru_cell.default(x, h, wg, ug, bg, bg)", gru),
    ("rnn_tanh_cell.default(x, h, wr, ur)",
     lambda x, h, wr, ur: np.tanh(x @ wr.T + h @ ur.T)),
    ("rnn_relu_cell.default(x, h, wr, ur)",
     lambda x, h, wr, ur: np.maximum(x @ wr.T + h @ ur.T, 0)),
    ("_weight_norm.default(v, g, 1)",
     lambda v, g: v * (g / np.sqrt((v * v).sum((0, 2), keepdims=True)))),
    ("_upsample_bilinear2d_aa.vec(img, [4, 3], False, None)",
     lambda img: resized(img, 4, 3, False)),
    ("_upsample_bicubic2d_aa.vec(img, [4, 11], False, None)",
     lambda img: resized(img, 4, 11, True)),
    # An element that no result reads has a gradient of 0 beside infinite ones.
    ("upsample_nearest1d_backward.default(endless, [200], [1, 1, 400])",
     lambda g: np.where(np.arange(400) % 2, np.float32(0), np.repeat(g, 2, 2))),
    ("_grouped_mm.default(rows, mats, ends)", grouped),
    ("fake_quantize_per_tensor_affine.default(x, 0.1, 3, -8, 7)",
     lambda x: ((quantized(x, np.float32(.1), 3, -8, 7) - 3) * np.float32(.1))),
    ("fake_quantize_per_tensor_affine.default(none, 0.1, 3, -8, 7)",
     lambda none: np.full((2, 3), np.float32(.1)) * np.float32(-11)),
    ("fake_quantize_per_channel_affine.default(x, scale, zero, 1, -8, 7)",
     lambda x, scale, zero: ((quantized(x, scale, zero, -8, 7) - zero) * scale)
     .astype(np.float32)),
    ("quantized_decomposed.quantize_per_tensor.default(x, 0.1, 3, -128, 127, torch.int8)",
     lambda x: quantized(x, np.float32(.1), 3, -128, 127).astype(np.int8)),
    ("quantized_decomposed.quantize_per_channel.default(x, scale, zero, 1, 0, 9, torch.uint8)",
     lambda x, scale, zero: quantized(x, scale, zero, 0, 9).astype(np.uint8)),
    ("quantized_decomposed.dequantize_per_tensor.default(n8, 0.5, 3, -9, 9, torch.int8)",
     lambda n8: (n8 - np.float32(3)) * np.float32(.5)),
    ("quantized_decomposed.dequantize_per_channel.default(n8, scale, None, 1, -9, 9, torch.int8)",
     lambda n8, scale: n8 * scale),
    ("quantized_decomposed.dequantize_per_channel.default(b8, scale, z8, 1, -128, 127, torch.int8)",
     lambda b8, scale, z8: (b8 - z8) * scale),
    ("transformers.grouped_mm_fallback.default(rows, mats, ends)", grouped),
    ("transformers.grouped_mm_fallback.default(rows, mats, wide_ends)", grouped),
    ("transformers.grouped_mm_fallback_backward.default(rows, mats, ends, grads); $0[0]",
     lambda *a: grouped_gradients(*a)[0]),
    ("transformers.grouped_mm_fallback_backward.default(rows, mats, wide_ends, grads); $0[1]",
     lambda *a: grouped_gradients(*a)[1]),
    # Attention that is written over what is added to it.
    ("conv2d.default(image, taps, None, [1, 1], [1, 1], [1, 1], 256); amax.default($0, []); "
     "add.Tensor(query, $1); transpose.int(key, 2, 3); matmul.default($2, $3); "
     "mul.Tensor($4, 0.25); add.Tensor($5, mask); softmax.int($6, -1); matmul.default($7, value); "
     "transpose.int($8, 2, 3); reshape.default($9, [1, 256, 4, 2]); add.Tensor($10, $0); "
     "gelu.default($11); conv2d.default($12, last)", convolved_attention),
    ("take.default(x, i)", lambda x, i: x.ravel()[i]),
    ("tril_indices.default(4, 3, -1); mul.Tensor($0, n0)",
     lambda n0: np.array(np.tril_indices(4, -1, 3)) * n0),
    ("triu_indices.default(3, 5, 2); mul.Tensor($0, n0)",
     lambda n0: np.array(np.triu_indices(3, 2, 5)) * n0),
    ("logspace.default(0, 2, 5); mul.Tensor($0, f0)",
     lambda f0: np.logspace(0, 2, 5, dtype=np.float32) * f0),
    ("ldexp.Tensor(x, n)", lambda x, n: np.ldexp(x, n)),
    ("round.decimals(x, decimals = 1)", lambda x: np.rint(x * 10) / np.float32(10)),
    ("logit.default(p, 0.2)", lambda p: np.log(np.clip(p, np.float32(.2), np.float32(.8))
                                              / (1 - np.clip(p, np.float32(.2), np.float32(.8))))),
    ("rrelu.default(x, 0.25, 0.75)", lambda x: np.where(x > 0, x, x * np.float32(.5))),
    ("fliplr.default(x)", np.fliplr),
    ("flipud.default(x)", np.flipud),
    ("atleast_3d.default(w)", np.atleast_3d),
    ("atleast_2d.default(w)", np.atleast_2d),
    ("ravel.default(x); mul.Scalar($0, 1)", lambda x: x.ravel()),
    ("moveaxis.int(x3, 0, 2)", lambda x3: np.moveaxis(x3, 0, 2)),
    ("threshold.default(x, 0.5, -3)", lambda x: np.where(x <= .5, np.float32(-3), x)),
    ("heaviside.default(x, y)", np.heaviside),
    ("frac.default(x)", lambda x: x - np.trunc(x)),
    ("sinc.default(x)", lambda x: np.sinc(x).astype(np.float32)),
    ("xlogy.Tensor(n, p)", xlogy),
    ("special_xlog1py.default(x, p)", lambda x, p: x * np.log1p(p)),
    ("special_entr.default(p)", lambda p: -p * np.log(p)),
    ("special_ndtr.default(x)", lambda x: (1 + erf(x / math.sqrt(2))) / 2),
    ("special_log_ndtr.default(x)",
     lambda x: np.log((1 + erf(x.astype(np.float64) / math.sqrt(2)).astype(np.float64)) / 2)
     .astype(np.float32)),
    ("logaddexp2.default(x, y)", np.logaddexp2),
    ("lgamma.default(p)", lgamma),
    ("angle.default(x)", lambda x: np.where(x < 0, np.float32(np.pi), np.float32(0))),
    ("deg2rad.default(x)", np.deg2rad),
    ("rad2deg.default(x)", np.rad2deg),
    ("i0.default(p)", lambda p: np.i0(p).astype(np.float32)),
    ("arctan2.default(x, y)", np.arctan2),
    ("true_divide.Scalar(n, 4)", lambda n: (n / 4).astype(np.float32)),
    ("subtract.Tensor(x, y, alpha = 2)", lambda x, y: x - 2 * y),
    ("not_equal.Scalar(n, 3)", lambda n: n != 3),
    ("__lshift__.Scalar(n, 2)", lambda n: n << 2),
]
