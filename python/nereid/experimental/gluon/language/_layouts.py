"""Gluon's layouts, which are constants: which thread holds which element of a tile, or where an
element is in shared memory.  The compiler checks them (lang/std/layouts.py) when a kernel uses
them, and chooses layouts of its own."""

from __future__ import annotations

import dataclasses

from nereid.language.types import _unwrap_if_constexpr

_PATH = "triton.experimental.gluon.language"


def _plain(value):
    """A field as it is kept: lists of numbers, which are equal to tuples of the same."""
    value = _unwrap_if_constexpr(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _hashable(value):
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


class _Layout:
    """A constant whose text in a kernel is the call that makes it."""

    def __post_init__(self):
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, _plain(getattr(self, field.name)))

    def _values(self):
        return [getattr(self, f.name) for f in dataclasses.fields(self)]  # type: ignore[arg-type]

    def __hash__(self):
        return hash((type(self).__name__, *map(_hashable, self._values())))

    def kernel_text(self) -> str:
        """The expression that means this layout in a kernel."""
        items = (v.kernel_text() if isinstance(v, _Layout) else repr(v) for v in self._values())
        return f"{_PATH}.{type(self).__name__}({', '.join(items)})"


def _layout(cls):
    # `eq` alone would take __hash__ away.
    cls = dataclasses.dataclass(frozen=True)(cls)
    cls.__hash__ = _Layout.__hash__
    return cls


class DistributedLayout(_Layout):
    """The base of layouts of tiles in registers."""


class SharedLayout(_Layout):
    """The base of layouts of shared memory."""


@_layout
class AutoLayout(DistributedLayout):
    """A layout that goes with any other."""


@_layout
class CoalescedLayout(DistributedLayout):
    """A layout for coalesced accesses."""


@_layout
class BlockedLayout(DistributedLayout):
    """Blocks of elements for each thread, of threads for each warp, and of warps."""

    size_per_thread: list
    threads_per_warp: list
    warps_per_cta: list
    order: list
    cga_layout: list = dataclasses.field(default_factory=list)

    @property
    def rank(self) -> int:
        return len(self.order)


@_layout
class SliceLayout(DistributedLayout):
    """The layout of a tile that lacks the axis `dim` of one with the layout `parent`."""

    dim: int
    parent: DistributedLayout

    @property
    def rank(self) -> int:
        return self.parent.rank - 1  # type: ignore[attr-defined]


@_layout
class DistributedLinearLayout(DistributedLayout):
    """A layout by the coordinates that each bit of register, lane, warp and block adds."""

    reg_bases: list
    lane_bases: list
    warp_bases: list
    block_bases: list
    shape: list

    @property
    def rank(self) -> int:
        return len(self.shape)


@_layout
class DotOperandLayout(DistributedLayout):
    """The layout of an operand of a product whose accumulator has the layout `parent`."""

    operand_index: int
    parent: DistributedLayout
    k_width: int

    @property
    def rank(self) -> int:
        return self.parent.rank  # type: ignore[attr-defined]


@_layout
class NVMMADistributedLayout(DistributedLayout):
    """The layout of accumulators of NVIDIA's matrix instructions."""

    version: list
    warps_per_cta: list
    instr_shape: list
    cga_layout: list = dataclasses.field(default_factory=list)

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)


@_layout
class NVMMASharedLayout(SharedLayout):
    """Shared memory as NVIDIA's matrix instructions read it."""

    swizzle_byte_width: int
    element_bitwidth: int
    rank: int = 2
    transposed: bool = False
    fp4_padded: bool = False
    cga_layout: list = dataclasses.field(default_factory=list)

    @staticmethod
    def get_default_for(block_shape, dtype, transposed=False, fp4_padded=False, cga_layout=None):
        """The layout with the widest swizzle that fits a block."""
        shape = _plain(block_shape)
        shape = shape[1:] + shape[:1] if transposed else shape
        row = shape[-1] * (2 if fp4_padded else 1) * dtype.primitive_bitwidth // 8
        width = max((w for w in (32, 64, 128) if row % w == 0), default=0)
        outer = 1
        for extent in shape[:-1]:
            outer *= extent
        if len(shape) < 2 or outer < 8:
            width = 0
        return NVMMASharedLayout(width, dtype.primitive_bitwidth, len(shape), transposed,
                                 fp4_padded, cga_layout or [])


@_layout
class SwizzledSharedLayout(SharedLayout):
    """Shared memory whose vectors of a row change places by row."""

    vec: int
    per_phase: int
    max_phase: int
    order: list
    cga_layout: list = dataclasses.field(default_factory=list)


@_layout
class PaddedSharedLayout(SharedLayout):
    """Shared memory with gaps at intervals."""

    interval_padding_pairs: list
    offset_bases: list
    block_bases: list
    shape: list

    @staticmethod
    def with_identity_for(interval_padding_pairs, shape, order):
        """The layout whose elements have the order of the axes `order`."""
        shape = _plain(shape)
        bases = [[1 << bit if i == dim else 0 for i in range(len(shape))]
                 for dim in _plain(order) for bit in range(shape[dim].bit_length() - 1)]
        return PaddedSharedLayout(interval_padding_pairs, bases, [], shape)


@_layout
class SharedLinearLayout(SharedLayout):
    """Shared memory by the coordinates that each bit of an offset adds."""

    offset_bases: list
    block_bases: list = dataclasses.field(default_factory=list)
    alignment: int = 16
