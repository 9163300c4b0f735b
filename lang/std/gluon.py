# triton.experimental.gluon.language: what differs from triton.language.  Tiles have layouts, which
# are constants (layouts.py) and have no effect on what a kernel computes; shared memory is a tile
# that stores replace (sema/eval/shared.c).
import triton
import triton.language as tl
from nereid import core, layouts, scaled


# ---- tiles ----


@triton.jit
def arange(start, end, layout=None):
    """start, start + 1, ... end - 1, in a layout."""
    return core.set_layout(tl.arange(start, end), layout)


@triton.jit
def full(shape, value, dtype, layout=None):
    return core.set_layout(tl.full(shape, value, dtype), layout)


@triton.jit
def zeros(shape, dtype, layout=None):
    return core.set_layout(tl.zeros(shape, dtype), layout)


@triton.jit
def full_like(input, value, shape=None, dtype=None, layout=None):
    return full(input.shape if shape is None else shape, value,
                input.dtype if dtype is None else dtype,
                input.type.layout if layout is None else layout)


@triton.jit
def zeros_like(input, shape=None, dtype=None, layout=None):
    return full_like(input, 0, shape, dtype, layout)


@triton.jit
def convert_layout(value, layout, assert_trivial=False):
    """The tile in another layout."""
    tl.static_assert(not assert_trivial or value.type.layout == layout,
                     f"assert_trivial: {layout} is another layout than {value.type.layout}, and "
                     "only a conversion to the same layout is known to move nothing")
    return core.convert_layout(value, layout)


@triton.jit
def set_auto_layout(value, layout):
    """A tile of AutoLayout in that layout."""
    tl.static_assert(isinstance(value.type.layout, layouts.AutoLayout),
                     f"the tile has a layout already, {value.type.layout}: write convert_layout")
    return core.convert_layout(value, layout)


@triton.jit
def histogram(input, num_bins, mask=None, layout=None):
    tl.static_assert(layout is not None, "histogram needs the layout of its result")
    return core.set_layout(tl.histogram(input, num_bins, mask), layout)


@triton.jit
def dot_fma(a, b, acc):
    """a x b + acc, whose operands have layouts of operands of acc's."""
    tl.static_assert(isinstance(acc.type.layout, layouts.BlockedLayout),
                     f"acc must have a BlockedLayout, not {acc.type.layout}")
    return _product(a, b, acc, "ieee")


@triton.jit
def _product(a, b, acc, input_precision):
    _check_operand(a, 0, acc)
    _check_operand(b, 1, acc)
    product = tl.dot(_plain(a), _plain(b), _plain(acc), input_precision=input_precision,
                     out_dtype=acc.dtype)
    return core.set_layout(product, acc.type.layout)


def _check_operand(x, index, acc):
    layout = x.type.layout
    name = "b" if index else "a"
    tl.static_assert(isinstance(layout, layouts.DotOperandLayout),
                     f"{name} must have a DotOperandLayout, not {layout}")
    tl.static_assert(layout.operand_index == index,
                     f"{name} must have operand_index {index}, not {layout.operand_index}")
    tl.static_assert(layout.parent == acc.type.layout,
                     f"{name} is an operand of {layout.parent}, but acc has {acc.type.layout}")


@triton.jit
def _plain(x):
    return core.convert_layout(x, layouts.AutoLayout())


def _pair_order(rank, axis):
    """The order in which the last axis of `rank` + 1 comes after `axis`."""
    order = list(range(rank))
    return order[:axis + 1] + [rank] + order[axis + 1:]


def _doubled(shape, axis):
    return [2 * shape[d] if d == axis else shape[d] for d in range(len(shape))]


@triton.jit
def fp4_to_fp(src, elem_type, axis):
    """The numbers of e2m1 in bytes, two a byte along an axis, the low half first."""
    rank: tl.constexpr = len(src.shape)
    along: tl.constexpr = axis if axis >= 0 else axis + rank
    tl.static_assert(src.dtype.primitive_bitwidth == 8 and elem_type.is_floating(),
                     f"fp4_to_fp makes floats of bytes, not {elem_type} of {src.dtype}")
    narrow: tl.constexpr = tl.bfloat16 if elem_type == tl.bfloat16 else tl.float16
    low, high = scaled._from_e2m1(src.to(tl.uint8, bitcast=True), narrow)
    pairs = tl.permute(tl.join(low, high), _pair_order(rank, along))
    return tl.reshape(pairs, _doubled(src.shape, along)).to(elem_type)


# ---- the machine ----


@triton.jit
def thread_barrier():
    tl.debug_barrier()


@triton.jit
def barrier():
    tl.debug_barrier()


# ---- shared memory ----


@triton.jit
def allocate_shared_memory(element_ty, shape, layout, value=None):
    """Shared memory for a tile of that shape."""
    tl.static_assert(isinstance(layout, layouts.SharedLayout),
                     f"'layout' must be a shared layout, not {layout}")
    tl.static_assert(len(shape) - layout.rank <= 1 and layout.rank <= len(shape),
                     f"the layout {layout} is of rank {layout.rank}; for the shape {shape} it has "
                     "as many axes, or one less for a row of buffers")
    memory = shared_memory_descriptor(core.shared_new(element_ty, shape), element_ty, shape, layout)
    if value is not None:
        memory.store(value)
    return memory


def _shape(shape):
    return [extent for extent in shape]


@triton.aggregate
class shared_memory_descriptor:
    """A view of shared memory: of all of `memory`, or of a part of another view, `of`, by the
    function `how` and its argument `by`."""
    memory: tl.constexpr
    dtype: tl.constexpr
    shape: tl.constexpr
    layout: layouts.SharedLayout
    of: object
    how: tl.constexpr
    by: object

    def __init__(self, memory, dtype, shape, layout, of=None, how="all", by=None):
        self.memory = memory
        self.dtype = dtype
        self.shape = _shape(shape)
        self.layout = layout
        self.of = of
        self.how = how
        self.by = by

    @property
    def rank(self):
        return len(self.shape)

    @property
    def numel(self):
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def type(self):
        return self

    @property
    def element_ty(self):
        return self.dtype

    @triton.jit
    def load(self, layout):
        """The tile in shared memory, in a layout of threads."""
        return core.convert_layout(_read(self), layout)

    @triton.jit
    def store(self, value):
        """Replaces the tile in shared memory."""
        tl.static_assert(isinstance(value, tl.tensor), "store needs a tile")
        tl.static_assert(_shape(value.shape) == self.shape,
                         f"the tile has shape {value.shape}, the memory {self.shape}")
        tl.static_assert(value.dtype == self.dtype,
                         f"the tile has dtype {value.dtype}, the memory {self.dtype}")
        _write(self, core.convert_layout(value, layouts.AutoLayout()))

    def index(self, index):
        """The view at an index of the first axis, which may be known at run time only."""
        tl.static_assert(len(self.shape) > 1, "index needs two axes or more")
        at = tl.to_tensor(index)
        tl.static_assert(at.dtype.is_int(), f"an index must be an integer, not {at.dtype}")
        if hasattr(at, "value"):
            tl.static_assert(0 <= at.value and at.value < self.shape[0],
                             f"index {at.value} is outside of {self.shape}")
        return self._part(self.shape[1:], "index", at.to(tl.int32))

    def slice(self, start, length, dim=0):
        """The view of `length` elements from `start` along an axis."""
        tl.static_assert(0 <= start and start + length <= self.shape[dim] and length > 0,
                         f"slice({start}, {length}, {dim}) is outside of {self.shape}")
        shape = _shape(self.shape)
        return self._part(shape[:dim] + [length] + shape[dim + 1:], "slice", (start, dim))

    def permute(self, order):
        """The view with its axes in another order."""
        return self._part([self.shape[d] for d in order], "permute", order)

    def reshape(self, shape):
        """The view of the elements in another shape."""
        return self._part(shape, "reshape", None)

    def _part(self, shape, how, by):
        return shared_memory_descriptor(self.memory, self.dtype, shape, self.layout, self, how, by)

    def _keep_alive(self):
        return None

    def _reinterpret(self, dtype, shape, layout):
        tl.static_assert(False, "_reinterpret of shared memory is not supported yet")


@triton.jit
def _read(view):
    if view.how == "all":
        return core.shared_load(view.memory)
    whole = _read(view.of)
    if view.how == "permute":
        return tl.permute(whole, view.by)
    elif view.how == "reshape":
        return tl.reshape(whole, view.shape)
    elif view.how == "slice":
        return _cut(whole, view.by[1], view.by[0], view.shape[view.by[1]])
    else:
        return _select(whole, view.by, view.shape)


@triton.jit
def _write(view, value):
    if view.how == "all":
        core.shared_store(view.memory, value)
    else:
        of = view.of
        if view.how == "permute":
            _write(of, tl.permute(value, _inverse(view.by)))
        elif view.how == "reshape":
            _write(of, tl.reshape(value, of.shape))
        elif view.how == "slice":
            _write(of, _paste(_read(of), value, view.by[1], view.by[0], view.shape[view.by[1]]))
        else:
            whole = _read(of)
            here = _place(of.shape, 0) == view.by
            _write(of, tl.where(here, tl.expand_dims(value, 0), whole))


def _inverse(order):
    return [list(order).index(d) for d in range(len(order))]


@triton.jit
def _place(shape, dim: tl.constexpr):
    """Indices along an axis, of extent 1 on the others."""
    at = tl.arange(0, shape[dim])
    for d in tl.static_range(len(shape)):
        if d != dim:
            at = tl.expand_dims(at, d)
    return at


@triton.jit
def _cut(whole, dim: tl.constexpr, start: tl.constexpr, length: tl.constexpr):
    order: tl.constexpr = _first(len(whole.shape), dim)
    return tl.permute(tl.permute(whole, order)[start:start + length], order)


def _first(rank, dim):
    """The order of axes in which the first one and `dim` change places."""
    order = list(range(rank))
    order[0], order[dim] = dim, 0
    return order


@triton.jit
def _paste(whole, value, dim: tl.constexpr, start: tl.constexpr, length: tl.constexpr):
    """`whole` with `value` in place of `length` elements along an axis."""
    order: tl.constexpr = _first(len(whole.shape), dim)
    rows = tl.permute(whole, order)
    out = tl.permute(value, order)
    if start > 0:
        out = tl.cat(rows[:start], out)
    if start + length < whole.shape[dim]:
        out = tl.cat(out, rows[start + length:])
    return tl.permute(out, order)


@triton.jit
def _select(whole, index, shape):
    """The part at an index of the first axis, by `or` of its bits and zeros elsewhere."""
    if not hasattr(index, "value"):
        bits = _bits(whole)
        here = tl.where(_place(whole.shape, 0) == index, bits, tl.zeros_like(bits))
        part = tl.reduce_or(here, 0)
        if whole.dtype == tl.int1:
            return part != 0
        else:
            return part.to(whole.dtype, bitcast=True)
    else:
        return tl.reshape(whole[index.value:index.value + 1], shape)


@triton.jit
def _bits(x):
    if x.dtype == tl.int1:
        return x.to(tl.int8)
    else:
        return x.to(tl._get_int_dtype(x.dtype.primitive_bitwidth, True), bitcast=True)
