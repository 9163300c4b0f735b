# nereid: --sig x=*fp32
import triton
import triton.language as tl

a = (b, c, d, e, f, g, h, i, j, k, l)
b = (a, c, d, e, f, g, h, i, j, k, l)
c = (a, b, d, e, f, g, h, i, j, k, l)
d = (a, b, c, e, f, g, h, i, j, k, l)
e = (a, b, c, d, f, g, h, i, j, k, l)
f = (a, b, c, d, e, g, h, i, j, k, l)
g = (a, b, c, d, e, f, h, i, j, k, l)
h = (a, b, c, d, e, f, g, i, j, k, l)
i = (a, b, c, d, e, f, g, h, j, k, l)
j = (a, b, c, d, e, f, g, h, i, k, l)
k = (a, b, c, d, e, f, g, h, i, j, l)
l = (a, b, c, d, e, f, g, h, i, j, k)


@triton.jit
def kernel(x):
    tl.store(x, a)
