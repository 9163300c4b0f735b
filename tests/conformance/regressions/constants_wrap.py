"""What is known at compile time wraps in its dtype, as at run time, before it is widened, divided or
compared."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def constants(out):
    i = tl.arange(0, 8)
    a = tl.full([8], 200, tl.uint8)
    tl.store(out + i, (a + a).to(tl.int64))
    b = tl.full([8], 2147483648, tl.uint32)
    tl.store(out + 8 + i, (b * 2).to(tl.int64))
    c = tl.full([8], 2147483647, tl.int32)
    tl.store(out + 16 + i, (c + 1).to(tl.int64))
    tl.store(out + 24 + i, ((b << 8) >> 8).to(tl.int64))
    tl.store(out + 32 + i, libdevice.mul24(tl.full([8], 2, tl.int32), 2147483648).to(tl.int64))
    tl.store(out + 40 + i, (a - 201).to(tl.int64))


@triton.jit
def places(out):
    i = tl.arange(0, 8)
    tl.store(out + i, (((i + 1) * 1073741824) // 4).to(tl.int64))
    tl.store(out + 8 + i, (((i + 1) * 1073741824) >> 2).to(tl.int64))
    tl.store(out + 16 + i, ((i.to(tl.uint32) + 4294967295) // 2).to(tl.int64))
    tl.store(out + 24 + i, ((i.to(tl.uint8) * tl.full([8], 100, tl.uint8)) > 150).to(tl.int64))
