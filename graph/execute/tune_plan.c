#include "graph/execute/tune_plan.h"

#include <inttypes.h>
#include <string.h>

#include "graph/execute/tune_problem.h"
#include "graph/messages.h"
#include "runtime/device/device.h"
#include "runtime/messages.h"
#include "runtime/search/tuner.h"

enum { SIZE_MOST = 1024 };
static const double WORTH = 0.98; /* of an earlier choice's time: what is hardly faster is noise */

typedef struct {
  Plan *plan;
  nereid_device *device;
  const TuneProgress *progress; /* NULL: nothing is measured */
  Arena *arena;
  Pool *names;
  Sizes *sizes;
  PlanKernels kernels;
  NameMap by_signature; /* numbers of problems, from 1 */
  uintptr_t *of;        /* by step: such a number; 0: nothing to choose */
  VEC(SearchProblem) problems;
} Tuner;

/* ---- what is the same ---- */

static int add_numbers(Tuner *t, const PlanStep *s, Text *out) {
  for (uint32_t i = 0; i < s->nargs; i++) {
    const StepArg *a = &s->args[i];
    int64_t value = 0, shape[GRAPH_RANK_MAX];
    if (a->kind == STEP_BUFFER) {
      const PlanBuffer *b = &t->plan->buffers[a->buffer];
      int code = sizes_shape(t->sizes, b, shape);
      if (code) return code;
      text_printf(out, " %s[", dtype_name(b->dtype));
      for (uint32_t j = 0; j < b->rank; j++) text_printf(out, "%" PRId64 ",", shape[j]);
      text_puts(out, "]");
    } else if (a->kind == STEP_INT && sizes_eval(t->sizes, a->value, &value)) {
      text_printf(out, " %" PRId64, value);
    } else {
      text_printf(out, " %a", a->number);
    }
  }
  return 0;
}

static void add_choice(Text *out, const StepChoice *c) {
  for (uint32_t i = 0; i < c->nconstexprs; i++) {
    text_printf(out, "%s=", c->constexprs[i].name);
    dim_print(out, c->constexprs[i].value);
    text_puts(out, " ");
  }
  text_printf(out, "warps=%u stages=%u", c->warps, c->stages);
}

/* Behind the name of the kernel up to the next line that is not indented. */
static void add_function(Text *out, const char *source, const char *kernel) {
  size_t len = strlen(kernel);
  const char *at = source;
  do at = strstr(at + 1, "\ndef ");
  while (at && (strncmp(at + 5, kernel, len) || at[5 + len] != '('));
  if (!at) return;
  const char *end = at + 1;
  do end = strchr(end + 1, '\n');
  while (end && (end[1] == ' ' || end[1] == '\n'));
  text_putn(out, at + 5 + len, end ? (size_t)(end - at) - 5 - len : strlen(at) - 5 - len);
}

/* The kernel's text, its sizes and its choices. */
static int signature(Tuner *t, const PlanStep *s, Name *out) {
  Text text = text_new(t->arena);
  add_function(&text, t->plan->source, s->kernel);
  int code = add_numbers(t, s, &text);
  for (uint32_t i = 0; i < s->nchoices; i++) {
    text_puts(&text, "\n");
    add_choice(&text, &s->choices[i]);
  }
  *out = pool_name(t->names, text.data);
  return code;
}

/* ---- problems ---- */

/* Of tensors without elements nothing is launched. */
static bool is_launched(const SearchProblem *p) {
  const uint32_t *grid = p->candidates[0].grid;
  return grid[0] && grid[1] && grid[2];
}

/* Steps of the constant part run once.  Steps that are the same share a problem. */
static int add_problem(Tuner *t, uint32_t step) {
  const PlanStep *s = &t->plan->steps[step];
  SearchProblem problem;
  Name name;
  if (s->once || s->nchoices < 2) return 0;
  int code = signature(t, s, &name);
  if (code) return code;
  void **number = namemap_put(t->arena, &t->by_signature, name);
  if (!*number) {
    code = tune_problem(&problem, &t->kernels, t->sizes, s);
    if (code || !is_launched(&problem)) return code;
    vec_push(t->arena, &t->problems, problem);
    *number = (void *)(uintptr_t)t->problems.len;
  }
  t->of[step] = (uintptr_t)*number;
  return 0;
}

/* The sizes that were chosen may make no sense for a step, as where one is subtracted from another:
 * it keeps its first choice. */
static int add_problems(Tuner *t) {
  int code = 0;
  for (uint32_t i = 0; i < t->plan->nsteps && !code; i++) {
    code = add_problem(t, i);
    if (code == NEREID_E_USAGE) code = 0;
  }
  return code;
}

/* ---- choosing ---- */

/* What is taken is sure, or the step says that it is not. */
static bool is_taken(const Candidate *c, const Candidate *best) {
  TimeTaken of_c = search_time(c), of_best = search_time(best);
  if (c->status != NEREID_TUNE_OK || c->median_us * WORTH > best->median_us) return false;
  return doubt_of(&of_c) == DOUBT_NONE || doubt_of(&of_best) != DOUBT_NONE;
}

static void choose(Tuner *t, uint32_t step) {
  if (!t->of[step]) return;
  const SearchProblem *p = &t->problems.data[t->of[step] - 1];
  const Candidate *best = search_best(p->candidates, p->n);
  for (uint32_t i = 0; best && i < p->n; i++) {
    const Candidate *c = &p->candidates[i];
    if (!is_taken(c, best)) continue;
    PlanStep *s = &t->plan->steps[step];
    plan_choose(s, i);
    s->measured = arena_printf(t->plan->graph->arena, "%.2f us on %s with %s", c->median_us,
                               t->device->description, c->config);
    LOG(t->device->log, LOG_TUNE, "%s: %s, %.2f us (%s), the best of %zu", s->kernel, c->config,
        c->median_us, c->recorded ? "records" : "measured", p->n);
    return;
  }
}

/* No measuring is no failure: the first choices are those of mode default.  But a kernel that hangs
 * in this process ends it. */
static int measure(Tuner *t, Search *s) {
  s->begin = host_now();
  s->on_progress = t->progress->on_progress;
  s->on_progress_context = t->progress->context;
  int code = tuner_run(s);
  if (code == NEREID_E_LOST) return code;
  const char *failure = code ? nereid_error_message() : NULL;
  for (size_t i = 0; i < t->problems.len && !failure; i++) failure = t->problems.data[i].failure;
  if (failure) device_note(t->device, N_GRAPH_UNMEASURED, failure);
  return 0;
}

static int find_best(Tuner *t) {
  Search s = {.arena = t->arena,
              .device = t->device,
              .problems = t->problems.data,
              .nproblems = t->problems.len,
              .keep_l2 = true,
              .note = t->device->on_message,
              .context = t->device->context};
  if (t->progress) return measure(t, &s);
  tuner_recall_elsewhere(&s);
  return 0;
}

/* ---- doubts ---- */

/* Of one kernel the whole story; of several a line, and the stories in the log. */
static void tell_doubts(const Tuner *t) {
  static const char REMEDY[] = "--mode max-autotune";
  const char *first = NULL, *kernel = NULL;
  size_t n = 0;
  for (size_t i = 0; i < t->problems.len; i++) {
    const SearchProblem *p = &t->problems.data[i];
    const char *doubt = search_doubt(t->arena, p, REMEDY);
    if (!doubt) continue;
    LOG(t->device->log, LOG_TUNE, "%s", doubt);
    if (!n++) first = doubt, kernel = p->kernel;
  }
  if (n == 1) device_note(t->device, "%s", first);
  if (n > 1) device_note(t->device, N_TUNE_UNSURE_MANY, n, t->problems.len, kernel, REMEDY);
}

/* ---- all ---- */

static int tune_body(void *arg) {
  Tuner *t = arg;
  t->names = pool_new(t->arena);
  t->sizes = sizes_new(t->arena, t->plan);
  t->of = ARENA_ARRAY(t->arena, uintptr_t, t->plan->nsteps);
  int code = kernels_open(&t->kernels, t->arena, t->plan, t->device);
  if (!code) code = sizes_bind_large(t->sizes, SIZE_MOST);
  if (!code) code = add_problems(t);
  if (!code && t->problems.len) code = find_best(t);
  if (!code) tell_doubts(t);
  for (uint32_t i = 0; i < t->plan->nsteps && !code; i++) choose(t, i);
  return code;
}

static int tune(Plan *p, nereid_device *d, const TuneProgress *progress) {
  Tuner t = {.plan = p, .device = d, .progress = progress, .arena = arena_new()};
  if (!t.arena) return error_out_of_memory();
  int code = error_guard(t.arena, tune_body, &t);
  kernels_close(&t.kernels);
  arena_free(t.arena);
  return code;
}

int tune_plan(Plan *p, nereid_device *d, const TuneProgress *progress) {
  return device_kind(d) == NEREID_PTX ? tune(p, d, progress) : 0;
}

int tune_plan_recorded(Plan *p, const char *target, nereid_message_fn note, void *context) {
  nereid_device *d;
  int code = device_of_target(&d, target);
  if (code) return code;
  nereid_device_on_message(d, note, context);
  code = tune(p, d, NULL);
  nereid_device_close(d);
  return code;
}
