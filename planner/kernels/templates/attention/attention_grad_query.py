@triton.jit
def {{name}}_keys({{parameters}}, query, grad, sums, delta, m, batch, {{table}}first, last,
                  {{bounds}}acc,
                  BN: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr, EDGE: tl.constexpr):
    # Takes the keys from first to last.  At an EDGE not all of a block are seen by all rows.
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
{{seed}}
{{loop}}
        n = start + tl.arange(0, BN)[None, :]
        s = start + tl.arange(0, BN)[:, None]
{{walked_cut}}
        if EDGE:
            key = tl.load({{key}}{{key_edge}})
            value = tl.load({{value}}{{value_edge}})
        else:
            key = tl.load({{key}}{{key_mask}})
            value = tl.load({{value}}{{value_mask}})
        # Both products run at a time.
        scores = tl.dot(query, tl.trans(key){{precision}})
        dp = tl.dot(grad, tl.trans(value){{precision}})
        scores = scores * {{scale}}
{{mask}}
{{hide}}
        p = {{share}}
{{keep}}
{{kept}}
        ds = p * (dp - delta)
{{read}}
{{chain}}
{{store}}
        acc = tl.dot(ds.to(key.dtype), key, acc{{precision}})
    return acc


@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr,
              BD: tl.constexpr, BE: tl.constexpr):
    # A program takes BM rows of one head through the keys, and computes their shares again.
{{place}}
    m = start + tl.arange(0, BM)[:, None]
{{own_cut}}
    mmask = m < {{own}}
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
    dmask = d < {{width}}
    query = tl.load({{query}}, mask=mmask{{query_mask}}, other=0.0)
    grad = tl.load({{grad}}, mask=mmask{{grad_mask}}, other=0.0)
    sums = tl.load({{sums}}, mask=mmask, other=float("inf")){{unit}}
    delta = tl.load({{delta}}, mask=mmask, other=0.0)
    acc = tl.zeros([BM, BD], tl.{{wide}})
{{body}}
