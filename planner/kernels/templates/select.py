

@triton.jit
def select_count(condition):
    return tl.sum(condition.to(tl.int32), 0)


@triton.jit
def select_limit(x, wanted, BITS: tl.constexpr):
    # The element of that rank, from 1, of numbers of so many bits: the largest of which fewer than
    # `wanted` elements are less.
    limit = -(1 << (BITS - 1))
    for b in range(BITS):
        middle = limit + (1 << (BITS - 1 - b))
        limit = tl.where(select_count(x < middle) < wanted, middle, limit)
    return limit


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
    limit = select_limit(x, wanted, BITS)
    rest = wanted - select_count(x < limit)
    tl.store(to, select_place(x == limit, place, rest, BLOCK))


@triton.jit
def matrix_first_places(to, keys, other, N: tl.constexpr, K: tl.constexpr, BITS: tl.constexpr):
    # The places of the first K of N elements, in the order of places.
    BLOCK: tl.constexpr = triton.next_power_of_2(N)
    place = tl.arange(0, BLOCK)
    x = tl.load(keys + place, mask=place < N, other=2147483647)
    limit = select_limit(x, K, BITS)
    rest = K - select_count(x < limit)
    last = select_place(x == limit, place, rest, BLOCK)
    first = (x < limit) | ((x == limit) & (place <= last))
    tl.store(to + (tl.cumsum(first.to(tl.int32), 0) - 1), place, mask=first)
