/* What the model says of candidates. */
#include "runtime/compile/estimate_request.h"
#include "runtime/search/tuner.h"
#include "runtime/support/parallel.h"

typedef struct {
  Candidate *candidate;
  Refusal refusal;
} Predicted;

typedef struct {
  const char *target;
  const DevicePeaks *peaks;
  VEC(Predicted) list; /* of all problems */
} Prediction;

static void predict_one(void *context, size_t i) {
  const Prediction *p = context;
  Candidate *c = p->list.data[i].candidate;
  nereid_request r = c->request;
  r.target = p->target;
  r.on_message = NULL;
  EstimateLaunch launch = {.request = &r,
                           .peaks = p->peaks,
                           .grid = {c->grid[0], c->grid[1], c->grid[2]},
                           .ints = c->ints,
                           .nints = c->nints};
  int code = estimate_launch(&c->predicted, &launch);
  if (!code) return;
  c->predicted = (Estimate){0};
  refusal_keep(&p->list.data[i].refusal, code);
}

static bool is_open(const SearchProblem *p) {
  for (size_t i = 0; i < p->n; i++)
    if (!p->candidates[i].known) return true;
  return false;
}

static void add_candidates(const Search *s, const SearchProblem *p, Prediction *out) {
  for (size_t i = 0; i < p->n; i++) {
    Candidate *c = &p->candidates[i];
    bool runs = c->status != NEREID_TUNE_COMPILE && c->status != NEREID_TUNE_RESOURCES;
    if (runs && c->predicted.us <= 0) vec_push(s->arena, &out->list, ((Predicted){c, {0}}));
  }
}

/* ---- the order ---- */

static void put_in_order(const Search *s, SearchProblem *p) {
  const Estimate **predicted = ARENA_ARRAY(s->arena, const Estimate *, p->n);
  size_t *order = ARENA_ARRAY(s->arena, size_t, p->n);
  for (size_t i = 0; i < p->n; i++) predicted[i] = &p->candidates[i].predicted;
  estimate_order(order, predicted, p->n);
  p->order = order;
}

void tuner_predict(Search *s, DevicePeaks *peaks, bool all) {
  Prediction p = {.target = device_target(s->device), .peaks = peaks};
  for (size_t i = 0; i < s->nproblems; i++)
    if (all || is_open(&s->problems[i])) add_candidates(s, &s->problems[i], &p);
  if (p.list.len) peaks_of_device(peaks, s->device);
  parallel_for(p.list.len, predict_one, &p);
  for (size_t i = 0; i < p.list.len; i++)
    refusal_apply(&p.list.data[i].refusal, s->arena, p.list.data[i].candidate);
  for (size_t i = 0; i < s->nproblems; i++) put_in_order(s, &s->problems[i]);
}

/* ---- choosing by it alone ---- */

/* The model has seen the kernel at level thread; code may yet be refused. */
static int compile(const Search *s, const Candidate *c) {
  nereid_request r = c->request;
  nereid_image *image;
  r.target = device_target(s->device);
  r.on_message = NULL;
  int code = nereid_compile(&image, &r, device_kind(s->device));
  nereid_image_free(image);
  return code;
}

static int choose(const Search *s, const SearchProblem *p) {
  for (size_t i = 0; i < p->n; i++) {
    Candidate *c = &p->candidates[p->order ? p->order[i] : i];
    if (c->status != NEREID_TUNE_OK) continue;
    Refusal refusal = {0};
    int code = compile(s, c);
    refusal_keep(&refusal, code);
    if (!refusal.code) return code;
    refusal_apply(&refusal, s->arena, c);
  }
  return 0;
}

int tuner_choose(Search *s) {
  int code = 0;
  for (size_t i = 0; i < s->nproblems && !code; i++) code = choose(s, &s->problems[i]);
  return code;
}
