"""What `triton._utils` has that others use."""

from nereid.language.types import (
    TRITON_MAX_TENSOR_NUMEL,
    get_primitive_bitwidth,
    validate_block_shape,
)

_SHORT = {
    "bool": "i1", "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "float8e5": "fp8e5", "float8e4nv": "fp8e4nv", "float8e4b15": "fp8e4b15",
    "float8_e5m2": "fp8e5", "float8_e4m3fn": "fp8e4nv",
}  # fmt: skip
type_canonicalisation_dict = {**_SHORT, **{v: v for v in _SHORT.values()}, "void": "void"}


def canonicalize_dtype(dtype) -> str:
    """The short name of a dtype: `fp32` of torch.float32."""
    return type_canonicalisation_dict[str(dtype).rpartition(".")[2]]


def is_power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def find_paths_if(iterable, pred) -> list:
    """The paths (tuples of indices) of the items of nested tuples for which pred(path, item)."""
    found = []

    def walk(path, item):
        if isinstance(item, (list, tuple)):
            for i, x in enumerate(item):
                walk((*path, i), x)
        elif pred(path, item):
            found.append(path)

    walk((), iterable)
    return found


def get_iterable_path(iterable, path):
    """The item at a path."""
    for i in path:
        iterable = iterable[i]
    return iterable
