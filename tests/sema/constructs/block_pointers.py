# nereid: --sig x=*fp16,y=*fp16,M=i32,K=i64 -D BM=32 -D BK=16 --run-passes ''
# Of a block pointer, a loop carries the offsets that move.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, K, BM: tl.constexpr, BK: tl.constexpr):
    a = tl.make_block_ptr(x, shape=(M, K), strides=(K, 1), offsets=(tl.program_id(0) * BM, 0),
                          block_shape=(BM, BK), order=(1, 0))
    acc = tl.zeros((BM,), tl.float32)
    for k in range(0, K, BK):
        v = tl.load(a, boundary_check=(0, 1), padding_option="zero", cache_modifier=".cg")
        acc += tl.sum(v.to(tl.float32), 1)
        a = tl.advance(a, (0, BK))
    out = tl.make_block_ptr(y, (M,), (1,), (0,), (BM,), (0,)).advance((tl.program_id(0) * BM,))
    tl.static_assert(out.dtype.is_ptr() and out.type.element_ty == y.dtype.element_ty)
    tl.store(out, acc.to(out.dtype.element_ty), boundary_check=(0,))
