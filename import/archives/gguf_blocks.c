#include "import/archives/gguf_blocks.h"

#include <math.h>

enum { SMALL = 32, LARGE = 256, HALF = 16 };

static float half_at(const uint8_t *p) {
  uint32_t h = (uint32_t)p[0] | (uint32_t)p[1] << 8, exponent = h >> 10 & 31, part = h & 1023;
  float x = exponent == 0    ? ldexpf((float)part, -24)
            : exponent == 31 ? (part ? NAN : INFINITY)
                             : ldexpf((float)(part + 1024), (int)exponent - 25);
  return h >> 15 ? -x : x;
}

static uint32_t word_at(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- blocks of 32: a scale, maybe a minimum ---- */

/* Low halves of bytes are the first 16 elements, high ones the others; bit i of `high` is the fifth
 * bit of element i. */
static void decode_nibbles(const uint8_t *q, uint32_t high, float scale, float shift, float *out) {
  for (int i = 0; i < HALF; i++) {
    uint32_t low = (q[i] & 15u) | (high >> i & 1) << 4;
    uint32_t up = (uint32_t)q[i] >> 4 | (high >> (i + HALF) & 1) << 4;
    out[i] = (float)low * scale + shift;
    out[i + HALF] = (float)up * scale + shift;
  }
}

static void decode_q4_0(const uint8_t *b, float *out) {
  float d = half_at(b);
  decode_nibbles(b + 2, 0, d, -8 * d, out);
}

static void decode_q4_1(const uint8_t *b, float *out) {
  decode_nibbles(b + 4, 0, half_at(b), half_at(b + 2), out);
}

static void decode_q5_0(const uint8_t *b, float *out) {
  float d = half_at(b);
  decode_nibbles(b + 6, word_at(b + 2), d, -16 * d, out);
}

static void decode_q5_1(const uint8_t *b, float *out) {
  decode_nibbles(b + 8, word_at(b + 4), half_at(b), half_at(b + 2), out);
}

static void decode_q8_0(const uint8_t *b, float *out) {
  float d = half_at(b);
  for (int i = 0; i < SMALL; i++) out[i] = d * (float)(int8_t)b[2 + i];
}

/* ---- blocks of 256: a scale of scales ---- */

/* The i-th of eight pairs of 6 bits, a scale and a minimum, in 12 bytes. */
static void scale_at(const uint8_t *s, int i, float *scale, float *low) {
  uint32_t a = i < 4 ? s[i] & 63u : (s[i + 4] & 15u) | ((uint32_t)s[i - 4] >> 6) << 4;
  uint32_t b = i < 4 ? s[i + 4] & 63u : (uint32_t)s[i + 4] >> 4 | ((uint32_t)s[i] >> 6) << 4;
  *scale = (float)a;
  *low = (float)b;
}

/* `high`: the fifth bits, NULL if there are none. */
static void decode_k(const uint8_t *b, const uint8_t *high, const uint8_t *q, float *out) {
  float d = half_at(b), least = half_at(b + 2);
  for (int part = 0; part < LARGE / SMALL; part++) {
    float scale, low;
    scale_at(b + 4, part, &scale, &low);
    for (int i = 0; i < SMALL; i++) {
      uint32_t byte = q[part / 2 * SMALL + i], x = part % 2 ? byte >> 4 : byte & 15u;
      if (high) x |= ((uint32_t)high[i] >> part & 1) << 4;
      *out++ = d * scale * (float)x - least * low;
    }
  }
}

static void decode_q4_k(const uint8_t *b, float *out) { decode_k(b, NULL, b + 16, out); }

static void decode_q5_k(const uint8_t *b, float *out) { decode_k(b, b + 16, b + 48, out); }

static void decode_q6_k(const uint8_t *b, float *out) {
  enum { HIGH = 128, SCALES = 192, SCALE = 208 };
  float d = half_at(b + SCALE);
  for (int i = 0; i < LARGE; i++) {
    int half = i / 128, row = i % 128 / SMALL, at = i % SMALL;
    uint32_t low = b[half * 64 + row % 2 * SMALL + at], high = b[HIGH + half * SMALL + at];
    low = row < 2 ? low & 15u : low >> 4;
    int x = (int)(low | (high >> 2 * row & 3) << 4) - 32;
    out[i] = d * (float)(int8_t)b[SCALES + i / HALF] * (float)x;
  }
}

static const BlockKind kinds[] = {
    {2, "Q4_0", SMALL, 18, decode_q4_0},   {3, "Q4_1", SMALL, 20, decode_q4_1},
    {6, "Q5_0", SMALL, 22, decode_q5_0},   {7, "Q5_1", SMALL, 24, decode_q5_1},
    {8, "Q8_0", SMALL, 34, decode_q8_0},   {12, "Q4_K", LARGE, 144, decode_q4_k},
    {13, "Q5_K", LARGE, 176, decode_q5_k}, {14, "Q6_K", LARGE, 210, decode_q6_k}};

const BlockKind *gguf_block_kind(uint32_t type) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].type == type) return &kinds[i];
  return NULL;
}
