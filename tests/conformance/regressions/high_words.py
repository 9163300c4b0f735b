"""A product of tiles and the high words of products of integers in one kernel."""
import triton
import triton.language as tl


@triton.jit
def both(a, b, o, words, N: tl.constexpr, K: tl.constexpr):
    i, k = tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + i[None, :])
    tl.store(o + i[:, None] * N + i[None, :], tl.dot(x, y, input_precision="ieee"))
    u = tl.load(words + i).to(tl.uint32)
    tl.store(words + i, tl.umulhi(u * 0x9E3779B9, u * 0xD2511F53).to(tl.int32))
