import triton
import triton.language as tl
import triton.tools.ragged_tma as ragged
from triton.language import target_info
from triton.tools.ragged_tma import atomic_add_ragged, load_ragged, store_ragged


@triton.jit
def matrix(x, copied, added, direct, offset, size):
    source = ragged.create_ragged_descriptor_device_2d(x, 12, 8, 8, 1, 4, 8, 0)
    target = ragged.create_ragged_descriptor_device_2d(copied, 12, 8, 8, 1, 4, 8, 0)
    sums = ragged.create_ragged_descriptor_device_2d(added, 12, 8, 8, 1, 4, 8, 0)
    for i in range(0, 2):
        block = load_ragged(source, offset, size, [i * 4, 0])
        store_ragged(target, offset, size, [i * 4, 0], block + 100)
        atomic_add_ragged(sums, offset, size, [i * 4, 0], block)
    # By the axes in front, along which addresses wrap around.
    ahead, end, row = ragged.to_ragged_indices(offset, size, 2)
    block = tl.reshape(source.load([ahead, end, row, 0]), (4, 8))
    if target_info.is_hip_cdna4() or target_info.is_hip_gfx1250() or target_info.is_xpu():
        block += 1
    tl.store(direct + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8), block)


@triton.jit
def middle(x, copied, offset, size):
    source = ragged.create_ragged_descriptor_device_3d(x, 2, 6, 4, 24, 4, 1, 2, 4, 4, 1)
    target = ragged.create_ragged_descriptor_device_3d(copied, 2, 6, 4, 24, 4, 1, 2, 4, 4, 1)
    store_ragged(target, offset, size, [0, 0, 0], load_ragged(source, offset, size, [0, 0, 0], 1), 1)


@triton.jit
def of_the_host(x: "descriptor", y, offset, size):
    i = tl.arange(0, 64)
    tl.store(y + i[:, None] * 64 + i, load_ragged(x, offset, size, [0, 0]))


@triton.jit
def machine(out):
    target = target_info.current_target()
    if target is None:
        tl.store(out, 0)
    else:
        tl.static_assert(target.backend == "cuda")
        tl.store(out, target.arch)
