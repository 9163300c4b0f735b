{{mask_function}}
@triton.jit
def {{name}}_keys({{parameters}}, query, m, batch, {{table}}first, last, {{bounds}}most, total, acc,
                  BN: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr, EDGE: tl.constexpr):
    # Takes the keys from first to last.  At an EDGE not all of a block are seen by all rows.
    d = tl.arange(0, BD){{down}}
    e = tl.arange(0, BE)[None, :]
{{seed}}
{{loop}}
{{key_numbers}}
{{walked_cut}}
{{loads}}
        scores = tl.dot({{query_by_key}}{{precision}}){{scaled}}
{{mask_tile}}
{{mask}}
{{hide}}
{{highest}}
{{shares}}
        total = total{{older}} + tl.sum(p, {{keys}})
{{keep}}
{{kept}}
        acc = tl.dot({{shares_by_value}}, acc{{older_sums}}{{precision}})
{{higher}}
    return most, total, acc


@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr,
              BD: tl.constexpr, BE: tl.constexpr):
    # A program takes BM rows of one head through the keys.  What it sums up is relative to the
    # highest score so far: when that grows, older sums are scaled down.
{{place}}
    m = start + tl.arange(0, BM){{down}}
{{own_cut}}
    mmask = m < {{rows}}
    d = tl.arange(0, BD){{across}}
{{e}}
    query = tl.load({{query}}, mask=mmask{{query_mask}}, other=0.0){{widening}}
{{shrunk}}
    most = tl.full([BM], {{least}}, tl.{{wide}})
    total = tl.zeros([BM], tl.{{wide}})
    acc = tl.zeros([{{sums}}], tl.{{wide}})
{{body}}
