import triton
from . import shapes
from .missing import nothing


@triton.jit
def scale(v):
    return v * shapes.WIDTH
