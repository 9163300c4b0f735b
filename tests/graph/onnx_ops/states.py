"""States from token to token, scores that graphs change, images of any axes, and draws."""
import numpy as np
import onnx_text as text

rng = np.random.default_rng(31)
F = np.float32


def normal(*shape):
    return rng.normal(size=shape).astype(F)


# ---- CausalConvWithState ----

IMAGE, WEIGHT, BIAS, PAST = normal(2, 3, 5), normal(3, 1, 4), normal(3), normal(2, 3, 3)


def causal(x, w, bias=0, past=None, silu=False):
    width = w.shape[2] - 1
    before = np.zeros((*x.shape[:2], width), F) if past is None else past
    x = np.concatenate([before, x], 2)
    y = sum(x[:, :, i:i + x.shape[2] - width] * w[:, 0, i:i + 1] for i in range(width + 1))
    y = y + np.reshape(bias, (-1, 1)).astype(F)
    return y / (1 + np.exp(-y)) if silu else y, x[:, :, x.shape[2] - width:]


# ---- LinearAttention ----

B, T, HEADS, D, E = 2, 4, 2, 3, 5
QUERY, KEY, VALUE = normal(B, T, 2 * HEADS * D), normal(B, T, HEADS * D), normal(B, T, HEADS * E)
STATE, SLOW, FAST = normal(B, HEADS, D, E), -abs(normal(B, T, HEADS)), -abs(normal(B, T, HEADS * D))
RATE = rng.uniform(size=(B, T, 1)).astype(F)


def linear(query, key, value, state=None, decay=None, beta=None, scale=D**-0.5):
    group = query.shape[2] // key.shape[2]
    q, k, v = (x.reshape(B, T, -1, n).swapaxes(1, 2) for x, n in
               ((query, D), (key, D), (value, E)))
    state = np.zeros((B, HEADS, D, E), F) if state is None else state
    rows = []
    for t in range(T):
        if decay is not None:
            state = state * np.exp(decay[:, t].reshape(B, HEADS, -1, 1))
        token = v[:, :, t]
        if beta is not None:
            token = (token - np.einsum("bhde,bhd->bhe", state, k[:, :, t])) * beta[:, t, None]
        state = state + k[:, :, t, :, None] * token[:, :, None]
        wide = state.repeat(group, 1)
        rows.append(scale * np.einsum("bhd,bhde->bhe", q[:, :, t], wide).reshape(B, -1))
    return np.stack(rows, 1), state


def attention(rule, *more, **attributes):
    inputs = [QUERY, KEY, VALUE, *more]
    return ("LinearAttention", 27, inputs,
            dict(update_rule=rule, q_num_heads=2 * HEADS, kv_num_heads=HEADS, **attributes),
            linear(*inputs, **({"scale": attributes["scale"]} if "scale" in attributes else {})))


# ---- FlexAttention: in the table's domain of previews ----

HEADS4, KEYS4, VALUES4 = normal(2, 4, 3, 6), normal(2, 2, 5, 6), normal(2, 2, 5, 7)


def flex(q, k, v, scale=6**-0.5, score=lambda s: s, prob=lambda p: p):
    k, v = k.repeat(2, 1), v.repeat(2, 1)
    s = score(q @ k.swapaxes(2, 3) * F(scale))
    p = np.exp(s - s.max(-1, keepdims=True))
    return prob(p / p.sum(-1, keepdims=True)) @ v


def changes(op):
    return text.graph([text.node(op, "s", "r")], {"s": text.f32(2, 4, 3, 5)}, "r")


# ---- Col2Im ----

def fold(x, image, block, strides, dilations, pads):
    n = len(image)
    room = [image[i] + pads[i] + pads[n + i] for i in range(n)]
    count = [(room[i] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1 for i in range(n)]
    x = x.reshape(len(x), -1, *block, *count)
    out = np.zeros((len(x), x.shape[1], *room), F)
    for at in np.ndindex(*block):
        where = tuple(slice(at[i] * dilations[i],
                            at[i] * dilations[i] + strides[i] * (count[i] - 1) + 1, strides[i])
                      for i in range(n))
        out[(slice(None), slice(None), *where)] += x[(slice(None), slice(None), *at)]
    inside = tuple(slice(pads[i], pads[i] + image[i]) for i in range(n))
    return out[(slice(None), slice(None), *inside)]


def col2im(image, block, strides, dilations, pads):
    n = len(image)
    count = [(image[i] + pads[i] + pads[n + i] - dilations[i] * (block[i] - 1) - 1) // strides[i]
             + 1 for i in range(n)]
    x = normal(2, 2 * int(np.prod(block)), int(np.prod(count)))
    return ("Col2Im", 18, [x, np.array(image), np.array(block)],
            dict(strides=strides, dilations=dilations, pads=pads),
            fold(x, image, block, strides, dilations, pads))


# ---- DFT, also from one side of the spectrum to real numbers, and STFT ----

HALF = normal(2, 5, 3, 2)
SIGNAL = normal(2, 40, 1)
WIDE = np.random.default_rng(7).normal(size=(3, 64, 5, 2))  # of f64: errors are those of f64


def joined(x):
    return x[..., 0] + 1j * x[..., 1]


def parts(x, dtype=F):
    return np.stack([x.real, x.imag], -1).astype(dtype)


def frames(x, length, step):
    return np.stack([x[:, i:i + length] for i in range(0, x.shape[1] - length + 1, step)], 1)


def real_inverse(x, n, axis):
    return np.fft.irfft(x[..., 0] + 1j * x[..., 1], n, axis)[..., None].astype(F)


CASES = [
    ("CausalConvWithState", 27, [IMAGE, WEIGHT], {}, causal(IMAGE, WEIGHT)),
    ("CausalConvWithState", 27, [IMAGE, WEIGHT, BIAS, PAST], dict(activation="silu"),
     causal(IMAGE, WEIGHT, BIAS, PAST, True)),
    ("CausalConvWithState", 27, [IMAGE[:, :, :1], WEIGHT, None, PAST], dict(activation="swish"),
     causal(IMAGE[:, :, :1], WEIGHT, 0, PAST, True)),
    ("CausalConvWithState", 27, [IMAGE, WEIGHT[:, :, :1]], {}, causal(IMAGE, WEIGHT[:, :, :1])),
    attention("linear"),
    attention("linear", STATE, scale=0.5),
    attention("gated", STATE, SLOW),
    attention("gated", None, FAST),
    attention("delta", STATE, None, RATE),
    attention("gated_delta", STATE, FAST, RATE, chunk_size=2),
    ("ai.onnx.preview FlexAttention", 1, [HEADS4, KEYS4, VALUES4], {}, flex),
    ("ai.onnx.preview FlexAttention", 1, [HEADS4, KEYS4, VALUES4],
     dict(scale=0.25, score_mod=changes("Tanh"), prob_mod=changes("Sqrt")),
     lambda q, k, v: flex(q, k, v, 0.25, np.tanh, np.sqrt)),
    col2im([4, 5, 3], [2, 3, 1], [1, 2, 1], [2, 1, 1], [1, 0, 0, 0, 2, 0]),
    col2im([9], [3], [2], [2], [1, 0]),
    col2im([5, 6], [2, 3], [1, 2], [1, 1], [1, 0, 0, 2]),
    ("DFT", 20, [HALF, None, np.array(1)], dict(inverse=1, onesided=1),
     real_inverse(HALF, 8, 1)),
    ("DFT", 20, [HALF, np.array(7), np.array(1)], dict(inverse=1, onesided=1),
     real_inverse(HALF, 7, 1)),
    ("DFT", 20, [HALF, np.array(12), np.array(1)], dict(inverse=1, onesided=1),
     real_inverse(HALF, 12, 1)),
    ("DFT", 20, [HALF, None, np.array(1)], {}, parts(np.fft.fft(joined(HALF), axis=1))),
    ("DFT", 20, [HALF, np.array(9), np.array(1)], dict(inverse=1),
     parts(np.fft.ifft(joined(HALF), 9, axis=1))),
    ("DFT", 17, [SIGNAL], dict(axis=1, onesided=1), parts(np.fft.rfft(SIGNAL[..., 0]))),
    ("DFT", 17, [SIGNAL, np.array(37)], dict(axis=1), parts(np.fft.fft(SIGNAL[..., 0], 37))),
    ("DFT", 20, [WIDE, None, np.array(1)], {},
     parts(np.fft.fft(joined(WIDE), axis=1), np.float64)),
    ("DFT", 20, [WIDE, np.array(48), np.array(-3)], dict(inverse=1),
     parts(np.fft.ifft(joined(WIDE), 48, axis=1), np.float64)),
    ("DFT", 17, [WIDE[..., :1]], dict(axis=1, onesided=1),
     parts(np.fft.rfft(WIDE[..., 0], axis=1), np.float64)),
    ("DFT", 20, [WIDE[:, :33], np.array(64), np.array(1)], dict(inverse=1, onesided=1),
     np.fft.irfft(joined(WIDE[:, :33]), 64, 1)[..., None]),
    ("STFT", 17, [WIDE[:, :, 0, :1], np.array(4), WIDE[0, :12, 0, 0]], dict(onesided=1),
     parts(np.fft.rfft(frames(WIDE[:, :, 0, 0], 12, 4) * WIDE[0, :12, 0, 0]), np.float64)),
    ("STFT", 17, [SIGNAL, np.array(4), SIGNAL[0, :12, 0]], dict(onesided=1),
     parts(np.fft.rfft(frames(SIGNAL[..., 0], 12, 4) * SIGNAL[0, :12, 0]))),
    ("STFT", 17, [SIGNAL, np.array(5), None, np.array(10)], dict(onesided=0),
     parts(np.fft.fft(frames(SIGNAL[..., 0], 10, 5)))),
    ("RandomUniform", 1, [], dict(shape=[2, 3], low=2.0, high=2.0, seed=5.0),
     np.full((2, 3), 2, F)),
    ("RandomUniformLike", 1, [IMAGE], dict(low=-1.5, high=-1.5, dtype=11),
     np.full(IMAGE.shape, -1.5)),
    ("RandomNormal", 1, [], dict(shape=[4], mean=3.0, scale=0.0), np.full(4, 3, F)),
    ("RandomNormalLike", 1, [IMAGE], dict(mean=1.0, scale=0.0), np.ones(IMAGE.shape, F)),
    ("Multinomial", 7, [np.array([[0, -1e30, -1e30], [-1e30, -1e30, 2]], F)],
     dict(sample_size=4, dtype=7), np.array([[0] * 4, [2] * 4])),
    ("Bernoulli", 15, [np.array([0, 1, 0, 1], F)], dict(dtype=7, seed=1.0),
     np.array([0, 1, 0, 1])),
]
