"""From a jit function and kinds of arguments to a kernel that is loaded."""

from __future__ import annotations

from nereid import _nereid
from nereid.runtime import driver
from nereid.runtime.source import Names, source_of

_DEFAULTS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1}
# Options of Triton's that mean nothing to this compiler, whatever their value.
_IGNORED = frozenset(("debug", "sanitize_overflow", "instrumentation_mode", "arch", "warp_size"))
_LAUNCH_FLAGS = {"launch_pdl": 1, "launch_cooperative_grid": 2}


def _take_options(fn, options: dict) -> tuple[dict, int]:
    """The compiler's options, and the flags of launches."""
    taken, flags = {}, 0
    for name, value in options.items():
        if name in _DEFAULTS or name == "maxnreg":
            if value is not None:
                taken[name] = value
        elif name == "enable_fp_fusion":
            taken["no_fp_fusion"] = int(not value)
        elif name in _LAUNCH_FLAGS:
            flags |= _LAUNCH_FLAGS[name] if value else 0
        elif name not in _IGNORED:
            raise KeyError(f"Keyword argument {name} was specified but unrecognised: "
                           f"`{fn.__name__}` has no such parameter, and there is no such option")
    return taken, flags


def _constant(names: Names, name: str, value) -> str:
    """A constant as the text of an argument."""
    if value is None or type(value) in (bool, int):
        return repr(value)
    return names.bind(name, value)


class Metadata:
    """What a compiled kernel needs: its options, shared memory in bytes, symbol and target."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        return "Metadata(" + ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()) + ")"

    def _asdict(self) -> dict:
        return dict(self.__dict__)


class Stages:
    """The texts of a kernel by stage: "tile", "nest", "thread", "ptx", "cubin", "c"."""

    KINDS = ("tile", "nest", "thread", "ptx", "cubin", "c")
    # Names of stages that Triton's users know.
    ALIASES = {"ttir": "tile", "ttgir": "thread", "llir": "thread"}

    def __init__(self, emit):
        self._emit, self._texts = emit, {}

    def __getitem__(self, stage: str):
        stage = self.ALIASES.get(stage, stage)
        if stage not in self.KINDS:
            raise KeyError(stage)
        if stage not in self._texts:
            self._texts[stage] = self._emit(getattr(_nereid, "KIND_" + stage))
        return self._texts[stage]

    def __contains__(self, stage) -> bool:
        return stage in self.KINDS or stage in self.ALIASES

    def __iter__(self):
        return iter(self.KINDS)

    def keys(self):
        return self.KINDS

    def get(self, stage, default=None):
        return self[stage] if stage in self else default


class CompiledKernel:
    """A kernel for one kind of arguments, loaded on a device."""

    def __init__(self, fn, image, kernel, metadata: Metadata, emit):
        self.fn, self.image, self.kernel, self.metadata = fn, image, kernel, metadata
        self.asm = Stages(emit)
        self.name = metadata.name
        self.hash = metadata.hash
        self.src = fn

    @property
    def n_regs(self) -> int:
        """Registers of a thread."""
        return self.kernel.resources["registers"]

    @property
    def n_spills(self) -> int:
        """Words of 4 bytes a thread keeps in local memory."""
        return self.kernel.resources["spill_bytes"] // 4

    @property
    def n_max_threads(self) -> int:
        return self.metadata.num_warps * 32

    @property
    def shared(self) -> int:
        return self.metadata.shared

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name}, {self.metadata.target})"


def specialize(fn, device_type: int, index: int, described: list, bound: dict, options: dict):
    """The kernel `fn` for arguments of this kind: [(name, type or None, constant)], on the device
    of the tensors among them (DLPack's type and index; type 0: there are none)."""
    taken, flags = _take_options(fn, options)
    device = driver.device_of_launch(device_type, index)
    names = Names(fn)
    args, order = [], {}
    for name, type_, value in described:
        if type_ is not None:
            order[name] = len(order)
            args.append((name, type_, None))
        else:
            args.append((name, None, _constant(names, name, value)))
    request = ((*source_of(fn), fn), fn.__name__, args)
    common = {"options": taken, "lookup": names.lookup}
    image = _nereid.compile(*request, device=device, **common)
    kernel = device.load(image)
    leaves = [order[name] for name, *_ in image.params]
    variant = image.variants[0]
    numbers = {**_DEFAULTS, **{k: v for k, v in taken.items() if k in _DEFAULTS}}
    metadata = Metadata(name=variant["entry"], target=variant["target"] or device.info()["name"],
                        shared=variant["shared_bytes"], maxnreg=taken.get("maxnreg"),
                        hash=f"{hash(variant['code']) & (1 << 64) - 1:016x}", **numbers)

    def emit(kind):
        target = variant["target"] or None
        return _nereid.emit(*request, kind=kind, target=target, **common)

    compiled = CompiledKernel(fn, image, kernel, metadata, emit)
    return _nereid.Specialization(kernel, compiled, leaves, tuple(names.used), flags)
