@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # Programs next to each other share rows of the left operand and columns of the right one.
    pid = tl.program_id(0){{wide}}
    rows = tl.cdiv({{m}}, BM)
    columns = tl.cdiv({{n}}, BN)
    band = pid // (8 * columns) * 8
    height = tl.minimum(rows - band, 8)
    m = (band + pid % (8 * columns) % height) * BM + tl.arange(0, BM)[:, None]
    n = pid % (8 * columns) // height * BN + tl.arange(0, BN)[None, :]
    batch = tl.program_id(1){{wide}}
    mmask = m < {{m}}
    nmask = n < {{n}}
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(0, {{k}}, BK):
        ka = start + tl.arange(0, BK)[None, :]{{wide}}
        kb = start + tl.arange(0, BK)[:, None]{{wide}}
        left = tl.load({{left}}, mask=mmask & (ka < {{k}}){{left_condition}}, other=0.0)
        right = tl.load({{right}}, mask=(kb < {{k}}) & nmask, other=0.0)
        acc = tl.dot(left, right, acc{{precision}})
{{body}}
