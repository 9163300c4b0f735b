/* Integers divided by constants, without a division: for a division of 32 bits ptxas computes a
 * reciprocal in floats and mends the quotient twice, some 17 instructions also where the divisor is
 * a constant; for one of 64 bits it calls a routine of some eighty.
 *
 * A quotient by d is the high half of a product with a number near 2^k / d, shifted right: Granlund
 * and Montgomery, "Division by invariant integers using multiplication", PLDI 1994, figures 4.1,
 * 5.2 and 6.2. */
#include "codegen/ptx/ptx.h"

typedef unsigned __int128 Wide;

/* The least l such that 2^l >= d, for d >= 1. */
static int log2_above(uint64_t d) { return d <= 1 ? 0 : 64 - __builtin_clzll(d - 1); }

/* Multipliers between 2^k / d and (2^k + 2^(k - precision)) / d serve, k = bits + shift: of these
 * the one with the least shift. */
PtxReciprocal ptx_reciprocal(uint64_t d, int bits, bool is_signed) {
  int shift = log2_above(d), precision = is_signed ? bits - 1 : bits;
  Wide power = (Wide)1 << (bits + shift);
  Wide low = power / d, high = (power + ((Wide)1 << (bits + shift - precision))) / d;
  for (; shift && low / 2 < high / 2; shift--) {
    low /= 2;
    high /= 2;
  }
  return (PtxReciprocal){(uint64_t)high, high >> precision != 0, shift};
}

/* Templates for words of W bits, with temporaries of the letter R. */
typedef struct {
  const char *shift, *mask, *rounded_shift, *rounded_rest; /* powers of two */
  const char *quotient, *quotient_plus, *signed_quotient, *signed_quotient_plus;
  const char *rest;
} Templates;

/* $a / 2^$b: what is negative is rounded up first, by 2^$b - 1 ($c is W - $b). */
#define ROUNDED(W, R, TOP)                                    \
  "shr.s" W " $0" R ", $a, " TOP "; shr.u" W " $0" R ", $0" R \
  ", $c;"                                                     \
  "add.s" W " $0" R ", $0" R ", $a;"

/* The high half of a product with 2^W more than the multiplier has $a once more. */
#define TEMPLATES(W, R, TOP)                                                                       \
  {                                                                                                \
    .shift = "shr.u" W " $d, $a, $b", .mask = "and.b" W " $d, $a, $b",                             \
    .rounded_shift = ROUNDED(W, R, TOP) "shr.s" W " $d, $0" R ", $b",                              \
    .rounded_rest = ROUNDED(W, R, TOP) "and.b" W " $0" R ", $0" R ", $b; sub.s" W " $d, $a, $0" R, \
    .quotient = "mul.hi.u" W " $0" R ", $a, $b; shr.u" W " $d, $0" R ", $c",                       \
    .quotient_plus =                                                                               \
        "mul.hi.u" W " $0" R ", $a, $b; sub.u" W " $1" R ", $a, $0" R "; shr.u" W " $1" R ", $1" R \
        ", 1; add.u" W " $0" R ", $0" R ", $1" R "; shr.u" W " $d, $0" R ", $c",                   \
    .signed_quotient = "mul.hi.s" W " $0" R ", $a, $b; shr.s" W " $0" R ", $0" R                   \
                       ", $c"                                                                      \
                       "; shr.u" W " $1" R ", $a, " TOP "; add.s" W " $d, $0" R ", $1" R,          \
    .signed_quotient_plus = "mul.hi.s" W " $0" R ", $a, $b; add.s" W " $0" R ", $0" R              \
                            ", $a"                                                                 \
                            "; shr.s" W " $0" R ", $0" R ", $c; shr.u" W " $1" R ", $a, " TOP      \
                            "; add.s" W " $d, $0" R ", $1" R,                                      \
    .rest = "mul.lo.s" W " $0" R ", $b, $c; sub.s" W " $d, $a, $0" R,                              \
  }

static const Templates of_32 = TEMPLATES("32", "r", "31"), of_64 = TEMPLATES("64", "l", "63");

typedef struct {
  Ptx *p;
  const Templates *t;
  int bits;
  bool is_signed;
} Division;

static void divide_by_power(const Division *v, TileCode op, Operand d, Operand x, int64_t by) {
  const Templates *t = v->t;
  int k = __builtin_ctzll((uint64_t)by);
  Operand power = ptx_int(k), rest = ptx_int(v->bits - k);
  if (op == TILE_DIV) ptx_emit(v->p, v->is_signed ? t->rounded_shift : t->shift, d, x, power, rest);
  else if (v->is_signed) ptx_emit(v->p, t->rounded_rest, d, x, ptx_int(-by), rest);
  else ptx_emit(v->p, t->mask, d, x, ptx_int(by - 1), rest);
}

static void quotient(const Division *v, Operand d, Operand x, uint64_t by) {
  const Templates *t = v->t;
  PtxReciprocal r = ptx_reciprocal(by, v->bits, v->is_signed);
  const char *text = v->is_signed ? (r.plus ? t->signed_quotient_plus : t->signed_quotient)
                                  : (r.plus ? t->quotient_plus : t->quotient);
  int64_t factor = (int64_t)r.multiplier;
  if (v->bits == 32)
    factor = v->is_signed ? (int64_t)(int32_t)r.multiplier : (int64_t)(uint32_t)r.multiplier;
  int shift = r.plus && !v->is_signed ? r.shift - 1 : r.shift; /* its mean of two has the first */
  ptx_emit(v->p, text, d, x, ptx_int(factor), ptx_int(shift));
}

bool ptx_divide_by_constant(Ptx *p, TileCode op, DType t, Operand d, Operand x, Operand by) {
  if (by.kind != PO_INT || by.bits <= 1) return false;
  bool wide = ptx_class(t) == RC_B64;
  Division v = {p, wide ? &of_64 : &of_32, wide ? 64 : 32, dtype_is_signed(t)};
  if ((by.bits & (by.bits - 1)) == 0) {
    divide_by_power(&v, op, d, x, by.bits);
    return true;
  }
  x = ptx_in_register(p, x, ptx_class(t));
  if (op == TILE_DIV) {
    quotient(&v, d, x, (uint64_t)by.bits);
    return true;
  }
  Operand q = ptx_temp(p, ptx_class(t));
  quotient(&v, q, x, (uint64_t)by.bits);
  ptx_emit(p, v.t->rest, d, x, q, by);
  return true;
}
