"""Kernels of tests/python/torch_shapes.py beside those of examples/kernels."""
import triton
import triton.language as tl


@triton.jit
def tile_of(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first_row = pid // (GROUP_M * tiles_n) * GROUP_M
    rows = min(tiles_m - first_row, GROUP_M)
    within = pid % (GROUP_M * tiles_n)
    return first_row + within % rows, within // rows


@triton.jit
def persistent(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
               stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
               GROUP_M: tl.constexpr):
    """Each program makes several tiles."""
    k = tl.arange(0, BLOCK_K)
    for pid in tl.range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N),
                        tl.num_programs(0), flatten=True):
        tile_m, tile_n = tile_of(pid, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
        n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for start in range(0, K, BLOCK_K):
            a = tl.load(a_ptr + m[:, None] * stride_am + (start + k)[None, :] * stride_ak,
                        mask=(m[:, None] < M) & (start + k < K)[None, :], other=0.0)
            b = tl.load(b_ptr + (start + k)[:, None] * stride_bk + n[None, :] * stride_bn,
                        mask=(start + k < K)[:, None] & (n[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn,
                 acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def uneven(a_ptr, b_ptr, c_ptr, lengths_ptr, M, N, stride_am, stride_ak, stride_bk, stride_bn,
           stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
           BLOCK_K: tl.constexpr):
    """The tiles of a program have a K each: none, one block, many."""
    k = tl.arange(0, BLOCK_K)
    tiles_n = tl.cdiv(N, BLOCK_N)
    for pid in tl.range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * tiles_n, tl.num_programs(0)):
        m = pid // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
        n = pid % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
        length = tl.load(lengths_ptr + pid)
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for start in range(0, length, BLOCK_K):
            a = tl.load(a_ptr + m[:, None] * stride_am + (start + k)[None, :] * stride_ak,
                        mask=(m[:, None] < M) & (start + k < length)[None, :], other=0.0)
            b = tl.load(b_ptr + (start + k)[:, None] * stride_bk + n[None, :] * stride_bn,
                        mask=(start + k < length)[:, None] & (n[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn,
                 acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def int4_rows(x_ptr, w_ptr, scale_ptr, zero_ptr, out_ptr, M, N, K, stride_xm, stride_wk,
              stride_out, GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
              BLOCK_K: tl.constexpr):
    """x @ ((w - zero) * scale): eight numbers of 4 bits a word, along k; scales for GROUP of k."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        inside = start + k < K
        x = tl.load(x_ptr + m[:, None] * stride_xm + (start + k)[None, :],
                    mask=(m[:, None] < M) & inside[None, :], other=0.0)
        both = inside[:, None] & (n[None, :] < N)
        words = tl.load(w_ptr + ((start + k) // 8)[:, None] * stride_wk + n[None, :], mask=both,
                        other=0)
        group = ((start + k) // GROUP)[:, None] * N + n[None, :]
        scale = tl.load(scale_ptr + group, mask=both, other=0.0)
        zero = tl.load(zero_ptr + group, mask=both, other=0.0)
        w = ((words >> ((start + k) % 8 * 4)[:, None]) & 15).to(tl.float32)
        acc = tl.dot(x, ((w - zero) * scale).to(x.dtype), acc)
    tl.store(out_ptr + m[:, None] * stride_out + n[None, :], acc.to(out_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))
