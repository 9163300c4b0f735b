/* Conversions: CAST by the kinds of the two types, BITCAST by their registers. */
#include "codegen/ptx/ptx.h"
#include "lang/interp/interp.h"

static void ptx_widen_to(Ptx *p, const Ref *r, DType t, Operand d, bool again);

/* ======== f32 and the narrower floats: f8 without instructions is made of others ======== */

static bool has_f8(const Ptx *p) { return machine_has(p->machine, HAS_F8_CONVERSIONS); }

static void needs_f8(Ptx *p) { ptx_needs(p, p->machine->f8_ptx); }

/* ---- to f32 ---- */

/* The seven bits below the sign are those of an f32 whose exponent is off by the difference of the
 * biases, which a multiplication sets right, denormal or not. */
#define WIDEN_F8(scale)                                                      \
  "and.b32 $0r, $a, 0x7f; shl.b32 $0r, $0r, 20; mul.rn.f32 $0f, $0r, " scale \
  ";"                                                                        \
  "shl.b32 $1r, $a, 24; and.b32 $1r, $1r, 0x80000000;"
static const char *const widen_f8e4b15 = WIDEN_F8("0f77800000") "or.b32 $d, $0f, $1r";
static const char *const widen_f8e4nv =
    WIDEN_F8("0f7B800000") "and.b32 $0r, $a, 0x7f; setp.eq.b32 $0p, $0r, 0x7f;"
    "selp.b32 $0r, 0x7fc00000, $0f, $0p; or.b32 $d, $0r, $1r";

/* NULL: no dtype that is widened. */
static const char *widen_form(Ptx *p, DType t) {
  switch (t) {
    case DT_F16: return "cvt.f32.f16 $d, $a";
    case DT_BF16: return "mov.b32 $d, {0, $a}";
    /* the upper half of an f16 */
    case DT_F8E5: return "shl.b32 $0r, $a, 8; cvt.u16.u32 $0h, $0r; cvt.f32.f16 $d, $0h";
    case DT_F8E4B15: return widen_f8e4b15;
    case DT_F8E4NV:
      if (!has_f8(p)) return widen_f8e4nv;
      needs_f8(p);
      return "cvt.u16.u32 $0h, $a; cvt.rn.f16x2.e4m3x2 $0r, $0h; mov.b32 {$0h, $1h}, $0r;"
             "cvt.f32.f16 $d, $0h";
    default: return NULL;
  }
}

static const char *widen_text(Ptx *p, DType t) {
  const char *text = widen_form(p, t);
  BUG_IF(!text, "%s is not widened", dtype_name(t));
  return text;
}

Operand ptx_widen(Ptx *p, DType t, Operand x) {
  Operand f = ptx_temp(p, RC_F32);
  ptx_emit2(p, widen_text(p, t), f, ptx_in_register(p, x, ptx_class(t)));
  return f;
}

/* Both halves of a word of bf16 are an f32 for one instruction.  `again`: by another one, so that
 * the assembler does not keep what the first one made. */
static bool widen_half(Ptx *p, const Ref *r, Operand d, bool again) {
  static const char *const texts[2][2] = {
      {"shl.b32 $d, $a, 16", "and.b32 $d, $a, 0xffff0000"},
      {"prmt.b32 $d, $a, 0, 0x1044", "prmt.b32 $d, $a, 0, 0x3244"}};
  int32_t i = ptx_subscript(p, r);
  if (r->var->dtype != DT_BF16 || !ptx_in_word(p, r->var, i)) return false;
  ptx_emit2(p, texts[again][i % 2], d, ptx_word_register(p, r->var, i / 2));
  return true;
}

Operand ptx_widen_ref(Ptx *p, const Ref *r, DType t) {
  if (r->kind != REF_VAR) {
    double v = r->kind == REF_FLOAT ? r->f : (double)r->sub.c;
    return ptx_f32((float)scalar_round(t, v));
  }
  Operand f = ptx_temp(p, RC_F32);
  ptx_widen_to(p, r, t, f, false);
  return f;
}

static void ptx_widen_to(Ptx *p, const Ref *r, DType t, Operand d, bool again) {
  if (r->kind == REF_VAR && widen_half(p, r, d, again)) return;
  ptx_emit2(p, widen_text(p, t), d, ptx_source_reg(p, r, t));
}

/* ---- from f32 ---- */

/* |x|, at most the largest number; 2^q for the unit q of its last place in the format (at least
 * that of denormals); x / 2^q is rounded to an integer; the result's bits are those of an f32 whose
 * exponent is too large by the difference of the biases.
 *   least: exponent bits of the smallest normal; mantissa: its bits << 23; scale: 2^-difference */
#define NARROW_F8(x, most, least, mantissa, round, scale, shift)                       \
  "abs.f32 $0f, " x "; min.f32 $0f, $0f, " most                                        \
  "; and.b32 $0r, $0f, 0x7f800000;"                                                    \
  "max.u32 $0r, $0r, " least "; sub.u32 $0r, $0r, " mantissa                           \
  ";"                                                                                  \
  "sub.u32 $1r, 0x7f000000, $0r; mul.rn.f32 $0f, $0f, $1r; " round                     \
  "mul.rn.f32 $0f, $0f, $0r; mul.rn.f32 $0r, $0f, " scale "; shr.u32 $0r, $0r, " shift \
  ";"                                                                                  \
  "mov.b32 $1r, $a; shr.u32 $1r, $1r, 24; and.b32 $1r, $1r, 0x80;"
#define WITH_NAN "setp.nan.f32 $0p, $a, $a; selp.b32 $0r, 0x7f, $0r, $0p; or.b32 $d, $0r, $1r"
#define WITHOUT_NAN /* the largest number, positive */ \
  "setp.nan.f32 $0p, $a, $a; selp.b32 $1r, 0, $1r, $0p; or.b32 $d, $0r, $1r"
#define EVEN "cvt.rni.f32.f32 $0f, $0f;"
#define ZERO "cvt.rzi.f32.f32 $0f, $0f;"
#define AWAY "add.rn.f32 $0f, $0f, 0f3F000000; cvt.rmi.f32.f32 $0f, $0f;"

#define TO_F8E5(round) \
  NARROW_F8("$a", "0f47600000", "0x38800000", "0x01000000", round, "0f07800000", "21") WITH_NAN
#define TO_F8E4NV(round) \
  NARROW_F8("$a", "0f43E00000", "0x3c800000", "0x01800000", round, "0f03800000", "20") WITH_NAN
#define TO_F8E4B15(x, round) \
  NARROW_F8(x, "0f3FE00000", "0x38800000", "0x01800000", round, "0f07800000", "20") WITHOUT_NAN

typedef struct {
  const char *even, *zero; /* even: where ptx_rounding has no instruction */
} NarrowRow;

static const NarrowRow narrow_rows[DT_COUNT] = {
    [DT_F16] = {NULL, "cvt.rz.f16.f32 $d, $a"},
    [DT_BF16] = {NULL, "cvt.rz.bf16.f32 $d, $a"},
    [DT_F8E5] = {TO_F8E5(EVEN), TO_F8E5(ZERO)},
    [DT_F8E4NV] = {TO_F8E4NV(EVEN), TO_F8E4NV(ZERO)},
    /* by way of f16, then ties away from zero */
    [DT_F8E4B15] = {"cvt.rn.f16.f32 $0h, $a; cvt.f32.f16 $1f, $0h;" TO_F8E4B15("$1f", AWAY),
                    TO_F8E4B15("$a", ZERO)},
};

void ptx_narrow(Ptx *p, DType t, Operand d, Operand x, bool rtz) {
  const NarrowRow *r = &narrow_rows[t];
  const char *text = rtz ? r->zero : ptx_rounding(p, t);
  ptx_emit2(p, text ? text : r->even, d, ptx_in_register(p, x, RC_F32));
}

/* ======== casts ======== */

static bool is_narrow_float(DType t) { return dtype_is_float(t) && dtype_bits(t) < 32; }

static bool is_wide_int(DType t) { return dtype_is_int(t) && dtype_bits(t) == 64; }

/* ---- to and from i1 ---- */

static void to_bool(Ptx *p, const NestStmt *s, Operand d) {
  DType t = s->type;
  if (dtype_is_float(t) && t != DT_F64) {
    Operand x =
        is_narrow_float(t) ? ptx_widen_ref(p, &s->srcs[0], t) : ptx_source(p, &s->srcs[0], t);
    ptx_emit2(p, "setp.neu.f32 $d, $a, 0f00000000", ptx_dest_of(p, s, d), x);
    return;
  }
  static const char *const texts[RC_COUNT] = {[RC_B32] = "setp.ne.b32 $d, $a, 0",
                                              [RC_B64] = "setp.ne.b64 $d, $a, 0",
                                              [RC_F64] = "setp.neu.f64 $d, $a, 0d0000000000000000",
                                              [RC_PRED] = "mov.pred $d, $a"};
  Operand x = ptx_source(p, &s->srcs[0], t);
  ptx_emit2(p, texts[ptx_class(t)], ptx_dest_of(p, s, d), x);
}

static void from_bool(Ptx *p, const NestStmt *s, Operand d) {
  static const char *const texts[RC_COUNT] = {
      [RC_B16] = "selp.b16 $d, $b, $c, $a",
      [RC_B32] = "selp.b32 $d, $b, $c, $a",
      [RC_F32] = "selp.f32 $d, 0f3F800000, 0f00000000, $a",
      [RC_B64] = "selp.b64 $d, $b, $c, $a",
      [RC_F64] = "selp.f64 $d, 0d3FF0000000000000, 0d0000000000000000, $a"};
  Ref one = dtype_is_float(s->to) ? ref_float(1) : ref_int(1);
  Operand x = ptx_source(p, &s->srcs[0], DT_I1),
          bits = ptx_int((int64_t)ptx_const_bits(&one, s->to));
  ptx_emit(p, texts[ptx_class(s->to)], ptx_dest_of(p, s, d), x, bits, ptx_int(0));
}

/* ---- between integers ---- */

static void int_to_int(Ptx *p, const NestStmt *s, Operand d) {
  DType t = s->type, to = s->to;
  Operand x = ptx_source(p, &s->srcs[0], t);
  bool was_wide = is_wide_int(t), wide = is_wide_int(to);
  const char *text;
  if (was_wide && wide) text = "mov.b64 $d, $a";
  else if (was_wide) text = "cvt.u32.u64 $d, $a";
  else if (wide) text = dtype_is_signed(t) ? "cvt.s64.s32 $d, $a" : "cvt.u64.u32 $d, $a";
  else text = "mov.b32 $d, $a";
  if (dtype_bits(to) < 32) {
    if (was_wide) {
      Operand low = ptx_temp(p, RC_B32);
      ptx_emit2(p, text, low, x);
      x = low;
    }
    text = ptx_extend(to);
  }
  ptx_emit2(p, text, ptx_dest_of(p, s, d), x);
}

/* ---- integers to floats ---- */

/* Rounded towards zero, with the lowest bit set if that lost something: what is rounded from there
 * to a format of at least two bits less comes out as if it had been rounded once. */
#define ODD_INT(I, INT, L)                                                              \
  "cvt.rz.f32." I " $0f, $a; cvt.rzi." I ".f32 $0" L ", $0f; setp.ne." INT " $0p, $0" L \
  ", $a;"                                                                               \
  "selp.b32 $0r, 1, 0, $0p; or.b32 $d, $0f, $0r"
#define ODD_INT32(I) /* $0r is taken */      \
  "cvt.rz.f32." I " $0f, $a; cvt.rzi." I     \
  ".f32 $1r, $0f; setp.ne.b32 $0p, $1r, $a;" \
  "selp.b32 $0r, 1, 0, $0p; or.b32 $d, $0f, $0r"

static int int_kind(DType t) { return 2 * is_wide_int(t) + dtype_is_signed(t); }

/* A byte of a word to f32.  It becomes the last byte of the mantissa of 2^23, whose last bit counts
 * 1; the conversion of a part of a register takes as long as eight such instructions.  A signed
 * byte x is x ^ 0x80 as an unsigned one, less 128. */
static bool byte_of_word_to_f32(Ptx *p, const NestStmt *s, Operand d) {
  const Ref *r = &s->srcs[0];
  bool is_byte = s->type == DT_I8 || s->type == DT_U8;
  if (!is_byte || s->to != DT_F32 || r->kind != REF_VAR) return false;
  int32_t i = ptx_subscript(p, r);
  if (!ptx_in_word(p, r->var, i)) return false;
  Operand word = ptx_word_register(p, r->var, i / 4), select = ptx_int(0x7440 + i % 4);
  const char *text = s->type == DT_I8
                         ? "xor.b32 $0r, $a, 0x80808080; prmt.b32 $0f, $0r, 0x4B000000, $b;"
                           "add.rn.f32 $d, $0f, 0fCB000080"
                         : "prmt.b32 $0f, $a, 0x4B000000, $b; add.rn.f32 $d, $0f, 0fCB000000";
  ptx_emit(p, text, ptx_dest_of(p, s, d), word, select, select);
  return true;
}

static void ptx_int_to_float(Ptx *p, const NestStmt *s, Operand d) {
  static const char *const to_f32[4] = {"cvt.rn.f32.u32 $d, $a", "cvt.rn.f32.s32 $d, $a",
                                        "cvt.rn.f32.u64 $d, $a", "cvt.rn.f32.s64 $d, $a"};
  static const char *const to_f64[4] = {"cvt.rn.f64.u32 $d, $a", "cvt.rn.f64.s32 $d, $a",
                                        "cvt.rn.f64.u64 $d, $a", "cvt.rn.f64.s64 $d, $a"};
  static const char *const to_f16[4] = {"cvt.rn.f16.u32 $d, $a", "cvt.rn.f16.s32 $d, $a",
                                        "cvt.rn.f16.u64 $d, $a", "cvt.rn.f16.s64 $d, $a"};
  static const char *const odd[4] = {ODD_INT32("u32"), ODD_INT32("s32"), ODD_INT("u64", "b64", "l"),
                                     ODD_INT("s64", "b64", "l")};
  DType t = s->type, to = s->to;
  int kind = int_kind(t);
  if (byte_of_word_to_f32(p, s, d)) return;
  Operand x = ptx_source_reg(p, &s->srcs[0], t);
  if (to == DT_F16 || !is_narrow_float(to)) {
    const char *text = to == DT_F16 ? to_f16[kind] : to == DT_F64 ? to_f64[kind] : to_f32[kind];
    ptx_emit2(p, text, ptx_dest_of(p, s, d), x);
    return;
  }
  Operand f = ptx_temp(p, RC_F32);
  ptx_emit2(p, dtype_bits(t) <= 16 ? to_f32[kind] : odd[kind], f, x);
  ptx_narrow(p, to, ptx_dest_of(p, s, d), f, false);
}

/* ---- floats to integers: truncated, saturating, NaN gives 0 ---- */

/* If the float or the integer has 64 bits, the instruction gives the smallest number for NaN. */
static const char *const f32_to_int[4] = {
    "cvt.rzi.u32.f32 $d, $a", "cvt.rzi.s32.f32 $d, $a",
    "cvt.rzi.u64.f32 $0l, $a; setp.nan.f32 $0p, $a, $a; selp.b64 $d, 0, $0l, $0p",
    "cvt.rzi.s64.f32 $0l, $a; setp.nan.f32 $0p, $a, $a; selp.b64 $d, 0, $0l, $0p"};
static const char *const f64_to_int[4] = {
    "cvt.rzi.u32.f64 $0r, $a; setp.nan.f64 $0p, $a, $a; selp.b32 $d, 0, $0r, $0p",
    "cvt.rzi.s32.f64 $0r, $a; setp.nan.f64 $0p, $a, $a; selp.b32 $d, 0, $0r, $0p",
    "cvt.rzi.u64.f64 $0l, $a; setp.nan.f64 $0p, $a, $a; selp.b64 $d, 0, $0l, $0p",
    "cvt.rzi.s64.f64 $0l, $a; setp.nan.f64 $0p, $a, $a; selp.b64 $d, 0, $0l, $0p"};

static void ptx_float_to_int(Ptx *p, const NestStmt *s, Operand d) {
  DType t = s->type, to = s->to;
  Operand x = is_narrow_float(t) ? ptx_widen_ref(p, &s->srcs[0], t) : ptx_source(p, &s->srcs[0], t);
  const char *text = (t == DT_F64 ? f64_to_int : f32_to_int)[int_kind(to)];
  unsigned bits = dtype_bits(to);
  if (bits >= 32) {
    ptx_emit2(p, text, ptx_dest_of(p, s, d), x);
    return;
  }
  Operand wide = ptx_temp(p, RC_B32);
  ptx_emit2(p, text, wide, x);
  int64_t most = dtype_is_signed(to) ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  const char *clamp =
      dtype_is_signed(to) ? "max.s32 $0r, $a, $b; min.s32 $d, $0r, $c" : "min.u32 $d, $a, $c";
  ptx_emit(p, clamp, ptx_dest_of(p, s, d), wide, ptx_int(-most - 1), ptx_int(most));
}

/* ---- between floats ---- */

static const char *const odd_f64 =
    "cvt.rz.f32.f64 $0f, $a; cvt.f64.f32 $0D, $0f; setp.neu.f64 $0p, $0D, $a;"
    "selp.b32 $0r, 1, 0, $0p; or.b32 $d, $0f, $0r";

static void from_f64(Ptx *p, const NestStmt *s, Operand d) {
  static const char *const texts[2][2] = {{"cvt.rn.f32.f64 $d, $a", "cvt.rz.f32.f64 $d, $a"},
                                          {"cvt.rn.f16.f64 $d, $a", "cvt.rz.f16.f64 $d, $a"}};
  Operand x = ptx_source_reg(p, &s->srcs[0], DT_F64);
  if (s->to == DT_F32 || s->to == DT_F16) {
    ptx_emit2(p, texts[s->to == DT_F16][s->rtz], ptx_dest_of(p, s, d), x);
    return;
  }
  Operand f = ptx_temp(p, RC_F32);
  ptx_emit2(p, s->rtz ? texts[0][1] : odd_f64, f, x);
  ptx_narrow(p, s->to, ptx_dest_of(p, s, d), f, s->rtz);
}

static void ptx_float_to_float(Ptx *p, const NestStmt *s, Operand d) {
  DType t = s->type, to = s->to;
  const Ref *r = &s->srcs[0];
  if (t == to) {
    Operand x = ptx_source(p, r, t);
    d = ptx_dest_of(p, s, d);
    ptx_emit2(p,
              dtype_bits(t) == 64 ? "mov.b64 $d, $a"
              : d.cls == RC_B16   ? "mov.b16 $d, $a"
                                  : "mov.b32 $d, $a",
              d, x);
  } else if (t == DT_F64) {
    from_f64(p, s, d);
  } else if (to == DT_F32) {
    ptx_widen_to(p, r, t, ptx_dest_of(p, s, d), s->rtz);
  } else {
    Operand f = t == DT_F32 ? ptx_source(p, r, t) : ptx_widen_ref(p, r, t);
    if (to == DT_F64) ptx_emit2(p, "cvt.f64.f32 $d, $a", ptx_dest_of(p, s, d), f);
    else ptx_narrow(p, to, ptx_dest_of(p, s, d), f, s->rtz);
  }
}

void ptx_cast(Ptx *p, const NestStmt *s, Operand d) {
  DType t = s->type, to = s->to;
  if (to == DT_I1) to_bool(p, s, d);
  else if (t == DT_I1) from_bool(p, s, d);
  else if (dtype_is_float(t) && dtype_is_float(to)) ptx_float_to_float(p, s, d);
  else if (dtype_is_float(t)) ptx_float_to_int(p, s, d);
  else if (dtype_is_float(to)) ptx_int_to_float(p, s, d);
  else int_to_int(p, s, d);
}

/* ---- the same bits ---- */

void ptx_bitcast(Ptx *p, const NestStmt *s, Operand d) {
  RegClass from = ptx_class(s->type), to = ptx_class(s->to);
  Operand x = ptx_source(p, &s->srcs[0], s->type);
  if (x.kind == PO_INT && dtype_is_float(s->to)) x = ptx_in_register(p, x, from);
  d = ptx_dest_of(p, s, d);
  bool narrow_int = dtype_is_int(s->to) && dtype_bits(s->to) < 32 && s->to != DT_I1;
  if (to == RC_PRED) ptx_emit2(p, "mov.pred $d, $a", d, x);
  else if (from == RC_B16 && to == RC_B16) ptx_emit2(p, "mov.b16 $d, $a", d, x);
  else if (from == RC_B16) {
    x = ptx_in_register(p, x, RC_B16);
    ptx_emit2(p, dtype_is_signed(s->to) ? "cvt.s32.s16 $d, $a" : "cvt.u32.u16 $d, $a", d, x);
  } else if (to == RC_B16) ptx_emit2(p, "cvt.u16.u32 $d, $a", d, x);
  else if (narrow_int) ptx_emit2(p, ptx_extend(s->to), d, x);
  else if (dtype_bits(s->to) == 8) ptx_emit2(p, ptx_extend(DT_U8), d, x);
  else ptx_emit2(p, dtype_bits(s->to) == 64 ? "mov.b64 $d, $a" : "mov.b32 $d, $a", d, x);
}
