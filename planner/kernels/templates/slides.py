@triton.jit
def {{name}}({{parameters}}):
    plane = tl.program_id(0){{wide}}
{{body}}