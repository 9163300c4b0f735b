#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/execute/execute_state.h"
#include "graph/messages.h"
#include "lang/interp/interp.h"
#include "runtime/support/array.h"

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum { POINTER_ALIGNMENT = 16 };

/* ---- tensors ---- */

static bool on_host(const nereid_tensor *t) {
  return t->device.device_type == DL_CPU || t->device.device_type == DL_CUDA_HOST;
}

/* Can the device's kernels reach it? */
static bool is_here(const Executable *e, const nereid_tensor *t) {
  if (e->on_host) return on_host(t);
  return t->device.device_type == DL_CUDA || t->device.device_type == DL_CUDA_MANAGED;
}

static char *first_element(const nereid_tensor *t) { return (char *)t->data + t->byte_offset; }

static bool is_compact(const nereid_tensor *t) {
  int64_t stride = 1;
  for (int32_t i = t->ndim - 1; i >= 0 && t->strides; i--) {
    if (t->shape[i] > 1 && t->strides[i] != stride) return false;
    stride *= t->shape[i];
  }
  return true;
}

static bool is_aligned(const void *p) { return (uintptr_t)p % POINTER_ALIGNMENT == 0; }

/* The elements in the order of their indices; none of the sizes is 0. */
static void pack(char *to, const nereid_tensor *t, size_t size) {
  int64_t index[GRAPH_RANK_MAX] = {0};
  const char *from = first_element(t);
  for (;;) {
    memcpy(to, from, size);
    to += size;
    int32_t axis = t->ndim - 1;
    for (; axis >= 0; axis--) {
      from += t->strides[axis] * (int64_t)size;
      if (++index[axis] < t->shape[axis]) break;
      from -= t->strides[axis] * t->shape[axis] * (int64_t)size;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/* ---- memory that the caller passes twice ---- */

/* Kernels take distinct buffers for disjoint memory (NEREID_ALIAS_DISJOINT), so a tensor that
 * overlaps another one, and of which one is written, gets memory of its own for the run. */
static bool overlaps(const BufferState *b, const char *data, int64_t bytes) {
  bool here = b->data && b->data != b->own && b->bytes > 0;
  return here && data < b->data + b->bytes && b->data < data + bytes;
}

static bool overlaps_inputs(const Executable *e, uint32_t n, const BufferState *self,
                            const char *data, bool written) {
  for (uint32_t i = 0; i < n; i++) {
    const PlanBuffer *input = e->sizes->inputs[i];
    const BufferState *b = input ? &e->buffers[input - e->plan->buffers] : NULL;
    if (b && b != self && (written || b->written) && overlaps(b, data, self->bytes)) return true;
  }
  return false;
}

static bool overlaps_outputs(const Executable *e, const BufferState *self, const char *data) {
  for (uint32_t i = 0; i < e->plan->noutputs; i++) {
    const BufferState *b = &e->buffers[e->plan->outputs[i]];
    if (b != self && b->aimed && overlaps(b, data, self->bytes)) return true;
  }
  return false;
}

/* ---- inputs ---- */

static int copy_input(Executable *e, BufferState *b, const nereid_tensor *t, nereid_stream *s) {
  int code = execute_own(e, b);
  b->data = b->own;
  if (code || b->bytes == 0) return code;
  size_t bytes = (size_t)b->bytes;
  if (is_here(e, t) && !e->on_host)
    return nereid_copy(e->device, b->own, first_element(t), bytes, s);
  if (is_compact(t)) return nereid_copy_in(e->device, b->own, first_element(t), bytes, s);
  char *packed = malloc(bytes);
  if (!packed) return error_out_of_memory();
  pack(packed, t, dtype_bytes(b->plan->dtype));
  /* Complete on return: the packed elements go. */
  code = nereid_copy_in(e->device, b->own, packed, bytes, NULL);
  free(packed);
  return code;
}

static BufferState *state_of_input(const Executable *e, uint32_t i) {
  const PlanBuffer *b = e->sizes->inputs[i];
  return b ? &e->buffers[b - e->plan->buffers] : NULL;
}

/* Does element i have the value that the plan is for? */
static bool is_fixed(const InputValue *v, DType t, const char *element, uint32_t i) {
  Scalar x = scalar_load(t, element);
  if (dtype_is_float(t)) return x.f == v->floats[i] || (isnan(x.f) && isnan(v->floats[i]));
  return (t == DT_I1 ? x.i != 0 : x.i) == v->ints[i];
}

/* An input that decided shapes when the model was read must have that value still. */
static int check_value(const Executable *e, uint32_t i, const PlanBuffer *b,
                       const nereid_tensor *t) {
  const InputValue *v = b->fixed;
  size_t size = dtype_bytes(b->dtype);
  int64_t n = 1;
  for (int32_t k = 0; k < t->ndim; k++) n *= t->shape[k];
  if (n != v->n) return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_VALUE, i, b->name);
  char *elements = malloc((size_t)n * size + 1);
  if (!elements) return error_out_of_memory();
  int code = 0;
  if (n && !on_host(t))
    code = nereid_copy_out(e->device, elements, first_element(t), (size_t)n * size, NULL);
  else if (n && is_compact(t)) memcpy(elements, first_element(t), (size_t)n * size);
  else if (n) pack(elements, t, size);
  for (uint32_t k = 0; k < v->n && !code; k++)
    if (!is_fixed(v, b->dtype, elements + k * size, k))
      code = error_set(NEREID_E_USAGE, E_GRAPH_INPUT_VALUE, i, b->name);
  free(elements);
  return code;
}

/* A number that no kernel takes has decided sizes already. */
static bool is_placed(const BufferState *b) { return b && (!b->plan->value || b->nuses); }

int execute_check_input(const Executable *e, uint32_t i, const nereid_tensor *t) {
  const BufferState *b = state_of_input(e, i);
  if (!is_placed(b)) return 0;
  const char *name = b->plan->name;
  bool compact = is_compact(t);
  if (b->bytes && !t->data) return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_DATA, i, name);
  if (!is_here(e, t) && !on_host(t))
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_DEVICE, i, name);
  if (!compact && b->written) return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_WRITTEN, i, name);
  if (!compact && !on_host(t)) return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_STRIDES, i, name);
  return b->plan->fixed ? check_value(e, i, b->plan, t) : 0;
}

int execute_take_input(Executable *e, uint32_t i, const nereid_tensor *t, nereid_stream *s) {
  BufferState *b = state_of_input(e, i);
  if (!is_placed(b)) return 0;
  bool compact = is_compact(t), here = is_here(e, t);
  int code = execute_check_input(e, i, t);
  if (code) return code;
  bool in_place = here && compact && b->bytes && is_aligned(first_element(t)) &&
                  !overlaps_inputs(e, i, b, first_element(t), b->written);
  if (!in_place) return copy_input(e, b, t, s);
  b->data = first_element(t);
  return device_borrow(e->device, b->data, (size_t)b->bytes);
}

int execute_write_back(Executable *e, uint32_t i, const nereid_tensor *t, nereid_stream *s) {
  const BufferState *b = state_of_input(e, i);
  if (!b || !b->written || b->bytes == 0 || b->data == first_element(t)) return 0;
  if (is_here(e, t)) return nereid_copy(e->device, first_element(t), b->data, (size_t)b->bytes, s);
  return nereid_copy_out(e->device, first_element(t), b->data, (size_t)b->bytes, s);
}

/* ---- outputs ---- */

static const char *tensor_type(Executable *e, const BufferState *b) {
  Text t = text_new(e->arena);
  text_printf(&t, "%s[", dtype_name(b->plan->dtype));
  for (uint32_t i = 0; i < b->plan->rank; i++)
    text_printf(&t, "%s%lld", i ? ", " : "", (long long)b->shape[i]);
  text_puts(&t, "]");
  return t.data;
}

static int wrong_output(Executable *e, uint32_t i) {
  const BufferState *b = execute_output(e, i);
  return error_set(NEREID_E_USAGE, E_GRAPH_OUTPUT_TENSOR, i, b->plan->name, tensor_type(e, b));
}

static bool same_shape(const BufferState *b, const nereid_tensor *t) {
  bool same = t->ndim == (int32_t)b->plan->rank;
  for (uint32_t j = 0; j < b->plan->rank && same; j++) same = t->shape[j] == b->shape[j];
  return same;
}

/* Where data decides sizes, whether there is room shows behind the run. */
static int check_output(Executable *e, uint32_t i, const nereid_tensor *t) {
  const BufferState *b = execute_output(e, i);
  bool fits = e->plan->nreads ? t->ndim == (int32_t)b->plan->rank : same_shape(b, t);
  if (!fits || array_dtype(t->dtype) != b->plan->dtype) return wrong_output(e, i);
  if (!is_compact(t)) return error_set(NEREID_E_USAGE, E_GRAPH_OUTPUT_STRIDES, i, b->plan->name);
  return 0;
}

int execute_aim_output(Executable *e, uint32_t i, const nereid_tensor *t) {
  BufferState *b = execute_output(e, i);
  int code = t->data ? check_output(e, i, t) : 0;
  if (code || b->aimed || b->plan->kind != BUFFER_OUTPUT) return code;
  b->aimed = true;
  bool usable = t->data && is_here(e, t) && same_shape(b, t);
  usable = usable && b->bytes && is_aligned(first_element(t)) &&
           !overlaps_inputs(e, e->sizes->ninputs, b, first_element(t), true) &&
           !overlaps_outputs(e, b, first_element(t));
  if (usable) {
    b->data = first_element(t);
    return device_borrow(e->device, b->data, (size_t)b->bytes);
  }
  code = execute_own(e, b);
  b->data = b->own;
  return code;
}

/* The tensor has room for the elements that there are; its shape says how many that is. */
static int fit_output(Executable *e, uint32_t i, nereid_tensor *t) {
  const BufferState *b = execute_output(e, i);
  int64_t room = dtype_bytes(b->plan->dtype);
  for (uint32_t j = 0; j < b->plan->rank; j++) room *= t->shape[j];
  if (b->bytes > room) return wrong_output(e, i);
  for (uint32_t j = 0; j < b->plan->rank; j++) t->shape[j] = b->shape[j];
  return 0;
}

int execute_give_output(Executable *e, uint32_t i, nereid_tensor *t, nereid_stream *s) {
  const BufferState *b = execute_output(e, i);
  if (!t->data) {
    executable_describe(e, i, t);
    t->data = b->data;
    return 0;
  }
  int code = e->plan->nreads ? fit_output(e, i, t) : 0;
  if (code || b->bytes == 0 || first_element(t) == b->data) return code;
  if (is_here(e, t)) return nereid_copy(e->device, first_element(t), b->data, (size_t)b->bytes, s);
  return nereid_copy_out(e->device, first_element(t), b->data, (size_t)b->bytes, s);
}
