{{power}}
@triton.jit
def {{name}}_word(lower, upper):
    # Two floats, rounded to the halves of a word.
    lower = (lower.to(tl.uint32, bitcast=True) + 0x8000) >> 16
    upper = (upper.to(tl.uint32, bitcast=True) + 0x8000) & 0xFFFF0000
    return (lower | upper).to(tl.int32, bitcast=True)


@triton.jit
def {{name}}_two(lower, upper):
    # Words of the elements of two rows.
    return lower.to(tl.int32) | (upper.to(tl.int32) << 16)


@triton.jit
def {{name}}_scores({{parameters}}, query, grad, key, value, sums, delta, m, n, batch, head,
                    EDGE: tl.constexpr, END: tl.constexpr):
    # The shares of keys m in rows n, and gradients of their scores.
    scores = tl.dot(query, tl.trans(key), input_precision="pairs")
    dp = tl.dot(grad, tl.trans(value), input_precision="pairs").to(tl.float32, bitcast=True)
    scores = scores.to(tl.float32, bitcast=True) * {{scale}}
{{mask}}
{{hide}}
    if END:
        scores = tl.where(m < {{own}}, scores, float("-inf"))
    p = {{share}}
    ds = p * (dp - delta)
{{chain}}
    return p, ds


@triton.jit
def {{name}}_row_words({{parameters}}, n, batch, head, EDGE: tl.constexpr):
    # Rows of the query and of the gradient as words of two columns, and numbers of each row.
    d = tl.arange(0, {{width}} // 2)[None, :]
    e = tl.arange(0, {{columns}} // 2)[None, :]
    if EDGE:
        query = tl.load({{query_words}}{{words_edge}})
        grad = tl.load({{grad_words}}{{words_edge}})
        sums = tl.load({{sums}}{{sums_edge}})
        delta = tl.load({{delta}}{{delta_edge}})
    else:
        query = tl.load({{query_words}})
        grad = tl.load({{grad_words}})
        sums = tl.load({{sums}})
        delta = tl.load({{delta}})
    return query, grad, sums, delta


@triton.jit
def {{name}}_row_columns({{parameters}}, n, batch, head,
                         BD: tl.constexpr, BE: tl.constexpr, EDGE: tl.constexpr):
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
    if EDGE:
        query = tl.load({{query}}{{query_edge}})
        grad = tl.load({{grad}}{{grad_edge}})
    else:
        query = tl.load({{query}}{{query_mask}})
        grad = tl.load({{grad}}{{grad_mask}})
    return query, grad


@triton.jit
def {{name}}_add({{parameters}}, dq, n, batch, head, part,
                 BD: tl.constexpr, EDGE: tl.constexpr):
    # Adds to the program's gradient of the query.
    d = tl.arange(0, BD)[None, :]
    dq = dq.to(tl.float32, bitcast=True) * {{factor}}
    if EDGE:
        tl.store({{parts}}, {{older_edge}}dq{{store_edge}})
    else:
        tl.store({{parts}}, {{older}}dq{{store_mask}})


@triton.jit
def {{name}}_rows({{parameters}}, key, next_key, value, next_value, keys, m, next_m, batch, head,
                  part, first, last, dk, next_dk, acc, next_acc,
                  BN: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr, EDGE: tl.constexpr,
                  END: tl.constexpr):
    # Takes the rows from first to last.  At an EDGE not all of a block see all keys; at the END not
    # all keys are there.  A word has a row and the one half a block after it, or such keys.
{{loop}}
        n = start + tl.arange(0, BN // 2)[:, None]
        query, grad, sums, delta = {{name}}_row_words({{parameters}}, n, batch, head, EDGE)
        p, ds = {{name}}_scores({{parameters}}, query, grad, key, value, sums, delta, m, n, batch,
                                head, EDGE, END)
        p_next, ds_next = {{name}}_scores({{parameters}}, query, grad, next_key, next_value, sums,
                                          delta, next_m, n, batch, head, EDGE, END)
        dq = tl.dot({{name}}_word(ds, ds_next), keys, input_precision="pairs")
        {{name}}_add({{parameters}}, dq, n, batch, head, part, BD, EDGE)
        query, grad = {{name}}_row_columns({{parameters}}, n, batch, head, BD, BE, EDGE)
        n += BN // 2
        next_query, next_grad, sums, delta = {{name}}_row_words({{parameters}}, n, batch, head,
                                                                EDGE)
        q, dt = {{name}}_scores({{parameters}}, next_query, next_grad, key, value, sums, delta, m,
                                n, batch, head, EDGE, END)
        q_next, dt_next = {{name}}_scores({{parameters}}, next_query, next_grad, next_key,
                                          next_value, sums, delta, next_m, n, batch, head, EDGE,
                                          END)
        dq = tl.dot({{name}}_word(dt, dt_next), keys, input_precision="pairs")
        {{name}}_add({{parameters}}, dq, n, batch, head, part, BD, EDGE)
        next_query, next_grad = {{name}}_row_columns({{parameters}}, n, batch, head, BD, BE, EDGE)
        grad = {{name}}_two(grad, next_grad)
        acc = tl.dot(tl.trans({{name}}_word(p, q)), grad, acc, input_precision="pairs")
        next_acc = tl.dot(tl.trans({{name}}_word(p_next, q_next)), grad, next_acc,
                          input_precision="pairs")
        query = {{name}}_two(query, next_query)
        dk = tl.dot(tl.trans({{name}}_word(ds, dt)), query, dk, input_precision="pairs")
        next_dk = tl.dot(tl.trans({{name}}_word(ds_next, dt_next)), query, next_dk,
                         input_precision="pairs")
    return dk, next_dk, acc, next_acc


@triton.jit
def {{name}}_load({{parameters}}, m, batch, BD: tl.constexpr):
    # Keys and values as words of two columns, and elements of keys.
    mmask = m < {{own}}
    d = tl.arange(0, {{width}} // 2)[None, :]
    key = tl.load({{key_words}}, mask=mmask, other=0)
    e = tl.arange(0, {{columns}} // 2)[None, :]
    value = tl.load({{value_words}}, mask=mmask, other=0)
    d = tl.arange(0, BD)[None, :]
    return key, value, tl.load({{key}}, mask=mmask{{key_mask}}, other=0)


@triton.jit
def {{name}}_end({{parameters}}, dk, acc, m, batch, BM: tl.constexpr, BD: tl.constexpr,
                 BE: tl.constexpr):
    mmask = m < {{own}}
    d = tl.arange(0, BD)[None, :]
    e = tl.arange(0, BE)[None, :]
    dmask = d < {{width}}
    emask = e < {{columns}}
    dk = dk.to(tl.float32, bitcast=True)
    acc = acc.to(tl.float32, bitcast=True)
{{end}}

@triton.jit
def {{name}}_keys({{parameters}}, batch, part, start, BM: tl.constexpr, BN: tl.constexpr,
                  BD: tl.constexpr, BE: tl.constexpr, END: tl.constexpr):
    # Takes BM keys of one head through the rows, of all heads that use them.
    m = start + tl.arange(0, BM // 2)[:, None]
    next_m = m + BM // 2
    key, value, keys = {{name}}_load({{parameters}}, m, batch, BD)
    next_key, next_value, next_keys = {{name}}_load({{parameters}}, next_m, batch, BD)
    keys = {{name}}_two(keys, next_keys)
    dk = tl.zeros([BM // 2, BD], tl.int32)
    next_dk = tl.zeros([BM // 2, BD], tl.int32)
    acc = tl.zeros([BM // 2, BE], tl.int32)
    next_acc = tl.zeros([BM // 2, BE], tl.int32)
{{body}}
    {{name}}_end({{parameters}}, dk, acc, m, batch, BM // 2, BD, BE)
    {{name}}_end({{parameters}}, next_dk, next_acc, next_m, batch, BM // 2, BD, BE)


@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr,
              BD: tl.constexpr, BE: tl.constexpr):
    # A program takes a part of one head's keys, and has a gradient of the query of its own.
{{place}}
    d = tl.arange(0, BD)[None, :]
{{zeros}}
{{blocks}}
