/* Pass split_rows: the thread blocks of a cluster share the rows that a loop takes one by one.
 *
 * A program that adds up what it makes of each row, as for gradients of weights, carries rows of
 * sums through its loop; weights are a row that it needs in each iteration.  If registers of one
 * block can't hold these beside the row at hand, each block of a cluster has a part of all rows:
 * every tile that is a row becomes that part, and reductions of rows join the parts.  Then rows
 * are loaded once.
 *
 * Blocks meet only where they join reductions, so one may be an iteration ahead of another: the
 * rows that iterations store must be apart. */
#include <string.h>

#include "lower/passes.h"
#include "lower/tile/strip.h"

enum {
  SPLIT_OTHERS = 28, /* registers for addresses and what is computed */
  REGISTER_BITS = 32
};

typedef struct {
  Strips *s;
  const AxisInfo *axis;
  uint32_t *last; /* by value id: the number of its last use in the loop */
  bool *loaded;   /* by value id: it depends on a loaded value */
  TileOp *loop;
  bool refused;
} Split;

/* ---- which kernels ---- */

/* Prefixes are sums of the blocks before this one. */
static bool is_running_sum(const TileOp *op) {
  Name combine = op->code == TILE_SCAN ? tile_str(op, TA_combine, NULL) : NULL;
  if (!combine || strcmp(combine, "add") || tile_int(op, TA_reverse, 0) || op->nargs > 1)
    return false;
  unsigned bytes = dtype_bytes((DType)op->args[0]->type.dtype);
  return op->args[0]->type.rank == 1 && (bytes == 4 || bytes == 8);
}

/* The length of the body's running sums; 0: there are none. */
static int64_t longest_summed(const TileFunc *f) {
  int64_t n = 0;
  for (const TileOp *op = f->body->first; op; op = op->next)
    if (is_running_sum(op) && type_numel(op->args[0]->type) > n)
      n = type_numel(op->args[0]->type);
  return n;
}

/* The loop of the body, if that has one, whose iterations reduce rows. */
static TileOp *find_loop(Strips *s) {
  s->row = strip_loop_row(s->f->body);
  return s->row > 1 ? strip_find_loop(s->f->body) : NULL;
}

/* The number of the loop's iteration, perhaps widened. */
static bool is_index(const Split *x, const TileValue *v) {
  while (v->def && v->def->code == TILE_CAST && dtype_is_int((DType)v->def->args[0]->type.dtype))
    v = v->def->args[0];
  return v == x->loop->regions[0]->params[0];
}

/* Stores of two iterations are apart: of row `index * stride` to columns before the stride. */
static bool stores_rows_apart(const Split *x, const TileOp *store) {
  const TileOp *at = store->args[0]->def, *all, *row, *times;
  if (!at || at->code != TILE_PTR_ADD || !strip_is_columns(x->s, at->args[1])) return false;
  all = at->args[0]->def;
  if (!all || all->code != TILE_SPLAT) return false;
  row = all->args[0]->def;
  if (!row || row->code != TILE_PTR_ADD || row->args[0]->def) return false;
  times = row->args[1]->def;
  if (!times || times->code != TILE_MUL) return false;
  for (int i = 0; i < 2; i++) {
    const TileValue *stride = times->args[1 - i];
    int64_t n;
    if (!is_index(x, times->args[i])) continue;
    if (tile_const_value(stride, &n)) return n >= x->s->row;
    return store->args[2] && strip_limit(x->s, store->args[2]) == stride;
  }
  return false;
}

static bool has_other_tiles(const Split *x, const TileOp *op) {
  bool rows = false, others = false;
  for (uint32_t i = 0; i < op->nargs + op->nresults; i++) {
    const TileValue *v = i < op->nargs ? op->args[i] : op->results[i - op->nargs];
    if (!v) continue;
    rows |= strip_is_row(x->s, v);
    others |= !strip_is_row(x->s, v) && type_numel(v->type) > 1;
  }
  return rows && others;
}

/* Threads exchange what a warp has of a reduction. */
static bool can_join(const TileOp *reduce) {
  unsigned bytes = dtype_bytes((DType)reduce->args[0]->type.dtype);
  return tile_str(reduce, TA_combine, NULL) && reduce->nargs == 1 && (bytes == 4 || bytes == 8) &&
         type_numel(reduce->results[0]->type) == 1;
}

static bool is_row_op(const Split *x, const TileOp *op) {
  if (has_other_tiles(x, op)) return false;
  switch (op->code) {
    case TILE_ARANGE:
    case TILE_SPLAT:
    case TILE_CONST:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST:
    case TILE_LOAD:
    case TILE_YIELD: return true;
    case TILE_FOR: return op == x->loop;
    case TILE_RESHAPE: return strip_is_row(x->s, op->args[0]);
    case TILE_STORE: return op->parent == x->s->f->body || stores_rows_apart(x, op);
    case TILE_REDUCE: return can_join(op);
    case TILE_SCAN: return is_running_sum(op) && op->parent == x->s->f->body;
    default: return (tile_op_flags(op->code) & TILE_ELEM) != 0;
  }
}

static bool has_rows(const Strips *s, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && strip_is_row(s, op->args[i])) return true;
  for (uint32_t i = 0; i < op->nresults; i++)
    if (strip_is_row(s, op->results[i])) return true;
  return false;
}

/* Rows are in the body and in the loop alone. */
static void check_op(TileOp *op, void *ctx) {
  Split *x = ctx;
  const TileBlock *body = x->s->f->body, *inner = x->loop ? x->loop->regions[0] : body;
  if (!has_rows(x->s, op)) return;
  x->refused |= !is_row_op(x, op) || (op->parent != body && op->parent != inner);
}

/* Loads of the next row may come before stores of this one (pass load_ahead) if a launch finds both
 * apart. */
static void assume_rows_apart(Split *x) {
  const TileBlock *inner = x->loop ? x->loop->regions[0] : NULL;
  for (const TileOp *a = inner ? inner->first : NULL; a; a = a->next)
    for (const TileOp *b = inner->first; b && a->code == TILE_STORE; b = b->next) {
      if (b->code != TILE_LOAD || !strip_is_row(x->s, b->results[0])) continue;
      TileValue *from = strip_root(b->args[0]), *to = strip_root(a->args[0]);
      if (from && to && from != to) x->refused |= !strip_assume_apart(x->s, to, from, false);
    }
}

/* ---- registers ---- */

static void note_loaded(TileOp *op, void *ctx) {
  Split *x = ctx;
  bool loaded = op->code == TILE_LOAD;
  for (uint32_t i = 0; i < op->nargs; i++) loaded |= op->args[i] && x->loaded[op->args[i]->id];
  for (uint32_t i = 0; i < op->nresults; i++) x->loaded[op->results[i]->id] = loaded;
}

static int64_t bits_of(const TileValue *v) { return dtype_bits((DType)v->type.dtype); }

/* Bits an element of the loaded rows that are made before the loop and used in it, and of those
 * that it carries. */
static int64_t bits_around(const Split *x) {
  int64_t bits = 0;
  for (const TileOp *op = x->s->f->body->first; op != x->loop; op = op->next)
    for (uint32_t i = 0; i < op->nresults; i++) {
      const TileValue *v = op->results[i];
      if (strip_is_row(x->s, v) && x->loaded[v->id] && x->last[v->id]) bits += bits_of(v);
    }
  for (uint32_t i = 0; i < x->loop->nresults; i++)
    if (strip_is_row(x->s, x->loop->results[i])) bits += bits_of(x->loop->results[i]);
  return bits;
}

/* Bits an element of the loaded rows that an iteration makes before the reduction and uses after
 * it. */
static int64_t bits_held(const Split *x, const TileOp *reduce, uint32_t number) {
  int64_t bits = 0;
  for (const TileOp *op = reduce->prev; op; op = op->prev)
    for (uint32_t i = 0; i < op->nresults; i++) {
      const TileValue *v = op->results[i];
      bool held = strip_is_row(x->s, v) && x->loaded[v->id] && x->last[v->id] > number;
      if (held) bits += bits_of(v);
    }
  return bits;
}

/* Notes which rows are loaded, and the number of the last op of the block that has each value. */
static void note_uses(Split *x, const TileBlock *block) {
  uint32_t number = 1;
  tile_walk(x->s->f->body, note_loaded, x);
  for (const TileOp *op = block->first; op; op = op->next, number++)
    for (uint32_t i = 0; i < op->nargs; i++)
      if (op->args[i]) x->last[op->args[i]->id] = number;
}

/* Bits an element that registers hold; 0: iterations have no row in common. */
static int64_t bits_of_loop(Split *x) {
  const TileBlock *inner = x->loop->regions[0];
  int64_t most = 0;
  uint32_t number = 1;
  note_uses(x, inner);
  for (const TileOp *op = inner->first; op; op = op->next, number++) {
    if (op->code != TILE_REDUCE) continue;
    arena_work(x->s->scratch, number);
    int64_t bits = bits_held(x, op, number);
    if (bits > most) most = bits;
  }
  int64_t around = bits_around(x);
  return around ? most + around : 0;
}

/* Bits an element that registers hold while the body sums up rows. */
static int64_t bits_of_sums(Split *x) {
  const TileBlock *body = x->s->f->body;
  int64_t most = 0;
  uint32_t number = 1;
  note_uses(x, body);
  for (const TileOp *op = body->first; op; op = op->next, number++) {
    if (op->code != TILE_SCAN || !strip_is_row(x->s, op->args[0])) continue;
    arena_work(x->s->scratch, number);
    int64_t bits = bits_held(x, op, number) + bits_of(op->results[0]);
    if (bits > most) most = bits;
  }
  return most;
}

/* The fewest blocks whose registers, at most so many a thread, hold the rows; 0: it stays as it
 * is. */
static int blocks_for(const Strips *s, int64_t bits, int64_t most) {
  int warps = options_warps(&s->f->options);
  int64_t threads = (int64_t)warps * s->u->machine->lanes;
  int64_t room = REGISTER_FILE / threads;
  if (!bits) return 0;
  if (s->f->options.maxnreg && s->f->options.maxnreg < room) room = s->f->options.maxnreg;
  if (room > s->u->machine->regs) room = s->u->machine->regs;
  if (room > most) room = most;
  for (int n = 1; n <= TILE_CLUSTER_MOST && n * warps <= NEST_CLUSTER_WARPS; n *= 2) {
    int64_t each = s->row / n / threads;
    if (s->row % (n * threads)) return 0;
    if (each * bits / REGISTER_BITS + SPLIT_OTHERS <= room) return n > 1 ? n : 0;
  }
  return 0;
}

/* Blocks that are alone on a multiprocessor wait for each other's sums: two lose more than a few
 * spilled registers cost.  On an H200, 65,536 elements: two 171 us, four that share multiprocessors
 * 156, one that spills 164; 131,072: four 212, eight that share them 411. */
static int blocks_of_sums(Split *x) {
  enum { FOUR = 4, SHARED = 64 }; /* SHARED: registers of 512 threads, twice */
  int64_t bits = bits_of_sums(x);
  if (blocks_for(x->s, bits, SHARED) == FOUR) return FOUR;
  int blocks = blocks_for(x->s, bits, INT64_MAX);
  return blocks >= FOUR ? blocks : 0;
}

/* ---- the parts ---- */

static void cut(const Strips *s, Type *t) {
  for (int a = 0; a < t->rank; a++)
    if (t->shape[a] == s->row) t->shape[a] = (int32_t)(s->row / s->cluster);
}

/* The columns of the part: those of the first one, and where the part begins. */
static void move_columns(Strips *s, TileOp *op, TileValue *part, TileValue **map) {
  TileValue *v = op->results[0];
  TileBuilder b = {s->f, op->parent, op->next, op->span};
  tile_set_int(s->f, op, TA_end, tile_int(op, TA_start, 0) + s->row / s->cluster);
  TileValue *all = tile_build1(&b, TILE_SPLAT, v->type, part, NULL, NULL);
  TileValue *sum = tile_build1(&b, TILE_ADD, v->type, v, all, NULL);
  map[v->id] = sum;
}

typedef struct {
  Strips *s;
  VEC(TileOp *) ranges;
} Cutting;

static void cut_op(TileOp *op, void *ctx) {
  Cutting *c = ctx;
  Strips *s = c->s;
  bool row = op->nargs && op->args[0] && strip_is_row(s, op->args[0]);
  if (op->code == TILE_REDUCE && row) tile_set_int(s->f, op, TA_joins, 1);
  if (op->code == TILE_ARANGE && strip_is_row(s, op->results[0]))
    vec_push(s->scratch, &c->ranges, op);
}

/* Rows are known by their lengths, so they are cut after all else has been found. */
static void cut_values(TileOp *op, void *ctx) {
  const Cutting *c = ctx;
  for (uint32_t i = 0; i < op->nresults; i++)
    if (strip_is_row(c->s, op->results[i])) cut(c->s, &op->results[i]->type);
  for (uint32_t r = 0; op->code == TILE_FOR && r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++)
      if (strip_is_row(c->s, op->regions[r]->params[i]))
        cut(c->s, &op->regions[r]->params[i]->type);
}

/* ---- reductions that blocks join together ---- */

static bool is_before(const TileOp *a, const TileOp *b) {
  for (b = b->prev; b; b = b->prev)
    if (b == a) return true;
  return false;
}

static bool joins(const TileOp *op) {
  return op->code == TILE_REDUCE && tile_int(op, TA_joins, 0);
}

/* May the later reduction of a row be where the first one is? */
static bool joins_with(const TileOp *first, const TileOp *later) {
  if (!joins(later) || later->results[0]->type.rank) return false;
  const TileOp *def = later->args[0]->def;
  return type_same_shape(first->args[0]->type, later->args[0]->type) &&
         (!def || def->parent != first->parent || is_before(def, first));
}

static void combine_each(Strips *s, TileOp *both, TileOp *const *ops, uint32_t n) {
  enum { PAIRS = 2 };
  Type *types = ARENA_ARRAY(s->scratch, Type, PAIRS * n);
  Name *names = ARENA_ARRAY(s->scratch, Name, PAIRS * n);
  TileValue **results = ARENA_ARRAY(s->scratch, TileValue *, n);
  for (uint32_t i = 0; i < PAIRS * n; i++) types[i] = ops[i % n]->results[0]->type;
  TileBlock *region = tile_add_region(s->f, both);
  tile_block_params(s->f, region, types, names, PAIRS * n);
  TileBuilder b = {s->f, region, NULL, both->span};
  for (uint32_t i = 0; i < n; i++) {
    Name combine = tile_str(ops[i], TA_combine, NULL);
    results[i] = tile_build1(&b, tile_op_parse(combine, strlen(combine)), types[i],
                             region->params[i], region->params[n + i], NULL);
  }
  tile_build(&b, TILE_YIELD, results, n, NULL, 0);
}

/* Reductions that do not need each other become one, for which blocks wait once. */
static void join_reductions(Strips *s, TileOp *first) {
  enum { MOST = TILE_CLUSTER_MOST };
  TileOp *ops[MOST] = {first};
  TileValue *args[MOST] = {first->args[0]};
  Type types[MOST] = {first->results[0]->type};
  uint32_t n = 1;
  if (types[0].rank) return;
  for (TileOp *op = first->next; op && n < MOST; op = op->next) {
    if (!joins_with(first, op)) continue;
    args[n] = op->args[0];
    types[n] = op->results[0]->type;
    ops[n++] = op;
  }
  if (n < 2) return;
  TileBuilder b = {s->f, first->parent, first, first->span};
  TileOp *both = tile_build(&b, TILE_REDUCE, args, n, types, n);
  tile_set_int(s->f, both, TA_axis, tile_int(first, TA_axis, 0));
  tile_set_int(s->f, both, TA_joins, 1);
  combine_each(s, both, ops, n);
  TileValue **map = ARENA_ARRAY(s->scratch, TileValue *, s->f->nvalues);
  for (uint32_t i = 0; i < n; i++) map[ops[i]->results[0]->id] = both->results[i];
  tile_substitute(s->f, map);
  for (uint32_t i = 0; i < n; i++) tile_remove(ops[i]);
}

static TileOp *next_single(TileOp *op) {
  while (op && (!joins(op) || op->nargs > 1)) op = op->next;
  return op;
}

static void join_all_reductions(Strips *s, TileBlock *body) {
  for (TileOp *op = next_single(body->first), *next; op; op = next) {
    TileOp *before = op->prev;
    join_reductions(s, op);
    next = next_single(before ? before->next : body->first);
    if (next == op) next = next_single(op->next);
  }
}

/* ---- running sums ---- */

/* -0, to which any float may be added. */
static TileValue *nothing(TileBuilder *b, Type t) {
  return dtype_is_float((DType)t.dtype) ? tile_const_float(b, t, -0.0) : tile_const_int(b, t, 0);
}

/* The part of a block up to that rank, nothing of others. */
static TileValue *part_up_to(TileBuilder *b, const TileOp *scan, TileValue *rank, int last) {
  TileValue *x = scan->args[0];
  Type i1 = type_scalar(DT_I1), t = x->type;
  TileValue *end = tile_const_int(b, rank->type, last);
  TileValue *among = tile_build1(b, TILE_LE, i1, rank, end, NULL);
  TileValue *all = tile_build1(b, TILE_SPLAT, type_like(i1, t), among, NULL, NULL);
  return tile_build1(b, TILE_SELECT, t, all, x, nothing(b, t));
}

static TileValue *sum_of_blocks(TileBuilder *b, TileValue *part) {
  Type scalar = type_scalar((DType)part->type.dtype);
  TileOp *sum = tile_build(b, TILE_REDUCE, &part, 1, &scalar, 1);
  tile_set_int(b->fn, sum, TA_axis, 0);
  tile_set_str(b->fn, sum, TA_combine, "add");
  tile_set_int(b->fn, sum, TA_joins, 1);
  return sum->results[0];
}

/* Each block adds the sum of those before it. */
static void join_sums(Strips *s, TileOp *scan, TileValue *rank) {
  TileBuilder b = {s->f, scan->parent, scan, scan->span};
  TileValue *sums[TILE_CLUSTER_MOST], *result = scan->results[0];
  for (int i = 0; i + 1 < s->cluster; i++) sums[i] = part_up_to(&b, scan, rank, i);
  for (int i = 0; i + 1 < s->cluster; i++) sums[i] = sum_of_blocks(&b, sums[i]);
  Type scalar = type_scalar((DType)result->type.dtype), i1 = type_scalar(DT_I1);
  b.before = scan->next;
  TileValue *before = nothing(&b, scalar);
  for (int i = 0; i + 1 < s->cluster; i++) {
    TileValue *number = tile_const_int(&b, rank->type, i + 1);
    TileValue *here = tile_build1(&b, TILE_EQ, i1, rank, number, NULL);
    before = tile_build1(&b, TILE_SELECT, scalar, here, sums[i], before);
  }
  TileValue *all = tile_build1(&b, TILE_SPLAT, result->type, before, NULL, NULL);
  TileValue *sum = tile_build1(&b, TILE_ADD, result->type, result, all, NULL);
  TileValue **map = ARENA_ARRAY(s->scratch, TileValue *, s->f->nvalues);
  map[result->id] = sum;
  tile_substitute(s->f, map);
  sum->def->args[0] = result;
}

static void join_all_sums(Strips *s, TileValue *rank) {
  for (TileOp *op = s->f->body->first; op; op = op->next)
    if (op->code == TILE_SCAN) join_sums(s, op, rank);
}

static void split(Split *x) {
  Strips *s = x->s;
  Cutting c = {.s = s};
  TileValue *part = strip_build_blocks(s);
  tile_walk(s->f->body, cut_op, &c);
  tile_walk(s->f->body, cut_values, &c);
  TileValue **map = ARENA_ARRAY(s->scratch, TileValue *, s->f->nvalues + 2 * c.ranges.len);
  VEC(TileOp *) sums = {0};
  for (size_t i = 0; i < c.ranges.len; i++) {
    TileOp *op = c.ranges.data[i];
    move_columns(s, op, part, map);
    vec_push(s->scratch, &sums, map[op->results[0]->id]->def);
  }
  tile_substitute(s->f, map);
  for (size_t i = 0; i < sums.len; i++) sums.data[i]->args[0] = c.ranges.data[i]->results[0];
  join_all_sums(s, part->def->args[0]);
  strip_build_pairs(s);
  join_all_reductions(s, x->loop ? x->loop->regions[0] : s->f->body);
}

bool pass_split_rows(Unit *u) {
  Strips s = {.u = u, .f = u->tile, .scratch = arena_child(u->arena), .nvalues = u->tile->nvalues};
  bool clusters = machine_has(u->machine, HAS_CLUSTERS) && !s.f->options.debug;
  clusters &= !s.f->cluster && !u->ordered.len; /* pass strip_rows has done nothing */
  Split x = {.s = &s, .loop = clusters ? find_loop(&s) : NULL};
  if (clusters && !x.loop) s.row = longest_summed(s.f);
  if (clusters && s.row > 1) {
    x.last = ARENA_ARRAY(s.scratch, uint32_t, s.nvalues);
    x.loaded = ARENA_ARRAY(s.scratch, bool, s.nvalues);
    s.cluster = x.loop ? blocks_for(&s, bits_of_loop(&x), INT64_MAX) : blocks_of_sums(&x);
  }
  if (s.cluster > 1) {
    s.axis = x.axis = axis_analyze(s.f, s.scratch);
    tile_walk(s.f->body, check_op, &x);
    if (!x.refused) assume_rows_apart(&x);
    if (!x.refused && strip_shares_rows(&s, s.axis)) {
      u->ordered = text_new(u->arena);
      tile_print(&u->ordered, u->tile, u->diags);
      split(&x);
    }
  }
  arena_free(s.scratch);
  return true;
}
