@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # The gradient of a convolution's weight: rows are output channels, columns elements of a row of
    # the window.  A step sums up the BK windows of a row of an image, whose padding is in memory,
    # as are elements behind a row's last vector.  Rows behind the last one are that one again, so
    # that loads have no masks.
    pid = tl.program_id(0)
    columns = tl.cdiv({{row}}, BN)
    down = tl.cdiv({{outputs}}, BM)
    element = pid % columns * BN + tl.arange(0, BN)[None, :]
    m = pid // columns % down * BM + tl.arange(0, BM)[:, None]
    above = pid // columns // down
    n = above * {{row}} + element
    batch = tl.program_id(1)
    mmask = m < {{outputs}}
    nmask = element < {{row}}
    output = m
    if {{outputs}} % BM != 0:
        output = tl.minimum(m, {{outputs}} - 1)
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
