"""What language models are made of: attention, rotations, caches, gates."""
import numpy as np

rng = np.random.default_rng(22)
F = np.float32


def normal(*shape):
    return rng.normal(size=shape).astype(F)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def scores(q, k, scale=None):
    k = k.repeat(q.shape[1] // k.shape[1], 1)
    return np.einsum("bhqd,bhkd->bhqk", q, k) * (scale or q.shape[-1]**-0.5)


def attend(q, k, v, add=0.0, scale=None):
    p = softmax(scores(q, k, scale) + add)
    return np.einsum("bhqk,bhkd->bhqd", p, v.repeat(q.shape[1] // v.shape[1], 1)).astype(F)


def heads(x, n):
    return x.reshape(*x.shape[:2], n, -1).swapaxes(1, 2)


def flat(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def band(queries, keys, first, left, right):
    """0 where a key is at most that far from the query, -inf elsewhere."""
    behind = np.arange(keys) - (np.arange(queries)[:, None] + first)
    return np.where((behind >= -left) & (behind <= right), 0, -np.inf)


def with_past(q, k, v, past_k, past_v):
    k, v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    return attend(q, k, v, band(3, 9, 4, 99, 0)), k, v


def capped(q, k, v):
    x = scores(q, k, 0.3)
    x = 2 * np.tanh(x / 2)
    y = np.einsum("bhqk,bhkd->bhqd", softmax(x), v.repeat(2, 1))
    return y.astype(F), k, v, x.astype(F)


def packed(x, *kv):
    """MultiHeadAttention of [batch, length, heads, parts, size], all of one or queries alone."""
    parts = [part.swapaxes(1, 2) for part in np.moveaxis(kv[0] if kv else x, 3, 0)]
    q = heads(x, 2) if kv else parts.pop(0)
    return flat(attend(q, *parts))


Q, K, V = normal(2, 4, 3, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 6)
SEEN = np.array([[1, 1, 0, 1, 0], [1, 0, 0, 0, 1], [0, 1, 1, 1, 1]], bool)


def rotate(x, cosine, sine, interleaved=False):
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else np.split(x, 2, -1)
    pair = cosine * a - sine * b, sine * a + cosine * b
    return np.stack(pair, -1).reshape(x.shape) if interleaved else np.concatenate(pair, -1)


def write(cache, update, first, circular):
    out = cache.copy()
    for b, at in enumerate(first):
        for i in range(update.shape[2]):
            place = (at + i) % cache.shape[2] if circular else at + i
            out[b, :, place] = update[b, :, i]
    return out


ANGLES, PLACES = normal(10, 4), rng.integers(0, 10, (2, 3))
X = normal(3, 4, 5)
CACHE, UPDATE = normal(2, 3, 6, 4), normal(2, 3, 2, 4)

# ---- attention of which heads see some blocks of keys ----

LAYOUTS = np.array([[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1]],
                    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]]])


def rows_of_blocks(layouts):
    """The ends of rows and the columns, with pads after the last."""
    columns = [np.nonzero(x)[1] for x in layouts]
    widest = max(map(len, columns))
    padded = [np.pad(x, (0, widest - len(x)), constant_values=-1) for x in columns]
    ends = np.cumsum(layouts.sum(2), 1)
    return [np.pad(ends, ((0, 0), (1, 0))).astype(np.int32), np.array(padded, np.int32)]


def sparse(layouts):
    """A cache of 16 keys in blocks of 4, and 4 heads of 2 groups."""
    def expected(q, k, v, past_k, past_v, _ends, _columns, _total, lengths):
        q, k, v = heads(q, 4), heads(k, 2), heads(v, 2)
        keys, values, rows = past_k.copy(), past_v.copy(), q.shape[2]
        bias = np.full((2, 4, rows, 16), -np.inf)
        for batch, length in enumerate(lengths):
            first = length - rows
            keys[batch, :, first:length], values[batch, :, first:length] = k[batch], v[batch]
            for head in range(4):
                for row in range(rows):
                    seen = layouts[head % len(layouts)][(first + row) // 4].repeat(4) > 0
                    bias[batch, head, row, (np.arange(16) <= first + row) & seen] = 0
        return flat(attend(q, keys, values, bias, 0.3)), keys, values
    return expected


def sparse_case(layouts, rows, lengths):
    new = [normal(2, rows, size) for size in (32, 16, 16)]
    return ("com.microsoft SparseAttention", 17,
            [*new, normal(2, 2, 16, 8), normal(2, 2, 16, 8), *rows_of_blocks(layouts),
             np.array([max(lengths)], np.int32), np.array(lengths, np.int32)],
            dict(num_heads=4, kv_num_heads=2, sparse_block_size=4, scale=0.3), sparse(layouts))


CASES = [
    *[sparse_case(layouts, rows, lengths) for layouts in (LAYOUTS, LAYOUTS[1:])
      for rows, lengths in ((10, [10, 10]), (1, [7, 13]), (3, [16, 9]))],
    # These ONNX Runtime runs on GPUs alone.
    ("com.microsoft MultiHeadAttention", 17, [normal(2, 3, 2, 3, 4)], dict(num_heads=2), packed),
    ("com.microsoft MultiHeadAttention", 17, [normal(2, 3, 8), normal(2, 5, 2, 2, 4)],
     dict(num_heads=2), packed),
    ("Attention", 24, [Q, K, V], {}, attend),
    ("Attention", 24, [Q, K, V], dict(is_causal=1),
     lambda q, k, v: attend(q, k, v, band(3, 5, 0, 99, 0))),
    ("Attention", 24, [Q, K, V, SEEN], {},
     lambda q, k, v, m: attend(q, k, v, np.where(m, 0, -np.inf))),
    ("Attention", 24, [Q, K, V, normal(2, 1, 3, 4)], {},
     lambda q, k, v, m: attend(q, k[:, :, :4], v[:, :, :4], m)),
    ("Attention", 24, [flat(Q), flat(K), flat(V)], dict(q_num_heads=4, kv_num_heads=2),
     lambda q, k, v: flat(attend(heads(q, 4), heads(k, 2), heads(v, 2)))),
    ("Attention", 24, [Q, K, V, None, normal(2, 2, 4, 8), normal(2, 2, 4, 6)], dict(is_causal=1),
     with_past),
    ("Attention", 24, [Q, K, V], dict(softcap=2.0, scale=0.3, qk_matmul_output_mode=1), capped),
    ("Attention", 25, [Q, K, V], dict(left_window_size=1, right_window_size=1),
     lambda q, k, v: attend(q, k, v, band(3, 5, 0, 1, 1))),
    ("Attention", 25, [Q, K, V, None, None, None, np.array([4, 5])], dict(is_causal=1),
     lambda q, k, v, n: attend(q, k, v, np.stack([band(3, 5, i - 3, 99, 0) for i in n])[:, None])),
    ("RotaryEmbedding", 23, [Q, ANGLES, ANGLES[::-1].copy(), PLACES], {},
     lambda x, c, s, p: rotate(x, c[p][:, None], s[p][:, None])),
    ("RotaryEmbedding", 23, [flat(Q), ANGLES[:, :2].copy(), ANGLES[:, 2:].copy(), PLACES],
     dict(num_heads=4, rotary_embedding_dim=4, interleaved=1),
     lambda x, c, s, p: flat(np.concatenate(
         [rotate(heads(x, 4)[..., :4], c[p][:, None], s[p][:, None], True), heads(x, 4)[..., 4:]],
         -1))),
    ("RMSNormalization", 23, [X, normal(5)], {},
     lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + F(1e-5)) * w),
    ("RMSNormalization", 23, [X, normal(4, 5)], dict(axis=1, epsilon=0.1),
     lambda x, w: x / np.sqrt((x * x).mean((1, 2), keepdims=True) + F(0.1)) * w),
    ("Swish", 24, [X], dict(alpha=2.0), lambda x: x * sigmoid(2 * x)),
    ("SwiGLU", 28, [X, X[::-1].copy()], {}, lambda a, b: a * sigmoid(a) * b),
    ("TensorScatter", 24, [CACHE, UPDATE, np.array([1, 4])], {},
     lambda x, u, at: write(x, u, at, False)),
    ("TensorScatter", 24, [CACHE, UPDATE, np.array([1, 5])], dict(mode="circular"),
     lambda x, u, at: write(x, u, at, True)),
]
