"""Kernels as C sources, for programs without Python."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Mapping

from nereid import _nereid
from nereid.compiler import _constant, _take_options
from nereid.errors import TOOL, NereidError
from nereid.runtime.source import Names, function_of, source_of

_ORDERED, _DISJOINT = 1, 2  # nereid_alias


def _arguments(fn, names: Names, signature: Mapping[str, str],
               constants: Mapping[str, Any]) -> list:
    for name in (*signature, *constants):
        if name.split(".")[0] not in fn.arg_names:
            raise TypeError(f"{fn.__name__}() has no parameter {name!r}; its parameters are "
                            f"{', '.join(fn.arg_names)}")
    types = [(name, type_, None) for name, type_ in signature.items()]
    return types + [(name, None, _constant(names, name, value))
                    for name, value in constants.items()]


def build_kernel(fn, folder: str | os.PathLike, targets: str | None = None,
                 name: str | None = None, *, signature: Mapping[str, str],
                 constants: Mapping[str, Any] | None = None, disjoint: bool = False,
                 ptx_only: bool = False, **options) -> list[str]:
    """Writes NAME.c and NAME.h, with functions NAME_load, NAME_launch and NAME_unload, which need
    the driver (-lcuda) and nothing of Nereid.

    `signature` has the types of run-time arguments, {"x_ptr": "*fp32:16", "n": "i32"}, and
    `constants` the values of constexprs; other parameters have their defaults.  `targets` is
    "sm_90a,sm_80"; `disjoint` promises that arguments never overlap in memory.
    """
    taken, _ = _take_options(fn, options)
    taken["alias"] = _DISJOINT if disjoint else _ORDERED
    names = Names(fn)
    request = ((*source_of(fn), fn), function_of(fn).__code__.co_name,
               _arguments(fn, names, signature, constants or {}))
    whole = None
    for target in (targets or "sm_90a").split(","):
        image = _nereid.compile(*request, target=target.strip(), kind=_nereid.KIND_ptx,
                                options=taken, lookup=names.lookup)
        if whole is None:
            whole = image
        else:
            whole.add(image)
    notes = []
    if not ptx_only:
        try:
            whole = whole.assemble()
        except NereidError as error:
            if error.code != TOOL:
                raise
            notes.append(f"the code is PTX: {error}")
    source, header = whole.source(name)
    path = pathlib.Path(folder)
    path.mkdir(exist_ok=True)
    stem = name or whole.name
    (path / f"{stem}.c").write_text(source)
    (path / f"{stem}.h").write_text(header)
    return notes
