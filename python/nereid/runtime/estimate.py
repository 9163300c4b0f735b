"""kernel.estimate(): how long a launch will take, as the cost model expects it, without a run."""

from __future__ import annotations

from dataclasses import dataclass

from nereid import _nereid


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

    def __str__(self) -> str:
        return (f"{self.us:.4g} us ({self.low_us:.4g} to {self.high_us:.4g}) on {self.device}, "
                f"bound by {self.bound}")


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
