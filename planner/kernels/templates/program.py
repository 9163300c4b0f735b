@triton.jit
def {{name}}({{parameters}}, XBLOCK: tl.constexpr):
{{body}}
