import triton
import triton.language as tl


@triton.jit
def weigh(xs, shape, out, weights=(2.0, 3.0), BLOCK: tl.constexpr = 16):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < shape[0] * shape[1]
    y = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(len(xs)):
        y += tl.load(xs[k] + i, mask=inside, other=0.0) * weights[k]
    tl.store(out[0][0] + i, y, mask=inside)
