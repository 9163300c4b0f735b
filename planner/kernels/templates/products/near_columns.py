@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr, ROWS: tl.constexpr):
    # A program copies its columns of the right operand, unless it reads them in place, and
    # multiplies its blocks of rows by them.  Rows behind the last one are that one again, so that
    # loads have no masks.
    pid = tl.program_id(0){{wide}}
    columns = tl.cdiv({{n}}, BN)
    n = pid % columns * BN + tl.arange(0, BN)[None, :]
    nmask = n < {{n}}
    begin = pid // columns * ROWS
{{batch}}
    ka = tl.arange(0, {{k}})[None, :]{{wide}}
    kb = tl.arange(0, {{k}})[:, None]{{wide}}
{{copied}}
    for first in range(begin, tl.minimum(begin + ROWS, {{m}}), BM):
        m = first + tl.arange(0, BM)[:, None]
        mmask = m < {{m}}
{{row}}
{{in_place}}
{{left}}
        acc = tl.dot(left, right, input_precision="{{precision}}", out_dtype=tl.{{sums}})
{{after}}
{{rest}}
{{body}}
