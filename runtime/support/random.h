/* The numbers of rand:, randn: and randint:.
 *
 * Philox4x32-10 (Salmon et al. 2011) with key (seed, seed >> 32) and counter (j, j >> 32, 0, 0)
 * gives four words w0..w3, and from them two uniform numbers of 53 bits,
 *   u = (w0 * 2^32 + w1) / 2^11 / 2^53 and v = (w2 * 2^32 + w3) / 2^11 / 2^53,
 * where divisions by 2^11 are whole.
 * Elements 2j and 2j + 1 are
 *   rand      u and v, cut to the significant bits of the dtype, so that they stay below 1
 *   randn     sqrt(-2 ln(1-u)) times cos(2 pi v) and sin(2 pi v), rounded to the dtype
 *   randint   LO + (w0 * 2^32 + w1) mod (HI - LO), and the same of w2 and w3
 * so an element depends on its index and the seed alone. */
#ifndef NEREID_RUNTIME_SUPPORT_RANDOM_H
#define NEREID_RUNTIME_SUPPORT_RANDOM_H

#include <stdint.h>

void random_philox(uint32_t out[4], uint64_t seed, uint64_t counter);
/* The two 64-bit words of a counter. */
void random_words(uint64_t out[2], uint64_t seed, uint64_t counter);
double random_uniform(uint64_t word); /* 53 bits in [0, 1) */
void random_normals(double out[2], const uint64_t words[2]);

#endif
