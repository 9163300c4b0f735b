@triton.jit
def {{name}}({{parameters}}, BM: tl.constexpr, BN: tl.constexpr):
    # Few rows times a weight that memory has along columns: vectors go along these, and each row
    # has sums of its own.  Those of groups of the sum are scaled.
    first = tl.program_id(0){{wide}} * BN
    m = tl.arange(0, BM)[:, None]
    n = first + tl.arange(0, BN)[None, :]
    mmask = m < {{m}}
    nmask = n < {{n}}
{{loops}}
{{again}}
{{body}}
