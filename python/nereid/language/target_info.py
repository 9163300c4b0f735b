"""The target that kernels are compiled for; constants in kernels."""

from __future__ import annotations

from nereid.language.types import constexpr_function


@constexpr_function
def current_target():
    """The active device's target; None where there is no device."""
    from nereid.runtime.active import driver

    try:
        return driver.active.get_current_target()
    except RuntimeError:
        return None


@constexpr_function
def is_cuda():
    """Whether kernels are compiled for an NVIDIA GPU."""
    target = current_target()
    return target is not None and target.backend == "cuda"


@constexpr_function
def cuda_capability_geq(major, minor=0):
    """Whether the GPU has a compute capability of at least major.minor."""
    target = current_target()
    return is_cuda() and target.arch >= major * 10 + minor


@constexpr_function
def is_hip():
    """Whether kernels are compiled for an AMD GPU, which they never are."""
    return False


def __getattr__(name):
    """Questions about other machines, as is_hip_cdna4(): the answer is no."""
    if name.startswith(("is_hip_", "is_xpu", "hip_supports_", "get_hip_")):
        return is_hip
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
