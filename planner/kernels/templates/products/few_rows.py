@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr):
    # Few rows times a weight that memory has along the sum: vectors go along it, and a column's are
    # added up at its end.  Groups of the sum have sums of their own, which are scaled.
    first = tl.program_id(0){{wide}} * BN
    m = tl.arange(0, BM)[:, None]
    column = tl.arange(0, BN)[None, :]
    lane = tl.arange(0, {{width}})[None, :]
    n = first + column
    mmask = m < {{m}}
    nmask = n < {{n}}
{{loops}}
{{again}}
{{body}}
