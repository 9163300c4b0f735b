#include "planner/plan/overlap.h"

static bool is_kept(const PlanBuffer *b) {
  return b->kind == BUFFER_INPUT || b->kind == BUFFER_WEIGHT || b->kind == BUFFER_CONSTANT;
}

/* Indexed by buffer: a run may write it. */
static bool *written_buffers(const Plan *p, Arena *a) {
  bool *written = ARENA_ARRAY(a, bool, p->nbuffers);
  for (uint32_t i = 0; i < p->nbuffers; i++) written[i] = !is_kept(&p->buffers[i]);
  for (uint32_t i = plan_once(p); i < p->nsteps; i++)
    for (uint32_t k = 0; k < p->steps[i].nargs; k++) {
      const StepArg *x = &p->steps[i].args[k];
      if (x->kind == STEP_BUFFER && !plan_arg_is_read(x)) written[x->buffer] = true;
    }
  for (uint32_t i = 0; i < p->nupdates; i++) written[p->updates[i].to] = true;
  return written;
}

/* Each run launches the step: an empty grid launches nothing, nor does a step whose results the
 * host knows. */
static bool always_runs(const Plan *p, const PlanStep *s) {
  bool computes = false;
  if (s->library) return false;
  for (int i = 0; i < 3; i++)
    if (!dim_is_int(s->grid[i]) || s->grid[i]->value < 1) return false;
  for (uint32_t i = 0; i < s->nargs; i++)
    computes |= s->args[i].kind == STEP_BUFFER && !p->buffers[s->args[i].buffer].number_of;
  return computes;
}

/* The first step of a run that comes after one that has waited for what came before the run; of
 * those whose host waits, or runs steps again, none is known to. */
static uint32_t first_after_wait(const Plan *p) {
  uint32_t i = plan_once(p);
  if (p->nloops || p->nreads) return p->nsteps;
  while (i < p->nsteps && !always_runs(p, &p->steps[i])) i++;
  return i + 1;
}

typedef struct {
  const bool *written;
  uint32_t from;
} Overlap;

static bool is_steady(const Overlap *o, const PlanStep *s, uint32_t at, const StepArg *x) {
  bool reads = x->kind == STEP_BUFFER && plan_arg_is_read(x);
  return at >= o->from && reads && !s->library && !o->written[x->buffer];
}

void overlap_find(Plan *p, Arena *scratch) {
  Overlap o = {written_buffers(p, scratch), first_after_wait(p)};
  for (uint32_t i = 0; i < p->nsteps; i++)
    for (uint32_t k = 0; k < p->steps[i].nargs; k++) {
      StepArg *x = &p->steps[i].args[k];
      x->steady = is_steady(&o, &p->steps[i], i, x);
    }
}

const StepArg *overlap_fault(const Plan *p, Arena *scratch, uint32_t *step) {
  Overlap o = {written_buffers(p, scratch), first_after_wait(p)};
  for (uint32_t i = 0; i < p->nsteps; i++)
    for (uint32_t k = 0; k < p->steps[i].nargs; k++) {
      const StepArg *x = &p->steps[i].args[k];
      *step = i;
      if (x->steady && !is_steady(&o, &p->steps[i], i, x)) return x;
    }
  return NULL;
}
