# Several programs update an element and store it, with nothing that orders them: every schedule
# shows that.
import triton
import triton.language as tl


@triton.jit
def mix(out_ptr):
    tl.atomic_add(out_ptr, 1)
    tl.store(out_ptr, 5)


@triton.jit
def last(count_ptr, out_ptr):
    arrived = tl.atomic_add(count_ptr, 1)
    if arrived == tl.num_programs(0) - 1:
        tl.store(count_ptr, 0)
        tl.store(out_ptr, arrived)
