"""What `torch.compile(backend="nereid", mode=, options=)` may say."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields

MODES = ("default", "eager", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")

_NEVER, _REPEATED = 1, 2  # of nereid_graph_replay


@dataclass(frozen=True)
class Settings:
    """Options by their names; `torch.compile(mode=)` is one of them."""

    mode: str = "default"
    """Of nereid.load(), but with PyTorch's CUDA graphs in reduce-overhead and max-autotune, and
    with none where its name says so."""
    dump: str = ""
    """A folder that gets the text of each segment and program."""
    by_pytorch: tuple = ()
    """Operators that PyTorch runs, as "aten.mm.default"."""
    libraries: str = ""
    """Which products libraries compute, as of nereid.load(): "records", "always" or "none"."""
    check_indices: bool = True
    """An index out of range is an IndexError on a CPU and ends the kernel on a GPU."""
    cache_autograd: bool | None = None
    """Keep what AOTAutograd makes in PyTorch's cache, for later processes, and in the artifacts of
    torch.compiler.save_cache_artifacts(); not with CUDA graphs.  None: of graphs with gradients."""
    fallback_random: bool = False
    """Draw what eager PyTorch draws, by its own operators."""
    verify: bool = False
    """Compare each run of each segment with PyTorch's operators; slow, and without CUDA graphs."""

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
    def waits(self) -> bool:
        """Is a graph compiled before PyTorch goes on?  Others than us may disturb a measurement,
        and what is compared or recorded is needed whole."""
        measures = self.segment_mode == "max-autotune"
        return self.verify or bool(self.dump) or measures or self.cuda_graphs

    @property
    def cuda_graphs(self) -> bool:
        return self.mode in ("reduce-overhead", "max-autotune") and not self.verify


def _nearest(name: str, known) -> str:
    found = difflib.get_close_matches(name.replace(".", "_"), list(known), 1)
    return f", did you mean {found[0]!r}?" if found else ""


def settings_of(mode: str | None, options: dict | None) -> Settings:
    """Raises for names and values that mean nothing, with those that there are."""
    given = dict(options or {})
    known = {field.name: field for field in fields(Settings)}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"there is no option {name!r}{_nearest(name, known)}; options are "
                             f"{', '.join(known)}")
        wanted = bool if known[name].default is None else type(known[name].default)
        if wanted is tuple and isinstance(value, (list, tuple)):
            given[name] = tuple(map(str, value))
        elif not isinstance(value, wanted) and (value, known[name].default) != (None, None):
            raise ValueError(f"option {name!r} is a {wanted.__name__}, not {value!r}")
    settings = Settings(**{**given, **({"mode": mode} if mode else {})})
    if settings.mode not in MODES:
        raise ValueError(f"there is no mode {settings.mode!r}{_nearest(settings.mode, MODES)}; "
                         f"modes are {', '.join(MODES)}")
    return settings
