# nereid: --sig lock=*i32,x=*i32,n=i32 --run-passes ''
import triton
import triton.language as tl


@triton.jit
def kernel(lock, x, n):
    while tl.atomic_cas(lock, 0, 1, sem="acquire", scope="sys") == 1:
        pass
    i = 0
    s = 0
    while i < n and s < 100:
        s += tl.load(x + i)
        i += 1
    tl.store(x, s)
    tl.atomic_xchg(lock, 0, sem="release")
