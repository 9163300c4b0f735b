"""Kernels that print; device_print.py says what."""
import triton
import triton.language as tl


@triton.jit
def layouts(x_ptr, N: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    i, j = tl.arange(0, N), tl.arange(0, M)
    m = tl.load(x_ptr + i[:, None] * M + j[None, :])
    tl.device_print("m", m)
    tl.device_print("sum", tl.sum(m, 1))
    tl.device_print("all", tl.sum(m))
    tl.device_print("t", tl.trans(m))
    tl.device_print("row", i[:, None] + 0 * m)
    tl.device_print("wide", tl.broadcast_to(j[None, :], (N, M)))
    tl.device_print("one", tl.full((1,), 7, tl.int32))
    tl.device_print("splat", tl.full((5,), 7, tl.int32))
    tl.device_print("cube", tl.reshape(tl.load(x_ptr + tl.arange(0, K)), (2, K // 2, 1)))


@triton.jit
def products(a_ptr, b_ptr, K, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    sum = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        a = tl.load(a_ptr + i * K + k + j)
        b = tl.load(b_ptr + (k + i) * B + j)
        sum = tl.dot(a, b, sum)
        tl.device_print("k", k)
        tl.device_print("a", a)
    tl.device_print("sum", sum)


@triton.jit
def helper(x, n):
    print("helper", x)
    return x + n


@triton.jit
def control(x_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0) + tl.program_id(1) * 10 + tl.program_id(2) * 100
    print("start")
    o = tl.arange(0, B)
    for a in range(0, n):
        if a % 2 == pid % 2:
            print("odd", a, o)
        else:
            print("even", helper(a, n))
        for b in tl.static_range(2):
            print(f"b{b}")
    while n > 1:
        print("n", n)
        n = n // 2
    if pid == 11:
        print("rare", o)
    v = tl.load(x_ptr + o)
    print("before", v)
    tl.store(x_ptr + o + B * (1 + pid), v + 1)
    print("after", tl.load(x_ptr + o + B * (1 + pid)))
    return


@triton.jit
def operands(n, y, B: tl.constexpr):
    print("", 0)
    print("x: ", n, y, B, 1.5, True, 3000000000, -(2**40))
    print("100% of /* \"it\" */ \\ ??/ `$B`")
    print("tab\tend:", n)
    tl.device_print("h", n, -1, 1.0, hex=True)
    tl.device_print(prefix="named", hex=False)


@triton.jit
def masked(x_ptr, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x_ptr + o, mask=o < n, other=-1)
    s = 0
    for k in range(0, 3):
        s += tl.sum(v)
        tl.device_print("v", v + k)
    print("s", s)
    tl.store(x_ptr + o, v + s, mask=o < n)


@triton.jit
def pointers(x_ptr, y_ptr, B: tl.constexpr):
    tl.device_print("x", x_ptr + tl.arange(0, B))
    tl.device_print("y", y_ptr, hex=True)
    tl.device_print("null", tl.full((1,), 0, tl.int64).to(tl.pointer_type(tl.int8), bitcast=True))
    tl.store(x_ptr, 1)


@triton.jit
def printf(puts):
    print("puts", puts)


@triton.jit
def vprintf(lane, print_bytes):
    print("lane", lane + tl.arange(0, 2), print_bytes)
