@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # A product whose right operand lies in panels of BN columns.  BK divides what is summed up, and
    # rows behind the last one are that one again, so that loads have no masks.  Programs next to
    # each other share rows.
    pid = tl.program_id(0){{wide}}
    columns = tl.cdiv({{n}}, BN)
    panel = pid % columns
    column = tl.arange(0, BN)[None, :]
    n = panel * BN + column
    m = pid // columns * BM + tl.arange(0, BM)[:, None]
    mmask = m < {{m}}
    nmask = n < {{n}}
{{row}}
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(0, {{k}}, BK):
        ka = start + tl.arange(0, BK)[None, :]{{wide}}
        kb = start + tl.arange(0, BK)[:, None]{{wide}}
        left = tl.load({{left}})
        right = tl.load({{right}})
        acc = tl.dot(left, right, acc, input_precision="ieee")
{{body}}
