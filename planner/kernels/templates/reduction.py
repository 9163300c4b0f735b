@triton.jit
def {{name}}({{parameters}}, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
{{bound}}
    xindex = {{program}} * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < {{x}}
{{body}}
