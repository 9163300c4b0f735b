

@triton.jit
def select_count(condition):
    return tl.sum(condition.to(tl.int32), 0)


@triton.jit
def select_bounds(x, wanted, ALONE: tl.constexpr, BITS: tl.constexpr, BLOCK: tl.constexpr):
    # A search by bits for the element of that rank, from 1: fewer than `wanted` elements are less
    # than `low`, as many or more than `high`.  It ends early where `high` parts the first ones
    # from the rest, and, if the element is to be ALONE, `low` parts it from those before it.
    low = -(1 << (BITS - 1))
    high = low
    less = 0
    most = BLOCK + 1
    b = 0
    while (b < BITS) & ((most != wanted) | (ALONE & (less != wanted - 1))):
        middle = low + (1 << (BITS - 1 - b))
        count = select_count(x < middle)
        below = count < wanted
        low = tl.where(below, middle, low)
        less = tl.where(below, count, less)
        high = tl.where(below, high, middle)
        most = tl.where(below, most, count)
        b += 1
    return low, less, high, most


@triton.jit
def select_place(equal, place, wanted, BLOCK: tl.constexpr):
    # The place of that one, from 1, of the elements for which `equal` holds.
    last = 0
    step = BLOCK // 2
    while step > 0:
        middle = last + step
        last = tl.where(select_count(equal & (place < middle)) < wanted, middle, last)
        step = step // 2
    return last


@triton.jit
def matrix_place_of_rank(to, keys, rank, N: tl.constexpr, BITS: tl.constexpr):
    # The place of the element of that rank, from 1, of N; equal ones are in the order of places.
    BLOCK: tl.constexpr = triton.next_power_of_2(N)
    place = tl.arange(0, BLOCK)
    x = tl.load(keys + place, mask=place < N, other=2147483647)
    wanted = tl.load(rank).to(tl.int32)
    low, less, high, most = select_bounds(x, wanted, True, BITS, BLOCK)
    if (most == wanted) & (less == wanted - 1):
        tl.store(to, tl.sum(tl.where((x >= low) & (x < high), place, 0), 0))
    else:
        tl.store(to, select_place(x == low, place, wanted - less, BLOCK))


@triton.jit
def matrix_first_places(to, keys, other, N: tl.constexpr, K: tl.constexpr, BITS: tl.constexpr):
    # The places of the first K of N elements, in the order of places.
    BLOCK: tl.constexpr = triton.next_power_of_2(N)
    place = tl.arange(0, BLOCK)
    x = tl.load(keys + place, mask=place < N, other=2147483647)
    low, less, high, most = select_bounds(x, K, False, BITS, BLOCK)
    last = -1
    if most != K:
        high = low
        last = select_place(x == low, place, K - less, BLOCK)
    first = (x < high) | ((x == high) & (place <= last))
    tl.store(to + (tl.cumsum(first.to(tl.int32), 0) - 1), place, mask=first)
