@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
        BAND: tl.constexpr):
    # A product whose right operand lies in panels of BN columns.  BK divides what is summed up, and
    # rows behind the last one are that one again, so that loads have no masks.  Programs next to
    # each other share a panel, for BAND blocks of rows, which stay in a cache for all panels.
    pid = tl.program_id(0){{wide}}
    rows = tl.cdiv({{m}}, BM)
    columns = tl.cdiv({{n}}, BN)
    band = pid // (BAND * columns) * BAND
    height = tl.minimum(rows - band, BAND)
    panel = pid % (BAND * columns) // height
    column = tl.arange(0, BN)[None, :]
    n = panel * BN + column
    m = (band + pid % (BAND * columns) % height) * BM + tl.arange(0, BM)[:, None]
    mmask = m < {{m}}
    nmask = n < {{n}}
{{row}}
{{batch}}
    acc = tl.zeros([BM, BN], dtype=tl.{{sums}})
    for start in {{range}}(0, {{k}}, BK):
        ka = start + tl.arange(0, BK)[None, :]{{wide}}
        kb = start + tl.arange(0, BK)[:, None]{{wide}}
        left = tl.load({{left}})
        right = tl.load({{right}})
        acc = tl.dot(left, right, acc, input_precision="{{precision}}")
{{after}}
{{body}}
