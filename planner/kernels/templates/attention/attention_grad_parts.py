@triton.jit
def {{name}}_rows({{parameters}}, key, value, scaled, m, batch, head, part, first, last, dk, acc,
                  BN: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr, EDGE: tl.constexpr,
                  END: tl.constexpr):
    # Takes the rows from first to last.  At an EDGE not all of a block see all keys; at the END not
    # all keys are there.
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
{{seed}}
{{loop}}
        n = start + tl.arange(0, BN)[:, None]
        if EDGE:
            query = tl.load({{query}}{{query_edge}}){{widening}}
            grad = tl.load({{grad}}{{grad_edge}}){{widening}}
            sums = tl.load({{sums}}{{sums_edge}})
            delta = tl.load({{delta}}{{delta_edge}})
        else:
            query = tl.load({{query}}{{query_mask}}){{widening}}
            grad = tl.load({{grad}}{{grad_mask}}){{widening}}
            sums = tl.load({{sums}})
            delta = tl.load({{delta}})
        scores = tl.dot(query, tl.trans(key){{precision}})
        dp = tl.dot(grad, tl.trans(value){{precision}})
        scores = scores * {{scale}}
{{mask}}
{{hide}}
        if END:
            scores = tl.where(m < {{own}}, scores, float("-inf"))
        p = {{share}}
{{keep}}
        acc = tl.dot(tl.trans({{kept_share}}), grad, acc{{precision}})
{{kept}}
        ds = p * (dp - delta)
{{chain}}
        dk = tl.dot(tl.trans(ds), query, dk{{precision}})
        dq = tl.dot(ds, scaled{{precision}})
        if EDGE:
            tl.store({{parts}}, {{older_edge}}dq{{store_edge}})
        else:
            tl.store({{parts}}, {{older}}dq{{store_mask}})
    return dk, acc


@triton.jit
def {{name}}_keys({{parameters}}, batch, part, start, BM: tl.constexpr, BN: tl.constexpr,
                  BD: tl.constexpr, BE: tl.constexpr, END: tl.constexpr):
    # Takes BM keys of one head through the rows, of all heads that use them.
    m = start + tl.arange(0, BM)[:, None]
    mmask = m < {{own}}
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
    dmask = d < {{width}}
    emask = e < {{columns}}
    key = tl.load({{key}}, mask=mmask{{key_mask}}, other=0.0){{widening}}
    value = tl.load({{value}}, mask=mmask{{value_mask}}, other=0.0){{widening}}
    scaled = key * {{factor}}
    dk = tl.zeros([BM, BD], tl.{{wide}})
    acc = tl.zeros([BM, BE], tl.{{wide}})
{{body}}

@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr,
              BD: tl.constexpr, BE: tl.constexpr):
    # A program takes a part of one head's keys, and has a gradient of the query of its own.
{{place}}
    d = tl.arange(0, BD)[None, :]
{{zeros}}
{{blocks}}
