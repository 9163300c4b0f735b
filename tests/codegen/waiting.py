# nereid: --sig count=*i32,out=*i32 -D P=4
# A barrier of all programs: the loop waits for others, so that C has it leave the core.
import triton
import triton.language as tl


@triton.jit
def barrier(count, out, P: tl.constexpr):
    turns = tl.program_id(0)
    tl.atomic_add(count, 1)
    while tl.load(count, volatile=True) < P:
        pass
    tl.store(out + turns, turns)
