"""Compiling without a launch: `compile(ASTSource(fn, signature, ...), target=...)`."""

from __future__ import annotations

import hashlib

from nereid import _nereid
from nereid.compiler import (_DEFAULTS, _LAUNCH_FLAGS, CompiledKernel, Metadata, _constant,
                             _take_options, check_params)
from nereid.language.types import constexpr
from nereid.runtime.source import Names, source_of

_ORDERED = 1  # nereid_alias
_SUFFIXED = (90, 100, 103, 120)  # targets whose own instructions are compiled for: sm_90a


class ASTSource:
    """A jit function and the kinds of its arguments: `signature` gives each parameter's type
    ("*fp32", "i32", "constexpr", a tuple of them), `constexprs` the values of constants, by name or
    by path of indices, `attrs` by path such facts as ["tt.divisibility", 16]."""

    ext = "ttir"

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        self.name = fn.__name__
        self.signature = dict(signature)
        self.constants = {self._path(k): v for k, v in (constexprs or {}).items()}
        self.attrs = attrs or {}

    def _path(self, key):
        return (self.fn.arg_names.index(key),) if isinstance(key, str) else tuple(key)

    def hash(self) -> str:
        """A text that differs between sources and between kinds of arguments."""
        parts = [source_of(self.fn)[1], self.signature, self.constants, self.attrs]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def described(self) -> list:
        """[(name, type or None, constant)] of the parameters, those of tuples one by one."""
        given = [(i, name) for i, name in enumerate(self.fn.arg_names)
                 if name in self.signature or (i,) in self.constants]
        return [part for i, name in given
                for part in self._parts(name, self.signature.get(name), (i,))]

    def _parts(self, name, type_, path):
        if isinstance(type_, (tuple, list)):
            for i, inner in enumerate(type_):
                yield from self._parts(f"{name}.{i}", inner, (*path, i))
        elif type_ in (None, "constexpr"):
            value = self.constants.get(path)
            if len(path) > 1:
                yield name, None, constexpr(value)
            elif self.fn.params[path[0]].is_constexpr:
                yield name, None, value
            else:  # an argument that is known, and not passed: 1, or None
                yield name, "none" if value is None else f"{value!r}:constexpr", None
        else:
            divisible = ["tt.divisibility", 16] in [list(fact) for fact in self.attrs.get(path, ())]
            yield name, f"{type_}:16" if divisible else type_, None


class UnloadedKernel(CompiledKernel):
    """A kernel that is loaded on a device when something asks for what only a device knows."""

    _code: bytes | None = None

    @property
    def kernel(self):
        if self._kernel is None:
            from nereid.runtime import driver

            self._kernel = driver.device_of_launch(0, 0).load(self.image)
        return self._kernel

    def machine_code(self) -> bytes:
        """Its code for the target that it was compiled for, as ptxas makes it."""
        if self._code is None:
            self._code = self.image.assemble().variants[0]["code"]
            self.asm.keep("cubin", self._code)
        return self._code

    @kernel.setter
    def kernel(self, kernel):
        self._kernel = kernel


def target_name(target) -> str | None:
    """The compiler's name of a GPUTarget: "sm_90a" of GPUTarget("cuda", 90, 32); None: that of the
    device of this process."""
    if target is None or isinstance(target, str):
        return target
    if target.backend == "cpu":
        return None
    if target.backend != "cuda":
        raise ValueError(f"kernels are compiled for \"cuda\" and \"cpu\", not for {target}")
    return f"sm_{target.arch}{'a' if target.arch in _SUFFIXED else ''}"


def compile(src: ASTSource, target=None, options=None, _env_vars=None) -> CompiledKernel:
    """The kernel of a source, compiled for a target (a GPUTarget, or a name such as "sm_90a";
    default: this process's device) and loaded nowhere.  Its code keeps the order of accesses
    through arguments that overlap, so that any launcher may start it."""
    fn = src.fn
    check_params(fn)
    taken, flags = _take_options(fn, dict(options or {}))
    taken["alias"] = _ORDERED
    names = Names(fn)
    args = [(name, type_, None if type_ else _constant(names, name, value))
            for name, type_, value in src.described()]
    request = ((*source_of(fn), fn), fn.__name__, args)
    common = {"options": taken, "lookup": names.lookup}
    name = target_name(target)
    if name is None:
        from nereid.runtime import driver

        image = _nereid.compile(*request, device=driver.device_of_launch(0, 0), **common)
    else:
        image = _nereid.compile(*request, target=name, kind=_nereid.KIND_ptx, **common)
    variant = image.variants[0]
    fields = {k: taken.get(k, v) for k, v in _DEFAULTS.items()}
    fields |= {name: True for name, flag in _LAUNCH_FLAGS.items() if flags & flag}
    metadata = Metadata(name=variant["entry"], shared=variant["shared_bytes"],
                        target=variant["target"], maxnreg=taken.get("maxnreg"),
                        hash=image.key, **fields)

    def emit(kind):
        return _nereid.emit(*request, kind=kind, target=variant["target"] or None, **common)

    out = UnloadedKernel(fn, image, None, metadata, emit)
    out.src = src
    return out
