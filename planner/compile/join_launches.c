/* Small steps that do not depend on each other become one launch, as the rotation of queries and
 * the write of keys to a cache in each layer of a decoding step.  A launch costs one to three
 * microseconds, which is more than such a kernel takes.
 *
 * The kernel has the programs of all of them, one after the other, and calls the function of that
 * to which a program belongs.  Steps that follow each other are joined; none is moved. */
#include "planner/compile/join_launches.h"

#include <string.h>

#include "lower/target/device_peaks.h"
#include "planner/plan/plan.h"

enum {
  STEPS_MAX = 4,      /* of a launch */
  ARGUMENTS_MAX = 24, /* of its kernel */
  WARPS_MAX = 8,      /* wider programs sort or reduce long rows, which others shall not wait for */
  PER_PROCESSOR = 4,  /* programs: so many run at once */
  BYTES_MAX = 1 << 22 /* that memory takes a microsecond for */
};

#define PROGRAM "tl.program_id(0)"

typedef struct {
  Graph *g;
  Functions *functions;
  PlanStep *steps;
  uint32_t *number; /* by step before: its number now */
} Joiner;

/* ---- which steps ---- */

static bool writes(const PlanStep *s, uint32_t buffer) {
  for (uint32_t i = 0; i < s->nargs; i++)
    if (s->args[i].buffer == buffer && !plan_arg_is_read(&s->args[i])) return true;
  return false;
}

/* Neither writes what the other uses. */
static bool are_independent(const PlanStep *a, const PlanStep *b) {
  for (uint32_t i = 0; i < a->nargs; i++)
    if (writes(b, a->args[i].buffer)) return false;
  for (uint32_t i = 0; i < b->nargs; i++)
    if (writes(a, b->args[i].buffer)) return false;
  return true;
}

static const Function *function_of(const Joiner *j, const PlanStep *s) {
  for (size_t i = 0; i < j->functions->list.len; i++)
    if (j->functions->list.data[i]->name == s->kernel) return j->functions->list.data[i];
  return NULL;
}

/* Is the text one function, whose programs have one number? */
static bool is_one_function(const char *text) {
  const char *def = strstr(text, "def ");
  return def && !strstr(def + 1, "\ndef ") && !strstr(text, "tl.program_id(1)") &&
         !strstr(text, "tl.num_programs") && strstr(text, PROGRAM);
}

static bool is_small(const Joiner *j, const PlanStep *s) {
  if (s->library || s->cost->product || s->warps > WARPS_MAX) return false;
  Dim bytes = dim_add(j->g->dims, s->cost->read, s->cost->written);
  if (!dim_is_int(bytes) || bytes->value > BYTES_MAX) return false;
  for (uint32_t i = 0; i < s->nargs; i++)
    if (s->args[i].kind != STEP_BUFFER) return false;
  for (uint32_t i = 0; i < s->nconstexprs; i++)
    if (!dim_is_int(s->constexprs[i].value)) return false;
  bool one_axis = dim_is(s->grid[1], 1) && dim_is(s->grid[2], 1);
  return one_axis && dim_is_int(s->grid[0]) && s->grid[0]->value >= 1 &&
         s->grid[0]->value <= PER_PROCESSOR * (int64_t)j->g->gpu->processors &&
         is_one_function(function_of(j, s)->text);
}

/* How many steps from s on one launch takes. */
static uint32_t count_joined(const Joiner *j, const PlanStep *s, const PlanStep *end) {
  uint32_t n = 1, nargs = s->nargs;
  if (!is_small(j, s)) return 1;
  int64_t programs = s->grid[0]->value;
  for (const PlanStep *next = s + 1; next < end && n < STEPS_MAX; next++, n++) {
    if (!is_small(j, next) || next->stages != s->stages) return n;
    nargs += next->nargs;
    programs += next->grid[0]->value;
    if (nargs > ARGUMENTS_MAX || programs > PER_PROCESSOR * (int64_t)j->g->gpu->processors)
      return n;
    for (uint32_t i = 0; i < n; i++)
      if (!are_independent(&s[i], next)) return n;
  }
  return n;
}

/* ---- the kernel ---- */

/* The text of a part, whose programs begin at `first`. */
static void put_part(Text *out, const char *text, uint32_t part, int64_t first) {
  for (const char *at = text; *at;) {
    if (!strncmp(at, KERNEL_NAME, strlen(KERNEL_NAME))) {
      text_printf(out, KERNEL_NAME "_%u", part);
      at += strlen(KERNEL_NAME);
    } else if (first && !strncmp(at, PROGRAM, strlen(PROGRAM))) {
      text_printf(out, "(" PROGRAM " - %lld)", (long long)first);
      at += strlen(PROGRAM);
    } else {
      text_putn(out, at++, 1);
    }
  }
  text_puts(out, "\n\n");
}

/* A part's parameters are those of its function, with the part's number. */
static void put_parameters(Text *out, const PlanStep *s, uint32_t part) {
  for (uint32_t i = 0; i < s->nargs; i++) text_printf(out, ", %s_%u", s->args[i].name, part);
  for (uint32_t i = 0; i < s->nconstexprs; i++)
    text_printf(out, ", %s_%u: tl.constexpr", s->constexprs[i].name, part);
}

static void put_call(Text *out, const PlanStep *s, uint32_t part) {
  text_printf(out, "        " KERNEL_NAME "_%u(", part);
  for (uint32_t i = 0; i < s->nargs; i++)
    text_printf(out, "%s%s=%s_%u", i ? ", " : "", s->args[i].name, s->args[i].name, part);
  for (uint32_t i = 0; i < s->nconstexprs; i++)
    text_printf(out, ", %s=%s_%u", s->constexprs[i].name, s->constexprs[i].name, part);
  text_puts(out, ")\n");
}

static const char *joined_text(const Joiner *j, const PlanStep *s, uint32_t n) {
  Text out = text_new(j->g->arena);
  int64_t first = 0;
  for (uint32_t i = 0; i < n; first += s[i++].grid[0]->value)
    put_part(&out, function_of(j, &s[i])->text, i, first);
  Text parameters = text_new(j->g->arena);
  for (uint32_t i = 0; i < n; i++) put_parameters(&parameters, &s[i], i);
  text_printf(&out, "@triton.jit\ndef " KERNEL_NAME "(%s", parameters.data + strlen(", "));
  text_puts(&out, "):\n    program = " PROGRAM "\n");
  first = 0;
  for (uint32_t i = 0; i < n; i++) {
    first += s[i].grid[0]->value;
    if (i + 1 == n) text_puts(&out, "    else:\n");
    else text_printf(&out, "    %s program < %lld:\n", i ? "elif" : "if", (long long)first);
    put_call(&out, &s[i], i);
  }
  return out.data;
}

/* ---- the step ---- */

static Name part_name(const Joiner *j, uint32_t part, Name name) {
  return pool_name(j->g->names, arena_printf(j->g->arena, "%s_%u", name, part));
}

static void add_arguments(const Joiner *j, const PlanStep *s, uint32_t part, PlanStep *to) {
  for (uint32_t i = 0; i < s->nargs; i++) {
    StepArg *a = &to->args[to->nargs++];
    *a = s->args[i];
    a->name = part_name(j, part, a->name);
  }
  for (uint32_t i = 0; i < s->nconstexprs; i++) {
    StepConstexpr *c = &to->constexprs[to->nconstexprs++];
    *c = s->constexprs[i];
    c->name = part_name(j, part, c->name);
  }
  for (uint32_t i = 0; i < s->nnodes; i++) to->nodes[to->nnodes++] = s->nodes[i];
}

static const StepCost *joined_cost(const Joiner *j, const PlanStep *s, uint32_t n) {
  Dims *d = j->g->dims;
  StepCost *c = ARENA_NEW(j->g->arena, StepCost);
  uint32_t ninlined = 0, nstops = 0;
  for (uint32_t i = 0; i < n; i++) ninlined += s[i].cost->ninlined, nstops += s[i].cost->nstops;
  *c = *s->cost;
  c->inlined = ARENA_ARRAY(j->g->arena, const Node *, ninlined);
  c->stops = ARENA_ARRAY(j->g->arena, StepStop, nstops);
  c->ninlined = c->nstops = 0;
  for (uint32_t i = 0; i < n; i++) {
    const StepCost *x = s[i].cost;
    if (i) {
      c->read = dim_add(d, c->read, x->read);
      c->written = dim_add(d, c->written, x->written);
      c->given = dim_add(d, c->given, x->given);
      c->operations = dim_add(d, c->operations, x->operations);
    }
    for (uint32_t k = 0; k < x->ninlined; k++) c->inlined[c->ninlined++] = x->inlined[k];
    for (uint32_t k = 0; k < x->nstops; k++) c->stops[c->nstops++] = x->stops[k];
  }
  return c;
}

static PlanStep joined_step(const Joiner *j, const PlanStep *s, uint32_t n) {
  Arena *a = j->g->arena;
  PlanStep to = *s;
  uint32_t nnodes = 0, nconstexprs = 0;
  int64_t programs = 0;
  for (uint32_t i = 0; i < n; i++) {
    nnodes += s[i].nnodes;
    nconstexprs += s[i].nconstexprs;
    programs += s[i].grid[0]->value;
    if (s[i].warps > to.warps) to.warps = s[i].warps;
  }
  to.args = ARENA_ARRAY(a, StepArg, ARGUMENTS_MAX);
  to.constexprs = ARENA_ARRAY(a, StepConstexpr, nconstexprs);
  to.nodes = ARENA_ARRAY(a, Node *, nnodes);
  to.nargs = to.nconstexprs = to.nnodes = to.nchoices = 0;
  for (uint32_t i = 0; i < n; i++) add_arguments(j, &s[i], i, &to);
  to.grid[0] = dim_int(j->g->dims, programs);
  to.cost = joined_cost(j, s, n);
  Name second = s[1].kernel; /* k5_scatter: the number says which one it is */
  const char *name = arena_printf(a, "%s_and_%.*s", s->kernel, (int)strcspn(second, "_"), second);
  const Function *of[STEPS_MAX];
  for (uint32_t i = 0; i < n; i++) of[i] = function_of(j, &s[i]);
  const char *text = joined_text(j, s, n);
  to.kernel = functions_join(j->functions, text, of, n, pool_name(j->g->names, name));
  return to;
}

/* ---- all of them ---- */

static void renumber_stops(const Joiner *j, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < j->steps[i].cost->nstops; k++) {
      StepStop *stop = &j->steps[i].cost->stops[k];
      stop->from = j->number[stop->from];
      if (!stop->why) stop->later = j->number[stop->later];
    }
}

uint32_t join_launches(Graph *g, Functions *f, PlanStep *steps, uint32_t n, uint32_t before) {
  Joiner j = {g, f, steps, ARENA_ARRAY(g->arena, uint32_t, before + n)};
  uint32_t left = 0;
  for (uint32_t i = 0; i < before; i++) j.number[i] = i;
  for (uint32_t i = 0, joined; i < n; i += joined) {
    joined = steps[i].once ? 1 : count_joined(&j, &steps[i], steps + n);
    for (uint32_t k = 0; k < joined; k++) j.number[before + i + k] = before + left;
    steps[left++] = joined > 1 ? joined_step(&j, &steps[i], joined) : steps[i];
  }
  if (left < n) renumber_stops(&j, left);
  return left;
}
