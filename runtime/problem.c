#include "runtime/problem.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/value.h"

/* ---- arguments ---- */

static const nereid_param *find_param(const Problem *p, const char *name) {
  for (int i = 0; i < p->info->nparams; i++)
    if (!strcmp(p->info->params[i].name, name)) return &p->info->params[i];
  return NULL;
}

static int unknown_param(const Problem *p, const char *name) {
  const char **names = ARENA_ARRAY(p->arena, const char *, (size_t)p->info->nparams);
  for (int i = 0; i < p->info->nparams; i++) names[i] = p->info->params[i].name;
  char hint[128];
  return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_PARAM, p->info->name, name,
                   error_suggest(hint, sizeof hint, name, names, (size_t)p->info->nparams));
}

static ProblemArg *find_arg(const Problem *p, const char *name) {
  for (int i = 0; i < p->nargs; i++)
    if (!strcmp(p->args[i].name, name)) return &p->args[i];
  return NULL;
}

const char *problem_fixed(const Problem *p, const char *name) {
  for (int i = 0; i < p->request.nargs; i++)
    if (!strcmp(p->request.args[i].name, name) && p->request.args[i].value)
      return p->request.args[i].value;
  return NULL;
}

static bool is_number(const nereid_value *v) {
  nereid_value_kind k = nereid_value_get_kind(v);
  return k == NEREID_VALUE_INT || k == NEREID_VALUE_FLOAT || k == NEREID_VALUE_BOOL;
}

/* A parameter whose type is known takes numbers of that type. */
const char *problem_cast(const ProblemArg *a) {
  bool takes = a->param->type && !a->param->is_pointer && is_number(a->value);
  return takes && !nereid_value_is_typed(a->value) ? a->param->type : "";
}

static int add_arg(Problem *p, const nereid_setting *s) {
  ProblemArg *a = &p->args[p->nargs];
  *a = (ProblemArg){.name = s->name, .text = s->value, .param = find_param(p, s->name)};
  if (!a->param) return unknown_param(p, s->name);
  if (a->param->kind == NEREID_PARAM_CONSTEXPR)
    return error_set(NEREID_E_USAGE, E_CLI_CONSTEXPR_ARG, s->name, s->name, s->value);
  if (find_arg(p, s->name)) return error_set(NEREID_E_USAGE, E_RUN_ARG_TWICE, s->name);
  int code = value_outline(&a->value, s->value);
  if (code) return error_set(code, "%s: %s", s->name, nereid_error_message());
  p->nargs++;
  if (nereid_value_get_kind(a->value) == NEREID_VALUE_ARRAY) a->array = a->value;
  return *problem_cast(a) ? nereid_value_cast(a->value, problem_cast(a)) : 0;
}

/* &OTHER: the other one's array. */
static int resolve_alias(Problem *p, ProblemArg *a) {
  if (nereid_value_get_kind(a->value) != NEREID_VALUE_ALIAS) return 0;
  const char *other = nereid_value_alias(a->value);
  const ProblemArg *b = find_arg(p, other);
  if (!b || nereid_value_get_kind(b->value) != NEREID_VALUE_ARRAY)
    return error_set(NEREID_E_USAGE, E_CLI_ALIAS, a->name, other);
  a->array = b->array;
  return 0;
}

static int find_type(Problem *p, ProblemArg *a) {
  char type[64];
  const nereid_value *v = a->array ? a->array : a->value;
  int code = nereid_value_type(type, sizeof type, v, !a->param->do_not_specialize);
  if (!code) a->type = arena_strndup(p->arena, type, strlen(type));
  return code;
}

static int check_complete(const Problem *p) {
  for (int i = 0; i < p->info->nparams; i++) {
    const nereid_param *q = &p->info->params[i];
    bool open = q->kind == NEREID_PARAM_CONSTEXPR || q->has_default || q->tuned;
    if (!open && !find_arg(p, q->name) && !problem_fixed(p, q->name))
      return error_set(NEREID_E_USAGE, E_CLI_MISSING_ARG, p->info->name, q->name, q->name);
  }
  return 0;
}

static int in_kernel_order(const void *a, const void *b) {
  const ProblemArg *x = a, *y = b;
  return x->param < y->param ? -1 : x->param > y->param;
}

/* In one order however they are given, for records call a problem by them. */
static int read_args(Problem *p, const nereid_tune_request *r) {
  int code = 0;
  p->args = ARENA_ARRAY(p->arena, ProblemArg, (size_t)r->nargs);
  for (int i = 0; i < r->nargs && !code; i++) code = add_arg(p, &r->args[i]);
  if (p->nargs) qsort(p->args, (size_t)p->nargs, sizeof *p->args, in_kernel_order);
  for (int i = 0; i < p->nargs && !code; i++) code = resolve_alias(p, &p->args[i]);
  for (int i = 0; i < p->nargs && !code; i++) code = find_type(p, &p->args[i]);
  return code ? code : check_complete(p);
}

int problem_open(Problem *p, Arena *a, const nereid_tune_request *r) {
  *p = (Problem){.arena = a, .request = r->kernel, .grid = r->grid};
  if (!r->grid) return error_set(NEREID_E_USAGE, E_CLI_NO_GRID);
  int code = nereid_module_open(&p->module, &r->kernel.source, NULL, NULL);
  if (!code) code = nereid_module_find(&p->info, p->module, r->kernel.kernel);
  return code ? code : read_args(p, r);
}

void problem_close(Problem *p) {
  for (int i = 0; i < p->nargs; i++) nereid_value_free(p->args[i].value);
  nereid_module_free(p->module);
  *p = (Problem){0};
}

/* ---- one configuration ---- */

nereid_request problem_request(const Problem *p, const Config *c) {
  nereid_request r = p->request;
  int most = r.nargs + p->nargs + c->n;
  nereid_arg *args = ARENA_ARRAY(p->arena, nereid_arg, (size_t)most);
  int n = 0;
  for (int i = 0; i < r.nargs; i++) args[n++] = r.args[i];
  for (int i = 0; i < p->nargs; i++)
    args[n++] = (nereid_arg){.name = p->args[i].name, .type = p->args[i].type};
  for (int i = 0; i < c->n; i++) {
    const nereid_setting *s = &c->settings[i];
    int *option = config_option(&r, s->name);
    if (option) *option = (int)strtol(s->value, NULL, 10);
    /* A kernel may take num_warps as a constexpr, too. */
    if (!option || find_param(p, s->name))
      args[n++] = (nereid_arg){.name = s->name, .value = s->value};
  }
  r.args = args;
  r.nargs = n;
  return r;
}

static bool is_integer(const nereid_value *v) {
  nereid_value_kind k = nereid_value_get_kind(v);
  return k == NEREID_VALUE_INT || k == NEREID_VALUE_BOOL;
}

nereid_binding *problem_bindings(const Problem *p, const nereid_request *r, int *n) {
  nereid_binding *names =
      ARENA_ARRAY(p->arena, nereid_binding, (size_t)(p->nargs + r->nargs + p->info->nparams));
  *n = 0;
  for (int i = 0; i < p->nargs; i++)
    if (is_integer(p->args[i].value))
      names[(*n)++] = (nereid_binding){p->args[i].name, nereid_value_int(p->args[i].value)};
  for (int i = 0; i < r->nargs; i++) {
    nereid_value *v;
    if (!r->args[i].value || value_outline(&v, r->args[i].value)) continue;
    if (is_integer(v)) names[(*n)++] = (nereid_binding){r->args[i].name, nereid_value_int(v)};
    nereid_value_free(v);
  }
  return names;
}

/* The end of an axis' text: a comma outside of parentheses, or the end. */
static const char *axis_end(const char *s) {
  int depth = 0;
  for (; *s && (depth || *s != ','); s++) depth += (*s == '(') - (*s == ')');
  return s;
}

int problem_grid(const Problem *p, const nereid_request *r, uint32_t grid[3]) {
  int n, axes = 0;
  const nereid_binding *names = problem_bindings(p, r, &n);
  grid[0] = grid[1] = grid[2] = 1;
  for (const char *s = p->grid;; s++) {
    const char *end = axis_end(s), *text = arena_strndup(p->arena, s, (size_t)(end - s));
    int64_t v;
    if (axes == 3) return error_set(NEREID_E_USAGE, E_CLI_GRID_AXES, p->grid);
    int code = nereid_expr_eval(&v, text, names, n);
    if (code) return code;
    if (v < 1 || v > UINT32_MAX)
      return error_set(NEREID_E_RESOURCES, E_CLI_GRID_EXTENT, text, (long long)v);
    grid[axes++] = (uint32_t)v;
    s = end;
    if (!*s) return 0;
  }
}
