#include "runtime/launch/argument_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/strings.h"
#include "runtime/launch/argument_value.h"
#include "runtime/messages.h"
#include "sema/sema.h"

/* ---- values ---- */

const nereid_param *arguments_param(const nereid_kernel_info *k, const char *name) {
  for (int i = 0; i < k->nparams; i++)
    if (sema_is_item(name, k->params[i].name)) return &k->params[i];
  return NULL;
}

static int unknown_param(const nereid_kernel_info *k, const char *name) {
  enum { MOST = 256 };
  const char *names[MOST];
  size_t n = 0;
  for (int i = 0; i < k->nparams && n < MOST; i++) names[n++] = k->params[i].name;
  char hint[256];
  return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_PARAM, k->name, name,
                   error_suggest_or_list(hint, sizeof hint, name, names, n));
}


Argument *arguments_find(const Arguments *a, const char *name) {
  for (int i = 0; i < a->len; i++)
    if (!strcmp(a->data[i].name, name)) return &a->data[i];
  return NULL;
}

static int failed_for(const Argument *a, int code) {
  return error_within("%s: %s", a->name, nereid_error_message()), code;
}

static bool is_number_value(const nereid_value *v) {
  nereid_value_kind k = nereid_value_get_kind(v);
  return k == NEREID_VALUE_INT || k == NEREID_VALUE_FLOAT || k == NEREID_VALUE_BOOL;
}

const char *argument_cast(const Argument *a) {
  bool takes = a->param->type && !a->param->is_pointer && is_number_value(a->value);
  return takes && !nereid_value_is_typed(a->value) ? a->param->type : "";
}

/* A number takes the parameter's type; an array must have it. */
static int fit_param(const Argument *a) {
  char type[ARGUMENT_TYPE];
  const nereid_param *p = a->param;
  if (*argument_cast(a)) {
    int code = nereid_value_cast(a->value, p->type);
    return code ? failed_for(a, code) : 0;
  }
  if (!p->type || !p->is_pointer || !a->array || a->value->descriptor.block.rank) return 0;
  int code = nereid_value_type(type, sizeof type, a->array, 0);
  if (code || !strcmp(type, p->type)) return code;
  return error_set(NEREID_E_USAGE, E_RUN_ARG_TYPE, a->name, p->type, type);
}

static int read_argument_text(Arguments *out, const nereid_setting *s, bool outline) {
  Argument *a = &out->data[out->len];
  *a =
      (Argument){.name = s->name, .text = s->value, .param = arguments_param(out->kernel, s->name)};
  if (!a->param) return unknown_param(out->kernel, s->name);
  if (a->param->kind == NEREID_PARAM_CONSTEXPR)
    return error_set(NEREID_E_USAGE, E_RUN_ARG_CONSTEXPR, s->name, s->name, s->value);
  if (arguments_find(out, s->name)) return error_set(NEREID_E_USAGE, E_RUN_ARG_TWICE, s->name);
  int code = (outline ? value_outline : nereid_value_parse)(&a->value, s->value);
  if (code) return failed_for(a, code);
  out->len++;
  if (nereid_value_get_kind(a->value) == NEREID_VALUE_ARRAY) a->array = a->value;
  return 0;
}

/* &OTHER: the other one's array. */
static int resolve_alias(const Arguments *all, Argument *a) {
  if (nereid_value_get_kind(a->value) != NEREID_VALUE_ALIAS) return 0;
  const char *other = nereid_value_alias(a->value);
  const Argument *b = arguments_find(all, other);
  if (!b || nereid_value_get_kind(b->value) != NEREID_VALUE_ARRAY)
    return error_set(NEREID_E_USAGE, E_RUN_ARG_ALIAS, a->name, other);
  const Array *array = &b->value->array;
  int64_t count = (int64_t)(array->bytes / dtype_bytes(array->dtype));
  if (a->value->i > count)
    return error_set(NEREID_E_USAGE, E_RUN_ARG_BEYOND, a->name, (long long)a->value->i, other,
                     (long long)count);
  a->array = b->array;
  a->offset = (size_t)a->value->i * dtype_bytes(array->dtype);
  return 0;
}

/* An extent or a stride of a descriptor: an argument of its own. */
static int add_descriptor_number(Arguments *out, const Argument *of, const char *list, int axis,
                                 DType dtype, int64_t number) {
  Argument *a = &out->data[out->len];
  char *made_name, *made_text;
  int name = asprintf(&made_name, "%s.%s.%d", of->name, list, axis);
  int text = asprintf(&made_text, "%lld:%s", (long long)number, dtype_name(dtype));
  if (name < 0 || text < 0) {
    if (name >= 0) free(made_name);
    if (text >= 0) free(made_text);
    return error_out_of_memory();
  }
  *a = (Argument){.name = made_name,
                  .text = made_text,
                  .made_name = made_name,
                  .made_text = made_text,
                  .param = of->param};
  out->len++;
  return nereid_value_parse(&a->value, a->text);
}

/* A descriptor's extents and strides follow its array. */
static int expand_descriptor(Arguments *out, Argument *a) {
  DescriptorValue *d = &a->value->descriptor;
  if (!d->block.rank) return 0;
  int code = descriptor_complete(d, &a->array->array, a->offset);
  if (code) return failed_for(a, code);
  for (int i = 0; i < d->block.rank && !code; i++)
    code = add_descriptor_number(out, a, "shape", i, DT_I32, d->shape[i]);
  for (int i = 0; i < d->block.rank && !code; i++) {
    code = add_descriptor_number(out, a, "strides", i, DT_I64, d->strides[i]);
    if (i + 1 < d->block.rank)
      out->data[out->len - 1].divisor =
          DESCRIPTOR_ALIGNMENT / (int)dtype_bytes((DType)d->block.dtype);
  }
  return code;
}

/* xs.2 before xs.10. */
static int by_item(const char *x, const char *y) {
  while (*x && *x == *y) x++, y++;
  size_t m = strspn(x, "0123456789"), n = strspn(y, "0123456789");
  if (m != n) return m < n ? -1 : 1;
  return (*x > *y) - (*x < *y);
}

static int in_kernel_order(const void *a, const void *b) {
  const Argument *x = a, *y = b;
  if (x->param == y->param) return by_item(x->name, y->name);
  return x->param < y->param ? -1 : 1;
}

/* A descriptor is its array with an extent and a stride for each axis. */
enum { ARGUMENTS_OF_ONE = 1 + 2 * DESCRIPTOR_RANK };

int arguments_read(Arguments *out, const nereid_kernel_info *kernel, const nereid_setting *settings,
                   int n, bool outline) {
  int code = n && !settings ? error_null("nereid_tune_request", "args") : 0;
  for (int i = 0; i < n && !code; i++)
    if (!settings[i].name || !settings[i].value) code = error_null("nereid_setting", "value");
  *out = (Arguments){.kernel = kernel,
                     .data = calloc((size_t)n * ARGUMENTS_OF_ONE + 1, sizeof(Argument))};
  if (!out->data) return error_out_of_memory();
  for (int i = 0; i < n && !code; i++) code = read_argument_text(out, &settings[i], outline);
  for (int i = 0; i < out->len && !code; i++) code = resolve_alias(out, &out->data[i]);
  int given = out->len;
  for (int i = 0; i < given && !code; i++) code = expand_descriptor(out, &out->data[i]);
  for (int i = 0; i < out->len && !code; i++) code = fit_param(&out->data[i]);
  qsort(out->data, (size_t)out->len, sizeof *out->data, in_kernel_order);
  return code;
}

void arguments_free(Arguments *a) {
  for (int i = 0; i < a->len; i++) {
    nereid_value_free(a->data[i].value);
    free(a->data[i].made_name);
    free(a->data[i].made_text);
  }
  free(a->data);
  *a = (Arguments){0};
}

/* ---- what is compiled ---- */

/* Is the argument given by its name, or by its items? */
static bool is_text_given(const Arguments *a, const nereid_request *r, const char *name) {
  for (int i = 0; i < a->len; i++)
    if (sema_is_item(a->data[i].name, name)) return true;
  for (int i = 0; i < r->nargs; i++)
    if (sema_is_item(r->args[i].name, name)) return true;
  return false;
}

/* Numbers of run-time parameters are no constants; what the language can't pass otherwise, such as
 * a function or a dtype, is one anyway. */
static int check_constant_text(const Arguments *a, const nereid_arg *arg) {
  const nereid_param *p = arguments_param(a->kernel, arg->name);
  nereid_value *v;
  if (!p || p->kind == NEREID_PARAM_CONSTEXPR || p->tuned || !arg->value) return 0;
  if (value_outline(&v, arg->value)) return 0;
  bool constant = !is_number_value(v);
  nereid_value_free(v);
  if (constant) return 0;
  return error_set(NEREID_E_USAGE, E_RUN_ARG_RUNTIME, arg->name, arg->name, arg->value);
}

int arguments_check(const Arguments *a, const nereid_request *r) {
  for (int i = 0; i < r->nargs; i++) {
    int code = check_constant_text(a, &r->args[i]);
    if (code) return code;
  }
  for (int i = 0; i < a->kernel->nparams; i++) {
    const nereid_param *p = &a->kernel->params[i];
    bool open = p->kind == NEREID_PARAM_CONSTEXPR || p->has_default || p->tuned;
    if (!open && !is_text_given(a, r, p->name))
      return error_set(NEREID_E_USAGE, E_RUN_ARG_NEEDED, a->kernel->name, p->name, p->name);
  }
  return 0;
}

/* An extent or a stride is always specialized: a stride is a multiple of 16 bytes, if no more. */
static int descriptor_number_type(char out[ARGUMENT_TYPE], const Argument *a) {
  int code = nereid_value_type(out, ARGUMENT_TYPE, a->value, true);
  size_t n = code ? 0 : strlen(out);
  if (!code && a->divisor > 1 && !strchr(out, ':'))
    snprintf(out + n, ARGUMENT_TYPE - n, ":%d", a->divisor);
  return code;
}

int argument_type(char out[ARGUMENT_TYPE], const Argument *a) {
  if (a->made_name) return descriptor_number_type(out, a);
  bool descriptor = a->value->descriptor.block.rank;
  const nereid_value *v = a->array && !descriptor ? a->array : a->value;
  bool aligned = a->offset % 16 == 0;
  int code = nereid_value_type(out, ARGUMENT_TYPE, v, aligned && !a->param->do_not_specialize);
  return code ? failed_for(a, code) : 0;
}

/* ---- the grid ---- */

static bool is_integer_value(const nereid_value *v) {
  nereid_value_kind k = nereid_value_get_kind(v);
  return k == NEREID_VALUE_INT || k == NEREID_VALUE_BOOL;
}

int arguments_bind(nereid_binding *out, const Arguments *a, const nereid_request *r) {
  int n = 0;
  for (int i = 0; i < a->len; i++)
    if (is_integer_value(a->data[i].value))
      out[n++] = (nereid_binding){a->data[i].name, nereid_value_int(a->data[i].value)};
  for (int i = 0; i < r->nargs; i++) {
    nereid_value *v;
    if (!r->args[i].value || value_outline(&v, r->args[i].value)) continue;
    if (is_integer_value(v)) out[n++] = (nereid_binding){r->args[i].name, nereid_value_int(v)};
    nereid_value_free(v);
  }
  return n;
}

/* The end of an axis' text: a comma outside of parentheses, or the end. */
static const char *axis_end(const char *s) {
  int depth = 0;
  for (; *s && (depth || *s != ','); s++) depth += (*s == '(') - (*s == ')');
  return s;
}

static int eval_axis(uint32_t *out, const char *text, const nereid_binding *names, int n) {
  int64_t v;
  int code = nereid_expr_eval(&v, text, names, n);
  if (code) return code;
  if (v < 1 || v > UINT32_MAX)
    return error_set(NEREID_E_RESOURCES, E_RUN_GRID_EXTENT, text, (long long)v);
  *out = (uint32_t)v;
  return 0;
}

int arguments_grid(uint32_t out[3], const char *grid, const nereid_binding *names, int n) {
  int axes = 0, code = 0;
  if (!grid) return error_set(NEREID_E_USAGE, E_RUN_GRID_NONE);
  out[0] = out[1] = out[2] = 1;
  for (const char *s = grid;; s++) {
    s += strspn(s, " ");
    const char *end = axis_end(s);
    if (axes == 3) return error_set(NEREID_E_USAGE, E_RUN_GRID_AXES, grid);
    char *text = strndup(s, (size_t)(end - s));
    code = text ? eval_axis(&out[axes++], text, names, n) : error_out_of_memory();
    free(text);
    s = end;
    if (code || !*s) return code;
  }
}
