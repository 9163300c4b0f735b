"""@jit: functions as kernels, which compile when they are called with arguments of a new kind."""

from __future__ import annotations

import functools

from nereid import _nereid
from nereid.errors import NereidError
from nereid.runtime import driver
from nereid.runtime.source import lines_of, same_constant, source_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Flags of parameters, as python/extension/call.h has them.
_CONSTEXPR, _GENERIC, _UNALIGNED, _HAS_DEFAULT = 1, 2, 4, 8

# Names of scalar types, as the language and annotations have them, to those of arguments.
_SCALARS = {
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}
_TYPES = frozenset(_SCALARS.values()) | {"u1"}


class KernelParam:
    """A parameter of a jit function: its name, annotation, default, and what it is."""

    __slots__ = ("name", "num", "annotation", "default", "has_default", "is_constexpr", "is_const",
                 "do_not_specialize", "do_not_specialize_on_alignment", "annotation_type")

    def __init__(self, num: int, name: str, annotation, default, has_default: bool,
                 do_not_specialize: bool, do_not_specialize_on_alignment: bool,
                 names: dict | None = None):
        self.num, self.name = num, name
        self.annotation = _annotation_text(annotation, names or {})
        self.default, self.has_default = default, has_default
        self.is_constexpr = "constexpr" in self.annotation
        self.is_const = "const" in self.annotation and not self.is_constexpr
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment
        self.annotation_type = self.annotation if self.annotation in _TYPES else ""

    @property
    def flags(self) -> int:
        return ((_CONSTEXPR if self.is_constexpr else 0)
                | (_GENERIC if self.do_not_specialize else 0)
                | (_UNALIGNED if self.do_not_specialize_on_alignment else 0)
                | (_HAS_DEFAULT if self.has_default else 0))

    @property
    def declared(self) -> str | None:
        """The type that the annotation gives to a scalar argument; None: its value decides."""
        return "i1" if self.annotation_type == "u1" else self.annotation_type or None


def _annotation_text(annotation, names: dict) -> str:
    """An annotation as text: "constexpr", "i64", or what is written there.  `names` has the values
    of names in those that are kept as text."""
    if annotation is None:
        return ""
    if isinstance(annotation, str) and annotation.isidentifier():
        annotation = names.get(annotation, annotation)
    if isinstance(annotation, type):
        text = annotation.__name__
    else:
        text = getattr(annotation, "name", None) or str(annotation)
    text = text.strip().strip("'\"")
    for prefix in ("triton.language.", "nereid.language.", "tl."):
        text = text.removeprefix(prefix)
    return _SCALARS.get(text, text)


def _params(fn, generic, unaligned) -> list[KernelParam]:
    code = fn.__code__
    n = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:n]
    defaults = fn.__defaults__ or ()
    given = dict(zip(names[code.co_argcount - len(defaults):code.co_argcount], defaults))
    given |= fn.__kwdefaults__ or {}
    annotations = getattr(fn, "__annotations__", {})

    def chosen(which, i, name):
        return i in which or name in which

    return [KernelParam(i, name, annotations.get(name), given.get(name), name in given,
                        chosen(generic, i, name), chosen(unaligned, i, name), fn.__globals__)
            for i, name in enumerate(names)]


class KernelInterface:
    """What can be called as kernel[grid](arguments): jit functions, autotuners, heuristics."""

    def __getitem__(self, grid):
        return functools.partial(self.run, grid=grid, warmup=False)

    def warmup(self, *args, grid, **kwargs):
        """Compiles for these arguments, dtypes and MockTensors among them; launches nothing."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)


class JITFunction(_nereid.Dispatcher, KernelInterface):
    """A function in the kernel language.  kernel[grid](arguments) compiles it for the kinds of its
    arguments, once each, and launches it where they are."""

    interpret = False
    used_global_vals: "dict | None" = {}  # TorchInductor takes them out before it pickles
    # C's own, which is quicker than KernelInterface's.
    __getitem__ = _nereid.Dispatcher.__getitem__

    def __init__(self, fn, version=None, do_not_specialize=None,
                 do_not_specialize_on_alignment=None, debug=None, noinline=None, repr=None,
                 launch_metadata=None):
        self.fn = fn
        self._lines = lines_of(fn)  # as they are now, whatever becomes of the file
        self.version, self.debug, self.noinline = version, debug, noinline
        self.launch_metadata = launch_metadata
        self.do_not_specialize = tuple(do_not_specialize or ())
        self.do_not_specialize_on_alignment = tuple(do_not_specialize_on_alignment or ())
        self.params = _params(fn, self.do_not_specialize, self.do_not_specialize_on_alignment)
        self.pre_run_hooks: list = []
        self._repr = repr
        self._text: str | None = None  # in place of the file's
        for name in ("__name__", "__qualname__", "__doc__", "__module__", "__globals__"):
            setattr(self, name, getattr(fn, name))
        self.__wrapped__ = fn
        super().__init__(tuple(self.arg_names), bytes(p.flags for p in self.params),
                         tuple(p.declared for p in self.params),
                         tuple(p.default for p in self.params), self.pre_run_hooks)

    @property
    def arg_names(self) -> list[str]:
        return [p.name for p in self.params]

    @property
    def constexprs(self) -> list[int]:
        return [p.num for p in self.params if p.is_constexpr]

    @property
    def src(self) -> str:
        """The function's text, from its `def` on."""
        return source_of(self)[1]

    def _unsafe_update_src(self, text: str) -> None:
        """Gives the function another text, before its first launch."""
        self._text = text

    @property
    def cache_key(self) -> str:
        """A hash of the text of the function, of those that it calls, and of the constants of their
        modules."""
        import hashlib

        return hashlib.sha256("\n".join(_texts_below(self, {})).encode()).hexdigest()

    @property
    def device_caches(self) -> "_DeviceCaches":
        """By device the compiled kernels: device_caches[0][0].clear() forgets them."""
        return _DeviceCaches(self)

    def repr(self, specialization=None) -> str:
        return self._repr(specialization) if self._repr else self.__name__

    def add_pre_run_hook(self, hook) -> None:
        """`hook` is called with the arguments of each launch, before it."""
        if not callable(hook):
            raise TypeError("a hook must be callable")
        self.pre_run_hooks.append(hook)

    def run(self, *args, grid, warmup=False, **kwargs):
        """Launches the kernel, unless `warmup`; gives the CompiledKernel."""
        return self._launch(None if warmup else grid, args, kwargs)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles for these arguments, dtypes and MockTensors among them; launches nothing."""
        return self._launch(None, tuple(map(MockTensor.wrap_dtype, args)),
                            {k: MockTensor.wrap_dtype(v) for k, v in kwargs.items()})

    def estimate(self, *args, grid, target=None, **kwargs):
        """How long a launch on these arguments will take, as the cost model expects it: on the
        device that would run it, or on a GPU by its target, "sm_90a"."""
        from nereid.runtime.estimate import estimate

        return estimate(self, args, kwargs, grid, target)

    def preload(self, specialization_data: str):
        """Compiles for the kind of arguments that knobs.runtime.jit_cache_hook was told of, in this
        process or another; gives the CompiledKernel."""
        from nereid.compiler.preload import preload

        return preload(self, specialization_data)

    def _device(self, device_type: int, index: int) -> "_nereid.Device":
        """The device that runs a launch on such tensors."""
        return driver.device_of_launch(device_type, index)

    def _specialize(self, device_type: int, index: int, described: list, bound: dict, options,
                    is_warmup: bool = False):
        """Called for arguments of a new kind: the compiled kernel for them."""
        from nereid.compiler import specialize

        try:
            return specialize(self, device_type, index, described, bound, options or {}, is_warmup)
        except NereidError as error:  # the frames between here and there tell a user nothing
            raise error.with_traceback(None) from error.__cause__

    def _global_changed(self, name: str, old, new) -> bool:
        """Called where a name has another value than a kernel was compiled for.  True: the kernel
        is compiled anew, as where a cell of a notebook defines a function again, or a list got
        another item."""
        if same_constant(old, new):
            return False
        changeable = isinstance(old, (list, dict, set)) or callable(old)
        if changeable and type(old).__name__ != "constexpr":
            return True
        raise RuntimeError(f"Global variable {name} has changed since we compiled this kernel: "
                           f"from {old!r} to {new!r}; pass it as an argument instead")

    def __call__(self, *args, **kwargs) -> Any:
        raise RuntimeError(f"`{self.__name__}` is a kernel and can't be called directly: launch it "
                           f"as {self.__name__}[grid](...), or call it in another kernel")

    def __repr__(self) -> str:
        return f"JITFunction({self.__module__}:{self.__qualname__})"

    def __reduce__(self):
        if self.fn is None:  # TorchInductor has taken the function out, to pickle the rest
            return FunctionWithoutCode, (_facts(self),)
        return _found, (self.__module__, self.__qualname__)


def _texts_below(function, known: dict) -> list[str]:
    """The texts of a jit function and of all that it names."""
    known[id(function)] = function
    texts = [function.src]
    for name in sorted(set(function.fn.__code__.co_names)):
        value = function.__globals__.get(name)
        if isinstance(value, JITFunction) and id(value) not in known:
            texts += _texts_below(value, known)
        elif isinstance(value, (bool, int, float, str, tuple)) or hasattr(value, "value"):
            texts.append(f"{name} = {getattr(value, 'value', value)!r}")
    return texts


class _KernelCache:
    """The compiled kernels of a jit function, of all devices."""

    def __init__(self, function: JITFunction):
        self._function = function

    def __len__(self) -> int:
        return len(self._function._specializations)

    def clear(self) -> None:
        self._function._forget()


class _DeviceCaches:
    """What `device_caches` is: by device a tuple that begins with the cache of kernels."""

    def __init__(self, function: JITFunction):
        self._cache = _KernelCache(function)

    def __getitem__(self, device) -> tuple:
        return (self._cache,)

    def clear(self) -> None:
        self._cache.clear()


def _facts(fn) -> dict:
    names = ("__name__", "arg_names", "params", "constexprs", "repr", "src")
    return {name: getattr(fn, name) for name in names}


class FunctionWithoutCode(KernelInterface):
    """What is known of a jit function that was compiled in another process: it can't be compiled
    here."""

    fn = used_global_vals = None

    def __init__(self, facts: dict):
        self.__dict__.update(facts)

    def __reduce__(self):
        return FunctionWithoutCode, (_facts(self),)


def _found(module: str, qualname: str):
    """The jit function of that name, for those who unpickle it."""
    import importlib

    value = importlib.import_module(module)
    for name in qualname.split("."):
        value = getattr(value, name)
    return value


class MockTensor:
    """A tensor that is no memory, for warmup(): its dtype, shape and a well aligned address."""

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    @staticmethod
    def wrap_dtype(value):
        kind = type(value)
        is_dtype = kind.__name__ == "dtype" and kind.__module__.split(".")[0] == "torch"
        return MockTensor(value) if is_dtype else value

    def stride(self):
        strides, n = [], 1
        for extent in reversed(self.shape):
            strides.append(n)
            n *= extent
        return tuple(reversed(strides))

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0


class TensorWrapper:
    """A tensor whose elements count as another dtype of the same size."""

    def __init__(self, base, dtype):
        self.base, self.dtype = base, dtype
        self.data, self.device = base.data, base.device
        self.shape = base.shape
        self.is_cuda = getattr(base, "is_cuda", False)

    def data_ptr(self):
        return self.base.data_ptr()

    def stride(self, *args):
        return self.base.stride(*args)

    def element_size(self):
        return self.base.element_size()

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def copy_(self, other):
        self.base.copy_(other.base)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes):
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """`tensor` with its elements read as `dtype` of the language, without a copy."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None, interpret=None):
    """Makes a kernel of a function in Triton's language; also @jit(do_not_specialize=...).

    Nothing is compiled before the first launch.  Arguments are specialized on as Triton does:
    integers that are 1 or divisible by 16, addresses divisible by 16.  With `interpret`, or
    NEREID_INTERPRET=1 while this is called, launches run on an interpreter, which raises
    InterpreterError for accesses outside of tensors, races and failed device_asserts."""
    if fn is None:
        return functools.partial(jit, version=version, repr=repr, launch_metadata=launch_metadata,
                                 do_not_specialize=do_not_specialize,
                                 do_not_specialize_on_alignment=do_not_specialize_on_alignment,
                                 debug=debug, noinline=noinline, interpret=interpret)
    if not hasattr(fn, "__code__"):
        raise TypeError(f"jit takes a Python function, not a {type(fn).__name__}")
    kind = _kind_of_function(interpret)
    if _starred(fn):
        kind = _helper_kind(kind)
    return kind(fn, version=version, repr=repr, launch_metadata=launch_metadata,
                do_not_specialize=do_not_specialize,
                do_not_specialize_on_alignment=do_not_specialize_on_alignment, debug=debug,
                noinline=noinline)


class _Helper:
    """A jit function with *args or **kwargs, which other kernels call: it can't be launched."""

    def _refuse(self, *args, **kwargs):
        raise TypeError(f"`{self.__name__}` can't be launched: it has the parameter "
                        f"{_starred(self.fn)}; launch a kernel that calls it")

    __getitem__ = run = warmup = preload = _refuse


def _starred(fn) -> str:
    """The parameters *args and **kwargs as they are written; "" if there are none."""
    code = fn.__code__
    names = iter(code.co_varnames[code.co_argcount + code.co_kwonlyargcount:])
    stars = [(0x04, "*"), (0x08, "**")]
    return " and ".join(star + next(names) for flag, star in stars if code.co_flags & flag)


@functools.lru_cache(None)
def _helper_kind(kind: type) -> type:
    return type(kind.__name__, (_Helper, kind), {})


def _kind_of_function(interpret: "bool | None") -> type:
    if interpret is None:
        from nereid import knobs

        interpret = knobs.runtime.interpret
    if not interpret:
        return JITFunction
    from nereid.interpret import InterpretedFunction

    return InterpretedFunction
