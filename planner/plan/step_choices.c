#include "planner/plan/step_choices.h"

enum { CHOICES_MAX = 9, CONSTEXPRS_MAX = 6 };

StepChoice choice_new(const Tiles *t) {
  Dim one = dim_int(t->graph->dims, 1);
  return (StepChoice){
      .constexprs = ARENA_ARRAY(t->graph->arena, StepConstexpr, CONSTEXPRS_MAX),
      .grid = {one, one, one},
      .warps = 4,
      .stages = 3,
  };
}

void add_choice_constexpr(const Tiles *t, StepChoice *c, const char *name, int64_t value) {
  c->constexprs[c->nconstexprs++] =
      (StepConstexpr){pool_name(t->graph->names, name), dim_int(t->graph->dims, value)};
}

static bool same_choice(const StepChoice *a, const StepChoice *b) {
  bool same = a->warps == b->warps && a->stages == b->stages;
  for (uint32_t i = 0; i < a->nconstexprs && same; i++)
    same = a->constexprs[i].value == b->constexprs[i].value;
  return same;
}

bool add_step_choice(const Tiles *t, PlanStep *s, StepChoice c) {
  for (uint32_t i = 0; i < s->nchoices; i++)
    if (same_choice(&s->choices[i], &c)) return true;
  if (!s->choices) s->choices = ARENA_ARRAY(t->graph->arena, StepChoice, CHOICES_MAX);
  s->choices[s->nchoices++] = c;
  if (s->nchoices == 1) plan_choose(s, 0);
  return t->all && s->nchoices < CHOICES_MAX;
}

Dim blocks_of_size(const Tiles *t, Dim n, int64_t block) {
  Dims *d = t->graph->dims;
  return dim_floordiv(d, dim_add(d, n, dim_int(d, block - 1)), dim_int(d, block));
}

int64_t block_within(Dim n, int64_t block) {
  return dim_is_int(n) && power_of_2(n->value, 1) < block ? power_of_2(n->value, 1) : block;
}
