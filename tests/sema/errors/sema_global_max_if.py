# nereid: --sig p=*fp32
import triton
import triton.language as tl
if a1:
    a0 = a2 + a3
else:
    a0 = a1 * a2
if a2:
    a1 = a3 + a4
else:
    a1 = a8 * a7
if a3:
    a2 = a4 + a5
else:
    a2 = a3 * a0
if a4:
    a3 = a5 + a6
else:
    a3 = a10 * a5
if a5:
    a4 = a6 + a7
else:
    a4 = a5 * a10
if a6:
    a5 = a7 + a8
else:
    a5 = a0 * a3
if a7:
    a6 = a8 + a9
else:
    a6 = a7 * a8
if a8:
    a7 = a9 + a10
else:
    a7 = a2 * a1
if a9:
    a8 = a10 + a11
else:
    a8 = a9 * a6
if a10:
    a9 = a11 + a0
else:
    a9 = a4 * a11
if a11:
    a10 = a0 + a1
else:
    a10 = a11 * a4
if a0:
    a11 = a1 + a2
else:
    a11 = a6 * a9

@triton.jit
def kernel(p):
    tl.store(p, a0)

