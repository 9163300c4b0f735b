@triton.jit
def {{name}}({{parameters}}, {{sides}}, BM: tl.constexpr, BN: tl.constexpr):
    # A product of matrices: rows are output channels, columns the input channels at a position of
    # the window.  Steps sum up parts of images; programs next to each other share the part.
    pid = tl.program_id(0){{wide}}
    rows = tl.cdiv({{m}}, BM)
    columns = tl.cdiv({{channels}}, BN)
    position = pid // rows // columns
    m = pid % rows * BM + tl.arange(0, BM)[:, None]
    c = pid // rows % columns * BN + tl.arange(0, BN)[None, :]
    n = position * {{channels}} + c
    batch = tl.program_id(1){{wide}}
    mmask = m < {{m}}
    nmask = c < {{channels}}
{{window}}
{{counts}}
    steps = {{steps}}
    each = tl.cdiv(steps, {{parts}})
    first, last = {{turn}} * each, tl.minimum({{turn}} * each + each, steps)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for step in range(first, last):
{{left_place}}
        left = {{left}}
{{right_place}}
        right = {{right}}
        acc = tl.dot(left, right, acc{{precision}})
    # 0 times a number that is not finite is NaN, also where a part is beyond the gradient.
    if {{ragged}}:
        if tl.max((acc != acc).to(tl.int32)) > 0:
            acc = tl.zeros([BM, BN], dtype=tl.float32)
            for step in tl.range(first, last, num_stages=1):
{{left_again}}
                left = {{left}}
{{right_again}}
                right = tl.where({{within}}, {{right}}, 0.0)
                acc = tl.dot(left, right, acc{{precision}})
{{body}}
