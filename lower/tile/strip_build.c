/* The loops of pass strip_rows.  The first strip of a loop with reductions comes before it, and its
 * elements are the first accumulators. */
#include <math.h>
#include <string.h>

#include "lower/tile/strip.h"

typedef struct {
  Strips *s;
  TileBuilder b;
  TileValue *first; /* element of the strip at hand, in the block's part of the row; NULL: 0 */
  TileValue *part;  /* where that begins; NULL: the block has the whole row */
  TileValue *limit; /* columns before it have a true mask in this loop; NULL: there is none */
  bool full;        /* all columns of the strip at hand are before it, ... */
  bool empty;       /* ... or none is */
  int64_t from;     /* the loop's first strip */
  size_t loop;      /* number of the loop at hand */
  int64_t waits;    /* its strips, the first ones, that are waited for one by one */
  TileValue **copy; /* by value id: the strip of a row ... */
  uint32_t *round;  /* ... of that round */
  uint32_t rounds;
  TileValue ***held; /* by park and strip after the parked ones: what registers keep */
} Builder;

static Type strip_type(const Strips *s, Type t) {
  for (int a = 0; a < t.rank; a++)
    if (t.shape[a] == s->row) t.shape[a] = (int32_t)s->strip;
  return t;
}

/* The op on other operands, at the builder's place. */
static TileOp *copy_op(Builder *x, const TileOp *op, TileValue *const *args, const Type *types) {
  Arena *a = x->s->f->arena;
  x->b.span = op->span;
  TileOp *made = tile_build(&x->b, op->code, args, op->nargs, types, op->nresults);
  made->nattrs = op->nattrs;
  made->attrs = ARENA_ARRAY(a, TileAttr, op->nattrs);
  if (op->nattrs) memcpy(made->attrs, op->attrs, op->nattrs * sizeof *made->attrs);
  for (uint32_t i = 0; i < op->nresults; i++) made->results[i]->name = op->results[i]->name;
  return made;
}

/* Elements from the strip's first one on, or from one before it. */
static TileValue *strip_range(Builder *x, const TileOp *op, TileValue *before) {
  Type t = strip_type(x->s, op->results[0]->type);
  int64_t start = tile_int(op, TA_start, 0);
  TileOp *made = copy_op(x, op, NULL, &t);
  tile_set_int(x->s->f, made, TA_end, start + x->s->strip);
  TileValue *begin = x->first ? x->first : x->part, *sum = made->results[0];
  if (x->first && x->part)
    begin = tile_build1(&x->b, TILE_ADD, begin->type, x->part, x->first, NULL);
  if (begin && before && !before->type.rank)
    begin = tile_build1(&x->b, TILE_SUB, begin->type, begin, before, NULL), before = NULL;
  if (begin) {
    TileValue *all = tile_build1(&x->b, TILE_SPLAT, type_like(begin->type, t), begin, NULL, NULL);
    sum = tile_build1(&x->b, TILE_ADD, t, sum, all, NULL);
  }
  if (!before) return sum;
  TileCode spread = before->type.rank ? TILE_BROADCAST : TILE_SPLAT;
  TileValue *less = tile_build1(&x->b, spread, type_like(before->type, t), before, NULL, NULL);
  return tile_build1(&x->b, TILE_SUB, t, sum, less, NULL);
}

/* The park that has the strip at hand of a load; NULL if none has. */
static const StripPark *park_of(const Builder *x, const TileOp *load) {
  for (size_t i = 0; i < x->s->parks.len; i++)
    if (x->s->parks.data[i].load == load && x->from < x->s->parks.data[i].strips)
      return &x->s->parks.data[i];
  return NULL;
}

/* The strip at hand of a load, if registers keep it; else NULL. */
static TileValue *held_strip(const Builder *x, const TileOp *load) {
  for (size_t i = 0; i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    int64_t k = x->from - park->strips;
    if (park->load == load && k >= 0 && k < park->held) return x->held[i][k];
  }
  return NULL;
}

static void set_slot(const Builder *x, const StripPark *park, TileOp *op) {
  tile_set_int(x->s->f, op, TA_slot, park - x->s->parks.data);
  tile_set_int(x->s->f, op, TA_count, park->strips * x->s->strip);
}

static TileValue *first_element(Builder *x) {
  return x->first ? x->first : tile_const_int(&x->b, type_scalar(DT_I32), 0);
}

static TileValue *strip_of(Builder *x, TileValue *v);

/* Is the mask true in all columns of the strip at hand? */
static bool is_full(const Builder *x, const TileValue *v) {
  return x->full && v && strip_limit(x->s, v) == x->limit;
}

/* Is the mask false in all columns of the strip at hand? */
static bool is_empty(const Builder *x, const TileValue *v) {
  while (x->empty && v) {
    if (strip_limit(x->s, v) == x->limit) return true;
    const TileOp *op = v->def;
    if (!op || op->code != TILE_AND) return false;
    if (strip_limit(x->s, op->args[0]) == x->limit) return true;
    v = op->args[1];
  }
  return false;
}

/* Parked elements are +0 where the mask is false. */
static bool is_plus_zero(const TileValue *v) {
  const TileOp *op = v->def;
  while (op && (op->code == TILE_SPLAT || op->code == TILE_BROADCAST)) op = op->args[0]->def;
  const TileAttr *value = op ? tile_attr(op, TA_value) : NULL;
  bool negative = value && dtype_is_float((DType)v->type.dtype) && signbit(value->f);
  return tile_is_zero(v) && !negative;
}

/* The parked strip, with what the load has where its mask is false. */
static TileValue *unpark_strip(Builder *x, const StripPark *park) {
  TileValue *const *args = park->load->args;
  Type t = strip_type(x->s, park->load->results[0]->type);
  bool full = is_full(x, args[1]);
  TileValue *mask = full ? NULL : strip_of(x, args[1]);
  TileValue *other = full ? NULL : strip_of(x, args[2]);
  x->b.span = park->load->span;
  TileValue *v = tile_build1(&x->b, TILE_UNPARK, t, first_element(x), NULL, NULL);
  set_slot(x, park, v->def);
  v->name = park->load->results[0]->name;
  if (!mask || !other || is_plus_zero(args[2])) return v;
  return tile_build1(&x->b, TILE_SELECT, t, mask, v, other);
}

static TileOp *park_strip(Builder *x, const StripPark *park) {
  TileValue *args[3] = {first_element(x)};
  for (int i = 0; i < 2; i++) args[i + 1] = strip_of(x, park->load->args[i]);
  x->b.span = park->load->span;
  TileOp *op = tile_build(&x->b, TILE_PARK, args, args[2] ? 3 : 2, NULL, 0);
  set_slot(x, park, op);
  return op;
}

/* Notes where the strip at hand of a ragged row is.  The first one may begin before the row. */
static void set_place(Builder *x) {
  x->full = x->s->ragged && x->from < x->s->full && !(x->s->shift && !x->from);
  x->empty = x->s->ragged && x->from >= x->s->live;
}

/* Could a thread take several elements at once, but for the mask? */
static bool has_vectors(const Builder *x, const TileValue *pointer) {
  unsigned bytes = dtype_bytes((DType)pointer->type.elem);
  for (int a = 0; a < pointer->type.rank; a++)
    if (pointer->type.shape[a] == x->s->row)
      return axis_vector(x->s->axis, pointer, NULL, a, bytes, x->s->strip) > 1;
  return false;
}

/* An access to a strip that is full needs no mask.  The mask of a ragged row stays where there
 * would be vectors else: these would part the elements among threads so that other accesses would
 * not have neighbours in a warp. */
static bool is_unmasked(const Builder *x, const TileValue *pointer, const TileValue *mask) {
  return is_full(x, mask) && !(x->s->by_elements && has_vectors(x, pointer));
}

/* The value of a load whose mask is false. */
static TileValue *unloaded_strip(Builder *x, const TileOp *load) {
  if (load->args[2]) return strip_of(x, load->args[2]);
  Type t = strip_type(x->s, load->results[0]->type);
  return dtype_is_float((DType)t.dtype) ? tile_const_float(&x->b, t, 0)
                                        : tile_const_int(&x->b, t, 0);
}

/* Strips of an address that begin at an even element; NULL: it is no such address. */
static TileValue *even_strip(Builder *x, const TileValue *v) {
  Type t = strip_type(x->s, v->type), index = type_like(type_scalar(DT_I32), t);
  TileValue *row = strip_even_row(x->s, &x->b, v, t);
  if (!row) return NULL;
  const TileOp *op = v->def;
  if (t.rank > 1) op = op->args[0]->def; /* the offset is added last */
  const TileOp *columns = op->args[1]->def, *range = columns;
  if (t.rank > 1) range = columns->args[0]->def;
  TileValue *at = strip_range(x, range, NULL);
  if (t.rank > 1) at = copy_op(x, columns, &at, &index)->results[0];
  return tile_build1(&x->b, TILE_PTR_ADD, t, row, at, NULL);
}

/* The mask of the first strip of columns that are shifted: from the row's begin to its end. */
static TileValue *first_mask(Builder *x, TileValue *v) {
  TileValue *columns = strip_of(x, v->def->args[0]), *limit = strip_of(x, v->def->args[1]);
  Type t = strip_type(x->s, v->type);
  TileValue *begin = tile_const_int(&x->b, columns->type, 0);
  TileValue *inside = tile_build1(&x->b, TILE_GE, t, columns, begin, NULL);
  if (x->s->full) return inside;
  TileValue *before = tile_build1(&x->b, TILE_LT, t, columns, limit, NULL);
  return tile_build1(&x->b, TILE_AND, t, inside, before, NULL);
}

/* The op on strips.  A mask that is true, or false, in all columns is none. */
static TileValue *strip_of_op(Builder *x, TileValue *v) {
  const TileOp *op = v->def;
  Type t = strip_type(x->s, v->type);
  TileValue *even = even_strip(x, v);
  if (even) return even;
  if (x->s->shift && !x->from && strip_limit(x->s, v) == x->limit) return first_mask(x, v);
  if (op->code == TILE_SELECT && is_empty(x, op->args[0])) return strip_of(x, op->args[2]);
  if (v->type.dtype == DT_I1 && is_empty(x, v)) return tile_const_int(&x->b, t, 0);
  bool picks = op->code == TILE_SELECT && is_full(x, op->args[0]);
  bool unmasked = op->code == TILE_LOAD && is_unmasked(x, op->args[0], op->args[1]);
  if (picks) return strip_of(x, op->args[1]);
  if (is_full(x, v) && !x->s->by_elements) return tile_const_int(&x->b, t, 1);
  for (int i = 0; op->code == TILE_AND && i < 2; i++)
    if (is_full(x, op->args[i])) return strip_of(x, op->args[1 - i]);
  TileValue **args = ARENA_ARRAY(x->s->scratch, TileValue *, op->nargs);
  for (uint32_t i = 0; i < op->nargs && !(unmasked && i); i++) args[i] = strip_of(x, op->args[i]);
  return copy_op(x, op, args, &t)->results[0];
}

/* The strip of a row; other values, and none, are what they are. */
static TileValue *strip_of(Builder *x, TileValue *v) {
  if (!strip_is_row(x->s, v)) return v;
  if (x->round[v->id] == x->rounds) return x->copy[v->id];
  const TileOp *op = v->def;
  TileValue *made;
  const StripPark *park = op->code == TILE_LOAD ? park_of(x, op) : NULL;
  TileValue *held = op->code == TILE_LOAD ? held_strip(x, op) : NULL;
  if (op->code == TILE_ARANGE) {
    made = strip_range(x, op, x->s->odd);
  } else if (op->code == TILE_LOAD && is_empty(x, op->args[1])) {
    made = unloaded_strip(x, op);
  } else if (held) {
    made = held;
  } else if (park) {
    made = unpark_strip(x, park);
  } else {
    made = strip_of_op(x, v);
  }
  x->round[v->id] = x->rounds;
  return x->copy[v->id] = made;
}

/* ---- accumulators ---- */

/* Combines accumulators with the elements of a strip, as the region combines two elements. */
static void combine_region(Builder *x, const TileOp *reduce, TileValue **acc,
                           TileValue *const *with) {
  const TileBlock *region = reduce->regions[0];
  uint32_t n = reduce->nargs;
  for (uint32_t i = 0; i < n; i++) {
    x->copy[region->params[i]->id] = acc[i];
    x->copy[region->params[n + i]->id] = with[i];
  }
  for (const TileOp *op = region->first; op; op = op->next) {
    TileValue **args = ARENA_ARRAY(x->s->scratch, TileValue *, op->nargs);
    for (uint32_t i = 0; i < op->nargs; i++) {
      args[i] = x->copy[op->args[i]->id];
      if (op->code == TILE_YIELD) acc[i] = args[i];
    }
    if (op->code == TILE_YIELD) return;
    Type t = type_like(op->results[0]->type, acc[0]->type);
    x->copy[op->results[0]->id] = copy_op(x, op, args, &t)->results[0];
  }
}

static void combine_strip(Builder *x, const TileOp *reduce, TileValue **acc,
                          TileValue *const *with) {
  Name name = tile_str(reduce, TA_combine, NULL);
  x->b.span = reduce->span;
  if (!name) combine_region(x, reduce, acc, with);
  else
    acc[0] =
        tile_build1(&x->b, tile_op_parse(name, strlen(name)), acc[0]->type, acc[0], with[0], NULL);
}

/* ---- loops ---- */

/* The statements of a strip; `acc`: accumulators, none before the first strip. */
static void build_statements(Builder *x, const StripLoop *l, TileValue **acc, bool first) {
  x->rounds++;
  for (size_t i = 0; i < l->sinks.len; i++) {
    TileOp *op = l->sinks.data[i];
    if (op->code == TILE_LOAD) {
      if (!park_of(x, op)) strip_of(x, op->results[0]);
      continue;
    }
    if (op->code == TILE_STORE && is_empty(x, op->args[2])) continue;
    TileValue **args = ARENA_ARRAY(x->s->scratch, TileValue *, op->nargs);
    bool unmasked = op->code == TILE_STORE && is_unmasked(x, op->args[0], op->args[2]);
    for (uint32_t k = 0; k < op->nargs; k++)
      args[k] = unmasked && k == 2 ? NULL : strip_of(x, op->args[k]);
    if (op->code == TILE_STORE) {
      TileOp *store = copy_op(x, op, args, NULL);
      if (strip_is_injective(x->s, x->s->axis, op->args[0]))
        tile_set_int(x->s->f, store, TA_part, (int64_t)(x->loop * STRIP_PAIRS_MOST + i));
      continue;
    }
    if (first) memcpy(acc, args, op->nargs * sizeof *acc);
    else combine_strip(x, op, acc, args);
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
static TileValue *is_before_limit(Builder *x) {
  Type t = x->limit->type, i32 = type_scalar(DT_I32);
  TileValue *end = tile_const_int(&x->b, i32, x->s->strip);
  TileValue *const starts[] = {x->first, x->part};
  for (int i = 0; i < 2; i++)
    if (starts[i]) end = tile_build1(&x->b, TILE_ADD, i32, end, starts[i], NULL);
  if (t.dtype != DT_I32) end = tile_build1(&x->b, TILE_CAST, t, end, NULL, NULL);
  return tile_build1(&x->b, TILE_LE, type_scalar(DT_I1), end, x->limit, NULL);
}

/* Most strips of a row with a mask are before its end: they have statements without it. */
static void build_strip(Builder *x, const StripLoop *l, TileValue **acc, bool first) {
  if (!x->limit || x->s->ragged) {
    set_place(x);
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
static Loop open_loop(Builder *x, TileValue **acc, uint32_t n, int64_t from, int64_t to) {
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

static void close_loop(Builder *x, const Loop *loop, TileValue **acc, uint32_t n) {
  tile_build(&x->b, TILE_YIELD, acc, n, NULL, 0);
  x->b = loop->outer;
  x->first = NULL;
  if (n) memcpy(acc, loop->op->results, n * sizeof *acc);
}

static void build_loop(Builder *x, const StripLoop *l, TileValue **acc, uint32_t n, int64_t from,
                       int64_t to) {
  Loop loop = open_loop(x, acc, n, from, to);
  build_strip(x, l, acc, false);
  close_loop(x, &loop, acc, n);
}

/* Loads a strip that registers keep. */
static void hold_strip(Builder *x, size_t park, int64_t k) {
  const StripPark *p = &x->s->parks.data[park];
  x->rounds++;
  x->from = p->strips + k;
  set_place(x);
  x->first = tile_const_int(&x->b, type_scalar(DT_I32), x->from * x->s->strip);
  x->held[park][k] = strip_of(x, p->load->results[0]);
  x->first = NULL;
}

static bool begins_at(const Builder *x, const StripPark *park, int64_t k) {
  return park->first == x->loop && k < park->strips;
}

/* Copies strip k of what the loop is the first to need: the last op made, or NULL.  Each strip has
 * an op of its own: that no two meet is proven of constant places. */
static TileOp *park_strips(Builder *x, int64_t k) {
  TileOp *last = NULL;
  for (size_t i = 0; i < x->s->parks.len; i++) {
    if (!begins_at(x, &x->s->parks.data[i], k)) continue;
    x->rounds++;
    x->first = tile_const_int(&x->b, type_scalar(DT_I32), k * x->s->strip);
    last = park_strip(x, &x->s->parks.data[i]);
  }
  x->first = NULL;
  return last;
}

/* The strips that the loop copies before it begins. */
static int64_t count_parked(const Builder *x) {
  int64_t n = 0;
  for (size_t i = 0; i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    if (park->first == x->loop && park->strips > n) n = park->strips;
  }
  return n;
}

/* Is what registers keep of it loaded before the loop? */
static bool begins_whole(const Builder *x, size_t park) {
  const StripPark *p = &x->s->parks.data[park];
  return p->first == x->loop && !p->early;
}

/* Copies what the loop is the first to need, and waits for that here or before each strip. */
static void build_parks(Builder *x) {
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
static void wait_strip(Builder *x) {
  int64_t later = x->waits - 1 - x->from;
  if (later < 0) return;
  TileOp *op = tile_build(&x->b, TILE_PARK_WAIT, NULL, 0, NULL, 0);
  tile_set_int(x->s->f, op, TA_pending, later);
}

/* May each strip be waited for by itself?  Stores to the loads' memory wait for all copies. */
static int64_t count_waits(const Builder *x, const StripLoop *l) {
  int64_t n = count_parked(x);
  for (size_t i = 0; i < l->sinks.len; i++)
    if (l->sinks.data[i]->code == TILE_STORE) return 0;
  return n <= STRIP_WAITS_MOST ? n : 0;
}

/* The strip, after `from`, before which other loads are parked. */
static int64_t next_bound(const Builder *x, int64_t from) {
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
static bool is_unrolled(const Builder *x, int64_t from) {
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
static void load_early(Builder *x, int64_t k) {
  for (size_t i = 0; x->s->ragged && k < strip_count(x->s) && i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    if (park->first == x->loop && park->early) hold_strip(x, i, k);
  }
}

static void build_each(Builder *x, const StripLoop *l, TileValue **acc, int64_t from, int64_t to) {
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
static int64_t count_unrolled(const Builder *x) {
  int64_t n = x->waits ? x->waits : 1;
  for (size_t i = 0; i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    if (park->first <= x->loop && x->loop <= park->last) n += park->held;
  }
  return n;
}

static void build_strips(Builder *x, const StripLoop *l) {
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
  Builder x = {.s = s};
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
