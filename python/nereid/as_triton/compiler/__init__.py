"""What `triton.compiler` has."""

from nereid.errors import CompilationError

_NAMES = ["compile", "make_backend", "ASTSource", "CompiledKernel", "get_cache_key"]


def __getattr__(name):
    if name in _NAMES:
        import triton.compiler.compiler

        return getattr(triton.compiler.compiler, name)
    raise AttributeError(name)
