@triton.jit
def {{name}}_larger(a, b):
    # A CPU does this in one instruction. Its result for NaN is no matter: such a row is NaN.
    return tl.where(a > b, a, b)


{{power}}
{{mask_function}}
@triton.jit
def {{name}}_scores({{parameters}}, query, m, batch, n,
                    BD: tl.constexpr, EDGE: tl.constexpr):
    # The scores of keys n.  Those after the last one are of that one again, and hidden.
    d = tl.arange(0, BD // 2){{down}}
    r = n
    if EDGE:
        r = tl.minimum(n, {{walked}} - 1)
    key = tl.load({{key}}{{policy}})
    scores = tl.dot({{query_by_key}}, input_precision="pairs")
    scores = scores.to(tl.float32, bitcast=True){{scaled}}
{{mask_tile}}
{{mask}}
{{hide}}
    return scores


@triton.jit
def {{name}}_keys({{parameters}}, query, m, batch, first, last, most, total, acc,
                  BN: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr, EDGE: tl.constexpr):
    # Takes the keys from first to last.  At an EDGE not all of a block are seen by all rows.  A
    # word has two of them, one after the other: products are of words.
    e = tl.arange(0, BE)[None, :]
{{loop}}
        even = start + 2 * tl.arange(0, BN // 2){{across}}
        lower = {{name}}_scores({{parameters}}, query, m, batch, even, BD, EDGE)
        upper = {{name}}_scores({{parameters}}, query, m, batch, even + 1, BD, EDGE)
{{highest}}
{{shares}}
        total = total{{older}} + tl.sum(lower + upper, {{keys}})
        words = ((lower.to(tl.uint32, bitcast=True) + 0x8000) >> 16) | (
            (upper.to(tl.uint32, bitcast=True) + 0x8000) & 0xFFFF0000)
        s = start + 2 * tl.arange(0, BN // 2)[:, None]
        if EDGE:
            lower_value = tl.load({{value}}, mask=s < {{walked}}, other=0{{policy}})
        else:
            lower_value = tl.load({{value}}{{policy}})
        s = s + 1
        if EDGE:
            upper_value = tl.load({{value}}, mask=s < {{walked}}, other=0{{policy}})
        else:
            upper_value = tl.load({{value}}{{policy}})
        value = lower_value.to(tl.int32) | (upper_value.to(tl.int32) << 16)
        words = words.to(tl.int32, bitcast=True)
        acc = acc.to(tl.float32, bitcast=True){{older_sums}}
        acc = tl.dot({{shares_by_value}}, acc.to(tl.int32, bitcast=True), input_precision="pairs")
{{higher}}
    return most, total, acc


@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr,
              BD: tl.constexpr, BE: tl.constexpr):
    # A program takes BM rows of one head through the keys.  What it sums up is relative to the
    # highest score so far: when that grows, older sums are scaled down.
{{place}}
    m = start + tl.arange(0, BM){{down}}
    mmask = m < {{rows}}
    d = tl.arange(0, BD // 2){{across}}
{{e}}
    query = tl.load({{query}}, mask=mmask, other=0)
    most = tl.full([BM], {{least}}, tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([{{sums}}], tl.int32)
{{body}}
