@triton.jit
def {{name}}({{parameters}}, XBLOCK: tl.constexpr):
{{bound}}
    xindex = {{program}} * XBLOCK + tl.arange(0, XBLOCK)
    xmask = xindex < {{x}}
{{body}}
