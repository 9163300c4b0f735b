@triton.jit
def {{name}}({{parameters}}, {{sides}}, BN: tl.constexpr, BK: tl.constexpr):
    # A product of matrices: rows are the positions of all images, columns the output channels.
    # Programs next to each other share rows of the left operand and columns of the right one.
    pid = tl.program_id(0){{wide}}
{{counts}}
    rows = {{tiles}}
    columns = tl.cdiv({{n}}, BN)
    band = pid // (8 * columns) * 8
    height = {{height}}
{{place}}
    n = pid % (8 * columns) // height * BN + tl.arange(0, BN)[None, :]
    batch = tl.program_id(1){{wide}}
    mmask = {{inside}}
    nmask = n < {{n}}
{{rows}}
    acc = tl.zeros([{{size}}, BN], dtype=tl.{{sums}})
    for step in range(0, {{steps}}):
{{step}}
        left = tl.load({{left}}, mask={{left_condition}}, other=0.0)
{{right_load}}
        acc = tl.dot(left, right, acc{{precision}})
{{apart}}
{{body}}
