import triton
import triton.language as tl
@triton.jit
def barrier(x, o, cnt, P: tl.constexpr, N: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, N)
    tl.store(x + p * N + i, p + i)
    tl.debug_barrier()
    tl.atomic_add(cnt, 1, sem="acq_rel")
    while tl.atomic_add(cnt, 0, sem="acquire") < P:
        pass
    tl.store(o + p * N + i, tl.load(x + ((p + 1) % P) * N + i, volatile=True))
@triton.jit
def ring(o, f, P: tl.constexpr):
    """Each waits for the one after it; volatile."""
    p = tl.program_id(0)
    if p < P - 1:
        while tl.load(f + p + 1, volatile=True) == 0:
            pass
    tl.store(o + p, p)
    tl.atomic_xchg(f + p, 1)
@triton.jit
def dead(o, f, P: tl.constexpr):
    p = tl.program_id(0)
    while tl.load(f + p, volatile=True) == 0:
        pass
    tl.store(o + p, p)


@triton.jit
def plain(o, f, P: tl.constexpr):
    """A barrier by loads that say nothing of other programs."""
    tl.atomic_add(f, 1)
    while tl.load(f) < P:
        pass
    tl.store(o + tl.program_id(0), tl.program_id(0))


@triton.jit
def polled(o, f, P: tl.constexpr):
    """Two programs at a time, far from each other in the grid."""
    p = tl.program_id(0)
    tl.atomic_xchg(f + p, 1, sem="release")
    tl.atomic_poll(f + (p + P // 2) % P, 1, sem="acquire")
    tl.store(o + p, p)
