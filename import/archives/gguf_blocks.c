#include "import/archives/gguf_codebooks.h"

#include <math.h>
#include <string.h>

enum { SMALL = 32, LARGE = 256, HALF = 16 };

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
  float d = gguf_half(b);
  decode_nibbles(b + 2, 0, d, -8 * d, out);
}

static void decode_q4_1(const uint8_t *b, float *out) {
  decode_nibbles(b + 4, 0, gguf_half(b), gguf_half(b + 2), out);
}

static void decode_q5_0(const uint8_t *b, float *out) {
  float d = gguf_half(b);
  decode_nibbles(b + 6, word_at(b + 2), d, -16 * d, out);
}

static void decode_q5_1(const uint8_t *b, float *out) {
  decode_nibbles(b + 8, word_at(b + 4), gguf_half(b), gguf_half(b + 2), out);
}

static void decode_q8_0(const uint8_t *b, float *out) {
  float d = gguf_half(b);
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
  float d = gguf_half(b), least = gguf_half(b + 2);
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
  float d = gguf_half(b + SCALE);
  for (int i = 0; i < LARGE; i++) {
    int half = i / 128, row = i % 128 / SMALL, at = i % SMALL;
    uint32_t low = b[half * 64 + row % 2 * SMALL + at], high = b[HIGH + half * SMALL + at];
    low = row < 2 ? low & 15u : low >> 4;
    int x = (int)(low | (high >> 2 * row & 3) << 4) - 32;
    out[i] = d * (float)(int8_t)b[SCALES + i / HALF] * (float)x;
  }
}

/* Element i of rows of 32 that share bytes: so many bits from the lowest on are the first row's. */
static uint32_t field_of(const uint8_t *q, int i, int bits) {
  int rows = 8 / bits, span = SMALL * rows;
  return (uint32_t)q[i / span * SMALL + i % SMALL] >> bits * (i % span / SMALL) &
         ((1u << bits) - 1);
}

static void decode_q2_k(const uint8_t *b, float *out) {
  enum { QUANTS = 16, SCALE = 80 };
  float d = gguf_half(b + SCALE), least = gguf_half(b + SCALE + 2);
  for (int i = 0; i < LARGE; i++) {
    float scale = d * (float)(b[i / HALF] & 15), low = least * (float)(b[i / HALF] >> 4);
    out[i] = scale * (float)field_of(b + QUANTS, i, 2) - low;
  }
}

/* The i-th of 16 scales of 6 bits: halves of eight bytes, and two bits each of four more. */
static int scale_of_six(const uint8_t *s, int i) {
  uint32_t low = i < 8 ? s[i] & 15u : (uint32_t)s[i - 8] >> 4;
  return (int)(low | (s[8 + i % 4] >> 2 * (i / 4) & 3u) << 4) - 32;
}

/* Bits of the first 32 bytes are the highest ones, less by four where they are not set. */
static void decode_q3_k(const uint8_t *b, float *out) {
  enum { QUANTS = 32, SCALES = 96, SCALE = 108 };
  float d = gguf_half(b + SCALE);
  for (int i = 0; i < LARGE; i++) {
    int x = (int)field_of(b + QUANTS, i, 2) - (field_of(b, i, 1) ? 0 : 4);
    out[i] = d * (float)scale_of_six(b + SCALES, i / HALF) * (float)x;
  }
}

static void decode_q8_k(const uint8_t *b, float *out) {
  float d;
  memcpy(&d, b, sizeof d);
  for (int i = 0; i < LARGE; i++) out[i] = d * (float)(int8_t)b[sizeof d + (size_t)i];
}

/* ---- halves of bytes that number values of a table ---- */

static const int8_t uneven[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                1,    13,   25,  38,  53,  69,  89,  113};
/* twice the floats of 4 bits, E2M1 */
static const int8_t doubled[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* n bytes: their low halves, then the high ones. */
static float *decode_table(const uint8_t *q, int n, const int8_t *table, float scale, float *out) {
  for (int i = 0; i < n; i++) {
    out[i] = scale * (float)table[q[i] & 15];
    out[i + n] = scale * (float)table[q[i] >> 4];
  }
  return out + 2 * n;
}

static void decode_iq4_nl(const uint8_t *b, float *out) {
  decode_table(b + 2, HALF, uneven, gguf_half(b), out);
}

static void decode_iq4_xs(const uint8_t *b, float *out) {
  float d = gguf_half(b);
  uint32_t high = b[2] | (uint32_t)b[3] << 8;
  for (int i = 0; i < LARGE / SMALL; i++) {
    uint32_t s = (b[4 + i / 2] >> 4 * (i % 2) & 15u) | (high >> 2 * i & 3) << 4;
    out = decode_table(b + 8 + HALF * i, HALF, uneven, d * (float)((int)s - 32), out);
  }
}

static void decode_mxfp4(const uint8_t *b, float *out) {
  decode_table(b + 1, HALF, doubled, ldexpf(1, *b - 128), out);
}

/* Half a float of 8 bits without a sign, E4M3, whose NaN counts as 0. */
static float half_of_e4m3(uint8_t x) {
  int exponent = x >> 3 & 15, part = x & 7;
  if (x == 127) return 0;
  return exponent ? ldexpf((float)(8 + part), exponent - 11) : ldexpf((float)part, -10);
}

static void decode_nvfp4(const uint8_t *b, float *out) {
  for (int i = 0; i < 4; i++)
    out = decode_table(b + 4 + 8 * i, 8, doubled, half_of_e4m3(b[i]), out);
}

/* ---- three values, -1 to 1 ---- */

/* Five digits of base 3 in a byte, which is the fraction that they make of 256, rounded up. */
static float *decode_fifths(const uint8_t *q, int n, int digits, float d, float *out) {
  for (int k = 0, power = 1; k < digits; k++, power *= 3)
    for (int i = 0; i < n; i++) *out++ = d * (float)(((q[i] * power & 255) * 3 >> 8) - 1);
  return out;
}

static void decode_tq1_0(const uint8_t *b, float *out) {
  float d = gguf_half(b + 52);
  out = decode_fifths(b, SMALL, 5, d, out);
  decode_fifths(b + 48, 4, 4, d, decode_fifths(b + SMALL, HALF, 5, d, out));
}

static void decode_tq2_0(const uint8_t *b, float *out) {
  float d = gguf_half(b + 64);
  for (int i = 0; i < LARGE; i++) out[i] = d * (float)((int)field_of(b, i, 2) - 1);
}

static const BlockKind kinds[] = {
    {2, "Q4_0", SMALL, 18, decode_q4_0, NULL, NULL},
    {3, "Q4_1", SMALL, 20, decode_q4_1, NULL, NULL},
    {6, "Q5_0", SMALL, 22, decode_q5_0, NULL, NULL},
    {7, "Q5_1", SMALL, 24, decode_q5_1, NULL, NULL},
    {8, "Q8_0", SMALL, 34, decode_q8_0, NULL, NULL},
    {10, "Q2_K", LARGE, 84, decode_q2_k, NULL, NULL},
    {11, "Q3_K", LARGE, 110, decode_q3_k, NULL, NULL},
    {12, "Q4_K", LARGE, 144, decode_q4_k, NULL, NULL},
    {13, "Q5_K", LARGE, 176, decode_q5_k, NULL, NULL},
    {14, "Q6_K", LARGE, 210, decode_q6_k, NULL, NULL},
    {15, "Q8_K", LARGE, 292, decode_q8_k, NULL, NULL},
    {16, "IQ2_XXS", LARGE, 66, NULL, &gguf_points_256, gguf_decode_iq2_xxs},
    {17, "IQ2_XS", LARGE, 74, NULL, &gguf_points_512, gguf_decode_iq2_xs},
    {18, "IQ3_XXS", LARGE, 98, NULL, &gguf_quads_256, gguf_decode_iq3_xxs},
    {19, "IQ1_S", LARGE, 50, NULL, &gguf_points_2048, gguf_decode_iq1_s},
    {20, "IQ4_NL", SMALL, 18, decode_iq4_nl, NULL, NULL},
    {21, "IQ3_S", LARGE, 110, NULL, &gguf_quads_512, gguf_decode_iq3_s},
    {22, "IQ2_S", LARGE, 82, NULL, &gguf_points_1024, gguf_decode_iq2_s},
    {23, "IQ4_XS", LARGE, 136, decode_iq4_xs, NULL, NULL},
    {29, "IQ1_M", LARGE, 56, NULL, &gguf_points_2048, gguf_decode_iq1_m},
    {34, "TQ1_0", LARGE, 54, decode_tq1_0, NULL, NULL},
    {35, "TQ2_0", LARGE, 66, decode_tq2_0, NULL, NULL},
    {39, "MXFP4", SMALL, 17, decode_mxfp4, NULL, NULL},
    {40, "NVFP4", 64, 36, decode_nvfp4, NULL, NULL}};

void gguf_decode(const BlockKind *k, const uint8_t *blocks, size_t n, float *out) {
  int8_t points[POINT_BYTES_MAX];
  if (k->grid) gguf_list_points(k->grid, points);
  for (size_t i = 0; i < n; i++, blocks += k->bytes, out += k->elements)
    if (k->grid) k->decode_points(blocks, points, out);
    else k->decode(blocks, out);
}

const BlockKind *gguf_block_kind(uint32_t type) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].type == type) return &kinds[i];
  return NULL;
}
