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
    d.atomic_add([0], d.load([0]).to(tl.float16)[:, None])
    d.atomic_add([0, 0], d.load([0]))
    d.atomic_and([0], d.load([0]))
    d.gather(tl.arange(0, 16), 0)
    w = tl.make_tensor_descriptor(x, [n, n], [n, 1], [1, 4])
    w.gather(tl.arange(0, 4), 0)
    w.gather(tl.arange(0, 8), 0)
    w.gather(tl.arange(0, 8).to(tl.float32), 0)
    w.scatter(v, tl.arange(0, 8), 0)
    w.scatter(0)
    d.reduce(v)
    tl._experimental_descriptor_load(d, [0], [8, 8], tl.float32)
    tl._experimental_descriptor_load(d, [0], [8], tl.float16)
    tl._experimental_descriptor_load(x, [0], [8], tl.float32)
    y = x.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.make_tensor_descriptor(y, [n], [1], [8], padding_option="nan")
    tl.make_tensor_descriptor(x, [n], [1], [8], padding_option=0.0)
    d = tl.advance(d, [64])
    e = tl.make_tensor_descriptor(x, [n, n], [n], [8, 8])
    tl.store_tensor_descriptor(x, [0], v)
