/* Plans for the sizes of single runs.
 *
 * A model of ONNX's has operators for which one plan can't hold all values of an open size: the
 * number of axes, the turns of a loop, or which of two sizes is 1.  What the plan for open sizes
 * takes sizes to be is checked before each run; where that does not hold, or where there is no such
 * plan, the model is read again for the sizes of the run, then for the values of its inputs too.
 * The executable that this gives is kept for the next run of the same ones.
 *
 * Where a value that the model computes decides which nodes there are (the condition of an If whose
 * results differ in shape, the length of a Scan), a plan computes that value first; for the rest of
 * the model it is one more input, with its sizes and value.
 *
 * On CPUs, where constants in the place of sizes make kernels faster, the sizes of the first run
 * have a plan of their own as long as no run has others. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/api/api.h"
#include "model/api/graph_options.h"
#include "model/execute/execute_state.h"
#include "runtime/messages.h"
#include "runtime/support/array.h"
#include "runtime/support/error.h"

enum { PLANS_MAX = 64 };

struct SizedPlan {
  nereid_executable *e;
  int64_t *sizes; /* of each input the number of axes, and their sizes */
  size_t nsizes;
  bool valued;   /* it is for values of inputs, too */
  ModelStages stages; /* values that are inputs after the model's; does it compute the next? */
  uint64_t used; /* when; the latest is the largest */
  int users;     /* calls and sessions, while which it is not freed */
};

struct SizedPlans {
  pthread_mutex_t lock;
  nereid_executable *of;
  nereid_graph_options options;
  bool *is_static; /* by input */
  SizedPlan **plans;
  int n;
  uint64_t clock;
  ModelStages stages; /* values that each run computes first */
  bool fixes;     /* runs have had the sizes of the first one */
  int64_t *first; /* these; NULL: there was no run */
  size_t nfirst;
};

/* ---- making ---- */

typedef struct {
  SizedPlans *s;
  const nereid_graph_options *options;
} Making;

static int make_body(void *arg) {
  const Making *m = arg;
  Arena *a = m->s->of->model->arena;
  m->s->options = graph_options_of_sizes(a, m->options);
  m->s->options.defer_compile = 1;
  m->s->is_static = ARENA_ARRAY(a, bool, executable_inputs(m->s->of->e));
  return 0;
}

int sized_new(nereid_executable *e, const nereid_graph_options *o, bool fixes) {
  SizedPlans *s = e->sized = calloc(1, sizeof *s);
  if (!s) return error_out_of_memory();
  s->of = e;
  s->fixes = fixes;
  pthread_mutex_init(&s->lock, NULL);
  Making m = {s, o};
  return error_guard(e->model->arena, make_body, &m);
}

static void plan_free(SizedPlan *p) {
  if (!p) return;
  nereid_executable_free(p->e);
  free(p->sizes);
  free(p);
}

static void wish_free(OnnxWish w) {
  free((char *)(uintptr_t)w.value);
  free((char *)(uintptr_t)w.place);
}

void sized_free(SizedPlans *s) {
  if (!s) return;
  for (int i = 0; i < s->n; i++) plan_free(s->plans[i]);
  pthread_mutex_destroy(&s->lock);
  free(s->plans);
  free(s->first);
  for (uint32_t i = 0; i < s->stages.n; i++) wish_free(s->stages.of[i]);
  free(s);
}

void sized_set_static(SizedPlans *s, int i) {
  pthread_mutex_lock(&s->lock);
  s->is_static[i] = true;
  for (int k = 0; k < s->n; k++) nereid_executable_set_static(s->plans[k]->e, i);
  pthread_mutex_unlock(&s->lock);
}

nereid_executable *sized_executable(const SizedPlan *p) { return p->e; }

bool sized_info(SizedPlans *s, nereid_executable_info *out) {
  const SizedPlan *latest = NULL;
  pthread_mutex_lock(&s->lock);
  for (int i = 0; i < s->n; i++)
    if (!latest || s->plans[i]->used > latest->used) latest = s->plans[i];
  if (latest) *out = api_info(latest->e->main); /* under the lock: another call may free the plan */
  pthread_mutex_unlock(&s->lock);
  return latest != NULL;
}

/* ---- the sizes of a run ---- */

static int64_t *sizes_of_inputs(const nereid_tensor *inputs, int n, size_t *count) {
  *count = 0;
  for (int i = 0; i < n; i++) *count += 1 + (size_t)inputs[i].ndim;
  int64_t *sizes = malloc((*count + 1) * sizeof *sizes), *to = sizes;
  for (int i = 0; i < n && sizes; i++) {
    *to++ = inputs[i].ndim;
    for (int32_t k = 0; k < inputs[i].ndim; k++) *to++ = inputs[i].shape[k];
  }
  return sizes;
}

static bool has_sizes(const SizedPlan *p, const int64_t *sizes, size_t n) {
  return p->nsizes == n && !memcmp(p->sizes, sizes, n * sizeof *sizes);
}

/* Are their values those of the same names? */
static bool same_stages(const ModelStages *a, const ModelStages *b) {
  uint32_t n = a->n + a->has_result;
  bool same = a->n == b->n && a->has_result == b->has_result && a->absent == b->absent;
  for (uint32_t i = 0; i < n && same; i++) same = a->of[i].value == b->of[i].value;
  return same;
}

/* ---- finding and compiling ---- */

/* Beyond PLANS_MAX the one goes that nobody has used for longest. */
static int keep_plan(SizedPlans *s, SizedPlan *p) {
  int oldest = -1;
  for (int i = 0; i < s->n; i++)
    if (!s->plans[i]->users && (oldest < 0 || s->plans[i]->used < s->plans[oldest]->used))
      oldest = i;
  if (s->n >= PLANS_MAX && oldest >= 0) {
    plan_free(s->plans[oldest]);
    s->plans[oldest] = p;
    return 0;
  }
  SizedPlan **more = realloc(s->plans, (size_t)(s->n + 1) * sizeof *more);
  if (!more) return error_out_of_memory();
  s->plans = more;
  s->plans[s->n++] = p;
  return 0;
}

/* Without one more value the model can't be read: it goes where its node asks for it. */
static int want_stage(SizedPlans *s, OnnxWish w, int code) {
  ModelStages *all = &s->stages;
  uint32_t at = all->n;
  bool known = all->n == ONNX_STAGES_MAX || !w.value || !w.place;
  for (uint32_t i = 0; i < all->n && !known; i++) known = !strcmp(all->of[i].value, w.value);
  if (known) return wish_free(w), code;
  while (at && strcmp(all->of[at - 1].place, w.place) > 0) at--;
  memmove(all->of + at + 1, all->of + at, (all->n - at) * sizeof *all->of);
  all->of[at] = w;
  all->n++;
  return code;
}

/* The model for these sizes; with data also for values. */
static int compile_sized(SizedPlans *s, SizedPlan *p, const nereid_tensor *inputs, int n) {
  OnnxWish wanted;
  const OnnxFindings *found = &s->of->model->found;
  nereid_tensor *given = calloc((size_t)n + 1, sizeof *given);
  nereid_graph_items *items = calloc(found->items.len + 1, sizeof *items);
  if (!given || !items) return free(given), free(items), error_out_of_memory();
  for (int i = 0; i < n; i++) {
    given[i] = inputs[i];
    if (!p->valued) given[i].data = NULL;
  }
  for (uint32_t i = 0; i < found->items.len; i++)
    items[i] = (nereid_graph_items){found->items.data[i].input, found->items.data[i].n};
  nereid_graph g = {
      .source = {.inputs = given, .ninputs = n, .items = items, .nitems = (int)found->items.len}};
  int code = model_read_sized(&g.model, &g.source, &p->stages, s->of->model, &wanted);
  if (wanted.value && p->valued) code = want_stage(s, wanted, code);
  else wish_free(wanted);
  if (!code) code = nereid_executable_new(&p->e, &g, s->of->device, &s->options);
  model_free(g.model);
  free(given);
  free(items);
  for (uint32_t i = 0; i < executable_inputs(s->of->e) && !code; i++)
    if (s->is_static[i]) nereid_executable_set_static(p->e, (int)i);
  return code;
}

static int new_plan(SizedPlan **out, SizedPlans *s, const nereid_tensor *inputs, int n,
                    SizedPlan how) {
  SizedPlan *p = malloc(sizeof *p);
  if (!p) return error_out_of_memory();
  *p = how;
  p->sizes = sizes_of_inputs(inputs, n, &p->nsizes);
  int code = p->sizes ? compile_sized(s, p, inputs, n) : error_out_of_memory();
  if (code) plan_free(p);
  else *out = p;
  return code;
}

typedef struct {
  const nereid_tensor *inputs;
  int n;
  SizedUse *use;
  void *context;
  ModelStages stages; /* of the last inputs, and whether the plan computes the next one */
} Using;

/* A stage's plan is used under the lock: its result is in memory that the next run writes. */
static int use_plan(SizedPlans *s, SizedPlan *p, const Using *u, bool *refused) {
  *refused = false;
  p->used = ++s->clock;
  p->users++;
  if (!u->stages.has_result) pthread_mutex_unlock(&s->lock);
  int code = u->use(p, u->inputs, u->n, u->context, refused);
  if (!u->stages.has_result) pthread_mutex_lock(&s->lock);
  p->users--;
  return code;
}

/* Tries the existing plans: where one is for other values, the next may be for these. */
static int use_known(SizedPlans *s, const int64_t *sizes, size_t n, const Using *u, bool *refused,
                     bool *valued) {
  int code = 0;
  *refused = true;
  for (int i = 0; i < s->n && *refused; i++) {
    SizedPlan *p = s->plans[i];
    if (!same_stages(&p->stages, &u->stages) || !has_sizes(p, sizes, n)) continue;
    *valued |= p->valued;
    code = use_plan(s, p, u, refused);
    *refused &= p->valued;
    if (!*refused) return code;
  }
  return code;
}

static int use_locked(SizedPlans *s, const Using *u) {
  bool refused, valued = false;
  size_t count;
  int64_t *sizes = sizes_of_inputs(u->inputs, u->n, &count);
  if (!sizes) return error_out_of_memory();
  int code = use_known(s, sizes, count, u, &refused, &valued);
  free(sizes);
  if (!refused) return code;
  SizedPlan *p;
  SizedPlan how = {.stages = u->stages};
  code = valued ? NEREID_E_FILE : new_plan(&p, s, u->inputs, u->n, how);
  how.valued = true;
  if (code == NEREID_E_FILE) code = new_plan(&p, s, u->inputs, u->n, how);
  if (code) return code;
  code = keep_plan(s, p);
  if (code) plan_free(p);
  return code ? code : use_plan(s, p, u, &refused);
}

/* ---- values that a run computes first ---- */

enum { ON_HOST = 1 }; /* among DLPack's devices */

/* A copy of a result in host memory, which one allocation has with its shape. */
static int copy_result(nereid_device *d, nereid_tensor *out, const nereid_tensor *t) {
  int64_t elements = 1, rank = t->ndim;
  for (int i = 0; i < t->ndim; i++) elements *= t->shape[i];
  size_t bytes = (size_t)elements * ((size_t)t->dtype.bits + 7) / 8, head = (size_t)rank * 8;
  char *copy = malloc(head + bytes + 1);
  if (!copy) return error_out_of_memory();
  memcpy(copy, t->shape, head);
  const char *from = (const char *)t->data + t->byte_offset;
  int code = 0;
  if (execute_is_on_host(t)) memcpy(copy + head, from, bytes);
  else code = nereid_copy_out(d, copy + head, from, bytes, NULL);
  if (code) return free(copy), code;
  *out = *t;
  out->device = (nereid_dl_device){.device_type = ON_HOST};
  out->shape = (int64_t *)(void *)copy;
  out->data = copy + head;
  out->byte_offset = 0;
  out->strides = NULL;
  return 0;
}

typedef struct {
  nereid_tensor *result; /* where the value goes */
  bool absent;           /* it is of a branch that is not taken */
} StageRun;

/* Runs the plan of a stage. */
static int run_stage(SizedPlan *p, const nereid_tensor *inputs, int n, void *context,
                     bool *refused) {
  StageRun *run = context;
  nereid_tensor made = {0};
  run->absent = p->e->model->found.absent;
  int code = nereid_executable_run(p->e, inputs, n, &made, 1, NULL);
  *refused = code && execution_refused(p->e->main);
  return code ? code : copy_result(p->e->device, run->result, &made);
}

/* Values that the run has computed, after its own inputs. */
typedef struct {
  nereid_tensor *all;
  int own;
  ModelStages done;
} Staged;

static void forget_stages(Staged *r, uint32_t from) {
  for (uint32_t i = from; i < r->done.n; i++) free(r->all[r->own + (int)i].shape);
  r->done.n = from;
  r->done.absent &= ((uint64_t)1 << from) - 1;
}

/* Keeps those in front of a stage that was found since. */
static void keep_stages(Staged *r, const ModelStages *now) {
  uint32_t n = 0;
  while (n < r->done.n && r->done.of[n].value == now->of[n].value) n++;
  if (n < r->done.n) forget_stages(r, n);
}

/* Computes the next value. */
static int next_stage(SizedPlans *s, Staged *r) {
  uint32_t k = r->done.n;
  StageRun run = {&r->all[r->own + (int)k], false};
  r->done.of[k] = s->stages.of[k];
  Using stage = {r->all, r->own + (int)k, run_stage, &run, r->done};
  stage.stages.has_result = true;
  int code = use_locked(s, &stage);
  if (code) return code;
  r->done.n++;
  if (run.absent) r->done.absent |= (uint64_t)1 << k;
  return 0;
}

/* The sizes of the run, and then values that it computes. */
static int use_staged(SizedPlans *s, Using u) {
  Staged r = {calloc((size_t)u.n + ONNX_STAGES_MAX, sizeof *r.all), u.n, {.n = 0}};
  if (!r.all) return error_out_of_memory();
  memcpy(r.all, u.inputs, (size_t)u.n * sizeof *r.all);
  u.inputs = r.all;
  /* Stages run on a stream of their own, after what the caller's streams have begun. */
  bool apart = device_kind(s->of->device) == NEREID_PTX;
  int code = apart ? nereid_device_sync(s->of->device) : 0;
  while (!code) {
    uint32_t known = s->stages.n;
    bool all = r.done.n == known;
    u.n = r.own + (int)r.done.n;
    u.stages = r.done;
    code = all ? use_locked(s, &u) : next_stage(s, &r);
    if (all && !code) break;
    if (code == NEREID_E_FILE && s->stages.n > known) code = 0; /* one more was found */
    keep_stages(&r, &s->stages);
  }
  forget_stages(&r, 0);
  free(r.all);
  return code;
}

int sized_use(SizedPlans *s, const nereid_tensor *inputs, int n, SizedUse *use, void *context) {
  Using u = {inputs, n, use, context, {.n = 0}};
  pthread_mutex_lock(&s->lock);
  bool staged = s->stages.n > 0;
  int code = staged ? use_staged(s, u) : use_locked(s, &u);
  if (code == NEREID_E_FILE && !staged && s->stages.n) code = use_staged(s, u);
  pthread_mutex_unlock(&s->lock);
  return code;
}

/* ---- the sizes of the first run ---- */

/* Frees the plan of these sizes, and leaves other runs to the plan for open sizes. */
static void open_sizes(SizedPlans *s) {
  s->fixes = false;
  for (int i = 0; i < s->n; i++) {
    SizedPlan *p = s->plans[i];
    if (p->valued || p->stages.has_result || p->users) continue;
    if (!has_sizes(p, s->first, s->nfirst)) continue;
    plan_free(p);
    s->plans[i--] = s->plans[--s->n];
  }
}

static FirstSizes compare_sizes(SizedPlans *s, const nereid_tensor *inputs, int n) {
  if (!s->fixes) return SIZES_OPEN;
  if (!s->first) return SIZES_NEW;
  size_t count;
  int64_t *sizes = sizes_of_inputs(inputs, n, &count);
  bool same = sizes && count == s->nfirst && !memcmp(sizes, s->first, count * sizeof *sizes);
  free(sizes);
  return same ? SIZES_SAME : SIZES_OTHER;
}

FirstSizes sized_compare(SizedPlans *s, const nereid_tensor *inputs, int n) {
  pthread_mutex_lock(&s->lock);
  FirstSizes found = compare_sizes(s, inputs, n);
  pthread_mutex_unlock(&s->lock);
  return found;
}

void sized_open(SizedPlans *s) {
  pthread_mutex_lock(&s->lock);
  if (s->fixes) open_sizes(s);
  pthread_mutex_unlock(&s->lock);
}

static bool make_first(SizedPlans *s, const nereid_tensor *inputs, int n) {
  SizedPlan *p;
  if (!s->fixes || s->first) return s->fixes;
  s->fixes = !new_plan(&p, s, inputs, n, (SizedPlan){0});
  if (s->fixes && keep_plan(s, p)) plan_free(p), s->fixes = false;
  if (s->fixes) s->first = sizes_of_inputs(inputs, n, &s->nfirst);
  s->fixes &= s->first != NULL;
  return s->fixes;
}

bool sized_make_first(SizedPlans *s, const nereid_tensor *inputs, int n) {
  pthread_mutex_lock(&s->lock);
  bool made = make_first(s, inputs, n);
  pthread_mutex_unlock(&s->lock);
  return made;
}

void sized_hold(SizedPlans *s, SizedPlan *p, bool held) {
  pthread_mutex_lock(&s->lock);
  p->users += held ? 1 : -1;
  pthread_mutex_unlock(&s->lock);
}
