import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.make_tensor_descriptor(a, [M, 64], [64, 1], [M, 32])
    columns = tl.make_tensor_descriptor(b, [64, N], [N, 1], [32, N])
    acc = tl.zeros([M, N], tl.float32)
    for k in range(0, n, 32):
        acc = tl.dot(rows.load([0, k]), columns.load([k, 0]), acc)
    tl.make_tensor_descriptor(c, [M, N], [N, 1], [M, N]).store([0, 0], acc.to(tl.float16))
