/* The factors that stand for divisions of 64-bit integers by constants: quotients from them, as the
 * instructions of codegen/ptx/divide.c compute them, are those of C. */
#include <stdio.h>

#include "codegen/ptx/ptx.h"
#include "tests/support/tally.h"

typedef unsigned __int128 Wide;

static int log2_above(uint64_t d) {
  int l = 0;
  while (l < 64 && (Wide)1 << l < d) l++;
  return l;
}

static uint64_t unsigned_quotient(uint64_t x, uint64_t d) {
  uint64_t high = (uint64_t)((Wide)x * ptx_unsigned_multiplier(d) >> 64);
  return (((x - high) >> 1) + high) >> (log2_above(d) - 1);
}

static int64_t signed_quotient(int64_t x, uint64_t d) {
  int64_t high = (int64_t)((__int128)x * ptx_signed_multiplier(d) >> 64);
  uint64_t sum = (uint64_t)high + (uint64_t)x;
  return ((int64_t)sum >> (log2_above(d) - 1)) + (x < 0);
}

static uint64_t next_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15;
  uint64_t z = (*state ^ *state >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static bool divides(uint64_t x, uint64_t d) {
  bool fits = d <= INT64_MAX;
  return unsigned_quotient(x, d) == x / d &&
         (!fits || signed_quotient((int64_t)x, d) == (int64_t)x / (int64_t)d);
}

/* x, and what lies beside multiples of d. */
static bool divides_near(uint64_t x, uint64_t d) {
  uint64_t multiple = x / d * d;
  return divides(x, d) && divides(multiple, d) && divides(multiple - 1, d) &&
         divides(0 - multiple, d) && divides(1 - multiple, d);
}

static bool divides_all(uint64_t d, uint64_t *state) {
  static const uint64_t ends[] = {
      0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX, UINT64_MAX - 1};
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
  for (unsigned i = 0; i < 20000; i++) check_divisor(next_random(&state) >> i % 62 | 3, &state);
  return report();
}
