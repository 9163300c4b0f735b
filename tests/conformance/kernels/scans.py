"""Scans, recurrences and reductions that need an order or a partner."""
import triton
import triton.language as tl


@triton.jit
def linear_step(a0, b0, a1, b1):
    """h -> a1 (a0 h + b0) + b1"""
    return a0 * a1, a1 * b0 + b1


@triton.jit
def linear_recurrence(a_ptr, b_ptr, h_ptr, length, dim, BLOCK_T: tl.constexpr,
                      BLOCK_D: tl.constexpr, REVERSE: tl.constexpr):
    """h[t] = a[t] h[t-1] + b[t] (from the end if REVERSE), as state-space models use it."""
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    h = tl.zeros((BLOCK_D, ), tl.float32)
    for block in range(tl.cdiv(length, BLOCK_T)):
        start = (tl.cdiv(length, BLOCK_T) - 1 - block if REVERSE else block) * BLOCK_T
        t = start + tl.arange(0, BLOCK_T)
        at = t[:, None] * dim + d[None, :]
        inside = (t[:, None] < length) & (d[None, :] < dim)
        a = tl.load(a_ptr + at, mask=inside, other=1.0)
        b = tl.load(b_ptr + at, mask=inside, other=0.0)
        scale, shift = tl.associative_scan((a, b), 0, linear_step, reverse=REVERSE)
        states = scale * h[None, :] + shift
        tl.store(h_ptr + at, states, mask=inside)
        last = 0 if REVERSE else BLOCK_T - 1
        h = tl.sum(tl.where(tl.arange(0, BLOCK_T)[:, None] == last, states, 0.0), axis=0)


@triton.jit
def selective_scan(x_ptr, dt_ptr, a_ptr, b_ptr, c_ptr, y_ptr, length, dim, STATE: tl.constexpr,
                   BLOCK_D: tl.constexpr):
    """The same step by step, with a state of STATE values a channel that is never stored."""
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    s = tl.arange(0, STATE)
    in_d = d < dim
    a = tl.load(a_ptr + d[:, None] * STATE + s[None, :], mask=in_d[:, None], other=0.0)
    h = tl.zeros((BLOCK_D, STATE), tl.float32)
    for t in range(length):
        x = tl.load(x_ptr + t * dim + d, mask=in_d, other=0.0)
        dt = tl.load(dt_ptr + t * dim + d, mask=in_d, other=0.0)
        b = tl.load(b_ptr + t * STATE + s)
        c = tl.load(c_ptr + t * STATE + s)
        h = tl.exp(dt[:, None] * a) * h + (dt * x)[:, None] * b[None, :]
        tl.store(y_ptr + t * dim + d, tl.sum(h * c[None, :], axis=1), mask=in_d)


@triton.jit
def segment_step(sum_a, flag_a, sum_b, flag_b):
    return tl.where(flag_b != 0, sum_b, sum_a + sum_b), flag_a | flag_b


@triton.jit
def segmented_cumsum(x_ptr, flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Running sums that start again where a flag is set."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    flag = tl.load(flag_ptr + i, mask=i < n, other=0)
    sums, _ = tl.associative_scan((x, flag), 0, segment_step)
    tl.store(out_ptr + i, sums, mask=i < n)


@triton.jit
def segmented_sum(x_ptr, offsets_ptr, out_ptr, dim, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    """out[s] = sum of the rows from offsets[s] to offsets[s + 1], which may be none."""
    segment = tl.program_id(0)
    d = tl.arange(0, BLOCK_D)
    first, last = tl.load(offsets_ptr + segment), tl.load(offsets_ptr + segment + 1)
    acc = tl.zeros((BLOCK_D, ), tl.float32)
    for start in range(first, last, BLOCK_N):
        r = start + tl.arange(0, BLOCK_N)
        inside = (r[:, None] < last) & (d[None, :] < dim)
        x = tl.load(x_ptr + r[:, None] * dim + d[None, :], mask=inside, other=0.0)
        acc += tl.sum(x, axis=0)
    tl.store(out_ptr + segment * dim + d, acc, mask=d < dim)


@triton.jit
def look_back_scan(x_ptr, out_ptr, ticket_ptr, state_ptr, sum_ptr, prefix_ptr, n,
                   BLOCK: tl.constexpr):
    """A scan over all blocks in one launch.  A program publishes its block's sum (state 1), looks
    back over the blocks before it until one has its whole prefix (state 2), and publishes its own.
    Tickets, not program ids, give the order, so that a waiting program's partners are running."""
    block = tl.atomic_add(ticket_ptr, 1)
    i = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    total = tl.sum(x, axis=0)
    tl.store(sum_ptr + block, total)
    tl.debug_barrier()
    tl.atomic_xchg(state_ptr + block, 1, sem="release")

    before = total * 0
    at = block - 1
    while at >= 0:
        state = tl.atomic_add(state_ptr + at, 0, sem="acquire")
        if state == 2:
            before += tl.load(prefix_ptr + at)
            at = -1
        elif state == 1:
            before += tl.load(sum_ptr + at)
            at -= 1
    tl.store(prefix_ptr + block, before + total)
    tl.debug_barrier()
    tl.atomic_xchg(state_ptr + block, 2, sem="release")
    tl.store(out_ptr + i, before + tl.cumsum(x, axis=0), mask=i < n)


@triton.jit
def last_block_sum(x_ptr, parts_ptr, ticket_ptr, out_ptr, n, BLOCK: tl.constexpr,
                   BLOCK_P: tl.constexpr):
    """Each program leaves a partial sum; the one that draws the last ticket adds them up."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))
    tl.debug_barrier()
    programs = tl.num_programs(0)
    if tl.atomic_add(ticket_ptr, 1) == programs - 1:
        p = tl.arange(0, BLOCK_P)
        tl.store(out_ptr, tl.sum(tl.load(parts_ptr + p, mask=p < programs, other=0.0), axis=0))
        tl.atomic_xchg(ticket_ptr, 0)  # ready for the next launch


@triton.jit
def ordered_chain(turn_ptr, out_ptr, STEPS: tl.constexpr):
    """Programs take turns: each waits for its number, and passes the word on."""
    pid = tl.program_id(0)
    for step in range(STEPS):
        turn = step * tl.num_programs(0) + pid
        while tl.atomic_add(turn_ptr, 0, sem="acquire") != turn:
            pass
        value = tl.load(out_ptr, volatile=True)
        tl.store(out_ptr, value * 3 + pid)
        tl.debug_barrier()
        tl.atomic_xchg(turn_ptr, turn + 1, sem="release")


@triton.jit
def join_sums(s0, c0, s1, c1):
    """Two (sum, what it lacks) pairs together; the rounding error of s0 + s1 is exact."""
    s = s0 + s1
    part = s - s0
    return s, c0 + c1 + ((s0 - (s - part)) + (s1 - part))


@triton.jit
def compensated_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Sums of large terms that cancel, by Kahan's and Neumaier's method."""
    s = tl.zeros((BLOCK, ), tl.float32)
    c = tl.zeros((BLOCK, ), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        s, c = join_sums(s, c, x, tl.zeros_like(x))
    s, c = tl.reduce((s, c), 0, join_sums)
    tl.store(out_ptr, s + c)


@triton.jit
def running_max(x_ptr, max_ptr, at_ptr, cols, BLOCK: tl.constexpr):
    """Running maximum and where it was first reached."""
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * cols + c, mask=c < cols, other=-float("inf"))
    best, at = tl.associative_scan((x, c), 0, later_max)
    tl.store(max_ptr + tl.program_id(0) * cols + c, best, mask=c < cols)
    tl.store(at_ptr + tl.program_id(0) * cols + c, at, mask=c < cols)


@triton.jit
def later_max(x, at_x, y, at_y):
    take = y > x
    return tl.where(take, y, x), tl.where(take, at_y, at_x)


@triton.jit
def edit_distance(a_ptr, b_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    """Levenshtein distance of two strings by anti-diagonals; tl.gather shifts by one."""
    i = tl.arange(0, BLOCK)  # characters of a taken
    a = tl.load(a_ptr + i - 1, mask=(i > 0) & (i <= n), other=0)
    before, last = i * 0 + 1000, tl.where(i == 0, 0, 1000)  # diagonals d - 2 and d - 1
    up = tl.maximum(i - 1, 0)
    for d in range(1, n + m + 1):
        j = d - i
        inside = (j >= 0) & (j <= m) & (i <= n)
        b = tl.load(b_ptr + j - 1, mask=inside & (j > 0), other=0)
        replaced = tl.gather(before, up, 0) + (a != b).to(tl.int32)
        removed = tl.gather(last, up, 0) + 1
        best = tl.minimum(tl.minimum(removed, last + 1), replaced)
        best = tl.where(i == 0, j, tl.where(j == 0, i, best))
        before, last = last, tl.where(inside, best, 1000)
    tl.store(out_ptr, tl.sum(tl.where(i == n, last, 0), axis=0))


@triton.jit
def larger_asserted(a, b):
    tl.device_assert(a == a, "a number")
    assert b == b
    if a > b:
        return a
    else:
        r = b
    return r


@triton.jit
def running_maximum(x_ptr, out_ptr, top_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """The maximum so far, and of all, by a function that branches and asserts."""
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.associative_scan(x, 1, larger_asserted))
    tl.store(top_ptr + tl.arange(0, ROWS), tl.reduce(x, 1, larger_asserted))


@triton.jit
def after_affine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def scans_of_rows(x_ptr, sum_ptr, map_ptr, ROWS: tl.constexpr, COLS: tl.constexpr,
                  AXIS: tl.constexpr, REVERSE: tl.constexpr):
    """Sums, and affine maps one after the other, along either axis; wide rows are many chunks."""
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(sum_ptr + i, tl.cumsum(x, AXIS, REVERSE))
    sign = tl.where(x < 0, -1, 1).to(x.dtype)
    maps = tl.associative_scan((sign, x), AXIS, after_affine, REVERSE)
    tl.store(map_ptr + i, maps[0] + maps[1])
