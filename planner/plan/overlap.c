#include "planner/plan/overlap.h"

static bool is_kept(const PlanBuffer *b) {
  return b->kind == BUFFER_INPUT || b->kind == BUFFER_WEIGHT || b->kind == BUFFER_CONSTANT;
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

/* The state of a walk over the steps. */
typedef struct {
  const Plan *p;
  uint32_t from, at;
  uint32_t *written; /* by buffer: past the last step of this run that writes it; 0: none did */
} Overlap;

static Overlap overlap_new(const Plan *p, Arena *a) {
  return (Overlap){p, first_after_wait(p), plan_once(p), ARENA_ARRAY(a, uint32_t, p->nbuffers)};
}

static bool writes(const PlanStep *s, uint32_t buffer) {
  for (uint32_t i = 0; i < s->nargs; i++) {
    const StepArg *x = &s->args[i];
    if (x->kind == STEP_BUFFER && x->buffer == buffer && !plan_arg_is_read(x)) return true;
  }
  return false;
}

/* Each program of the step before, if that is a kernel, has waited when the step starts: what came
 * before that one has ended. */
static bool is_steady(const Overlap *o, const StepArg *x) {
  const PlanStep *s = &o->p->steps[o->at];
  if (o->at < o->from || s->library || x->kind != STEP_BUFFER || !plan_arg_is_read(x)) return false;
  if (writes(s, x->buffer)) return false;
  uint32_t past = o->written[x->buffer];
  if (!past) return is_kept(&o->p->buffers[x->buffer]);
  return past < o->at && always_runs(o->p, s - 1);
}

static void pass_step(Overlap *o) {
  const PlanStep *s = &o->p->steps[o->at++];
  for (uint32_t i = 0; i < s->nargs; i++)
    if (s->args[i].kind == STEP_BUFFER && !plan_arg_is_read(&s->args[i]))
      o->written[s->args[i].buffer] = o->at;
}

void overlap_find(Plan *p, Arena *scratch) {
  for (Overlap o = overlap_new(p, scratch); o.at < p->nsteps; pass_step(&o)) {
    PlanStep *s = &p->steps[o.at];
    for (uint32_t k = 0; k < s->nargs; k++) s->args[k].steady = is_steady(&o, &s->args[k]);
  }
}

const StepArg *overlap_fault(const Plan *p, Arena *scratch, uint32_t *step) {
  for (Overlap o = overlap_new(p, scratch); o.at < p->nsteps; pass_step(&o)) {
    const PlanStep *s = &p->steps[o.at];
    *step = o.at;
    for (uint32_t k = 0; k < s->nargs; k++)
      if (s->args[k].steady && !is_steady(&o, &s->args[k])) return &s->args[k];
  }
  return NULL;
}
