# nereid: --sig a_ptr=*i8:16,b_ptr=*i8:16,c_ptr=*i32:16,K=i32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_bytes_across(a_ptr, b_ptr, c_ptr, K):
    """No operand is contiguous along k: the second one is turned in shared memory, by ldmatrix."""
    m, n, k = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.int32)
    for start in range(0, K, 64):
        a = tl.load(a_ptr + m[:, None] + (start + k[None, :]) * 64)
        b = tl.load(b_ptr + (start + k[:, None]) * 64 + n[None, :])
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    tl.store(c_ptr + m[:, None] * 64 + n[None, :], acc)
