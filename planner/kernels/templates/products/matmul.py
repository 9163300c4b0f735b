@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # Programs next to each other share rows of the left operand and columns of the right one.
    pid = tl.program_id(0){{wide}}
    rows = tl.cdiv({{m}}, BM){{more_rows}}
    columns = tl.cdiv({{n}}, BN){{more_columns}}
    band = pid // (8 * columns) * 8
    height = tl.minimum(rows - band, 8)
{{groups}}
    m = {{row}} + tl.arange(0, BM)[:, None]
    n = {{column}} + tl.arange(0, BN)[None, :]
    batch = {{batch}}
    mmask = m < {{row_end}}
    nmask = n < {{column_end}}
{{before}}
    acc = tl.zeros({{shape}}, dtype=tl.{{sums}})
    for start in range({{first}}, {{last}}, {{step}}):
        ka = start + tl.arange(0, BK)[None, :]{{wide}}
        kb = start + tl.arange(0, BK)[:, None]{{wide}}
{{left}}
{{right}}
{{multiply}}
{{after}}
{{body}}
