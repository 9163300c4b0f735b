# nereid: --sig a_ptr=*i8:16,b_ptr=*i8:16,c_ptr=*i32:16,K=i32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_bytes_turned(a_ptr, b_ptr, c_ptr, K):
    """Bytes that are contiguous along n: pairs of rows are read at once."""
    m, n, k = tl.arange(0, 16), tl.arange(0, 64), tl.arange(0, 64)
    acc = tl.zeros((16, 64), tl.int32)
    for start in range(0, K, 64):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k[:, None]) * 64 + n[None, :])
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    tl.store(c_ptr + m[:, None] * 64 + n[None, :], acc)
