from __future__ import annotations
import triton
import triton.language as tl, os.path, a.b as c
from triton import language as tl2
from . import x
from .. import (y,)
from ...a.b import (
    z as w,  # a comment
    v
)
from .... import *
try:
    from a import b
except ImportError:
    b = None
if True:
    import d
def f():
    import e
