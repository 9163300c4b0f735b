# nereid: --sig x=*fp32
import os

import triton
import triton.language as tl

SIZE = int(os.environ["SIZE"])


@triton.jit
def kernel(x):
    tl.store(x, SIZE)
