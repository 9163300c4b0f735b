/* The factors that stand for divisions of integers by constants: quotients from them, as the
 * instructions of codegen/ptx/divide.c compute them, are those of C. */
#include <stdio.h>

#include "codegen/ptx/ptx.h"
#include "tests/support/tally.h"

typedef unsigned __int128 Wide;

static uint64_t of_bits(uint64_t x, int bits) { return x << (64 - bits) >> (64 - bits); }
static int64_t of_signed_bits(uint64_t x, int bits) {
  return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

static uint64_t unsigned_quotient(uint64_t x, uint64_t d, int bits) {
  PtxReciprocal r = ptx_reciprocal(d, bits, false);
  uint64_t high = (uint64_t)((Wide)x * of_bits(r.multiplier, bits) >> bits);
  return r.plus ? (((x - high) >> 1) + high) >> (r.shift - 1) : high >> r.shift;
}

static int64_t signed_quotient(int64_t x, uint64_t d, int bits) {
  PtxReciprocal r = ptx_reciprocal(d, bits, true);
  int64_t high = (int64_t)((__int128)x * of_signed_bits(r.multiplier, bits) >> bits);
  uint64_t sum = (uint64_t)high + (r.plus ? (uint64_t)x : 0);
  return (of_signed_bits(sum, bits) >> r.shift) + (x < 0);
}

static uint64_t next_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15;
  uint64_t z = (*state ^ *state >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static bool divides_of(uint64_t x, uint64_t d, int bits) {
  if (of_bits(d, bits) != d) return true;
  uint64_t u = of_bits(x, bits);
  int64_t s = of_signed_bits(x, bits);
  bool fits = d >> (bits - 1) == 0;
  return unsigned_quotient(u, d, bits) == u / d &&
         (!fits || signed_quotient(s, d, bits) == s / (int64_t)d);
}

static bool divides(uint64_t x, uint64_t d) { return divides_of(x, d, 64) && divides_of(x, d, 32); }

/* x, and what lies beside multiples of d. */
static bool divides_near(uint64_t x, uint64_t d) {
  uint64_t multiple = x / d * d;
  return divides(x, d) && divides(multiple, d) && divides(multiple - 1, d) &&
         divides(0 - multiple, d) && divides(1 - multiple, d);
}

static bool divides_all(uint64_t d, uint64_t *state) {
  static const uint64_t ends[] = {0,
                                  1,
                                  INT32_MAX,
                                  (uint64_t)INT32_MAX + 1,
                                  UINT32_MAX,
                                  INT64_MAX,
                                  (uint64_t)INT64_MAX + 1,
                                  UINT64_MAX,
                                  UINT64_MAX - 1};
  for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
    if (!divides_near(ends[i], d)) return false;
  for (unsigned shift = 0; shift < 64; shift++)
    if (!divides_near(next_random(state) >> shift, d)) return false;
  return true;
}

static void check_divisor(uint64_t d, uint64_t *state) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)d);
  if (d & (d - 1)) check_got(divides_all(d, state), "quotients by", text);
}

int main(void) {
  uint64_t state = 7;
  for (uint64_t d = 3; d < 3000; d++) check_divisor(d, &state);
  for (unsigned i = 0; i < 20000; i++)
    check_divisor(next_random(&state) >> (1 + i % 62) | 3, &state);
  return report();
}
