/* Looking at values, and handing them to launches. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "runtime/compile/spec.h"
#include "runtime/device/device.h"
#include "runtime/launch/argument_value.h"
#include "runtime/messages.h"

nereid_value_kind nereid_value_get_kind(const nereid_value *v) {
  REQUIRE_OR(v, NEREID_VALUE_NONE);
  return v->kind;
}
int64_t nereid_value_int(const nereid_value *v) {
  REQUIRE_OR(v, 0);
  return v->i;
}
double nereid_value_float(const nereid_value *v) {
  REQUIRE_OR(v, 0);
  return v->f;
}
const char *nereid_value_alias(const nereid_value *v) {
  REQUIRE_OR(v, NULL);
  return v->alias;
}
size_t nereid_value_bytes(const nereid_value *v) {
  REQUIRE_OR(v, 0);
  return v->array.bytes;
}
int nereid_value_is_empty(const nereid_value *v) {
  REQUIRE(v);
  return v->empty;
}
int nereid_value_is_typed(const nereid_value *v) {
  REQUIRE(v);
  return v->typed;
}

static DType dtype_of(const nereid_value *v) {
  return v->kind == NEREID_VALUE_ARRAY ? v->array.dtype : v->dtype;
}

const char *nereid_value_dtype(const nereid_value *v) {
  REQUIRE_OR(v, NULL);
  DType t = dtype_of(v);
  if (v->kind == NEREID_VALUE_ARRAY && v->array.is_complex) return t == DT_F32 ? "c64" : "c128";
  return t == DT_NONE ? "none" : dtype_name(t);
}

int nereid_value_tensor(nereid_tensor *out, const nereid_value *v) {
  REQUIRE_OUT(out);
  REQUIRE(v);
  if (v->kind != NEREID_VALUE_ARRAY) return error_set(NEREID_E_USAGE, E_RUN_NO_ARRAY);
  out->data = v->array.data;
  out->device.device_type = 1;
  out->ndim = v->array.rank - v->array.is_complex;
  out->dtype =
      v->array.is_complex ? array_complex_dl_dtype(v->array.dtype) : array_dl_dtype(v->array.dtype);
  out->shape = (int64_t *)(uintptr_t)v->array.shape;
  return 0;
}

int nereid_value_type(char *out, size_t size, const nereid_value *v, int specialize) {
  REQUIRE(out);
  REQUIRE(v);
  const char *name = nereid_value_dtype(v);
  const char *suffix = "";
  if (v->descriptor.block.rank) {
    spec_print_descriptor(out, size, v->descriptor.block, v->descriptor.padding);
    return 0;
  }
  switch (v->kind) {
    case NEREID_VALUE_ARRAY: snprintf(out, size, "*%s%s", name, specialize ? ":16" : ""); return 0;
    case NEREID_VALUE_ALIAS: return error_set(NEREID_E_USAGE, E_RUN_VALUE_TYPE);
    case NEREID_VALUE_INT:
      if (specialize) suffix = v->i == 1 ? ":1" : v->i % 16 == 0 ? ":16" : "";
      break;
    default: break;
  }
  snprintf(out, size, "%s%s", name, suffix);
  return 0;
}

int nereid_launch_set_value(nereid_launch *l, int i, const nereid_value *v,
                            const void *device_data) {
  REQUIRE(l);
  REQUIRE(v);
  switch (v->kind) {
    case NEREID_VALUE_INT:
    case NEREID_VALUE_BOOL: return nereid_launch_set_int(l, i, v->i);
    case NEREID_VALUE_FLOAT: return nereid_launch_set_float(l, i, v->f);
    case NEREID_VALUE_NONE: return nereid_launch_set_pointer(l, i, NULL);
    case NEREID_VALUE_ALIAS: return nereid_launch_set_pointer(l, i, device_data);
    case NEREID_VALUE_ARRAY: break;
  }
  const DescriptorValue *d = &v->descriptor;
  int code = nereid_launch_set_pointer(l, i, device_data);
  if (!code && d->block.rank) code = launch_set_extents(l, i, d->block.rank, d->shape, d->strides);
  if (!code) l->start.extent[i] = (IntRange){0, (int64_t)v->array.bytes - 1};
  return code;
}

typedef struct {
  const nereid_value *value;
  int64_t i;
  double number;
  char *out;
  size_t size;
} Element;

static int element_body(void *arg) {
  Element *e = arg;
  e->number = array_get(&e->value->array, e->i);
  return 0;
}

double nereid_value_element(const nereid_value *v, int64_t i) {
  REQUIRE_OR(v, 0);
  Element e = {.value = v, .i = i};
  return error_guard_bare(element_body, &e) ? 0 : e.number;
}

static int element_text_body(void *arg) {
  Element *e = arg;
  const Array *a = &e->value->array;
  if (dtype_is_float(a->dtype)) {
    double x = array_get(a, e->i);
    if (x != x) snprintf(e->out, e->size, "nan"); /* without its sign */
    else snprintf(e->out, e->size, "%.*g", a->dtype == DT_F64 ? 15 : 7, x);
    return 0;
  }
  Scalar s = scalar_load(a->dtype, (const char *)a->data + (size_t)e->i * dtype_bytes(a->dtype));
  if (a->dtype == DT_U64) snprintf(e->out, e->size, "%" PRIu64, (uint64_t)s.i);
  else snprintf(e->out, e->size, "%" PRId64, s.i);
  return 0;
}

int nereid_value_element_text(char *out, size_t size, const nereid_value *v, int64_t i) {
  REQUIRE(out);
  REQUIRE(v);
  return error_guard_bare(element_text_body,
                          &(Element){.value = v, .i = i, .out = out, .size = size});
}

typedef struct {
  const nereid_value *value;
  const char *path;
} Saving;

static int save_body(void *arg) {
  const Saving *s = arg;
  return npy_write(&s->value->array, s->path);
}

int nereid_value_save(const nereid_value *v, const char *path) {
  REQUIRE(v);
  REQUIRE(path);
  if (v->kind != NEREID_VALUE_ARRAY) return error_set(NEREID_E_USAGE, E_RUN_NO_ARRAY);
  return error_guard_bare(save_body, &(Saving){v, path});
}
