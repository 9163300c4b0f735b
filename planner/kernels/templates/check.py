

@triton.jit
def check_index(index, least, size, place, mask, record, ALONE: tl.constexpr = False):
    # Records the first index that is not one of least ... size - 1: two numbers that begin with
    # its place and end with its lower and upper half.  The least of them stay.  A program that is
    # ALONE on its thread looks first whether there is one.
    wide = index.to(tl.int64)
    outside = mask & ((wide < least) | (wide >= size))
    found = True
    if ALONE:
        found = tl.max(outside.to(tl.int32)) > 0
    if found:
        at = record + outside.to(tl.int32) * 0
        first = (wide * 0 + place) << 32
        tl.atomic_min(at, first | (wide & 0xFFFFFFFF), mask=outside, sem="relaxed")
        tl.atomic_min(at + 1, first | ((wide >> 32) & 0xFFFFFFFF), mask=outside, sem="relaxed")
