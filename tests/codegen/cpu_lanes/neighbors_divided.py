# nereid: --sig x_ptr=*fp32,y_ptr=*fp32,z_ptr=*fp32
import triton
import triton.language as tl


@triton.jit
def neighbors_divided(x_ptr, y_ptr, z_ptr):
    """Quotients and remainders of neighbors by a multiple of the lanes: vectors in memory.  Numbers
    that may be negative, other divisors, and rows that begin elsewhere are gathered."""
    at = tl.program_id(0) * 64 + tl.arange(0, 64)
    rows = tl.load(x_ptr + at // 32 * 100 + at % 32)
    table = tl.load(y_ptr + at % 48)
    before = tl.load(x_ptr + (at - 32) % 32 + 32)
    twelve = tl.load(y_ptr + at % 12)
    moved = tl.load(y_ptr + (at + 4) % 32)
    tl.store(z_ptr + at, rows * table + before * twelve + moved)
