# Gluon's layouts: constants that say which thread holds which element of a tile, or where an
# element is in shared memory.  The compiler checks that they fit together, and chooses its own.
import triton
import triton.language as tl


def _numbers(name, values):
    out = []
    for v in values:
        tl.static_assert(isinstance(v, int), f"{name}: expected a list of integers, found {values}")
        out.append(v)
    return out


def _lists(name, values):
    return [_numbers(name, v) for v in (values if values is not None else [])]


def _powers(name, values):
    out = _numbers(name, values)
    for v in out:
        tl.static_assert(v > 0 and v & (v - 1) == 0, f"{name} must be powers of two, not {out}")
    return out


def _product(values):
    out = 1
    for v in values:
        out *= v
    return out


def _ranks(name, rank, lists):
    for values in lists:
        tl.static_assert(len(values) == rank,
                         f"{name}: {values} has {len(values)} entries, expected {rank}")


def _permutation(name, order):
    tl.static_assert(sorted(order) == list(range(len(order))),
                     f"{name}: order {order} must have each axis once")
    return order


@triton.aggregate
class DistributedLayout:
    """`lanes` and `warps` are the threads of a warp and the warps that it is for; 0: any."""

    @property
    def lanes(self):
        return 0

    @property
    def warps(self):
        return 0


@triton.aggregate
class AutoLayout(DistributedLayout):
    @property
    def rank(self):
        return -1


@triton.aggregate
class CoalescedLayout(DistributedLayout):
    @property
    def rank(self):
        return -1


@triton.aggregate
class BlockedLayout(DistributedLayout):
    size_per_thread: tl.constexpr
    threads_per_warp: tl.constexpr
    warps_per_cta: tl.constexpr
    order: tl.constexpr
    cga_layout: tl.constexpr

    def __init__(self, size_per_thread, threads_per_warp, warps_per_cta, order, cga_layout=[]):
        self.size_per_thread = _powers("size_per_thread of a BlockedLayout", size_per_thread)
        self.threads_per_warp = _powers("threads_per_warp of a BlockedLayout", threads_per_warp)
        self.warps_per_cta = _powers("warps_per_cta of a BlockedLayout", warps_per_cta)
        self.order = _permutation("BlockedLayout", _numbers("order of a BlockedLayout", order))
        self.cga_layout = _lists("cga_layout of a BlockedLayout", cga_layout)
        _ranks("BlockedLayout", len(self.size_per_thread),
               [self.threads_per_warp, self.warps_per_cta, self.order] + self.cga_layout)

    @property
    def rank(self):
        return len(self.order)

    @property
    def lanes(self):
        return _product(self.threads_per_warp)

    @property
    def warps(self):
        return _product(self.warps_per_cta)


@triton.aggregate
class SliceLayout(DistributedLayout):
    dim: tl.constexpr
    parent: DistributedLayout

    def __init__(self, dim, parent):
        tl.static_assert(isinstance(parent, DistributedLayout),
                         f"SliceLayout: the parent must be a distributed layout, not {parent}")
        tl.static_assert(parent.rank < 0 or 0 <= dim and dim < parent.rank,
                         f"SliceLayout: the parent has no axis {dim}: {parent}")
        self.dim = dim
        self.parent = parent

    @property
    def rank(self):
        return self.parent.rank - 1 if self.parent.rank > 0 else -1

    @property
    def lanes(self):
        return self.parent.lanes

    @property
    def warps(self):
        return self.parent.warps


@triton.aggregate
class DistributedLinearLayout(DistributedLayout):
    reg_bases: tl.constexpr
    lane_bases: tl.constexpr
    warp_bases: tl.constexpr
    block_bases: tl.constexpr
    shape: tl.constexpr

    def __init__(self, reg_bases, lane_bases, warp_bases, block_bases, shape):
        self.reg_bases = _lists("reg_bases of a DistributedLinearLayout", reg_bases)
        self.lane_bases = _lists("lane_bases of a DistributedLinearLayout", lane_bases)
        self.warp_bases = _lists("warp_bases of a DistributedLinearLayout", warp_bases)
        self.block_bases = _lists("block_bases of a DistributedLinearLayout", block_bases)
        self.shape = _powers("shape of a DistributedLinearLayout", shape)
        _ranks("DistributedLinearLayout", len(self.shape),
               self.reg_bases + self.lane_bases + self.warp_bases + self.block_bases)

    @property
    def rank(self):
        return len(self.shape)

    @property
    def lanes(self):
        return 1 << len(self.lane_bases)

    @property
    def warps(self):
        return 1 << len(self.warp_bases)


@triton.aggregate
class DotOperandLayout(DistributedLayout):
    operand_index: tl.constexpr
    parent: DistributedLayout
    k_width: tl.constexpr

    def __init__(self, operand_index, parent, k_width):
        tl.static_assert(operand_index == 0 or operand_index == 1,
                         f"DotOperandLayout: operand_index must be 0 or 1, not {operand_index}")
        tl.static_assert(isinstance(parent, DistributedLayout),
                         f"DotOperandLayout: the parent must be a distributed layout, not {parent}")
        self.operand_index = operand_index
        self.parent = parent
        self.k_width = k_width

    @property
    def rank(self):
        return self.parent.rank

    @property
    def lanes(self):
        return self.parent.lanes

    @property
    def warps(self):
        return self.parent.warps


@triton.aggregate
class NVMMADistributedLayout(DistributedLayout):
    version: tl.constexpr
    warps_per_cta: tl.constexpr
    instr_shape: tl.constexpr
    cga_layout: tl.constexpr

    def __init__(self, version, warps_per_cta, instr_shape, cga_layout=[]):
        self.version = _numbers("version of an NVMMADistributedLayout", version)
        self.warps_per_cta = _powers("warps_per_cta of an NVMMADistributedLayout", warps_per_cta)
        self.instr_shape = _numbers("instr_shape of an NVMMADistributedLayout", instr_shape)
        self.cga_layout = _lists("cga_layout of an NVMMADistributedLayout", cga_layout)

    @property
    def rank(self):
        return len(self.warps_per_cta)

    @property
    def lanes(self):
        return 32

    @property
    def warps(self):
        return _product(self.warps_per_cta)


@triton.aggregate
class SharedLayout:
    pass


@triton.aggregate
class NVMMASharedLayout(SharedLayout):
    swizzle_byte_width: tl.constexpr
    element_bitwidth: tl.constexpr
    rank: tl.constexpr
    transposed: tl.constexpr
    fp4_padded: tl.constexpr
    cga_layout: tl.constexpr

    def __init__(self, swizzle_byte_width, element_bitwidth, rank=2, transposed=False,
                 fp4_padded=False, cga_layout=[]):
        tl.static_assert(swizzle_byte_width in [0, 32, 64, 128],
                         "NVMMASharedLayout: swizzle_byte_width must be 0, 32, 64 or 128, "
                         f"not {swizzle_byte_width}")
        tl.static_assert(element_bitwidth in [8, 16, 32, 64],
                         "NVMMASharedLayout: element_bitwidth must be 8, 16, 32 or 64, "
                         f"not {element_bitwidth}")
        self.swizzle_byte_width = swizzle_byte_width
        self.element_bitwidth = element_bitwidth
        self.rank = rank
        self.transposed = transposed
        self.fp4_padded = fp4_padded
        self.cga_layout = _lists("cga_layout of an NVMMASharedLayout", cga_layout)

    @staticmethod
    def get_default_for(block_shape, dtype, transposed=False, fp4_padded=False, cga_layout=None):
        shape = list(block_shape)
        if transposed:
            shape = shape[1:] + shape[:1]
        row = shape[-1] * (2 if fp4_padded else 1) * dtype.primitive_bitwidth // 8
        width = 0
        for bytes in [32, 64, 128]:
            if row >= bytes and row % bytes == 0:
                width = bytes
        if len(shape) < 2 or _product(shape[:-1]) < 8:
            width = 0
        return NVMMASharedLayout(width, dtype.primitive_bitwidth, len(shape), transposed,
                                 fp4_padded, cga_layout)


@triton.aggregate
class SwizzledSharedLayout(SharedLayout):
    vec: tl.constexpr
    per_phase: tl.constexpr
    max_phase: tl.constexpr
    order: tl.constexpr
    cga_layout: tl.constexpr

    def __init__(self, vec, per_phase, max_phase, order, cga_layout=[]):
        self.vec = vec
        self.per_phase = per_phase
        self.max_phase = max_phase
        self.order = _permutation("SwizzledSharedLayout",
                                  _numbers("order of a SwizzledSharedLayout", order))
        self.cga_layout = _lists("cga_layout of a SwizzledSharedLayout", cga_layout)

    @property
    def rank(self):
        return len(self.order)


@triton.aggregate
class PaddedSharedLayout(SharedLayout):
    interval_padding_pairs: tl.constexpr
    offset_bases: tl.constexpr
    block_bases: tl.constexpr
    shape: tl.constexpr

    def __init__(self, interval_padding_pairs, offset_bases, block_bases, shape):
        self.interval_padding_pairs = [
            _powers("interval_padding_pairs of a PaddedSharedLayout", pair)
            for pair in interval_padding_pairs
        ]
        self.offset_bases = _lists("offset_bases of a PaddedSharedLayout", offset_bases)
        self.block_bases = _lists("block_bases of a PaddedSharedLayout", block_bases)
        self.shape = _numbers("shape of a PaddedSharedLayout", shape)
        tl.static_assert(len(self.interval_padding_pairs) > 0,
                         "PaddedSharedLayout: interval_padding_pairs is empty")
        _ranks("PaddedSharedLayout", 2, self.interval_padding_pairs)
        _ranks("PaddedSharedLayout", len(self.shape), self.offset_bases + self.block_bases)

    @property
    def rank(self):
        return len(self.shape)

    @staticmethod
    def with_identity_for(interval_padding_pairs, shape, order):
        bases = []
        for dim in _permutation("PaddedSharedLayout", order):
            bit = 1
            while bit < shape[dim]:
                bases.append([bit if i == dim else 0 for i in range(len(shape))])
                bit *= 2
        return PaddedSharedLayout(interval_padding_pairs, bases, [], _powers("shape", shape))


@triton.aggregate
class SharedLinearLayout(SharedLayout):
    offset_bases: tl.constexpr
    block_bases: tl.constexpr
    alignment: tl.constexpr

    def __init__(self, offset_bases, block_bases=[], alignment=16):
        self.offset_bases = _lists("offset_bases of a SharedLinearLayout", offset_bases)
        self.block_bases = _lists("block_bases of a SharedLinearLayout", block_bases)
        self.alignment = alignment
        tl.static_assert(len(self.offset_bases) > 0, "SharedLinearLayout: offset_bases is empty")
        _ranks("SharedLinearLayout", len(self.offset_bases[0]),
               self.offset_bases + self.block_bases)

    @property
    def rank(self):
        return len(self.offset_bases[0])


def permuted(layout, dims):
    """The layout of a permuted tile; AutoLayout where it is for the compiler to choose."""
    if isinstance(layout, BlockedLayout):
        return BlockedLayout([layout.size_per_thread[d] for d in dims],
                             [layout.threads_per_warp[d] for d in dims],
                             [layout.warps_per_cta[d] for d in dims],
                             [list(dims).index(d) for d in layout.order],
                             [[basis[d] for d in dims] for basis in layout.cga_layout])
    return AutoLayout()
