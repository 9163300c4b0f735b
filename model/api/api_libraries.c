/* Mode max-autotune for products that libraries have: the model is compiled with kernels alone, and
 * with all the calls that there can be, and each step of both is timed on drawn inputs. */
#include <stdlib.h>
#include <string.h>

#include "lang/tile/scalar.h"
#include "model/api/api.h"
#include "model/api/graph_options.h"
#include "model/execute/compare_plans.h"
#include "model/messages.h"
#include "planner/messages.h"
#include "runtime/support/array.h"

enum { SIZE_MOST = 1024 }; /* of sizes that the model leaves open, as for kernels */

/* A candidate: the model with libraries, or without. */
typedef struct {
  Model *model;
  Executable *executable;
  double *us;
  int runs;
} Way;

typedef struct {
  nereid_executable *e;
  nereid_graph *g;
  nereid_graph_options options; /* without those who look on */
  LibraryRecords *records;
  Way kernels, libraries;
} Measuring;

/* ---- drawn inputs ---- */

typedef struct {
  Arena *arena;
  nereid_device *device;
  Sizes *sizes;
  nereid_tensor *tensors;
  VEC(void *) memory;
} Inputs;

static void fill_fixed(const PlanBuffer *b, char *to) {
  for (uint32_t i = 0; i < b->fixed->n; i++) {
    Scalar x = {0};
    if (dtype_is_float(b->dtype)) x.f = b->fixed->floats[i];
    else x.i = b->fixed->ints[i];
    scalar_store(b->dtype, x, to + i * dtype_bytes(b->dtype));
  }
}

/* Floats between -1 and 1, and zeros: an index that each table has. */
static void fill_drawn(DType t, char *to, size_t n) {
  enum { PERIOD = 4099 };
  uint32_t state = 1;
  size_t size = dtype_bytes(t);
  for (size_t i = 0; i < n && dtype_is_float(t); i++) {
    if (i >= PERIOD) {
      memcpy(to + i * size, to + (i - PERIOD) * size, size);
      continue;
    }
    state = state * 1664525u + 1013904223u;
    Scalar x = {.f = scalar_round(t, (double)(state >> 8) / (1 << 23) - 1)};
    scalar_store(t, x, to + i * size);
  }
}

static int make_data(Inputs *in, const PlanBuffer *b, size_t n, void **out) {
  size_t bytes = n * dtype_bytes(b->dtype);
  char *host = calloc(bytes + 1, 1);
  if (!host) return error_out_of_memory();
  if (b->fixed) fill_fixed(b, host);
  else fill_drawn(b->dtype, host, n);
  int code = nereid_alloc(out, in->device, bytes + 1);
  if (!code) vec_push(in->arena, &in->memory, *out);
  if (!code) code = nereid_copy_in(in->device, *out, host, bytes, NULL);
  free(host);
  return code;
}

static int make_number(Inputs *in, const PlanBuffer *b, nereid_tensor *t) {
  int64_t *value = ARENA_NEW(in->arena, int64_t);
  if (!sizes_eval(in->sizes, b->value, value))
    return error_set(NEREID_E_USAGE, E_GRAPH_NO_SIZE, b->name, 0, "a number");
  *t = (nereid_tensor){.data = value, .device = {1, 0}, .dtype = array_dl_dtype(DT_I64)};
  return 0;
}

static int make_input(Inputs *in, const PlanBuffer *b, nereid_tensor *t) {
  if (!b) return 0;
  if (b->value) return make_number(in, b, t);
  int64_t *shape = ARENA_ARRAY(in->arena, int64_t, b->rank + 1);
  bool gpu = in->device->ops == &device_cuda;
  size_t n = 1;
  int code = sizes_shape(in->sizes, b, shape);
  for (uint32_t i = 0; i < b->rank; i++) n *= (size_t)shape[i];
  *t = (nereid_tensor){.device = {gpu ? 2 : 1, 0},
                       .ndim = (int32_t)b->rank,
                       .dtype = array_dl_dtype(b->dtype),
                       .shape = shape};
  return code ? code : make_data(in, b, n, &t->data);
}

static int make_inputs(Inputs *in, const Plan *p) {
  in->sizes = sizes_new(in->arena, p);
  in->tensors = ARENA_ARRAY(in->arena, nereid_tensor, in->sizes->ninputs + 1);
  int code = sizes_bind_large(in->sizes, SIZE_MOST);
  for (uint32_t i = 0; i < in->sizes->ninputs && !code; i++)
    code = make_input(in, in->sizes->inputs[i], &in->tensors[i]);
  return code;
}

static void free_inputs(Inputs *in) {
  for (size_t i = 0; i < in->memory.len; i++) nereid_free(in->device, in->memory.data[i]);
}

/* ---- times ---- */

static int time_steps(const Measuring *m, Way *w) {
  Inputs in = {.arena = w->model->arena, .device = m->e->device};
  Plan *p = w->model->plan;
  nereid_tensor *outputs = ARENA_ARRAY(in.arena, nereid_tensor, p->noutputs + 1);
  w->us = ARENA_ARRAY(in.arena, double, p->nsteps + 1);
  int code = make_inputs(&in, p);
  ExecutionCall call = {
      in.tensors, in.sizes ? (int)in.sizes->ninputs : 0, outputs, (int)p->noutputs, NULL, {0}};
  if (!code) code = execution_step_times(executable_main(w->executable), &call, w->us, &w->runs);
  free_inputs(&in);
  return code;
}

typedef struct {
  const Measuring *m;
  Way *way;
} Timing;

static int time_steps_body(void *arg) {
  const Timing *t = arg;
  return time_steps(t->m, t->way);
}

static int measure_way(const Measuring *m, Way *w) {
  ExecuteOptions options = {0};
  Plan *p = w->model->plan;
  int code = tune_plan(p, m->e->device, &m->e->progress);
  if (!code) code = executable_new(&w->executable, p, w->model->weights, m->e->device, &options);
  if (!code) code = error_guard(w->model->arena, time_steps_body, &(Timing){m, w});
  executable_free(w->executable);
  w->executable = NULL;
  return code;
}

/* ---- what is measured ---- */

static int plan_way(Measuring *m, Way *w, CompileOptions compile, const LibraryChooser *chooser) {
  compile.libraries = chooser;
  int code = api_take_model(&w->model, m->g, &m->options);
  return code ? code : model_plan(w->model, &compile);
}

/* Is there a call whose times are not known? */
static bool has_unknown(const Measuring *m) {
  const Model *model = m->libraries.model;
  for (uint32_t i = 0; i < model->plan->nsteps; i++) {
    const PlanStep *s = &model->plan->steps[i];
    if (!s->library) continue;
    LibraryProblem p = library_problem(model->graph, s->nodes[0]);
    LibraryTimes t = library_records_find(m->records, &p, true);
    if (library_version(m->e->device, p.function) && !(t.kernels > 0 && t.library > 0)) return true;
  }
  return false;
}

/* A product that is several steps: the mean of them all. */
typedef struct {
  LibraryProblem problem;
  LibraryTimes sum;
  int n;
} Found;

static bool is_same_problem(const LibraryProblem *a, const LibraryProblem *b) {
  return a->function == b->function && !strcmp(a->signature, b->signature) &&
         !strcmp(a->sizes, b->sizes);
}

static void keep_times(const Measuring *m, const ComparedTimes *times) {
  const Model *model = m->libraries.model;
  VEC(Found) list = {0};
  for (uint32_t i = 0; i < model->plan->nsteps; i++) {
    if (!model->plan->steps[i].library || times[i].kernels <= 0) continue;
    LibraryProblem p = library_problem(model->graph, model->plan->steps[i].nodes[0]);
    size_t at = 0;
    while (at < list.len && !is_same_problem(&list.data[at].problem, &p)) at++;
    if (at == list.len) vec_push(model->arena, &list, ((Found){.problem = p}));
    list.data[at].sum.kernels += times[i].kernels;
    list.data[at].sum.library += times[i].library;
    list.data[at].n++;
  }
  for (size_t i = 0; i < list.len; i++) {
    const Found *f = &list.data[i];
    LibraryTimes t = {f->sum.kernels / f->n, f->sum.library / f->n, m->libraries.runs};
    library_records_put(m->records, &f->problem, t);
    LOG(m->e->device->log, LOG_TUNE, "%s, %s: %.2f us by kernels, %.2f us by %s",
        f->problem.signature, f->problem.sizes, t.kernels, t.library,
        library_name(f->problem.function));
  }
}

static int compare_body(void *arg) {
  const Measuring *m = arg;
  TimedPlan without = {m->kernels.model->plan, m->kernels.us};
  TimedPlan with = {m->libraries.model->plan, m->libraries.us};
  keep_times(m, plans_compare(m->libraries.model->arena, without, with));
  return 0;
}

static int unknown_body(void *arg) {
  const Measuring *m = arg;
  return has_unknown(m);
}

/* The first function of a library that is not here would hide those of others. */
static bool is_here(void *context, const LibraryProblem *p) {
  const Measuring *m = context;
  return library_version(m->e->device, p->function) != NULL;
}

static int measure_both(Measuring *m, const ModeOptions *o) {
  const LibraryChooser all = {o->chooser.kind, is_here, m};
  int code = plan_way(m, &m->libraries, o->compile, &all);
  if (code || !m->libraries.model->graph) return code;
  int unknown = error_guard(m->libraries.model->arena, unknown_body, m);
  if (unknown <= 0) return unknown;
  code = plan_way(m, &m->kernels, o->compile, NULL);
  if (!code) code = measure_way(m, &m->kernels);
  if (!code) code = measure_way(m, &m->libraries);
  return code ? code : error_guard(m->libraries.model->arena, compare_body, m);
}

void api_measure_libraries(nereid_executable *e, nereid_graph *g, const nereid_graph_options *o,
                           const ModeOptions *mode, LibraryRecords *records) {
  Measuring m = {.e = e, .g = g, .options = graph_options_of_plan(o), .records = records};
  int code = measure_both(&m, mode);
  if (code) device_note(e->device, N_GRAPH_LIBRARIES_UNMEASURED, nereid_error_message());
  model_free(m.kernels.model);
  model_free(m.libraries.model);
}
