/* Integers of 64 bits divided by constants.  ptxas makes products of such divisions of 32 bits; for
 * those of 64 it calls a routine of some eighty instructions.
 *
 * A quotient by d is the high half of a product with a number near 2^k / d, shifted right: Granlund
 * and Montgomery, "Division by invariant integers using multiplication", PLDI 1994, figures 4.1 and
 * 5.2. */
#include "codegen/ptx/ptx.h"

typedef unsigned __int128 Wide;

/* The least l such that 2^l >= d, for d >= 1. */
static int log2_above(uint64_t d) { return d <= 1 ? 0 : 64 - __builtin_clzll(d - 1); }

/* floor(2^64 * (2^l - d) / d) + 1, without 2^64 */
uint64_t ptx_unsigned_multiplier(uint64_t d) {
  Wide power = (Wide)1 << log2_above(d);
  return (uint64_t)(((power - d) << 64) / d + 1);
}

/* floor(2^(63 + l) / d) + 1 - 2^64, for d >= 2 */
int64_t ptx_signed_multiplier(uint64_t d) {
  Wide power = (Wide)1 << (63 + log2_above(d));
  return (int64_t)(uint64_t)(power / d + 1);
}

/* $a / 2^$b: what is negative is rounded up first, by 2^$b - 1 (64 - $b is $c). */
#define ROUNDED "shr.s64 $0l, $a, 63; shr.u64 $0l, $0l, $c; add.s64 $0l, $0l, $a;"

static void divide_by_power(Ptx *p, TileCode op, DType t, Operand d, Operand x, int64_t by) {
  int k = __builtin_ctzll((uint64_t)by);
  Operand power = ptx_int(k), rest = ptx_int(64 - k);
  if (op == TILE_DIV && !dtype_is_signed(t)) ptx_emit(p, "shr.u64 $d, $a, $b", d, x, power, power);
  else if (op == TILE_DIV) ptx_emit(p, ROUNDED "shr.s64 $d, $0l, $b", d, x, power, rest);
  else if (!dtype_is_signed(t)) ptx_emit(p, "and.b64 $d, $a, $b", d, x, ptx_int(by - 1), power);
  else ptx_emit(p, ROUNDED "and.b64 $0l, $0l, $b; sub.s64 $d, $a, $0l", d, x, ptx_int(-by), rest);
}

/* The high half of a product with 2^64 more than the multiplier has $a once more. */
static void quotient(Ptx *p, DType t, Operand d, Operand x, uint64_t by) {
  int l = log2_above(by);
  if (dtype_is_signed(t))
    ptx_emit(p,
             "mul.hi.s64 $0l, $a, $b; add.s64 $0l, $0l, $a; shr.s64 $0l, $0l, $c;"
             "shr.u64 $1l, $a, 63; add.s64 $d, $0l, $1l",
             d, x, ptx_int(ptx_signed_multiplier(by)), ptx_int(l - 1));
  else
    ptx_emit(p,
             "mul.hi.u64 $0l, $a, $b; sub.u64 $1l, $a, $0l; shr.u64 $1l, $1l, 1;"
             "add.u64 $0l, $0l, $1l; shr.u64 $d, $0l, $c",
             d, x, ptx_int((int64_t)ptx_unsigned_multiplier(by)), ptx_int(l - 1));
}

bool ptx_divide_by_constant(Ptx *p, TileCode op, DType t, Operand d, Operand x, Operand by) {
  if (by.kind != PO_INT || by.bits <= 1) return false;
  if ((by.bits & (by.bits - 1)) == 0) {
    divide_by_power(p, op, t, d, x, by.bits);
    return true;
  }
  x = ptx_in_register(p, x, RC_B64);
  if (op == TILE_DIV) {
    quotient(p, t, d, x, (uint64_t)by.bits);
    return true;
  }
  Operand q = ptx_temp(p, RC_B64);
  quotient(p, t, q, x, (uint64_t)by.bits);
  ptx_emit(p, "mul.lo.s64 $0l, $b, $c; sub.s64 $d, $a, $0l", d, x, q, by);
  return true;
}
