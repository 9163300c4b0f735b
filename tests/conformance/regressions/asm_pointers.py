import triton
import triton.language as tl


@triton.jit
def kernel(x, count, addresses, out):
    i = tl.arange(0, 8)
    moved = tl.inline_asm_elementwise(
        "mov.u64 $0, $1;", "=l,l", [x + i], dtype=(x + i).dtype, is_pure=True, pack=1)
    after, seven = tl.inline_asm_elementwise(
        "add.u64 $0, $2, 4; mov.b32 $1, 7;", "=l,=r,l", [moved],
        dtype=(tl.pointer_type(tl.float32), tl.int32), is_pure=False, pack=1)
    tl.store(out + i, tl.load(moved) + tl.load(after, mask=i < 7, other=0.0) + seven)
    one = tl.inline_asm_elementwise(
        "mov.u64 $0, $1;", "=l,l", [count], dtype=count.type, is_pure=True, pack=1)
    tl.store(one, tl.load(one) + 1)
    made = tl.load(addresses + i).to(tl.pointer_type(tl.int32))
    unused = tl.inline_asm_elementwise(
        "mov.u64 $0, $1;", "=l,l", [made], dtype=made.dtype, is_pure=False, pack=1)
    tl.store(addresses + i, unused.to(tl.int64) + 1)
