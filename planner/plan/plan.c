/* Printing plans (planner/plan/plan_text.c says how they look). */
#include "planner/plan/plan.h"

#include <ctype.h>
#include <inttypes.h>

#include "graph/ops/ops.h"
#include "lang/base/irtext.h"
#include "runtime/support/array.h"

typedef struct {
  Text *out;
  const Plan *plan;
  Name *names; /* of buffers: each differs from the others */
} Printer;

/* ---- pieces ---- */

static void print_dim(Text *out, Dim x) {
  bool quoted = !dim_is_int(x);
  if (quoted) text_puts(out, "\"");
  dim_print(out, x);
  if (quoted) text_puts(out, "\"");
}

ValueType plan_type(const PlanBuffer *b) {
  return (ValueType){.kind = VALUE_TENSOR,
                     .dtype = b->dtype,
                     .is_complex = b->is_complex,
                     .rank = plan_rank(b),
                     .shape = b->shape};
}

const char *plan_dtype_name(const PlanBuffer *b) {
  if (b->is_complex) return b->dtype == DT_F32 ? "c64" : "c128";
  return dtype_name(b->dtype);
}

nereid_dl_dtype plan_dl_dtype(const PlanBuffer *b) {
  return b->is_complex ? array_complex_dl_dtype(b->dtype) : array_dl_dtype(b->dtype);
}

bool plan_takes_dtype(const PlanBuffer *b, nereid_dl_dtype dtype) {
  nereid_dl_dtype own = plan_dl_dtype(b);
  return own.code == dtype.code && own.bits == dtype.bits && own.lanes == dtype.lanes;
}

static void print_buffer_type(Text *out, const PlanBuffer *b) {
  ValueType t = plan_type(b);
  text_puts(out, "\"");
  value_type_print(out, &t);
  text_puts(out, "\"");
}

static void print_symbols(Text *out, const Dims *d) {
  for (uint32_t i = 0; i < dims_symbols(d); i++) {
    Dim s = dims_symbol_at(d, i);
    if (dim_is_index(s)) continue;
    DimRange r = dim_range(d, s);
    text_printf(out, "symbol %s %" PRId64 "..", s->name, r.lo);
    if (r.hi != INT64_MAX) text_printf(out, "%" PRId64, r.hi);
    text_puts(out, "\n");
  }
}

const char *plan_relation_name(RelationKind kind) {
  static const char *const names[] = {
      [SIZES_EQUAL] = "equal", [SIZE_AT_LEAST] = "least", [SIZES_DIFFER] = "differ"};
  return names[kind];
}

static void print_relations(Text *out, const Graph *g) {
  for (size_t i = 0; i < g->relations.len; i++) {
    const SizeRelation *e = &g->relations.data[i];
    text_printf(out, "%s ", plan_relation_name(e->kind));
    print_dim(out, e->a);
    text_puts(out, " ");
    print_dim(out, e->b);
    text_puts(out, " in ");
    text_quote(out, e->node);
    text_puts(out, "\n");
  }
}

/* ---- buffers ---- */

static void name_buffers(Printer *p, Arena *scratch) {
  IrNamer namer = ir_namer_new(scratch, p->plan->graph->names);
  p->names = ARENA_ARRAY(scratch, Name, p->plan->nbuffers);
  for (uint32_t i = 0; i < p->plan->nbuffers; i++)
    p->names[i] = ir_namer_give(&namer, p->plan->buffers[i].name);
}

/* is (2, 3): the only value that the plan is for. */
static void print_fixed(Text *out, const InputValue *v) {
  text_puts(out, " is (");
  for (uint32_t i = 0; i < v->n; i++) {
    if (i) text_puts(out, ", ");
    if (v->floats) ir_print_float(out, v->floats[i], false);
    else text_printf(out, "%" PRId64, v->ints[i]);
  }
  text_puts(out, ")");
}

/* of ("embedding" "ids" "[2, s0]" from 0 to 999): the indices that are in range; of data
 * ("div" "y_eq" "[4]" from 0 to 0 fault "y is 0"): what is wrong elsewhere. */
static void print_checks(Printer *p, const PlanBuffer *b) {
  Dims *d = p->plan->graph->dims;
  text_puts(p->out, " of (");
  for (uint32_t i = 0; i < b->nchecks; i++) {
    const PlanCheck *c = &b->checks[i];
    if (i) text_puts(p->out, ", ");
    text_quote(p->out, c->node);
    text_puts(p->out, " ");
    text_quote(p->out, c->index);
    text_puts(p->out, " \"[");
    for (uint32_t j = 0; j < c->rank; j++) {
      if (j) text_puts(p->out, ", ");
      dim_print(p->out, c->shape[j]);
    }
    text_puts(p->out, "]\" from ");
    print_dim(p->out, c->least);
    text_puts(p->out, " to ");
    print_dim(p->out, dim_sub(d, c->size, dim_int(d, 1)));
    if (!c->fault) continue;
    text_puts(p->out, " fault ");
    text_quote(p->out, c->fault);
  }
  text_puts(p->out, ")");
}

static void print_plan_buffer(Printer *p, uint32_t i) {
  static const char *const kinds[] = {
      [BUFFER_INPUT] = "input",   [BUFFER_WEIGHT] = "weight",       [BUFFER_CONSTANT] = "constant",
      [BUFFER_OUTPUT] = "output", [BUFFER_TEMPORARY] = "temporary", [BUFFER_RECORDS] = "records"};
  const PlanBuffer *b = &p->plan->buffers[i];
  text_printf(p->out, "%s %%%s ", kinds[b->kind], p->names[i]);
  if (b->kind == BUFFER_INPUT || b->kind == BUFFER_OUTPUT) text_printf(p->out, "%u ", b->number);
  if (b->kind == BUFFER_WEIGHT) {
    text_quote(p->out, b->tensor);
    text_puts(p->out, " ");
  }
  print_buffer_type(p->out, b);
  if (b->kind != BUFFER_WEIGHT && b->tensor) {
    text_puts(p->out, " named ");
    text_quote(p->out, b->tensor);
  }
  if (b->overwritten) text_puts(p->out, " overwritten");
  if (b->fixed) print_fixed(p->out, b->fixed);
  if (b->value || b->number_of) {
    text_puts(p->out, " gives ");
    print_dim(p->out, b->value ? b->value : b->number_of);
  }
  if (b->kind == BUFFER_RECORDS) print_checks(p, b);
  if (b->kind == BUFFER_TEMPORARY) {
    text_printf(p->out, " %u..%u", b->first, b->last);
    if (b->offset) {
      text_puts(p->out, " at ");
      print_dim(p->out, b->offset);
    }
  }
  text_puts(p->out, "\n");
}

static void print_return(Printer *p) {
  text_puts(p->out, "return");
  for (uint32_t i = 0, next = 0; i < p->plan->nreturned; i++) {
    bool is_tensor = next < p->plan->noutputs && p->plan->positions[next] == i;
    text_puts(p->out, i ? ", " : " ");
    if (is_tensor) text_printf(p->out, "%%%s", p->names[p->plan->outputs[next++]]);
    else text_puts(p->out, "none");
  }
  text_puts(p->out, "\n");
}

static void print_updates(Printer *p) {
  for (uint32_t i = 0; i < p->plan->nupdates; i++) {
    PlanUpdate u = p->plan->updates[i];
    text_printf(p->out, "update %%%s = %%%s\n", p->names[u.to], p->names[u.from]);
  }
}

static void print_reads(Printer *p) {
  for (uint32_t i = 0; i < p->plan->nreads; i++) {
    const PlanRead *r = &p->plan->reads[i];
    text_printf(p->out, "read %s = %%%s at most ", r->symbol->name, p->names[r->buffer]);
    print_dim(p->out, r->most);
    text_printf(p->out, " before %u\n", r->step);
  }
}

/* loop from 3 to 7 while %lt at 4: %carried = %add, %carried_1 = %mul */
static void print_loops(Printer *p) {
  for (uint32_t i = 0; i < p->plan->nloops; i++) {
    const PlanLoop *l = &p->plan->loops[i];
    text_printf(p->out, "loop from %u to %u while %%%s at %u", l->first, l->past,
                p->names[l->condition], l->body);
    for (uint32_t k = 0; k < l->ncopies; k++)
      text_printf(p->out, "%s%%%s = %%%s", k ? ", " : ": ", p->names[l->copies[k].to],
                  p->names[l->copies[k].from]);
    text_puts(p->out, "\n");
  }
}

/* ---- steps ---- */

static void print_arg(Printer *p, const StepArg *a) {
  text_printf(p->out, "%s = ", a->name);
  switch (a->kind) {
    case STEP_BUFFER:
      text_printf(p->out, "%s%%%s", a->steady ? "steady " : "", p->names[a->buffer]);
      return;
    case STEP_INT: print_dim(p->out, a->value); return;
    case STEP_FLOAT: ir_print_float(p->out, a->number, false); return;
  }
}

static void print_covered(Text *out, const PlanStep *s) {
  for (uint32_t i = 0; i < s->nnodes; i++) {
    const Node *n = s->nodes[i];
    text_printf(out, "%s %s ", i ? "," : " covers", n->name);
    text_quote(out, n->kind == NODE_CALL ? n->op->target : "");
  }
}

static void print_shape_of_launch(Printer *p, const PlanStep *s) {
  text_puts(p->out, " grid ");
  for (int i = 0; i < 3; i++) {
    if (i) text_puts(p->out, ", ");
    print_dim(p->out, s->grid[i]);
  }
  text_printf(p->out, " warps %u stages %u", s->warps, s->stages);
}

static void print_step(Printer *p, const PlanStep *s) {
  if (s->library) text_printf(p->out, "%scall %s(", s->once ? "once " : "", s->kernel);
  else text_printf(p->out, "%s %s(", s->once ? "once" : "step", s->kernel);
  for (uint32_t i = 0; i < s->nargs; i++) {
    if (i) text_puts(p->out, ", ");
    print_arg(p, &s->args[i]);
  }
  for (uint32_t i = 0; i < s->nconstexprs; i++) {
    text_printf(p->out, "%s%s: ", i || s->nargs ? ", " : "", s->constexprs[i].name);
    print_dim(p->out, s->constexprs[i].value);
  }
  text_puts(p->out, ")");
  if (!s->library) print_shape_of_launch(p, s);
  print_covered(p->out, s);
  text_puts(p->out, "\n");
}

uint32_t plan_once(const Plan *p) {
  uint32_t n = 0;
  while (n < p->nsteps && p->steps[n].once) n++;
  return n;
}

/* <lambda> is no word. */
static void print_plan_head(Text *out, const char *name) {
  size_t begin = out->len;
  text_puts(out, "plan ");
  for (; *name; name++)
    if (isalnum((unsigned char)*name) || *name == '_') text_putn(out, name, 1);
  text_puts(out, out->len == begin + 5 ? "graph\n" : "\n");
}

void plan_print(Text *out, const Plan *plan) {
  Arena *scratch = arena_child(plan->graph->arena);
  Printer p = {.out = out, .plan = plan};
  name_buffers(&p, scratch);
  print_plan_head(out, plan->graph->class_name);
  print_symbols(out, plan->graph->dims);
  print_relations(out, plan->graph);
  for (uint32_t i = 0; i < plan->nbuffers; i++) print_plan_buffer(&p, i);
  if (plan->pool) {
    text_puts(out, "pool ");
    print_dim(out, plan->pool);
    text_puts(out, "\n");
  }
  print_return(&p);
  print_updates(&p);
  print_reads(&p);
  print_loops(&p);
  for (uint32_t i = 0; i < plan->nsteps; i++) print_step(&p, &plan->steps[i]);
  text_printf(out, "source\n%s", plan->source);
  arena_free(scratch);
}

void plan_choose(PlanStep *s, uint32_t choice) {
  const StepChoice *c = &s->choices[choice];
  s->constexprs = c->constexprs;
  s->nconstexprs = c->nconstexprs;
  for (int i = 0; i < 3; i++) s->grid[i] = c->grid[i];
  s->warps = c->warps;
  s->stages = c->stages;
}
