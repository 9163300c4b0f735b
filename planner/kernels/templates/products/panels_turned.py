@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
        BAND: tl.constexpr):
    # The transpose of a product, BM of its columns by BN of its rows: the right operand's columns
    # are rows in memory, which are read in place, or made of less memory, and the left operand lies
    # in panels of BN rows.
    # BK divides what is summed up, and what follows the last column is that one again, so that
    # loads have no masks.  Programs next to each other share a panel, for BAND blocks of columns,
    # which stay in a cache for all panels.
    pid = tl.program_id(0){{wide}}
    blocks = tl.cdiv({{n}}, BM)
    panels = tl.cdiv({{m}}, BN)
    band = pid // (BAND * panels) * BAND
    height = tl.minimum(blocks - band, BAND)
    panel = pid % (BAND * panels) // height
    block = band + pid % (BAND * panels) % height
    column = tl.arange(0, BN)[None, :]
    row = block * BM + tl.arange(0, BM)[:, None]
{{row}}
    acc = tl.zeros([BM, BN], dtype=tl.{{sums}})
    for start in range(0, {{k}}, BK):
        ka = start + tl.arange(0, BK)[None, :]{{wide}}
        kb = start + tl.arange(0, BK)[:, None]{{wide}}
{{left}}
        right = tl.load({{right}})
        acc = tl.dot(left, right, acc, input_precision="{{precision}}")
{{after}}
    acc = tl.trans(acc)
    m = panel * BN + tl.arange(0, BN)[:, None]
    n = block * BM + tl.arange(0, BM)[None, :]
    mmask = m < {{m}}
    nmask = n < {{n}}
{{body}}
