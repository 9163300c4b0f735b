/* Ragged rows that a loop takes one by one, of pass strip_rows.
 *
 * A program that adds up what it makes of each row, as for gradients of weights, carries rows of
 * sums through its loop.  Each op on rows becomes an op for each strip; the loop carries strips.
 * Reductions take the sum, or what they combine to, of all strips.
 *
 * Ops keep their order, so that accesses to memory do.  Strips after the row's end are constants,
 * which reductions take; what the loop carries of these is nothing that anyone needs. */
#include <string.h>

#include "lower/tile/strip_copy.h"

typedef struct {
  StripBuilder x;
  TileValue ***copy; /* by strip, then by value id */
  uint32_t **round;
  int64_t stores; /* so many are made */
} LoopBuilder;

/* ---- which kernels ---- */

static bool has_other_tiles(const Strips *s, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs + op->nresults; i++) {
    const TileValue *v = i < op->nargs ? op->args[i] : op->results[i - op->nargs];
    if (v && !strip_is_row(s, v) && type_numel(v->type) > 1) return true;
  }
  return false;
}

/* Is the mask false in all columns of strips after the row's end? */
static bool is_dead(const Strips *s, const TileValue *mask) {
  return strip_has_limit(s, s->limit, mask);
}

/* Loads have a mask: none of a strip after the row's end is made where a reduction is. */
static bool is_row_op(const Strips *s, const TileOp *op) {
  if (op == s->loop || op->code == TILE_YIELD) return true;
  if (has_other_tiles(s, op)) return false;
  switch (op->code) {
    case TILE_ARANGE:
    case TILE_SPLAT:
    case TILE_CONST:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST:
    case TILE_STORE: return true;
    case TILE_HINT: return false; /* it tells of the whole row */
    case TILE_LOAD: return !tile_int(op, TA_volatile, 0) && is_dead(s, op->args[1]);
    case TILE_RESHAPE: return strip_is_row(s, op->args[0]);
    case TILE_REDUCE:
      return tile_str(op, TA_combine, NULL) && op->nargs == 1 &&
             type_numel(op->results[0]->type) == 1;
    default: return (tile_op_flags(op->code) & TILE_ELEM) != 0;
  }
}

typedef struct {
  const Strips *s;
  bool refused;
} Check;

static void check_op(TileOp *op, void *ctx) {
  Check *c = ctx;
  if (!strip_touches_rows(c->s, op)) return;
  bool placed = op->parent == c->s->body || op->parent == c->s->loop->regions[0];
  c->refused |= !placed || !is_row_op(c->s, op);
}

/* Do strips of the value after the row's end need rows that the loop carries? */
static bool needs_carried(const Strips *s, bool *visited, const TileValue *v) {
  if (!v || !strip_is_row(s, v) || visited[v->id]) return false;
  visited[v->id] = true;
  const TileOp *op = v->def;
  if (!op || op == s->loop) return true;
  bool picks = op->code == TILE_SELECT && is_dead(s, op->args[0]);
  for (uint32_t i = op->code == TILE_LOAD || picks ? 2 : 0; i < op->nargs; i++)
    if (needs_carried(s, visited, op->args[i])) return true;
  return false;
}

static bool reduces_carried(const Strips *s, const TileBlock *block) {
  bool *visited = ARENA_ARRAY(s->scratch, bool, s->nvalues);
  for (const TileOp *op = block->first; op; op = op->next) {
    if (op->code != TILE_REDUCE || !strip_is_row(s, op->args[0])) continue;
    if (needs_carried(s, visited, op->args[0])) return true;
  }
  return false;
}

/* Does a store have no mask, so that strips after the row's end are stored, or might iterations of
 * the loop store to one element? */
static bool stores_more(const Strips *s, const TileBlock *block) {
  for (const TileOp *op = block->first; op; op = op->next) {
    if (op->code != TILE_STORE || !strip_is_row(s, op->args[0])) continue;
    bool masked = op->nargs > 2 && is_dead(s, op->args[2]);
    if (!masked || !strip_stores_apart(s, op)) return true;
  }
  return false;
}

/* ---- registers ---- */

static bool is_used(const TileBlock *block, const TileValue *v) {
  for (const TileOp *op = block->first; op; op = op->next)
    for (uint32_t i = 0; i < op->nargs; i++)
      if (op->args[i] == v) return true;
  return false;
}

static int64_t float_bits(const Strips *s, const TileValue *v) {
  DType t = (DType)v->type.dtype;
  return strip_is_row(s, v) && dtype_is_float(t) ? dtype_bits(t) : 0;
}

/* Bits an element of the rows that the loop carries, of those that are made before it and used in
 * it, and of those that an iteration loads. */
static int64_t bits_of_rows(const Strips *s) {
  const TileBlock *inner = s->loop->regions[0];
  int64_t bits = 0;
  for (uint32_t i = 0; i < s->loop->nresults; i++) bits += float_bits(s, s->loop->results[i]);
  for (const TileOp *op = s->body->first; op != s->loop; op = op->next)
    if (op->nresults && is_used(inner, op->results[0])) bits += float_bits(s, op->results[0]);
  for (const TileOp *op = inner->first; op; op = op->next)
    if (op->code == TILE_LOAD) bits += float_bits(s, op->results[0]);
  return bits;
}

/* OTHERS: for addresses and what is computed, of a row or beside the loads of the next one */
enum { OTHERS = 28, AHEAD_OTHERS = 36, REGISTER_BITS = 32 };

/* Versions have one limit of registers, by rows of three quarters of the tile: longer ones spill,
 * where two programs that share a multiprocessor gain more for shorter ones.  (5,003 columns of
 * bf16, 8 warps, on an H200: 0.56 of a copy's rate without a limit, 0.80 with one.) */
static void share_registers(Strips *s) {
  int64_t threads = (int64_t)options_warps(&s->f->options) * s->u->machine->lanes;
  int64_t elements = s->row / threads * 3 / 4;
  strip_share_registers(s, elements * bits_of_rows(s) / REGISTER_BITS + OTHERS);
  if (!s->registers) s->registers = s->f->options.maxnreg; /* of the version before, or of users */
}

/* Do registers hold the next row, too? */
static bool has_room_ahead(const Strips *s) {
  const TileBlock *inner = s->loop->regions[0];
  int64_t threads = (int64_t)options_warps(&s->f->options) * s->u->machine->lanes;
  int64_t room = s->registers ? s->registers : REGISTER_FILE / threads, bits = bits_of_rows(s);
  if (room > s->u->machine->regs) room = s->u->machine->regs;
  for (const TileOp *op = inner->first; op; op = op->next)
    if (op->code == TILE_LOAD) bits += float_bits(s, op->results[0]);
  int64_t elements = s->live * s->strip / threads;
  return elements * bits / REGISTER_BITS + AHEAD_OTHERS <= room;
}

/* Loads of the next row may come before stores of this one (pass load_ahead) if a launch finds both
 * apart. */
static void assume_rows_apart(Strips *s, const TileBlock *inner) {
  for (const TileOp *a = inner->first; a; a = a->next)
    for (const TileOp *b = inner->first; b && a->code == TILE_STORE; b = b->next) {
      TileValue *from = b->code == TILE_LOAD ? strip_root(b->args[0]) : NULL;
      TileValue *to = from ? strip_root(a->args[0]) : NULL;
      if (to && from != to) strip_assume_apart(s, to, from, false);
    }
}

bool strip_loop_plan(Strips *s) {
  Check c = {s, false};
  const TileBlock *inner = s->loop->regions[0];
  s->axis = axis_analyze(s->f, s->scratch);
  tile_walk(s->body, check_op, &c);
  if (c.refused || stores_more(s, s->body) || stores_more(s, inner)) return false;
  if (reduces_carried(s, s->body) || reduces_carried(s, inner)) return false;
  share_registers(s);
  s->ahead = has_room_ahead(s);
  if (s->ahead) assume_rows_apart(s, inner);
  return true;
}

/* ---- strips ---- */

static void set_strip(LoopBuilder *r, int64_t k) {
  StripBuilder *x = &r->x;
  x->copy = r->copy[k];
  x->round = r->round[k];
  x->from = k;
  x->first = k ? tile_const_int(&x->b, type_scalar(DT_I32), k * x->s->strip) : NULL;
  strip_set_place(x);
}

static void note_strip(LoopBuilder *r, int64_t k, const TileValue *v, TileValue *strip) {
  r->copy[k][v->id] = strip;
  r->round[k][v->id] = r->x.rounds;
}

static TileValue *known_strip(const LoopBuilder *r, int64_t k, const TileValue *v) {
  BUG_IF(r->round[k][v->id] != r->x.rounds, "strip %d of %%%u is unknown", (int)k, v->id);
  return r->copy[k][v->id];
}

/* A reduction takes strips after the row's end, too: they are made where it is. */
static void build_reduce(LoopBuilder *r, TileOp *op) {
  StripBuilder *x = &r->x;
  TileValue *acc = NULL;
  for (int64_t k = 0; k < strip_count(x->s); k++) {
    set_strip(r, k);
    if (x->empty) memset(x->round, 0, x->s->nvalues * sizeof *x->round);
    TileValue *with = strip_of(x, op->args[0]);
    if (acc) strip_combine(x, op, &acc, &with);
    else acc = with;
  }
  op->args[0] = acc;
}

/* Values of loaded rows are computed again after a reduction, where programs that load the
 * next row share registers: they hold rows of 16 bits meanwhile.  Casts with a rounding, though
 * these are exact, are told from the first ones by all passes. */
static void forget_computed(LoopBuilder *r, const TileOp *reduce) {
  const Strips *s = r->x.s;
  r->x.again = true;
  for (const TileOp *op = reduce->prev; op; op = op->prev) {
    bool computed = tile_op_flags(op->code) & TILE_ELEM && strip_is_row(s, op->results[0]);
    for (int64_t k = 0; computed && k < s->live; k++) r->round[k][op->results[0]->id] = 0;
  }
}

static bool is_before(const TileOp *op, const TileOp *other) {
  while (op && op != other) op = op->next;
  return op;
}

/* Is the value made of what is known before the op, which is in the loop?  `visited`, by value id:
 * values that are. */
static bool is_known_before(bool *visited, const TileValue *v, const TileOp *place) {
  const TileOp *op = v ? v->def : NULL;
  if (!op || op->parent != place->parent || visited[v->id] || is_before(op, place)) return true;
  if (!(tile_op_flags(op->code) & TILE_ELEM)) return false;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (!is_known_before(visited, op->args[i], place)) return false;
  visited[v->id] = true;
  return true;
}

/* Sums of rows are added up before the iteration's reductions, which other values then wait for. */
static void build_sums(LoopBuilder *r, const TileOp *reduce) {
  StripBuilder *x = &r->x;
  const TileOp *yield = reduce->parent->last;
  bool *visited = ARENA_ARRAY(x->s->scratch, bool, x->s->f->nvalues);
  for (uint32_t i = 0; i < yield->nargs; i++) {
    TileValue *sum = yield->args[i];
    if (!strip_is_row(x->s, sum) || !is_known_before(visited, sum, reduce)) continue;
    for (int64_t k = 0; k < x->s->live; k++) {
      set_strip(r, k);
      strip_of(x, sum);
    }
  }
}

static void build_op(LoopBuilder *r, TileOp *op) {
  StripBuilder *x = &r->x;
  x->b = (TileBuilder){x->s->f, op->parent, op, op->span};
  bool inside = op->parent != x->s->body;
  if (op->code == TILE_REDUCE) {
    if (inside) build_sums(r, op);
    build_reduce(r, op);
    if (inside && x->s->ahead && x->s->registers) forget_computed(r, op);
    return;
  }
  /* Values that an iteration computes are made where a reduction, a store or its end takes them. */
  if (inside && tile_op_flags(op->code) & TILE_ELEM) return;
  bool store = op->code == TILE_STORE;
  for (int64_t k = 0; k < x->s->live; k++) {
    set_strip(r, k);
    if (store) strip_store(x, op, r->stores);
    else strip_of(x, op->results[0]);
  }
  r->stores += store;
}

/* ---- the loop ---- */

/* Values in which strips take the places of rows. */
typedef VEC(TileValue *) Spread;

/* Strips of the rows among values that are known, and the others; the first ones stay. */
static void spread_known(LoopBuilder *r, Spread *to, TileValue *const *values, uint32_t n,
                         uint32_t first) {
  const Strips *s = r->x.s;
  for (uint32_t i = 0; i < n; i++) {
    bool row = i >= first && strip_is_row(s, values[i]);
    for (int64_t k = 0; k < (row ? s->live : 1); k++)
      vec_push(s->f->arena, to, row ? known_strip(r, k, values[i]) : values[i]);
  }
}

/* Spreads the values that an iteration yields; those that nothing has taken are made now. */
static void spread_made(LoopBuilder *r, Spread *to, TileValue *const *values, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (int64_t k = 0; k < (strip_is_row(r->x.s, values[i]) ? r->x.s->live : 1); k++) {
      set_strip(r, k);
      vec_push(r->x.s->f->arena, to, strip_of(&r->x, values[i]));
    }
}

/* A value that the loop defines, of a strip of a row like v. */
static TileValue *new_strip(const LoopBuilder *r, const TileValue *v, TileOp *def,
                            TileBlock *block) {
  const Strips *s = r->x.s;
  TileValue *made = ARENA_NEW(s->f->arena, TileValue);
  *made = (TileValue){strip_type(s, v->type), def, block, 0, s->f->nvalues++, v->name};
  return made;
}

/* New values for strips of the rows among parameters or results, and the others. */
static void spread_new(LoopBuilder *r, Spread *to, TileValue *const *values, uint32_t n) {
  const Strips *s = r->x.s;
  for (uint32_t i = 0; i < n; i++) {
    TileValue *v = values[i];
    bool row = strip_is_row(s, v);
    for (int64_t k = 0; k < (row ? s->live : 1); k++) {
      TileValue *each = row ? new_strip(r, v, v->def, v->block) : v;
      if (row) note_strip(r, k, v, each);
      vec_push(s->f->arena, to, each);
    }
  }
}

static void set_values(const Spread *from, TileValue ***values, uint32_t *n, bool defined) {
  *values = from->data;
  *n = (uint32_t)from->len;
  for (uint32_t i = 0; defined && i < *n; i++) from->data[i]->index = i;
}

static void build_block(LoopBuilder *r, TileBlock *block);

static void build_rows_loop(LoopBuilder *r, TileOp *loop) {
  enum { BOUNDS = 3 };
  TileBlock *inner = loop->regions[0];
  TileOp *yield = inner->last;
  Spread args = {0}, params = {0}, next = {0}, results = {0};
  spread_known(r, &args, loop->args, loop->nargs, BOUNDS);
  spread_new(r, &params, inner->params, inner->nparams);
  build_block(r, inner);
  r->x.b = (TileBuilder){r->x.s->f, inner, yield, yield->span};
  spread_made(r, &next, yield->args, yield->nargs);
  r->x.again = false;
  spread_new(r, &results, loop->results, loop->nresults);
  set_values(&args, &loop->args, &loop->nargs, false);
  set_values(&params, &inner->params, &inner->nparams, true);
  set_values(&next, &yield->args, &yield->nargs, false);
  set_values(&results, &loop->results, &loop->nresults, true);
  if (!r->x.s->ahead) tile_set_int(r->x.s->f, loop, TA_num_stages, 1);
}

static void build_block(LoopBuilder *r, TileBlock *block) {
  for (TileOp *op = block->first, *after; op; op = after) {
    after = op->next;
    if (op == r->x.s->loop) build_rows_loop(r, op);
    else if (op->code != TILE_YIELD && strip_touches_rows(r->x.s, op)) build_op(r, op);
  }
}

/* No row is left. */
static void drop_rows(const Strips *s, TileBlock *block) {
  for (TileOp *op = block->last, *prev; op; op = prev) {
    prev = op->prev;
    bool row = op->nresults && strip_is_row(s, op->results[0]);
    bool store = op->code == TILE_STORE && strip_is_row(s, op->args[0]);
    if (row || store) tile_remove(op);
  }
}

void strip_loop_build(Strips *s) {
  LoopBuilder r = {.x = {.s = s, .limit = s->limit, .rounds = 1}};
  size_t n = (size_t)strip_count(s);
  r.copy = ARENA_ARRAY(s->scratch, TileValue **, n);
  r.round = ARENA_ARRAY(s->scratch, uint32_t *, n);
  if (s->registers) s->f->options.maxnreg = s->registers;
  if (s->shift) strip_build_shift(s);
  for (size_t k = 0; k < n; k++) {
    r.copy[k] = ARENA_ARRAY(s->scratch, TileValue *, s->nvalues);
    r.round[k] = ARENA_ARRAY(s->scratch, uint32_t, s->nvalues);
  }
  build_block(&r, s->body);
  drop_rows(s, s->loop->regions[0]);
  drop_rows(s, s->body);
  strip_build_pairs(s);
}
