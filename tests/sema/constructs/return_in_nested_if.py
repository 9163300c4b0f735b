# nereid: --sig x=*i32,n=i32,m=i32 --run-passes ''
# Where only the run decides whether a block was left, the rest stands under a flag.
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, m):
    pid = tl.program_id(0)
    a = 1
    if pid < n:
        a = 2
        if pid < m:
            return
        a += 5
    tl.store(x + pid, a)
