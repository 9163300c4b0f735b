"""Kernels on interpreters: jit(interpret=True), NEREID_INTERPRET=1, and nereid.check().

The device `interp` evaluates a kernel element by element and looks at each access: one outside of
the tensor that its pointer came from, a race between programs, a failed device_assert, a deadlock
raise nereid.InterpreterError with the kernel's line.  `nest` does the same for the loop nests that
code for GPUs is printed from.
"""

from __future__ import annotations

import copy
import struct
import sys

from nereid import _nereid
from nereid.errors import FINDINGS, InterpreterError
from nereid.runtime import arguments, driver
from nereid.runtime.jit import JITFunction, KernelInterface, TensorWrapper

# ---- arguments that are elsewhere ----


def _is_descriptor(value) -> bool:
    return hasattr(value, "block_shape") and hasattr(value, "base")


class Moved:
    """The tensors of a call as tensors in other memory.  `move` gives that of a tensor; tuples and
    descriptors of them are made anew, the rest stays."""

    def of(self, value):
        if isinstance(value, tuple):
            items = [self.of(v) for v in value]
            if all(a is b for a, b in zip(items, value)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if _is_descriptor(value):
            base = self.of(value.base)
            if base is value.base:
                return value
            out = copy.copy(value)
            object.__setattr__(out, "base", base)
            return out
        return self.move(value)

    def move(self, value):
        raise NotImplementedError


class OnHost(Moved):
    """Tensors of a GPU as tensors of the host.  A storage is copied once, whole, so that views
    stay views of one memory."""

    def __init__(self):
        self._storages: dict = {}

    def move(self, value):
        if isinstance(value, TensorWrapper):
            base = self.move(value.base)
            return value if base is value.base else TensorWrapper(base, value.dtype)
        torch = sys.modules.get("torch")
        if torch is None or getattr(value, "is_cuda", False) is not True:
            if hasattr(value, "__cuda_array_interface__"):
                raise TypeError(f"a {type(value).__module__}.{type(value).__qualname__} can't be "
                                "interpreted: pass a tensor of PyTorch, or an array of the host")
            return value
        storage = value.untyped_storage()
        if storage.data_ptr() not in self._storages:
            self._storages[storage.data_ptr()] = storage, storage.cpu()
        host = torch.empty(0, dtype=value.dtype)
        return host.set_(self._storages[storage.data_ptr()][1], value.storage_offset(),
                         value.size(), value.stride())

    def write_back(self) -> None:
        for storage, host in self._storages.values():
            storage.copy_(host)

    def __bool__(self) -> bool:
        return bool(self._storages)


# ---- interpreted functions ----


class InterpretedFunction(JITFunction):
    """A jit function whose launches run on an interpreter, wherever its tensors are."""

    __getitem__ = KernelInterface.__getitem__
    interpret = True
    device_name = "interp"

    def _device(self, device_type: int, index: int):
        return driver.device(self.device_name)

    def run(self, *args, grid, warmup=False, **kwargs):
        host = OnHost()
        moved = tuple(map(host.of, args))
        named = {k: host.of(v) for k, v in kwargs.items()}
        if host and callable(grid):
            grid = _with_originals(grid, {**dict(zip(self.arg_names, args)), **kwargs})
        try:
            return self._launch(None if warmup else grid, moved, named)
        finally:
            if host and not warmup:
                host.write_back()


def _with_originals(grid, given: dict):
    return lambda meta: grid({**meta, **{k: v for k, v in given.items() if k in meta}})


def on_interpreter(kernel, device_name: str):
    """A kernel, autotuned or not, as one that runs on this interpreter."""
    if isinstance(kernel, JITFunction):
        out = InterpretedFunction(
            kernel.fn, version=kernel.version, do_not_specialize=kernel.do_not_specialize,
            do_not_specialize_on_alignment=kernel.do_not_specialize_on_alignment,
            debug=kernel.debug, noinline=kernel.noinline, repr=kernel._repr,
            launch_metadata=kernel.launch_metadata)
        out.device_name = device_name
        return out
    if not isinstance(kernel, KernelInterface) or not hasattr(kernel, "fn"):
        raise TypeError(f"check takes a kernel made by jit, not a {type(kernel).__name__}")
    out = copy.copy(kernel)
    out.fn = on_interpreter(kernel.fn, device_name)
    if hasattr(out, "cache"):
        out.cache = {}
    return out


# ---- copies for checking ----


class Copied:
    """A tensor in memory of an interpreter; arguments.describe() reads _nereid_described."""

    def __init__(self, address: int, extent: tuple, dtype: tuple, shape, strides):
        self._nereid_described = address, extent, (arguments.CPU, 0), dtype
        self.shape, self.strides = shape, strides

    def data_ptr(self) -> int:
        return self._nereid_described[0]

    def stride(self, axis=None):
        return self.strides if axis is None else self.strides[axis]

    def size(self, axis=None):
        return self.shape if axis is None else self.shape[axis]

    def numel(self) -> int:
        n = 1
        for extent in self.shape:
            n *= extent
        return n


class Block:
    """Bytes of the caller's that tensors of a call overlap in, and their copy on a device, which
    has the same alignment."""

    ALIGNMENT = 256

    def __init__(self, lo: int, hi: int):
        self.lo, self.hi = lo, hi
        self.memory = None

    def copy_to(self, device, written: bool) -> None:
        self._skip = self.lo % self.ALIGNMENT
        self.memory = _nereid.Memory(device, self.hi - self.lo + self._skip)
        if written and self.hi > self.lo:
            self.memory.write(self._skip, self.lo, self.hi - self.lo)

    def moved(self, address: int) -> int:
        return address - self.lo + self._skip + self.memory.address

    def bytes_of(self, lo: int, hi: int) -> bytes:
        start = lo - self.lo + self._skip
        return self.memory.read(start, hi - lo)


def _blocks(ranges: list) -> list:
    out: list = []
    for lo, hi in sorted(ranges):
        if out and lo < out[-1].hi:
            out[-1].hi = max(out[-1].hi, hi)
        else:
            out.append(Block(lo, hi))
    return out


def _walk(name: str, value):
    """(name, tensor) of each tensor in an argument."""
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from _walk(f"{name}.{i}", item)
    elif _is_descriptor(value):
        yield from _walk(name, value.base)
    elif arguments.describe(value) is not None:
        yield name, value


class OnDevice(Moved):
    """The host tensors of a call in memory of a device."""

    def __init__(self, device, given: dict, unwritten):
        self.tensors = [t for name, value in given.items() for t in _walk(name, value)]
        described = [arguments.describe(t) for _, t in self.tensors]
        ranges = [(a + lo, a + hi) for a, (lo, hi), *_ in described]
        self._blocks = _blocks([(lo, hi) for lo, hi in ranges if lo < hi])
        fresh = [r for (name, _), r in zip(self.tensors, ranges)
                 if name.split(".")[0] in unwritten]
        for block in self._blocks:
            block.copy_to(device, not any(lo <= block.lo and block.hi <= hi for lo, hi in fresh))

    def _block(self, lo: int, hi: int) -> "Block | None":
        return next((b for b in self._blocks if b.lo <= lo and hi <= b.hi), None)

    def move(self, value):
        described = arguments.describe(value)
        if described is None:
            return value
        address, (lo, hi), _, dtype, *_ = described
        block = self._block(address + lo, address + hi) if lo < hi else None
        at = block.moved(address) if block else address
        strides = getattr(value, "strides", None)
        strides = value.stride() if strides is None and hasattr(value, "stride") else strides
        return Copied(at, (lo, hi), dtype, getattr(value, "shape", ()), strides)

    def contents(self) -> dict:
        """The bytes of each tensor by its name, with its elements' type."""
        out = {}
        for name, tensor in self.tensors:
            address, (lo, hi), _, dtype, *_ = arguments.describe(tensor)
            block = self._block(address + lo, address + hi) if lo < hi else None
            out[name] = block.bytes_of(address + lo, address + hi) if block else b"", dtype
        return out


# ---- comparing ----

_FORMATS = {(arguments.FLOAT, 16): "e", (arguments.FLOAT, 32): "f", (arguments.FLOAT, 64): "d",
            (arguments.INT, 8): "b", (arguments.INT, 16): "h", (arguments.INT, 32): "i",
            (arguments.INT, 64): "q", (arguments.UINT, 8): "B", (arguments.UINT, 16): "H",
            (arguments.UINT, 32): "I", (arguments.UINT, 64): "Q", (arguments.BOOL, 8): "B"}
# The tolerance for results of floats whose sums have no order.
_TOLERANCES = {"e": 1e-2, "f": 1e-4, "d": 1e-9}


def _elements(data: bytes, dtype: tuple) -> tuple[list, float]:
    """The numbers, and the tolerance that they are compared by."""
    if dtype == (arguments.BFLOAT, 16):
        halves = struct.unpack(f"<{len(data) // 2}H", data)
        return list(struct.unpack(f"<{len(halves)}f", b"".join(struct.pack("<HH", 0, h)
                                                               for h in halves))), 3e-2
    code = _FORMATS.get(dtype, "B")
    size = struct.calcsize(code)
    return (list(struct.unpack(f"<{len(data) // size}{code}", data)),
            _TOLERANCES.get(code, 0.0))


def _differs(a, b, rtol: float, atol: float) -> bool:
    if a == b or (a != a and b != b):
        return False
    return not abs(a - b) <= atol + rtol * max(abs(a), abs(b))


def _compare(name: str, ours: tuple, theirs: tuple, rtol, atol) -> str | None:
    """The first difference of a tensor's contents, as text; None: there is none."""
    if ours[0] == theirs[0]:
        return None
    a, tolerance = _elements(*ours)
    b, _ = _elements(*theirs)
    rtol = tolerance if rtol is None else rtol
    atol = tolerance if atol is None else atol
    wrong = [i for i in range(len(a)) if _differs(a[i], b[i], rtol, atol)]
    if not wrong:
        return None
    i = wrong[0]
    return (f"`{name}` differs between interp and nest in {len(wrong)} of {len(a)} elements: the "
            f"first is number {i} in memory, {a[i]} and {b[i]}")


# ---- nereid.check ----


class Report:
    """The result of nereid.check(): `remarks` are texts about what is correct but seldom meant,
    such as an element that several programs store; `written` are the names of the arguments whose
    memory has changed."""

    def __init__(self, remarks: list, written: list):
        self.remarks, self.written = remarks, written

    def __repr__(self) -> str:
        return f"Report(remarks={self.remarks!r}, written={self.written!r})"


def check(kernel, *args, grid, unwritten=(), rtol=None, atol=None, **kwargs) -> Report:
    """Runs kernel[grid](*args, **kwargs) on copies of its tensors, on both interpreters, and
    compares the results; the caller's tensors stay as they are.

    The first thing that is found raises InterpreterError: an access outside of a tensor, a race, a
    read of memory that nothing wrote, a failed device_assert, a deadlock, results of the two that
    differ by more than `rtol` times their size plus `atol`, whose defaults depend on the dtype.
    Arguments named in `unwritten` count as memory that has no contents before the kernel, as
    outputs do; else all tensors have contents."""
    checked = {name: on_interpreter(kernel, name) for name in ("interp", "nest")}
    unwritten = (unwritten,) if isinstance(unwritten, str) else tuple(unwritten)
    host = OnHost()
    args = tuple(map(host.of, args))
    kwargs = {k: host.of(v) for k, v in kwargs.items()}
    given = {**dict(zip(kernel.arg_names, args)), **kwargs}
    for name in unwritten:
        if name not in given:
            raise TypeError(f"unwritten: the call has no argument `{name}`")
    results, remarks = [], []
    for name, function in checked.items():
        device = driver.device(name)
        device.take_messages()
        there = OnDevice(device, given, unwritten)
        function.run(*map(there.of, args), grid=grid,
                     **{k: there.of(v) for k, v in kwargs.items()})
        messages = [m.rstrip("\n") for m in device.take_messages()]
        remarks = remarks or messages  # nest's are the same, met in another order
        results.append(there.contents())
    for name in results[0]:
        found = _compare(name, results[0][name], results[1][name], rtol, atol)
        if found:
            raise InterpreterError(found, FINDINGS)
    return Report(remarks, _changed(given, results[0]))


def _changed(given: dict, contents: dict) -> list:
    import ctypes

    out = []
    for name, tensor in (t for n, value in given.items() for t in _walk(n, value)):
        address, (lo, hi), *_ = arguments.describe(tensor)
        if contents[name][0] != (ctypes.string_at(address + lo, hi - lo) if lo < hi else b""):
            out.append(name)
    return out
