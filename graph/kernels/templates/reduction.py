@triton.jit
def {{name}}({{parameters}}, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    pid = tl.program_id(0){{wide}}
    {{bound}}
    xindex = pid * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < {{x}}
{{body}}
