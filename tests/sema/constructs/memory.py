# nereid: --sig x=*fp32,flags=*i1,table=*i64,n=i32 --run-passes ''
# i1 lies in memory as bytes; tables of pointers.
import triton
import triton.language as tl


@triton.jit
def kernel(x, flags, table, n):
    o = tl.arange(0, 16)
    keep = tl.load(flags + o)
    v = tl.load(x + o, mask=keep, other=float("nan"), eviction_policy="evict_first", volatile=True)
    tl.store(flags + o, v > 0, mask=o < n)
    p = tl.load(table + n).to(tl.pointer_type(tl.float32))
    tl.store(p + o, v, cache_modifier=".wt")
    tl.atomic_add(x + o, v, mask=keep, sem="relaxed", scope="cta")
    old = tl.atomic_max(x, 1.0)
    tl.store(x, old)
    tl.debug_barrier()
