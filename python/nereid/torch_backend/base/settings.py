"""What `torch.compile(backend="nereid", mode=, options=)` may say."""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass, field, fields
from typing import Any, Callable

import torch

from nereid import _nereid

_WORDS = {name: words.split() for name, words in _nereid.graph_options().items()}
MODES = (*_WORDS["mode"], "max-autotune-no-cudagraphs")

_NEVER, _REPEATED = 1, 2  # of nereid_graph_replay


def _nearest(name: str, known) -> str:
    """What the name may have been meant to be; case and kind of separators don't matter."""
    by_form = {str(other).replace(".", "_").replace("-", "_").lower(): other for other in known}
    form = name.replace(".", "_").replace("-", "_").replace("::", "_").lower()
    found = difflib.get_close_matches(form, list(by_form), 1)
    return f", did you mean {by_form[found[0]]!r}?" if found else ""


# ---- values: each function gives the value as Settings has it, or raises ----


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"option {name!r} is True or False, not {value!r}")


def _flag_or_none(name: str, value: Any) -> bool | None:
    return value if value is None else _flag(name, value)


def _bytes(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"option {name!r} is a number of bytes, or 0, not {value!r}")


def _share_or_none(name: str, value: Any) -> float | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is None or number and 0 <= value <= 1:
        return value
    raise ValueError(f"option {name!r} is a number from 0 to 1, or None, not {value!r}")


def _one_of(*words: str) -> Callable:
    def check(name: str, value: Any) -> str:
        if isinstance(value, str) and value in words:
            return value
        known = ", ".join(map(repr, words))
        near = _nearest(value, words) if isinstance(value, str) else ""
        raise ValueError(f"option {name!r} is one of {known}, not {value!r}{near}")

    return check


def _mode(_: str, value: Any) -> str:
    if isinstance(value, str) and value in MODES:
        return value
    raise ValueError(f"there is no mode {value!r}{_nearest(str(value), MODES)}; "
                     f"modes are {', '.join(MODES)}")


def _folder(name: str, value: Any) -> str:
    """A folder that is there, or can be made."""
    if not isinstance(value, (str, os.PathLike)):
        raise ValueError(f"option {name!r} is the name of a folder, not {value!r}")
    path = os.fspath(value)
    try:
        if path:
            os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise ValueError(f"option {name!r} is a folder, which {path!r} can't be: "
                         f"{error.strerror}") from error
    return path


def _known_operators() -> set:
    """The operators of all libraries that PyTorch has loaded, as graphs name them."""
    import torch._inductor.inductor_prims  # noqa: F401  which registers those that draw
    from torch._ops import _higher_order_ops

    found = set(_higher_order_ops)
    for name in torch._C._dispatch_get_all_op_names():
        name = name.replace("::", ".")
        found.add(name if name.count(".") > 1 else f"{name}.default")
    return found


def _operators(name: str, value: Any) -> tuple:
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise ValueError(f"option {name!r} is a tuple of names of operators, not {value!r}")
    names = tuple(map(str, value))
    known = _known_operators() if names else set()
    for one in names:
        if one in known:
            continue
        overloads = sorted(other for other in known if other.startswith(f"{one}."))
        if overloads:
            raise ValueError(f"option {name!r}: {one!r} is several operators; say which: "
                             f"{', '.join(map(repr, overloads))}")
        raise ValueError(f"option {name!r}: there is no operator {one!r}{_nearest(one, known)}")
    return names


def _option(default: Any, check: Callable, meaning: str) -> Any:
    return field(default=default, metadata={"check": check, "meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """Options by their names, each with what checks its value and, for docs/python.md, its meaning;
    `torch.compile(mode=)` is one of them.  PyTorch's cache has all of them in its keys."""

    mode: str = _option("default", _mode,
        "one of these, as PyTorch takes either `mode=` or `options=`")
    libraries: str = _option("records", _one_of(*_WORDS["libraries"]),
        "which products and convolutions cuBLAS, cuDNN, BLAS or oneDNN compute: `\"records\"` (the "
        "default), `\"always\"` or `\"none\"`")
    by_pytorch: tuple = _option((), _operators,
        "operators that PyTorch runs: `(\"aten.mm.default\",)`")
    cache_autograd: bool | None = _option(None, _flag_or_none,
        "whether PyTorch's cache keeps the graphs of AOTAutograd ([warm start](#warm-start)); by "
        "default it keeps graphs that have gradients or at least 50 nodes")
    check_indices: bool = _option(True, _flag,
        "`False` omits the checks of [indices](#indices) and of other data")
    loss_bytes: int = _option(0, _bytes,
        "about the most bytes, in float32, that the logits between a product and a loss take at "
        "once; larger ones are computed in [chunks of rows](#limits), with their gradients, at "
        "most 64 chunks of multiples of 128 rows; 0 (the default): as a whole")
    memory_budget: float | None = _option(None, _share_or_none,
        "how much of what the backward pass needs may be saved for it, from 0 (all is computed "
        "again) to 1 ([memory](#memory-of-training)); by default as "
        "`torch._functorch.config.activation_memory_budget` says")
    fallback_random: bool = _option(False, _flag,
        "`True` draws the numbers that eager PyTorch draws, by PyTorch's operators")
    freezing: bool | None = _option(None, _flag_or_none,
        "`True` takes parameters and buffers on a CPU as [constants](#frozen-weights) of graphs "
        "without gradients; by default as `torch._inductor.config.freezing` says")
    verify: bool = _option(False, _flag,
        "`True` [compares](#seeing-what-it-does) each segment with PyTorch")
    dump: str = _option("", _folder,
        "a folder that gets the text of each segment, which `nereid graph` reads, and of the "
        "program around them")

    @property
    def segment_mode(self) -> str:
        """How executables are compiled: CUDA graphs are of the whole program."""
        return {"reduce-overhead": "default", "max-autotune-no-cudagraphs": "max-autotune"}.get(
            self.mode, self.mode)

    @property
    def replay(self) -> int:
        """Which runs of an executable are CUDA graphs (nereid_graph_replay): those that come again,
        as far as PyTorch's own graphs do not have them, or none."""
        return _NEVER if self.mode in ("eager", "max-autotune-no-cudagraphs") else _REPEATED

    @property
    def freezes(self) -> bool:
        if self.freezing is not None:
            return self.freezing
        return getattr(sys.modules.get("torch._inductor.config"), "freezing", False)

    @property
    def waits(self) -> bool:
        """Is a graph compiled before PyTorch goes on?  Others than us may disturb a measurement,
        and what is compared or recorded is needed whole."""
        measures = self.segment_mode == "max-autotune"
        return self.verify or bool(self.dump) or measures or self.cuda_graphs

    @property
    def cuda_graphs(self) -> bool:
        return self.mode in ("reduce-overhead", "max-autotune") and not self.verify


def settings_of(mode: str | None, options: dict | None) -> Settings:
    """Raises a ValueError for names and values that mean nothing, with the nearest that do."""
    given = {**(options or {}), **({"mode": mode} if mode else {})}
    known = {one.name: one.metadata["check"] for one in fields(Settings)}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"there is no option {name!r}{_nearest(str(name), known)}; options "
                             f"are {', '.join(known)}")
        given[name] = known[name](name, value)
    return Settings(**given)
