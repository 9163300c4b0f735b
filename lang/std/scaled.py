# tl.dot_scaled: products of matrices in microscaling formats (OCP MX 1.0; with scales of e4m3,
# NVFP4), by multiplying the operands by their scales and `tl.dot`.
import triton
import triton.language as tl


@triton.constexpr_function
def _check_formats(lhs_format, rhs_format, lhs_k_pack, rhs_k_pack):
    known = ("e2m1", "e4m3", "e5m2", "bf16", "fp16")
    assert lhs_format in known, f"Invalid float format: {lhs_format}. lhs_format is one of {known}"
    assert rhs_format in known, f"Invalid float format: {rhs_format}. rhs_format is one of {known}"
    assert lhs_k_pack or lhs_format == "e2m1", (
        f"only e2m1 can be packed along a dimension different than K: lhs_format is {lhs_format}")
    assert rhs_k_pack or rhs_format == "e2m1", (
        f"only e2m1 can be packed along a dimension different than K: rhs_format is {rhs_format}")


@triton.constexpr_function
def _dtype_of(format):
    return {"e4m3": tl.float8e4nv, "e5m2": tl.float8e5, "bf16": tl.bfloat16,
            "fp16": tl.float16}[format]


@triton.constexpr_function
def _bits_of(format):
    return tl.uint16 if format == "bf16" or format == "fp16" else tl.uint8


@triton.constexpr_function
def _product_dtype(lhs_format, rhs_format):
    """The dtype that both operands are brought to.  f32, multiplied as tf32, holds bf16 and f16."""
    if lhs_format != "fp16" and rhs_format != "fp16":
        return tl.bfloat16
    return tl.float32 if lhs_format == "bf16" or rhs_format == "bf16" else tl.float16


@triton.constexpr_function
def _k_of(shape, axis, format, k_pack):
    """The elements along K, which is `axis` of an operand's shape."""
    return shape[axis] * (2 if format == "e2m1" and k_pack else 1)


@triton.constexpr_function
def _scale_group(k, shape):
    """Elements along K that share a scale, for scales of a shape."""
    return 16 if len(shape) > 0 and shape[-1] * 16 == k else 32


@triton.jit
def _from_e2m1(x, dtype: tl.constexpr):
    """The two numbers whose e2m1 codes are the low and the high half of a byte: the bits of a code
    as sign, exponent and top of the mantissa are the number times a power of two."""
    both = x.to(tl.uint32) * 0x1001  # one code at bit 0, one at bit 16
    if dtype == tl.bfloat16:
        bits = ((both << 12) & 0x80008000) | ((both << 6) & 0x01C001C0)
        power: tl.constexpr = 2.0**126
    else:
        bits = ((both << 12) & 0x80008000) | ((both << 9) & 0x0E000E00)
        power: tl.constexpr = 2.0**14
    low = bits.to(tl.uint16).to(dtype, bitcast=True)
    high = (bits >> 16).to(tl.uint16).to(dtype, bitcast=True)
    return low * power, high * power


@triton.jit
def _unpack(x, axis: tl.constexpr, dtype: tl.constexpr):
    """The e2m1 elements of x, two a byte along the last axis (1) or the one before it (0)."""
    low, high = _from_e2m1(x, dtype)
    pair = tl.join(low, high)
    r: tl.constexpr = len(x.shape)
    batch: tl.constexpr = x.shape[:r - 2]
    if axis == 1:
        return tl.reshape(pair, batch + [x.shape[r - 2], 2 * x.shape[r - 1]])
    else:
        pair = tl.permute(pair, list(range(r - 1)) + [r, r - 1])
        return tl.reshape(pair, batch + [2 * x.shape[r - 2], x.shape[r - 1]])


@triton.jit
def _scale_values(scale, dtype: tl.constexpr):
    """The numbers of e8m0 codes, 2^(code - 127) with 255 for NaN, or of e4m3, as `dtype`."""
    if scale.dtype == tl.float8e4nv:
        return scale.to(dtype)
    else:
        code = scale.to(tl.uint8, bitcast=True).to(tl.uint32)
        bits = tl.maximum(code << 23, 0x400000)
        bits = tl.where(code == 255, 0x7FC00000, bits)
        return bits.to(tl.float32, bitcast=True).to(dtype)


@triton.jit
def _upcast(x, scale, format: tl.constexpr, axis: tl.constexpr, pack_axis: tl.constexpr,
            dtype: tl.constexpr, side: tl.constexpr):
    """x times its scales as `dtype`.  K is the last axis of x (1) or the one before it (0); scales
    have it last."""
    if format == "e2m1":
        tl.static_assert(
            x.dtype == tl.uint8,
            f"e2m1 format must be packed as uint8. Got {x.dtype}: {side} has two elements a byte")
        x = _unpack(x, pack_axis, dtype)
    else:
        own: tl.constexpr = _dtype_of(format)
        tl.static_assert(
            x.dtype == own or x.dtype == _bits_of(format),
            f"Unexpected dtype for {format}. Got {x.dtype}: {side} is {own} or {_bits_of(format)}")
        x = x.to(own, bitcast=True).to(dtype)
    if scale is None:
        return x
    else:
        scale = tl.to_tensor(scale)
        r: tl.constexpr = len(x.shape)
        k: tl.constexpr = x.shape[r - 2 + axis]
        rows: tl.constexpr = x.shape[r - 1 - axis]
        group: tl.constexpr = _scale_group(k, scale.shape)
        want: tl.constexpr = x.shape[:r - 2] + [rows, k // group]
        tl.static_assert(
            k % group == 0 and scale.shape == want,
            f"{side}_scale must be a tensor of shape {want}. Got {scale.shape}")
        tl.static_assert(
            scale.dtype == tl.uint8 or scale.dtype == tl.int8 or scale.dtype == tl.float8e4nv,
            f"{side}_scale holds e8m0 as uint8, or float8e4nv. Got {scale.dtype}")
        s = _scale_values(scale, dtype)
        if axis == 0:
            s = tl.trans(s, list(range(r - 2)) + [r - 1, r - 2])
        s = tl.expand_dims(s, r - 1 + axis)
        groups: tl.constexpr = x.shape[:r - 2 + axis] + [k // group, group] + x.shape[r - 1 + axis:]
        return x * tl.reshape(tl.broadcast_to(s, groups), x.shape)


@triton.jit
def dot_scaled(lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=None, fast_math=False,
               lhs_k_pack=True, rhs_k_pack=True, out_dtype=tl.float32):
    """lhs @ rhs + acc, of operands in a format of `e2m1` (two a byte), `e4m3`, `e5m2`, `bf16`,
    `fp16`, times scales of e8m0 (uint8) or e4m3 for each 32 or 16 elements along K."""
    tl.static_assert(out_dtype == tl.float32,
                     "Only float32 is supported for out_dtype at the moment")
    rank: tl.constexpr = len(lhs.shape)
    tl.static_assert(
        rank == len(rhs.shape) and (rank == 2 or rank == 3),
        f"Both inputs must be either 2D or 3D; (lhs: {lhs.shape} vs rhs: {rhs.shape})")
    _check_formats(lhs_format, rhs_format, lhs_k_pack, rhs_k_pack)
    tl.static_assert(
        lhs.shape[:rank - 2] == rhs.shape[:rank - 2]
        and (_k_of(lhs.shape, rank - 1, lhs_format, lhs_k_pack)
             == _k_of(rhs.shape, rank - 2, rhs_format, rhs_k_pack)),
        f"Reduction dimension should pack the same number of elements; "
        f"(lhs: {lhs.shape} vs rhs: {rhs.shape})")
    dtype: tl.constexpr = _product_dtype(lhs_format, rhs_format)
    a = _upcast(lhs, lhs_scale, lhs_format, 1, 1 if lhs_k_pack else 0, dtype, "lhs")
    b = _upcast(rhs, rhs_scale, rhs_format, 0, 0 if rhs_k_pack else 1, dtype, "rhs")
    return tl.dot(a, b, acc)
