# nereid: --sig x=*fp32
import triton
import triton.language as tl


def moves():
    items = list(range(65536))
    for i in range(65536):
        items.pop(0)
        items.insert(0, i)
    return items


MANY = list(range(65536))


@triton.jit
def kernel(x):
    tl.static_assert([i for i in range(65536) if i not in MANY] == [])
    tl.static_assert(len(set(MANY)) == 65536)
    tl.static_assert(65536 in {i: i for i in MANY})
    tl.store(x, moves())
