# nereid: --sig x=*fp16:16,n=i32 -D B=64
import triton
import triton.language as tl


@triton.jit
def device_print(x, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + o, mask=o < n, other=0.0)
    tl.device_print("v", v)
    for i in range(0, n):
        print(f"B={B}, 100%", i, tl.sum(v))
    if n > 3:
        tl.device_print("hex", v, hex=True)
    print("done")
    tl.store(x + o, v + 1, mask=o < n)
