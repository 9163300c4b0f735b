from triton import jit as kernel, language as tl
import jax
compiled = triton.jit
other = jax.jit

@kernel
def a(x: tl.constexpr): pass

@compiled
def b(x): pass

@other
def c(x): pass
