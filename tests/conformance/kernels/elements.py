"""Functions of single elements: map_elementwise with branches, loops, early returns and packing."""
import triton
import triton.language as tl


@triton.jit
def compare(a, b):
    if a < b:
        return -1
    elif a == b:
        return 0
    else:
        return 1


@triton.jit
def sign_of_difference(a, b):
    if a < b: r = -1
    elif a == b: r = 0
    else: r = 1
    return r


@triton.jit
def three_way(x_ptr, y_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(F, tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def gcd(a, b):
    while b != 0:
        r = a % b
        a = b
        b = r
    return a


@triton.jit
def collatz(n, limit):
    """The number of steps to 1, or -1 past the limit; and the largest number on the way."""
    top = n
    steps = -1
    for i in range(limit):
        if n == 1:
            steps = i
            break
        if n % 2 == 0:
            n = n // 2
            continue
        n = 3 * n + 1
        if n > top:
            top = n
    return steps, top


@triton.jit
def number_theory(x_ptr, y_ptr, gcd_ptr, steps_ptr, top_ptr, limit, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(gcd_ptr + i, tl.map_elementwise(gcd, x, tl.load(y_ptr + i)))
    steps, top = tl.map_elementwise(collatz, x, limit)
    tl.store(steps_ptr + i, steps)
    tl.store(top_ptr + i, top)


@triton.jit
def find(table, key, n):
    """Binary search, with a load under a condition of each element."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if tl.load(table + middle) < key:
            low = middle + 1
        else:
            high = middle
    return low


@triton.jit
def searches(table_ptr, x_ptr, out_ptr, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    table = tl.broadcast_to(table_ptr, [ROWS, COLS])
    tl.store(out_ptr + i, tl.map_elementwise(find, table, tl.load(x_ptr + i), n))


@triton.jit
def div_mod(a0, a1, b0, b1):
    return a0 // b0, a1 // b1, a0 % b0, a1 % b1


@triton.jit
def division_of_pairs(x_ptr, y_ptr, div_ptr, mod_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    d, m = tl.map_elementwise(div_mod, tl.load(x_ptr + i), tl.load(y_ptr + i), pack=2)
    tl.store(div_ptr + i, d)
    tl.store(mod_ptr + i, m)


@triton.jit
def halves(a, b, c, d):
    if a > 0:
        return a * 0.5, b, 2.0 * c, d
    else:
        return a, -b, c, d + 1


@triton.jit
def packs_of_four(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    y, = tl.map_elementwise(halves, tl.load(x_ptr + i), pack=4)
    tl.store(out_ptr + i, y)


@triton.jit
def count_and_store(a, p, count):
    if a > 2:
        tl.store(p, a * 10)
        tl.atomic_add(count, 1)
    elif a < -2:
        tl.atomic_min(count + 1, a)
        if a < -4:
            tl.atomic_store(p, 0)
    n = 0
    while n * n < a:
        tl.atomic_add(count + 2, 1)
        n += 1
    return n


@triton.jit
def effects(x_ptr, out_ptr, count_ptr, N: tl.constexpr):
    """Stores and atomics of the elements that take a side, or are still in a loop."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + N + i, tl.map_elementwise(count_and_store, x, out_ptr + i, count_ptr))
