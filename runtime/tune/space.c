#include "runtime/tune/space.h"

#include <string.h>

#include "runtime/compile/spec.h"
#include "runtime/messages.h"

/* ---- checking ---- */

static int unknown_name(const Problem *p, const char *name) {
  const nereid_kernel_info *k = p->info;
  const char **names = ARENA_ARRAY(p->arena, const char *, (size_t)k->nparams + CONFIG_OPTIONS);
  size_t n = 0;
  for (int i = 0; i < k->nparams; i++)
    if (k->params[i].kind == NEREID_PARAM_CONSTEXPR || k->params[i].tuned)
      names[n++] = k->params[i].name;
  for (int i = 0; i < CONFIG_OPTIONS; i++) names[n++] = config_options[i];
  char hint[128];
  error_suggest(hint, sizeof hint, name, names, n);
  return error_set(NEREID_E_USAGE, E_TUNE_SPACE_NAME, name, k->name, hint);
}

static bool is_constexpr(const Problem *p, const char *name) {
  for (int i = 0; i < p->info->nparams; i++) {
    const nereid_param *q = &p->info->params[i];
    if (!strcmp(q->name, name)) return q->kind == NEREID_PARAM_CONSTEXPR || q->tuned;
  }
  return false;
}

static int check_option(const nereid_tune_axis *x) {
  enum { MOST = 1024 };
  for (int i = 0; i < x->n; i++) {
    int64_t v;
    double f;
    bool is_u64;
    const char *text = x->values[i];
    int kind = spec_number(text, strlen(text), &v, &f, &is_u64);
    if (kind != 1 || v < 1 || v > MOST)
      return error_set(NEREID_E_USAGE, E_TUNE_SPACE_OPTION, x->name, MOST, text);
  }
  return 0;
}

static int check_axis(const Problem *p, const nereid_tune_axis *axes, int at) {
  const nereid_tune_axis *x = &axes[at];
  bool option = config_is_option(x->name);
  if (!option && !is_constexpr(p, x->name)) return unknown_name(p, x->name);
  if (x->n < 1) return error_set(NEREID_E_USAGE, E_TUNE_SPACE_EMPTY, x->name);
  for (int i = 0; i < at; i++)
    if (!strcmp(axes[i].name, x->name))
      return error_set(NEREID_E_USAGE, E_TUNE_SPACE_TWICE, x->name);
  if (problem_fixed(p, x->name)) return error_set(NEREID_E_USAGE, E_TUNE_SPACE_FIXED, x->name);
  return option ? check_option(x) : 0;
}

/* ---- combining ---- */

static const nereid_tune_axis *axis_of(const nereid_tune_axis *axes, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(axes[i].name, name)) return &axes[i];
  return NULL;
}

/* What is given twice is tried once. */
static nereid_tune_axis without_repeats(Arena *a, const nereid_tune_axis *x) {
  const char **values = ARENA_ARRAY(a, const char *, (size_t)x->n);
  int n = 0;
  for (int i = 0; i < x->n; i++) {
    int j = 0;
    while (j < n && strcmp(values[j], x->values[i])) j++;
    if (j == n) values[n++] = x->values[i];
  }
  return (nereid_tune_axis){x->name, values, n};
}

/* The axes as configurations name them. */
static nereid_tune_axis *in_order(const Problem *p, const nereid_tune_axis *axes, int n) {
  nereid_tune_axis *out = ARENA_ARRAY(p->arena, nereid_tune_axis, (size_t)n);
  int used = 0;
  for (int i = 0; i < p->info->nparams; i++) {
    const nereid_tune_axis *x = axis_of(axes, n, p->info->params[i].name);
    if (x) out[used++] = without_repeats(p->arena, x);
  }
  for (int i = 0; i < CONFIG_OPTIONS; i++) {
    const nereid_tune_axis *x = axis_of(axes, n, config_options[i]);
    if (x) out[used++] = without_repeats(p->arena, x);
  }
  return out;
}

static Config combination(Arena *a, const nereid_tune_axis *axes, int n, size_t number) {
  Config c = {ARENA_ARRAY(a, nereid_setting, (size_t)n), n};
  for (int i = n - 1; i >= 0; i--) {
    size_t size = (size_t)axes[i].n;
    c.settings[i] = (nereid_setting){axes[i].name, axes[i].values[number % size]};
    number /= size;
  }
  return c;
}

int space_check(const Problem *p, const nereid_tune_axis *axes, int n) {
  size_t count = 1;
  for (int i = 0; i < n; i++) {
    int code = check_axis(p, axes, i);
    if (code) return code;
    count *= (size_t)axes[i].n;
    if (count > SPACE_MOST) return error_set(NEREID_E_USAGE, E_TUNE_SPACE_LARGE, SPACE_MOST);
  }
  return 0;
}

int space_of_axes(Configs *out, const Problem *p, const nereid_tune_axis *axes, int n) {
  size_t count = 1;
  int code = space_check(p, axes, n);
  if (code) return code;
  const nereid_tune_axis *order = in_order(p, axes, n);
  for (int i = 0; i < n; i++) count *= (size_t)order[i].n;
  for (size_t i = 0; i < count; i++) vec_push(p->arena, out, combination(p->arena, order, n, i));
  return 0;
}
