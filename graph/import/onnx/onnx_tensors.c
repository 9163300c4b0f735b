/* TensorProtos: their types and elements. */
#include <string.h>

#include "graph/import/onnx/onnx_read.h"
#include "graph/messages.h"
#include "lang/interp/interp.h"

/* ---- dtypes ---- */

static const struct {
  DType dtype;
  const char *name;
} dtypes[] = {{DT_NONE, "undefined"},
              {DT_F32, "float"},
              {DT_U8, "uint8"},
              {DT_I8, "int8"},
              {DT_U16, "uint16"},
              {DT_I16, "int16"},
              {DT_I32, "int32"},
              {DT_I64, "int64"},
              {DT_NONE, "string"},
              {DT_I1, "bool"},
              {DT_F16, "float16"},
              {DT_F64, "double"},
              {DT_U32, "uint32"},
              {DT_U64, "uint64"},
              {DT_NONE, "complex64"},
              {DT_NONE, "complex128"},
              {DT_BF16, "bfloat16"},
              {DT_F8E4NV, "float8e4m3fn"},
              {DT_NONE, "float8e4m3fnuz"},
              {DT_F8E5, "float8e5m2"},
              {DT_NONE, "float8e5m2fnuz"},
              {DT_NONE, "uint4"},
              {DT_NONE, "int4"},
              {DT_NONE, "float4e2m1"}};

enum { DTYPES_COUNT = sizeof dtypes / sizeof *dtypes, EXTERNAL = 1 };

DType onnx_dtype(int64_t number) {
  return number >= 0 && number < DTYPES_COUNT ? dtypes[number].dtype : DT_NONE;
}

const char *onnx_dtype_name(Onnx *r, int64_t number) {
  if (number >= 0 && number < DTYPES_COUNT) return dtypes[number].name;
  return arena_printf(r->arena, "number %lld", (long long)number);
}

/* ---- types ---- */

bool onnx_tensor_type(Onnx *r, const Onnx__Tensor *t, const char *where, ValueType *type) {
  Dim shape[GRAPH_RANK_MAX];
  int64_t bytes = 8;
  *type = (ValueType){.kind = VALUE_UNKNOWN};
  if (t->n_dims > GRAPH_RANK_MAX)
    return onnx_error(r, where, E_ONNX_RANK, t->n_dims, GRAPH_RANK_MAX);
  for (size_t i = 0; i < t->n_dims; i++) {
    if (t->dims[i] < 0) return onnx_error(r, where, E_ONNX_NEGATIVE, (long long)t->dims[i]);
    if (t->dims[i] && __builtin_mul_overflow(bytes, t->dims[i], &bytes))
      return onnx_error(r, where, E_ONNX_TOO_LARGE);
    shape[i] = dim_int(r->graph->dims, t->dims[i]);
  }
  DType dtype = onnx_dtype(t->data_type);
  if (dtype) *type = value_tensor(r->graph, dtype, (uint32_t)t->n_dims, shape);
  else
    onnx_note_lack(r, arena_printf(r->arena, "tensors of %s", onnx_dtype_name(r, t->data_type)),
                   where);
  return true;
}

static uint64_t numel(const ValueType *t) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= (uint64_t)t->shape[i]->value;
  return n;
}

/* ---- bytes ---- */

/* Decimal digits, as external_data has its numbers; false if it is none. */
static bool read_number(const char *text, uint64_t *out) {
  *out = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return false;
    if (__builtin_mul_overflow(*out, 10, out)) return false;
    if (__builtin_add_overflow(*out, (uint64_t)(*text - '0'), out)) return false;
  }
  return true;
}

static bool external_bytes(Onnx *r, const Onnx__Tensor *t, const char *where, uint64_t need,
                           WeightBytes *out) {
  const char *location = "";
  uint64_t at = 0, size = need;
  for (size_t i = 0; i < t->n_external_data; i++) {
    const char *key = onnx_text(t->external_data[i]->key);
    const char *value = onnx_text(t->external_data[i]->value);
    bool ok = true;
    if (!strcmp(key, "location")) location = value;
    else if (!strcmp(key, "offset")) ok = read_number(value, &at);
    else if (!strcmp(key, "length")) ok = read_number(value, &size);
    if (!ok) return onnx_error(r, where, E_ONNX_EXTERNAL_NUMBER, key);
  }
  return onnx_external(r->file, where, location, at, size, out);
}

/* The field that holds elements of that dtype, other than raw_data: their number, and what one of
 * them takes there. */
static const void *typed_data(const Onnx__Tensor *t, DType dtype, size_t *n, size_t *size) {
  switch (dtype) {
    case DT_F32: return *n = t->n_float_data, *size = 4, t->float_data;
    case DT_F64: return *n = t->n_double_data, *size = 8, t->double_data;
    case DT_I64: return *n = t->n_int64_data, *size = 8, t->int64_data;
    case DT_U32:
    case DT_U64: return *n = t->n_uint64_data, *size = 8, t->uint64_data;
    default: return *n = t->n_int32_data, *size = 4, t->int32_data;
  }
}

/* On a little-endian machine an element's low bytes are the element. */
static bool typed_bytes(Onnx *r, const Onnx__Tensor *t, const ValueType *type, WeightBytes *out) {
  size_t n, from, to = dtype_bytes(type->dtype);
  const uint8_t *data = typed_data(t, type->dtype, &n, &from);
  uint8_t *copy = arena_array(r->arena, n, to);
  for (size_t i = 0; i < n; i++) memcpy(copy + i * to, data + i * from, to);
  *out = (WeightBytes){copy, n * to, "the model"};
  return true;
}

static bool raw_bytes(Onnx *r, const Onnx__Tensor *t, const ValueType *type, WeightBytes *out) {
  if (t->has_raw_at) return onnx_bytes(r->file, t->raw_at, t->raw_size, out);
  if (!t->has_raw_data) return typed_bytes(r, t, type, out);
  void *copy = arena_alloc(r->arena, t->raw_data.len);
  if (t->raw_data.len) memcpy(copy, t->raw_data.data, t->raw_data.len);
  *out = (WeightBytes){copy, t->raw_data.len, "the model"};
  return true;
}

bool onnx_tensor_bytes(Onnx *r, const Onnx__Tensor *t, const char *where, const ValueType *type,
                       WeightBytes *out) {
  uint64_t need = numel(type) * dtype_bytes(type->dtype);
  bool external = t->data_location == EXTERNAL;
  bool ok = external ? external_bytes(r, t, where, need, out) : raw_bytes(r, t, type, out);
  if (!ok) return false;
  if (out->size != need) return onnx_error(r, where, E_ONNX_BYTES, (size_t)need, out->size);
  return true;
}

/* ---- elements ---- */

bool onnx_elements(Onnx *r, DType t, const uint8_t *bytes, uint32_t n, OnnxElement *out) {
  for (uint32_t i = 0; i < n; i++, bytes += dtype_bytes(t)) {
    Scalar x = scalar_load(t, bytes);
    if (dtype_is_float(t)) out[i].number = x.f;
    else if (t == DT_U64 && x.i < 0) return false;
    else out[i].dim = dim_int(r->graph->dims, t == DT_I1 ? x.i != 0 : x.i);
  }
  return true;
}

void onnx_element_store(DType t, OnnxElement e, uint8_t *to) {
  if (dtype_is_float(t)) scalar_store(t, (Scalar){.f = scalar_round(t, e.number)}, to);
  else scalar_store(t, (Scalar){.i = e.dim->value}, to);
}

bool onnx_can_know(uint32_t rank, const int64_t *shape) {
  int64_t n = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (shape[i] < 0 || shape[i] > ONNX_KNOWN_MAX) return false;
    if (shape[i]) n *= shape[i];
    if (n > ONNX_KNOWN_MAX) return false;
  }
  return true;
}

bool onnx_count_elements(Onnx *r, const char *where, uint32_t n) {
  r->elements += n;
  if (r->elements <= ONNX_ELEMENTS_MAX) return true;
  return onnx_error(r, where, E_ONNX_ELEMENTS, ONNX_ELEMENTS_MAX);
}

const OnnxKnown *onnx_tensor_known(Onnx *r, const Onnx__Tensor *t, const char *where) {
  ValueType type;
  WeightBytes bytes;
  if (!onnx_tensor_type(r, t, where, &type) || type.kind != VALUE_TENSOR) return NULL;
  if (!onnx_can_know(type.rank, t->dims)) return NULL;
  if (!onnx_tensor_bytes(r, t, where, &type, &bytes)) return NULL;
  OnnxKnown *k = ARENA_NEW(r->arena, OnnxKnown);
  int64_t *shape = ARENA_ARRAY(r->arena, int64_t, type.rank);
  for (uint32_t i = 0; i < type.rank; i++) shape[i] = t->dims[i];
  *k = (OnnxKnown){type.dtype, type.rank, shape, (uint32_t)numel(&type), NULL};
  if (!onnx_count_elements(r, where, k->n)) return NULL;
  k->at = ARENA_ARRAY(r->arena, OnnxElement, k->n);
  return onnx_elements(r, type.dtype, bytes.data, k->n, k->at) ? k : NULL;
}
