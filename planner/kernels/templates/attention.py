@triton.jit
def {{name}}_keys({{parameters}}, query, m, batch, {{table}}first, last, {{bounds}}most, total, acc,
                  BN: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr, EDGE: tl.constexpr):
    # Takes the keys from first to last.  At an EDGE not all of a block are seen by all rows.
    d = tl.arange(0, BD)[:, None]
    e = tl.arange(0, BE)[None, :]
{{seed}}
{{loop}}
        n = start + tl.arange(0, BN)[None, :]
        s = start + tl.arange(0, BN)[:, None]
{{walked_cut}}
{{loads}}
        scores = tl.dot(query, key{{precision}}){{scaled}}
{{mask}}
{{hide}}
{{highest}}
{{shares}}
        total = total{{older}} + tl.sum(p, 1)
{{keep}}
{{kept}}
        acc = tl.dot(p.to(value.dtype), value, acc{{older_sums}}{{precision}})
{{higher}}
    return most, total, acc


@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr,
              BD: tl.constexpr, BE: tl.constexpr):
    # A program takes BM rows of one head through the keys.  What it sums up is relative to the
    # highest score so far: when that grows, older sums are scaled down.
{{place}}
    m = start + tl.arange(0, BM)[:, None]
{{own_cut}}
    mmask = m < {{rows}}
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
    emask = e < {{columns}}
    query = tl.load({{query}}, mask=mmask{{query_mask}}, other=0.0)
{{shrunk}}
    most = tl.full([BM], {{least}}, tl.{{wide}})
    total = tl.zeros([BM], tl.{{wide}})
    acc = tl.zeros([BM, BE], tl.{{wide}})
{{body}}
