@triton.jit
def {{name}}_rows({{parameters}}, key, value, m, batch, head, {{table}}first, last,
                  {{bounds}}dk, acc,
                  BN: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr, EDGE: tl.constexpr):
    # Takes the rows from first to last.  At an EDGE not all of a block see all keys.
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
{{seed}}
{{loop}}
        n = start + tl.arange(0, BN)[None, :]
        s = start + tl.arange(0, BN)[:, None]
{{walked_cut}}
        if EDGE:
            query = tl.load({{query}}{{query_edge}})
            grad = tl.load({{grad}}{{grad_edge}})
            sums = tl.load({{sums}}{{sums_edge}})
            delta = tl.load({{delta}}{{delta_edge}})
        else:
            query = tl.load({{query}}{{query_mask}})
            grad = tl.load({{grad}}{{grad_mask}})
            sums = tl.load({{sums}}{{sums_mask}})
            delta = tl.load({{delta}}{{delta_mask}})
        # Both products run at a time.
        scores = tl.dot(key, tl.trans(query){{precision}})
        dp = tl.dot(value, tl.trans(grad){{precision}})
        scores = scores * {{scale}}
{{mask}}
{{hide}}
        p = {{share}}
{{keep}}
{{first}}
{{kept}}
        ds = p * (dp - delta)
{{chain}}
{{store}}
{{last}}
    return dk, acc


@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr,
              BD: tl.constexpr, BE: tl.constexpr):
    # A program takes BM keys of one head through the rows, of all heads that use them.
{{place}}
    m = start + tl.arange(0, BM)[:, None]
{{own_cut}}
    mmask = m < {{own}}
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
    dmask = d < {{width}}
    emask = e < {{columns}}
    key = tl.load({{key}}, mask=mmask{{key_mask}}, other=0.0)
    value = tl.load({{value}}, mask=mmask{{value_mask}}, other=0.0)
    dk = tl.zeros([BM, BD], tl.{{wide}})
    acc = tl.zeros([BM, BE], tl.{{wide}})
{{body}}
