"""Gluon, Triton's language of tiles with layouts: `@gluon.jit` kernels are compiled and launched as
others are.

    from nereid.experimental import gluon
    from nereid.experimental.gluon import language as gl
"""

from __future__ import annotations

from nereid.experimental.gluon import language
from nereid.language.types import constexpr_function, must_use_result
from nereid.runtime.jit import JITFunction as GluonJITFunction
from nereid.runtime.jit import jit

__all__ = ["constexpr_function", "jit", "must_use_result"]
