"""What `triton._internal_testing` has: helpers of Triton's own tests.  It needs NumPy, PyTorch and
pytest."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from numpy.random import RandomState

import triton
import triton.language as tl
from nereid.runtime.jit import TensorWrapper, reinterpret
from triton import knobs
from triton._utils import type_canonicalisation_dict

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = float_dtypes + ["bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = dtypes + ["bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes, "bfloat16"]
tma_dtypes = sorted({*dtypes_with_bfloat16} - {"int64", "uint64", "float64"})


def is_interpreter() -> bool:
    return os.environ.get("TRITON_INTERPRET", "0") == "1"


def get_current_target():
    return None if is_interpreter() else triton.runtime.driver.active.get_current_target()


def _is(backend: str) -> bool:
    target = get_current_target()
    return target is not None and target.backend == backend


def is_cuda() -> bool:
    return _is("cuda")


def is_xpu() -> bool:
    return False


def _major() -> int:
    return torch.cuda.get_device_capability()[0] if is_cuda() else 0


def is_ampere_or_newer() -> bool:
    return _major() >= 8


def is_hopper() -> bool:
    return _major() == 9


def is_hopper_or_newer() -> bool:
    return _major() >= 9


def is_blackwell() -> bool:
    return _major() == 10


def is_sm12x() -> bool:
    return _major() == 12


def is_hip() -> bool:
    return False


is_hip_cdna = is_hip_cdna2 = is_hip_cdna3 = is_hip_cdna4 = is_hip
is_hip_gfx11 = is_hip_gfx12 = is_hip_gfx1250 = is_hip


def get_hip_lds_size() -> int:
    return 65536


def get_arch() -> str:
    target = get_current_target()
    return "" if target is None else str(target.arch)


def numpy_random(shape, dtype_str, rs=None, low=None, high=None):
    """An array of random numbers, the same in each run: normal ones, integers without 0."""
    shape = (shape,) if isinstance(shape, int) else shape
    rs = rs or RandomState(seed=17)
    if dtype_str in integral_dtypes:
        limits = np.iinfo(dtype_str)
        low = limits.min if low is None else max(low, limits.min)
        high = limits.max if high is None else min(high, limits.max)
        x = rs.randint(low, high, shape, dtype=dtype_str)
        x[x == 0] = 1  # divisors
        return x
    if dtype_str and "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    x = rs.normal(0, 1, shape)
    if dtype_str in float_dtypes:
        return x.astype(dtype_str)
    if dtype_str == "bfloat16":
        return (x.astype("float32").view("uint32") & np.uint32(0xFFFF0000)).view("float32")
    if dtype_str in ("bool", "int1", "bool_"):
        return x > 0.0
    raise RuntimeError(f"Unknown dtype {dtype_str}")


def to_triton(x, device, dst_type=None):
    """A NumPy array as a tensor on a device; of a dtype that torch lacks, as a TensorWrapper."""
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.astype(name[1:]), device=device), getattr(tl, name))
    if dst_type and "float8" in dst_type:
        return reinterpret(torch.tensor(x, device=device), getattr(tl, dst_type))
    tensor = torch.tensor(x, device=device)
    return tensor.bfloat16() if name == "float32" and dst_type == "bfloat16" else tensor


def str_to_triton_dtype(x: str) -> tl.dtype:
    return tl.str_to_ty(type_canonicalisation_dict[x], None)


def torch_dtype_name(dtype) -> str:
    if isinstance(dtype, tl.dtype):
        return dtype.name
    if isinstance(dtype, torch.dtype):
        return str(dtype).removeprefix("torch.")
    raise TypeError(f"not a triton or torch dtype: {type(dtype)}")


def to_numpy(x):
    """A tensor, or a TensorWrapper, as a NumPy array."""
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(torch_dtype_name(x.dtype))
    if not isinstance(x, torch.Tensor):
        raise ValueError(f"Not a triton-compatible tensor: {x}")
    return (x.float() if x.dtype is torch.bfloat16 else x).cpu().numpy()


def unwrap_tensor(t):
    return t.base if isinstance(t, TensorWrapper) else t


def supports_tma(byval_only=False) -> bool:
    return is_interpreter() or is_hopper_or_newer()


def supports_ws() -> bool:
    return is_interpreter() or is_hopper_or_newer()


def tma_skip_msg(byval_only=False) -> str:
    return "Requires TMA support (NVIDIA Hopper or higher)"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


def default_alloc_fn(size: int, align: int, _):
    return torch.empty(size, dtype=torch.int8, device="cuda")


def _fresh_knobs_impl(skipped_attr=None):
    """Two functions: one gives all settings their defaults, the other undoes that."""
    groups = {
        name: value
        for name, value in vars(knobs).items()
        if isinstance(value, knobs.base_knobs) and name not in (skipped_attr or ())
    }
    keys = [k.key for group in groups.values() for k in group.knob_descriptors.values()]
    saved: dict = {}
    propagate = knobs.propagate_env

    def fresh():
        saved.update({key: os.environ.pop(key, None) for key in keys})
        for name, group in groups.items():
            setattr(knobs, name, group.copy().reset())
        knobs.propagate_env = True
        return knobs

    def undo():
        for name, group in groups.items():
            setattr(knobs, name, group)
        for key, value in saved.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
        knobs.propagate_env = propagate

    return fresh, undo
