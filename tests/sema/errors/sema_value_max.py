# nereid: --sig x=*fp32
import triton
import triton.language as tl


def in_itself():
    items = [1]
    items.append((items, items))
    return items


def doubled():
    t = (1, 2)
    for _ in range(60):
        t = (t, t)
    return t


cycle = in_itself()
many = doubled()


@triton.jit
def carries(t):
    for i in range(tl.program_id(0)):
        t = (t, t)
    return t


@triton.jit
def kernel(x):
    a = cycle
    b = many
    carries(cycle)
    c = cycle if tl.program_id(0) > 1 else in_itself()
    tl.static_assert(cycle == in_itself())
    tl.static_assert(many < doubled())
    tl.static_assert(isinstance(1, many))
    tl.static_assert(str(many) == "")
    tl.store(x, 1)
