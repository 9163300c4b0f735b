# nereid: --sig x=*fp32 -D BLOCK=16 --run-passes ''
# Host functions bind names around a kernel; stand-ins for a language that is missing don't count.
from torch.utils._triton import has_triton

SCALE = 2
if has_triton():
    import triton
    import triton.language as tl

    @triton.jit
    def scaled(v, by):
        return v * by
else:
    tl = None

    def scaled(v, by):
        """Needs Triton."""
        raise RuntimeError("no Triton")


def build(kind):
    import triton.language as lang

    if kind is None:
        return None
    try:
        from triton.language import abs as magnitude
    except ImportError:
        return None
    SCALE, BIAS = 3, 4

    def host():
        BIAS = 5

        @triton.jit
        def kernel(x, BLOCK: lang.constexpr, UNUSED: lang.constexpr = kind.size):
            o = lang.arange(0, BLOCK)
            lang.store(x + o, scaled(magnitude(tl.load(x + o)), SCALE) + BIAS)
