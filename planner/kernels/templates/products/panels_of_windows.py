@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
        BAND: tl.constexpr):
    # A convolution whose weight lies in panels of BN columns: rows are windows, which overlap in
    # memory.  The image has its padding, or rows of a window outside of it are zeros.  BK divides a
    # window's row, and windows behind the last one are that one again.  Programs next to each other
    # share a panel, for BAND blocks of windows, which stay in a cache for all panels.
    pid = tl.program_id(0){{wide}}
    rows = tl.cdiv({{m}}, BM)
    columns = tl.cdiv({{n}}, BN)
    band = pid // (BAND * columns) * BAND
    height = tl.minimum(rows - band, BAND)
    panel = pid % (BAND * columns) // height
    column = tl.arange(0, BN)[None, :]
    n = panel * BN + column
    m = (band + pid % (BAND * columns) % height) * BM + tl.arange(0, BM)[:, None]
    batch = tl.program_id(1){{wide}}
    mmask = m < {{m}}
    nmask = n < {{n}}
{{row}}
    acc = tl.zeros([BM, BN], dtype=tl.{{sums}})
    for turn in range(0, {{outer}} * ({{k}} // BK)):
        position = turn // ({{k}} // BK)
        start = turn % ({{k}} // BK) * BK
        ka = start + tl.arange(0, BK)[None, :]{{wide}}
        kb = start + tl.arange(0, BK)[:, None]{{wide}}
        left = tl.load({{left}}{{mask}})
        right = tl.load({{right}})
        acc = tl.dot(left, right, acc, input_precision="{{precision}}")
{{again}}
{{body}}
