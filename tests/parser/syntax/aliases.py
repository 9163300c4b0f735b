from triton import jit as kernel, language as tl
from triton.language import constexpr as const
import jax
compiled = triton.jit
other = jax.jit
fixed = tl.constexpr

@kernel
def a(x: tl.constexpr): pass

@compiled
def b(x): pass

@other
def c(x): pass

@kernel
def d(x: const, y: fixed = 1, z: other = 2):
    u: const = 3
