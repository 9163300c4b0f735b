/* What the model says of candidates. */
#include <stdlib.h>

#include "runtime/estimate.h"
#include "runtime/parallel.h"
#include "runtime/tuning.h"

typedef struct {
  const Tuning *tuning;
  nereid_binding **ints; /* of each candidate */
  int *nints;
} Prediction;

static void predict_one(void *context, size_t i) {
  const Prediction *p = context;
  Candidate *c = &p->tuning->candidates[i];
  if (c->status == NEREID_TUNE_COMPILE || c->status == NEREID_TUNE_RESOURCES) return;
  nereid_request r = c->request;
  r.target = device_target(p->tuning->device);
  r.on_message = NULL;
  EstimateLaunch launch = {.request = &r,
                           .rates = &p->tuning->rates,
                           .grid = {c->grid[0], c->grid[1], c->grid[2]},
                           .ints = p->ints[i],
                           .nints = p->nints[i]};
  if (estimate_launch(&c->predicted, &launch)) c->predicted = (Estimate){0};
}

static void predict_all(Tuning *t) {
  size_t n = t->configs.len;
  Prediction p = {t, .ints = ARENA_ARRAY(t->arena, nereid_binding *, n),
                  .nints = ARENA_ARRAY(t->arena, int, n)};
  rates_of_device(&t->rates, t->device);
  for (size_t i = 0; i < n; i++)
    p.ints[i] = problem_bindings(&t->problem, &t->candidates[i].request, &p.nints[i]);
  parallel_for(n, predict_one, &p);
}

/* ---- the order ---- */

typedef struct {
  double us;
  size_t candidate;
} Ranked;

static int promising_first(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->us != y->us) return x->us < y->us ? -1 : 1;
  return x->candidate < y->candidate ? -1 : 1;
}

/* What the model says nothing of comes last. */
static void put_in_order(Tuning *t) {
  size_t n = t->configs.len;
  Ranked *places = ARENA_ARRAY(t->arena, Ranked, n);
  t->order = ARENA_ARRAY(t->arena, size_t, n);
  for (size_t i = 0; i < n; i++) {
    double us = t->candidates[i].predicted.us;
    places[i] = (Ranked){us > 0 ? us : 1e300, i};
  }
  qsort(places, n, sizeof *places, promising_first);
  for (size_t i = 0; i < n; i++) t->order[i] = places[i].candidate;
}

void tune_predict(Tuning *t) {
  predict_all(t);
  put_in_order(t);
}
