"""A matrix product whose block sizes are tuned at its first call.

The measurements are kept: another process, or a later one, measures nothing.
"""

import time

import numpy as np

import nereid
import nereid.language as tl


@nereid.autotune(
    configs=[nereid.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 32}, num_warps=4)
             for m in (32, 64) for n in (32, 64)],
    key=["M", "N", "K"],
)
@nereid.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * stride_am + (start + k)[None, :],
                    mask=(m[:, None] < M) & ((start + k)[None, :] < K), other=0.0)
        b = tl.load(b_ptr + (start + k)[:, None] * stride_bk + n[None, :],
                    mask=((start + k)[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * stride_cm + n[None, :], acc,
             mask=(m[:, None] < M) & (n[None, :] < N))


def multiply(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = np.empty((M, N), np.float32)
    matmul[lambda meta: (nereid.cdiv(M, meta["BLOCK_M"]), nereid.cdiv(N, meta["BLOCK_N"]))](
        a, b, c, M, N, K, K, N, N)
    return c


rng = np.random.default_rng(0)
a = rng.standard_normal((200, 96), dtype=np.float32)
b = rng.standard_normal((96, 136), dtype=np.float32)
for call in ("first call", "second call"):
    begin = time.perf_counter()
    c = multiply(a, b)
    print(f"{call}: {(time.perf_counter() - begin) * 1e3:.1f} ms")
print("best:", matmul.best_config)
error = np.abs(c - a @ b).max()
print(f"largest error {error:.1e}")
assert error < 1e-3
