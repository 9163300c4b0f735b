"""Inline assembly: constraints, packing, blocks, predicates, conversions, bit tricks."""
import triton
import triton.language as tl


@triton.jit
def asm_add_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.inline_asm_elementwise("add.f32 $0, $1, 0f3F800000;", "=r,r", [x], dtype=tl.float32,
                                  is_pure=True, pack=1)
    tl.store(out_ptr + i, y, mask=i < n)


@triton.jit
def asm_unpack_max(a_ptr, b_ptr, wide_ptr, max_ptr, n, BLOCK: tl.constexpr):
    """Four bytes of one register become four integers; results of two kinds."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0)
    b = tl.load(b_ptr + i, mask=i < n, other=0.0)
    wide, most = tl.inline_asm_elementwise(
        asm="""
        {
            // Bytes of `a` as four integers.
            .reg .b8 tmp<4>;
            mov.b32 {tmp0, tmp1, tmp2, tmp3}, $8;
            cvt.u32.u8 $0, tmp0;
            cvt.u32.u8 $1, tmp1;
            cvt.u32.u8 $2, tmp2;
            cvt.u32.u8 $3, tmp3;
            /* and as floats */
            .reg .f32 f;
            cvt.rn.f32.u32 f, $0; max.f32 $4, f, $9;
            cvt.rn.f32.u32 f, $1; max.f32 $5, f, $10;
            cvt.rn.f32.u32 f, $2; max.f32 $6, f, $11;
            cvt.rn.f32.u32 f, $3; max.f32 $7, f, $12;
        }
        """,
        constraints="=r,=r,=r,=r,=f,=f,=f,=f,r,f,f,f,f",
        args=[a, b],
        dtype=(tl.int32, tl.float32),
        is_pure=True,
        pack=4,
    )
    tl.store(wide_ptr + i, wide, mask=i < n)
    tl.store(max_ptr + i, most, mask=i < n)


@triton.jit
def asm_int4_to_bf16(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """128 + nibble by bits, then minus 128: two elements a register."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.inline_asm_elementwise(
        """{
        .reg .b32 one, bias;
        mov.b32 one, 0x3f803f80;
        mov.b32 bias, 0xc300c300;
        lop3.b32 $0, $1, 0x000f000f, 0x43004300, 0xea;
        fma.rn.bf16x2 $0, $0, one, bias;
        }""", "=r,r", [x], dtype=tl.bfloat16, is_pure=True, pack=2)
    tl.store(out_ptr + i, y, mask=i < n)


@triton.jit
def asm_fp8_round_trip(x_ptr, bits_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    bits = tl.inline_asm_elementwise("cvt.rn.satfinite.e4m3x2.f32 $0, $2, $1;", "=h,f,f", [x],
                                     dtype=tl.uint8, is_pure=True, pack=2)
    back = tl.inline_asm_elementwise("cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h", [bits],
                                     dtype=tl.float16, is_pure=True, pack=2)
    tl.store(bits_ptr + i, bits, mask=i < n)
    tl.store(out_ptr + i, back.to(tl.float32), mask=i < n)


@triton.jit
def asm_bits(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Rows of results of instructions on bits, summed up by xor with rotations."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i, mask=i < n, other=0)
    r = tl.inline_asm_elementwise(
        """
        {
        .reg .b32 t, sum;
        .reg .u64 wide;
        .reg .pred p, q;
        bfe.u32 sum, $1, 3, 11;
        bfe.s32 t, $2, 5, 7;                   shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        bfi.b32 t, $1, $2, 4, 13;              shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        prmt.b32 t, $1, $2, 0x9260;            shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        shf.r.clamp.b32 t, $1, $2, 9;          shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        popc.b32 t, $1;                        shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        clz.b32 t, $2;                         shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        brev.b32 t, $1;                        shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        lop3.b32 t, $1, $2, sum, 0x96;         shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        mad.lo.s32 t, $1, $2, 12345;           shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        mul.hi.s32 t, $1, $2;                  shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        mul.wide.u32 wide, $1, $2;
        shr.u64 wide, wide, 13;
        cvt.u32.u64 t, wide;                   shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        dp4a.s32.u32 t, $1, $2, -7;            shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        mul24.lo.s32 t, $1, $2;                shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        sad.u32 t, $1, $2, 3;                  shf.l.wrap.b32 sum, sum, sum, 5; xor.b32 sum, sum, t;
        setp.lt.s32 p|q, $1, $2;
        selp.b32 t, 17, 21, q;
    @p  add.s32 t, t, $2;
    @!p sub.s32 t, t, $1;
        xor.b32 $0, sum, t;
        }
        """, "=r,r,r", [x, y], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + i, r, mask=i < n)


@triton.jit
def asm_bytes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Four bytes at once: x ^ 0x55 where its bit 3 is set, by masks."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.inline_asm_elementwise(
        "{ .reg .u32 %m; and.b32 %m, $1, 0x08080808; shr.u32 %m, %m, 3; mul.lo.u32 %m, %m, 255;"
        " and.b32 %m, %m, 0x55555555; xor.b32 $0, $1, %m; }", "=r,r", [x], dtype=tl.int8,
        is_pure=True, pack=4)
    tl.store(out_ptr + i, y, mask=i < n)


@triton.jit
def asm_approximations(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    y = tl.inline_asm_elementwise(
        """{
        .reg .f32 t;
        tanh.approx.f32 $0, $1;
        ex2.approx.ftz.f32 t, $1;    add.f32 $0, $0, t;
        lg2.approx.f32 t, $1;        add.f32 $0, $0, t;
        rcp.approx.ftz.f32 t, $1;    add.f32 $0, $0, t;
        sqrt.approx.f32 t, $1;       add.f32 $0, $0, t;
        rsqrt.approx.f32 t, $1;      add.f32 $0, $0, t;
        sin.approx.f32 t, $1;        add.f32 $0, $0, t;
        cos.approx.f32 t, $1;        fma.rn.f32 $0, t, 0f40000000, $0;
        div.full.f32 t, 0f3F800000, $1; add.f32 $0, $0, t;
        }""", "=&f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + i, y, mask=i < n)


@triton.jit
def asm_tf32(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    y = tl.inline_asm_elementwise("cvt.rna.tf32.f32 $0, $1;", "=r,f", [x], dtype=tl.float32,
                                  is_pure=True, pack=1)
    tl.store(out_ptr + i, y, mask=i < n)


@triton.jit
def asm_wide(x_ptr, y_ptr, sum_ptr, product_ptr, n, BLOCK: tl.constexpr):
    """64 bits, an input in an output's register, constants, a scalar among tiles, i16 and f16."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    s = tl.inline_asm_elementwise("mad.wide.s32 $0, $2, ${3}, $1;", "=l,l,r,n",
                                  [n.to(tl.int64), x, 7], dtype=tl.int64, is_pure=True, pack=1)
    s = tl.inline_asm_elementwise("add.s64 $0, $0, $2;", "=l,0,l", [s, i.to(tl.int64)],
                                  dtype=tl.int64, is_pure=True, pack=1)
    p = tl.inline_asm_elementwise("fma.rn.f64 $0, $1, $1, 0d3FF0000000000000;", "=d,d", [y],
                                  dtype=tl.float64, is_pure=True, pack=1)
    h = tl.inline_asm_elementwise("add.f16 $0, $1, $1;", "=h,h", [y.to(tl.float16)],
                                  dtype=tl.float16, is_pure=True, pack=1)
    k = tl.inline_asm_elementwise("neg.s16 $0, $1;", "=h,h", [x.to(tl.int16)],
                                  dtype=tl.int16, is_pure=True, pack=1)
    tl.store(sum_ptr + i, s + k, mask=i < n)
    tl.store(product_ptr + i, p + h.to(tl.float64), mask=i < n)


@triton.jit
def asm_shapes(x_ptr, y_ptr, out_ptr, ROWS: tl.constexpr, COLS: tl.constexpr, PACK: tl.constexpr):
    """Arguments of several shapes in a loop; the result feeds a reduction."""
    r, c = tl.arange(0, ROWS), tl.arange(0, COLS)
    x = tl.load(x_ptr + r)[:, None]
    total = tl.zeros((ROWS, ), tl.float32)
    for step in range(3):
        y = tl.load(y_ptr + step * COLS + c)[None, :]
        z = tl.inline_asm_elementwise("fma.rn.f32 $0, $1, $2, $3;", "=f,f,f,f", [x, y, 0.5],
                                      dtype=tl.float32, is_pure=True, pack=PACK) if PACK == 1 else \
            tl.inline_asm_elementwise(
                "fma.rn.f32 $0, $2, $4, $6; fma.rn.f32 $1, $3, $5, $7;", "=f,=f,f,f,f,f,f,f",
                [x, y, 0.5], dtype=tl.float32, is_pure=True, pack=PACK)
        total += tl.sum(z, axis=1)
    tl.store(out_ptr + r, total)


@triton.jit
def asm_dot(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    """Operands and the result of a product: fragments of matrix instructions."""
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + at)
    a = tl.inline_asm_elementwise("add.f16x2 $0, $1, $1;", "=r,r", [a], dtype=tl.float16,
                                  is_pure=True, pack=2)
    c = tl.dot(a, tl.load(b_ptr + at))
    c = tl.inline_asm_elementwise("neg.f32 $0, $1;", "=f,f", [c], dtype=tl.float32, is_pure=True,
                                  pack=1)
    tl.store(out_ptr + at, c)


@triton.jit
def asm_scalars(out_ptr, n):
    """Scalars, and assembly that is not pure."""
    x = tl.inline_asm_elementwise("mul.lo.s32 $0, $1, $2;", "=r,r,r", [n, 3], dtype=tl.int32,
                                  is_pure=False, pack=1)
    k = tl.inline_asm_elementwise("mov.u32 $0, 11;", "=r", [], dtype=tl.int32, is_pure=False,
                                  pack=1)
    flag = tl.inline_asm_elementwise("setp.gt.s32 $0, $1, 4;", "=b,r", [n], dtype=tl.int1,
                                     is_pure=True, pack=1)
    if flag:
        tl.store(out_ptr, x + k)
    else:
        tl.store(out_ptr, x - k)


@triton.jit
def asm_registers(out_ptr, BLOCK: tl.constexpr):
    """What GPUs alone have."""
    threads = tl.inline_asm_elementwise("mov.u32 $0, %ntid.x;", "=r", [], dtype=tl.int32,
                                        is_pure=True, pack=1)
    time = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64,
                                     is_pure=False, pack=1)
    tl.inline_asm_elementwise("bar.sync 0; mov.u32 $0, 0;", "=r", [], dtype=tl.int32,
                              is_pure=False, pack=1)
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.where(time > 0, threads, 0) + i * 0)


@triton.jit
def asm_memory(x_ptr, flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Loads and stores of the assembly's own, under masks."""
    i = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise(
        """{
        .reg .pred %p<2>;
        setp.ne.u32 %p1, $2, 0;
        mov.b32 $0, 0;
        @%p1 ld.global.relaxed.gpu.b32 $0, [$1];
        }""", "=r,l,r", [x_ptr + i, (i < n).to(tl.int32)], dtype=tl.float32, is_pure=False, pack=1)
    tl.store(out_ptr + i, x * 2, mask=i < n)
    tl.debug_barrier()
    tl.inline_asm_elementwise("st.global.release.gpu.b32 [$1], $2; mov.b32 $0, 0;", "=r,l,r",
                              [flag_ptr, n], dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def asm_larger(a, b):
    return tl.inline_asm_elementwise("max.s32 $0, $1, $2;", "=r,r,r", [a, b], dtype=tl.int32,
                                     is_pure=True, pack=1)


@triton.jit
def asm_sum_less(a, b):
    """a + b - 5, of two results and a constant."""
    more, less = tl.inline_asm_elementwise(
        "{ .reg .s32 t; add.s32 t, $2, $3; add.s32 $0, t, $4; sub.s32 $1, t, 5; }", "=r,=r,r,r,r",
        [a, b, 5], dtype=(tl.int32, tl.int32), is_pure=True, pack=1)
    return less - (more - less) + 10


@triton.jit
def asm_combined(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.associative_scan(x, 0, asm_sum_less))
    tl.store(out_ptr + N, tl.reduce(x, 0, asm_larger))
    tl.store(out_ptr + N + 1, tl.reduce(x, 0, asm_sum_less))
