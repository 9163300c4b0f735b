/* The search space of a tuning: its problem's names in records, its candidates, and their
 * arguments. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compilation.h"
#include "runtime/compile/spec.h"
#include "runtime/messages.h"
#include "runtime/tune/tuning.h"
#include "sema/sema.h"

/* Sources of a tuner's configurations. */

enum { SPACE_MOST = 100000 }; /* configurations; more are refused */

/* ---- the problem ---- */

/* ---- arguments ---- */

/* The value of a constexpr that the request fixes; else NULL. */
static const char *problem_fixed(const Problem *p, const char *name) {
  for (int i = 0; i < p->request.nargs; i++)
    if (p->request.args[i].value && sema_is_item(p->request.args[i].name, name))
      return p->request.args[i].value;
  return NULL;
}

static int check_fixed(const Problem *p) {
  int code = 0;
  for (int i = 0; i < p->request.nargs && !code; i++)
    code = module_check_name(p->module, p->info, p->request.args[i].name);
  return code;
}

static int read_problem_args(Problem *p, const nereid_tune_request *r) {
  char type[ARGUMENT_TYPE];
  int code = check_fixed(p);
  if (!code) code = arguments_read(&p->args, p->info, r->args, r->nargs, true);
  p->types = ARENA_ARRAY(p->arena, const char *, (size_t)p->args.len);
  for (int i = 0; i < p->args.len && !code; i++) {
    code = argument_type(type, &p->args.data[i]);
    p->types[i] = arena_strndup(p->arena, type, strlen(type));
  }
  return code ? code : arguments_check(&p->args, &p->request);
}

int problem_open(Problem *p, Arena *a, const nereid_tune_request *r) {
  *p = (Problem){.arena = a, .request = r->kernel, .grid = r->grid};
  if (!r->grid) return error_set(NEREID_E_USAGE, E_RUN_GRID_NONE);
  int code = nereid_module_open(&p->module, &r->kernel.source, NULL, NULL);
  if (!code) code = nereid_module_find(&p->info, p->module, r->kernel.kernel);
  return code ? code : read_problem_args(p, r);
}

void problem_close(Problem *p) {
  arguments_free(&p->args);
  nereid_module_free(p->module);
  *p = (Problem){0};
}

/* ---- one configuration ---- */

/* A complete request for one configuration, in the problem's arena. */
static nereid_request problem_request(const Problem *p, const Config *c) {
  nereid_request r = p->request;
  nereid_arg *args = ARENA_ARRAY(p->arena, nereid_arg, (size_t)(r.nargs + p->args.len));
  int n = 0;
  for (int i = 0; i < r.nargs; i++) args[n++] = r.args[i];
  for (int i = 0; i < p->args.len; i++)
    args[n++] = (nereid_arg){.name = p->args.data[i].name, .type = p->types[i]};
  r.args = args;
  r.nargs = n;
  return decorators_request(p->arena, &r, p->info, c);
}

/* Integers among arguments and constexprs of a complete request; *n of them. */
static const nereid_binding *problem_bindings(const Problem *p, const nereid_request *r, int *n) {
  nereid_binding *names = ARENA_ARRAY(p->arena, nereid_binding, (size_t)(p->args.len + r->nargs));
  *n = arguments_bind(names, &p->args, r);
  return names;
}

/* ---- checking ---- */

static int unknown_axis_name(const Problem *p, const char *name) {
  const nereid_kernel_info *k = p->info;
  const char **names = ARENA_ARRAY(p->arena, const char *, (size_t)k->nparams + OPTION_TUNED);
  size_t n = 0;
  for (int i = 0; i < k->nparams; i++)
    if (k->params[i].kind == NEREID_PARAM_CONSTEXPR || k->params[i].tuned)
      names[n++] = k->params[i].name;
  for (int i = 0; i < OPTION_TUNED; i++) names[n++] = option_rows[i].name;
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

static int check_tune_axis(const Problem *p, const nereid_tune_axis *axes, int at) {
  const nereid_tune_axis *x = &axes[at];
  bool option = config_is_option(x->name);
  if (!option && !is_constexpr(p, x->name)) return unknown_axis_name(p, x->name);
  if (x->n < 1) return error_set(NEREID_E_USAGE, E_TUNE_SPACE_EMPTY, x->name);
  for (int i = 0; i < at; i++)
    if (!strcmp(axes[i].name, x->name))
      return error_set(NEREID_E_USAGE, E_TUNE_SPACE_TWICE, x->name);
  if (problem_fixed(p, x->name)) return error_set(NEREID_E_USAGE, E_TUNE_SPACE_FIXED, x->name);
  return option ? check_option(x) : 0;
}

/* ---- combining ---- */

static const nereid_tune_axis *find_tune_axis(const nereid_tune_axis *axes, int n,
                                              const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(axes[i].name, name)) return &axes[i];
  return NULL;
}

/* Duplicates are tried once. */
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
static nereid_tune_axis *axes_in_order(const Problem *p, const nereid_tune_axis *axes, int n) {
  nereid_tune_axis *out = ARENA_ARRAY(p->arena, nereid_tune_axis, (size_t)n);
  int used = 0;
  for (int i = 0; i < p->info->nparams; i++) {
    const nereid_tune_axis *x = find_tune_axis(axes, n, p->info->params[i].name);
    if (x) out[used++] = without_repeats(p->arena, x);
  }
  for (int i = 0; i < OPTION_TUNED; i++) {
    const nereid_tune_axis *x = find_tune_axis(axes, n, option_rows[i].name);
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

/* Names, values and their number. */
static int space_check(const Problem *p, const nereid_tune_axis *axes, int n) {
  size_t count = 1;
  for (int i = 0; i < n; i++) {
    int code = check_tune_axis(p, axes, i);
    if (code) return code;
    count *= (size_t)axes[i].n;
    if (count > SPACE_MOST) return error_set(NEREID_E_USAGE, E_TUNE_SPACE_LARGE, SPACE_MOST);
  }
  return 0;
}

/* All combinations of the axes' values, the last axis changing fastest: constexprs in the kernel's
 * order, then options.  They are checked. */
static int space_of_axes(Configs *out, const Problem *p, const nereid_tune_axis *axes, int n) {
  size_t count = 1;
  int code = space_check(p, axes, n);
  if (code) return code;
  const nereid_tune_axis *order = axes_in_order(p, axes, n);
  for (int i = 0; i < n; i++) count *= (size_t)order[i].n;
  for (size_t i = 0; i < count; i++) vec_push(p->arena, out, combination(p->arena, order, n, i));
  return 0;
}

/* Opens what tune_space and tune_complete ask. */
static int tune_open(Tuning *t) {
  DecoratorArg *args = ARENA_ARRAY(t->arena, DecoratorArg, (size_t)t->problem.args.len);
  for (int i = 0; i < t->problem.args.len; i++) {
    const Argument *a = &t->problem.args.data[i];
    args[i] = decorator_arg(a);
  }
  return decorators_open(&t->decorators, &t->problem.request, args, t->problem.args.len,
                         &t->device->info);
}

/* ---- options that are asked for, in place of those that a configuration has ---- */

static bool sets(const nereid_tune_axis *axes, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(axes[i].name, name)) return true;
  return false;
}

static Config with_options(const Tuning *t, const Config *c, const Config *options) {
  Config out = {ARENA_ARRAY(t->arena, nereid_setting, (size_t)(c->n + options->n)), 0};
  for (int i = 0; i < c->n; i++)
    if (!sets(t->axes, t->naxes, c->settings[i].name)) out.settings[out.n++] = c->settings[i];
  for (int i = 0; i < options->n; i++) out.settings[out.n++] = options->settings[i];
  return out;
}

static bool is_config_in(const Configs *list, const Config *c) {
  for (size_t i = 0; i < list->len; i++)
    if (config_equal(&list->data[i], c)) return true;
  return false;
}

static int combine_axes(Tuning *t) {
  Configs options = {0};
  int code = space_of_axes(&options, &t->problem, t->axes, t->naxes);
  for (size_t i = 0; i < t->space.configs.len && !code; i++) {
    for (size_t j = 0; j < options.len; j++) {
      Config c = with_options(t, &t->space.configs.data[i], &options.data[j]);
      if (!is_config_in(&t->configs, &c)) vec_push(t->arena, &t->configs, c);
      if (t->configs.len > SPACE_MOST)
        return error_set(NEREID_E_USAGE, E_TUNE_SPACE_LARGE, SPACE_MOST);
    }
  }
  return code;
}

/* ---- all of it ---- */

/* On a CPU, what only a GPU's code depends on is not searched. */
static void choose_axes(Tuning *t) {
  const nereid_tune_request *r = t->request;
  nereid_tune_axis *axes = ARENA_ARRAY(t->arena, nereid_tune_axis, (size_t)r->naxes);
  bool gpu = device_kind(t->device) == NEREID_PTX;
  t->axes = axes;
  for (int i = 0; i < r->naxes; i++)
    if (gpu || !config_is_option(r->axes[i].name)) axes[t->naxes++] = r->axes[i];
}

static bool names_constexprs(const Tuning *t) {
  for (int i = 0; i < t->naxes; i++)
    if (!config_is_option(t->axes[i].name)) return true;
  return false;
}

/* The configurations that are asked for, or those of the kernel's decorators, or derived ones. */
static int tune_space(Tuning *t) {
  int code = space_check(&t->problem, t->request->axes, t->request->naxes);
  if (code) return code;
  choose_axes(t);
  if (names_constexprs(t)) return space_of_axes(&t->configs, &t->problem, t->axes, t->naxes);
  code = decorators_space(&t->space, t->decorators);
  if (code) return code;
  if (t->space.source == SPACE_NONE && !t->naxes)
    return error_set(NEREID_E_USAGE, E_TUNE_SPACE, t->problem.info->name);
  return combine_axes(t);
}

/* A request for a configuration, with the constexprs that the kernel's heuristics add to it. */
static int tune_complete(Tuning *t, const Config *c, nereid_request *out) {
  Config full;
  int code = decorators_complete(&full, t->decorators, c);
  if (!code) *out = problem_request(&t->problem, &full);
  return code;
}

/* Configurations that earlier runs have measured, whatever space those had. */

/* Constexprs that the request fixes are not part of the space. */
static bool is_config_open(const Tuning *t, const Config *c) {
  for (int i = 0; i < c->n; i++) {
    const char *name = c->settings[i].name;
    bool known = config_is_option(name) || arguments_param(t->problem.info, name);
    if (!known || problem_fixed(&t->problem, name)) return false;
  }
  return true;
}

static bool is_there(const Tuning *t, const Config *c) {
  for (size_t i = 0; i < t->configs.len; i++)
    if (config_equal(&t->configs.data[i], c)) return true;
  return false;
}

/* Appends configurations that records know of the problem. */
static void tune_recorded(Tuning *t) {
  RecordList list = {0};
  tuner_recorded(&t->search, &t->found, &list);
  for (size_t i = 0; i < list.len; i++) {
    Config c;
    if (config_read(&c, t->arena, list.data[i].config) && is_config_open(t, &c) && !is_there(t, &c))
      vec_push(t->arena, &t->configs, c);
  }
}

/* ---- names ---- */

static const char *problem_signature(const Tuning *t) {
  Text text = text_new(t->arena);
  for (int i = 0; i < t->problem.args.len; i++)
    text_printf(&text, "%s%s=%s", i ? ", " : "", t->problem.args.data[i].name, t->problem.types[i]);
  return text.data;
}

static void print_argument_sizes(Text *out, const Argument *a, bool exact) {
  nereid_value_kind k = nereid_value_get_kind(a->value);
  nereid_tensor tensor;
  if (k == NEREID_VALUE_INT || k == NEREID_VALUE_BOOL)
    tuner_print_size(out, a->name, nereid_value_int(a->value), exact);
  else if (k == NEREID_VALUE_ARRAY && !nereid_value_tensor(&tensor, a->value))
    tuner_print_shape(out, a->name, tensor.shape, tensor.ndim, exact);
}

static const char *problem_shape(const Tuning *t) {
  Text text = text_new(t->arena);
  for (int i = 0; i < t->problem.args.len; i++)
    print_argument_sizes(&text, &t->problem.args.data[i], true);
  return text.data ? text.data : "";
}

static const char *problem_sizes(const Tuning *t) {
  Text text = text_new(t->arena);
  for (int i = 0; i < t->problem.args.len; i++)
    print_argument_sizes(&text, &t->problem.args.data[i], false);
  text_printf(&text, "%sgrid=%s", text.len ? " " : "", t->problem.grid);
  return text.data;
}

static const char *config_as_text(const Tuning *t, const Config *c) {
  Text text = text_new(t->arena);
  config_print(&text, c);
  return text.data ? text.data : "";
}

void tune_name(Tuning *t) {
  t->found.kernel = t->problem.info->name;
  t->found.signature = problem_signature(t);
  t->found.sizes = problem_sizes(t);
  t->found.shape = problem_shape(t);
}

/* ---- candidates ---- */

/* A configuration that heuristics can't complete, or an invalid grid, is a failed candidate.
 * *wrong: it is wrong usage, whose message is the last one. */
static int make_tune_candidate(Tuning *t, const Config *config, Candidate *c, bool *wrong) {
  int code = tune_complete(t, config, &c->request);
  DeterministicFailure failure = {0};
  c->config = config_as_text(t, config);
  if (!code) {
    c->ints = problem_bindings(&t->problem, &c->request, &c->nints);
    code = arguments_grid(c->grid, t->problem.grid, c->ints, c->nints);
  }
  *wrong = code == NEREID_E_USAGE;
  deterministic_failure_keep(&failure, code);
  deterministic_failure_apply(&failure, t->arena, c);
  return c->known ? 0 : code;
}

/* Usage that is wrong for every configuration fails the whole tuning, with its message. */
static int make_candidates(Tuning *t) {
  bool all_wrong = t->configs.len > 0, wrong;
  int code = 0;
  t->candidates = ARENA_ARRAY(t->arena, Candidate, t->configs.len);
  for (size_t i = 0; i < t->configs.len && !code; i++) {
    code = make_tune_candidate(t, &t->configs.data[i], &t->candidates[i], &wrong);
    all_wrong &= wrong;
  }
  return !code && all_wrong ? NEREID_E_USAGE : code;
}

static bool is_name_among(const char *name, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

static WorkerReset reset_of(const Tuning *t, const char *name) {
  const DecoratorSpace *s = &t->space;
  if (is_name_among(name, s->reset_to_zero, s->nreset_to_zero)) return WORKER_ZERO;
  return is_name_among(name, s->restore_value, s->nrestore_value) ? WORKER_RESTORE : WORKER_KEEP;
}

static const MeasuredArg *args_to_measure(const Tuning *t) {
  MeasuredArg *args = ARENA_ARRAY(t->arena, MeasuredArg, (size_t)t->problem.args.len);
  for (int i = 0; i < t->problem.args.len; i++) {
    const Argument *a = &t->problem.args.data[i];
    args[i] = (MeasuredArg){a->name, a->text, argument_cast(a), reset_of(t, a->name), 0};
  }
  return args;
}

/* ---- all of them ---- */

/* If records alone choose, the space is made only where they have no answer: its message may tell
 * why. */
int tune_candidates(Tuning *t) {
  int code = tune_open(t);
  if (!code && t->request->records_only) tune_recorded(t);
  if (!code && !t->configs.len) code = tune_space(t);
  if (!code) code = make_candidates(t);
  if (code) return code;
  t->found.args = args_to_measure(t);
  t->found.nargs = t->problem.args.len;
  t->found.candidates = t->candidates;
  t->found.n = t->configs.len;
  return 0;
}
