#include "graph/execute/tune_problem.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "graph/messages.h"
#include "runtime/search/tuner.h"

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

static const PlanBuffer *buffer_of(const Making *m, const StepArg *a) {
  return &m->sizes->plan->buffers[a->buffer];
}

static int find_sizes(Making *m) {
  int code = 0;
  for (uint32_t i = 0; i < m->step->nargs && !code; i++) {
    const StepArg *a = &m->step->args[i];
    if (a->kind == STEP_BUFFER) code = sizes_shape(m->sizes, buffer_of(m, a), m->shapes[i]);
    else if (a->kind == STEP_INT && !sizes_eval(m->sizes, a->value, &m->ints[i]))
      code = error_set(NEREID_E_USAGE, E_GRAPH_STEP_VALUE, m->step->kernel, a->name);
  }
  return code;
}

/* ---- arguments ---- */

/* Of each buffer other numbers: a kernel that takes one for another shall not look right. */
static const char *buffer_text(const Making *m, uint32_t i) {
  const PlanBuffer *b = buffer_of(m, &m->step->args[i]);
  bool drawn = dtype_is_float(b->dtype);
  Text text = text_new(m->arena);
  text_printf(&text, "%s:%s[", drawn ? "randn" : "zeros", dtype_name(b->dtype));
  for (uint32_t j = 0; j < b->rank; j++)
    text_printf(&text, "%s%" PRId64, j ? "," : "", m->shapes[i][j]);
  text_puts(&text, "]");
  if (drawn) text_printf(&text, ":%u", i);
  return text.data;
}

static const char *value_text(const Making *m, uint32_t i) {
  const StepArg *a = &m->step->args[i];
  if (a->kind == STEP_BUFFER) return buffer_text(m, i);
  return a->kind == STEP_INT ? arena_printf(m->arena, "%" PRId64, m->ints[i])
                             : arena_printf(m->arena, "%.17g:fp64", a->number);
}

static const MeasuredArg *measured_args(const Making *m) {
  MeasuredArg *args = ARENA_ARRAY(m->arena, MeasuredArg, m->step->nargs);
  for (uint32_t i = 0; i < m->step->nargs; i++)
    args[i] = (MeasuredArg){m->step->args[i].name, value_text(m, i), "", WORKER_KEEP, PERIOD};
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

static int find_grid(const Making *m, const StepChoice *choice, uint32_t grid[3]) {
  for (int i = 0; i < 3; i++) {
    int64_t extent;
    if (!sizes_eval(m->sizes, choice->grid[i], &extent) || extent < 0 || extent > UINT32_MAX)
      return error_set(NEREID_E_USAGE, E_GRAPH_STEP_GRID, m->step->kernel, i, (long long)extent);
    grid[i] = (uint32_t)extent;
  }
  return 0;
}

static int make_candidate(const Making *m, uint32_t i, Candidate *c) {
  PlanStep chosen = *m->step;
  plan_choose(&chosen, i);
  int code = kernels_request(m->kernels, &chosen, m->sizes, &c->request);
  if (!code) code = find_grid(m, &m->step->choices[i], c->grid);
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

static const char *signature_of(const Making *m, const nereid_request *r) {
  Text text = text_new(m->arena);
  for (int i = 0; i < r->nargs; i++)
    if (r->args[i].type)
      text_printf(&text, "%s%s=%s", text.len ? ", " : "", r->args[i].name, r->args[i].type);
  return text.data ? text.data : "";
}

static Text print_sizes(const Making *m, bool exact) {
  Text text = text_new(m->arena);
  for (uint32_t i = 0; i < m->step->nargs; i++) {
    const StepArg *a = &m->step->args[i];
    if (a->kind == STEP_INT) tuner_print_size(&text, a->name, m->ints[i], exact);
    if (a->kind == STEP_BUFFER)
      tuner_print_shape(&text, a->name, m->shapes[i], (int)buffer_of(m, a)->rank, exact);
  }
  return text;
}

static const char *shape_of(const Making *m) {
  Text text = print_sizes(m, true);
  return text.data ? text.data : "";
}

/* What is measured with its data in the cache is no measure of what is not. */
static const char *sizes_of(const Making *m) {
  Text text = print_sizes(m, false);
  text_printf(&text, "%scache=kept", text.len ? " " : "");
  return text.data;
}

/* ---- all of it ---- */

int tune_problem(SearchProblem *out, PlanKernels *k, const Sizes *sizes, const PlanStep *s) {
  Arena *a = k->arena;
  Making m = {k, a, sizes, s, .ints = ARENA_ARRAY(a, int64_t, s->nargs)};
  m.shapes = arena_array(a, s->nargs, sizeof *m.shapes);
  Candidate *candidates = ARENA_ARRAY(a, Candidate, s->nchoices);
  int code = find_sizes(&m);
  for (uint32_t i = 0; i < s->nchoices && !code; i++) code = make_candidate(&m, i, &candidates[i]);
  if (code) return code;
  *out = (SearchProblem){.kernel = kernel_of(s),
                         .signature = signature_of(&m, &candidates[0].request),
                         .sizes = sizes_of(&m),
                         .shape = shape_of(&m),
                         .args = measured_args(&m),
                         .nargs = (int)s->nargs,
                         .candidates = candidates,
                         .n = s->nchoices,
                         .whole = candidates[0].request.source.text != k->source.text};
  return 0;
}
