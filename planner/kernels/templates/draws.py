

@triton.jit
def bits64(seed, counter):
    # Two of the generator's numbers.
    low, high, _, _ = tl.randint4x(seed, counter)
    return (low.to(tl.uint64) | (high.to(tl.uint64) << 32)).to(tl.int64, bitcast=True)


@triton.jit
def upper_product(x, y):
    # The upper 64 bits of a product of numbers without signs.
    y = tl.to_tensor(y).to(tl.int64).to(tl.uint64, bitcast=True)
    return tl.umulhi(x.to(tl.uint64, bitcast=True), y).to(tl.int64, bitcast=True)
