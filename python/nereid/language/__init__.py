"""The kernel language, as `triton.language` has it: dtypes, constants, and functions that work
inside of kernels (functions under `nereid.jit`).

    import nereid.language as tl

The compiler knows these names; the objects here let a kernel's file be imported, read by linters
and type checkers, and let host code ask for dtypes.  A function that is called outside of a kernel
raises a ValueError.
"""

from __future__ import annotations

from nereid.language import core, math, random, standard, target_info
from nereid.language import extra
from nereid.language.core import *
from nereid.language.core import _aggregate, _get_int_dtype
from nereid.language.core import _experimental_descriptor_load, _experimental_descriptor_store
from nereid.language.core import _experimental_make_tensor_descriptor
from nereid.language.core import _experimental_reinterpret_tensor_descriptor
from nereid.language.math import ceil, cos, div_rn, erf, exp, exp2, floor, log, log2
from nereid.language.math import rsqrt, sin, sqrt, sqrt_rn
from nereid.language.random import *
from nereid.language.standard import *
from nereid.language.standard import _is_power_of_two, _log2
from nereid.language.types import str_to_ty
