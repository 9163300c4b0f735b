@triton.jit
def {{name}}({{parameters}}, XBLOCK: tl.constexpr):
    pid = tl.program_id(0){{wide}}
    {{bound}}
    xindex = pid * XBLOCK + tl.arange(0, XBLOCK)
    xmask = xindex < {{x}}
{{body}}
