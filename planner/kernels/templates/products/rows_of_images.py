@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # The gradient of a convolution's weight: rows are output channels, columns elements of a row of
    # the window.  A step sums up the BK windows of a row of an image, whose padding is in memory.
    pid = tl.program_id(0)
    rows = tl.cdiv({{m}}, BM)
    across = tl.cdiv({{row}}, BN)
    m = pid % rows * BM + tl.arange(0, BM)[:, None]
    column = pid // rows % across * BN + tl.arange(0, BN)[None, :]
    above = pid // rows // across
    n = above * {{row}} + column
    batch = tl.program_id(1)
    mmask = m < {{m}}
    nmask = column < {{row}}
    channel = m
    if {{m}} % BM != 0:
        channel = tl.minimum(m, {{m}} - 1)
    steps = {{steps}}
    each = tl.cdiv(steps, {{parts}})
    first, last = batch * each, tl.minimum(batch * each + each, steps)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for step in range(first, last):
        ka = tl.arange(0, BK)[None, :]{{wide}}
        kb = tl.arange(0, BK)[:, None]{{wide}}
        left = tl.load({{left}})
        right = tl.load({{right}})
        acc = tl.dot(left, right, acc, input_precision="ieee")
{{body}}
