/* What a tuning searches: its problem's names in records, its candidates, and their arguments. */
#include <string.h>

#include "runtime/tune/tuning.h"

/* ---- names ---- */

static const char *signature_of(const Tuning *t) {
  Text text = text_new(t->arena);
  for (int i = 0; i < t->problem.args.len; i++)
    text_printf(&text, "%s%s=%s", i ? ", " : "", t->problem.args.data[i].name, t->problem.types[i]);
  return text.data;
}

static void print_sizes(Text *out, const Argument *a, bool exact) {
  nereid_value_kind k = nereid_value_get_kind(a->value);
  nereid_tensor tensor;
  if (k == NEREID_VALUE_INT || k == NEREID_VALUE_BOOL)
    tuner_print_size(out, a->name, nereid_value_int(a->value), exact);
  else if (k == NEREID_VALUE_ARRAY && !nereid_value_tensor(&tensor, a->value))
    tuner_print_shape(out, a->name, tensor.shape, tensor.ndim, exact);
}

static const char *shape_of(const Tuning *t) {
  Text text = text_new(t->arena);
  for (int i = 0; i < t->problem.args.len; i++) print_sizes(&text, &t->problem.args.data[i], true);
  return text.data ? text.data : "";
}

static const char *sizes_of(const Tuning *t) {
  Text text = text_new(t->arena);
  for (int i = 0; i < t->problem.args.len; i++) print_sizes(&text, &t->problem.args.data[i], false);
  text_printf(&text, "%sgrid=%s", text.len ? " " : "", t->problem.grid);
  return text.data;
}

static const char *config_text(const Tuning *t, const Config *c) {
  Text text = text_new(t->arena);
  config_print(&text, c);
  return text.data ? text.data : "";
}

void tune_name(Tuning *t) {
  t->found.kernel = t->problem.info->name;
  t->found.signature = signature_of(t);
  t->found.sizes = sizes_of(t);
  t->found.shape = shape_of(t);
}

/* ---- candidates ---- */

/* What can't be completed, and a grid that is none, make a candidate that fails.  *wrong: it is
 * wrong usage, whose message is the last one. */
static int make_candidate(Tuning *t, const Config *config, Candidate *c, bool *wrong) {
  int code = tune_complete(t, config, &c->request);
  Refusal refusal = {0};
  c->config = config_text(t, config);
  if (!code) {
    c->ints = problem_bindings(&t->problem, &c->request, &c->nints);
    code = arguments_grid(c->grid, t->problem.grid, c->ints, c->nints);
  }
  *wrong = code == NEREID_E_USAGE;
  refusal_keep(&refusal, code);
  refusal_apply(&refusal, t->arena, c);
  return c->known ? 0 : code;
}

/* Usage that is wrong for every configuration is no matter of configurations: its message is the
 * failure's. */
static int make_candidates(Tuning *t) {
  bool all_wrong = t->configs.len > 0, wrong;
  int code = 0;
  t->candidates = ARENA_ARRAY(t->arena, Candidate, t->configs.len);
  for (size_t i = 0; i < t->configs.len && !code; i++) {
    code = make_candidate(t, &t->configs.data[i], &t->candidates[i], &wrong);
    all_wrong &= wrong;
  }
  return !code && all_wrong ? NEREID_E_USAGE : code;
}

static bool is_among(const char *name, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

static WorkerReset reset_of(const Tuning *t, const char *name) {
  const DecoratorSpace *s = &t->space;
  if (is_among(name, s->reset_to_zero, s->nreset_to_zero)) return WORKER_ZERO;
  return is_among(name, s->restore_value, s->nrestore_value) ? WORKER_RESTORE : WORKER_KEEP;
}

static const MeasuredArg *measured_args(const Tuning *t) {
  MeasuredArg *args = ARENA_ARRAY(t->arena, MeasuredArg, (size_t)t->problem.args.len);
  for (int i = 0; i < t->problem.args.len; i++) {
    const Argument *a = &t->problem.args.data[i];
    args[i] = (MeasuredArg){a->name, a->text, argument_cast(a), reset_of(t, a->name), 0};
  }
  return args;
}

/* ---- all of them ---- */

/* Where records alone choose, the space matters only if they are silent: then it may tell why. */
int tune_candidates(Tuning *t) {
  int code = tune_open(t);
  if (!code && t->request->records_only) tune_recorded(t);
  if (!code && !t->configs.len) code = tune_space(t);
  if (!code) code = make_candidates(t);
  if (code) return code;
  t->found.args = measured_args(t);
  t->found.nargs = t->problem.args.len;
  t->found.candidates = t->candidates;
  t->found.n = t->configs.len;
  return 0;
}
