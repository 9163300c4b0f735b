"""tl.extra.cuda: clocks, numbers of the machine, grids that depend on one another."""
import triton
import triton.language as tl
import triton.language.extra.cuda as gdc
from triton.language.extra import cuda
from triton.language.extra.cuda import gdc_launch_dependents


@triton.jit
def dependent_scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Between a grid that wrote x and one that reads what this one stores."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.extra.cuda.gdc_wait()
    x = tl.load(x_ptr + i, mask=mask)
    gdc_launch_dependents()
    tl.store(out_ptr + i, x * 2, mask=mask)


@triton.jit
def rows_after_waiting(x_ptr, out_ptr, rows, COLS: tl.constexpr):
    """Sums of rows, each step after a wait of its own."""
    i = tl.arange(0, COLS)
    total = tl.zeros([COLS], tl.float32)
    for r in range(rows):
        gdc.gdc_wait()
        total += tl.load(x_ptr + r * COLS + i)
    tl.store(out_ptr + i, total)
    gdc.gdc_launch_dependents()


@triton.jit
def clock(x_ptr, out_ptr, sizes_ptr, BLOCK: tl.constexpr):
    """1 where clocks go on and numbers are in range; the numbers of threads and warps."""
    i = tl.arange(0, BLOCK)
    begin = cuda.globaltimer()
    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)
    end = cuda.globaltimer()
    while cuda.globaltimer() < end + 2000:
        begin = tl.minimum(begin, cuda.globaltimer())
    good = (end >= begin) & (begin > 0) & (cuda.smid() >= 0)
    typed = (begin.dtype == tl.int64) + (cuda.smid().dtype == tl.int32)
    tl.store(out_ptr, good.to(tl.int32) + typed)
    tl.store(sizes_ptr, cuda.num_threads())
    tl.store(sizes_ptr + 1, tl.extra.cuda.num_warps())


@triton.jit
def custom_float8(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = cuda.convert_custom_float8_sm80(tl.load(x_ptr + i), tl.float8e4b15)
    y = cuda.convert_custom_float8_sm70(x, tl.float32, fp_downcast_rounding=None)
    same = tl.load(x_ptr + i).to(tl.float8e4b15).to(tl.float32)
    tl.store(out_ptr + i, y - same)
