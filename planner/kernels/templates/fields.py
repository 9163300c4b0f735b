

@triton.jit
def two_fields(word, mask: tl.constexpr, base: tl.constexpr, dtype: tl.constexpr):
    # The fields at bits 0 and 16, as 16-bit floats: `base` plus the field, where `base` is the
    # power of two whose mantissa counts in ones.  Mask and base have the same 16 bits twice.
    return tl.inline_asm_elementwise(
        "{ .reg .b32 both; lop3.b32 both, $2, $3, $4, 0xea; mov.b32 {$0, $1}, both; }",
        "=h,=h,r,r,r", [word, mask, base], dtype=(dtype, dtype), is_pure=True, pack=1)


@triton.jit
def one_field(word, mask: tl.constexpr, base: tl.constexpr, dtype: tl.constexpr):
    # The same of the field at bit 0.
    return tl.inline_asm_elementwise(
        "{ .reg .b32 both; lop3.b32 both, $1, $2, $3, 0xea; cvt.u16.u32 $0, both; }",
        "=h,r,r,r", [word, mask, base], dtype=dtype, is_pure=True, pack=1)


@triton.jit
def scale_halves(x, scale, more):
    # x * scale + more, rounded once.
    if x.dtype == tl.float16:
        return tl.inline_asm_elementwise("fma.rn.f16 $0, $1, $2, $3;", "=h,h,h,h",
                                         [x, scale, more], dtype=tl.float16, is_pure=True, pack=1)
    else:
        return tl.inline_asm_elementwise("fma.rn.bf16 $0, $1, $2, $3;", "=h,h,h,h",
                                         [x, scale, more], dtype=tl.bfloat16, is_pure=True, pack=1)
