"""Tensors without DLPack's exchange table: NumPy's, CuPy's, wrappers of pointers."""

from __future__ import annotations

import functools

CPU, CUDA = 1, 2
INT, UINT, FLOAT, BFLOAT, BOOL, E4M3FN, E5M2 = 0, 1, 2, 4, 6, 10, 12
E4B15 = 240  # a code of ours: DLPack has none

# Names of dtypes, with or without "torch." or "triton.language." before them.
_DTYPES = {
    "float32": (FLOAT, 32), "fp32": (FLOAT, 32),
    "float16": (FLOAT, 16), "fp16": (FLOAT, 16),
    "float64": (FLOAT, 64), "fp64": (FLOAT, 64),
    "bfloat16": (BFLOAT, 16), "bf16": (BFLOAT, 16),
    "int8": (INT, 8), "int16": (INT, 16), "int32": (INT, 32), "int64": (INT, 64),
    "uint8": (UINT, 8), "uint16": (UINT, 16), "uint32": (UINT, 32), "uint64": (UINT, 64),
    "bool": (BOOL, 8), "int1": (BOOL, 8), "i1": (BOOL, 8),
    "float8_e4m3fn": (E4M3FN, 8), "fp8e4nv": (E4M3FN, 8), "float8e4nv": (E4M3FN, 8),
    "float8_e5m2": (E5M2, 8), "fp8e5": (E5M2, 8), "float8e5": (E5M2, 8),
    "float8_e4m3fnuz": (11, 8), "fp8e4b8": (11, 8), "float8e4b8": (11, 8),
    "fp8e4b15": (E4B15, 8), "float8e4b15": (E4B15, 8),
    "float8_e5m2fnuz": (13, 8), "fp8e5b16": (13, 8), "float8e5b16": (13, 8),
}
_DTYPES |= {f"i{n}": (INT, n) for n in (8, 16, 32, 64)}
_DTYPES |= {f"u{n}": (UINT, n) for n in (8, 16, 32, 64)}
# The codes of NumPy's type strings.
_KINDS = {"i": INT, "u": UINT, "f": FLOAT, "b": BOOL, "c": 5}


def dtype_of(name: object) -> tuple[int, int]:
    """DLPack's (code, bits) of a dtype, or of its name."""
    text = str(name).rsplit(".", 1)[-1]
    if text not in _DTYPES:
        raise TypeError(f"kernels have no elements of type {name}")
    return _DTYPES[text]


def _extent(shape, strides, size: int) -> tuple[int, int]:
    """The bytes [lo, hi) of a tensor, counted from its first element; strides in bytes or None."""
    if strides is None:
        n = size
        for extent in shape:
            n *= extent
        return (0, n) if n else (1, 0)
    lo, hi = 0, size
    for extent, stride in zip(shape, strides):
        if extent == 0:
            return 1, 0
        reach = (extent - 1) * stride
        lo, hi = lo + min(reach, 0), hi + max(reach, 0)
    return lo, hi


def _of_interface(interface: dict, device: tuple[int, int]):
    address, read_only = interface["data"]
    text = interface["typestr"]
    if text[0] == ">":
        raise TypeError("an array of big-endian numbers: convert it to this machine's byte order")
    if text[1] not in _KINDS:
        raise TypeError(f"kernels have no elements of NumPy's type {text!r}")
    size = int(text[2:])
    extent = _extent(interface["shape"], interface.get("strides"), size)
    return address, extent, device, (_KINDS[text[1]], 8 * size), read_only


def _gpu_of(value) -> tuple[int, int]:
    """The GPU of an array whose interface does not tell it: as DLPack has it, else the first."""
    return value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (CUDA, 0)


def _of_pointer(value):
    """An object with data_ptr() and dtype, as Triton takes it; its size is not known."""
    device = getattr(value, "device", None)
    kind = getattr(device, "type", str(device or "cuda").split(":")[0])
    index = getattr(device, "index", None) or 0
    place = (CPU, 0) if kind == "cpu" else (CUDA, index)
    dtype = dtype_of(value.dtype)
    return value.data_ptr(), _extent_of_pointer(value, dtype[1] // 8), place, dtype


def _extent_of_pointer(value, size: int) -> tuple[int, int]:
    stride = getattr(value, "stride", None)
    if not callable(stride) or not hasattr(value, "shape"):
        return 0, 0
    return _extent(value.shape, [s * size for s in stride()], size)


def _of_dlpack(value):
    import ctypes

    capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    class DLTensor(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("index", ctypes.c_int32),
                    ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                    ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                    ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]

    t = DLTensor.from_address(pointer(capsule, b"dltensor"))
    size = t.bits * t.lanes // 8
    shape = t.shape[: t.ndim]
    strides = [s * size for s in t.strides[: t.ndim]] if t.strides else None
    extent = _extent(shape, strides, size)
    return (t.data or 0) + t.offset, extent, (t.type, t.index), (t.code, t.bits)


def describe(value):
    """(address, (lo, hi), (device type, index), (dtype's code, bits)) in DLPack's numbers of a
    tensor or pointer; None if `value` is none.  The bytes [lo, hi) belong to it; (0, 0): not
    known.  A fifth item is true if kernels must not write there."""
    if isinstance(value, type):
        return None
    described = getattr(value, "_nereid_described", None)
    if isinstance(described, tuple):
        return described
    interface = getattr(value, "__cuda_array_interface__", None)
    if isinstance(interface, dict):
        return _of_interface(interface, _gpu_of(value))
    interface = getattr(value, "__array_interface__", None)
    if isinstance(interface, dict) and not is_scalar(value):
        return _of_interface(interface, (CPU, 0))
    if hasattr(value, "data_ptr"):
        return _of_pointer(value)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value)
    return None


def is_scalar(value) -> bool:
    """Is `value` a number of NumPy's, such as numpy.int64(3), which is no array?"""
    return _is_scalar_type(type(value))


@functools.lru_cache(maxsize=64)
def _is_scalar_type(kind: type) -> bool:
    return any(c.__module__ == "numpy" and c.__name__ == "generic" for c in kind.__mro__)


def holds(value, bytes) -> bool:
    """Has the memory of which an array or a tensor is a view so many bytes from its first element
    on?  True also where that is not known: kernels may go on after a view."""
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        return value.data_ptr() + bytes <= storage.data_ptr() + storage.nbytes()
    owner = value
    while isinstance(getattr(owner, "base", None), type(value)):
        owner = owner.base
    if not hasattr(owner, "__array_interface__") or owner.base is not None:
        return True
    begin = owner.__array_interface__["data"][0]
    return value.__array_interface__["data"][0] + bytes <= begin + owner.nbytes
