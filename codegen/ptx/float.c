/* Conversions between f32 and the narrower floats.  f8 that the target has no instructions for is
 * made of others; lang/interp/interp.h says what comes out. */
#include "codegen/ptx/ptx.h"
#include "lang/interp/interp.h"

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

static const char *widen_text(Ptx *p, DType t) {
  switch (t) {
    case DT_F16: return "cvt.f32.f16 $d, $a";
    case DT_BF16: return "cvt.u32.u16 $0r, $a; shl.b32 $d, $0r, 16";
    /* the upper half of an f16 */
    case DT_F8E5: return "shl.b32 $0r, $a, 8; cvt.u16.u32 $0h, $0r; cvt.f32.f16 $d, $0h";
    case DT_F8E4B15: return widen_f8e4b15;
    case DT_F8E4NV:
      if (!has_f8(p)) return widen_f8e4nv;
      needs_f8(p);
      return "cvt.u16.u32 $0h, $a; cvt.rn.f16x2.e4m3x2 $0r, $0h; mov.b32 {$0h, $1h}, $0r;"
             "cvt.f32.f16 $d, $0h";
    default: BUG("%s is not widened", dtype_name(t));
  }
}

Operand ptx_widen(Ptx *p, DType t, Operand x) {
  Operand f = ptx_temp(p, RC_F32);
  ptx_emit2(p, widen_text(p, t), f, ptx_in_register(p, x, ptx_class(t)));
  return f;
}

/* Both halves of a word of bf16 are an f32 for one instruction. */
static bool widen_half(Ptx *p, const Ref *r, Operand d) {
  int32_t i = ptx_subscript(p, r);
  if (r->var->dtype != DT_BF16 || !ptx_in_word(p, r->var, i)) return false;
  ptx_emit2(p, i % 2 ? "and.b32 $d, $a, 0xffff0000" : "shl.b32 $d, $a, 16", d,
            ptx_word_register(p, r->var, i / 2));
  return true;
}

Operand ptx_widen_ref(Ptx *p, const Ref *r, DType t) {
  if (r->kind != REF_VAR) {
    double v = r->kind == REF_FLOAT ? r->f : (double)r->sub.c;
    return ptx_f32((float)scalar_round(t, v));
  }
  Operand f = ptx_temp(p, RC_F32);
  ptx_widen_to(p, r, t, f);
  return f;
}

void ptx_widen_to(Ptx *p, const Ref *r, DType t, Operand d) {
  if (r->kind == REF_VAR && widen_half(p, r, d)) return;
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
  const char *even, *zero;
  const char *native; /* where has_f8 */
} NarrowRow;

static const NarrowRow narrow_rows[DT_COUNT] = {
    [DT_F16] = {"cvt.rn.f16.f32 $d, $a", "cvt.rz.f16.f32 $d, $a", NULL},
    [DT_BF16] = {"cvt.rn.bf16.f32 $d, $a", "cvt.rz.bf16.f32 $d, $a", NULL},
    [DT_F8E5] = {TO_F8E5(EVEN), TO_F8E5(ZERO),
                 "cvt.rn.satfinite.e5m2x2.f32 $0h, 0f00000000, $a; cvt.u32.u16 $d, $0h"},
    [DT_F8E4NV] = {TO_F8E4NV(EVEN), TO_F8E4NV(ZERO),
                   "cvt.rn.satfinite.e4m3x2.f32 $0h, 0f00000000, $a; cvt.u32.u16 $d, $0h"},
    /* by way of f16, then ties away from zero */
    [DT_F8E4B15] = {"cvt.rn.f16.f32 $0h, $a; cvt.f32.f16 $1f, $0h;" TO_F8E4B15("$1f", AWAY),
                    TO_F8E4B15("$a", ZERO), NULL},
};

void ptx_narrow(Ptx *p, DType t, Operand d, Operand x, bool rtz) {
  const NarrowRow *r = &narrow_rows[t];
  const char *text = rtz ? r->zero : r->even;
  if (!rtz && r->native && has_f8(p)) {
    needs_f8(p);
    text = r->native;
  }
  ptx_emit2(p, text, d, ptx_in_register(p, x, RC_F32));
}
