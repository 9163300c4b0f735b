

@triton.jit
def is_index(index, least, size):
    # For a device_assert.
    wide = index.to(tl.int64)
    return (wide >= least) & (wide < size)
