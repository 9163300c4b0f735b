"""Order: sorting, selecting, counting, and runs of equal values."""
import triton
import triton.language as tl


@triton.jit
def arg_rows(x_ptr, max_ptr, argmax_ptr, min_ptr, argmin_ptr, cols, BLOCK: tl.constexpr):
    """Of several equal values the first counts; a NaN never does."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=-float("inf"))
    value, at = tl.max(x, axis=0, return_indices=True)
    tl.store(max_ptr + row, value)
    tl.store(argmax_ptr + row, at)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=float("inf"))
    tl.store(min_ptr + row, tl.min(x, axis=0))
    tl.store(argmin_ptr + row, tl.argmin(x, axis=0))


@triton.jit
def sort_rows(x_ptr, out_ptr, cols, DESCENDING: tl.constexpr, BLOCK_R: tl.constexpr,
              BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.arange(0, BLOCK_C)
    last = -float("inf") if DESCENDING else float("inf")
    x = tl.load(x_ptr + r[:, None] * cols + c[None, :], mask=c[None, :] < cols, other=last)
    y = tl.sort(x, descending=DESCENDING)
    tl.store(out_ptr + r[:, None] * cols + c[None, :], y, mask=c[None, :] < cols)


@triton.jit
def argsort_row(x_ptr, order_ptr, n, BLOCK: tl.constexpr):
    """Stable, by sorting 64-bit keys: the float as an ordered integer, and below it the place."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + i, mask=i < n, other=float("inf"))
    bits = x.to(tl.int32, bitcast=True)
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    key = (ordered.to(tl.int64) << 32) | i.to(tl.int64)
    order = (tl.sort(key) & 0xFFFFFFFF).to(tl.int32)
    tl.store(order_ptr + tl.program_id(0) * n + i, order, mask=i < n)


@triton.jit
def bitonic_sort(x_ptr, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    """In memory, one comparison a thread and step, as text books have it."""
    i = tl.arange(0, BLOCK)
    for outer in range(1, STEPS + 1):
        for inner in range(outer):
            distance = 1 << (outer - 1 - inner)
            other = i ^ distance
            mine, theirs = tl.load(x_ptr + i), tl.load(x_ptr + other)
            ascending = (i & (1 << outer)) == 0
            low = (i & distance) == 0
            value = tl.where(ascending == low, tl.minimum(mine, theirs), tl.maximum(mine, theirs))
            tl.debug_barrier()
            tl.store(x_ptr + i, value)
            tl.debug_barrier()


@triton.jit
def topk_rows(x_ptr, out_ptr, cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=-float("inf"))
    tl.store(out_ptr + row * K + tl.arange(0, K), tl.topk(x, K))


@triton.jit
def least_rows(x_ptr, out_ptr, cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=float("inf"))
    tl.store(out_ptr + row * K + tl.arange(0, K), tl.topk(x, K, descending=False))


@triton.jit
def top_experts(logits_ptr, weight_ptr, index_ptr, experts, K: tl.constexpr, BLOCK: tl.constexpr):
    """Routing: the K most likely experts of a token, one argmax at a time, weights normalized."""
    token = tl.program_id(0)
    e = tl.arange(0, BLOCK)
    logits = tl.load(logits_ptr + token * experts + e, mask=e < experts, other=-float("inf"))
    p = tl.exp(logits - tl.max(logits, axis=0))
    total = 0.0
    for k in tl.static_range(K):
        best = tl.argmax(p, axis=0)
        value = tl.max(p, axis=0)
        tl.store(index_ptr + token * K + k, best)
        tl.store(weight_ptr + token * K + k, value)
        total += value
        p = tl.where(e == best, -1.0, p)
    tl.debug_barrier()
    k = tl.arange(0, K)
    tl.store(weight_ptr + token * K + k, tl.load(weight_ptr + token * K + k) / total)


@triton.jit
def top_p(p_ptr, u_ptr, choice_ptr, n, threshold, BLOCK: tl.constexpr):
    """Draws from the fewest most likely values that together reach the threshold: sorts them,
    sums along, and takes the first whose sum passes u times what is kept."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    p = tl.load(p_ptr + row * n + i, mask=i < n, other=0.0)
    bits = p.to(tl.int32, bitcast=True).to(tl.int64)
    key = tl.sort((bits << 32) | (BLOCK - 1 - i).to(tl.int64), descending=True)
    p = (key >> 32).to(tl.int32).to(tl.float32, bitcast=True)
    place = BLOCK - 1 - (key & 0xFFFFFFFF).to(tl.int32)
    sums = tl.cumsum(p, axis=0)
    kept = sums - p < threshold
    total = tl.sum(tl.where(kept, p, 0.0), axis=0)
    target = tl.load(u_ptr + row) * total
    before = tl.sum((kept & (sums <= target)).to(tl.int32), axis=0)
    tl.store(choice_ptr + row, tl.sum(tl.where(i == before, place, 0), axis=0))


@triton.jit
def weighted_bins(x_ptr, w_ptr, sums_ptr, counts_ptr, n, low, width, BINS: tl.constexpr,
                  BLOCK: tl.constexpr):
    """Sums and counts of values by bin; those outside belong to none."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    bin = tl.floor((x - low) / width).to(tl.int32)
    counted = (i < n) & (bin >= 0) & (bin < BINS)
    tl.atomic_add(sums_ptr + bin, tl.load(w_ptr + i, mask=i < n, other=0.0), mask=counted)
    counts = tl.histogram(tl.where(counted, bin, 0), BINS)
    missed = tl.sum((~counted).to(tl.int32), axis=0)  # counted as zeros
    b = tl.arange(0, BINS)
    tl.atomic_add(counts_ptr + b, counts - tl.where(b == 0, missed, 0))


@triton.jit
def run_lengths(x_ptr, values_ptr, starts_ptr, count_ptr, n, BLOCK: tl.constexpr):
    """Values and starts of the runs of equal neighbours, one after another."""
    i = tl.arange(0, BLOCK)
    found = 0
    for start in range(0, n, BLOCK):
        at = start + i
        x = tl.load(x_ptr + at, mask=at < n, other=0)
        before = tl.load(x_ptr + at - 1, mask=(at > 0) & (at < n), other=0)
        first = (at < n) & ((at == 0) | (x != before))
        place = found + tl.cumsum(first.to(tl.int32), axis=0) - 1
        tl.store(values_ptr + place, x, mask=first)
        tl.store(starts_ptr + place, at, mask=first)
        found += tl.sum(first.to(tl.int32), axis=0)
    tl.store(count_ptr, found)


@triton.jit
def compact(x_ptr, out_ptr, count_ptr, n, BLOCK: tl.constexpr):
    """Keeps positive values; programs take room by an atomic counter: blocks come in any order."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-1.0)
    keep = x > 0
    places = tl.cumsum(keep.to(tl.int32), axis=0)
    base = tl.atomic_add(count_ptr, tl.max(places, axis=0))
    tl.store(out_ptr + base + places - 1, x, mask=keep)


@triton.jit
def binary_search(sorted_ptr, x_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    """The number of sorted values below each x; lanes stop at different times."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < m, other=0.0)
    low = tl.zeros((BLOCK, ), tl.int32)
    high = tl.zeros((BLOCK, ), tl.int32) + n
    while tl.max(high - low, axis=0) > 0:
        middle = (low + high) // 2
        busy = low < high
        below = tl.load(sorted_ptr + middle, mask=busy, other=0.0) < x
        low = tl.where(busy & below, middle + 1, low)
        high = tl.where(busy & ~below, middle, high)
    tl.store(out_ptr + i, low, mask=i < m)


@triton.jit
def bins_of_positions(out_ptr, limit, BINS: tl.constexpr):
    """Histograms of numbers that are known, in part outside of the bins and masked off."""
    i, bins = tl.arange(0, 32), tl.arange(0, BINS)
    tl.store(out_ptr + bins, tl.histogram(i + 100, BINS, mask=i < 5))
    tl.store(out_ptr + BINS + bins, tl.histogram((i * 3 - 7).to(tl.int8), BINS))
    three = tl.full((32, ), 3, tl.uint16)
    tl.store(out_ptr + 2 * BINS + bins, tl.histogram(three, BINS, mask=i < limit))
    tl.store(out_ptr + 3 * BINS + bins, tl.histogram(i // 4 * 2, BINS))
    never = (tl.full((32, ), 1, tl.uint16) & 1) == 0
    tl.store(out_ptr + 4 * BINS + bins, tl.histogram(tl.full((32, ), BINS, tl.uint16), BINS, never))


@triton.jit
def likeliest_path(emitted_ptr, step_ptr, from_ptr, score_ptr, length, STATES: tl.constexpr):
    """Viterbi's algorithm: the best predecessor of each state, the first of several equal ones."""
    s = tl.arange(0, STATES)
    step = tl.load(step_ptr + s[:, None] * STATES + s[None, :])
    score = tl.load(emitted_ptr + s)
    for t in range(1, length):
        score, best = tl.max(score[:, None] + step, axis=0, return_indices=True)
        tl.store(from_ptr + (t - 1) * STATES + s, best)
        score += tl.load(emitted_ptr + t * STATES + s)
    tl.store(score_ptr + s, score)
