/* Sparse tensors of a file, which become dense ones: none of ONNX's operators computes otherwise
 * with them, and ONNX Runtime makes them dense as well. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_read.h"

/* The most bytes that a dense one may have: the file, which may be small, says how many. */
enum { DENSE_MAX = 1 << 30 };

typedef struct {
  const int64_t *size; /* of axes, as many as `rank` */
  uint32_t rank;
  size_t elements, bytes; /* elements, and bytes of one */
} Dense;

/* False: it has none of the sizes that a tensor may have, or is too large. */
static bool dense_of(const Onnx__SparseTensor *s, DType t, Dense *d) {
  *d = (Dense){s->dims, (uint32_t)s->n_dims, 1, dtype_bytes(t)};
  if (s->n_dims < 1 || s->n_dims > GRAPH_RANK_MAX) return false;
  for (uint32_t i = 0; i < d->rank; i++) {
    if (d->size[i] < 0 || d->size[i] > DENSE_MAX) return false;
    d->elements *= (size_t)d->size[i];
    if (d->elements * d->bytes > DENSE_MAX) return false;
  }
  return true;
}

/* The place of element i by its numbers: one in all, or one of each axis; -1: outside. */
static int64_t place_of(const Dense *d, const int64_t *numbers, bool linear) {
  int64_t at = 0;
  if (linear) return numbers[0] >= 0 && (uint64_t)numbers[0] < d->elements ? numbers[0] : -1;
  for (uint32_t i = 0; i < d->rank; i++) {
    if (numbers[i] < 0 || numbers[i] >= d->size[i]) return -1;
    at = at * d->size[i] + numbers[i];
  }
  return at;
}

/* Reads one of its two tensors; NULL after an error. */
static const void *part_of(Onnx *r, const Onnx__Tensor *t, Name name, OnnxValue **v) {
  size_t size;
  *v = onnx_value_of_tensor(r, t, name);
  return *v && (*v)->type.kind == VALUE_TENSOR && !(*v)->is_text && !(*v)->form
             ? onnx_tensor_data(r, *v, &size)
             : NULL;
}

static bool is_size(const ValueType *t, uint32_t axis, int64_t size) {
  return dim_is(t->shape[axis], size);
}

/* The bytes of the dense tensor; NULL: it can't be, or *outside, an element is outside of it. */
static uint8_t *filled(Onnx *r, const Onnx__SparseTensor *s, Name name, Dense *d, bool *outside) {
  OnnxValue *v, *k;
  const uint8_t *values = part_of(r, s->values, name, &v);
  const int64_t *numbers = part_of(r, s->indices, name, &k);
  if (!values || !numbers || v->type.rank != 1 || k->type.dtype != DT_I64) return NULL;
  if (!dense_of(s, v->type.dtype, d)) return NULL;
  int64_t n = v->type.shape[0]->value;
  bool linear = k->type.rank == 1;
  bool fits = linear || (k->type.rank == 2 && is_size(&k->type, 1, d->rank));
  if (!fits || !is_size(&k->type, 0, n)) return NULL;
  uint8_t *all = arena_alloc(r->arena, d->elements * d->bytes + 1);
  memset(all, 0, d->elements * d->bytes);
  for (int64_t i = 0; i < n; i++, numbers += linear ? 1 : d->rank) {
    int64_t at = place_of(d, numbers, linear);
    *outside |= at < 0;
    if (at < 0) return NULL;
    memcpy(all + (size_t)at * d->bytes, values + (size_t)i * d->bytes, d->bytes);
  }
  return all;
}

bool onnx_dense(Onnx *r, const Onnx__SparseTensor *s, Name name, const Onnx__Tensor **out) {
  static const Onnx__Tensor empty = ONNX__TENSOR__INIT;
  Dense d;
  bool outside = false;
  uint8_t *bytes = s->values && s->indices ? filled(r, s, name, &d, &outside) : NULL;
  *out = NULL;
  if (outside) return onnx_error(r, name, E_ONNX_SPARSE);
  if (!bytes) {
    onnx_note_unknown(r, "sparse tensors", name);
    return true;
  }
  Onnx__Tensor *t = ARENA_NEW(r->arena, Onnx__Tensor);
  *t = empty;
  t->name = s->values->name;
  t->n_dims = d.rank;
  t->dims = s->dims;
  t->has_data_type = true;
  t->data_type = s->values->data_type;
  t->has_raw_data = true;
  t->raw_data = (ProtobufCBinaryData){d.elements * d.bytes, bytes};
  *out = t;
  return true;
}
