

@triton.jit
def tree_leaf(x, offset, inside, nodes, values, root, mask, BITS: tl.constexpr):
    # The number of the leaf to which a tree's root leads for the row at x + offset.  The bits of a
    # node, from the lowest: its threshold in f32, unless `values` has it; whether it holds for a
    # number that is less, equal, greater, or NaN; the column in BITS; the node that is next if it
    # holds, after which comes the other one.  Leaves are negative.  `inside` is the mask of rows,
    # `mask` of trees: lanes without an element go down the first tree with the first row.
    row = tl.where(inside, offset, 0)
    at = tl.where(mask, root, 0) + (row * 0).to(tl.int32)
    node = tl.load(nodes + at)
    word = (node >> 32).to(tl.int32) if values is None else node
    while tl.max(word) >= 0:
        if values is None:
            value = node.to(tl.int32).to(tl.float32, bitcast=True)
        else:
            value = tl.load(values + at)
        e = tl.load(x + (row + (word >> 4 & (1 << BITS) - 1)))
        greater = tl.where(e == e, word >> 2, word >> 3)
        holds = tl.where(e < value, word, tl.where(e == value, word >> 1, greater)) & 1
        following = ((word >> BITS + 4) + (1 - holds)).to(tl.int32)
        at = tl.where(word >= 0, following, at)
        node = tl.load(nodes + at)
        word = (node >> 32).to(tl.int32) if values is None else node
    return at
