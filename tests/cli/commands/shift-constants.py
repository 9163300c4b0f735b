import triton
import triton.language as tl


@triton.jit
def shift(x, u, w, o):
    i = tl.arange(0, 32)
    a, b, c = tl.load(x + i), tl.load(u + i), tl.load(w + i)
    tl.store(o + i, (a << 40) + (a >> 40) + (a >> 63))
    tl.store(o + i + 32, ((b << 64) | (b >> 1099511627776)).to(tl.int64))
    tl.store(o + i + 64, ((c << 32) + (c >> 33) + (c >> 31)).to(tl.int64))
