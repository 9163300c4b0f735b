

@triton.jit
def two_fields(word, mask: tl.constexpr, base: tl.constexpr, dtype: tl.constexpr):
    # The fields at bits 0 and 16, as 16-bit floats: `base` plus the field, where `base` is the
    # power of two whose mantissa counts in ones.  Mask and base have the same 16 bits twice.
    return tl.inline_asm_elementwise(
        "{ .reg .b32 both; lop3.b32 both, $2, $3, $4, 0xea; mov.b32 {$0, $1}, both; }",
        "=h,=h,r,r,r", [word, mask, base], dtype=(dtype, dtype), is_pure=True, pack=1)


@triton.jit
def two_words(word, next, mask: tl.constexpr, base: tl.constexpr, dtype: tl.constexpr):
    # The same of the fields at bit 0 of two words.
    return tl.inline_asm_elementwise(
        "{ .reg .b32 both; prmt.b32 both, $2, $3, 0x5410; lop3.b32 both, both, $4, $5, 0xea; "
        "mov.b32 {$0, $1}, both; }",
        "=h,=h,r,r,r,r", [word, next, mask, base], dtype=(dtype, dtype), is_pure=True, pack=1)


@triton.jit
def one_field(word, mask: tl.constexpr, base: tl.constexpr, dtype: tl.constexpr):
    # The same of the field at bit 0.
    return tl.inline_asm_elementwise(
        "{ .reg .b32 both; lop3.b32 both, $1, $2, $3, 0xea; cvt.u16.u32 $0, both; }",
        "=h,r,r,r", [word, mask, base], dtype=dtype, is_pure=True, pack=1)


@triton.jit
def floats_of_bytes(x):
    # Four signed bytes as bf16: 128 plus the lowest seven bits, less 128 or, of negative ones, 256,
    # whose bits differ in the byte's sign alone.
    return tl.inline_asm_elementwise(
        """{
        .reg .b32 a, b, c, d, minus;
        mov.b32 minus, 0xbf80bf80;
        prmt.b32 a, $2, 0, 0x4140;
        prmt.b32 c, $2, 0, 0x4342;
        lop3.b32 b, a, 0x00800080, 0x43004300, 0xea;
        lop3.b32 d, c, 0x00800080, 0x43004300, 0xea;
        lop3.b32 a, a, 0x007f007f, 0x43004300, 0xea;
        lop3.b32 c, c, 0x007f007f, 0x43004300, 0xea;
        fma.rn.bf16x2 $0, b, minus, a;
        fma.rn.bf16x2 $1, d, minus, c;
        }""",
        "=r,=r,r", [x], dtype=tl.bfloat16, is_pure=True, pack=4)


@triton.jit
def bytes_of_table(pointer):
    # The low bytes of 16 numbers of 16 bits, four in a word, then the high ones.
    words = ()
    for shift in tl.static_range(0, 16, 8):
        for first in tl.static_range(0, 16, 4):
            word = 0
            for i in tl.static_range(4):
                bits = tl.load(pointer + first + i).to(tl.int16, bitcast=True).to(tl.int32)
                word = word | ((bits >> shift) & 255) << (8 * i)
            words = words + (word,)
    return words


@triton.jit
def choose_numbers(fields, table, dtype: tl.constexpr):
    # The numbers of a table that the lowest four fields of four bits choose, in two axes of two:
    # of bytes, and of fields in a byte.  A permutation chooses from eight bytes, another one from
    # those of the table's halves by the fields' upper bits.
    a, b, c, d = tl.inline_asm_elementwise(
        """{
        .reg .b32 low, upper, l, h, l2, h2;
        and.b32 low, $4, 0x7777;
        shr.u32 upper, $4, 1;
        lop3.b32 upper, upper, 0x4444, 0x3210, 0xea;
        prmt.b32 l, $5, $6, low;
        prmt.b32 l2, $7, $8, low;
        prmt.b32 h, $9, $10, low;
        prmt.b32 h2, $11, $12, low;
        prmt.b32 l, l, l2, upper;
        prmt.b32 h, h, h2, upper;
        prmt.b32 low, l, h, 0x5140;
        prmt.b32 upper, l, h, 0x7362;
        mov.b32 {$0, $1}, low;
        mov.b32 {$2, $3}, upper;
        }""",
        "=h,=h,=h,=h,r,r,r,r,r,r,r,r,r",
        [fields, table[0], table[1], table[2], table[3], table[4], table[5], table[6], table[7]],
        dtype=(dtype, dtype, dtype, dtype), is_pure=True, pack=1)
    return tl.join(tl.join(a, c), tl.join(b, d))


@triton.jit
def scale_halves(x, scale, more):
    # x * scale + more, rounded once.
    if x.dtype == tl.float16:
        return tl.inline_asm_elementwise("fma.rn.f16 $0, $1, $2, $3;", "=h,h,h,h",
                                         [x, scale, more], dtype=tl.float16, is_pure=True, pack=1)
    else:
        return tl.inline_asm_elementwise("fma.rn.bf16 $0, $1, $2, $3;", "=h,h,h,h",
                                         [x, scale, more], dtype=tl.bfloat16, is_pure=True, pack=1)
