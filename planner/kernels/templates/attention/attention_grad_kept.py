@triton.jit
def {{name}}_keys({{parameters}}, m, r, batch, {{table}}first, last, {{bounds}}acc,
                  BN: tl.constexpr, BD: tl.constexpr):
    # Takes the keys from first to last, whose gradients of scores are kept.
    d = tl.arange(0, BD)[None, :]
{{loop}}
        s = start + tl.arange(0, BN)[:, None]
        key = tl.load({{key}}{{key_mask}})
        ds = tl.load({{kept}}{{kept_mask}})
        acc = tl.dot(tl.trans(ds), key, acc{{precision}})
    return acc


@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr,
              BD: tl.constexpr, BE: tl.constexpr):
    # A program takes BM rows of one head through the keys.
{{place}}
    p = tl.arange(0, BM)
    m = start + {{order}}[:, None]
    r = start + p[None, :]
    mmask = m < {{own}}
    d = tl.arange(0, BD)[None, :]
    dmask = d < {{width}}
    acc = tl.zeros([BM, BD], tl.{{wide}})
{{body}}
