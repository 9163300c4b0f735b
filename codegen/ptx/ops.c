/* Elementwise ops: a row of templates each, by the class of the type. */
#include "codegen/ptx/ptx.h"

#include "codegen/messages.h"

/* ---- special cases ---- */

/* x - trunc(x/y)*y, exactly, by long division: y is doubled while twice y is at most |x|, then
 * halved back, with a subtraction (which is exact) at each step.  0 and infinities branch around
 * the loops, which would not end for them. */
#define FMOD(T, R, P, INF, NOUGHT, NAN, HALF)                                           \
  "abs." T " $0" R ", $a; abs." T " $1" R ", $b; mov." P " $2" R ", $1" R               \
  ";"                                                                                   \
  "setp.lt." T " $0p, $0" R ", " INF "; setp.gt.and." T " $0p, $1" R ", " NOUGHT        \
  ", $0p;"                                                                              \
  "@!$0p mov." P " $0" R ", " NAN                                                       \
  "; @!$0p bra $2x;"                                                                    \
  "setp.eq." T " $0p, $1" R ", " INF                                                    \
  "; @$0p bra $2x;"                                                                     \
  "$0x:; add.rn." T " $3" R ", $2" R ", $2" R "; setp.le." T " $0p, $3" R ", $0" R      \
  ";"                                                                                   \
  "@$0p mov." P " $2" R ", $3" R                                                        \
  "; @$0p bra $0x;"                                                                     \
  "$1x:; setp.ge." T " $0p, $0" R ", $2" R "; @$0p sub.rn." T " $0" R ", $0" R ", $2" R \
  ";"                                                                                   \
  "mul.rn." T " $2" R ", $2" R ", " HALF "; setp.ge." T " $0p, $2" R ", $1" R           \
  "; @$0p bra $1x;"                                                                     \
  "$2x:; copysign." T " $d, $a, $0" R
#define FMOD32 FMOD("f32", "f", "b32", "0f7F800000", "0f00000000", "0f7FC00000", "0f3F000000")
#define FMOD64                                                                              \
  FMOD("f64", "D", "b64", "0d7FF0000000000000", "0d0000000000000000", "0d7FF8000000000000", \
       "0d3FE0000000000000")

/* There is no min.NaN for f64. */
#define PICK_NAN64(op)                                                              \
  op ".f64 $0D, $a, $b; setp.nan.f64 $0p, $a, $b; mov.b64 $1D, 0d7FF8000000000000;" \
     "selp.f64 $d, $1D, $0D, $0p"

/* The amount, of 64 bits, in 32: beyond the width all are alike. */
#define SHIFT64(op) "min.u64 $0l, $b, 64; cvt.u32.u64 $0r, $0l; " op " $d, $a, $0r"

/* ---- the table ---- */

#define INT(op)                                                                          \
  .s32 = op ".s32 $d, $a, $b", .u32 = op ".u32 $d, $a, $b", .s64 = op ".s64 $d, $a, $b", \
  .u64 = op ".u64 $d, $a, $b"
#define BITS(op)                                                                         \
  .s32 = op ".b32 $d, $a, $b", .u32 = op ".b32 $d, $a, $b", .s64 = op ".b64 $d, $a, $b", \
  .u64 = op ".b64 $d, $a, $b"
#define FLOAT(op) .f32 = op ".f32 $d, $a, $b", .f64 = op ".f64 $d, $a, $b"
#define FLOAT1(op) .f32 = op ".f32 $d, $a", .f64 = op ".f64 $d, $a"
/* A sum, difference or product of two f16 or bf16 is the same if it is rounded at once, or to f32
 * first: 24 bits are more than twice 11 and 2. */
#define HALVES(op) .f16 = op ".f16 $d, $a, $b", .bf16_native = op ".bf16 $d, $a, $b"
#define COMPARE(op, unordered, i)                                                               \
  .s32 = "setp." op ".s32 $d, $a, $b", .u32 = "setp." op ".u32 $d, $a, $b",                     \
  .s64 = "setp." op ".s64 $d, $a, $b", .u64 = "setp." op ".u64 $d, $a, $b",                     \
  .f32 = "setp." op unordered ".f32 $d, $a, $b", .f64 = "setp." op unordered ".f64 $d, $a, $b", \
  .f16 = "setp." op unordered ".f16 $d, $a, $b", .i1 = i

#define SMALL(text) .small_s = text, .small_u = text

#define I1_AND "and.pred $d, $a, $b"
#define I1_OR "or.pred $d, $a, $b"
#define I1_XOR "xor.pred $d, $a, $b"
#define I1_A_NOT_B "not.pred $0p, $b; and.pred $d, $a, $0p"
#define I1_A_OR_NOT_B "not.pred $0p, $b; or.pred $d, $a, $0p"
#define I1_SAME "mov.pred $d, $a"

static const OpRow rows[TILE_OP_COUNT] = {
    [TILE_ADD] = {INT("add"), FLOAT("add.rn"), HALVES("add.rn"), .i1 = I1_XOR, .wraps = true},
    [TILE_SUB] = {INT("sub"), FLOAT("sub.rn"), HALVES("sub.rn"), .i1 = I1_XOR, .wraps = true},
    [TILE_MUL] = {INT("mul.lo"), FLOAT("mul.rn"), HALVES("mul.rn"), .i1 = I1_AND, .wraps = true},
    [TILE_DIV] = {INT("div"), .f32 = "div.full.f32 $d, $a, $b", .f64 = "div.rn.f64 $d, $a, $b",
                  .narrow = "div.rn.f32 $d, $a, $b", .i1 = I1_A_OR_NOT_B, .wraps = true},
    [TILE_DIV_RN] = {FLOAT("div.rn")},
    [TILE_REM] = {INT("rem"), .f32 = FMOD32, .f64 = FMOD64, .i1 = I1_A_NOT_B},
    [TILE_MULHI] = {INT("mul.hi"), .i1 = "setp.ne.b32 $d, 0, 0",
                    .small_s = "mul.lo.s32 $0r, $a, $b; shr.s32 $d, $0r, $c",
                    .small_u = "mul.lo.u32 $0r, $a, $b; shr.u32 $d, $0r, $c", .small_width = true},
    [TILE_FMA] = {.f32 = "fma.rn.f32 $d, $a, $b, $c", .f64 = "fma.rn.f64 $d, $a, $b, $c"},
    [TILE_DOT2] = {.s32 = "shl.b32 $0r, $a, 16; shl.b32 $1r, $b, 16; mov.b32 $2r, $c; "
                          "fma.rn.f32 $2r, $0r, $1r, $2r; and.b32 $0r, $a, 0xffff0000; "
                          "and.b32 $1r, $b, 0xffff0000; fma.rn.f32 $d, $0r, $1r, $2r"},
    [TILE_DOT4] = {.s32 = "dp4a.s32.s32 $d, $a, $b, $c"},
    [TILE_NEG] = {.s32 = "neg.s32 $d, $a",
                  .u32 = "neg.s32 $d, $a",
                  .s64 = "neg.s64 $d, $a",
                  .u64 = "neg.s64 $d, $a",
                  FLOAT1("neg"),
                  .f16 = "xor.b16 $d, $a, 0x8000",
                  .bf16 = "xor.b16 $d, $a, 0x8000",
                  .f8 = "xor.b32 $d, $a, 0x80",
                  .i1 = I1_SAME,
                  .wraps = true},
    [TILE_ABS] = {.s32 = "abs.s32 $d, $a",
                  .u32 = "mov.b32 $d, $a",
                  .s64 = "abs.s64 $d, $a",
                  .u64 = "mov.b64 $d, $a",
                  FLOAT1("abs"),
                  .f16 = "and.b16 $d, $a, 0x7fff",
                  .bf16 = "and.b16 $d, $a, 0x7fff",
                  .f8 = "and.b32 $d, $a, 0x7f",
                  .i1 = I1_SAME,
                  .wraps = true},
    [TILE_MIN] = {INT("min"), FLOAT("min"), .f16 = "min.f16 $d, $a, $b",
                  .bf16 = "min.bf16 $d, $a, $b", .i1 = I1_AND},
    [TILE_MAX] = {INT("max"), FLOAT("max"), .f16 = "max.f16 $d, $a, $b",
                  .bf16 = "max.bf16 $d, $a, $b", .i1 = I1_OR},
    [TILE_MIN_NAN] = {.f32 = "min.NaN.f32 $d, $a, $b",
                      .f64 = PICK_NAN64("min"),
                      .f16 = "min.NaN.f16 $d, $a, $b",
                      .bf16 = "min.NaN.bf16 $d, $a, $b"},
    [TILE_MAX_NAN] = {.f32 = "max.NaN.f32 $d, $a, $b",
                      .f64 = PICK_NAN64("max"),
                      .f16 = "max.NaN.f16 $d, $a, $b",
                      .bf16 = "max.NaN.bf16 $d, $a, $b"},
    [TILE_AND] = {BITS("and"), .i1 = I1_AND},
    [TILE_OR] = {BITS("or"), .i1 = I1_OR},
    [TILE_XOR] = {BITS("xor"), .i1 = I1_XOR},
    [TILE_NOT] = {.s32 = "not.b32 $d, $a",
                  .u32 = "not.b32 $d, $a",
                  .s64 = "not.b64 $d, $a",
                  .u64 = "not.b64 $d, $a",
                  .i1 = "not.pred $d, $a",
                  .wraps = true},
    [TILE_SHL] = {.s32 = "shl.b32 $d, $a, $b",
                  .u32 = "shl.b32 $d, $a, $b",
                  .s64 = SHIFT64("shl.b64"),
                  .u64 = SHIFT64("shl.b64"),
                  .i1 = I1_A_NOT_B,
                  .wraps = true,
                  .shift = true},
    [TILE_SHR] = {.s32 = "shr.s32 $d, $a, $b",
                  .u32 = "shr.u32 $d, $a, $b",
                  .s64 = SHIFT64("shr.s64"),
                  .u64 = SHIFT64("shr.u64"),
                  .i1 = I1_A_NOT_B,
                  .shift = true},
    [TILE_RCP] = {.f32 = "rcp.approx.ftz.f32 $d, $a", .f64 = "rcp.rn.f64 $d, $a"},
    [TILE_SQRT] = {.f32 = "sqrt.approx.f32 $d, $a", .f64 = "sqrt.rn.f64 $d, $a"},
    [TILE_SQRT_RN] = {FLOAT1("sqrt.rn")},
    [TILE_RSQRT] = {.f32 = "rsqrt.approx.f32 $d, $a",
                    .f64 = "sqrt.rn.f64 $0D, $a; rcp.rn.f64 $d, $0D"},
    [TILE_EXP2] = {.f32 = "ex2.approx.ftz.f32 $d, $a",
                   .f32_denormal = "ex2.approx.f32 $d, $a",
                   .no_f64 = true},
    [TILE_LOG2] = {.f32 = "lg2.approx.f32 $d, $a", .no_f64 = true},
    [TILE_SIN] = {.f32 = "sin.approx.f32 $d, $a", .no_f64 = true},
    [TILE_COS] = {.f32 = "cos.approx.f32 $d, $a", .no_f64 = true},
    [TILE_TANH] = {.f32 = "tanh.approx.f32 $d, $a", .no_f64 = true},
    [TILE_FLOOR] = {.f32 = "cvt.rmi.f32.f32 $d, $a",
                    .f64 = "cvt.rmi.f64.f64 $d, $a",
                    .f16 = "cvt.rmi.f16.f16 $d, $a"},
    [TILE_CEIL] = {.f32 = "cvt.rpi.f32.f32 $d, $a",
                   .f64 = "cvt.rpi.f64.f64 $d, $a",
                   .f16 = "cvt.rpi.f16.f16 $d, $a"},
    [TILE_TRUNC] = {.f32 = "cvt.rzi.f32.f32 $d, $a",
                    .f64 = "cvt.rzi.f64.f64 $d, $a",
                    .f16 = "cvt.rzi.f16.f16 $d, $a"},
    [TILE_RINT] = {.f32 = "cvt.rni.f32.f32 $d, $a",
                   .f64 = "cvt.rni.f64.f64 $d, $a",
                   .f16 = "cvt.rni.f16.f16 $d, $a"},
    [TILE_POPC] = {.s32 = "popc.b32 $d, $a",
                   .u32 = "popc.b32 $d, $a",
                   .s64 = "popc.b64 $0r, $a; cvt.u64.u32 $d, $0r",
                   .u64 = "popc.b64 $0r, $a; cvt.u64.u32 $d, $0r",
                   .i1 = I1_SAME,
                   SMALL("shl.b32 $0r, $a, $c; popc.b32 $d, $0r")},
    [TILE_CLZ] =
        {.s32 = "clz.b32 $d, $a",
         .u32 = "clz.b32 $d, $a",
         .s64 = "clz.b64 $0r, $a; cvt.u64.u32 $d, $0r",
         .u64 = "clz.b64 $0r, $a; cvt.u64.u32 $d, $0r",
         .i1 = "not.pred $d, $a",
         SMALL("shl.b32 $0r, $a, $c; clz.b32 $0r, $0r; sub.s32 $1r, 32, $c; min.u32 $d, $0r, $1r")},
    [TILE_BREV] = {.s32 = "brev.b32 $d, $a",
                   .u32 = "brev.b32 $d, $a",
                   .s64 = "brev.b64 $d, $a",
                   .u64 = "brev.b64 $d, $a",
                   .i1 = I1_SAME,
                   .small_s = "brev.b32 $0r, $a; shr.s32 $d, $0r, $c",
                   .small_u = "brev.b32 $0r, $a; shr.u32 $d, $0r, $c"},
    [TILE_LT] = {COMPARE("lt", "", "not.pred $0p, $a; and.pred $d, $0p, $b")},
    [TILE_LE] = {COMPARE("le", "", "not.pred $0p, $a; or.pred $d, $0p, $b")},
    [TILE_GT] = {COMPARE("gt", "", I1_A_NOT_B)},
    [TILE_GE] = {COMPARE("ge", "", I1_A_OR_NOT_B)},
    [TILE_EQ] = {COMPARE("eq", "", "xor.pred $0p, $a, $b; not.pred $d, $0p")},
    [TILE_NE] = {COMPARE("ne", "u", I1_XOR)},
};

static const OpRow *ptx_op_row(TileCode op) { return &rows[op]; }

/* ---- choosing ---- */

static bool is_small_int(DType t) {
  return dtype_is_int(t) && (dtype_bits(t) == 8 || dtype_bits(t) == 16);
}

/* The template that works on t's own registers, NULL if it goes by way of f32. */
static const char *native(const Ptx *p, const OpRow *r, DType t) {
  switch (t) {
    case DT_I1: return r->i1;
    case DT_I8:
    case DT_I16:
    case DT_I32: return r->s32;
    case DT_U8:
    case DT_U16:
    case DT_U32: return r->u32;
    case DT_I64: return r->s64;
    case DT_U64:
    case DT_PTR: return r->u64;
    case DT_F8E5:
    case DT_F8E4NV:
    case DT_F8E4B15: return r->f8;
    case DT_F16: return r->f16;
    case DT_BF16:
      return r->bf16 || !machine_has(p->machine, HAS_BF16_ARITHMETIC) ? r->bf16 : r->bf16_native;
    case DT_F32: return r->f32_denormal && p->nest->options.denormals ? r->f32_denormal : r->f32;
    case DT_F64: return r->f64;
    default: return NULL;
  }
}

static bool is_compare(TileCode op) { return op >= TILE_LT && op <= TILE_NE; }

static void small_op(Ptx *p, const OpRow *r, DType t, Operand d, const Operand *x) {
  int bits = (int)dtype_bits(t);
  ptx_emit(p, dtype_is_signed(t) ? r->small_s : r->small_u, d, x[0], x[1],
           ptx_int(r->small_width ? bits : 32 - bits));
}

/* An op on t in the registers of t. */
static void native_op(Ptx *p, const OpRow *r, const char *text, DType t, Operand d, Operand *x) {
  if (t == DT_BF16 && text == r->bf16_native) ptx_needs(p, 78);
  for (int i = 0; ptx_class(t) == RC_B16 && i < 3 && x[i].kind; i++)
    x[i] = ptx_in_register(p, x[i], RC_B16);
  if (!is_small_int(t)) {
    ptx_emit(p, text, d, x[0], x[1], x[2]);
  } else if (r->small_s) {
    small_op(p, r, t, d, x);
  } else if (r->wraps) {
    Operand wide = ptx_temp(p, RC_B32);
    ptx_emit(p, text, wide, x[0], x[1], x[2]);
    ptx_emit2(p, ptx_extend(t), d, wide);
  } else {
    ptx_emit(p, text, d, x[0], x[1], x[2]);
  }
}

/* f8, bf16 and f16, which were widened: the op is done in f32, the result rounded. */
static void widened_op(Ptx *p, TileCode op, DType t, Operand d, const Operand *x) {
  const OpRow *r = ptx_op_row(op);
  const char *text = r->narrow ? r->narrow : r->f32;
  if (is_compare(op)) {
    ptx_emit(p, text, d, x[0], x[1], x[2]);
    return;
  }
  Operand f = ptx_temp(p, RC_F32);
  ptx_emit(p, text, f, x[0], x[1], x[2]);
  ptx_narrow(p, t, d, f, false);
}

static bool is_widened(const OpRow *r, const char *text, DType t) {
  return !text && dtype_is_float(t) && dtype_bits(t) < 32 && r->f32;
}

void ptx_apply(Ptx *p, TileCode op, DType t, Operand d, Operand a, Operand b) {
  const OpRow *r = ptx_op_row(op);
  const char *text = native(p, r, t);
  Operand x[3] = {a, b};
  if (is_widened(r, text, t)) {
    x[0] = ptx_widen(p, t, a);
    x[1] = ptx_widen(p, t, b);
    widened_op(p, op, t, d, x);
  } else {
    native_op(p, r, text, t, d, x);
  }
}

/* Shifts by constants.  PTX clamps an amount of the width and more, but ptxas 13.0 takes a constant
 * 64 for 0. */
static const char *shift_by_constant(TileCode op, DType t, Operand *amount) {
  bool wide = dtype_bits(t) == 64;
  if (amount->kind != PO_INT) return NULL;
  uint64_t most = wide ? 63 : 31;
  if ((uint64_t)amount->bits > most) {
    if (op == TILE_SHL || !dtype_is_signed(t)) return wide ? "mov.b64 $d, 0" : "mov.b32 $d, 0";
    amount->bits = most;
  }
  if (!wide) return NULL;
  if (op == TILE_SHL) return "shl.b64 $d, $a, $b";
  return dtype_is_signed(t) ? "shr.s64 $d, $a, $b" : "shr.u64 $d, $a, $b";
}

/* A 64-bit product with a power of two, in a kernel with matrix instructions.  ptxas joins it to
 * the sum after it, by four instructions of the multiplier for each address of a copy; after a
 * shift the sum is two additions: 99 instructions for 122 in a step of a 128x128x64 tile. */
static const char *shift_for_product(const Ptx *p, TileCode op, DType t, Operand *by) {
  bool power = by->kind == PO_INT && by->bits > 1 && !(by->bits & (by->bits - 1));
  if (op != TILE_MUL || !power || !p->multiplies || !dtype_is_int(t) || dtype_bits(t) != 64)
    return NULL;
  by->bits = __builtin_ctzll((unsigned long long)by->bits);
  return "shl.b64 $d, $a, $b";
}

/* Is it -x, in 32 bits?  *x becomes its operand. */
static bool is_negated_source(TileCode op, DType t, const Operand *sources, Operand *x) {
  bool minus_first = sources[0].kind == PO_INT && sources[0].bits == -1;
  if (!dtype_is_int(t) || dtype_bits(t) > 32 || t == DT_I1) return false;
  *x = sources[op == TILE_SUB || (op == TILE_MUL && minus_first)];
  switch (op) {
    case TILE_NEG: return true;
    case TILE_SUB: return sources[0].kind == PO_INT && sources[0].bits == 0;
    case TILE_MUL: return minus_first || (sources[1].kind == PO_INT && sources[1].bits == -1);
    default: return false;
  }
}

/* -x as ~(x - 1).  From sm_90 on, ptxas 13.0 makes one instruction of max(a, max(b, -c)) on signed
 * integers, and of that of minima, and loses the sign of c; this form it leaves alone. */
static const char *const opaque_negation = "add.s32 $0r, $a, -1; not.b32 $d, $0r";

static void table_op(Ptx *p, const NestStmt *s, Operand d) {
  const OpRow *r = ptx_op_row(s->op);
  const char *text = native(p, r, s->type);
  bool widened = is_widened(r, text, s->type);
  if (!text && !widened) {
    ptx_fail(p, E_GEN_OP, tile_op_name(s->op), dtype_name(s->type), p->machine->name);
    return;
  }
  Operand x[3] = {0};
  for (uint32_t i = 0; i < s->nsrcs && i < 3; i++)
    x[i] = widened ? ptx_widen_ref(p, &s->srcs[i], s->type) : ptx_source(p, &s->srcs[i], s->type);
  const char *shift = r->shift ? shift_by_constant(s->op, s->type, &x[1]) : NULL;
  if (!shift) shift = shift_for_product(p, s->op, s->type, &x[1]);
  if (shift) text = shift;
  Operand negated;
  if (p->merges_extrema && is_negated_source(s->op, s->type, x, &negated)) {
    text = opaque_negation;
    x[0] = negated;
  }
  d = ptx_dest_of(p, s, d);
  bool divides = dtype_is_int(s->type) && (s->op == TILE_DIV || s->op == TILE_REM);
  if (divides && s->type != DT_I1 && ptx_divide_by_constant(p, s->op, s->type, d, x[0], x[1]))
    return;
  if (widened) widened_op(p, s->op, s->type, d, x);
  else native_op(p, r, text, s->type, d, x);
}

/* ---- ops without a row ---- */

static const char *const selects[RC_COUNT] = {
    [RC_B16] = "selp.b16 $d, $b, $c, $a",
    [RC_B32] = "selp.b32 $d, $b, $c, $a",
    [RC_F32] = "selp.f32 $d, $b, $c, $a",
    [RC_B64] = "selp.b64 $d, $b, $c, $a",
    [RC_F64] = "selp.f64 $d, $b, $c, $a",
    [RC_PRED] =
        "and.pred $0p, $a, $b; not.pred $1p, $a; and.pred $1p, $1p, $c;"
        "or.pred $d, $0p, $1p",
};

static void ptx_select(Ptx *p, const NestStmt *s, Operand d) {
  Operand c = ptx_source(p, &s->srcs[0], DT_I1), a = ptx_source(p, &s->srcs[1], s->type);
  Operand b = ptx_source(p, &s->srcs[2], s->type);
  ptx_emit(p, selects[ptx_class(s->type)], ptx_dest_of(p, s, d), c, a, b);
}

/* pointer + constant * size */
static void add_constant(Ptx *p, Operand d, Operand base, uint64_t n) {
  ptx_emit(p, "add.s64 $d, $a, $b", d, base, ptx_int((int64_t)n), base);
}

static void ptr_add(Ptx *p, const NestStmt *s, Operand d) {
  int64_t size = dtype_bytes(s->elem);
  const Ref *by = &s->srcs[1];
  DType t = by->kind == REF_VAR ? by->var->dtype : DT_I64;
  Operand base = ptx_source_reg(p, &s->srcs[0], DT_PTR), n = ptx_source(p, by, t);
  d = ptx_dest_of(p, s, d);
  if (n.kind == PO_INT) {
    add_constant(p, d, base, (uint64_t)n.bits * (uint64_t)size);
  } else if (t == DT_I1) {
    ptx_emit(p, "selp.b64 $0l, $b, 0, $c; add.s64 $d, $a, $0l", d, base, ptx_int(size), n);
  } else if (dtype_bits(t) == 64) {
    const char *text =
        size == 1 ? "add.s64 $d, $a, $b" : "shl.b64 $0l, $b, $c; add.s64 $d, $a, $0l";
    ptx_emit(p, text, d, base, n, ptx_int(__builtin_ctzll((unsigned long long)size)));
  } else {
    bool is_signed = dtype_is_signed(t);
    const char *text = is_signed ? "mad.wide.s32 $d, $b, $c, $a" : "mad.wide.u32 $d, $b, $c, $a";
    if (size == 1)
      text = is_signed ? "cvt.s64.s32 $0l, $b; add.s64 $d, $a, $0l"
                       : "cvt.u64.u32 $0l, $b; add.s64 $d, $a, $0l";
    ptx_emit(p, text, d, base, n, ptx_int(size));
  }
}

/* ---- moves ---- */

static const char *const movs[RC_COUNT] = {
    [RC_B16] = "mov.b16 $d, $a", [RC_B32] = "mov.b32 $d, $a", [RC_F32] = "mov.b32 $d, $a",
    [RC_B64] = "mov.b64 $d, $a", [RC_F64] = "mov.b64 $d, $a", [RC_PRED] = "mov.pred $d, $a",
};

static void undef(Ptx *p, const NestStmt *s, Operand d) {
  d = ptx_dest_of(p, s, d);
  if (d.cls == RC_PRED) ptx_emit2(p, "setp.ne.b32 $d, $a, 0", d, ptx_int(0));
  else ptx_emit2(p, movs[d.cls], d, ptx_int(0));
}

void ptx_assign(Ptx *p, const NestStmt *s, Operand from) {
  const Ref *r = &s->dsts[0];
  if (s->guard.kind) ptx_element(p, r->var, ptx_subscript(p, r)); /* it may keep its value */
  p->guard = ptx_guard(p, s);
  Operand d = ptx_dest(p, r, 0);
  ptx_emit2(p, movs[d.cls], d, from);
  p->guard.kind = PO_NONE;
}

static RegClass result_class(const NestStmt *s) { return ptx_class(s->dsts[0].var->dtype); }

void ptx_op(Ptx *p, const NestStmt *s) {
  if (s->op == TILE_CAST && ptx_convert_pair(p, s)) return;
  Operand d = {0};
  if (s->guard.kind) d = ptx_temp(p, result_class(s));
  switch (s->op) {
    case TILE_SELECT: ptx_select(p, s, d); break;
    case TILE_CAST: ptx_cast(p, s, d); break;
    case TILE_BITCAST: ptx_bitcast(p, s, d); break;
    case TILE_PTR_ADD: ptr_add(p, s, d); break;
    case TILE_UNDEF: undef(p, s, d); break;
    default: table_op(p, s, d); break;
  }
  if (s->guard.kind && !p->failed) ptx_assign(p, s, d);
}

void ptx_mov(Ptx *p, const NestStmt *s) { ptx_mov_run(p, s, (int)nest_int(s, NA_n, 1)); }

void ptx_mov_run(Ptx *p, const NestStmt *s, int n) {
  const Ref *d = &s->dsts[0], *x = &s->srcs[0];
  int per = ptx_reg(p, d->var)->per;
  if (per > 1 && n > 1 && ptx_whole_words(p, d->var, ptx_subscript(p, d), n)) {
    Operand from[MAX_RUN], to[MAX_RUN];
    int words = ptx_source_words(p, x, s->type, n, from);
    p->guard = ptx_guard(p, s);
    ptx_dest_words(p, d, n, to);
    for (int i = 0; i < words; i++) ptx_emit2(p, movs[RC_B32], to[i], from[i]);
    p->guard.kind = PO_NONE;
    return;
  }
  bool down = x->kind == REF_VAR && x->var == d->var && ptx_subscript(p, d) > ptx_subscript(p, x);
  for (int k = 0; k < n; k++) {
    int i = down ? n - 1 - k : k; /* the runs may overlap */
    Operand from = x->kind == REF_VAR ? ptx_element(p, x->var, ptx_subscript(p, x) + i)
                                      : ptx_source(p, x, s->type);
    if (s->guard.kind) ptx_element(p, d->var, ptx_subscript(p, d) + i);
    p->guard = ptx_guard(p, s);
    Operand to = ptx_dest(p, d, i);
    ptx_emit2(p, movs[to.cls], to, from);
    p->guard.kind = PO_NONE;
  }
}
