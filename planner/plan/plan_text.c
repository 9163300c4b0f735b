/* The text form of plans: a line for each symbol, buffer and step, then the kernel file as it is.
 *
 *   plan GraphModule
 *   symbol s0 2..1024
 *   equal "s0" "s1" in "add"                 what a node takes to be equal: runs are held to it
 *   input %x 0 "f32[s0, 4]"                  what the caller passes as number 0
 *   input %n 1 "i64[]" gives "s1"            a number, which says what the symbol is
 *   weight %p_weight "0.weight" "f32[8, 4]"  by its name in the file
 *   constant %mul "f32[8, 4]"                computed by steps that run once
 *   temporary %linear "f32[s0, 8]" 1..2      from the step that writes it to the last that reads
 *   output %relu 0 "f32[s0, 8]" named "y:0"  what the caller gets as number 0
 *   output %full 1 "i64[]" gives "2*s0"      a number, which is known when sizes are
 *   return %relu, %full
 *   update %b_mean = %add                    after the last step
 *   loop from 1 to 4 while %lt at 2: %carried = %add, %carried_1 = %mul
 *       steps 1 on, until the bool %lt is false; if it is true, steps 2 to 3 and copies
 *   once mul(p_weight_ptr = %p_weight, mul_ptr = %mul, BLOCK: 32) grid 1, 1, 1 warps 1 stages 3
 *   step linear_relu(x_ptr = %x, n = "8*s0", scale = 0.5, BLOCK: 128) grid "(s0 + 15)//16", 1, 1
 *       warps 4 stages 3 covers linear "aten.linear.default", relu "aten.relu.default"
 *   call cublas.matmul(a = %x, b = %w, ...) covers mm "nereid.library_product.default"
 *   source
 *   import triton
 *   ...
 *
 * Sizes are integers or, in quotes, expressions of symbols (graph/ir/dim.h).  `name = ` gives an
 * argument, `name: ` a constexpr.  `name = steady %buffer` is loaded before the step before has
 * ended (planner/plan/overlap.h).  A temporary whose offset in the pool is known says `at OFFSET`,
 * and the line `pool BYTES` says how large that is.  Steps count from 0.  `once` is a step that
 * runs before the first run alone: such steps come first, and use weights, constants, and
 * temporaries that no other step uses.  `call` is a step of a library (planner/plan/call.h), `once
 * call` such a one that runs once.
 *
 * What was printed reads back, and prints the same. */
#include "planner/plan/plan.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/infer_rules.h"
#include "graph/ops/ops.h"
#include "lang/base/irtext.h"
#include "planner/messages.h"
#include "planner/plan/call.h"
#include "planner/plan/overlap.h"

typedef struct {
  IrReader r;
  Plan *plan;
  IrMap buffers; /* names to numbers plus one */
  VEC(PlanBuffer) list;
  VEC(bool) once; /* by number: a step that runs once uses it */
  VEC(PlanStep) steps;
  VEC(uint32_t) outputs, positions;
  VEC(PlanUpdate) updates;
  VEC(PlanRead) reads;
  VEC(PlanLoop) loops;
} Reader;

enum { WARPS_MAX = 32, STAGES_MAX = 64, NUMBER_MAX = 65535 };

bool plan_is_text(const char *text, size_t len) {
  const char *end = text + len;
  while (text < end && (*text == '#' || isspace((unsigned char)*text))) {
    if (*text == '#')
      while (text < end && *text != '\n') text++;
    else text++;
  }
  return end - text > 5 && !memcmp(text, "plan ", 5);
}

/* ---- sizes and types: expressions inside of strings ---- */

/* The expression at *at, which ends at `end` or before `stop`; reports what is none. */
static Dim parse_dim(Reader *p, Span span, const char **at, const char *end) {
  Dim x = dim_parse(p->plan->graph->dims, at, end);
  if (x && x->kind != DIM_HUGE) return x;
  ir_error(&p->r, span, E_GRAPH_PLAN_SIZE, x ? "it is too large" : "it is no expression of sizes");
  return dim_int(p->plan->graph->dims, 0);
}

static Dim read_dim(Reader *p) {
  if (!ir_at_kind(&p->r, IT_STRING)) return dim_int(p->plan->graph->dims, ir_int(&p->r));
  Span span = p->r.token.span;
  const char *at = ir_string(&p->r), *end = at + strlen(at);
  Dim x = parse_dim(p, span, &at, end);
  if (at != end) ir_error(&p->r, span, E_GRAPH_PLAN_SIZE, "it is no expression of sizes");
  return x;
}

static void skip_shape_spaces(const char **at, const char *end) {
  while (*at < end && **at == ' ') ++*at;
}

/* [8, s0] up to the end of the text. */
static bool read_buffer_shape(Reader *p, uint32_t *rank, const Dim **out, Span span, const char *at,
                              const char *end) {
  Graph *g = p->plan->graph;
  Dim *shape = ARENA_ARRAY(g->arena, Dim, GRAPH_RANK_MAX);
  *out = shape;
  if (at == end || *at++ != '[') return false;
  for (skip_shape_spaces(&at, end); at < end && *at != ']'; skip_shape_spaces(&at, end)) {
    if (*rank == GRAPH_RANK_MAX || (*rank && *at++ != ',')) return false;
    Dim x = parse_dim(p, span, &at, end);
    if (p->r.failed || dim_range(g->dims, x).hi < 0) return false;
    shape[(*rank)++] = x;
  }
  return at + 1 == end;
}

static bool add_axis_of_parts(Reader *p, PlanBuffer *b) {
  if (b->rank == GRAPH_RANK_MAX) return false;
  ((Dim *)b->shape)[b->rank++] = dim_int(p->plan->graph->dims, 2);
  return true;
}

static void read_buffer_type(Reader *p, PlanBuffer *b) {
  Span span = p->r.token.span;
  const char *s = ir_string(&p->r);
  if (!s) return;
  size_t len = strcspn(s, "[");
  b->dtype = dtype_from_fx(s, len);
  b->is_complex = b->dtype == DT_NONE;
  if (b->is_complex) b->dtype = complex_from_fx(s, len);
  bool ok = b->dtype != DT_NONE &&
            read_buffer_shape(p, &b->rank, &b->shape, span, s + len, s + strlen(s));
  if (ok && b->is_complex) ok = add_axis_of_parts(p, b);
  if (!ok) ir_error(&p->r, span, E_GRAPH_ANNOTATION, s);
}

/* ---- declarations ---- */

static void read_plan_symbol(Reader *p) {
  Dims *d = p->plan->graph->dims;
  Span span = p->r.token.span;
  Name name = ir_word(&p->r, "a symbol");
  int64_t lo = ir_int(&p->r);
  ir_expect(&p->r, "..");
  bool bounded = ir_at(&p->r, "-") || ir_at_kind(&p->r, IT_INT);
  DimRange range = {lo, bounded ? ir_int(&p->r) : INT64_MAX};
  if (p->r.failed) return;
  if (lo < 0 || !dim_limit(d, dim_symbol(d, name), range))
    ir_error(&p->r, span, E_GRAPH_PLAN_RANGE, name);
}

static uint32_t read_count(Reader *p, uint32_t most) { return (uint32_t)ir_int_in(&p->r, 0, most); }

/* 0..1, and an optional `at 256`. */
static void read_lifetime(Reader *p, PlanBuffer *b) {
  b->first = read_count(p, UINT32_MAX);
  ir_expect(&p->r, "..");
  b->last = (uint32_t)ir_int_in(&p->r, b->first, UINT32_MAX);
  if (ir_accept(&p->r, "at")) b->offset = read_dim(p);
}

/* inf, nan and decimals, with or without a minus. */
static bool read_plan_float(Reader *p, double *out) {
  IrReader r = p->r;
  double sign = ir_accept(&r, "-") ? -1 : 1;
  if (ir_at_kind(&r, IT_FLOAT)) *out = sign * r.token.f;
  else if (ir_at(&r, "inf")) *out = sign * INFINITY;
  else if (ir_at(&r, "nan")) *out = NAN;
  else return false;
  ir_next(&r);
  p->r = r;
  return true;
}

/* is (2, 3) */
static void read_fixed(Reader *p, PlanBuffer *b) {
  VEC(int64_t) ints = {0};
  VEC(double) floats = {0};
  InputValue *v = ARENA_NEW(p->r.arena, InputValue);
  ir_expect(&p->r, "(");
  while (!p->r.failed && !ir_accept(&p->r, ")")) {
    double number;
    if (v->n++ && !ir_expect(&p->r, ",")) return;
    if (!dtype_is_float(b->dtype)) vec_push(p->r.arena, &ints, ir_int(&p->r));
    else if (read_plan_float(p, &number)) vec_push(p->r.arena, &floats, number);
    else ir_expected(&p->r, "a number with a point");
  }
  v->ints = ints.data;
  v->floats = floats.data;
  b->fixed = v;
}

/* "embedding" "ids" "[2, s0]" from 0 to 999, perhaps with a fault */
static PlanCheck read_check(Reader *p) {
  Dims *d = p->plan->graph->dims;
  PlanCheck c = {.node = ir_string(&p->r)};
  c.index = ir_string(&p->r);
  Span span = p->r.token.span;
  const char *s = ir_string(&p->r);
  if (s && !read_buffer_shape(p, &c.rank, &c.shape, span, s, s + strlen(s)))
    ir_error(&p->r, span, E_GRAPH_ANNOTATION, s);
  ir_expect(&p->r, "from");
  c.least = read_dim(p);
  ir_expect(&p->r, "to");
  c.size = dim_add(d, read_dim(p), dim_int(d, 1));
  if (ir_accept(&p->r, "fault")) c.fault = ir_string(&p->r);
  return c;
}

/* of (...), as many as the buffer has room for */
static void read_checks(Reader *p, PlanBuffer *b, Span span) {
  VEC(PlanCheck) checks = {0};
  ir_expect(&p->r, "of");
  ir_expect(&p->r, "(");
  while (!p->r.failed && !ir_accept(&p->r, ")")) {
    if (checks.len && !ir_expect(&p->r, ",")) return;
    PlanCheck c = read_check(p);
    vec_push(p->r.arena, &checks, c);
  }
  b->checks = checks.data;
  b->nchecks = (uint32_t)checks.len;
  bool fits = b->dtype == DT_I64 && b->rank == 1 && b->nchecks &&
              dim_is(b->shape[0], PLAN_RECORD * (int64_t)b->nchecks);
  if (!p->r.failed && !fits) ir_error(&p->r, span, E_GRAPH_PLAN_RECORDS, b->name);
}

static void read_plan_buffer(Reader *p, BufferKind kind) {
  PlanBuffer b = {.kind = kind};
  Span span = p->r.token.span;
  b.name = ir_value(&p->r);
  bool passed = kind == BUFFER_INPUT || kind == BUFFER_OUTPUT;
  if (passed) b.number = read_count(p, NUMBER_MAX);
  if (kind == BUFFER_WEIGHT) b.tensor = ir_string(&p->r);
  read_buffer_type(p, &b);
  if (passed && ir_accept(&p->r, "named")) b.tensor = ir_string(&p->r);
  b.overwritten = kind == BUFFER_INPUT && ir_accept(&p->r, "overwritten");
  if (kind == BUFFER_INPUT && ir_accept(&p->r, "gives")) b.value = read_dim(p);
  if (kind == BUFFER_OUTPUT && ir_accept(&p->r, "gives")) b.number_of = read_dim(p);
  if (kind == BUFFER_RECORDS) read_checks(p, &b, span);
  if (kind == BUFFER_TEMPORARY) read_lifetime(p, &b);
  if (kind == BUFFER_INPUT && ir_accept(&p->r, "is")) read_fixed(p, &b);
  if (!p->r.failed && (b.value || b.number_of) && (b.dtype != DT_I64 || b.rank))
    ir_error(&p->r, span, E_GRAPH_PLAN_NUMBER, b.name);
  if (p->r.failed) return;
  vec_push(p->r.arena, &p->list, b);
  vec_push(p->r.arena, &p->once, false);
  if (!ir_map_put(&p->buffers, b.name, (void *)(uintptr_t)p->list.len))
    ir_error(&p->r, span, E_GRAPH_TWICE, b.name);
}

static uint32_t read_buffer_name(Reader *p) {
  Span span = p->r.token.span;
  Name name = ir_value(&p->r);
  uintptr_t number = name ? (uintptr_t)ir_map_get(&p->buffers, name) : 1;
  if (!number) ir_error(&p->r, span, E_GRAPH_PLAN_BUFFER, name);
  return number ? (uint32_t)number - 1 : 0;
}

static void read_returned(Reader *p) {
  for (;;) {
    if (ir_at_kind(&p->r, IT_VALUE)) {
      uint32_t b = read_buffer_name(p);
      vec_push(p->r.arena, &p->outputs, b);
      vec_push(p->r.arena, &p->positions, p->plan->nreturned);
    } else if (!ir_accept(&p->r, "none")) {
      return;
    }
    p->plan->nreturned++;
    if (!ir_accept(&p->r, ",")) return;
  }
}

/* A run sees whether the sizes are equal. */
static bool may_be_same_type(Graph *g, const PlanBuffer *a, const PlanBuffer *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t i = 0; i < a->rank && same; i++)
    same = infer_may_equal(g, a->shape[i], b->shape[i]);
  return same;
}

/* %to = %from */
static PlanUpdate read_copy(Reader *p) {
  Span span = p->r.token.span;
  PlanUpdate u = {.to = read_buffer_name(p)};
  ir_expect(&p->r, "=");
  u.from = read_buffer_name(p);
  if (p->r.failed) return u;
  if (!may_be_same_type(p->plan->graph, &p->list.data[u.to], &p->list.data[u.from]))
    ir_error(&p->r, span, E_GRAPH_PLAN_UPDATE, p->list.data[u.to].name, p->list.data[u.from].name);
  return u;
}

/* update %to = %from */
static void read_update(Reader *p) {
  PlanUpdate u = read_copy(p);
  if (!p->r.failed) vec_push(p->r.arena, &p->updates, u);
}

/* equal "s0" "s1" in "add"; least "s0" "1" in "amax"; differ "s0" "1" in "squeeze" */
static bool read_size_relation(Reader *p) {
  RelationKind kind = SIZES_EQUAL;
  while (!ir_accept(&p->r, plan_relation_name(kind)))
    if (kind++ == SIZES_DIFFER) return false;
  SizeRelation e = {.a = read_dim(p), .kind = kind};
  e.b = read_dim(p);
  ir_expect(&p->r, "in");
  e.node = ir_string(&p->r);
  if (!p->r.failed) vec_push(p->r.arena, &p->plan->graph->relations, e);
  return true;
}

/* read u0 = %count at most "s0" before 3 */
static void read_data_read(Reader *p) {
  Dims *d = p->plan->graph->dims;
  Span span = p->r.token.span;
  Name name = ir_word(&p->r, "a symbol");
  PlanRead r = {0};
  ir_expect(&p->r, "=");
  r.buffer = read_buffer_name(p);
  ir_expect(&p->r, "at");
  ir_expect(&p->r, "most");
  r.most = read_dim(p);
  ir_expect(&p->r, "before");
  r.step = read_count(p, UINT32_MAX);
  if (p->r.failed) return;
  r.symbol = dim_symbol(d, name);
  const PlanBuffer *b = &p->list.data[r.buffer];
  bool late = p->reads.len && r.step < vec_last(&p->reads).step;
  if (b->dtype != DT_I64 || b->rank || late) ir_error(&p->r, span, E_GRAPH_PLAN_READ, name);
  vec_push(p->r.arena, &p->reads, r);
}

/* Counts the loop for those before it that it is within; false if it is half in one. */
static bool nest_loop(Reader *p, const PlanLoop *l) {
  for (size_t i = 0; i < p->loops.len; i++) {
    PlanLoop *o = &p->loops.data[i];
    bool after = l->first >= o->past;
    bool in_test = l->first >= o->first && l->past <= o->body;
    bool in_body = l->first >= o->body && l->past <= o->past;
    if (!after && !in_test && !in_body) return false;
    if (!after) o->inside++;
  }
  return true;
}

/* loop from 1 to 4 while %lt at 2: %carried = %add */
static void read_loop(Reader *p) {
  VEC(PlanUpdate) copies = {0};
  Span span = p->r.token.span;
  PlanLoop l = {0};
  ir_expect(&p->r, "from");
  l.first = read_count(p, UINT32_MAX);
  ir_expect(&p->r, "to");
  l.past = read_count(p, UINT32_MAX);
  ir_expect(&p->r, "while");
  l.condition = read_buffer_name(p);
  ir_expect(&p->r, "at");
  l.body = read_count(p, UINT32_MAX);
  if (ir_accept(&p->r, ":")) do {
      PlanUpdate copy = read_copy(p);
      vec_push(p->r.arena, &copies, copy);
    } while (!p->r.failed && ir_accept(&p->r, ","));
  if (p->r.failed) return;
  l.copies = copies.data;
  l.ncopies = (uint32_t)copies.len;
  const PlanBuffer *b = &p->list.data[l.condition];
  bool good = b->dtype == DT_I1 && !b->rank && l.first <= l.body && l.body <= l.past;
  if (!good || !nest_loop(p, &l)) ir_error(&p->r, span, E_GRAPH_PLAN_LOOP, b->name);
  vec_push(p->r.arena, &p->loops, l);
}

/* Steps that the text has not can't be those of a loop. */
static void check_loops(Reader *p) {
  for (size_t i = 0; i < p->loops.len && !p->r.failed; i++)
    if (p->loops.data[i].past > p->steps.len)
      ir_error(&p->r, p->r.token.span, E_GRAPH_PLAN_LOOP,
               p->list.data[p->loops.data[i].condition].name);
}

/* What the host reads in each run must outlive the steps that run once. */
static void check_reads(Reader *p) {
  for (size_t i = 0; i < p->reads.len && !p->r.failed; i++) {
    uint32_t buffer = p->reads.data[i].buffer;
    const PlanBuffer *b = &p->list.data[buffer];
    if (b->kind == BUFFER_TEMPORARY && p->once.data[buffer])
      ir_error(&p->r, p->r.token.span, E_GRAPH_PLAN_ONCE_GONE, b->name,
               p->reads.data[i].symbol->name);
  }
}

/* ---- steps ---- */

typedef VEC(StepArg) StepArgs;
typedef VEC(StepConstexpr) StepConstexprs;

static StepArg read_step_arg(Reader *p, Name name) {
  StepArg a = {.name = name, .steady = ir_accept(&p->r, "steady")};
  if (a.steady || ir_at_kind(&p->r, IT_VALUE)) {
    a.buffer = read_buffer_name(p);
  } else if (read_plan_float(p, &a.number)) {
    a.kind = STEP_FLOAT;
  } else {
    a.kind = STEP_INT;
    a.value = read_dim(p);
  }
  return a;
}

static void read_step_args(Reader *p, PlanStep *s) {
  Arena *arena = p->r.arena;
  StepArgs args = {0};
  StepConstexprs constexprs = {0};
  ir_expect(&p->r, "(");
  while (!p->r.failed && !ir_accept(&p->r, ")")) {
    if ((args.len || constexprs.len) && !ir_expect(&p->r, ",")) return;
    Name name = ir_word(&p->r, "a parameter of the kernel");
    if (ir_accept(&p->r, ":")) {
      vec_push(arena, &constexprs, ((StepConstexpr){name, read_dim(p)}));
    } else if (ir_expect(&p->r, "=")) {
      vec_push(arena, &args, read_step_arg(p, name));
    }
  }
  s->args = args.data;
  s->nargs = (uint32_t)args.len;
  s->constexprs = constexprs.data;
  s->nconstexprs = (uint32_t)constexprs.len;
}

/* A node of the plan's graph, made when it is named first. */
static Node *read_covered_node(Reader *p) {
  Graph *g = p->plan->graph;
  Name name = ir_word(&p->r, "a node");
  const char *target = ir_string(&p->r);
  if (p->r.failed) return NULL;
  Node *n = graph_find(g, name);
  if (n) return n;
  n = graph_node(g, *target ? NODE_CALL : NODE_INPUT, NULL, 0, 0);
  if (*target) n->op = ops_row(g, target);
  else n->input.target = name;
  graph_set_name(g, n, name);
  return n;
}

static void read_covered(Reader *p, PlanStep *s) {
  VEC(Node *) nodes = {0};
  if (!ir_accept(&p->r, "covers")) return;
  do {
    Node *n = read_covered_node(p);
    vec_push(p->r.arena, &nodes, n);
  } while (!p->r.failed && ir_accept(&p->r, ","));
  s->nodes = nodes.data;
  s->nnodes = (uint32_t)nodes.len;
}

static bool has_symbols(const PlanStep *s) {
  bool found = false;
  for (uint32_t i = 0; i < s->nargs; i++)
    found |= s->args[i].kind == STEP_INT && !dim_is_int(s->args[i].value);
  for (uint32_t i = 0; i < s->nconstexprs; i++) found |= !dim_is_int(s->constexprs[i].value);
  for (int i = 0; i < 3; i++) found |= !dim_is_int(s->grid[i]);
  return found;
}

/* Operands of a step that runs once must exist before there are inputs.  Operands of another step
 * must still exist. */
static void check_step_uses(Reader *p, const PlanStep *s, Span span) {
  for (uint32_t i = 0; i < s->nargs; i++) {
    if (s->args[i].kind != STEP_BUFFER) continue;
    const PlanBuffer *b = &p->list.data[s->args[i].buffer];
    bool now = b->kind == BUFFER_INPUT || b->kind == BUFFER_OUTPUT;
    bool gone = b->kind == BUFFER_TEMPORARY && p->once.data[s->args[i].buffer];
    if (s->once && now) ir_error(&p->r, span, E_GRAPH_PLAN_ONCE_USE, s->kernel, b->name);
    if (!s->once && gone) ir_error(&p->r, span, E_GRAPH_PLAN_ONCE_GONE, b->name, s->kernel);
    p->once.data[s->args[i].buffer] |= s->once;
  }
}

static void check_step_text(Reader *p, const PlanStep *s, Span span) {
  bool late = s->once && p->steps.len && !vec_last(&p->steps).once;
  if (late) ir_error(&p->r, span, E_GRAPH_PLAN_ONCE_LATE, s->kernel);
  if (s->once && has_symbols(s)) ir_error(&p->r, span, E_GRAPH_PLAN_ONCE_SIZE, s->kernel);
  check_step_uses(p, s, span);
}

/* A function of a library, and no grid. */
static void read_call(Reader *p, bool once) {
  Span span = p->r.token.span;
  Dim one = dim_int(p->plan->graph->dims, 1);
  PlanStep s = {.kernel = ir_word(&p->r, "a library's function"), .once = once};
  for (int i = 0; i < 3; i++) s.grid[i] = one;
  read_step_args(p, &s);
  read_covered(p, &s);
  if (p->r.failed) return;
  s.library = library_find(s.kernel);
  if (!s.library) ir_error(&p->r, span, E_GRAPH_NO_LIBRARY, s.kernel);
  else if (s.nconstexprs || !call_is_complete(&s))
    ir_error(&p->r, span, E_GRAPH_CALL_ARGS, s.kernel);
  else check_step_text(p, &s, span);
  if (!p->r.failed) vec_push(p->r.arena, &p->steps, s);
}

static void read_step(Reader *p, bool once) {
  if (once && ir_accept(&p->r, "call")) {
    read_call(p, once);
    return;
  }
  Span span = p->r.token.span;
  PlanStep s = {.kernel = ir_word(&p->r, "a kernel"), .once = once};
  read_step_args(p, &s);
  ir_expect(&p->r, "grid");
  for (int i = 0; i < 3 && !p->r.failed; i++) {
    if (i) ir_expect(&p->r, ",");
    s.grid[i] = read_dim(p);
  }
  ir_expect(&p->r, "warps");
  s.warps = read_count(p, WARPS_MAX);
  ir_expect(&p->r, "stages");
  s.stages = read_count(p, STAGES_MAX);
  read_covered(p, &s);
  if (!p->r.failed) check_step_text(p, &s, span);
  if (!p->r.failed) vec_push(p->r.arena, &p->steps, s);
}

/* ---- the whole ---- */

/* All text after the line of the word `source`, which is the next token. */
static void read_kernel_source(Reader *p) {
  const char *text = p->r.text + ir_offset(&p->r), *end = p->r.text + p->r.len;
  const char *line = memchr(text, '\n', (size_t)(end - text));
  p->plan->source = pool_name(p->plan->graph->names, line ? line + 1 : "");
}

static bool read_line(Reader *p) {
  static const struct {
    const char *word;
    BufferKind kind;
  } buffers[] = {{"input", BUFFER_INPUT},         {"weight", BUFFER_WEIGHT},
                 {"constant", BUFFER_CONSTANT},   {"output", BUFFER_OUTPUT},
                 {"temporary", BUFFER_TEMPORARY}, {"records", BUFFER_RECORDS}};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    if (ir_accept(&p->r, buffers[i].word)) return read_plan_buffer(p, buffers[i].kind), true;
  if (read_size_relation(p)) return true;
  if (ir_accept(&p->r, "symbol")) read_plan_symbol(p);
  else if (ir_accept(&p->r, "return")) read_returned(p);
  else if (ir_accept(&p->r, "update")) read_update(p);
  else if (ir_accept(&p->r, "read")) read_data_read(p);
  else if (ir_accept(&p->r, "loop")) read_loop(p);
  else if (ir_accept(&p->r, "once")) read_step(p, true);
  else if (ir_accept(&p->r, "step")) read_step(p, false);
  else if (ir_accept(&p->r, "call")) read_call(p, false);
  else if (ir_accept(&p->r, "pool")) p->plan->pool = read_dim(p);
  else return false;
  return true;
}

/* What a kernel loads early must be there. */
static void check_overlap(Reader *p) {
  uint32_t step;
  const StepArg *x = overlap_fault(p->plan, p->r.arena, &step);
  if (x)
    ir_error(&p->r, p->r.token.span, E_GRAPH_PLAN_STEADY, p->list.data[x->buffer].name,
             p->plan->steps[step].kernel);
}

static void finish_plan(Reader *p) {
  Plan *plan = p->plan;
  plan->buffers = p->list.data;
  plan->nbuffers = (uint32_t)p->list.len;
  plan->steps = p->steps.data;
  plan->nsteps = (uint32_t)p->steps.len;
  plan->outputs = p->outputs.data;
  plan->noutputs = (uint32_t)p->outputs.len;
  plan->positions = p->positions.data;
  plan->updates = p->updates.data;
  plan->nupdates = (uint32_t)p->updates.len;
  plan->reads = p->reads.data;
  plan->nreads = (uint32_t)p->reads.len;
  plan->loops = p->loops.data;
  plan->nloops = (uint32_t)p->loops.len;
}

Plan *plan_read(Arena *a, Pool *names, Diags *d, uint32_t file) {
  Reader p = {.r = ir_open(a, names, d, file, 0), .plan = ARENA_NEW(a, Plan)};
  p.buffers = ir_map_new(a);
  p.plan->graph = graph_new(a, names, d);
  ir_expect(&p.r, "plan");
  Name class_name = ir_word(&p.r, "a name");
  if (class_name) p.plan->graph->class_name = class_name;
  while (!p.r.failed && !ir_at(&p.r, "source") && read_line(&p)) {
  }
  if (!p.r.failed && !ir_at(&p.r, "source")) ir_expected(&p.r, "a line of a plan");
  if (!p.r.failed) check_loops(&p);
  if (!p.r.failed) check_reads(&p);
  if (!p.r.failed) read_kernel_source(&p);
  if (!p.r.failed) finish_plan(&p);
  if (!p.r.failed) check_overlap(&p);
  return p.r.failed ? NULL : p.plan;
}
