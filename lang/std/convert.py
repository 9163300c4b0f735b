# Conversions of libdevice.py: SOURCE2TARGET_rMODE, where n is to the nearest (of two the even one),
# z towards zero, d down, u up.  Out-of-range floats give the nearest integer of the target, NaN 0.
# Results of unsigned targets are signed, with the same bits, as in Triton.
import triton
import triton.language as tl
from nereid import core, rounding


@triton.jit
def _rint(x):
    return core.rint(x)


@triton.jit
def _trunc(x):
    return core.trunc(x)


@triton.jit
def _floor(x):
    return core.floor(x)


@triton.jit
def _ceil(x):
    return core.ceil(x)


@triton.jit
def _to_int(x, target: tl.constexpr, result: tl.constexpr, f: tl.constexpr):
    x = tl.to_tensor(x)
    return f(x).to(target).to(result, bitcast=True)


@triton.jit
def float2int_rn(x):
    return _to_int(x, tl.int32, tl.int32, _rint)


@triton.jit
def float2int_rz(x):
    return _to_int(x, tl.int32, tl.int32, _trunc)


@triton.jit
def float2int_rd(x):
    return _to_int(x, tl.int32, tl.int32, _floor)


@triton.jit
def float2int_ru(x):
    return _to_int(x, tl.int32, tl.int32, _ceil)


@triton.jit
def float2uint_rn(x):
    return _to_int(x, tl.uint32, tl.int32, _rint)


@triton.jit
def float2uint_rz(x):
    return _to_int(x, tl.uint32, tl.int32, _trunc)


@triton.jit
def float2uint_rd(x):
    return _to_int(x, tl.uint32, tl.int32, _floor)


@triton.jit
def float2uint_ru(x):
    return _to_int(x, tl.uint32, tl.int32, _ceil)


@triton.jit
def float2ll_rn(x):
    return _to_int(x, tl.int64, tl.int64, _rint)


@triton.jit
def float2ll_rz(x):
    return _to_int(x, tl.int64, tl.int64, _trunc)


@triton.jit
def float2ll_rd(x):
    return _to_int(x, tl.int64, tl.int64, _floor)


@triton.jit
def float2ll_ru(x):
    return _to_int(x, tl.int64, tl.int64, _ceil)


@triton.jit
def float2ull_rn(x):
    return _to_int(x, tl.uint64, tl.int64, _rint)


@triton.jit
def float2ull_rz(x):
    return _to_int(x, tl.uint64, tl.int64, _trunc)


@triton.jit
def float2ull_rd(x):
    return _to_int(x, tl.uint64, tl.int64, _floor)


@triton.jit
def float2ull_ru(x):
    return _to_int(x, tl.uint64, tl.int64, _ceil)


@triton.jit
def double2int_rn(x):
    return _to_int(x, tl.int32, tl.int32, _rint)


@triton.jit
def double2int_rz(x):
    return _to_int(x, tl.int32, tl.int32, _trunc)


@triton.jit
def double2int_rd(x):
    return _to_int(x, tl.int32, tl.int32, _floor)


@triton.jit
def double2int_ru(x):
    return _to_int(x, tl.int32, tl.int32, _ceil)


@triton.jit
def double2uint_rn(x):
    return _to_int(x, tl.uint32, tl.int32, _rint)


@triton.jit
def double2uint_rz(x):
    return _to_int(x, tl.uint32, tl.int32, _trunc)


@triton.jit
def double2uint_rd(x):
    return _to_int(x, tl.uint32, tl.int32, _floor)


@triton.jit
def double2uint_ru(x):
    return _to_int(x, tl.uint32, tl.int32, _ceil)


@triton.jit
def double2ll_rn(x):
    return _to_int(x, tl.int64, tl.int64, _rint)


@triton.jit
def double2ll_rz(x):
    return _to_int(x, tl.int64, tl.int64, _trunc)


@triton.jit
def double2ll_rd(x):
    return _to_int(x, tl.int64, tl.int64, _floor)


@triton.jit
def double2ll_ru(x):
    return _to_int(x, tl.int64, tl.int64, _ceil)


@triton.jit
def double2ull_rn(x):
    return _to_int(x, tl.uint64, tl.int64, _rint)


@triton.jit
def double2ull_rz(x):
    return _to_int(x, tl.uint64, tl.int64, _trunc)


@triton.jit
def double2ull_rd(x):
    return _to_int(x, tl.uint64, tl.int64, _floor)


@triton.jit
def double2ull_ru(x):
    return _to_int(x, tl.uint64, tl.int64, _ceil)


@triton.jit
def _to_float(x, f: tl.constexpr, target: tl.constexpr):
    x = tl.to_tensor(x)
    return f(x, target)


@triton.jit
def int2float_rn(x):
    return _to_float(x, rounding.from_int_rn, tl.float32)


@triton.jit
def int2float_rz(x):
    return _to_float(x, rounding.from_int_rz, tl.float32)


@triton.jit
def int2float_rd(x):
    return _to_float(x, rounding.from_int_rd, tl.float32)


@triton.jit
def int2float_ru(x):
    return _to_float(x, rounding.from_int_ru, tl.float32)


@triton.jit
def int2double_rn(x):
    return _to_float(x, rounding.from_int_rn, tl.float64)


@triton.jit
def uint2float_rn(x):
    return _to_float(x, rounding.from_int_rn, tl.float32)


@triton.jit
def uint2float_rz(x):
    return _to_float(x, rounding.from_int_rz, tl.float32)


@triton.jit
def uint2float_rd(x):
    return _to_float(x, rounding.from_int_rd, tl.float32)


@triton.jit
def uint2float_ru(x):
    return _to_float(x, rounding.from_int_ru, tl.float32)


@triton.jit
def uint2double_rn(x):
    return _to_float(x, rounding.from_int_rn, tl.float64)


@triton.jit
def ll2float_rn(x):
    return _to_float(x, rounding.from_int_rn, tl.float32)


@triton.jit
def ll2float_rz(x):
    return _to_float(x, rounding.from_int_rz, tl.float32)


@triton.jit
def ll2float_rd(x):
    return _to_float(x, rounding.from_int_rd, tl.float32)


@triton.jit
def ll2float_ru(x):
    return _to_float(x, rounding.from_int_ru, tl.float32)


@triton.jit
def ll2double_rn(x):
    return _to_float(x, rounding.from_int_rn, tl.float64)


@triton.jit
def ll2double_rz(x):
    return _to_float(x, rounding.from_int_rz, tl.float64)


@triton.jit
def ll2double_rd(x):
    return _to_float(x, rounding.from_int_rd, tl.float64)


@triton.jit
def ll2double_ru(x):
    return _to_float(x, rounding.from_int_ru, tl.float64)


@triton.jit
def ull2float_rn(x):
    return _to_float(x, rounding.from_int_rn, tl.float32)


@triton.jit
def ull2float_rz(x):
    return _to_float(x, rounding.from_int_rz, tl.float32)


@triton.jit
def ull2float_rd(x):
    return _to_float(x, rounding.from_int_rd, tl.float32)


@triton.jit
def ull2float_ru(x):
    return _to_float(x, rounding.from_int_ru, tl.float32)


@triton.jit
def ull2double_rn(x):
    return _to_float(x, rounding.from_int_rn, tl.float64)


@triton.jit
def ull2double_rz(x):
    return _to_float(x, rounding.from_int_rz, tl.float64)


@triton.jit
def ull2double_rd(x):
    return _to_float(x, rounding.from_int_rd, tl.float64)


@triton.jit
def ull2double_ru(x):
    return _to_float(x, rounding.from_int_ru, tl.float64)


@triton.jit
def double2float_rn(x):
    x = tl.to_tensor(x)
    return rounding.narrow_rn(x)


@triton.jit
def double2float_rz(x):
    x = tl.to_tensor(x)
    return rounding.narrow_rz(x)


@triton.jit
def double2float_rd(x):
    x = tl.to_tensor(x)
    return rounding.narrow_rd(x)


@triton.jit
def double2float_ru(x):
    x = tl.to_tensor(x)
    return rounding.narrow_ru(x)
