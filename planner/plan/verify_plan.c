/* The verifier of plans: steps, reads and loops name what there is and are in order, and functions
 * have different names; with places, a temporary is alive in each step that names it, and no two
 * that are alive at once share bytes of the pool. */
#include "planner/plan/plan.h"

#include <stdlib.h>

#include "graph/ir/namemap.h"
#include "planner/plan/buffer_pool.h"
#include "planner/plan/overlap.h"

static const char *step_fault(Arena *a, const Plan *p, uint32_t at, bool has_places) {
  const PlanStep *s = &p->steps[at];
  if (s->once && at && !p->steps[at - 1].once)
    return arena_printf(a, "step %u is of the constant part, after others", at);
  for (uint32_t i = 0; i < s->nargs; i++) {
    if (s->args[i].kind != STEP_BUFFER) continue;
    if (s->args[i].buffer >= p->nbuffers)
      return arena_printf(a, "step %u has no buffer for `%s`", at, s->args[i].name);
    const PlanBuffer *b = &p->buffers[s->args[i].buffer];
    bool dead = b->kind == BUFFER_TEMPORARY && (at < b->first || at > b->last);
    if (has_places && dead)
      return arena_printf(a, "step %u names `%s`, which is dead", at, b->name);
  }
  return NULL;
}

static const char *order_fault(Arena *a, const Plan *p) {
  for (uint32_t i = 0; i < p->nreads; i++)
    if (p->reads[i].step > p->nsteps || (i && p->reads[i].step < p->reads[i - 1].step))
      return arena_printf(a, "read %u is not in its place", i);
  for (uint32_t i = 0; i < p->nloops; i++) {
    const PlanLoop *l = &p->loops[i];
    if (l->first > l->body || l->body > l->past || l->past > p->nsteps)
      return arena_printf(a, "loop %u has steps in no order", i);
  }
  for (uint32_t i = 0; i < p->noutputs; i++)
    if (p->outputs[i] >= p->nbuffers) return arena_printf(a, "output %u has no buffer", i);
  for (uint32_t i = 0; i < p->nupdates; i++)
    if (p->updates[i].to >= p->nbuffers || p->updates[i].from >= p->nbuffers)
      return arena_printf(a, "update %u has no buffer", i);
  return NULL;
}

/* A temporary whose bytes are known. */
typedef struct {
  const PlanBuffer *b;
  int64_t begin, end;
} Place;

static int by_begin(const void *x, const void *y) {
  const Place *a = x, *b = y;
  return (a->begin > b->begin) - (a->begin < b->begin);
}

static const char *places_fault(Arena *a, const Plan *p) {
  Place *places = ARENA_ARRAY(a, Place, p->nbuffers);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    const PlanBuffer *b = &p->buffers[i];
    if (b->kind != BUFFER_TEMPORARY || !b->offset || b->first > b->last) continue;
    Dim bytes = memory_bytes(p->graph->dims, b);
    if (!dim_is_int(b->offset) || !dim_is_int(bytes) || !bytes->value) continue;
    places[n++] = (Place){b, b->offset->value, b->offset->value + bytes->value};
    bool outside = p->pool && dim_is_int(p->pool) && places[n - 1].end > p->pool->value;
    if (outside) return arena_printf(a, "`%s` ends after the pool", b->name);
  }
  qsort(places, n, sizeof *places, by_begin);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = i + 1; k < n && places[k].begin < places[i].end; k++) {
      const PlanBuffer *x = places[i].b, *y = places[k].b;
      if (x->first <= y->last && y->first <= x->last)
        return arena_printf(a, "`%s` and `%s` share bytes", x->name, y->name);
    }
  return NULL;
}

static const char *steady_fault(Arena *a, const Plan *p) {
  uint32_t step;
  const StepArg *x = overlap_fault(p, a, &step);
  return x ? arena_printf(a, "step %u has `%s` steady, which it is not", step, x->name) : NULL;
}

/* Steps name their functions. */
static const char *functions_fault(Arena *a, const Plan *p) {
  NameMap seen = {0};
  Pool *names = pool_new(a);
  for (uint32_t i = 0; i < p->nfunctions; i++) {
    void **same = namemap_put(a, &seen, pool_name(names, p->functions[i].kernel));
    if (*same) return arena_printf(a, "two functions are `%s`", p->functions[i].kernel);
    *same = &p->functions[i];
  }
  return NULL;
}

const char *plan_fault(Arena *a, const Plan *p, bool has_places) {
  const char *fault = order_fault(a, p);
  for (uint32_t i = 0; i < p->nsteps && !fault; i++) fault = step_fault(a, p, i, has_places);
  if (!fault) fault = functions_fault(a, p);
  if (!fault && has_places) fault = places_fault(a, p);
  return fault ? fault : steady_fault(a, p);
}
