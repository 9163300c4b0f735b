

@triton.jit
def search(row, offset, n, v, mask, RIGHT: tl.constexpr, STEPS: tl.constexpr):
    # How many of the n elements at row + offset, which are in order, come before v; with RIGHT
    # those that equal v count as well.
    low = ((v != v) & mask).to(tl.int32) * 0 + (offset + n) * 0
    high = low + n
    for _ in range(STEPS):
        searching = (low < high) & mask
        middle = (low + high) // 2
        element = tl.load(row + offset + middle, mask=searching, other=0).to(v.dtype)
        if RIGHT:
            behind = (element > v) == 0
        else:
            behind = (element >= v) == 0
        low = tl.where(searching & behind, middle + 1, low)
        high = tl.where(searching & (behind == 0), middle, high)
    return low.to(tl.int64)


@triton.jit
def merged(row, offset, t, n, mask, RUN: tl.constexpr, STEPS: tl.constexpr, LAST: tl.constexpr):
    # The element at place t of the row of n elements at row + offset, when its runs of RUN are
    # merged by twos.  `low` of the k elements before it are those of the first run.
    begin = t // (2 * RUN) * (2 * RUN)
    k = t - begin + offset * 0
    first = tl.minimum(n - begin, RUN)
    second = tl.minimum(tl.maximum(n - begin - RUN, 0), RUN)
    low = tl.maximum(k - second, 0)
    high = tl.minimum(k, first)
    left = row + offset + begin
    right = left + RUN
    for _ in range(STEPS):
        searching = (low < high) & mask
        middle = (low + high) // 2
        a = tl.load(left + middle, mask=searching, other=0)
        b = tl.load(right + (k - 1 - middle), mask=searching, other=0)
        low = tl.where(searching & (a < b), middle + 1, low)
        high = tl.where(searching & (a >= b), middle, high)
    a = tl.load(left + low, mask=(low < first) & mask, other=LAST)
    b = tl.load(right + (k - low), mask=(k - low < second) & mask, other=LAST)
    return tl.minimum(a, b)


@triton.jit
def segment_sum(rows, order, starts, segment, column, width, inside, mask, DTYPE: tl.constexpr):
    # The sum of the rows order[i], starts[segment] <= i < starts[segment + 1], at a column, in
    # this order.  Several are read at once.  `inside` is the mask of segments, `mask` of columns.
    at = tl.load(starts + segment, mask=inside, other=0)
    end = tl.load(starts + segment + 1, mask=inside, other=0)
    total = (at * 0 + column * 0).to(DTYPE)
    for _ in range(0, tl.max(end - at + column * 0), 4):
        for _ in tl.static_range(4):
            here = at < end
            row = tl.load(order + at, mask=here, other=0)
            total += tl.load(rows + (row * width + column), mask=here & mask, other=0).to(DTYPE)
            at += 1
    return total
