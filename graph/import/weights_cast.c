/* Weights in another dtype than their file has. */
#include <stdlib.h>
#include <string.h>

#include "graph/import/weight_list.h"
#include "lang/interp/interp.h"
#include "runtime/support/array.h"

typedef struct {
  const uint8_t *from;
  uint8_t *to;
  DType from_dtype, to_dtype;
} Conversion;

/* To nearest, ties to even; a NaN stays one. */
static uint16_t bf16_of_bits(uint32_t bits) {
  bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
  return (uint16_t)((nan ? bits | 0x400000 : rounded) >> 16);
}

/* The pair that is most common: compilers make vectors of this. */
static void f32_to_bf16(const Conversion *c, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    uint32_t bits;
    memcpy(&bits, c->from + i * 4, sizeof bits);
    uint16_t half = bf16_of_bits(bits);
    memcpy(c->to + i * 2, &half, sizeof half);
  }
}

static void convert_range(void *context, int64_t begin, int64_t end) {
  enum { CHUNK = 256 };
  const Conversion *c = context;
  int64_t in = dtype_bytes(c->from_dtype), out = dtype_bytes(c->to_dtype);
  Scalar values[CHUNK];
  if (c->from_dtype == DT_F32 && c->to_dtype == DT_BF16) {
    f32_to_bf16(c, begin, end);
    return;
  }
  for (int64_t i = begin; i < end; i += CHUNK) {
    size_t n = (size_t)(end - i < CHUNK ? end - i : CHUNK);
    scalar_load_all(c->from_dtype, n, c->from + i * in, values);
    for (size_t j = 0; j < n && c->to_dtype != DT_F64; j++)
      values[j].f = scalar_round(c->to_dtype, values[j].f);
    scalar_store_all(c->to_dtype, n, values, c->to + i * out);
  }
}

bool weight_convert(void *to, DType t, const Weight *w) {
  if (t == w->dtype || !w->data) {
    weight_copy(to, w);
    return true;
  }
  uint8_t *packed = NULL;
  if (!weight_is_dense(w)) {
    packed = malloc((size_t)weight_bytes(w));
    if (!packed) return false;
    weight_copy(packed, w);
  }
  Conversion c = {packed ? packed : w->data, to, w->dtype, t};
  array_for(weight_numel(w), convert_range, &c);
  free(packed);
  return true;
}
