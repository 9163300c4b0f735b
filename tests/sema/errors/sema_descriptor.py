# nereid: --sig x=*fp32,n=i32 --emit tile
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    d = tl.make_tensor_descriptor(x, [n], [1], [64])
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (64,), (0,))
    v = tl.load_tensor_descriptor(p, [0])
    v = tl.load(d)
    v = d.load([0, n])
    d.atomic_add([0], v)
    d = tl.advance(d, [64])
    e = tl.make_tensor_descriptor(x, [n, n], [n], [8, 8])
    tl.store_tensor_descriptor(x, [0], v)
