#include "runtime/support/random.h"

#include <math.h>

static const uint32_t MUL_A = 0xD2511F53, MUL_B = 0xCD9E8D57;
static const uint32_t KEY_A = 0x9E3779B9, KEY_B = 0xBB67AE85;
static const double TWO_PI = 6.283185307179586476925286766559;

void random_philox(uint32_t out[4], uint64_t seed, uint64_t counter) {
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)MUL_A * c0, b = (uint64_t)MUL_B * c2;
    c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)b;
    c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)a;
    k0 += KEY_A;
    k1 += KEY_B;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

void random_words(uint64_t out[2], uint64_t seed, uint64_t counter) {
  uint32_t w[4];
  random_philox(w, seed, counter);
  out[0] = (uint64_t)w[0] << 32 | w[1];
  out[1] = (uint64_t)w[2] << 32 | w[3];
}

double random_uniform(uint64_t word) { return (double)(word >> 11) * 0x1p-53; }

void random_normals(double out[2], const uint64_t words[2]) {
  double r = sqrt(-2 * log1p(-random_uniform(words[0])));
  double angle = TWO_PI * random_uniform(words[1]);
  out[0] = r * cos(angle);
  out[1] = r * sin(angle);
}
