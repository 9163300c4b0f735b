"""Programs as today's users write them, for today.py --users: a name, and a function that gives the
model, its inputs and the gradient of its result (None: forward alone is timed)."""

import functools

import torch
import torch.nn.functional as F

from language import device, draw, turned


def bf16(x):
    return x.to(torch.bfloat16)


def ids(most, *shape):
    return torch.randint(0, most, shape, device=device())


# ---- adapters and experts ----


def adapters(x, weight, down, up, which):
    """A linear layer, and for each row the adapter of low rank that its request chose."""
    low = torch.bmm(x.unsqueeze(1), down[which])
    return F.linear(x, weight) + torch.bmm(low, up[which]).squeeze(1) * 0.5


def adapters_case(small):
    rows, width, rank, many = (4, 64, 8, 3) if small else (48, 4096, 16, 20)
    return adapters, [draw(rows, width), draw(width, width) * width**-0.5,
                      draw(many, width, rank) * width**-0.5, draw(many, rank, width),
                      ids(many, rows)], None


def capacity(x, router, up, down, room):
    """Experts with room for so many tokens each, by masks of places, as Switch and GShard do."""
    shares = torch.softmax(x.float() @ router.float(), -1)
    share, expert = shares.max(-1)
    chosen = F.one_hot(expert, shares.shape[-1])
    place = (chosen.cumsum(0) - 1) * chosen
    kept = chosen * (place < room)
    where = kept.unsqueeze(-1) * F.one_hot(place.clamp(max=room - 1), room)
    dispatch = where.to(x.dtype)
    combine = (dispatch * share[:, None, None]).to(x.dtype)
    rows = torch.einsum("tec,td->ecd", dispatch, x)
    hidden = F.gelu(torch.einsum("ecd,edf->ecf", rows, up))
    return torch.einsum("tec,ecd->td", combine, torch.einsum("ecf,efd->ecd", hidden, down))


def capacity_case(small):
    rows, width, hidden, many = (16, 32, 64, 4) if small else (2048, 1024, 4096, 16)
    room = 2 * rows // many
    inputs = [draw(rows, width), draw(width, many), draw(many, width, hidden) * width**-0.5,
              draw(many, hidden, width) * hidden**-0.5]
    return functools.partial(capacity, room=room), inputs, draw(rows, width)


def two_of_all(x, router, bias, gate, up, down):
    """Sigmoid scores with a bias that balances, two experts a token, loops over experts with masks
    of rows that keep their places."""
    scores = torch.sigmoid(F.linear(x.float(), router.float()))
    _, picked = torch.topk(scores + bias, 2)
    share = torch.gather(scores, 1, picked)
    share = (share / share.sum(-1, keepdim=True)).to(x.dtype)
    out = torch.zeros_like(x)
    for e in range(gate.shape[0]):
        mine = (share * (picked == e)).sum(-1, keepdim=True)
        out = out + mine * (F.silu(x @ gate[e]) * (x @ up[e])) @ down[e]
    return out


def two_of_all_case(small):
    rows, width, hidden, many = (8, 32, 32, 4) if small else (64, 2048, 1024, 8)
    weights = [draw(many, width, hidden) * width**-0.5, draw(many, width, hidden) * width**-0.5,
               draw(many, hidden, width) * hidden**-0.5]
    bias = torch.randn(many, device=device()) * 0.1
    return two_of_all, [draw(rows, width), draw(many, width) * width**-0.5, bias, *weights], None


# ---- attention ----


def sinks_case(small):
    """A window, and the first four keys, which all rows see; shared keys of 128 columns."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    batch, heads, shared, rows, width = (1, 4, 2, 256, 32) if small else (2, 32, 8, 4096, 128)

    def seen(b, h, q, k):
        return (q >= k) & ((q - k < 1024) | (k < 4))

    blocks = create_block_mask(seen, None, None, rows, rows, device=device())

    def attend(query, key, value):
        return flex_attention(query, key, value, block_mask=blocks, enable_gqa=True)

    inputs = [draw(batch, heads, rows, width)] + [draw(batch, shared, rows, width) for _ in "kv"]
    return attend, inputs, draw(batch, heads, rows, width) if device() == "cuda" else None


def buckets_case(small):
    """A bias by buckets of distances, as T5's, within documents; heads of 64 columns."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    batch, heads, rows, width = (1, 2, 256, 32) if small else (4, 12, 2048, 64)
    document = torch.arange(rows, device=device()) // 500
    bucket = torch.log2(torch.arange(rows, device=device()) + 1.0).to(torch.int32)
    table = torch.randn(heads, 16, device=device())

    def seen(b, h, q, k):
        return document[q] == document[k]

    def score(s, b, h, q, k):
        return s + table[h, bucket[torch.abs(q - k)]]

    blocks = create_block_mask(seen, None, None, rows, rows, device=device())

    def attend(query, key, value):
        return flex_attention(query, key, value, score, blocks)

    inputs = [draw(batch, heads, rows, width) for _ in "qkv"]
    return attend, inputs, draw(batch, heads, rows, width) if device() == "cuda" else None


def latent(x, position, turn, to_q, to_kv, cache, expand, out):
    """A step of latent attention: the cache has 512 numbers and a rotated part of 64 a token, which
    all heads share; products absorb what would expand them."""
    batch, heads = x.shape[0], expand.shape[0]
    rank, rotated = expand.shape[2], turn.shape[-2] * 2
    new = x @ to_kv
    part = turned(new[:, None, None, rank:], turn)[:, 0]
    cache.index_copy_(1, position, torch.cat([new[:, None, :rank], part], -1))
    q = (x @ to_q).view(batch, heads, -1)
    plain, q_rotated = q.split([q.shape[-1] - rotated, rotated], -1)
    q_rotated = turned(q_rotated.unsqueeze(2), turn).squeeze(2)
    absorbed = torch.einsum("bhd,hdr->bhr", plain, expand[:, :128])
    query = torch.cat([absorbed, q_rotated], -1)
    scores = torch.einsum("bhr,btr->bht", query, cache).float() * q.shape[-1]**-0.5
    seen = torch.arange(cache.shape[1], device=x.device) <= position
    shares = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).to(x.dtype)
    found = torch.einsum("bht,btr->bhr", shares, cache[..., :rank])
    y = torch.einsum("bhr,hdr->bhd", found, expand[:, 128:])
    return y.reshape(batch, -1) @ out


def latent_case(small):
    batch, heads, width, rank, room = (2, 2, 64, 32, 64) if small else (16, 32, 4096, 512, 4096)
    head, rotated = 128, 64
    angle = torch.rand(rotated // 2, device=device())
    turn = torch.stack([angle.cos(), angle.sin()], -1)
    inputs = [draw(batch, width), torch.tensor([room // 2], device=device()), turn,
              draw(width, heads * (head + rotated)) * width**-0.5,
              draw(width, rank + rotated) * width**-0.5, draw(batch, room, rank + rotated),
              draw(heads, 2 * head, rank) * head**-0.5,
              draw(heads * head, width) * (heads * head)**-0.5]
    return latent, inputs, None


def packed_cache(query, keys, key_scales, values, value_scales, length):
    """A row's attention over keys and values of 8 bits, with a scale for each head and token."""
    room = keys.shape[2]
    k = keys.to(query.dtype) * key_scales
    v = values.to(query.dtype) * value_scales
    seen = (torch.arange(room, device=query.device) < length)[None, None, None]
    return F.scaled_dot_product_attention(query, k, v, attn_mask=seen, enable_gqa=True)


def packed_cache_case(small):
    batch, heads, shared, room, width = (1, 4, 2, 64, 32) if small else (8, 32, 8, 8192, 128)

    def cache():
        return torch.randint(-127, 128, (batch, shared, room, width), dtype=torch.int8,
                             device=device())

    def scales():
        return bf16(torch.rand(batch, shared, room, 1, device=device()) * 0.02)

    return packed_cache, [draw(batch, heads, 1, width), cache(), scales(), cache(), scales(),
                          torch.tensor(room * 3 // 4, device=device())], None


# ---- weights and activations of few bits ----


def in_blocks(x):
    """Rows in e4m3 with a scale for each."""
    scale = x.abs().amax(-1, keepdim=True).float().clamp(min=1e-12) / 448
    return (x.float() / scale).to(torch.float8_e4m3fn), scale


def float8_mlp(x, both, both_scale, down, down_scale):
    """A gated layer whose inputs and hidden numbers are cast to 8 bits by their rows."""
    q, scale = in_blocks(x)
    h = torch._scaled_mm(q, both.t(), scale, both_scale, out_dtype=torch.bfloat16)
    gate, up = h.chunk(2, -1)
    q, scale = in_blocks(F.silu(gate) * up)
    return x + torch._scaled_mm(q, down.t(), scale, down_scale, out_dtype=torch.bfloat16)


def float8_mlp_case(small):
    rows, width, hidden = (16, 64, 96) if small else (2048, 4096, 8192)
    both, first = in_blocks(draw(2 * hidden, width) * width**-0.5)
    down, second = in_blocks(draw(width, hidden) * hidden**-0.5)
    return float8_mlp, [draw(rows, width), both, first.t().contiguous(), down,
                        second.t().contiguous()], None


def bytes_of_two(weight, scale, zero, dtype):
    """Weights of 4 bits, two in a byte, in groups of 64 along the sum."""
    w = torch.stack([weight & 15, weight >> 4], -1).view(weight.shape[0], -1, 64).to(dtype)
    return ((w - zero.unsqueeze(-1)) * scale.unsqueeze(-1)).flatten(1)


def int4_mlp(x, *weights):
    gate, up, down = (bytes_of_two(*weights[i:i + 3], x.dtype) for i in (0, 3, 6))
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def int4_mlp_case(small, rows):
    width, hidden = (128, 192) if small else (4096, 14336)
    weights = []
    for n, k in ((hidden, width), (hidden, width), (width, hidden)):
        weights += [torch.randint(0, 256, (n, k // 2), dtype=torch.uint8, device=device()),
                    bf16(torch.rand(n, k // 64, device=device()) * 0.01 + 1e-3),
                    bf16(torch.randint(0, 16, (n, k // 64), device=device()))]
    return int4_mlp, [draw(rows, width), *weights], None


# ---- sampling and losses ----


def nucleus(logits, temperature, noise):
    """The most probable words whose shares are 0.9 together, and a draw of them."""
    ordered, at = torch.sort(logits.float() / temperature, -1, descending=True)
    shares = torch.softmax(ordered, -1)
    before = torch.cumsum(shares, -1) - shares
    shares = torch.where(before > 0.9, 0.0, shares)
    return torch.gather(at, 1, torch.argmax(shares / noise, -1, keepdim=True))


def nucleus_case(small):
    rows, words = (4, 500) if small else (16, 32000)
    temperature = torch.full((rows, 1), 0.8, device=device())
    noise = torch.empty(rows, words, device=device()).exponential_(1)
    return nucleus, [draw(rows, words) * 3, temperature, noise], None


def preferences(hidden, weight, target, seen, reference):
    """The loss of direct preferences: the first half of the rows is preferred to the second."""
    shares = torch.log_softmax(F.linear(hidden, weight).float(), -1)
    each = torch.gather(shares, 2, target.unsqueeze(-1)).squeeze(-1)
    ratio = (each * seen).sum(-1) - reference
    better, worse = ratio.chunk(2)
    return -F.logsigmoid(0.1 * (better - worse)).mean()


def preferences_case(small):
    rows, tokens, width, words = (4, 16, 32, 300) if small else (4, 512, 2048, 32000)
    seen = (torch.arange(tokens, device=device()) > tokens // 4).float().expand(rows, -1)
    inputs = [draw(rows, tokens, width), draw(words, width) * width**-0.5,
              ids(words, rows, tokens), seen.contiguous(),
              torch.full((rows,), -7.0 * tokens, device=device())]
    return preferences, inputs, torch.ones((), device=device())


def smoothed(hidden, weight, target):
    """Smoothed targets, ignored ones, and the square of the logits' sum."""
    logits = F.linear(hidden, weight).float()
    z = torch.logsumexp(logits, -1)
    loss = F.cross_entropy(logits, target, ignore_index=-100, label_smoothing=0.1)
    return loss + 1e-4 * z.square().mean()


def smoothed_case(small):
    rows, width, words = (32, 32, 300) if small else (4096, 2048, 50304)
    target = ids(words, rows)
    target[::7] = -100
    return smoothed, [draw(rows, width), draw(words, width) * width**-0.5, target], torch.ones(
        (), device=device())


def seeded(make):
    def case(small=False):
        torch.manual_seed(0)
        return make(small)

    return case


CASES = {name: seeded(make) for name, make in {
    "adapters by index, 48 rows": adapters_case,
    "experts of a capacity": capacity_case,
    "two of 8 experts, each for all 64 rows": two_of_all_case,
    "a window and sinks, 128 columns, shared keys": sinks_case,
    "a bias by buckets, documents": buckets_case,
    "latent attention, decoding, 16 rows": latent_case,
    "decoding over 8-bit keys": packed_cache_case,
    "float8 gated layer, 2048 rows": float8_mlp_case,
    "int4 gated layer, two in a byte, 1 row": functools.partial(int4_mlp_case, rows=1),
    "int4 gated layer, two in a byte, 8 rows": functools.partial(int4_mlp_case, rows=8),
    "nucleus sampling, 16 rows": nucleus_case,
    "preferences": preferences_case,
    "smoothed targets and the sum of logits": smoothed_case,
}.items()}
