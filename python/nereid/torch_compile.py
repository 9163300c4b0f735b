"""What `torch.compile` asks about a user's kernel: which of its arguments it writes.

PyTorch walks Triton's IR to find that out.  Nereid's compiler knows it, so that its answer takes
the place of that walk where nereid stands in for triton.
"""

from __future__ import annotations


def _type_of(value, descriptor) -> str | None:
    """The type of an argument that may be a stand-in for a tensor or a number; None: a constant."""
    if hasattr(value, "dtype") or hasattr(value, "get_dtype"):
        dtype = value.get_dtype() if hasattr(value, "get_dtype") else value.dtype
        name = str(dtype).rpartition(".")[2]
        if descriptor:
            return f"tensordesc<{name}{[int(extent) for extent in descriptor[-1][-1]]}>"
        return f"*{name}"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, float) or type(value).__name__ == "SymFloat":
        return "fp32"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    return None if isinstance(value, (str, tuple)) or callable(value) else "i64"


def written(kernel, kwargs: dict, descriptors: dict | None = None) -> list[str]:
    """The names of the arguments that a kernel writes; an autotuned one by its first
    configuration."""
    from nereid import _nereid
    from nereid.compiler import _constant
    from nereid.runtime.jit import JITFunction
    from nereid.runtime.source import Names, source_of

    values = dict(kwargs)
    while not isinstance(kernel, JITFunction):
        if getattr(kernel, "configs", None):
            values.update(kernel.configs[0].kwargs)
        for name, heuristic in getattr(kernel, "values", {}).items():
            values[name] = heuristic(values)
        kernel = kernel.fn
    names = Names(kernel)
    args = []
    for param in kernel.params:
        if param.name not in values:
            continue
        value = values[param.name]
        type_ = None
        if not param.is_constexpr:
            type_ = _type_of(value, (descriptors or {}).get(param.name))
        constant = None if type_ else _constant(names, param.name, value)
        args.append((param.name, type_, constant))
    image = _nereid.compile(
        (*source_of(kernel), kernel), kernel.__name__, args, target="sm_90a",
        kind=_nereid.KIND_ptx, lookup=names.lookup,
    )  # fmt: skip
    found = {name.partition(".")[0] for name, _, is_written in image.params if is_written}
    return [name for name in kwargs if name in found]


def _accesses(module, kernel, kwargs: dict, descriptors: dict | None):
    """The same for PyTorch from 2.15 on, which asks what is read, too: anything may be."""
    from torch._inductor.dependencies import ReadWrites, StarDep
    from torch.utils._ordered_set import OrderedSet

    writes = OrderedSet(StarDep(name) for name in written(kernel, kwargs, descriptors))
    tensors = OrderedSet(StarDep(name) for name, value in kwargs.items()
                         if hasattr(value, "dtype") or hasattr(value, "get_dtype"))
    return module.TensorAccesses(ReadWrites(reads=tensors, writes=writes, index_exprs=OrderedSet()),
                                 can_fuse_epilogue=False)


def patch(module) -> None:
    """Lets PyTorch ask `written`; where that fails, what it did before."""
    accesses = hasattr(module, "identify_accessed_tensors")
    name = "identify_accessed_tensors" if accesses else "identify_mutated_tensors"
    theirs = getattr(module, name)

    def identify(kernel, kwargs, tma_descriptor_metadata=None, *rest):
        try:
            if accesses:
                return _accesses(module, kernel, kwargs, tma_descriptor_metadata)
            return written(kernel, kwargs, tma_descriptor_metadata)
        except Exception:
            return theirs(kernel, kwargs, tma_descriptor_metadata, *rest)

    setattr(module, name, identify)
