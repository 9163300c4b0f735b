@triton.jit
def {{name}}({{parameters}}, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0){{wide}} * XBLOCK + tl.arange(0, XBLOCK)
    xmask = xindex < {{x}}
{{body}}
