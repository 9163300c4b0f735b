"""Rotary position embedding: turns each pair (x[i], x[i + half]) of a head by the angle of its
position, whose cosine and sine are tables of [n_tokens, half].

x and out are [n_tokens, n_heads, 2 * half].  A program takes one token and BLOCK_HEADS heads.

build/nereid run examples/kernels/rotary.py x_ptr=randn:f32[50,12,64] cos_ptr=rand:f32[50,32] sin_ptr=rand:f32[50,32] out_ptr=empty:f32[50,12,64] n_heads=12 half=32 -D BLOCK_HEADS=8 -D BLOCK_HALF=32 --grid "50, cdiv(n_heads, BLOCK_HEADS)"
"""
import triton
import triton.language as tl


@triton.jit
def rotary(x_ptr, cos_ptr, sin_ptr, out_ptr, n_heads, half, BLOCK_HEADS: tl.constexpr,
           BLOCK_HALF: tl.constexpr):
    token = tl.program_id(0)
    heads = tl.program_id(1) * BLOCK_HEADS + tl.arange(0, BLOCK_HEADS)
    pairs = tl.arange(0, BLOCK_HALF)
    cos = tl.load(cos_ptr + token * half + pairs, mask=pairs < half).to(tl.float32)
    sin = tl.load(sin_ptr + token * half + pairs, mask=pairs < half).to(tl.float32)

    offsets = (token * n_heads + heads[:, None]) * 2 * half + pairs[None, :]
    mask = (heads[:, None] < n_heads) & (pairs[None, :] < half)
    a = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    b = tl.load(x_ptr + offsets + half, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, a * cos[None, :] - b * sin[None, :], mask=mask)
    tl.store(out_ptr + offsets + half, b * cos[None, :] + a * sin[None, :], mask=mask)
