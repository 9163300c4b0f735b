/* The cost of a program, as a C expression over the kernel's arguments: a launch chooses its
 * threads by it (runtime/support/team.h), so it has to be cheap, and right within a factor of two
 * or three.
 *
 * Statements cost by class, loops as often as their bounds say.  Bounds are followed to arguments,
 * the grid, and constants; the program is the one in the middle of the grid, and so is a loop's
 * iteration.  A loop whose bounds come from memory, and a while, runs UNKNOWN_TRIPS times.  The
 * nanoseconds are those of 3 GHz with operands in the second-level cache. */
#include <math.h>

#include "codegen/c/c.h"
#include "lower/cost/estimate.h"

enum { DEPTH_MOST = 12, TERMS_MOST = 64, LOOPS_MOST = 32 };

static const double SCALAR_NS = 0.08, VECTOR_NS = 0.09, VECTOR_BYTES = 32, LANE_NS = 0.3,
                    CACHE_NS_PER_BYTE = 0.03, ATOMIC_NS = 6, PROGRAM_NS = 5, PRINT_NS = 300;

/* A constant plus, where the cost depends on arguments, a C expression. */
typedef struct {
  double ns;
  const char *text; /* NULL: nothing */
} Cost;

typedef struct {
  Gen *g;
  const NestStmt **def; /* by variable id: the definition, if it is the only one and always made */
  uint32_t *ndefs;
  int terms; /* of the present bound */
  int loops; /* whose bounds are texts, so far */
} Search;

static void find_definitions(Search *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      const NestVar *v = st->dsts[i].var;
      bool only = !s->ndefs[v->id]++ && !st->guard.kind && v->count == 1;
      s->def[v->id] = only ? st : NULL;
    }
    for (uint32_t r = 0; r < st->nregions; r++) find_definitions(s, st->regions[r]);
  }
}

/* ---- integers that follow from the arguments ---- */

/* NULL: it is not known. */
static const char *number_expression(Search *s, const Ref *r, int depth);

static const char *argument_text(Search *s, const NestVar *v) {
  const Nest *n = s->g->nest;
  for (uint32_t i = 0; i < n->nparams; i++)
    if (n->params[i] == v && dtype_is_int(v->dtype))
      return c_text(s->g, "(double)load_%s(args + %u)", dtype_name(v->dtype), 8 * i);
  return NULL;
}

static const char *middle_of_affine(Search *s, const Affine *a) {
  double middle = (double)a->c;
  for (uint8_t i = 0; i < a->n; i++)
    middle += (double)a->t[i].coef * (a->t[i].index->extent - 1) / 2.0;
  return c_text(s->g, "%.1f", middle);
}

/* The C expression of an op, a format of its operands' texts. */
static const char *form(TileCode op) {
  switch (op) {
    case TILE_ADD: return "(%s + %s)";
    case TILE_SUB: return "(%s - %s)";
    case TILE_MUL: return "(%s * %s)";
    case TILE_DIV: return "__builtin_trunc(%s / %s)";
    case TILE_REM: return "__builtin_fmod(%s, %s)";
    case TILE_MIN: return "__builtin_fmin(%s, %s)";
    case TILE_MAX: return "__builtin_fmax(%s, %s)";
    default: return NULL;
  }
}

static const char *op_text(Search *s, const NestStmt *st, int depth) {
  if (st->op == TILE_CAST && dtype_is_int(st->type) && dtype_is_int(st->to))
    return number_expression(s, &st->srcs[0], depth);
  const char *how = form(st->op);
  if (!how || !dtype_is_int(st->type)) return NULL;
  const char *a = number_expression(s, &st->srcs[0], depth);
  const char *b = a ? number_expression(s, &st->srcs[1], depth) : NULL;
  return b ? c_text(s->g, how, a, b) : NULL;
}

static const char *middle_of_loop(Search *s, const NestStmt *loop, int depth) {
  const char *lo = number_expression(s, &loop->srcs[0], depth);
  const char *hi = lo ? number_expression(s, &loop->srcs[1], depth) : NULL;
  return hi ? c_text(s->g, "0.5 * (%s + %s)", lo, hi) : NULL;
}

static const char *number_expression(Search *s, const Ref *r, int depth) {
  if (r->kind == REF_AFFINE) return middle_of_affine(s, &r->sub);
  if (r->kind != REF_VAR || ++depth > DEPTH_MOST || ++s->terms > TERMS_MOST) return NULL;
  if (r->var->is_param) return argument_text(s, r->var);
  const NestStmt *st = s->def[r->var->id];
  if (!st) return NULL;
  int axis = (int)nest_int(st, NA_axis, 0);
  switch (st->code) {
    case NEST_PID: return c_text(s->g, "0.5 * (grid[%d] - 1)", axis);
    case NEST_NPROG: return c_text(s->g, "(double)grid[%d]", axis);
    case NEST_LANE: return "0.0";
    case NEST_MOV: return number_expression(s, &st->srcs[0], depth);
    case NEST_FOR: return middle_of_loop(s, st, depth);
    case NEST_OP: return op_text(s, st, depth);
    default: return NULL;
  }
}

static const char *whole_number(Search *s, const Ref *r) {
  s->terms = 0;
  return number_expression(s, r, 0);
}

/* ---- statements ---- */

static bool is_slow_op(TileCode op) {
  switch (op) {
    case TILE_DIV:
    case TILE_DIV_RN:
    case TILE_REM:
    case TILE_SQRT:
    case TILE_SQRT_RN:
    case TILE_RSQRT:
    case TILE_EXP2:
    case TILE_LOG2:
    case TILE_SIN:
    case TILE_COS:
    case TILE_TANH: return true;
    default: return false;
  }
}

/* The number of vectors that hold one element for each lane. */
static double vectors(const Gen *g, DType t) {
  double bytes = t == DT_I1 || c_is_narrow(t) ? 4 : (double)dtype_bytes(t);
  return ceil(bytes * g->nest->lanes / VECTOR_BYTES);
}

static double op_ns(const Gen *g, const NestStmt *st) {
  bool vector = c_stmt_spread(g, st).kind == SPREAD_VECTOR;
  double slow = is_slow_op(st->op) ? 10 : 1;
  if (!vector) return SCALAR_NS * slow;
  if (slow > 1 && dtype_is_int(st->type)) return LANE_NS * slow * g->nest->lanes;
  double narrow = (st->op == TILE_CAST && (c_is_narrow(st->type) || c_is_narrow(st->to))) ? 4 : 1;
  return VECTOR_NS * slow * narrow * vectors(g, st->type);
}

static double access_ns(const Gen *g, const NestStmt *st) {
  const Mem *m = &st->mems[0];
  Spread at = c_mem_spread(g, m);
  double bytes = (double)dtype_bytes(st->type), lanes = g->nest->lanes;
  double way = m->buffer ? 0 : CACHE_NS_PER_BYTE;
  if (c_uniform(at)) return SCALAR_NS + way * bytes;
  bool together = at.kind == SPREAD_LINEAR && at.step == dtype_bytes(st->type);
  if (!together) return lanes * (LANE_NS + way * bytes);
  double widen = c_is_narrow(st->type) ? 4 : 1;
  return VECTOR_NS * widen * vectors(g, st->type) + way * bytes * lanes;
}

/* A column of rows that are loaded or stored as vectors, which shuffles turn: see transpose.c. */
static double column_ns(const Gen *g, const NestStmt *st) {
  double shuffles = log2(c_columns(g, st)), bytes = (double)dtype_bytes(st->type);
  return (1 + shuffles) * VECTOR_NS * vectors(g, st->type) +
         CACHE_NS_PER_BYTE * bytes * g->nest->lanes;
}

static double statement_ns(const Gen *g, const NestStmt *st) {
  double n = (double)nest_int(st, NA_n, 1);
  switch (st->code) {
    case NEST_OP: return op_ns(g, st);
    case NEST_MOV: return st->dsts[0].var->count > 1 ? n * VECTOR_NS : 0;
    case NEST_LD:
    case NEST_ST: return n * access_ns(g, st);
    case NEST_ATOM:
    case NEST_ATOM_CAS:
    case NEST_RED: return ATOMIC_NS * g->nest->lanes;
    case NEST_SHFL: return VECTOR_NS * vectors(g, st->type);
    case NEST_FENCE: return ATOMIC_NS;
    case NEST_PRINT: return PRINT_NS * g->nest->lanes;
    default: return 0;
  }
}

/* ---- blocks ---- */

static Cost block_cost(Search *s, const NestBlock *b);

static Cost add_costs(Search *s, Cost a, Cost b) {
  const char *text = a.text ? a.text : b.text;
  if (a.text && b.text) text = c_text(s->g, "%s\n      + %s", a.text, b.text);
  return (Cost){a.ns + b.ns, text};
}

static Cost scale_cost(Search *s, Cost a, double n) {
  return (Cost){a.ns * n, a.text ? c_text(s->g, "%.17g * (%s)", n, a.text) : NULL};
}

static bool is_fixed_bound(const Ref *r) { return r->kind == REF_AFFINE && !r->sub.n; }

static double fixed_trips(const NestStmt *st) {
  double step = (double)st->srcs[2].sub.c;
  double span = (double)st->srcs[1].sub.c - (double)st->srcs[0].sub.c;
  return step && span / step > 0 ? ceil(span / step) : 0;
}

static Cost for_cost(Search *s, const NestStmt *st) {
  Cost body = block_cost(s, st->regions[0]);
  if (is_fixed_bound(&st->srcs[0]) && is_fixed_bound(&st->srcs[1]) && is_fixed_bound(&st->srcs[2]))
    return scale_cost(s, body, fixed_trips(st));
  if (s->loops >= LOOPS_MOST) return scale_cost(s, body, UNKNOWN_TRIPS);
  const char *lo = whole_number(s, &st->srcs[0]), *hi = whole_number(s, &st->srcs[1]);
  const char *step = whole_number(s, &st->srcs[2]);
  if (!lo || !hi || !step) return scale_cost(s, body, UNKNOWN_TRIPS);
  s->loops++;
  const char *ns =
      body.text ? c_text(s->g, "(%.6g + %s)", body.ns, body.text) : c_text(s->g, "%.6g", body.ns);
  return (Cost){0, c_text(s->g, "loop_trips(%s, %s, %s) * %s", lo, hi, step, ns)};
}

/* A branch costs as much as its more expensive side; if a side depends on arguments, as both. */
static Cost branch_cost(Search *s, const NestStmt *st) {
  Cost most = block_cost(s, st->regions[0]);
  if (st->nregions < 2) return most;
  Cost other = block_cost(s, st->regions[1]);
  if (!most.text && !other.text) return (Cost){fmax(most.ns, other.ns), NULL};
  return add_costs(s, most, other);
}

/* Iterations from and to somewhere in between: half of them. */
static Cost counted_cost(Search *s, const NestStmt *st) {
  ProductLoop p;
  if (c_product_loop(s->g, st, &p) && p.tiles) return (Cost){c_tiles_ns(&p), NULL};
  double n = st->index->extent;
  if (st->nsrcs && is_fixed_bound(&st->srcs[0]) && is_fixed_bound(&st->srcs[1]))
    n = fmax(fmin((double)st->srcs[1].sub.c, n) - fmax((double)st->srcs[0].sub.c, 0), 0);
  else if (st->nsrcs) n /= 2;
  return scale_cost(s, block_cost(s, st->regions[0]), n);
}

static Cost stmt_cost(Search *s, const NestStmt *st) {
  switch (st->code) {
    case NEST_FOR: return for_cost(s, st);
    case NEST_IF: return branch_cost(s, st);
    case NEST_UNROLL:
    case NEST_SERIAL: return counted_cost(s, st);
    case NEST_ROLE: return block_cost(s, st->regions[0]);
    case NEST_WHILE: {
      Cost both = add_costs(s, block_cost(s, st->regions[0]), block_cost(s, st->regions[1]));
      return scale_cost(s, both, UNKNOWN_TRIPS);
    }
    default: return (Cost){statement_ns(s->g, st), NULL};
  }
}

static Cost block_cost(Search *s, const NestBlock *b) {
  Cost sum = {0};
  const NestStmt *last = NULL; /* of columns, one of which a statement may be */
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (!last) last = c_last_column(s->g, st);
    bool column = last && st->code == last->code;
    sum = add_costs(s, sum, column ? (Cost){column_ns(s->g, st), NULL} : stmt_cost(s, st));
    if (st == last) last = NULL;
  }
  return sum;
}

const char *c_program_cost(Gen *g) {
  Search s = {.g = g,
              .def = ARENA_ARRAY(g->arena, const NestStmt *, g->nest->nvars),
              .ndefs = ARENA_ARRAY(g->arena, uint32_t, g->nest->nvars)};
  find_definitions(&s, g->nest->body);
  Cost c = block_cost(&s, g->nest->body);
  const char *more = c.text ? c_text(g, "\n      + %s", c.text) : "";
  return c_text(g, "%.6g%s", PROGRAM_NS + c.ns, more);
}
