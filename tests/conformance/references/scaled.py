import numpy as np
from cases import bf16, narrow, new
from references import case, eighths

FILE = "scaled.py"
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6])


def e2m1(codes):
    return np.where(codes & 8, -1, 1) * E2M1[codes & 7]


def e4m3(codes):
    exponent, mantissa = (codes >> 3 & 15).astype(int), codes & 7
    normal = (1 + mantissa / 8) * 2.0**(exponent - 7)
    value = np.where(exponent > 0, normal, mantissa * 2.0**-9)
    return np.where(codes & 128, -1, 1) * np.where(codes & 127 == 127, np.nan, value)


def e5m2(codes):
    return (codes.astype(np.uint16) << 8).view(np.float16).astype(np.float64)


def e8m0(codes):
    return np.where(codes == 255, np.nan, 2.0**(codes.astype(int) - 127))


def operand(rng, form, shape, pack_axis, bits):
    """(argument, values): random numbers in a format, two a byte along an axis for e2m1; `bits`
    passes others as integers."""
    if form == "e2m1":
        codes = rng.integers(0, 16, shape).astype(np.uint8)
        low, high = (np.take(codes, range(i, shape[pack_axis], 2), pack_axis) for i in (0, 1))
        return low | high << 4, e2m1(codes)
    if form in ("bf16", "fp16"):
        value = eighths(rng, *shape)
        argument = bf16(value) if form == "bf16" else value.astype(np.float16)
        if bits and form == "fp16":
            argument = argument.view(np.uint16)
        elif bits:
            argument = (value.view(np.uint32) >> 16).astype(np.uint16)
        return argument, value.astype(np.float64)
    first, end = (0x28, 0x50) if form == "e4m3" else (0x34, 0x48)  # of like size: sums are exact
    codes = (rng.integers(first, end, shape) | rng.integers(0, 2, shape) << 7).astype(np.uint8)
    value = e4m3(codes) if form == "e4m3" else e5m2(codes)
    return codes if bits else narrow(value, "f8e4nv" if form == "e4m3" else "f8e5"), value


def scales(rng, shape, form, special):
    """(argument, values) of scales: e8m0, as signed integers for "i8", or e4m3.  `special` puts
    these codes into the first rows."""
    if form is None:
        return None, np.ones(shape)
    codes = rng.integers(124, 131, shape).astype(np.uint8)
    if form == "e4m3":
        codes = rng.integers(0x28, 0x50, shape).astype(np.uint8)
    codes[..., 0, 0] = special
    if form == "e4m3":
        value = e4m3(codes)
        return narrow(value, "f8e4nv"), value
    return codes.view(np.int8) if form == "i8" else codes, e8m0(codes)


FORMATS = ("e2m1", "e4m3", "e5m2", "bf16", "fp16")


def every_pair(function):
    """The function's case for all pairs of formats."""
    for a in FORMATS:
        for b in FORMATS:
            function = case(FILE, tol=1e-3, a=a, b=b)(function)
    return function


@every_pair
@case(FILE, tol=1e-3, a_pack=False)
@case(FILE, tol=1e-3, b_pack=False, shape=(16, 64, 64))
@case(FILE, tol=1e-3, a_pack=False, b_pack=False, shape=(64, 16, 128))
@case(FILE, tol=1e-3, a_pack=False, b="bf16", b_scale=None, batch=2)
@case(FILE, tol=1e-3, a="fp16", a_scale=None, b_pack=False, batch=3, acc=True)
@case(FILE, tol=1e-3, a="e4m3", b="e5m2", a_scale=None, b_scale=None, bits=True)
@case(FILE, tol=1e-3, a="bf16", b="e4m3", a_scale=None, bits=True, acc=True)
@case(FILE, tol=1e-3, a="e5m2", b="fp16", b_scale=None, bits=True)
@case(FILE, tol=1e-3, a_scale="i8", b_scale="i8")
@case(FILE, tol=1e-3, a_scale="e4m3", b_scale="e4m3")
@case(FILE, tol=1e-3, a_scale="e4m3", b_scale="e4m3", a_group=16, b_group=16, b_pack=False)
@case(FILE, tol=1e-3, a="e4m3", a_scale="e4m3", a_group=16, shape=(32, 16, 96))
@case(FILE, tol=1e-3, a_group=16, shape=(16, 16, 32), batch=2)
@case(FILE, tol=1e-3, special=255)
@case(FILE, tol=1e-3, a="e4m3", b="fp16", special=255)
@case(FILE, tol=1e-3, a="bf16", b="bf16", special=0, fast=True)
@case(FILE, tol=1e-3, a="bf16", b="bf16", b_scale=None, special=230)
@case(FILE, tol=1e-3, shape=(8, 24, 32))
@case(FILE, tol=1e-3, shape=(128, 128, 128), options=("--num-warps", "8"))
@case(FILE, tol=1e-3, b="bf16", b_scale=None, b_pack=True, shape=(64, 64, 64))
def scaled_product(rng, shape=(32, 32, 64), batch=0, a="e2m1", b="e2m1", a_scale="e8m0",
                   b_scale="e8m0", a_group=32, b_group=32, a_pack=True, b_pack=True, bits=False,
                   acc=False, fast=False, special=127):
    M, N, K = shape
    of = (batch,) if batch else ()
    (a_arg, x) = operand(rng, a, of + (M, K), -1 if a_pack or a != "e2m1" else -2, bits)
    (b_arg, y) = operand(rng, b, of + (K, N), -2 if b_pack or b != "e2m1" else -1, bits)
    a_scale_arg, s = scales(rng, of + (M, K // a_group), a_scale, special)
    b_scale_arg, t = scales(rng, of + (N, K // b_group), b_scale, special)
    start = eighths(rng, *of, M, N) if acc else None
    args = dict(a_ptr=a_arg, a_scale_ptr=a_scale_arg, b_ptr=b_arg, b_scale_ptr=b_scale_arg,
                acc_ptr=start, c_ptr=new("empty", "f32", *of, M, N))
    defines = dict(M=M, N=N, K=K, BATCH=batch, A=a, B=b, A_GROUP=a_group, B_GROUP=b_group,
                   A_K_PACK=a_pack or a != "e2m1", B_K_PACK=b_pack or b != "e2m1", FAST=fast)
    x = x * np.repeat(s, a_group, -1)
    y = y * np.repeat(t, b_group, -1).swapaxes(-1, -2)
    with np.errstate(invalid="ignore"):
        expected = x @ y + (start if acc else 0)
    return args, defines, "1", dict(c_ptr=expected)


@case(FILE, tol=0, kernel="scaled_product")
@case(FILE, tol=0, kernel="scaled_product", a="e4m3")
@case(FILE, tol=0, kernel="scaled_product", a="e5m2")
@case(FILE, tol=0, kernel="scaled_product", first=0, factor=2.0**125)
@case(FILE, tol=0, kernel="scaled_product", first=235, factor=2.0**-110)
@case(FILE, tol=0, kernel="scaled_product", a="e4m3", first=10, factor=2.0**120)
@case(FILE, tol=0, kernel="scaled_product", b="fp16", first=113, count=28)
@case(FILE, tol=0, kernel="scaled_product", a="e5m2", a_scale="e4m3", first=0, count=127)
@case(FILE, tol=0, kernel="scaled_product", a="e2m1", a_scale="e4m3", first=0, count=127)
def every_code(rng, a="e2m1", b="bf16", a_scale="e8m0", first=120, count=16, factor=1.0):
    """All finite codes of a format, K = 128 to a row, times a diagonal of `factor`; row i has the
    scale first + i.  The last row has the scale NaN, or elements that are not finite."""
    width = 128
    limits = dict(e2m1=16, e4m3=0x7F, e5m2=0x7C)
    codes = np.resize(np.arange(limits[a]), (count + 1, width)).astype(np.uint8)
    if a != "e2m1":
        codes |= np.where(rng.integers(0, 2, codes.shape), 128, 0).astype(np.uint8)
    scale = np.repeat(np.resize(np.arange(first, first + count), count + 1)[:, None],
                      width // 32, 1).astype(np.uint8)
    scale[-1] = 127 if a_scale == "e4m3" else 255
    x, s = dict(e2m1=e2m1, e4m3=e4m3, e5m2=e5m2)[a](codes), e8m0(scale)
    a_scale_arg = scale
    if a_scale == "e4m3":
        s = e4m3(scale)
        a_scale_arg = narrow(s, "f8e4nv")
    a_arg = codes[:, ::2] | codes[:, 1::2] << 4 if a == "e2m1" else codes
    diagonal = np.eye(width) * factor
    b_arg = bf16(diagonal) if b == "bf16" else diagonal.astype(np.float16)
    args = dict(a_ptr=a_arg, a_scale_ptr=a_scale_arg, b_ptr=b_arg, b_scale_ptr=None,
                acc_ptr=None, c_ptr=new("empty", "f32", count + 1, width))
    defines = dict(M=count + 1, N=width, K=width, BATCH=0, A=a, B=b, A_GROUP=32, B_GROUP=32,
                   A_K_PACK=True, B_K_PACK=True, FAST=False)
    return args, defines, "1", dict(c_ptr=x * np.repeat(s, 32, 1) * factor)


@case(FILE, tol=1e-3)
@case(FILE, tol=1e-3, a="e4m3", b="e2m1", shape=(100, 70, 96))
@case(FILE, tol=1e-3, a="bf16", a_scale=None, shape=(64, 96, 256), tile=(64, 64, 128))
@case(FILE, tol=1e-3, a="e5m2", b="e4m3", shape=(40, 64, 64), tile=(16, 32, 32))
@case(FILE, tol=1e-3, a="e2m1", b="e2m1", shape=(130, 128, 256), tile=(128, 128, 128),
      options=("--num-warps", "8"))
def scaled_matmul(rng, shape=(50, 40, 192), tile=(32, 32, 64), a="e2m1", b="e2m1",
                  a_scale="e8m0"):
    M, N, K = shape
    (a_arg, x), (b_arg, y) = operand(rng, a, (M, K), -1, True), operand(rng, b, (N, K), -1, True)
    a_arg = bf16(x) if a == "bf16" else a_arg
    a_scale_arg, s = scales(rng, (M, K // 32), a_scale, 127)
    b_scale_arg, t = scales(rng, (N, K // 32), "e8m0", 127)
    args = dict(a_ptr=a_arg, a_scale_ptr=a_scale_arg, b_ptr=b_arg, b_scale_ptr=b_scale_arg,
                c_ptr=new("empty", "f32", M, N), M=M, N=N, K=K)
    defines = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile), A=a, B=b)
    expected = (x * np.repeat(s, 32, -1)) @ (y * np.repeat(t, 32, -1)).T
    return args, defines, "cdiv(M, BLOCK_M), cdiv(N, BLOCK_N)", dict(c_ptr=expected)
