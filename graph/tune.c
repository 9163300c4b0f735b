#include "graph/tune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/kernels.h"
#include "graph/tune_data.h"
#include "runtime/cache.h"
#include "runtime/device.h"
#include "runtime/parallel.h"

enum { SIZE_MOST = 1024, RUNS = 15, WARM_UP = 3 };
static const double WORTH = 0.98; /* of the best so far: what is hardly faster changes nothing */

/* A kernel with its choices, for all steps that run it at the same sizes. */
typedef struct {
  PlanStep *step;
  CacheKey key;
  bool known; /* chosen in a run before */
  uint32_t chosen;
  nereid_request *requests; /* by choice */
  nereid_kernel **kernels;  /* by choice; NULL: it cannot be compiled */
} Problem;

typedef struct {
  Plan *plan;
  nereid_device *device;
  Arena *arena;
  Pool *names;
  Sizes *sizes;
  PlanKernels kernels;
  Cache *cache;
  NameMap by_signature;
  Problem **of; /* by step; NULL: nothing to choose */
  VEC(Problem *) problems;
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

/* ---- records: the text of the choice, by what it was chosen for ---- */

static CacheKey key_of(const Tuner *t, Name signature) {
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "choice");
  cache_key_text(k, nereid_build_id());
  cache_key_text(k, t->device->description);
  cache_key_text(k, signature);
  return cache_key_end(k);
}

static void look_up(Tuner *t, Problem *p) {
  char *data;
  size_t size;
  if (!cache_get(t->cache, &p->key, &data, &size)) return;
  for (uint32_t i = 0; i < p->step->nchoices && !p->known; i++) {
    Text text = text_new(t->arena);
    add_choice(&text, &p->step->choices[i]);
    p->known = text.len == size && !memcmp(text.data, data, size);
    if (p->known) p->chosen = i;
  }
  free(data);
}

static void keep(Tuner *t, const Problem *p) {
  Text text = text_new(t->arena);
  add_choice(&text, &p->step->choices[p->chosen]);
  cache_put(t->cache, &p->key, text.data, text.len);
}

/* ---- problems ---- */

static int ask_for(Tuner *t, Problem *p) {
  uint32_t n = p->step->nchoices;
  p->requests = ARENA_ARRAY(t->arena, nereid_request, n);
  p->kernels = ARENA_ARRAY(t->arena, nereid_kernel *, n);
  int code = 0;
  for (uint32_t i = 0; i < n && !code; i++) {
    PlanStep step = *p->step;
    plan_choose(&step, i);
    code = kernels_request(&t->kernels, &step, t->sizes, &p->requests[i]);
  }
  return code;
}

static int add_problem(Tuner *t, uint32_t step) {
  PlanStep *s = &t->plan->steps[step];
  Name name;
  if (s->once || s->nchoices < 2) return 0;
  int code = signature(t, s, &name);
  if (code) return code;
  void **slot = namemap_put(t->arena, &t->by_signature, name);
  t->of[step] = *slot;
  if (*slot) return 0;
  Problem *p = ARENA_NEW(t->arena, Problem);
  *p = (Problem){.step = s, .key = key_of(t, name)};
  look_up(t, p);
  if (!p->known) code = ask_for(t, p);
  vec_push(t->arena, &t->problems, p);
  *slot = t->of[step] = p;
  return code;
}

/* ---- compiling: whatever fails leaves NULL ---- */

typedef struct {
  nereid_device *device;
  const nereid_request *request;
  nereid_kernel **out;
} Job;

static void compile_one(void *context, size_t i) {
  const Job *job = (const Job *)context + i;
  nereid_image *image;
  if (nereid_compile_for(&image, job->device, job->request)) return;
  nereid_kernel_load(job->out, job->device, image);
  nereid_image_free(image);
}

static void compile_all(Tuner *t) {
  VEC(Job) jobs = {0};
  for (size_t i = 0; i < t->problems.len; i++) {
    const Problem *p = t->problems.data[i];
    for (uint32_t j = 0; j < p->step->nchoices && !p->known; j++)
      vec_push(t->arena, &jobs, ((Job){t->device, &p->requests[j], &p->kernels[j]}));
  }
  parallel_for(jobs.len, compile_one, jobs.data);
}

/* ---- measuring ---- */

static int set_argument(Tuner *t, const TuneData *data, const PlanStep *s, uint32_t i,
                        nereid_launch *l) {
  const StepArg *a = &s->args[i];
  int at = nereid_image_find_param(l->kernel->image, a->name);
  int64_t value;
  if (at < 0) return 0;
  if (a->kind == STEP_BUFFER) return nereid_launch_set_pointer(l, at, data->buffers[i].data);
  if (a->kind == STEP_FLOAT) return nereid_launch_set_float(l, at, a->number);
  if (!sizes_eval(t->sizes, a->value, &value))
    return error_set(NEREID_E_USAGE, E_GRAPH_STEP_VALUE, s->kernel, a->name);
  return nereid_launch_set_int(l, at, value);
}

static int make_launch(Tuner *t, const TuneData *data, const PlanStep *s, const StepChoice *c,
                       nereid_kernel *k, nereid_launch **out) {
  uint32_t grid[3];
  for (int i = 0; i < 3; i++) {
    int64_t extent;
    if (!sizes_eval(t->sizes, c->grid[i], &extent) || extent < 0 || extent > UINT32_MAX)
      return error_set(NEREID_E_USAGE, E_GRAPH_STEP_GRID, s->kernel, i, (long long)extent);
    grid[i] = (uint32_t)extent;
  }
  int code = nereid_launch_new(out, k, grid);
  for (uint32_t i = 0; i < s->nargs && !code; i++) code = set_argument(t, data, s, i, *out);
  return code;
}

/* Once for its results, then for the time. */
static int try_launch(TuneData *data, nereid_launch *l, bool first, double *us) {
  static const nereid_time_options options = {.runs = RUNS, .warm_up = WARM_UP, .keep_l2 = 1};
  nereid_timing timing;
  bool same = true;
  int code = tune_data_fill(data);
  if (!code) code = nereid_launch_run(l, NULL);
  if (!code) code = nereid_device_sync(data->device);
  if (!code && first) code = tune_data_keep(data);
  if (!code && !first) code = tune_data_compare(&same, data);
  if (code || !same) return code;
  code = nereid_launch_time(&timing, l, NULL, &options);
  *us = timing.median_us;
  return code;
}

/* A lost device fails; a choice that can't run is slow. */
static int measure(Tuner *t, TuneData *data, const Problem *p, uint32_t i, bool first, double *us) {
  nereid_launch *l = NULL;
  *us = -1;
  int code = make_launch(t, data, p->step, &p->step->choices[i], p->kernels[i], &l);
  if (!code) code = try_launch(data, l, first, us);
  if (code) *us = -1;
  nereid_launch_free(l);
  return code == NEREID_E_LOST ? code : 0;
}

/* The search: of a kernel's choices, the one to take.  All that is compiled are tried. */
static int choose(Tuner *t, TuneData *data, Problem *p) {
  double best = -1;
  int code = 0;
  for (uint32_t i = 0; i < p->step->nchoices && !code; i++) {
    double us;
    if (!p->kernels[i]) continue;
    code = measure(t, data, p, i, best < 0, &us);
    if (code || us < 0 || (best >= 0 && us > WORTH * best)) continue;
    best = us;
    p->chosen = i;
  }
  if (!code && best >= 0) keep(t, p);
  return code;
}

static const nereid_image *image_of(const Problem *p) {
  for (uint32_t i = 0; i < p->step->nchoices; i++)
    if (p->kernels[i]) return p->kernels[i]->image;
  return NULL;
}

/* Without memory for a trial, the first choice stays. */
static int solve(Tuner *t, Problem *p) {
  const nereid_image *image = p->known ? NULL : image_of(p);
  TuneData data;
  if (!image) return 0;
  int code = tune_data_new(&data, t->arena, t->device, t->sizes, p->step, image);
  if (!code) code = choose(t, &data, p);
  tune_data_free(&data);
  return code == NEREID_E_MEMORY ? 0 : code;
}

/* ---- all ---- */

static int tune_body(void *arg) {
  Tuner *t = arg;
  t->names = pool_new(t->arena);
  t->sizes = sizes_new(t->arena, t->plan);
  t->of = ARENA_ARRAY(t->arena, Problem *, t->plan->nsteps);
  int code = kernels_open(&t->kernels, t->arena, t->plan, t->device);
  if (!code) code = sizes_bind_large(t->sizes, SIZE_MOST);
  for (uint32_t i = 0; i < t->plan->nsteps && !code; i++) code = add_problem(t, i);
  if (!code) compile_all(t);
  for (size_t i = 0; i < t->problems.len && !code; i++) code = solve(t, t->problems.data[i]);
  for (uint32_t i = 0; i < t->plan->nsteps && !code; i++)
    if (t->of[i]) plan_choose(&t->plan->steps[i], t->of[i]->chosen);
  return code;
}

static void free_kernels(const Problem *p) {
  for (uint32_t i = 0; p->kernels && i < p->step->nchoices; i++) nereid_kernel_free(p->kernels[i]);
}

int tune_plan(Plan *p, nereid_device *d) {
  if (device_kind(d) != NEREID_PTX) return 0;
  Tuner t = {.plan = p, .device = d, .arena = arena_new()};
  if (!t.arena) return error_out_of_memory();
  t.cache = cache_open(d->on_message, d->context);
  int code = error_guard(t.arena, tune_body, &t);
  for (size_t i = 0; i < t.problems.len; i++) free_kernels(t.problems.data[i]);
  kernels_close(&t.kernels);
  cache_close(t.cache);
  arena_free(t.arena);
  return code;
}
