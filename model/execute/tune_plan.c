#include "model/execute/tune_plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "model/messages.h"
#include "planner/compile/plan_kernels.h"
#include "planner/messages.h"
#include "runtime/device/device.h"
#include "runtime/messages.h"
#include "runtime/search/search.h"
#include "runtime/search/tuner.h"

/* ---- a step as a problem of the tuner ---- */

/* Drawn elements, of which larger buffers are made: a prime, so that rows differ. */
enum { PERIOD = 65521 };

typedef struct {
  PlanKernels *kernels;
  Arena *arena;
  const Sizes *sizes;
  const PlanStep *step;
  int64_t *ints;                     /* of each of the step's arguments */
  int64_t (*shapes)[GRAPH_RANK_MAX]; /* likewise */
} Making;

static const PlanBuffer *argument_buffer(const Making *m, const StepArg *a) {
  return &m->sizes->plan->buffers[a->buffer];
}

static int find_sizes(Making *m) {
  int code = 0;
  for (uint32_t i = 0; i < m->step->nargs && !code; i++) {
    const StepArg *a = &m->step->args[i];
    if (a->kind == STEP_BUFFER) code = sizes_shape(m->sizes, argument_buffer(m, a), m->shapes[i]);
    else if (a->kind == STEP_INT && !sizes_eval(m->sizes, a->value, &m->ints[i]))
      code = error_set(NEREID_E_USAGE, E_GRAPH_STEP_VALUE, m->step->kernel, a->name);
  }
  return code;
}

/* ---- arguments ---- */

/* Each buffer has other numbers: a kernel that confuses two must not look right. */
static const char *buffer_text(const Making *m, uint32_t i) {
  const PlanBuffer *b = argument_buffer(m, &m->step->args[i]);
  bool drawn = dtype_is_float(b->dtype);
  Text text = text_new(m->arena);
  text_printf(&text, "%s:%s[", drawn ? "randn" : "zeros", dtype_name(b->dtype));
  for (uint32_t j = 0; j < b->rank; j++)
    text_printf(&text, "%s%" PRId64, j ? "," : "", m->shapes[i][j]);
  text_puts(&text, "]");
  if (drawn) text_printf(&text, ":%u", i);
  return text.data;
}

static const char *argument_text(const Making *m, uint32_t i) {
  const StepArg *a = &m->step->args[i];
  if (a->kind == STEP_BUFFER) return buffer_text(m, i);
  return a->kind == STEP_INT ? arena_printf(m->arena, "%" PRId64, m->ints[i])
                             : arena_printf(m->arena, "%.17g:fp64", a->number);
}

static const MeasuredArg *measure_arguments(const Making *m) {
  MeasuredArg *args = ARENA_ARRAY(m->arena, MeasuredArg, m->step->nargs);
  for (uint32_t i = 0; i < m->step->nargs; i++)
    args[i] = (MeasuredArg){m->step->args[i].name, argument_text(m, i), "", WORKER_KEEP, PERIOD};
  return args;
}

/* ---- candidates ---- */

static const char *config_of(const Making *m, const nereid_request *r) {
  Text text = text_new(m->arena);
  for (int i = 0; i < r->nargs; i++)
    if (r->args[i].value) text_printf(&text, "%s=%s ", r->args[i].name, r->args[i].value);
  text_printf(&text, "num_warps=%d num_stages=%d", r->num_warps, r->num_stages);
  return text.data;
}

static void add_ints(const Making *m, const StepChoice *choice, Candidate *c) {
  nereid_binding *ints =
      ARENA_ARRAY(m->arena, nereid_binding, (size_t)m->step->nargs + choice->nconstexprs);
  for (uint32_t i = 0; i < m->step->nargs; i++)
    if (m->step->args[i].kind == STEP_INT)
      ints[c->nints++] = (nereid_binding){m->step->args[i].name, m->ints[i]};
  for (uint32_t i = 0; i < choice->nconstexprs; i++) {
    nereid_binding *b = &ints[c->nints];
    b->name = choice->constexprs[i].name;
    if (sizes_eval(m->sizes, choice->constexprs[i].value, &b->value)) c->nints++;
  }
  c->ints = ints;
}

static int choice_grid(const Making *m, const StepChoice *choice, uint32_t grid[3]) {
  for (int i = 0; i < 3; i++) {
    int64_t extent;
    if (!sizes_eval(m->sizes, choice->grid[i], &extent) || extent < 0 || extent > UINT32_MAX)
      return error_set(NEREID_E_USAGE, E_GRAPH_STEP_GRID, m->step->kernel, i, (long long)extent);
    grid[i] = (uint32_t)extent;
  }
  return 0;
}

static int make_choice_candidate(const Making *m, uint32_t i, Candidate *c) {
  PlanStep chosen = *m->step;
  plan_choose(&chosen, i);
  int code = kernels_request(m->kernels, &chosen, m->sizes, &c->request);
  if (!code) code = choice_grid(m, &m->step->choices[i], c->grid);
  if (code) return code;
  c->config = config_of(m, &c->request);
  add_ints(m, &m->step->choices[i], c);
  return 0;
}

/* ---- how records call it ---- */

/* Without its number in the graph, "k3_". */
static const char *kernel_of(const PlanStep *s) {
  const char *name = s->kernel + 1;
  while (isdigit((unsigned char)*name)) name++;
  return *s->kernel == 'k' && *name == '_' && name[1] ? name + 1 : s->kernel;
}

static const char *request_signature(const Making *m, const nereid_request *r) {
  Text text = text_new(m->arena);
  for (int i = 0; i < r->nargs; i++)
    if (r->args[i].type)
      text_printf(&text, "%s%s=%s", text.len ? ", " : "", r->args[i].name, r->args[i].type);
  return text.data ? text.data : "";
}

static Text print_symbol_sizes(const Making *m, bool exact) {
  Text text = text_new(m->arena);
  for (uint32_t i = 0; i < m->step->nargs; i++) {
    const StepArg *a = &m->step->args[i];
    if (a->kind == STEP_INT) tuner_print_size(&text, a->name, m->ints[i], exact);
    if (a->kind == STEP_BUFFER)
      tuner_print_shape(&text, a->name, m->shapes[i], (int)argument_buffer(m, a)->rank, exact);
  }
  return text;
}

static const char *exact_sizes_text(const Making *m) {
  Text text = print_symbol_sizes(m, true);
  return text.data ? text.data : "";
}

/* A record with data in the cache does not hold for runs with data in memory: the key tells them
 * apart. */
static const char *sizes_text(const Making *m) {
  Text text = print_symbol_sizes(m, false);
  text_printf(&text, "%scache=kept", text.len ? " " : "");
  return text.data;
}

/* ---- all of it ---- */

/* Its candidates are the step's choices, in their order, at the sizes that are bound.  Buffers of
 * floats hold normal numbers, all others zeros: an index that each table has.  Records call it by
 * what it computes, so that models and layers share them. */
static int tune_problem(SearchProblem *out, PlanKernels *k, const Sizes *sizes, const PlanStep *s) {
  Arena *a = k->arena;
  Making m = {k, a, sizes, s, .ints = ARENA_ARRAY(a, int64_t, s->nargs)};
  m.shapes = arena_array(a, s->nargs, sizeof *m.shapes);
  Candidate *candidates = ARENA_ARRAY(a, Candidate, s->nchoices);
  int code = find_sizes(&m);
  for (uint32_t i = 0; i < s->nchoices && !code; i++)
    code = make_choice_candidate(&m, i, &candidates[i]);
  if (code) return code;
  *out = (SearchProblem){.kernel = kernel_of(s),
                         .signature = request_signature(&m, &candidates[0].request),
                         .sizes = sizes_text(&m),
                         .shape = exact_sizes_text(&m),
                         .args = measure_arguments(&m),
                         .nargs = (int)s->nargs,
                         .candidates = candidates,
                         .n = s->nchoices,
                         .whole = candidates[0].request.source.text != k->source.text};
  return 0;
}

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

static void add_choice_text(Text *out, const StepChoice *c) {
  for (uint32_t i = 0; i < c->nconstexprs; i++) {
    text_printf(out, "%s=", c->constexprs[i].name);
    dim_print(out, c->constexprs[i].value);
    text_puts(out, " ");
  }
  text_printf(out, "warps=%u stages=%u", c->warps, c->stages);
}

/* Behind the name of the kernel up to the next line that is not indented. */
static void add_function_text(Text *out, const char *source, const char *kernel) {
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
  add_function_text(&text, t->plan->source, s->kernel);
  int code = add_numbers(t, s, &text);
  for (uint32_t i = 0; i < s->nchoices; i++) {
    text_puts(&text, "\n");
    add_choice_text(&text, &s->choices[i]);
  }
  *out = pool_name(t->names, text.data);
  return code;
}

/* ---- problems ---- */

/* Nothing is launched for tensors without elements. */
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

/* A candidate is taken if its measurement is sure, or if the best one's is not either. */
static bool is_choice_taken(const Candidate *c, const Candidate *best) {
  TimeTaken of_c = search_time(c), of_best = search_time(best);
  if (c->status != NEREID_TUNE_OK || c->median_us * WORTH > best->median_us) return false;
  return doubt_of(&of_c) == DOUBT_NONE || doubt_of(&of_best) != DOUBT_NONE;
}

static void choose_step(Tuner *t, uint32_t step) {
  if (!t->of[step]) return;
  const SearchProblem *p = &t->problems.data[t->of[step] - 1];
  const Candidate *best = search_best(p->candidates, p->n);
  for (uint32_t i = 0; best && i < p->n; i++) {
    const Candidate *c = &p->candidates[i];
    if (!is_choice_taken(c, best)) continue;
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
static int measure_steps(Tuner *t, Search *s) {
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
  if (t->progress) return measure_steps(t, &s);
  tuner_recall_elsewhere(&s);
  return 0;
}

/* ---- doubts ---- */

/* Tells the whole story of one kernel; of several a line, and the stories in the log. */
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

static int tune_plan_body(void *arg) {
  Tuner *t = arg;
  t->names = pool_new(t->arena);
  t->sizes = sizes_new(t->arena, t->plan);
  t->of = ARENA_ARRAY(t->arena, uintptr_t, t->plan->nsteps);
  int code = kernels_open(&t->kernels, t->arena, t->plan, t->device);
  if (!code) code = sizes_bind_large(t->sizes, SIZE_MOST);
  if (!code) code = add_problems(t);
  if (!code && t->problems.len) code = find_best(t);
  if (!code) tell_doubts(t);
  for (uint32_t i = 0; i < t->plan->nsteps && !code; i++) choose_step(t, i);
  return code;
}

static int tune_steps(Plan *p, nereid_device *d, const TuneProgress *progress) {
  Tuner t = {.plan = p, .device = d, .progress = progress, .arena = arena_new()};
  if (!t.arena) return error_out_of_memory();
  int code = error_guard(t.arena, tune_plan_body, &t);
  kernels_close(&t.kernels);
  arena_free(t.arena);
  return code;
}

int tune_plan(Plan *p, nereid_device *d, const TuneProgress *progress) {
  return device_kind(d) == NEREID_PTX ? tune_steps(p, d, progress) : 0;
}

int tune_plan_recorded(Plan *p, const char *target, nereid_message_fn note, void *context) {
  nereid_device *d;
  int code = device_of_target(&d, target);
  if (code) return code;
  nereid_device_on_message(d, note, context);
  code = tune_steps(p, d, NULL);
  nereid_device_close(d);
  return code;
}
