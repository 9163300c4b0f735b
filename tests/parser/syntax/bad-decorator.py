# nereid: --emit ast
@triton.jit
x = 1

@triton.jit

@triton.autotune(
@triton.jit
def f(x): pass

@triton.jit(
def g(x): pass
@jit
