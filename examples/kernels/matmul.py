"""C = activation(A @ B), for matrices of any size and strides.

Each program makes one BLOCK_M x BLOCK_N tile of C.  Programs that run at the same time should
share rows of A and columns of B in the cache, so tiles are numbered in groups of GROUP_M rows,
column by column within a group.

build/nereid run examples/kernels/matmul.py:matmul a_ptr=randn:bf16[200,300] b_ptr=randn:bf16[300,150] c_ptr=empty:bf16[200,150] M=200 N=150 K=300 stride_am=300 stride_ak=1 stride_bk=150 stride_bn=1 stride_cm=150 stride_cn=1 -D BLOCK_M=64 -D BLOCK_N=64 -D BLOCK_K=32 -D GROUP_M=8 -D ACTIVATION=fn:leaky_relu --grid "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"
"""
import triton
import triton.language as tl


@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def tile_of_program(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                    GROUP_M: tl.constexpr):
    """The tile's row and column, counted in tiles."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    first_row = pid // (GROUP_M * tiles_n) * GROUP_M
    rows = min(tiles_m - first_row, GROUP_M)  # the last group may be smaller
    within = pid % (GROUP_M * tiles_n)
    return first_row + within % rows, within // rows


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
           stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
           GROUP_M: tl.constexpr, ACTIVATION: tl.constexpr = None):
    tile_m, tile_n = tile_of_program(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, GROUP_M)
    m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn

    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.int32 if a_ptr.type.element_ty == tl.int8 else tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0.0)
        b = tl.load(b_ptrs, mask=(k[:, None] < K - start) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, out_dtype=acc.dtype)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    if ACTIVATION is not None:  # decided when the kernel is compiled
        acc = ACTIVATION(acc)
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))
