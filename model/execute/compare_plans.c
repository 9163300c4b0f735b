#include "model/execute/compare_plans.h"

#include "graph/ir/namemap.h"

/* Steps of both plans are numbered together: those of `with` come after those of `without`. */
typedef struct {
  TimedPlan plans[2];
  uint32_t first[2]; /* of each plan */
  uint32_t *parent;  /* sets of steps: a forest */
  bool *shares;      /* by step: a node of it is in the other plan as well */
} Comparison;

static uint32_t root_of(Comparison *c, uint32_t i) {
  while (c->parent[i] != i) i = c->parent[i] = c->parent[c->parent[i]];
  return i;
}

static void join(Comparison *c, uint32_t i, uint32_t j) {
  c->parent[root_of(c, i)] = root_of(c, j);
}

/* Nodes have their names in both plans, in pools of their own. */
static void join_same_nodes(Arena *a, Comparison *c) {
  Pool *names = pool_new(a);
  NameMap steps = {0}; /* 1 + the number */
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; i < c->plans[k].plan->nsteps; i++) {
      const PlanStep *s = &c->plans[k].plan->steps[i];
      for (uint32_t j = 0; j < s->nnodes; j++) {
        void **at = namemap_put(a, &steps, pool_name(names, s->nodes[j]->name));
        uint32_t here = c->first[k] + i;
        if (!*at) *at = (void *)(uintptr_t)(here + 1);
        uint32_t other = (uint32_t)(uintptr_t)*at - 1;
        if (other == here) continue;
        join(c, other, here);
        c->shares[other] = c->shares[here] = true;
      }
    }
}

static bool uses_buffer(const PlanStep *s, uint32_t buffer) {
  for (uint32_t i = 0; i < s->nargs; i++)
    if (s->args[i].kind == STEP_BUFFER && s->args[i].buffer == buffer) return true;
  return false;
}

static void join_later_users(Comparison *c, int k, uint32_t step) {
  const Plan *p = c->plans[k].plan;
  const PlanStep *s = &p->steps[step];
  for (uint32_t i = 0; i < s->nargs; i++) {
    const StepArg *x = &s->args[i];
    if (x->kind != STEP_BUFFER || p->buffers[x->buffer].kind != BUFFER_TEMPORARY) continue;
    for (uint32_t j = step + 1; j < p->nsteps && j <= p->buffers[x->buffer].last; j++)
      if (uses_buffer(&p->steps[j], x->buffer)) join(c, c->first[k] + step, c->first[k] + j);
  }
}

/* The last step that uses an output, which wrote it; nsteps: none. */
static uint32_t output_writer(const Plan *p, uint32_t output) {
  uint32_t i = p->nsteps;
  while (i-- > 0)
    if (uses_buffer(&p->steps[i], p->outputs[output])) return i;
  return p->nsteps;
}

static void join_outputs(Comparison *c) {
  for (uint32_t i = 0; i < c->plans[0].plan->noutputs && i < c->plans[1].plan->noutputs; i++) {
    uint32_t at[2];
    for (int k = 0; k < 2; k++) at[k] = output_writer(c->plans[k].plan, i);
    bool both = at[0] < c->plans[0].plan->nsteps && at[1] < c->plans[1].plan->nsteps;
    if (both && (!c->shares[c->first[0] + at[0]] || !c->shares[c->first[1] + at[1]]))
      join(c, c->first[0] + at[0], c->first[1] + at[1]);
  }
}

const ComparedTimes *plans_compare(Arena *a, TimedPlan without, TimedPlan with) {
  Comparison c = {.plans = {without, with}, .first = {0, without.plan->nsteps}};
  uint32_t n = without.plan->nsteps + with.plan->nsteps;
  c.parent = ARENA_ARRAY(a, uint32_t, n);
  c.shares = ARENA_ARRAY(a, bool, n);
  for (uint32_t i = 0; i < n; i++) c.parent[i] = i;
  join_same_nodes(a, &c);
  join_outputs(&c);
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; i < c.plans[k].plan->nsteps; i++)
      if (!c.shares[c.first[k] + i]) join_later_users(&c, k, i);
  double(*sums)[2] = arena_array(a, n, sizeof *sums);
  for (int k = 0; k < 2; k++)
    for (uint32_t i = plan_once(c.plans[k].plan); i < c.plans[k].plan->nsteps; i++)
      sums[root_of(&c, c.first[k] + i)][k] += c.plans[k].us[i];
  ComparedTimes *times = ARENA_ARRAY(a, ComparedTimes, with.plan->nsteps);
  for (uint32_t i = 0; i < with.plan->nsteps; i++) {
    const double *sum = sums[root_of(&c, c.first[1] + i)];
    if (with.plan->steps[i].library) times[i] = (ComparedTimes){sum[0], sum[1]};
  }
  return times;
}
