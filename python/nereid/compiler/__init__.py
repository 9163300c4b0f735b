"""From a jit function and kinds of arguments to a kernel that is loaded."""

from __future__ import annotations

import operator

from nereid import _nereid
from nereid.errors import KERNEL, USAGE, CompilationError, InvalidOption, OutOfResources
from nereid.runtime import driver
from nereid.runtime.source import Names, function_of, source_of

_TUNED = dict(_nereid.tuned_options())  # of configurations, with their defaults; 0: none
_DEFAULTS = {name: value for name, value in _TUNED.items() if value}
# Options of Triton's that mean nothing to this compiler, whatever their value.
# Libraries of extern functions are LLVM's; those of libdevice are the compiler's own.
_IGNORED = frozenset(("debug", "instrumentation_mode", "arch", "warp_size", "extern_libs"))
# Formats of AMD's GPUs.
_OTHER_FP8 = ("fp8e4b8", "fp8e5b16")
_MOST_WARPS = 32  # of a program, on every GPU
_LAUNCH_FLAGS = {"launch_pdl": 1, "launch_cooperative_grid": 2}


def _options() -> list[str]:
    """The names of all options that a launch takes."""
    others = ("enable_fp_fusion", "enable_reflect_ftz", "sanitize_overflow", "no_tensor_maps")
    return [*_TUNED, *others, *_LAUNCH_FLAGS, *_IGNORED]


def _nearest(name: str, parameters: list[str]) -> str:
    """"; did you mean `BLOCK`?", or nothing."""
    import difflib

    upper = {known.upper(): known for known in [*_options(), *parameters]}
    found = difflib.get_close_matches(name.upper(), upper, 1)
    return f"; did you mean `{upper[found[0]]}`?" if found else ""


def unknown_arguments(options: dict, parameters: list[str]) -> str:
    """What to say of keyword arguments of a call that are neither parameters nor options."""
    unknown = [name for name in options if name not in _options()]
    return "".join(f"; there is no parameter or option `{name}`{_nearest(name, parameters)}"
                   for name in unknown)


def _take_options(fn, options: dict) -> tuple[dict, int]:
    """The compiler's options, and the flags of launches."""
    from nereid import knobs

    taken, flags = {}, 0
    for name, value in options.items():
        if name in _TUNED:
            if name == "num_warps" and type(value) is int and value > _MOST_WARPS:
                raise OutOfResources(32 * value, 32 * _MOST_WARPS, "threads", kernel=fn.__name__)
            if type(value) is int and (why := _nereid.refusal(name, value)):
                raise InvalidOption(why, USAGE, kernel=fn.__name__)
            if value is not None:
                taken[name] = value
        elif name == "enable_fp_fusion":
            taken["no_fp_fusion"] = int(not value)
        elif name == "enable_reflect_ftz":
            taken |= {} if value else {"denormals": 1}
        elif name == "sanitize_overflow":
            taken["allow_overflow"] = int(not value)
        elif name == "no_tensor_maps":
            taken[name] = int(bool(value))
        elif name in _LAUNCH_FLAGS:
            flags |= _LAUNCH_FLAGS[name] if value else 0
        elif name not in _IGNORED:
            raise KeyError(f"Keyword argument {name} was specified but unrecognised: "
                           f"`{fn.__name__}` has no such parameter, and there is no such option"
                           f"{_nearest(name, fn.arg_names)}")
    if options.get("debug", fn.debug) or knobs.runtime.debug:
        taken["debug"] = 1
    else:
        taken.pop("allow_overflow", None)
    if knobs.language.fp32_default:
        taken["dot_precision"] = knobs.language.fp32_default
    return taken, flags


def check_params(fn) -> None:
    """Refuses a parameter that is told to be two things."""
    for p in fn.params:
        if p.is_constexpr and p.do_not_specialize:
            raise CompilationError(f"{p.name} marked as constexpr and listed in do_not_specialize",
                                   KERNEL, kernel=fn.__name__)


def _constant(names: Names, name: str, value) -> str:
    """A constant as the text of an argument."""
    if value is None or type(value) in (bool, int):
        return repr(value)
    return "()" if isinstance(value, tuple) and not value else names.bind(name, value)


class Specialization:
    """What the function `repr` of a kernel names it by: {name: type} and {name: constant}."""

    def __init__(self, described: list):
        types = [(name, type_ or "constexpr") for name, type_, _ in described if type_ != "class"]
        ones = {name: 1 for name, type_ in types if type_.endswith(":1")}
        self.signature = {name: type_.split(":")[0] for name, type_ in types}
        self.constants = ones | {name: v for name, type_, v in described if type_ is None}
        self.attrs = {name: "tt.divisibility" for name, type_ in types if type_.endswith(":16")}


def _symbol(fn, described: list) -> str | None:
    """The kernel's name in the code, as its option `repr` says; None: that of the function."""
    if fn._repr is None:
        return None
    return "".join(c if c.isalnum() else "_" for c in fn.repr(Specialization(described)))


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

    def keep(self, stage: str, text) -> None:
        """Takes the text of a stage, which need not be made then."""
        self._texts[stage] = text

    def __contains__(self, stage) -> bool:
        return stage in self.KINDS or stage in self.ALIASES

    def __iter__(self):
        return iter(self.KINDS)

    def keys(self):
        return self.KINDS

    def get(self, stage, default=None):
        return self[stage] if stage in self else default


def _number_of(stream) -> int | None:
    """The address of a stream; None: the current one."""
    return stream if stream is None else operator.index(getattr(stream, "cuda_stream", stream))


class CompiledKernel:
    """A kernel for one kind of arguments, loaded on a device."""

    def __init__(self, fn, image, kernel, metadata: Metadata, emit):
        self.fn, self.image, self.kernel, self.metadata = fn, image, kernel, metadata
        self.asm = Stages(emit)
        self.name = metadata.name
        self.hash = metadata.hash

    @property
    def src(self):
        """The function, with the types of its arguments, as what compile() takes."""
        if "_src" not in self.__dict__:
            from nereid.compiler.source import ASTSource

            self._src = ASTSource(self.fn, {name: type_ for name, type_, _ in self.image.params})
        return self._src

    @src.setter
    def src(self, source):
        self._src = source

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
        return 32 * min(self.metadata.num_warps * self.metadata.num_ctas, _MOST_WARPS)

    @property
    def shared(self) -> int:
        return self.metadata.shared

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name}, {self.metadata.target})"

    # ---- launches without the function, as TorchInductor makes them ----

    def _init_handles(self) -> None:
        """Loads the kernel."""
        assert self.kernel is not None

    @property
    def function(self):
        return self.kernel

    @property
    def packed_metadata(self) -> Metadata:
        return self.metadata

    def _options(self) -> dict:
        """What it was compiled with, except parameters of the kernel that have such names."""
        names = {*_TUNED, *_LAUNCH_FLAGS} - set(self.fn.arg_names)
        values = {k: getattr(self.metadata, k, None) for k in sorted(names)}
        return {k: v for k, v in values.items() if v not in (None, False)}

    def launch_metadata(self, grid, stream, *args):
        """What hooks of launches get."""
        from nereid.knobs import _metadata

        return _metadata(self, grid, stream, dict(zip(self.fn.arg_names, args)))

    def run(self, grid_0, grid_1, grid_2, stream, function, metadata, launch_metadata, enter_hook,
            exit_hook, *args):
        """Launches the function on all its arguments, on the stream (its address, or PyTorch's
        object; None: the current one); the hooks of nereid.knobs are called as for any launch."""
        return self.fn._launch((grid_0, grid_1, grid_2), args, self._options(), _number_of(stream))

    def __getitem__(self, grid):
        def launch(*args, stream=None):
            return self.fn._launch(grid, args, self._options(), _number_of(stream))

        return launch


class Plan:
    """The compilation of a jit function for one kind of arguments: [(name, type or None,
    constant)], on the device of the tensors among them (DLPack's type and index; type 0: there are
    none)."""

    def __init__(self, fn, device_type: int, index: int, described: list, options: dict,
                 source=None):
        self.fn, self.name = fn, fn.__name__
        check_params(fn)
        for name, type_, _ in described:
            if type_ and type_.partition(":")[0].lstrip("*") in _OTHER_FP8:
                raise CompilationError(f"parameter {name}: type {type_.partition(':')[0]} not "
                                       "supported in this architecture. The supported fp8 dtypes "
                                       "are fp8e5, fp8e4nv and fp8e4b15", KERNEL,
                                       kernel=fn.__name__)
        self.source = source or source_of(fn)  # that of another plan for `fn` saves looking for it
        self.options, self.flags = _take_options(fn, options)
        self.device = fn._device(device_type, index)
        self.device_type, self.index, self.described = device_type, index, described
        self.given = options
        self._names = Names(fn)
        self._order: dict = {}
        args = []
        for name, type_, value in described:
            if type_ == "class":
                args.append((name, None, "class:" + self._names.bind(name, value)[len("name:"):]))
            elif type_ is not None:
                self._order[name] = len(self._order)
                args.append((name, type_, None))
            else:
                args.append((name, None, _constant(self._names, name, value)))
        self.signature = ", ".join(type_ for _, type_, _ in args if type_)
        self._request = ((*self.source, fn), function_of(fn).__code__.co_name, args)
        self._common = {"options": self.options, "lookup": self._names.lookup,
                        "symbol": _symbol(fn, described)}

    def key(self) -> bytes:
        """The key of what the kernel computes, found before it is compiled."""
        return _nereid.request_key(*self._request, device=self.device, **self._common)

    def compile(self) -> "_nereid.Image":
        return _nereid.compile(*self._request, device=self.device, **self._common)

    def finish(self, image, kernel) -> "_nereid.Specialization":
        """The image, loaded as `kernel`, for calls."""
        variant = image.variants[0]
        options = {k: self.options.get(k, v) for k, v in _DEFAULTS.items()}
        metadata = Metadata(name=variant["entry"], shared=variant["shared_bytes"],
                            target=variant["target"] or self.device.info()["name"],
                            maxnreg=self.options.get("maxnreg"),
                            hash=image.key, **options)
        target = variant["target"] or None

        def emit(kind):
            return _nereid.emit(*self._request, kind=kind, target=target, **self._common)

        compiled = CompiledKernel(self.fn, image, kernel, metadata, emit)
        compiled.request = (self._request, self._common, self.device)  # of nereid.runtime.estimate
        leaves = [(self._order[name], written) for name, _, written in image.params]
        return _nereid.Specialization(kernel, compiled, leaves, tuple(self._names.used), self.flags)


class JitFunctionInfo:
    """The function that hooks are told about."""

    def __init__(self, module: str, name: str, jit_function):
        self.module, self.name, self.jit_function = module, name, jit_function


def _hook_arguments(fn, plan: Plan, index: int, described: list, is_warmup: bool) -> dict:
    """What jit_cache_hook and jit_post_compile_hook get, by Triton's names."""
    from nereid.compiler.preload import text_of

    place = {name: i for i, name in enumerate(fn.arg_names)}
    options = {**_DEFAULTS, **plan.options}
    chosen = {k: options[k] for k in _DEFAULTS}
    chosen["enable_fp_fusion"] = not options.get("no_fp_fusion", 0)
    chosen["launch_cooperative_grid"] = bool(plan.flags & _LAUNCH_FLAGS["launch_cooperative_grid"])
    types = {name: "constexpr" if type_ is None else type_.partition(":")[0]
             for name, type_, _ in described}
    listed = ", ".join(f"{name}: {type_}" for name, type_ in types.items())
    repr = f"{fn.__qualname__}[{', '.join(f'{k}={v}' for k, v in chosen.items())}]({listed})"
    path = {name: (place[name.split(".")[0]], *map(int, filter(str.isdigit, name.split(".")[1:])))
            for name in types}
    compiled = {
        "key": repr, "signature": types, "device": index,
        "constants": {path[n]: v for n, type_, v in described if type_ is None}, **chosen,
        "extern_libs": (), "specialization_data": text_of(plan) or repr, "is_warmup": is_warmup,
        "configs": [{path[n]: [["tt.divisibility", 16]] for n, type_, _ in described
                     if type_ and type_.endswith(":16")}],
    }
    return {"key": repr, "repr": repr, "fn": JitFunctionInfo(fn.__module__, fn.__qualname__, fn),
            "compile": compiled, "is_manual_warmup": is_warmup, "already_compiled": False}


def before_compile(plan: Plan, is_warmup: bool = False) -> dict | None:
    """Calls jit_cache_hook, and gives what after_compile() takes; None: it wants no kernel."""
    from nereid import knobs

    before, after = knobs.runtime.jit_cache_hook, knobs.runtime.jit_post_compile_hook
    if not before and not after:
        return {}
    about = _hook_arguments(plan.fn, plan, plan.index, plan.described, is_warmup)
    return None if before and before(**about) else about


def after_compile(about: dict) -> None:
    """Calls jit_post_compile_hook."""
    from nereid import knobs

    if about and knobs.runtime.jit_post_compile_hook:
        knobs.runtime.jit_post_compile_hook(**about)


def specialize(fn, device_type: int, index: int, described: list, bound: dict, options: dict,
               is_warmup: bool = False):
    """The kernel `fn` for arguments of this kind, ready for calls; None: a hook wants none."""
    plan = Plan(fn, device_type, index, described, options)
    about = before_compile(plan, is_warmup)
    if about is None:
        return None
    made = load_plan(plan)
    after_compile(about)
    return made


def load_plan(plan: Plan) -> "_nereid.Specialization":
    """Compiles the kernel, and loads it between its hooks."""
    from nereid import knobs

    image = plan.compile()
    about_load = image.variants[0]["entry"], {}, image.key
    knobs.runtime.kernel_load_start_hook(None, None, *about_load)
    kernel = plan.device.load(image)
    knobs.runtime.kernel_load_end_hook(kernel, kernel, *about_load)
    return plan.finish(image, kernel)
