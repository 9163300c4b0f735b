"""Gluon: tiles with layouts, and shared memory."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2

ROW = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))


@gluon.constexpr_function
def line(width, warps):
    return gl.BlockedLayout([width], [32], [warps], [0])


@gluon.jit
def add_masked(x_ptr, y_ptr, out_ptr, n, B: gl.constexpr, layout: gl.constexpr):
    i = gl.program_id(0) * B + gl.arange(0, B, layout=layout)
    mask = i < n
    x = gl.load(x_ptr + i, mask=mask, other=0.0)
    y = gl.load(y_ptr + i, mask=mask, other=0.0)
    y = gl.maximum(y, gl.full_like(y, 0.5))
    gl.store(out_ptr + i, gl.where(x > 0, x * 2 + y, y), mask=mask)


@gluon.jit
def softmax_rows(x_ptr, out_ptr, rows, columns, stride, R: gl.constexpr, C: gl.constexpr,
                 layout: gl.constexpr = ROW):
    row = gl.program_id(0) * R + gl.arange(0, R, gl.SliceLayout(1, layout))
    column = gl.arange(0, C, gl.SliceLayout(0, layout))
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    offsets = row[:, None] * stride + column[None, :]
    x = gl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    top = gl.max(x, axis=1)
    gl.static_assert(top.type.layout == gl.SliceLayout(1, layout))
    e = gl.exp(x - gl.where(top == -float("inf"), 0.0, top)[:, None])
    gl.store(out_ptr + offsets, e / gl.expand_dims(gl.sum(e, axis=1), 1), mask=mask)


@gluon.jit
def transpose(x_ptr, out_ptr, M, N, B: gl.constexpr):
    read: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, gl.num_warps()], [1, 0])
    write: gl.constexpr = gl.BlockedLayout([1, 1], [32, 1], [gl.num_warps(), 1], [0, 1])
    m, n = gl.program_id(0) * B, gl.program_id(1) * B
    row = m + gl.arange(0, B, gl.SliceLayout(1, read))
    column = n + gl.arange(0, B, gl.SliceLayout(0, read))
    x = gl.load(x_ptr + row[:, None] * N + column[None, :],
                mask=(row < M)[:, None] & (column < N)[None, :])
    y = gl.convert_layout(x, write)
    row = m + gl.arange(0, B, gl.SliceLayout(1, write))
    column = n + gl.arange(0, B, gl.SliceLayout(0, write))
    gl.store(out_ptr + column[None, :] * M + row[:, None], y,
             mask=(row < M)[:, None] & (column < N)[None, :])


@gluon.jit
def permuted(x_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr):
    """The layout of a permuted tile follows, and an AutoLayout goes with any."""
    x = gl.load(x_ptr + (gl.arange(0, M)[:, None] * N + gl.arange(0, N)[None, :]))
    y = gl.permute(gl.set_auto_layout(x, ROW), (1, 0))
    turned: gl.constexpr = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])
    gl.static_assert(y.type.layout == turned)
    y += gl.arange(0, M)[None, :]
    row = gl.arange(0, N, gl.SliceLayout(1, turned))
    column = gl.arange(0, M, gl.SliceLayout(0, turned))
    gl.store(out_ptr + row[:, None] * M + column[None, :], y)


@gluon.jit
def ring(x_ptr, out_ptr, n, B: gl.constexpr, STAGES: gl.constexpr):
    """A ring of buffers in shared memory: block k + 1 is copied while block k is read."""
    layout: gl.constexpr = line(1, gl.num_warps())
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffers = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [STAGES, B], shared)
    i = gl.arange(0, B, layout=layout)
    async_copy.async_copy_global_to_shared(buffers.index(0), x_ptr + i, mask=i < n)
    async_copy.commit_group()
    for k in range(gl.cdiv(n, B)):
        at = (k + 1) * B + i
        async_copy.async_copy_global_to_shared(buffers.index((k + 1) % STAGES), x_ptr + at,
                                               mask=at < n)
        async_copy.commit_group()
        async_copy.wait_group(1)
        gl.thread_barrier()
        x = buffers.index(k % STAGES).load(layout)
        gl.store(out_ptr + k * B + i, x + x, mask=k * B + i < n)


@gluon.jit
def store_and_turn(memory, x, layout: gl.constexpr):
    if gl.program_id(0) == 0:
        memory.store(x)
    else:
        memory.store(x + 1)
    return memory.permute([1, 0]).load(layout)


@gluon.jit
def views(x_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr):
    """Stores through views, in branches and in functions."""
    row = gl.arange(0, M, gl.SliceLayout(1, ROW))
    column = gl.arange(0, N, gl.SliceLayout(0, ROW))
    x = gl.load(x_ptr + row[:, None] * N + column[None, :])
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, N], gl.float32)
    gl.static_assert(shared.swizzle_byte_width == 128)
    memory = gl.allocate_shared_memory(gl.float32, [M, N], shared, x)
    right = memory.slice(N // 2, N // 4, dim=1)
    right.store(right.load(ROW) * 10)
    flat = memory.reshape([M * N])
    gl.static_assert(flat.shape == [M * N] and memory.numel == M * N and memory.rank == 2)
    flat.slice(0, 4).store(gl.full([4], 7.0, gl.float32, gl.BlockedLayout([1], [32], [4], [0])))
    y = store_and_turn(memory, memory.load(ROW), ROW)
    row = gl.arange(0, N, gl.SliceLayout(1, ROW))
    column = gl.arange(0, M, gl.SliceLayout(0, ROW))
    gl.store(out_ptr + gl.program_id(0) * M * N + row[:, None] * M + column[None, :], y)


@gluon.jit
def matmul(a_ptr, b_ptr, c_ptr, K, M: gl.constexpr, N: gl.constexpr, BK: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])
    m = gl.arange(0, M, gl.SliceLayout(1, ROW))
    n = gl.arange(0, N, gl.SliceLayout(0, ROW))
    ka = gl.arange(0, BK, gl.SliceLayout(0, ROW))
    kb = gl.arange(0, BK, gl.SliceLayout(1, ROW))
    acc = gl.zeros([M, N], gl.float32, mma)
    a = gl.allocate_shared_memory(gl.float16, [M, BK], gl.NVMMASharedLayout(64, 16))
    b = gl.allocate_shared_memory(gl.float16, [BK, N], gl.NVMMASharedLayout(64, 16))
    for k in range(0, K, BK):
        a.store(gl.load(a_ptr + m[:, None] * K + k + ka[None, :]))
        b.store(gl.load(b_ptr + (k + kb)[:, None] * N + n[None, :]))
        acc = mma_v2(a.load(gl.DotOperandLayout(0, mma, 2)), b.load(gl.DotOperandLayout(1, mma, 2)),
                     acc)
    gl.store(c_ptr + m[:, None] * N + n[None, :], gl.convert_layout(acc, ROW))


@gluon.jit
def outer_sum(a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    """A product by multiplications and additions of single threads."""
    m = gl.arange(0, M, gl.SliceLayout(1, ROW))[:, None]
    n = gl.arange(0, N, gl.SliceLayout(0, ROW))[None, :]
    ka = gl.arange(0, K, gl.SliceLayout(0, ROW))[None, :]
    kb = gl.arange(0, K, gl.SliceLayout(1, ROW))[:, None]
    a = gl.convert_layout(gl.load(a_ptr + m * K + ka), gl.DotOperandLayout(0, ROW, 0))
    b = gl.convert_layout(gl.load(b_ptr + kb * N + n), gl.DotOperandLayout(1, ROW, 0))
    gl.store(c_ptr + m * N + n, gl.dot_fma(a, b, gl.zeros([M, N], gl.float32, ROW)))


ONE = gl.BlockedLayout([1], [32], [4], [0])
PLAIN = gl.SwizzledSharedLayout(1, 1, 1, [0])


@gluon.jit
def store_early(memory, x, n):
    if n > 5:
        memory.store(x)
        return 1
    memory.store(x * 2)
    return 0


@gluon.jit
def made_of(x):
    memory = gl.allocate_shared_memory(gl.float32, [128], PLAIN)
    memory.store(x)
    return memory


@gluon.jit
def add_until(memory, n):
    for i in range(100):
        memory.store(memory.load(ONE) + 1)
        if i >= n:
            return
        scratch = made_of(memory.load(ONE) * 2)
        memory.store(scratch.load(ONE))


@gluon.jit
def paths(x_ptr, out_ptr, n, count):
    """Memory in functions that return early, in loops that are left, and in other memory."""
    i = gl.arange(0, 128, layout=ONE)
    x = gl.load(x_ptr + i)
    a, b = made_of(x), made_of(x + 100)
    r = store_early(a, x + 1, n)
    k = 0
    while k < count:
        if k == 2:
            b.store(a.load(ONE) + b.load(ONE))
            k += 1
            continue
        if k == 5:
            break
        for j in range(k):
            a.store(a.load(ONE) + 1)
        k += 1
    for q in gl.static_range(3):
        t = a.load(ONE)
        a.store(b.load(ONE))
        b.store(t)
    add_until(a, n)
    gl.store(out_ptr + i, a.load(ONE))
    gl.store(out_ptr + 128 + i, b.load(ONE) + r)


@gluon.jit
def four_bits(x_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr, AXIS: gl.constexpr):
    i = gl.arange(0, M, gl.SliceLayout(1, ROW))[:, None]
    j = gl.arange(0, N, gl.SliceLayout(0, ROW))[None, :]
    y = gl.fp4_to_fp(gl.load(x_ptr + i * N + j), out_ptr.dtype.element_ty, AXIS)
    y = gl.convert_layout(y, ROW.value)
    i = gl.arange(0, y.shape[0], gl.SliceLayout(1, ROW))[:, None]
    j = gl.arange(0, y.shape[1], gl.SliceLayout(0, ROW))[None, :]
    gl.store(out_ptr + i * y.shape[1] + j, y)


@gluon.jit
def ping_pong(x_ptr, out_ptr, n):
    """A variable that holds one part or another, by an index of run time."""
    i = gl.arange(0, 128, layout=ONE)
    buffers = gl.allocate_shared_memory(gl.float32, [2, 128], PLAIN)
    now = buffers.index(0)
    now.store(gl.load(x_ptr + i))
    for k in range(n):
        next = buffers.index((k + 1) % 2)
        next.store(now.load(ONE) * 2)
        now = next
    if n > 4:
        now = buffers.index(0)
    gl.store(out_ptr + i, now.load(ONE))
