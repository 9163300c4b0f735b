#include "planner/compile/buffer_weight.h"

#include "graph/messages.h"
#include "planner/messages.h"
#include "runtime/support/error.h"

static bool weight_fits_dtype(const Weight *w, const PlanBuffer *b) {
  return w->dtype == b->dtype || (dtype_is_float(w->dtype) && dtype_is_float(b->dtype));
}

static bool weight_fits_buffer(const Weight *w, const PlanBuffer *b) {
  bool fits = weight_fits_dtype(w, b) && w->rank == b->rank;
  for (uint32_t i = 0; i < b->rank && fits; i++) fits = dim_is(b->shape[i], w->shape[i]);
  return fits;
}

static const char *buffer_type_text(Arena *a, const PlanBuffer *b) {
  ValueType t = {.kind = VALUE_TENSOR, .dtype = b->dtype, .rank = b->rank, .shape = b->shape};
  Text text = text_new(a);
  value_type_print(&text, &t);
  return text.data;
}

int buffer_weight(const Weight **out, const Weights *w, const PlanBuffer *b, Arena *scratch) {
  *out = w ? weights_find(w, b->tensor) : NULL;
  if (!*out) return error_set(NEREID_E_FILE, E_GRAPH_NO_WEIGHT, b->tensor);
  if (weight_fits_buffer(*out, b)) return 0;
  return error_set(NEREID_E_FILE, E_GRAPH_WEIGHT_TYPE, b->tensor, b->name,
                   buffer_type_text(scratch, b));
}
