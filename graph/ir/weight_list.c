#include "graph/ir/weight_list.h"

#include <stdlib.h>
#include <string.h>

#include "graph/messages.h"
#include "lang/interp/interp.h"
#include "runtime/support/array.h"

Weights *weights_new(Arena *a) {
  Weights *w = ARENA_NEW(a, Weights);
  w->arena = a;
  return w;
}

/* ---- checks ---- */

static int64_t weight_numel(const Weight *w) { return weight_bytes(w) / dtype_bytes(w->dtype); }

/* The bytes of all elements, each counted for itself; false if that overflows. */
static bool total_bytes(const Weight *w, int64_t *bytes) {
  *bytes = dtype_bytes(w->dtype);
  for (uint32_t i = 0; i < w->rank; i++)
    if (!w->shape[i]) return *bytes = 0, true;
  for (uint32_t i = 0; i < w->rank; i++)
    if (w->shape[i] < 0 || __builtin_mul_overflow(*bytes, w->shape[i], bytes)) return false;
  return true;
}

/* The bytes from the storage's begin to the end of the last element; false if that overflows. */
static bool storage_end(const Weight *w, int64_t offset, int64_t *bytes) {
  int64_t last = offset, step;
  if (offset < 0) return false;
  for (uint32_t i = 0; i < w->rank; i++) {
    if (w->strides[i] < 0) return false;
    if (__builtin_mul_overflow(w->shape[i] - 1, w->strides[i], &step)) return false;
    if (__builtin_add_overflow(last, step, &last)) return false;
  }
  return !__builtin_add_overflow(last, 1, &last) &&
         !__builtin_mul_overflow(last, (int64_t)dtype_bytes(w->dtype), bytes);
}

static bool shape_is_valid(const Weight *w) {
  int64_t total;
  if (w->rank > GRAPH_RANK_MAX) return false;
  for (uint32_t i = 0; i < w->rank; i++)
    if (w->shape[i] < 0) return false;
  return total_bytes(w, &total);
}

static bool check_bytes(Diags *d, Span location, const Weight *w, int64_t offset, WeightBytes b) {
  int64_t need = 0;
  if (!storage_end(w, offset, &need))
    return diag_error(d, location, E_GRAPH_WEIGHT_LAYOUT, w->name), false;
  if ((uint64_t)need > b.size) {
    diag_error(d, location, E_GRAPH_WEIGHT_SHORT, w->name, (long long)need, b.entry, b.size);
    return false;
  }
  /* The storage's begin: element 0 then is aligned too. */
  if ((uintptr_t)b.data % dtype_bytes(w->dtype)) {
    diag_error(d, location, E_GRAPH_WEIGHT_ALIGN, w->name, b.entry, dtype_bytes(w->dtype));
    return false;
  }
  return true;
}

/* ---- the table ---- */

static const int64_t *copy_numbers(Arena *a, const int64_t *from, uint32_t n) {
  int64_t *to = ARENA_ARRAY(a, int64_t, n);
  if (n) memcpy(to, from, n * sizeof *to);
  return to;
}

Weight *weights_add(Weights *w, Diags *d, Span location, Weight tensor, int64_t offset,
                    WeightBytes bytes) {
  if (!shape_is_valid(&tensor))
    return diag_error(d, location, E_GRAPH_WEIGHT_LAYOUT, tensor.name), NULL;
  tensor.data = NULL;
  if (weight_numel(&tensor)) {
    if (!check_bytes(d, location, &tensor, offset, bytes)) return NULL;
    tensor.data = bytes.data + offset * (int64_t)dtype_bytes(tensor.dtype);
  }
  void **slot = namemap_put(w->arena, &w->by_name, tensor.name);
  if (*slot) return diag_error(d, location, E_GRAPH_WEIGHT_TWICE, tensor.name), NULL;
  Weight *added = ARENA_NEW(w->arena, Weight);
  *added = tensor;
  added->shape = copy_numbers(w->arena, tensor.shape, tensor.rank);
  added->strides = copy_numbers(w->arena, tensor.strides, tensor.rank);
  vec_push(w->arena, &w->list, added);
  return *slot = added;
}

void weights_bind(Weights *w, Weight *weight, Name input) {
  weight->input = input;
  *namemap_put(w->arena, &w->by_input, input) = weight;
}

Weight *weights_find(const Weights *w, Name name) { return namemap_get(&w->by_name, name); }
Weight *weights_find_input(const Weights *w, Name input) {
  return namemap_get(&w->by_input, input);
}

/* ---- elements ---- */

int64_t weight_bytes(const Weight *w) {
  int64_t bytes;
  return total_bytes(w, &bytes) ? bytes : -1;
}

bool weight_is_dense(const Weight *w) {
  int64_t step = 1;
  if (!weight_numel(w)) return true;
  for (uint32_t i = w->rank; i--;) {
    if (w->shape[i] != 1 && w->strides[i] != step) return false;
    step *= w->shape[i];
  }
  return true;
}

/* Copies axis `axis` and those after it; returns the address for the next element. */
static uint8_t *copy_axis(uint8_t *to, const uint8_t *from, const Weight *w, uint32_t axis) {
  size_t size = dtype_bytes(w->dtype);
  if (axis == w->rank) return (uint8_t *)memcpy(to, from, size) + size;
  for (int64_t i = 0; i < w->shape[axis]; i++)
    to = copy_axis(to, from + (size_t)(i * w->strides[axis]) * size, w, axis + 1);
  return to;
}

void weight_copy(void *to, const Weight *w) {
  if (!w->data) return;
  if (weight_is_dense(w)) memcpy(to, w->data, (size_t)weight_bytes(w));
  else copy_axis(to, w->data, w, 0);
}

/* ---- weights in another dtype than that of their file ---- */

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

static void convert_elements(void *context, int64_t begin, int64_t end) {
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
  array_for(weight_numel(w), convert_elements, &c);
  free(packed);
  return true;
}

bool weight_has_type(const Weight *w, const ValueType *t) {
  bool same = t->kind == VALUE_TENSOR && t->dtype == w->dtype && t->is_complex == w->is_complex &&
              t->rank + t->is_complex == w->rank;
  for (uint32_t i = 0; same && i < t->rank; i++) same = dim_is(t->shape[i], w->shape[i]);
  return same;
}
