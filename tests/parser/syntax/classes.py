class Outer(Base, metaclass=Meta):
    """Kernels as methods."""
    size: int = 1

    class Inner:
        @staticmethod
        @triton.jit
        def kernel(x):
            return x

    @triton.jit
    def outer(x): return Outer.Inner.kernel(x)

    def method(self):
        @triton.jit
        def local(x): pass
        return local

@dataclass(frozen=True)
class Plain: x: int = 1; y: int = 2
