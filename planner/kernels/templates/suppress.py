

@triton.jit
def overlaps(box, other, threshold):
    # Whether what both boxes cover is more than that part of what one of them covers.
    top, left, bottom, right = box
    top_1, left_1, bottom_1, right_1 = other
    height = tl.minimum(bottom, bottom_1) - tl.maximum(top, top_1)
    width = tl.minimum(right, right_1) - tl.maximum(left, left_1)
    both = tl.maximum(height, 0) * tl.maximum(width, 0)
    one = (bottom - top) * (right - left) + (bottom_1 - top_1) * (right_1 - left_1) - both
    return (both > 0) & (one > 0) & (both / one > threshold)


@triton.jit
def corners(box, mask):
    top = tl.load(box, mask=mask, other=0)
    left = tl.load(box + 1, mask=mask, other=0)
    bottom = tl.load(box + 2, mask=mask, other=0)
    right = tl.load(box + 3, mask=mask, other=0)
    return top, left, bottom, right


@triton.jit
def suppress(state, scores, boxes, threshold, n, most, BLOCK: tl.constexpr):
    # Chooses of n boxes whose state is -1 those of the highest scores, `most` at most, none of
    # which overlaps one that was chosen before.  Their state becomes the number of the choice;
    # that of others -2.
    limit = tl.load(threshold)
    chosen = boxes
    count = 0
    going = most > 0
    while going:
        best = float("-inf")
        at = n
        box = corners(chosen, count > 0)
        for start in range(0, n, BLOCK):
            place = start + tl.arange(0, BLOCK)
            waits = tl.load(state + place, mask=place < n, other=0) == -1
            gone = waits & overlaps(corners(boxes + place * 4, waits), box, limit)
            tl.store(state + place, tl.full([BLOCK], -2, tl.int32), mask=gone)
            score = tl.load(scores + place, mask=waits & (gone == 0), other=float("-inf"))
            top = tl.max(score, 0)
            first = tl.min(tl.where(score == top, place, n), 0)
            at = tl.where(top > best, first, at)
            best = tl.maximum(top, best)
        tl.debug_barrier()
        going = at < n
        tl.store(state + at, count, mask=going)
        tl.debug_barrier()
        chosen = boxes + tl.where(going, at, 0) * 4
        count += 1
        going = going & (count < most)
