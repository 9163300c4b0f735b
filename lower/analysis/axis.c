/* The axis analysis over control flow: see axis.h for what it finds out. */
#include "lower/analysis/axis.h"

#include <string.h>

#include "lower/analysis/axis_rules.h"

/* Loops are evaluated until nothing changes; intervals are given up after this many rounds. */
enum { ROUNDS_BEFORE_WIDENING = 2 };

typedef struct {
  AxisInfo *info;
  Arena *arena;
  bool *entered; /* by a parameter of a loop: the loop was evaluated before */
} Axis;

static void block(Axis *s, const TileBlock *b);

static void put(Axis *s, const TileValue *v, AxisInfo x) {
  if (dtype_is_int((DType)v->type.dtype)) axis_settle(&x, v);
  else x.lo = INT64_MIN, x.hi = INT64_MAX, x.known = false;
  s->info[v->id] = x;
}

static bool join(Axis *s, const TileValue *into, const TileValue *from, bool widen) {
  AxisInfo *old = &s->info[into->id];
  AxisInfo x = axis_meet(old, &s->info[from->id]);
  if (!memcmp(&x, old, sizeof x)) return false;
  if (widen && (x.lo != old->lo || x.hi != old->hi)) axis_type_bounds(into->type, &x.lo, &x.hi);
  if (x.lo != x.hi) x.known = false;
  *old = x;
  return true;
}

static void loop_index(Axis *s, const TileOp *op) {
  const TileValue *i = op->regions[0]->params[0];
  const AxisInfo *lo = &s->info[op->args[0]->id], *hi = &s->info[op->args[1]->id],
                 *st = &s->info[op->args[2]->id];
  AxisInfo x = axis_unknown(i);
  x.div[0] = axis_gcd(lo->div[0], st->div[0]);
  if (st->lo > 0 && hi->hi > INT64_MIN) {
    x.lo = lo->lo;
    x.hi = max64(lo->hi, hi->hi - 1);
  }
  put(s, i, x);
}

/* A loop within one that is evaluated again goes on from the facts that it had, which only get
 * weaker: from the start each time, loops in loops would take a number of rounds that is
 * exponential in their depth. */
static void enter(Axis *s, const TileValue *param, const TileValue *init) {
  if (s->entered[param->id]) join(s, param, init, false);
  else s->info[param->id] = s->info[init->id];
  s->entered[param->id] = true;
}

static void loop(Axis *s, const TileOp *op) {
  bool is_for = op->code == TILE_FOR;
  uint32_t first = is_for ? 3 : 0, skip = is_for ? 1 : 0;
  const TileBlock *head = op->regions[0], *body = op->regions[is_for ? 0 : 1];
  if (is_for) loop_index(s, op);
  for (uint32_t i = first; i < op->nargs; i++)
    enter(s, head->params[i - first + skip], op->args[i]);
  for (int round = 0;; round++) {
    block(s, head);
    if (!is_for) {
      for (uint32_t i = 0; i < body->nparams; i++)
        s->info[body->params[i]->id] = s->info[head->last->args[i + 1]->id];
      block(s, body);
    }
    bool changed = false;
    for (uint32_t i = 0; i + first < op->nargs; i++)
      changed |=
          join(s, head->params[i + skip], body->last->args[i], round >= ROUNDS_BEFORE_WIDENING);
    if (!changed) break;
  }
  for (uint32_t i = 0; i < op->nresults; i++)
    s->info[op->results[i]->id] =
        is_for ? s->info[head->params[i + 1]->id] : s->info[head->last->args[i + 1]->id];
}

static void branch(Axis *s, const TileOp *op) {
  block(s, op->regions[0]);
  block(s, op->regions[1]);
  for (uint32_t i = 0; i < op->nresults; i++) {
    const AxisInfo *a = &s->info[op->regions[0]->last->args[i]->id];
    const AxisInfo *b = &s->info[op->regions[1]->last->args[i]->id];
    s->info[op->results[i]->id] = axis_meet(a, b);
  }
}

/* What is made from an assumption holds as far as it does. */
static void pass_on(Axis *s, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && s->info[op->args[i]->id].assumed) s->info[op->results[0]->id].assumed = true;
}

static void visit(Axis *s, const TileOp *op) {
  arena_work(s->arena, 1);
  if (op->code == TILE_FOR || op->code == TILE_WHILE) {
    loop(s, op);
    return;
  }
  if (op->code == TILE_IF) {
    branch(s, op);
    return;
  }
  int64_t c;
  for (uint32_t i = 0; i < op->nresults; i++) put(s, op->results[i], axis_unknown(op->results[i]));
  if (!op->nresults) return;
  const TileValue *v = op->results[0];
  if (op->code == TILE_CONST && tile_const_value(v, &c)) put(s, v, axis_constant(v, c));
  else if (op->code == TILE_CONST) {
    for (unsigned i = 0; i < axes_of(v); i++) s->info[v->id].constancy[i] = axis_extent(v, i);
  } else if (op->code == TILE_ARANGE) put(s, v, axis_arange(op));
  else if (op->code == TILE_PROGRAM_ID || op->code == TILE_NUM_PROGRAMS) s->info[v->id].lo = 0;
  else if (tile_op_flags(op->code) & TILE_ELEM && op->nargs)
    put(s, v, axis_elementwise(op, s->info));
  else if (op->code == TILE_SPLAT || op->code == TILE_EXPAND_DIMS || op->code == TILE_BROADCAST ||
           op->code == TILE_TRANS || op->code == TILE_RESHAPE)
    put(s, v, axis_shape_rule(op, s->info));
  pass_on(s, op);
}

static void block(Axis *s, const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next) visit(s, op);
}

AxisInfo *axis_analyze(const TileFunc *f, Arena *a) {
  Axis s = {ARENA_ARRAY(a, AxisInfo, f->nvalues), a, ARENA_ARRAY(a, bool, f->nvalues)};
  for (uint32_t i = 0; i < f->nparams; i++) {
    const TileValue *v = f->params[i].value;
    AxisInfo x = axis_unknown(v);
    x.div[0] = axis_low_bit(f->params[i].div);
    put(&s, v, x);
  }
  block(&s, f->body);
  return s.info;
}

int64_t axis_vector(const AxisInfo *info, const TileValue *ptr, const TileValue *mask, int axis,
                    unsigned elem_bytes, int64_t max) {
  const AxisInfo *p = &info[ptr->id];
  int64_t n = min64(p->contig[axis], max64(1, p->div[axis] / elem_bytes));
  if (mask) n = axis_gcd(n, info[mask->id].constancy[axis]);
  n = min64(n, max);
  return n & -n;
}
