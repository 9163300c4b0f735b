"""kernel.estimate(): how long a launch will take, as the cost model expects it, without a run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nereid import _nereid
from nereid.errors import NereidError


@dataclass(frozen=True)
class Estimate:
    """Of a launch: times are in microseconds, memory is in bytes."""

    device: str
    us: float
    low_us: float
    high_us: float
    bound: str
    """What takes the time: "memory", "cache", "tensor", "issue" or "latency"."""
    memory_bytes: float
    cache_bytes: float
    tensor_flops: float
    f32_flops: float
    registers: int
    spilled: int
    """32-bit registers of a thread that do not fit."""
    shared_bytes: int
    """Of a program."""
    occupancy: int
    """Programs that a multiprocessor, or a core, runs at a time."""
    waves: float
    config: object = None
    """The configuration of an autotuned kernel that this is for: the one with the least time."""
    others: tuple[Estimate, ...] = ()
    """Of the kernel's other configurations, by time."""

    def __str__(self) -> str:
        chosen = "" if self.config is None else f", with {self.config}"
        return (f"{self.us:.4g} us ({self.low_us:.4g} to {self.high_us:.4g}) on {self.device}, "
                f"bound by {self.bound}{chosen}")


def _axes(grid, arguments: dict) -> tuple:
    found = grid(arguments) if callable(grid) else grid
    found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    return (*map(int, found), 1, 1)[:3]


def estimate(fn, args: tuple, kwargs: dict, grid, target: str | None) -> Estimate:
    """That of fn[grid](*args, **kwargs)."""
    compiled = fn.warmup(*args, **kwargs)
    request, common, device = compiled.request
    arguments = {p.name: p.default for p in fn.params if p.has_default}
    arguments |= dict(zip(fn.arg_names, args)) | kwargs
    values = {name: value for name, value in arguments.items()
              if isinstance(value, int) and name in fn.arg_names}
    where = {"device": device} if target is None else {"target": target}
    return Estimate(**_nereid.estimate(*request, **common, **where, values=values,
                                       grid=_axes(grid, arguments)))


def estimate_configs(configs: list, of_config) -> Estimate:
    """That of the configuration with the least time; those that can't be compiled do not count,
    unless none can.  of_config(config): the estimate of one."""
    found, failure = [], None
    for config in configs:
        try:
            found.append(replace(of_config(config), config=config))
        except NereidError as error:
            failure = failure or error
    if not found:
        raise failure
    best, *others = sorted(found, key=lambda guess: guess.us)
    return replace(best, others=tuple(others))
