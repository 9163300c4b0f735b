# nereid: --sig x=*i32,n=i32 --run-passes ''
# The rest of the kernel moves into the branch that stays.
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    tl.store(x + pid, pid)
