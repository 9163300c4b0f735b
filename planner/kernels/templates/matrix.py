

@triton.jit
def matrix_load(a, R: tl.constexpr, C: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    # R rows of C elements, with zeros after them up to a tile of M by N.
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, N)[None, :]
    mask = (row < R) & (column < C)
    return tl.load(a + (row * C + column), mask=mask, other=0).to(tl.float64)


@triton.jit
def matrix_store(to, x, R: tl.constexpr, C: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, N)[None, :]
    mask = (row < R) & (column < C)
    tl.store(to + (row * C + column), x.to(to.dtype.element_ty), mask=mask)


@triton.jit
def matrix_one(M: tl.constexpr):
    one = tl.arange(0, M)[:, None] == tl.arange(0, M)[None, :]
    return one.to(tl.float64)


@triton.jit
def matrix_column(x, k, N: tl.constexpr):
    # Column k, [M, 1].
    return tl.sum(tl.where(tl.arange(0, N)[None, :] == k, x, 0.0), 1)[:, None]


@triton.jit
def matrix_row(x, k, M: tl.constexpr):
    # Row k, [1, N].
    return tl.sum(tl.where(tl.arange(0, M)[:, None] == k, x, 0.0), 0)[None, :]


@triton.jit
def matrix_all(x):
    return tl.sum(tl.sum(x, 1), 0)


@triton.jit
def matrix_lu(to, a, b, R: tl.constexpr, C: tl.constexpr, PIVOT: tl.constexpr):
    # Factors of R rows of C elements, after them the rows that changed places with rows 0, 1, ...,
    # counted from 1, and the number of the first column without a pivot, also from 1, or 0.  With
    # PIVOT 0 no rows change places.
    M: tl.constexpr = triton.next_power_of_2(R)
    N: tl.constexpr = triton.next_power_of_2(C)
    K: tl.constexpr = min(R, C)
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, N)[None, :]
    x = matrix_load(a, R, C, M, N)
    info = 0
    for k in range(K):
        c = matrix_column(x, k, N)
        size = tl.where((row >= k) & (row < R), tl.abs(c), -1.0)
        size = tl.where((row >= k) & (row < R) & (c != c), float("inf"), size)
        p = tl.sum(tl.argmax(size, 0), 0) if PIVOT else k
        top = matrix_row(x, k, M)
        chosen = matrix_row(x, p, M)
        x = tl.where(row == k, chosen, tl.where(row == p, top, x))
        pivot = matrix_all(tl.where(column == k, chosen, 0.0))
        c = matrix_column(x, k, N)
        info = tl.where((pivot == 0) & (info == 0), k + 1, info)
        # Below a pivot of 0 all is 0, unless rows keep their places: then quotients are infinite.
        c = tl.where(row > k, c / tl.where((pivot == 0) & (PIVOT != 0), 1.0, pivot), 0.0)
        rest = x - c * chosen
        x = tl.where((row > k) & (column > k), rest, tl.where((row > k) & (column == k), c, x))
        tl.store(to + (R * C + k), (p + 1).to(to.dtype.element_ty))
    matrix_store(to, x, R, C, M, N)
    tl.store(to + (R * C + K), info.to(to.dtype.element_ty))


@triton.jit
def matrix_order(to, a, b, R: tl.constexpr, C: tl.constexpr):
    # The order of R rows, after row k has changed places with row a[k] - 1 for each k below C.
    M: tl.constexpr = triton.next_power_of_2(R)
    row = tl.arange(0, M)
    order = row
    for k in range(C):
        p = tl.load(a + k).to(tl.int32) - 1
        top = tl.sum(tl.where(row == k, order, 0), 0)
        chosen = tl.sum(tl.where(row == p, order, 0), 0)
        order = tl.where(row == k, chosen, tl.where(row == p, top, order))
    tl.store(to + row, order.to(to.dtype.element_ty), mask=row < R)


@triton.jit
def matrix_cholesky(to, a, b, R: tl.constexpr):
    # The lower factor, which reads the lower triangle, and after it the number of the first
    # column without a root, from 1, or 0.  From there on elements of later rows are the matrix's,
    # as LAPACK leaves them.
    M: tl.constexpr = triton.next_power_of_2(R)
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, M)[None, :]
    x = matrix_load(a, R, R, M, M)
    x = tl.where(row >= column, x, 0.0)
    matrix = x
    info = 0
    for k in range(R):
        c = matrix_column(x, k, M)
        d = matrix_all(tl.where(row == k, c, 0.0))
        info = tl.where((info == 0) & ((d > 0) == 0), k + 1, info)
        c = tl.where(row >= k, c / tl.sqrt(d), 0.0)
        across = tl.sum(tl.where(row == column, c, 0.0), 0)[None, :]
        rest = tl.where(column == k, c, x - c * across)
        changed = (row >= column) & (column >= k) & (info == 0)
        x = tl.where(changed, rest, x)
    failed = info - 1
    x = tl.where((failed >= 0) & (row > failed) & (column >= failed), matrix, x)
    matrix_store(to, x, R, R, M, M)
    tl.store(to + R * R, info.to(to.dtype.element_ty))


@triton.jit
def matrix_solve(to, a, b, R: tl.constexpr, C: tl.constexpr, UPPER: tl.constexpr,
                 UNIT: tl.constexpr):
    # The solution of a triangle of R rows for C right-hand sides.
    M: tl.constexpr = triton.next_power_of_2(R)
    N: tl.constexpr = triton.next_power_of_2(C)
    row = tl.arange(0, M)[:, None]
    y = matrix_load(a, R, R, M, M)
    x = matrix_load(b, R, C, M, N)
    for step in range(R):
        k = step
        if UPPER:
            k = R - 1 - step
        c = matrix_column(y, k, M)
        found = matrix_row(x, k, M)
        if not UNIT:
            found = found / matrix_all(tl.where(row == k, c, 0.0))
        if UPPER:
            after = row < k
        else:
            after = row > k
        x = tl.where(row == k, found, tl.where(after, x - c * found, x))
    matrix_store(to, x, R, C, M, N)


@triton.jit
def matrix_at(x, i, k, M: tl.constexpr):
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, M)[None, :]
    return matrix_all(tl.where((row == i) & (column == k), x, 0.0))


@triton.jit
def matrix_swap(x, i, k, M: tl.constexpr):
    row = tl.arange(0, M)[:, None]
    top = matrix_row(x, i, M)
    return tl.where(row == i, matrix_row(x, k, M), tl.where(row == k, top, x))


@triton.jit
def matrix_ldl(to, a, b, R: tl.constexpr):
    # Bunch and Kaufman's factors, as LAPACK's sytrf has them: the lower triangle of L, with blocks
    # of one or two rows of D on its diagonal, then the pivots and the first block that is 0.
    M: tl.constexpr = triton.next_power_of_2(R)
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, M)[None, :]
    from_row = tl.maximum(row, column)
    from_column = tl.minimum(row, column)
    x = tl.load(a + (from_row * R + from_column), mask=(row < R) & (column < R), other=0)
    x = x.to(tl.float64)  # both triangles of what is left, one of what is done
    info = 0
    k = 0
    while k < R:
        own = tl.abs(matrix_at(x, k, k, M))
        below = tl.where(row > k, tl.abs(matrix_column(x, k, M)), -1.0)
        most = tl.maximum(tl.max(tl.max(below, 1), 0), 0.0)
        least = tl.where((below == most) & (row > k), row, M)
        high = tl.minimum(tl.min(tl.min(least, 1), 0), R - 1)
        across = tl.where((column >= k) & (column != high), tl.abs(matrix_row(x, high, M)), 0.0)
        row_most = tl.max(tl.max(across, 1), 0)
        high_own = tl.abs(matrix_at(x, high, high, M))
        nothing = (tl.maximum(own, most) == 0) | (own != own)
        alpha = 0.6403882032022076  # (1 + sqrt(17)) / 8
        by = tl.where(row_most > 0, row_most, 1.0)
        stays = nothing | (own >= alpha * most) | (own >= alpha * most * (most / by))
        single = stays | (high_own >= alpha * row_most)
        pivot = tl.where(stays, k, high)
        last = tl.where(single, k, k + 1)
        swapped = matrix_swap(x, last, pivot, M)
        x = tl.where(column >= k, swapped, x)
        swapped = matrix_swap(x.trans(), last, pivot, M).trans()
        x = tl.where(row >= k, swapped, x)
        c = matrix_column(x, k, M)
        e = matrix_column(x, k + 1, M)
        c_row = tl.sum(tl.where(row == column, c, 0.0), 0)[None, :]
        e_row = tl.sum(tl.where(row == column, e, 0.0), 0)[None, :]
        if single:
            d = matrix_at(x, k, k, M)
            d = tl.where(nothing, 1.0, d)
            rest = x - (1.0 / d) * c * c_row
            rest = tl.where(nothing, x, rest)
            x = tl.where((row > k) & (column > k), rest, x)
            x = tl.where((row > k) & (column == k), c / d, x)
        else:
            d = matrix_at(x, k + 1, k, M)
            d_high = matrix_at(x, k + 1, k + 1, M) / d
            d_low = matrix_at(x, k, k, M) / d
            t = 1.0 / (d_high * d_low - 1.0) / d
            w = t * (d_high * c - e)
            z = t * (d_low * e - c)
            w_row = t * (d_high * c_row - e_row)
            z_row = t * (d_low * e_row - c_row)
            x = tl.where((row > k + 1) & (column > k + 1), x - c * w_row - e * z_row, x)
            x = tl.where((row > k + 1) & (column == k), w, x)
            x = tl.where((row > k + 1) & (column == k + 1), z, x)
        number = tl.where(single, pivot + 1, -(pivot + 1)).to(to.dtype.element_ty)
        tl.store(to + (R * R + k), number)
        tl.store(to + (R * R + last), number)
        info = tl.where(nothing & (info == 0), k + 1, info)
        k = last + 1
    matrix_store(to, tl.where(row >= column, x, 0.0), R, R, M, M)
    tl.store(to + (R * R + R), info.to(to.dtype.element_ty))


@triton.jit
def matrix_ldl_solve(to, a, b, R: tl.constexpr, C: tl.constexpr):
    # The solution by such factors, rows of R elements with a pivot after them.
    M: tl.constexpr = triton.next_power_of_2(R)
    N: tl.constexpr = triton.next_power_of_2(C)
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, M)[None, :]
    mask = (row < R) & (column < R)
    y = tl.load(a + (row * (R + 1) + column), mask=mask, other=0).to(tl.float64)
    x = matrix_load(b, R, C, M, N)
    k = 0
    while k < R:
        pivot = tl.load(a + (k * (R + 1) + R)).to(tl.int32)
        single = pivot > 0
        last = tl.where(single, k, tl.minimum(k + 1, R - 1))
        x = matrix_swap(x, last, tl.abs(pivot) - 1, M)
        c = tl.where(row > last, matrix_column(y, k, M), 0.0)
        e = tl.where(row > last, matrix_column(y, last, M), 0.0)
        first = matrix_row(x, k, M)
        other = matrix_row(x, last, M)
        x = x - c * first - tl.where(single, 0.0, e) * other
        own = matrix_at(y, k, k, M)
        by = tl.where(single, 1.0, matrix_at(y, last, k, M))
        low = own / by
        high = matrix_at(y, last, last, M) / by
        area = tl.where(single, 1.0, low * high - 1.0)
        one = tl.where(single, first / own, (high * (first / by) - other / by) / area)
        two = tl.where(single, one, (low * (other / by) - first / by) / area)
        x = tl.where(row == k, one, tl.where(row == last, two, x))
        k = last + 1
    k = R - 1
    while k >= 0:
        pivot = tl.load(a + (k * (R + 1) + R)).to(tl.int32)
        single = pivot > 0
        first = tl.where(single, k, tl.maximum(k - 1, 0))
        c = tl.where(row > k, matrix_column(y, k, M), 0.0)
        e = tl.where(row > k, matrix_column(y, first, M), 0.0)
        one = tl.sum(c * x, 0)[None, :]
        two = tl.sum(e * x, 0)[None, :]
        x = x - tl.where(row == k, one, tl.where(row == first, two, 0.0))
        x = matrix_swap(x, k, tl.abs(pivot) - 1, M)
        k = first - 1
    matrix_store(to, x, R, C, M, N)


@triton.jit
def matrix_qr(to, a, b, R: tl.constexpr, C: tl.constexpr):
    # Householder's reflections of R rows of C elements: the upper triangle, below it the vectors,
    # whose first element is 1, and after that their factors.
    M: tl.constexpr = triton.next_power_of_2(R)
    N: tl.constexpr = triton.next_power_of_2(C)
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, N)[None, :]
    x = matrix_load(a, R, C, M, N)
    for k in range(min(R, C)):
        c = matrix_column(x, k, N)
        alpha = matrix_all(tl.where(row == k, c, 0.0))
        tail = tl.where(row > k, c, 0.0)
        scale = tl.max(tl.max(tl.abs(tail), 1), 0)
        by = tl.where(scale > 0, scale, 1.0)
        length = scale * tl.sqrt(matrix_all((tail / by) * (tail / by)))
        size = tl.maximum(tl.abs(alpha), length)
        by = tl.where(size > 0, size, 1.0)
        size = size * tl.sqrt((alpha / by) * (alpha / by) + (length / by) * (length / by))
        beta = tl.where(alpha >= 0, -size, size)
        nothing = length == 0
        tau = tl.where(nothing, 0.0, (beta - alpha) / tl.where(nothing, 1.0, beta))
        v = tail / tl.where(nothing, 1.0, alpha - beta)
        v = tl.where(row == k, 1.0, v)
        w = tl.sum(v * x, 0)[None, :]
        rest = x - tau * v * w
        x = tl.where((row >= k) & (column > k), rest, tl.where((row > k) & (column == k), v, x))
        x = tl.where((row == k) & (column == k) & (nothing == 0), beta, x)
        tl.store(to + (R * C + k), tau.to(to.dtype.element_ty))
    matrix_store(to, x, R, C, M, N)


@triton.jit
def matrix_reflect(to, a, b, R: tl.constexpr, C: tl.constexpr, K: tl.constexpr, W: tl.constexpr,
                   FORWARD: tl.constexpr):
    # R rows of C elements at b, times K reflections, those at a, R rows of W vectors with their
    # factors after them: the first at first if FORWARD, else the last.
    M: tl.constexpr = triton.next_power_of_2(R)
    N: tl.constexpr = triton.next_power_of_2(C)
    V: tl.constexpr = triton.next_power_of_2(W)
    row = tl.arange(0, M)[:, None]
    x = matrix_load(b, R, C, M, N)
    y = matrix_load(a, R, W, M, V)
    for step in range(K):
        k = step
        if not FORWARD:
            k = K - 1 - step
        tau = tl.load(a + (R * W + k)).to(tl.float64)
        v = tl.where(row > k, matrix_column(y, k, V), tl.where(row == k, 1.0, 0.0))
        x = x - tau * v * tl.sum(v * x, 0)[None, :]
    matrix_store(to, x, R, C, M, N)


@triton.jit
def matrix_product(x, y, R: tl.constexpr, M: tl.constexpr):
    total = tl.zeros([M, M], tl.float64)
    for k in range(R):
        total += matrix_column(x, k, M) * matrix_row(y, k, M)
    return total


@triton.jit
def matrix_power(to, a, b, R: tl.constexpr):
    # The exponential: a Taylor series of the matrix, halved until its norm is at most 1, then
    # squares.
    M: tl.constexpr = triton.next_power_of_2(R)
    x = matrix_load(a, R, R, M, M)
    one = matrix_one(M)
    norm = tl.max(tl.sum(tl.abs(x), 0), 0)
    squares = 0
    while (norm > 1.0) & (squares < 1100):
        norm = norm * 0.5
        x = x * 0.5
        squares += 1
    y = one
    for step in range(18):
        y = one + matrix_product(x, y, R, M) / (18 - step)
    for _ in range(squares):
        y = matrix_product(y, y, R, M)
    matrix_store(to, y, R, R, M, M)


@triton.jit
def matrix_scale(x):
    # The largest size of an element, of which no square overflows if it is taken off first.
    most = tl.max(tl.max(tl.abs(x), 1), 0)
    return tl.where((most > 0) & (most < float("inf")), most, 1.0)


@triton.jit
def matrix_turn(own, other, both, low):
    # Cosines and sines of the rotations that make pairs of columns orthogonal, with the squares of
    # their lengths and their products.
    zero = both == 0
    at = (other - own) / (2.0 * tl.where(zero, 1.0, both))
    sign = tl.where((at > 0) | ((at == 0) & low), 1.0, -1.0)
    t = tl.where(zero, 0.0, sign / (tl.abs(at) + tl.sqrt(at * at + 1.0)))
    c = 1.0 / tl.sqrt(t * t + 1.0)
    return c, t * c


@triton.jit
def matrix_eigh(to, a, b, R: tl.constexpr, UPPER: tl.constexpr):
    # Eigenvalues of a symmetric matrix of which one triangle is read, ascending, and after them the
    # vectors, R rows.  Jacobi's rotations, of all pairs of columns j, j ^ step at once.
    M: tl.constexpr = triton.next_power_of_2(R)
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, M)[None, :]
    mask = (row < R) & (column < R)
    if UPPER:
        from_row = tl.minimum(row, column)
        from_column = tl.maximum(row, column)
    else:
        from_row = tl.maximum(row, column)
        from_column = tl.minimum(row, column)
    x = tl.load(a + (from_row * R + from_column), mask=mask, other=0).to(tl.float64)
    scale = matrix_scale(x)
    x = x / scale
    v = matrix_one(M)
    turns = 0
    far = 1
    while (far > 0) & (turns < 40):
        for step in range(1, M):
            partner = column ^ step
            own = tl.sum(tl.where(row == column, x, 0.0), 0)[None, :]
            other = tl.sum(tl.where(row == partner, tl.broadcast_to(tl.sum(
                tl.where(row == column, x, 0.0), 1)[:, None], [M, M]), 0.0), 0)[None, :]
            both = tl.sum(tl.where(row == partner, x, 0.0), 0)[None, :]
            c, s = matrix_turn(own, other, both, column < partner)
            c_row = tl.sum(tl.where(row == column, c, 0.0), 1)[:, None]
            s_row = tl.sum(tl.where(row == column, s, 0.0), 1)[:, None]
            across = tl.broadcast_to(partner, [M, M])
            down = tl.broadcast_to(row ^ step, [M, M])
            x = x * c - tl.gather(x, across, 1) * s
            x = x * c_row - tl.gather(x, down, 0) * s_row
            v = v * c - tl.gather(v, across, 1) * s
        size = matrix_all(x * x)
        off = matrix_all(tl.where(row == column, 0.0, x * x))
        far = tl.where(off > size * 1e-28, 1, 0)
        turns += 1
    own = tl.sum(tl.where(row == column, x, 0.0), 0)[None, :]
    down = tl.sum(tl.where(row == column, x, 0.0), 1)[:, None]
    before = (down < own) | ((down == own) & (row < column))
    place = tl.sum(tl.where(before & (row < R), 1, 0), 0)[None, :]
    tl.store(to + place, (own * scale).to(to.dtype.element_ty), mask=column < R)
    tl.store(to + (R + row * R + place), v.to(to.dtype.element_ty), mask=mask)


@triton.jit
def matrix_svd(to, a, b, R: tl.constexpr, C: tl.constexpr):
    # The C singular values of R >= C rows, descending; after them U, R by R, and V, C by C.
    # Jacobi's rotations of the columns, of all pairs j, j ^ step at once.
    M: tl.constexpr = triton.next_power_of_2(R)
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, M)[None, :]
    x = matrix_load(a, R, C, M, M)
    scale = matrix_scale(x)
    x = x / scale
    v = matrix_one(M)
    least = matrix_all(x * x) * 1e-29  # columns below that are rounding errors
    turns = 0
    far = 1
    while (far > 0) & (turns < 40):
        worst = tl.full([], 0.0, tl.float64)
        for step in range(1, M):
            partner = column ^ step
            across = tl.broadcast_to(partner, [M, M])
            y = tl.gather(x, across, 1)
            own = tl.sum(x * x, 0)[None, :]
            other = tl.sum(y * y, 0)[None, :]
            both = tl.sum(x * y, 0)[None, :]
            c, s = matrix_turn(own, other, both, column < partner)
            x = x * c - y * s
            v = v * c - tl.gather(v, across, 1) * s
            some = (own > least) & (other > least)
            angle = tl.where(some, tl.abs(both) / tl.sqrt(own * other), 0.0)
            worst = tl.maximum(worst, tl.max(tl.max(angle, 1), 0))
        far = tl.where(worst > 1e-14, 1, 0)
        turns += 1
    s = tl.sqrt(tl.sum(x * x, 0))[None, :]
    u = x / tl.where(s > 0, s, 1.0)
    # Columns without a length, and those beyond C, become a basis of what is left.
    missing = s * s <= least
    u = tl.where(missing, 0.0, u)
    for k in range(R):
        if tl.sum(tl.where((column == k) & missing, 1, 0).reshape([M]), 0) > 0:
            room = tl.where(row < R, 1.0 - tl.sum(u * u, 1)[:, None], -1.0)
            pick = tl.sum(tl.argmax(room, 0), 0)
            e = tl.where(row == pick, 1.0, 0.0).to(tl.float64)
            for _ in range(2):
                part = tl.sum(u * e, 0)[None, :]
                e = e - tl.sum(u * part, 1)[:, None]
                e = e / tl.sqrt(matrix_all(e * e))
            u = tl.where(column == k, e, u)
    key = tl.where(column < C, s, -1.0)
    down = tl.sum(tl.where(row == column, key, 0.0), 1)[:, None]
    before = (down > key) | ((down == key) & (row < column))
    place = tl.sum(tl.where(before, 1, 0), 0)[None, :]
    tl.store(to + place, (s * scale).to(to.dtype.element_ty), mask=column < C)
    inside = (row < R) & (column < R)
    tl.store(to + (C + row * R + place), u.to(to.dtype.element_ty), mask=inside)
    inside = (row < C) & (column < C)
    tl.store(to + (C + R * R + row * C + place), v.to(to.dtype.element_ty), mask=inside)
