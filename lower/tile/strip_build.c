/* The loops of pass strip_rows.  The first strip of a loop with reductions comes before it, and its
 * elements are the first accumulators. */
#include <string.h>

#include "lower/tile/strip_copy.h"

/* ---- loops ---- */

/* The statements of a strip; `acc`: accumulators, none before the first strip. */
static void build_statements(StripBuilder *x, const StripLoop *l, TileValue **acc, bool first) {
  x->rounds++;
  for (size_t i = 0; i < l->sinks.len; i++) {
    TileOp *op = l->sinks.data[i];
    if (op->code == TILE_LOAD) {
      if (!strip_park_of(x, op)) strip_of(x, op->results[0]);
      continue;
    }
    if (op->code == TILE_STORE) {
      strip_store(x, op, (int64_t)(x->loop * STRIP_PAIRS_MOST + i));
      continue;
    }
    TileValue **args = ARENA_ARRAY(x->s->scratch, TileValue *, op->nargs);
    for (uint32_t k = 0; k < op->nargs; k++) args[k] = strip_of(x, op->args[k]);
    if (first) memcpy(acc, args, op->nargs * sizeof *acc);
    else strip_combine(x, op, acc, args);
    acc += op->nargs;
  }
}

static uint32_t count_accumulators(const StripLoop *l) {
  uint32_t n = 0;
  for (size_t i = 0; i < l->sinks.len; i++)
    if (l->sinks.data[i]->code == TILE_REDUCE) n += l->sinks.data[i]->nargs;
  return n;
}

/* Are all columns of the strip at hand before the limit? */
static TileValue *is_before_limit(StripBuilder *x) {
  Type t = x->limit->type, i32 = type_scalar(DT_I32);
  TileValue *end = tile_const_int(&x->b, i32, x->s->strip);
  TileValue *const starts[] = {x->first, x->part};
  for (int i = 0; i < 2; i++)
    if (starts[i]) end = tile_build1(&x->b, TILE_ADD, i32, end, starts[i], NULL);
  if (t.dtype != DT_I32) end = tile_build1(&x->b, TILE_CAST, t, end, NULL, NULL);
  return tile_build1(&x->b, TILE_LE, type_scalar(DT_I1), end, x->limit, NULL);
}

/* Most strips of a row with a mask are before its end: they have statements without it. */
static void build_strip(StripBuilder *x, const StripLoop *l, TileValue **acc, bool first) {
  if (!x->limit || x->s->ragged) {
    strip_set_place(x);
    build_statements(x, l, acc, first);
    return;
  }
  uint32_t n = 0;
  Type *types = ARENA_ARRAY(x->s->scratch, Type, count_accumulators(l));
  for (size_t i = 0; i < l->sinks.len; i++)
    for (uint32_t k = 0; l->sinks.data[i]->code == TILE_REDUCE && k < l->sinks.data[i]->nargs; k++)
      types[n++] = strip_type(x->s, l->sinks.data[i]->args[k]->type);
  TileValue *before = is_before_limit(x), **own = ARENA_ARRAY(x->s->scratch, TileValue *, n);
  TileOp *either = tile_build(&x->b, TILE_IF, &before, 1, types, n);
  TileBuilder outer = x->b;
  for (int r = 0; r < 2; r++) {
    TileBlock *block = tile_add_region(x->s->f, either);
    x->b = (TileBuilder){x->s->f, block, NULL, outer.span};
    x->full = r == 0;
    if (n) memcpy(own, acc, n * sizeof *own);
    build_statements(x, l, own, first);
    tile_build(&x->b, TILE_YIELD, own, n, NULL, 0);
  }
  x->full = false;
  x->b = outer;
  if (n) memcpy(acc, either->results, n * sizeof *acc);
}

typedef struct {
  TileBuilder outer;
  TileOp *op;
} Loop;

/* A loop over the strips from..to-1, which carries `n` tiles. */
static Loop open_loop(StripBuilder *x, TileValue **acc, uint32_t n, int64_t from, int64_t to) {
  TileFunc *f = x->s->f;
  Type i32 = type_scalar(DT_I32), *types = ARENA_ARRAY(x->s->scratch, Type, n + 1);
  TileValue **args = ARENA_ARRAY(x->s->scratch, TileValue *, n + 3);
  Name *names = ARENA_ARRAY(x->s->scratch, Name, n + 1);
  types[0] = i32;
  args[0] = tile_const_int(&x->b, i32, from);
  args[1] = tile_const_int(&x->b, i32, to);
  args[2] = tile_const_int(&x->b, i32, 1);
  for (uint32_t i = 0; i < n; i++) {
    args[i + 3] = acc[i];
    types[i + 1] = acc[i]->type;
  }
  Loop loop = {x->b, tile_build(&x->b, TILE_FOR, args, n + 3, types + 1, n)};
  TileBlock *body = tile_add_region(f, loop.op);
  tile_block_params(f, body, types, names, n + 1);
  x->b = (TileBuilder){f, body, NULL, loop.outer.span};
  x->from = from;
  TileValue *length = tile_const_int(&x->b, i32, x->s->strip);
  x->first = tile_build1(&x->b, TILE_MUL, i32, body->params[0], length, NULL);
  x->rounds++;
  if (n) memcpy(acc, body->params + 1, n * sizeof *acc);
  return loop;
}

static void close_loop(StripBuilder *x, const Loop *loop, TileValue **acc, uint32_t n) {
  tile_build(&x->b, TILE_YIELD, acc, n, NULL, 0);
  x->b = loop->outer;
  x->first = NULL;
  if (n) memcpy(acc, loop->op->results, n * sizeof *acc);
}

static void build_loop(StripBuilder *x, const StripLoop *l, TileValue **acc, uint32_t n,
                       int64_t from, int64_t to) {
  Loop loop = open_loop(x, acc, n, from, to);
  build_strip(x, l, acc, false);
  close_loop(x, &loop, acc, n);
}

/* Loads a strip that registers keep. */
static void hold_strip(StripBuilder *x, size_t park, int64_t k) {
  const StripPark *p = &x->s->parks.data[park];
  x->rounds++;
  x->from = p->strips + k;
  strip_set_place(x);
  x->first = tile_const_int(&x->b, type_scalar(DT_I32), x->from * x->s->strip);
  x->held[park][k] = strip_of(x, p->load->results[0]);
  x->first = NULL;
}

static bool begins_at(const StripBuilder *x, const StripPark *park, int64_t k) {
  return park->first == x->loop && k < park->strips;
}

/* Copies strip k of what the loop is the first to need: the last op made, or NULL.  Each strip has
 * an op of its own: that no two meet is proven of constant places. */
static TileOp *park_strips(StripBuilder *x, int64_t k) {
  TileOp *last = NULL;
  for (size_t i = 0; i < x->s->parks.len; i++) {
    if (!begins_at(x, &x->s->parks.data[i], k)) continue;
    x->rounds++;
    x->first = tile_const_int(&x->b, type_scalar(DT_I32), k * x->s->strip);
    last = strip_park(x, &x->s->parks.data[i]);
  }
  x->first = NULL;
  return last;
}

/* The strips that the loop copies before it begins. */
static int64_t count_parked(const StripBuilder *x) {
  int64_t n = 0;
  for (size_t i = 0; i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    if (park->first == x->loop && park->strips > n) n = park->strips;
  }
  return n;
}

/* Is what registers keep of it loaded before the loop? */
static bool begins_whole(const StripBuilder *x, size_t park) {
  const StripPark *p = &x->s->parks.data[park];
  return p->first == x->loop && !p->early;
}

/* Copies what the loop is the first to need, and waits for that here or before each strip. */
static void build_parks(StripBuilder *x) {
  int64_t strips = count_parked(x);
  for (size_t i = 0; i < x->s->parks.len; i++)
    for (int64_t k = 0; begins_whole(x, i) && k < x->s->parks.data[i].held; k++)
      hold_strip(x, i, k);
  for (int64_t k = 0; k < strips; k++) {
    TileOp *last = park_strips(x, k);
    if (x->waits) tile_set_int(x->s->f, last, TA_ends, 1);
  }
  if (strips && !x->waits) tile_build(&x->b, TILE_PARK_WAIT, NULL, 0, NULL, 0);
}

/* Waits for the strip at hand; others may come later. */
static void wait_strip(StripBuilder *x) {
  int64_t later = x->waits - 1 - x->from;
  if (later < 0) return;
  TileOp *op = tile_build(&x->b, TILE_PARK_WAIT, NULL, 0, NULL, 0);
  tile_set_int(x->s->f, op, TA_pending, later);
}

/* May each strip be waited for by itself?  Stores to the loads' memory wait for all copies. */
static int64_t count_waits(const StripBuilder *x, const StripLoop *l) {
  int64_t n = count_parked(x);
  for (size_t i = 0; i < l->sinks.len; i++)
    if (l->sinks.data[i]->code == TILE_STORE) return 0;
  return n <= STRIP_WAITS_MOST ? n : 0;
}

/* The strip, after `from`, before which other loads are parked. */
static int64_t next_bound(const StripBuilder *x, int64_t from) {
  const Strips *s = x->s;
  int64_t to = strip_count(s);
  if (x->waits > from) to = x->waits;
  for (size_t i = 0; i < s->parks.len; i++)
    for (int k = 0; k < 2; k++) {
      int64_t bound = s->parks.data[i].strips + k * s->parks.data[i].held;
      if (bound > from && bound < to) to = bound;
    }
  return to;
}

/* Reductions take what the loop has accumulated; what waited for them follows. */
static void end_loop(Strips *s, const StripLoop *l, TileValue *const *acc) {
  for (size_t i = 0; i < l->sinks.len; i++) {
    TileOp *op = l->sinks.data[i];
    if (op->code == TILE_LOAD) continue;
    if (op->code == TILE_STORE) {
      tile_remove(op);
      continue;
    }
    memcpy(op->args, acc, op->nargs * sizeof *acc);
    acc += op->nargs;
    if (s->cluster > 1) tile_set_int(s->f, op, TA_joins, 1);
    tile_move_before(op, l->place);
  }
  for (size_t i = 0; i < l->late.len; i++) tile_move_before(l->late.data[i], l->place);
}

/* Has each strip statements of its own, since registers keep what it needs, or it is waited for? */
static bool is_unrolled(const StripBuilder *x, int64_t from) {
  if (from < x->waits || x->s->ragged) return true;
  for (size_t i = 0; i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    bool held = park->first <= x->loop && x->loop <= park->last && from >= park->strips;
    if (held && from < park->strips + park->held) return true;
  }
  return false;
}

/* Loads strip k of what this loop alone needs, before the strip before it is stored: the assembler
 * moves no load over a store. */
static void load_early(StripBuilder *x, int64_t k) {
  for (size_t i = 0; x->s->ragged && k < strip_count(x->s) && i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    if (park->first == x->loop && park->early) hold_strip(x, i, k);
  }
}

static void build_each(StripBuilder *x, const StripLoop *l, TileValue **acc, int64_t from,
                       int64_t to) {
  for (int64_t k = from; k < to; k++) {
    if (k == 0) load_early(x, 0);
    load_early(x, k + 1);
    x->from = k;
    x->first = tile_const_int(&x->b, type_scalar(DT_I32), x->from * x->s->strip);
    wait_strip(x);
    build_strip(x, l, acc, false);
  }
  x->first = NULL;
}

/* Strips of the loop that have statements of their own. */
static int64_t count_unrolled(const StripBuilder *x) {
  int64_t n = x->waits ? x->waits : 1;
  for (size_t i = 0; i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    if (park->first <= x->loop && x->loop <= park->last) n += park->held;
  }
  return n;
}

static void build_strips(StripBuilder *x, const StripLoop *l) {
  uint32_t n = count_accumulators(l);
  TileValue **acc = ARENA_ARRAY(x->s->scratch, TileValue *, n);
  x->b = (TileBuilder){x->s->f, x->s->body, l->place, l->place->span};
  x->waits = count_waits(x, l);
  x->limit = x->s->ragged                                ? x->s->limit
             : count_unrolled(x) <= STRIP_BRANCHES_MOST ? strip_loop_limit(x->s, l)
                                                        : NULL;
  build_parks(x);
  x->from = 0;
  if (n) wait_strip(x), build_strip(x, l, acc, true);
  for (int64_t from = n ? 1 : 0, to; from < strip_count(x->s); from = to) {
    to = next_bound(x, from);
    if (is_unrolled(x, from)) build_each(x, l, acc, from, to);
    else build_loop(x, l, acc, n, from, to);
  }
  end_loop(x->s, l, acc);
}

/* No row is left. */
static void drop_rows(Strips *s) {
  for (TileOp *op = s->body->last, *prev; op; op = prev) {
    prev = op->prev;
    if (op->nresults && strip_is_row(s, op->results[0])) tile_remove(op);
  }
}

void strip_build(Strips *s) {
  if (s->registers) s->f->options.maxnreg = s->registers;
  StripBuilder x = {.s = s};
  x.copy = ARENA_ARRAY(s->scratch, TileValue *, s->nvalues);
  x.round = ARENA_ARRAY(s->scratch, uint32_t, s->nvalues);
  x.held = ARENA_ARRAY(s->scratch, TileValue **, s->parks.len);
  for (size_t i = 0; i < s->parks.len; i++)
    x.held[i] = ARENA_ARRAY(s->scratch, TileValue *, (size_t)s->parks.data[i].held);
  if (s->cluster > 1) x.part = strip_build_blocks(s);
  if (s->shift) strip_build_shift(s);
  for (x.loop = 0; x.loop < s->loops.len; x.loop++) build_strips(&x, s->loops.data[x.loop]);
  drop_rows(s);
  strip_build_pairs(s);
}
