/* The part of GGUF's blocks (gguf_blocks.h) whose elements are points of a codebook. */
#ifndef NEREID_IMPORT_ARCHIVES_GGUF_CODEBOOKS_H
#define NEREID_IMPORT_ARCHIVES_GGUF_CODEBOOKS_H

#include <math.h>

#include "import/archives/gguf_blocks.h"

enum { POINT_BYTES_MAX = 1 << 14 }; /* of all points of a codebook */

extern const BlockGrid gguf_points_256, gguf_points_512, gguf_points_1024, gguf_points_2048,
    gguf_quads_256, gguf_quads_512;

/* All points in order, a byte for each coordinate. */
void gguf_list_points(const BlockGrid *g, int8_t *out);
/* The 16-bit float at p. */
static inline float gguf_half(const uint8_t *p) {
  uint32_t h = (uint32_t)p[0] | (uint32_t)p[1] << 8, exponent = h >> 10 & 31, part = h & 1023;
  float x = exponent == 0    ? ldexpf((float)part, -24)
            : exponent == 31 ? (part ? NAN : INFINITY)
                             : ldexpf((float)(part + 1024), (int)exponent - 25);
  return h >> 15 ? -x : x;
}

void gguf_decode_iq1_m(const uint8_t *b, const int8_t *points, float *out);
void gguf_decode_iq1_s(const uint8_t *b, const int8_t *points, float *out);
void gguf_decode_iq2_s(const uint8_t *b, const int8_t *points, float *out);
void gguf_decode_iq2_xs(const uint8_t *b, const int8_t *points, float *out);
void gguf_decode_iq2_xxs(const uint8_t *b, const int8_t *points, float *out);
void gguf_decode_iq3_s(const uint8_t *b, const int8_t *points, float *out);
void gguf_decode_iq3_xxs(const uint8_t *b, const int8_t *points, float *out);

#endif
