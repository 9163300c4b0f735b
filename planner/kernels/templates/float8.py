

@triton.jit
def to_float8e4nv(x):
    # As PyTorch has it: beyond the largest number, and halfway to the next, is NaN.
    return tl.where(tl.abs(x) > 464.0, float("nan"), x).to(tl.float8e4nv)


@triton.jit
def to_float8e5(x):
    # As PyTorch has it: from halfway between the largest number and the next on is infinity.
    bits = x.to(tl.float8e5).to(tl.uint8, bitcast=True)
    bits = tl.where(tl.abs(x) >= 61440.0, (bits & 128) | 124, bits)
    return bits.to(tl.uint8).to(tl.float8e5, bitcast=True)
