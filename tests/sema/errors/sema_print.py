# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    print("a", a)
    return a + b


@triton.jit
def kernel(x, n):
    print(n)
    print(1, n)
    print()
    print("é", n)
    print("\a", n)
    print("n", (n, 1))
    print("n", None)
    print("n", "m")
    print("n", n, sep="")
    print("n", n, hex=n)
    print(f"{n}")
    print("n", tl.float32)
    print("x", tl.make_block_ptr(x, (n,), (1,), (0,), (8,), (0,)))
    tl.device_print("big", 1 << 64)
    tl.store(x, tl.reduce(tl.arange(0, 8), 0, add))
