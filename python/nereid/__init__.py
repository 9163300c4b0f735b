"""Nereid: a compiler for kernels in Triton's language."""

from nereid import _nereid

__version__: str = _nereid.version()
