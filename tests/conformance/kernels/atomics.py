"""Atomic loads and stores, and waiting for another program."""
import triton
import triton.language as tl


@triton.jit
def chain(x_ptr, flags_ptr, sums_ptr, BLOCK: tl.constexpr, SEM: tl.constexpr):
    """Running sums over programs: each waits for the sum of the one before."""
    pid = tl.program_id(0)
    total = tl.sum(tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK)), 0)
    if pid > 0:
        tl.atomic_poll(flags_ptr + pid - 1, 1, SEM, scope="gpu")
        total += tl.load(sums_ptr + pid - 1)
    tl.store(sums_ptr + pid, total)
    tl.atomic_store(flags_ptr + pid, 1)


@triton.jit
def all_arrive(flags_ptr, out_ptr, PROGRAMS: tl.constexpr):
    """Every program sets its flag; the last one waits for all of them together."""
    pid = tl.program_id(0)
    (flags_ptr + pid).atomic_store(pid + 1, sem="release", scope="sys")
    if pid == PROGRAMS - 1:
        i = tl.arange(0, PROGRAMS)
        seen = tl.atomic_poll(flags_ptr + i, i + 1)
        tl.store(out_ptr + i, seen.to(tl.int32) + tl.load(flags_ptr + i))


@triton.jit
def copy(x_ptr, out_ptr, n, LOAD: tl.constexpr, STORE: tl.constexpr, SCOPE: tl.constexpr,
         BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.atomic_load(x_ptr + i, i < n, LOAD, SCOPE)
    tl.atomic_store(out_ptr + i, x, mask=i < n, sem=STORE, scope=SCOPE)


@triton.jit
def scalars(x_ptr, out_ptr):
    x = tl.atomic_load(x_ptr)
    tl.atomic_load(x_ptr + 1)
    tl.atomic_store(out_ptr, x)
    tl.atomic_store(out_ptr + 1, 7)
    tl.atomic_store(out_ptr + 2, x_ptr.atomic_load(sem="relaxed", scope="cta"), mask=x > 0)


@triton.jit
def poll_timeout(x_ptr, out_ptr, WAIT: tl.constexpr):
    """What is not there in time gives False, and one load is made in any case."""
    i = tl.arange(0, 4)
    tl.store(out_ptr + i, tl.atomic_poll(x_ptr + i, 1, timeout_ns=WAIT).to(tl.int32))
    tl.store(out_ptr + 4, tl.atomic_poll(x_ptr, 0, timeout_ns=0).to(tl.int32))
    tl.store(out_ptr + 5, tl.atomic_poll(x_ptr, 1, timeout_ns=WAIT).to(tl.int32))
