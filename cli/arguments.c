#include "cli/arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static const nereid_param *find_param(const nereid_kernel_info *k, const char *name) {
  for (int i = 0; i < k->nparams; i++)
    if (!strcmp(k->params[i].name, name)) return &k->params[i];
  return NULL;
}

static int unknown_param(const nereid_kernel_info *k, const char *name) {
  const char *names[256];
  size_t n = 0;
  for (int i = 0; i < k->nparams && n < 256; i++) names[n++] = k->params[i].name;
  char hint[128];
  return args_error(E_RUN_UNKNOWN_PARAM, k->name, name,
                    error_suggest(hint, sizeof hint, name, names, n));
}

Argument *arguments_find(const Arguments *a, const char *name) {
  for (int i = 0; i < a->len; i++)
    if (!strcmp(a->data[i].name, name)) return &a->data[i];
  return NULL;
}

static int failed_for(const char *name, int code) {
  const char *text = nereid_error_message();
  fprintf(stderr, "nereid: error: %s: %s\n", name, text);
  return code == NEREID_E_USAGE ? STATUS_USAGE : STATUS_PROBLEM;
}

static bool is_number(const nereid_value *v) {
  nereid_value_kind k = nereid_value_get_kind(v);
  return k == NEREID_VALUE_INT || k == NEREID_VALUE_FLOAT || k == NEREID_VALUE_BOOL;
}

/* A parameter whose type is known takes numbers of that type. */
static int fit_param(const Argument *a, const nereid_param *p) {
  char type[64];
  if (!p->type) return STATUS_OK;
  if (is_number(a->value) && !p->is_pointer) {
    if (nereid_value_is_typed(a->value) || !strcmp(p->type, nereid_value_dtype(a->value)))
      return STATUS_OK;
    int code = nereid_value_cast(a->value, p->type);
    return code ? failed_for(a->name, code) : STATUS_OK;
  }
  if (!p->is_pointer || !a->array) return STATUS_OK;
  nereid_value_type(type, sizeof type, a->array, 0);
  if (strcmp(type, p->type)) return args_error(E_CLI_ARG_TYPE, a->name, p->type, type);
  return STATUS_OK;
}

static int add_argument(Arguments *out, const nereid_setting *s) {
  const nereid_param *p = find_param(out->kernel, s->name);
  if (!p) return unknown_param(out->kernel, s->name);
  if (p->kind == NEREID_PARAM_CONSTEXPR)
    return args_error(E_CLI_CONSTEXPR_ARG, s->name, s->name, s->value);
  if (arguments_find(out, s->name)) return args_error(E_RUN_ARG_TWICE, s->name);
  Argument *a = &out->data[out->len];
  a->name = s->name;
  int code = nereid_value_parse(&a->value, s->value);
  if (code) return failed_for(s->name, code);
  out->len++;
  if (nereid_value_get_kind(a->value) == NEREID_VALUE_ARRAY) a->array = a->value;
  return STATUS_OK;
}

/* &OTHER: the other one's array. */
static int resolve_alias(const Arguments *all, Argument *a) {
  if (nereid_value_get_kind(a->value) != NEREID_VALUE_ALIAS) return STATUS_OK;
  const char *other = nereid_value_alias(a->value);
  Argument *b = arguments_find(all, other);
  if (!b || nereid_value_get_kind(b->value) != NEREID_VALUE_ARRAY)
    return args_error(E_CLI_ALIAS, a->name, other);
  a->array = b->array;
  return STATUS_OK;
}

int arguments_read(Arguments *out, const nereid_kernel_info *kernel, const Settings *settings) {
  int status = STATUS_OK;
  *out = (Arguments){.kernel = kernel, .data = calloc((size_t)settings->len + 1, sizeof(Argument))};
  if (!out->data) return args_out_of_memory();
  for (int i = 0; i < settings->len && !status; i++) status = add_argument(out, &settings->data[i]);
  for (int i = 0; i < out->len && !status; i++) status = resolve_alias(out, &out->data[i]);
  for (int i = 0; i < out->len && !status; i++)
    status = fit_param(&out->data[i], find_param(kernel, out->data[i].name));
  return status;
}

void arguments_free(Arguments *a) {
  for (int i = 0; i < a->len; i++) nereid_value_free(a->data[i].value);
  free(a->data);
  *a = (Arguments){0};
}

/* ---- what is compiled ---- */

int arguments_check(const Arguments *a, const Request *r) {
  for (int i = 0; i < a->kernel->nparams; i++) {
    const nereid_param *p = &a->kernel->params[i];
    if (p->kind == NEREID_PARAM_CONSTEXPR || p->has_default || p->tuned) continue;
    if (!arguments_find(a, p->name) && !request_has(r, p->name))
      return args_error(E_CLI_MISSING_ARG, a->kernel->name, p->name, p->name);
  }
  return STATUS_OK;
}

int arguments_add_types(const Arguments *a, Request *r, const nereid_module *m) {
  char type[64];
  int status = STATUS_OK;
  if (nereid_module_is_ir(m)) return STATUS_OK;
  for (int i = 0; i < a->len && !status; i++) {
    const Argument *arg = &a->data[i];
    bool specialize = !find_param(a->kernel, arg->name)->do_not_specialize;
    int code =
        nereid_value_type(type, sizeof type, arg->array ? arg->array : arg->value, specialize);
    status = code ? failed_for(arg->name, code) : request_add(r, arg->name, type, NULL);
  }
  return status;
}

/* ---- the grid ---- */

int arguments_bind(nereid_binding **out, int *n, const Arguments *a, const Request *r) {
  nereid_binding *names = calloc((size_t)(a->len + r->names.len) + 1, sizeof *names);
  *out = names;
  *n = 0;
  if (!names) return args_out_of_memory();
  for (int i = 0; i < a->len; i++) {
    nereid_value_kind k = nereid_value_get_kind(a->data[i].value);
    if (k == NEREID_VALUE_INT || k == NEREID_VALUE_BOOL)
      names[(*n)++] = (nereid_binding){a->data[i].name, nereid_value_int(a->data[i].value)};
  }
  for (int i = 0; i < r->names.len; i++) {
    nereid_value *v;
    if (r->typed[i] || nereid_value_parse(&v, r->texts.data[i])) continue;
    if (nereid_value_get_kind(v) == NEREID_VALUE_INT)
      names[(*n)++] = (nereid_binding){r->names.data[i], nereid_value_int(v)};
    nereid_value_free(v);
  }
  return STATUS_OK;
}

static int eval_extent(const nereid_binding *names, int n, const char *text, uint32_t *out) {
  int64_t v;
  int code = nereid_expr_eval(&v, text, names, n);
  if (code) return args_failed(code);
  if (v < 1 || v > UINT32_MAX) {
    args_error(E_CLI_GRID_EXTENT, text, (long long)v);
    return STATUS_PROBLEM;
  }
  *out = (uint32_t)v;
  return STATUS_OK;
}

int arguments_extents(uint32_t out[3], const char *grid, const nereid_binding *names, int n) {
  Strings parts = {0};
  if (!grid) return args_error(E_CLI_NO_GRID);
  int status = args_split(&parts, grid) ? STATUS_OK : STATUS_PROBLEM;
  if (!status && parts.len > 3) status = args_error(E_CLI_GRID_AXES, grid);
  for (int i = 0; i < 3; i++) out[i] = 1;
  for (int i = 0; i < parts.len && !status; i++)
    status = eval_extent(names, n, parts.data[i], &out[i]);
  strings_free(&parts);
  return status;
}

int arguments_grid(uint32_t out[3], const char *grid, const Arguments *a, const Request *r) {
  nereid_binding *names;
  int n;
  int status = arguments_bind(&names, &n, a, r);
  if (!status) status = arguments_extents(out, grid, names, n);
  free(names);
  return status;
}
