import numpy as np
from cases import new, normal
from references import case, typed

FILE = "attentions.py"
BLOCKS = dict(BLOCK_M=16, BLOCK_N=32)


def probabilities(q, k, scale, seen):
    s = np.where(seen, q @ k.swapaxes(1, 2) * scale, -np.inf)
    top = s.max(2, keepdims=True)
    p = np.exp(s - top, dtype=np.float64)
    total = p.sum(2, keepdims=True)
    return p / total, (top + np.log(total))[..., 0]


def setting(rng, heads, n, dim, causal, dtype):
    """Arguments and values of q, k, v and the output's gradient; p and its log-sums."""
    pairs = [typed(normal(rng, heads, n, dim), dtype) for _ in range(4)]
    args = dict(zip(("q_ptr", "k_ptr", "v_ptr", "do_ptr"), (p[0] for p in pairs)))
    q, k, v, do = (p[1].astype(np.float32) for p in pairs)
    seen = np.tri(n, dtype=bool) if causal else np.ones((n, n), bool)
    scale = dim**-0.5
    p, lse = probabilities(q, k, scale, seen)
    return args, q, k, v, do, scale, p, lse, ((p @ v) * do).sum(2)


@case(FILE, tol=5e-3)
@case(FILE, tol=5e-3, causal=True, n=32)
def attention_stats(rng, heads=2, n=45, dim=32, causal=False, dtype="f16"):
    args, q, k, v, do, scale, p, lse, delta = setting(rng, heads, n, dim, causal, dtype)
    args.update(lse_ptr=new("empty", "f32", heads, n), delta_ptr=new("empty", "f32", heads, n), n=n,
                scale=scale)
    defines = dict(DIM=dim, CAUSAL=causal, **BLOCKS)
    return args, defines, f"cdiv(n, BLOCK_M), {heads}", dict(lse_ptr=lse, delta_ptr=delta)


@case(FILE, tol=5e-3)
@case(FILE, tol=5e-3, causal=True)
@case(FILE, tol=1e-2, dtype="bf16", n=64, dim=16, causal=True)
@case(FILE, tol=5e-3, heads=1, n=64, dim=64, options=("--num-stages", "1"))
def attention_backward(rng, heads=2, n=45, dim=32, causal=False, dtype="f16"):
    args, q, k, v, do, scale, p, lse, delta = setting(rng, heads, n, dim, causal, dtype)
    ds = p * (do @ v.swapaxes(1, 2) - delta[..., None]) * scale
    grads = dict(dq_ptr=ds @ k, dk_ptr=ds.swapaxes(1, 2) @ q, dv_ptr=p.swapaxes(1, 2) @ do)
    args.update(lse_ptr=lse.astype("f4"), delta_ptr=delta.astype("f4"), n=n, scale=scale)
    args.update({name: new("zeros", "f32", *g.shape) for name, g in grads.items()})
    return args, dict(DIM=dim, CAUSAL=causal, **BLOCKS), f"cdiv(n, BLOCK_N), {heads}", grads


@case(FILE, tol=5e-3)
@case(FILE, tol=5e-3, window=1)
@case(FILE, tol=5e-3, heads=2, shared=1, n=64, window=32)
def windowed_attention(rng, heads=4, shared=2, n=75, dim=32, window=20):
    half = lambda *s: normal(rng, *s).astype(np.float16)
    q, k, v = half(heads, n, dim), half(heads // shared, n, dim), half(heads // shared, n, dim)
    slope = rng.random(heads, np.float32)
    away = np.arange(n)[:, None] - np.arange(n)
    keys, values = (x.repeat(shared, 0).astype("f4") for x in (k, v))
    s = q.astype("f4") @ keys.swapaxes(1, 2) * dim**-0.5 - slope[:, None, None] * away
    s = np.where((away >= 0) & (away < window), s, -np.inf)
    p = np.exp(s - s.max(2, keepdims=True))
    args = dict(q_ptr=q, k_ptr=k, v_ptr=v, slope_ptr=slope, out_ptr=new("empty", "f16", *q.shape),
                n=n, window=window, scale=dim**-0.5, heads_per_key=shared)
    expected = dict(out_ptr=p / p.sum(2, keepdims=True) @ values)
    return args, dict(DIM=dim, **BLOCKS), f"cdiv(n, BLOCK_M), {heads}", expected


@case(FILE, tol=2e-3)
@case(FILE, tol=2e-3, lengths=(16, 32), page=16)
def paged_decode(rng, lengths=(1, 0, 37, 20), heads=3, dim=32, page=8):
    pages = [-(-n // page) for n in lengths]
    order, most = rng.permutation(sum(pages) + 2), max(pages)
    table = np.full((len(lengths), most), -1, np.int32)
    half = lambda *s: normal(rng, *s).astype(np.float16)
    k, v = half(len(order), page, heads, dim), half(len(order), page, heads, dim)
    q, y = half(len(lengths), heads, dim), np.zeros((len(lengths), heads, dim))
    for i, n in enumerate(lengths):
        table[i, :pages[i]] = order[sum(pages[:i]):][:pages[i]]
        rows = lambda x: x[table[i, :pages[i]]].reshape(-1, heads, dim)[:n].astype("f4")
        s = np.einsum("hd,nhd->hn", q[i].astype("f4"), rows(k)) * dim**-0.5
        if n:
            p = np.exp(s - s.max(1, keepdims=True))
            y[i] = np.einsum("hn,nhd->hd", p / p.sum(1, keepdims=True), rows(v))
    args = dict(q_ptr=q, k_cache_ptr=k, v_cache_ptr=v, table_ptr=table,
                length_ptr=np.array(lengths, "i4"), out_ptr=new("empty", "f16", *q.shape),
                max_pages=most, heads=heads, scale=dim**-0.5)
    return args, dict(PAGE=page, DIM=dim), f"{len(lengths)}, heads", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, width=64)
def append_keys(rng, tokens=7, slots=20, width=50):
    k, slot = normal(rng, tokens, width), rng.permutation(slots)[:tokens].astype(np.int32)
    slot[2] = -1
    cache = np.zeros((slots, width), np.float32)
    cache[slot[slot >= 0]] = k[slot >= 0]
    args = dict(k_ptr=k, cache_ptr=new("zeros", "f32", slots, width), slot_ptr=slot, width=width)
    return args, dict(BLOCK=64), str(tokens), dict(cache_ptr=cache)


@case(FILE, tol=1e-4)
@case(FILE, tol=1e-4, tokens=16, dim=8)
def rotary_interleaved(rng, tokens=37, dim=32):
    x = normal(rng, tokens, dim)
    angle = np.arange(tokens)[:, None] * 10000.0**(-2 * np.arange(dim // 2) / dim)
    z = (x[:, ::2] + 1j * x[:, 1::2]) * np.exp(1j * angle)
    y = np.stack([z.real, z.imag], -1).reshape(tokens, dim)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", tokens, dim), tokens=tokens, base=10000.0)
    return args, dict(DIM=dim, BLOCK=16), "cdiv(tokens, BLOCK)", dict(out_ptr=y)
