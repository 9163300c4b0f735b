# nereid: --sig x=*bf16:16,q=*i32:16,s=*bf16:16,y=*fp32:16 --num-warps 2 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_words(x, q, s, y):
    """Words and scales run ahead of the loop through rings, though threads compute with them; they
    are read as the instruction wants the weights, which go through no shared memory.  The sum's
    elements are in the order of the words' fields, in both operands."""
    m, n, word = tl.arange(0, 16)[:, None], tl.arange(0, 16), tl.arange(0, 4)
    field, half = tl.arange(0, 4), tl.arange(0, 2)
    acc = tl.zeros([16, 16], dtype=tl.float32)
    for at in range(0, 256, 32):
        words = tl.load(q + (at // 8 + word[:, None]) * 16 + n[None, :])[:, :, None, None]
        scale = tl.load(s + at // 32 * 16 + n[None, :])[:, :, None, None]
        shift = half[None, None, None, :] * 16 + field[None, None, :, None] * 4
        fields = (words >> shift) & 15
        weight = fields.to(tl.float32).to(tl.bfloat16) * scale
        b = tl.reshape(tl.permute(weight, [2, 0, 3, 1]), [32, 16])
        left = tl.load(x + m * 256 + at + tl.arange(0, 32)[None, :])
        a = tl.permute(tl.reshape(left, [16, 4, 2, 4]), [0, 3, 1, 2])
        acc = tl.dot(tl.reshape(a, [16, 32]), b, acc)
    tl.store(y + m * 16 + n[None, :], acc)
