# nereid: --emit ast
# Every function shows its own error; what follows one is read as usual.
@triton.jit
def a(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    return x

@triton.jit
def b(x):
    if x > 0
        y = x +
    else:
        y = "text
    return y

class C:
    @staticmethod
    @triton.jit
    def c(x):
        return x)

def host():
    @triton.jit
    def d(x) {
        return x
    x = = 1

raw_kernel = triton.jit(e)
def e(x):
    return x y
