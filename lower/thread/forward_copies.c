/* Pass forward_copies.  An operand of a dot goes through a shared buffer, in a chain of loops
 *
 *   unroll a:64 { unroll b:8 {
 *     %x = ld [%p + 3072*a + 32*b]
 *     st [@X + %lane4 + 320*a + 32*b], %x } }
 *   ... %y = ld [@X + 1280*m + 4*k] ...
 *
 * On a CPU both are memory like any other.  So if the copy has no guards, but for lanes after the
 * last column, is the only one to @X, and nothing is written to global memory before @X was last
 * read, the loads of @X read from %p:
 * byte 1280*m + 4*k of a buffer with rows of 320 bytes is row 4*m, column k.  %p may be an array of
 * the addresses of rows, %p[a].  Rows whose guard does not hold may be zeros: then their readers
 * have the guard.  Lanes need care: %p counts them, a load that is the same for all lanes takes
 * them off again.
 *
 * A copy pays where rows are far apart and an inner loop goes from row to row, and where elements
 * are widened as they are read: then the buffer stays. */
#include "lower/passes.h"

#include <math.h>
#include <string.h>

enum {
  LANE_DEPTH = 32, /* definitions gone through for how a value counts lanes */
  WIDE_BITS = 32
};

/* A buffer of rank 2, what is known of its one copy and of its readers. */
typedef struct {
  const NestBuffer *buffer;
  NestStmt *store, *load, *root; /* the copy, and the outermost loop of its chain */
  NestStmt *zero; /* before the load, whose guard tells which rows are not zeros; or NULL */
  Ref base, more;                /* it loads from base + scale * more + bytes; more: none, or a */
  int64_t scale;                 /* number that is the same for all of the copy, or, an array, */
  bool each;                     /* `each` row's own */
  Affine bytes;
  uint32_t stores;
  bool other; /* accesses of other kinds */
  VEC(NestStmt *) readers;
  int64_t stride[2], global[2]; /* from row to row and column to column: there, and at %p */
  int64_t first;                /* byte 0 of the buffer, at %p */
  int64_t pointers[2];          /* by how much %p's subscript grows with row and column */
  int64_t guards[2];            /* the same of the guard's */
  int64_t lane;                 /* by how much %p counts lanes */
} Copy;

typedef struct {
  Nest *nest;
  Arena *scratch;
  uint32_t nvars;
  NestStmt **def; /* by variable id, like ndefs and uses */
  uint32_t *ndefs, *uses;
  Copy *copies; /* by buffer id */
} Forwarding;

/* ---- what there is ---- */

static void note_uses_of_stmt(Forwarding *s, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (st->srcs[i].kind == REF_VAR) s->uses[st->srcs[i].var->id]++;
  for (uint32_t i = 0; i < st->nmems; i++)
    if (st->mems[i].base.kind == REF_VAR) s->uses[st->mems[i].base.var->id]++;
  if (st->guard.kind == REF_VAR) s->uses[st->guard.var->id]++;
}

static void note_access(Forwarding *s, NestStmt *st) {
  for (uint32_t i = 0; i < st->nmems; i++) {
    if (!st->mems[i].buffer) continue;
    Copy *c = &s->copies[st->mems[i].buffer->id];
    bool plain = nest_int(st, NA_n, 1) == 1 && !nest_int(st, NA_volatile, 0) &&
                 st->type == st->mems[i].buffer->dtype;
    if (plain && st->code == NEST_ST) {
      c->store = st;
      c->stores++;
    } else if (plain && st->code == NEST_LD && !st->guard.kind) {
      vec_push(s->scratch, &c->readers, st);
    } else {
      c->other = true;
    }
  }
}

/* Does it say, where loops were joined, that a variable has no value from before? */
static bool undefines(const NestStmt *st) { return st->code == NEST_OP && st->op == TILE_UNDEF; }

static void note_definitions_of(Forwarding *s, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts && !undefines(st); i++) {
      s->def[st->dsts[i].var->id] = st;
      s->ndefs[st->dsts[i].var->id]++;
    }
    note_uses_of_stmt(s, st);
    note_access(s, st);
    for (uint32_t r = 0; r < st->nregions; r++) note_definitions_of(s, st->regions[r]);
  }
}

/* The statement of block b that holds st; NULL if none does. */
static NestStmt *holder(NestStmt *st, const NestBlock *b) {
  while (st && st->parent != b) st = st->parent->owner;
  return st;
}

static NestStmt *sole_definition(const Forwarding *s, const Ref *x) {
  if (x->kind != REF_VAR || x->var->is_param) return NULL;
  return s->ndefs[x->var->id] == 1 ? s->def[x->var->id] : NULL;
}

/* ---- what is loaded from ---- */

static bool is_inside_loop(const NestStmt *st, const NestStmt *loop) {
  while (st && st != loop) st = st->parent->owner;
  return st != NULL;
}

/* x as more + the affine form *each: an array whose elements count up, or a number. */
static bool counts_up(const Forwarding *s, const Ref *x, Ref *more, Affine *each) {
  NestStmt *def = sole_definition(s, x);
  if (!def || def->guard.kind) return false;
  *more = *x;
  *each = affine_const(0);
  if (x->var->count == 1) return true;
  if (def->code != NEST_OP || def->op != TILE_ADD || def->srcs[1].kind != REF_AFFINE) return false;
  const Affine *at = &def->dsts[0].sub, *value = &def->srcs[1].sub;
  if (at->c || at->n != 1 || at->t[0].coef != 1 || value->n != 1) return false;
  if (value->t[0].index != at->t[0].index || def->srcs[0].sub.n) return false;
  *more = def->srcs[0];
  *each = x->sub;
  affine_scale(each, value->t[0].coef);
  each->c += value->c;
  return true;
}

/* An array of numbers that were computed before the copy, one for each row? */
static bool is_array(const Forwarding *s, const Copy *c, const Ref *x) {
  const NestStmt *def = sole_definition(s, x);
  return def && !def->guard.kind && x->var->count > 1 && !is_inside_loop(def, c->root);
}

/* Sees through an address that is computed for each element: `ptr_add %rows[a], %columns[b]`. */
static bool find_copy_base(const Forwarding *s, Copy *c) {
  const Mem *m = &c->load->mems[0];
  c->base = m->base;
  c->bytes = m->bytes;
  c->more = ref_none();
  c->each = false;
  NestStmt *def = sole_definition(s, &m->base);
  if (!def || !is_inside_loop(def, c->root)) return true;
  Affine each;
  if (def->code != NEST_OP || def->op != TILE_PTR_ADD || m->base.var->count > 1) return false;
  if (def->srcs[0].kind != REF_VAR) return false;
  c->each = is_array(s, c, &def->srcs[1]) && def->srcs[0].var->count == 1;
  if (c->each) {
    c->more = def->srcs[1];
    each = affine_const(0);
  } else if (!counts_up(s, &def->srcs[1], &c->more, &each)) {
    return false;
  }
  c->base = def->srcs[0];
  c->scale = dtype_bytes(def->elem) ? dtype_bytes(def->elem) : 1;
  affine_scale(&each, c->scale);
  return affine_add(&c->bytes, &each);
}

/* ---- lanes ---- */

static bool lane_step(const Forwarding *s, const Ref *x, int depth, int64_t *step);

static bool op_step(const Forwarding *s, const NestStmt *st, int depth, int64_t *step) {
  int64_t part[3] = {0, 0, 0};
  for (uint32_t i = 0; i < st->nsrcs && i < 3; i++)
    if (!lane_step(s, &st->srcs[i], depth, &part[i])) return false;
  *step = 0;
  if (!part[0] && !part[1] && !part[2]) return true;
  const Ref *by = &st->srcs[1];
  int64_t bytes = dtype_bytes(st->elem);
  switch (st->op) {
    case TILE_CAST:
    case TILE_HINT: *step = part[0]; return true;
    case TILE_ADD: *step = part[0] + part[1]; return true;
    case TILE_PTR_ADD: *step = part[0] + part[1] * (bytes ? bytes : 1); return true;
    case TILE_MUL: *step = part[0] * by->sub.c; return by->kind == REF_AFFINE && !by->sub.n;
    default: return false;
  }
}

static bool is_constant(const Ref *x) { return x->kind == REF_AFFINE && !x->sub.n; }

/* How much more x is in the next lane, if that is one number. */
static bool lane_step(const Forwarding *s, const Ref *x, int depth, int64_t *step) {
  *step = 0;
  if (x->kind != REF_VAR || x->var->uniform || x->var->is_param) return true;
  const NestStmt *st = sole_definition(s, x);
  if (!st || st->guard.kind || depth == LANE_DEPTH) return false;
  *step = st->code == NEST_LANE;
  return *step || (st->code == NEST_OP && op_step(s, st, depth + 1, step));
}

/* A buffer's base is nothing or a multiple of the lane. */
static bool base_is_lanes(const Forwarding *s, const Ref *base, int64_t *step) {
  *step = 0;
  if (!base->kind) return true;
  const NestStmt *st = sole_definition(s, base);
  if (!st || base->var->count > 1 || !lane_step(s, base, 0, step)) return false;
  if (st->code == NEST_LANE) return true;
  const NestStmt *of =
      st->code == NEST_OP && st->op == TILE_MUL ? sole_definition(s, st->srcs) : NULL;
  return of && of->code == NEST_LANE;
}

/* Is x `op` of the lane and a constant, or that times *by? */
static bool is_part_of_lane(const Forwarding *s, const Ref *x, TileCode op, int64_t *constant,
                            int64_t *by) {
  const NestStmt *st = sole_definition(s, x);
  *by = 1;
  if (st && st->code == NEST_OP && st->op == TILE_MUL && is_constant(&st->srcs[1])) {
    *by = st->srcs[1].sub.c;
    st = sole_definition(s, &st->srcs[0]);
  }
  if (!st || st->guard.kind || st->code != NEST_OP || st->op != op) return false;
  const NestStmt *of = sole_definition(s, &st->srcs[0]);
  *constant = st->srcs[1].sub.c;
  return of && of->code == NEST_LANE && is_constant(&st->srcs[1]);
}

/* The steps of a store's address from lane to lane: `low` lanes each `bytes[0]` further, and such
 * groups `bytes[1]`. */
typedef struct {
  int64_t bytes[2];
  int64_t low, high; /* how many lanes, and how many groups */
} LaneSteps;

static bool find_lane_steps(const Forwarding *s, const Ref *base, LaneSteps *to) {
  int64_t mask, shift;
  *to = (LaneSteps){{0, 0}, s->nest->lanes, 1};
  if (base_is_lanes(s, base, &to->bytes[0])) return true;
  const NestStmt *st = sole_definition(s, base);
  if (!st || base->var->count > 1 || st->code != NEST_OP || st->op != TILE_ADD) return false;
  if (!is_part_of_lane(s, &st->srcs[0], TILE_AND, &mask, &to->bytes[0]) ||
      !is_part_of_lane(s, &st->srcs[1], TILE_SHR, &shift, &to->bytes[1]))
    return false;
  to->low = mask + 1;
  to->high = s->nest->lanes / to->low;
  return shift > 0 && shift < LANE_DEPTH && to->low == (int64_t)1 << shift && to->high > 1;
}

/* ---- from offsets in the buffer to offsets from %p ---- */

/* The axis of the larger stride. */
static int rows_axis(const Copy *c) { return c->stride[0] < c->stride[1]; }

/* How many rows (axis 0) or columns `bytes` are. */
static int64_t steps_along(const Copy *c, int64_t bytes, int axis) {
  int big = rows_axis(c);
  return (axis == big ? bytes : bytes % c->stride[big]) / c->stride[axis];
}

static int64_t there(const Copy *c, int64_t bytes) {
  return steps_along(c, bytes, 0) * c->global[0] + steps_along(c, bytes, 1) * c->global[1];
}

/* The growth of a subscript, of %p or the guard, over these bytes. */
static int64_t growth_there(const Copy *c, const int64_t growth[2], int64_t bytes) {
  return steps_along(c, bytes, 0) * growth[0] + steps_along(c, bytes, 1) * growth[1];
}

/* Notes that `bytes` in the buffer, steps along one axis, are `global` bytes, `pointers` elements
 * of %p and `guards` of the guard. */
static bool learn_strides_of_digit(Copy *c, bool known[2], int64_t bytes, int64_t global,
                                   int64_t pointers, int64_t guards) {
  int big = rows_axis(c);
  int axis = bytes % c->stride[big] ? !big : big;
  int64_t steps = bytes / c->stride[axis];
  if (bytes <= 0 || bytes % c->stride[axis]) return false;
  if (global % steps || pointers % steps || guards % steps) return false;
  if (known[axis] && c->global[axis] != global / steps) return false;
  if (known[axis] && c->pointers[axis] != pointers / steps) return false;
  if (known[axis] && c->guards[axis] != guards / steps) return false;
  known[axis] = true;
  c->guards[axis] = guards / steps;
  c->global[axis] = global / steps;
  c->pointers[axis] = pointers / steps;
  return true;
}

/* How far a step of `bytes` goes in all along the axis of the smaller stride, of `n` steps. */
static int64_t byte_reach(const Copy *c, int64_t bytes, int64_t n) {
  int big = rows_axis(c);
  return bytes % c->stride[big] ? bytes * (n - 1) : 0;
}

/* The step from the end of a row to the next row tells how far apart rows are at %p. */
static bool rows_follow(Copy *c, bool known[2]) {
  int big = rows_axis(c);
  int64_t columns = c->stride[big] / c->stride[!big];
  return c->stride[big] % c->stride[!big] == 0 &&
         learn_strides_of_digit(c, known, c->stride[big], columns * c->global[!big],
                                columns * c->pointers[!big], columns * c->guards[!big]);
}

static int64_t coefficient(const Affine *x, const NestIndex *index) {
  for (int i = 0; i < x->n; i++)
    if (x->t[i].index == index) return x->t[i].coef;
  return 0;
}

static bool has_all(const Affine *x, const Affine *of) {
  for (int i = 0; i < of->n; i++)
    if (!coefficient(x, of->t[i].index)) return false;
  return true;
}

/* Is x the lane, or the lane rounded down to a multiple of *unit? */
static bool is_lane(const Forwarding *s, const Ref *x, int64_t *unit) {
  const NestStmt *def = sole_definition(s, x);
  int64_t shift, by;
  *unit = 1;
  if (def && def->code == NEST_LANE) return true;
  if (!is_part_of_lane(s, x, TILE_SHR, &shift, &by) || shift < 0 || shift >= LANE_DEPTH)
    return false;
  *unit = by;
  return by == (int64_t)1 << shift;
}

/* x as the lane, rounded down to a multiple of *unit, plus *each, an affine form of the index of
 * the loop that defines it. */
static bool is_lane_plus(const Forwarding *s, const Ref *x, Affine *each, int64_t *unit) {
  const NestStmt *def = sole_definition(s, x);
  *each = affine_const(0);
  if (is_lane(s, x, unit)) return true;
  if (!def || def->guard.kind || def->code != NEST_OP || def->op != TILE_ADD) return false;
  *each = def->srcs[1].sub;
  return is_lane(s, &def->srcs[0], unit) && x->var->count == 1 &&
         def->srcs[1].kind == REF_AFFINE && each->n <= 1 && each->c % *unit == 0 &&
         (!each->n || each->t[0].coef % *unit == 0);
}

/* The axis along which a step of so many bytes goes. */
static int axis_of(const Copy *c, int64_t bytes) {
  int big = rows_axis(c);
  return bytes % c->stride[big] ? !big : big;
}

/* Is the copy's guard that its row or column, which the lanes of the store's address count, is
 * before a number that none of the tile reaches?  *axis: which of them. */
static bool guards_lanes(const Forwarding *s, const Copy *c, int *axis) {
  const Ref *guard = &c->store->guard;
  const Affine *to = &c->store->mems[0].bytes;
  const NestStmt *def = sole_definition(s, guard);
  int64_t width, unit;
  Affine each;
  if (!base_is_lanes(s, &c->store->mems[0].base, &width) || !width) return false;
  *axis = axis_of(c, width);
  if (width != c->stride[*axis]) return false;
  if (!def || def->guard.kind || def->code != NEST_OP || def->op != TILE_LT) return false;
  if (!is_lane_plus(s, &def->srcs[0], &each, &unit) || !is_constant(&def->srcs[1])) return false;
  if (each.c || def->srcs[1].sub.c % unit || def->srcs[1].sub.c < c->buffer->tile.shape[*axis])
    return false;
  /* The loop that defines guards has an index of its own, which counts as the guard's subscript. */
  const Affine *of = &def->dsts[0].sub, *at = &guard->sub;
  bool counts = of->n == 1 && at->n == 1 && of->t[0].coef == 1 && at->t[0].coef == 1 &&
                !of->c && !at->c;
  if (each.n && (!counts || of->t[0].index != each.t[0].index)) return false;
  for (int i = 0; i < to->n; i++) {
    if (axis_of(c, to->t[i].coef) != *axis) continue;
    bool guarded = each.n && to->t[i].index == at->t[0].index;
    if (!guarded || to->t[i].coef != each.t[0].coef * width) return false;
  }
  return !each.n || coefficient(to, at->t[0].index) == each.t[0].coef * width;
}

/* Are columns after the tile's last one left out? */
static bool guards_columns(const Forwarding *s, const Copy *c) {
  int axis;
  return guards_lanes(s, c, &axis) && axis != rows_axis(c);
}

static bool learn_strides(const Forwarding *s, Copy *c) {
  const Affine *to = &c->store->mems[0].bytes, *from = &c->bytes;
  const Affine *pointer = c->each ? &c->more.sub : &c->base.sub;
  bool known[2] = {false, false};
  int64_t more;
  LaneSteps lane;
  const Affine none = affine_const(0), *guard = c->zero ? &c->load->guard.sub : &none;
  if (to->c || pointer->c || !has_all(to, from) || !has_all(to, pointer)) return false;
  if (guard->c || !has_all(to, guard)) return false;
  if (!find_lane_steps(s, &c->store->mems[0].base, &lane)) return false;
  if (!lane_step(s, &c->base, 0, &c->lane) || !lane_step(s, &c->more, 0, &more)) return false;
  c->lane += c->scale * more;
  if (!lane.bytes[0] && c->lane) return false;
  int64_t reach = 0;
  for (int i = 0; i < 2; i++) {
    if (!lane.bytes[i]) continue;
    int64_t from_lane = i ? c->lane * lane.low : c->lane;
    if (!learn_strides_of_digit(c, known, lane.bytes[i], from_lane, 0, 0)) return false;
    reach += byte_reach(c, lane.bytes[i], i ? lane.high : lane.low);
  }
  for (int i = 0; i < to->n; i++) {
    const NestIndex *index = to->t[i].index;
    if (!learn_strides_of_digit(c, known, to->t[i].coef, coefficient(from, index),
                                coefficient(pointer, index), coefficient(guard, index)))
      return false;
    reach += byte_reach(c, to->t[i].coef, index->extent);
  }
  int big = rows_axis(c);
  if (reach >= c->stride[big] && !guards_columns(s, c) && !rows_follow(c, known)) return false;
  for (int axis = 0; axis < 2; axis++)
    if (!known[axis] && c->buffer->tile.shape[axis] > 1) return false;
  c->first = from->c;
  return true;
}

static bool find_layout(Copy *c) {
  const Layout *l = &c->buffer->layout;
  if (c->buffer->tile.rank != 2 || c->buffer->slots > 1 || l->xor_bits || l->ndigits > 2)
    return false;
  c->stride[0] = c->stride[1] = 0;
  for (int i = 0; i < l->ndigits; i++) {
    if (l->d[i].axis < 0 || c->stride[l->d[i].axis]) return false;
    c->stride[l->d[i].axis] = l->d[i].stride;
  }
  return c->stride[0] > 0 && c->stride[1] > 0 && c->stride[0] != c->stride[1];
}

/* ---- the copy and its readers ---- */

static bool same_ref(const Ref *a, const Ref *b) {
  if (a->kind != b->kind || a->kind == REF_NONE) return a->kind == b->kind;
  return a->kind == REF_VAR && a->var == b->var && affine_eq(&a->sub, &b->sub);
}

/* The constant that the load leaves where its guard, each row's own, does not hold: zero; NULL: it
 * is none.  A guard of the whole tile costs less before a copy than before each of its readers. */
static NestStmt *zero_before(const Forwarding *s, NestStmt *ld) {
  const Ref *guard = &ld->guard;
  NestStmt *zero = ld->prev;
  int64_t lane;
  bool is = zero && zero->code == NEST_MOV && !zero->guard.kind &&
            zero->srcs[0].kind == REF_FLOAT && zero->srcs[0].f == 0 && !signbit(zero->srcs[0].f) &&
            same_ref(&zero->dsts[0], &ld->dsts[0]) && s->ndefs[ld->dsts[0].var->id] == 2;
  return is && guard->sub.n && lane_step(s, guard, 0, &lane) && !lane ? zero : NULL;
}

/* The load of what is stored, and the zeros before it. */
static NestStmt *load_of(const Forwarding *s, Copy *c) {
  const Ref *x = &c->store->srcs[0];
  NestStmt *ld = sole_definition(s, x);
  c->zero = NULL;
  if (ld || x->kind != REF_VAR || x->var->is_param) return ld;
  ld = s->def[x->var->id];
  if (!ld || ld->code != NEST_LD || !ld->guard.kind || c->store->guard.kind) return NULL;
  c->zero = zero_before(s, ld);
  return c->zero ? ld : NULL;
}

static bool is_copy(const Forwarding *s, Copy *c) {
  if (c->stores != 1 || c->other || !c->readers.len || !find_layout(c)) return false;
  if (dtype_bits(c->buffer->dtype) < WIDE_BITS) return false;
  NestStmt *ld = load_of(s, c);
  if (!ld || !same_ref(&ld->dsts[0], &c->store->srcs[0])) return false;
  if (ld->code != NEST_LD || ld->parent != c->store->parent || ld->mems[0].buffer) return false;
  if ((!c->zero && !same_ref(&ld->guard, &c->store->guard)) || ld->type != c->store->type ||
      nest_int(ld, NA_n, 1) != 1 || nest_int(ld, NA_volatile, 0))
    return false;
  c->load = ld;
  c->root = c->store;
  while (c->root->parent->owner && c->root->parent->owner->code == NEST_UNROLL)
    c->root = c->root->parent->owner;
  return true;
}

/* How far a step of `bytes` goes along an axis, n steps in all. */
static int64_t reach_along(const Copy *c, int64_t bytes, int64_t n, int axis) {
  return axis_of(c, bytes) == axis ? bytes / c->stride[axis] * (n - 1) : 0;
}

/* Are all rows or columns that are read the tile's? */
static bool reads_tile(const Forwarding *s, const Copy *c, const NestStmt *st, int axis) {
  const Mem *m = &st->mems[0];
  int64_t lane;
  if (!base_is_lanes(s, &m->base, &lane)) return false;
  int64_t last = steps_along(c, m->bytes.c, axis) + reach_along(c, lane, s->nest->lanes, axis);
  for (int k = 0; k < m->bytes.n; k++)
    last += reach_along(c, m->bytes.t[k].coef, m->bytes.t[k].index->extent, axis);
  return last < c->buffer->tile.shape[axis];
}

/* Elements that a guard leaves out are outside of the tile, and nothing reads them. */
static bool leaves_out_nothing(const Forwarding *s, const Copy *c) {
  int axis;
  if (!c->store->guard.kind) return true;
  if (!guards_lanes(s, c, &axis)) return false;
  for (size_t i = 0; i < c->readers.len; i++)
    if (!reads_tile(s, c, c->readers.data[i], axis)) return false;
  return true;
}

/* Is x the same for all of the copy, and after it? */
static bool stays(const Forwarding *s, const Copy *c, const Ref *x) {
  if (x->kind != REF_VAR || x->var->is_param) return x->kind != REF_FLOAT;
  const NestStmt *def = sole_definition(s, x);
  return def && !is_inside_loop(def, c->root);
}

/* All readers come after the copy in its block, and nothing is written until they are done. */
static bool readers_follow(const Copy *c) {
  size_t found = 0;
  for (NestStmt *st = c->root; st && found < c->readers.len; st = st->next) {
    if (nest_writes_global(st)) return false;
    for (size_t i = 0; i < c->readers.len && st != c->root; i++)
      found += holder(c->readers.data[i], c->root->parent) == st;
  }
  return found == c->readers.len;
}

/* Does the first cache hold so many rows, `step` bytes apart, of so many bytes each? */
static bool rows_fit_cache(int64_t rows, int64_t step, int64_t bytes) {
  enum { LINE = 64, SETS = 64, WAYS = 8 };
  int64_t lines = (bytes + LINE - 1) / LINE + (step % LINE != 0), apart = SETS;
  for (; step % LINE == 0 && apart > 1 && step / LINE % apart; apart /= 2) continue;
  int64_t sets = step % LINE ? SETS : SETS / apart * lines;
  return rows * lines <= WAYS * (sets < SETS ? sets : SETS);
}

/* Columns of few pages are as good: the second cache gives a line a step in time. */
enum { NEAR_BYTES = 16 * 4096 };

/* Does the innermost loop around st go no further at %p than in the buffer?  Numbers that are the
 * same in all lanes may be in rows that stay in the first cache. */
static bool stays_near(const Copy *c, const NestStmt *st, bool lanes) {
  const NestStmt *loop = st->parent->owner;
  while (loop && loop->code == NEST_UNROLL) loop = loop->parent->owner;
  if (!loop || loop->code != NEST_SERIAL) return false;
  int64_t step = coefficient(&st->mems[0].bytes, loop->index);
  int64_t far = there(c, step), element = dtype_bytes(c->buffer->dtype);
  int axis = step % c->stride[rows_axis(c)] == 0 ? rows_axis(c) : !rows_axis(c);
  int64_t n = loop->index->extent;
  bool along = c->global[!axis] == element; /* the numbers of a row, not of a column */
  int64_t bytes = along ? c->buffer->tile.shape[!axis] * element : element;
  bool few = !along && n * far <= NEAR_BYTES;
  return far <= step || (!lanes && (few || rows_fit_cache(n, far, bytes)));
}

static bool reader_known(const Forwarding *s, const Copy *c, const NestStmt *st) {
  const Mem *m = &st->mems[0];
  int64_t lane;
  if (!base_is_lanes(s, &m->base, &lane) || lane < 0 || m->bytes.c < 0) return false;
  for (int k = 0; k < m->bytes.n; k++)
    if (m->bytes.t[k].coef < 0) return false;
  /* Lanes that go from row to row would need an element of %p each. */
  if (growth_there(c, c->pointers, lane) || growth_there(c, c->guards, lane)) return false;
  return (there(c, lane) == c->lane || there(c, lane) == 0) && stays_near(c, st, lane != 0);
}

static bool loads_alone(const NestStmt *st) {
  for (const NestStmt *x = st->parent->first; x; x = x->next)
    if (x != st && x->code == NEST_LD) return false;
  return true;
}

/* Readers that get a guard are alone in their loop, as a product's rows are (codegen/c/products.c):
 * in others the copy costs less. */
static bool readers_known(const Forwarding *s, const Copy *c) {
  for (size_t i = 0; i < c->readers.len; i++) {
    const NestStmt *st = c->readers.data[i];
    if (!reader_known(s, c, st) || (c->zero && !loads_alone(st))) return false;
  }
  return true;
}

/* ---- reading in place ---- */

static NestVar *new_var(Forwarding *s, DType t) {
  return nest_var(s->nest, NULL, t, DT_NONE, 1, false);
}

/* by * x, in bytes of an address. */
static Ref multiply_by(NestBuilder *b, Forwarding *s, Ref x, int64_t by) {
  NestVar *y = new_var(s, DT_I64);
  nest_op(b, TILE_MUL, DT_I64, ref_var(y), x, ref_int(by), ref_none());
  return ref_var(y);
}

static Ref lanes_back(NestBuilder *b, Forwarding *s, const Copy *c) {
  NestVar *lane = nest_var(s->nest, "lane", DT_I32, DT_NONE, 1, false), *wide = new_var(s, DT_I64);
  nest_stmt(b, NEST_LANE, 1, 0)->dsts[0] = ref_var(lane);
  nest_op(b, TILE_CAST, DT_I32, ref_var(wide), ref_var(lane), ref_none(), ref_none())->to = DT_I64;
  return multiply_by(b, s, ref_var(wide), -c->lane);
}

/* All of %p's addresses, moved by x. */
static NestVar *var_moved_by(NestBuilder b, Forwarding *s, NestVar *from, Ref x) {
  NestVar *p = nest_var(s->nest, NULL, DT_PTR, from->elem, from->count, false);
  Affine each = affine_const(0);
  if (from->count > 1) {
    NestStmt *loop = nest_stmt(&b, NEST_UNROLL, 0, 0);
    loop->index = nest_index(s->nest, "a", (int32_t)from->count);
    b.block = nest_block(s->nest, loop);
    b.before = NULL;
    each = affine_index(loop->index, 1);
  }
  nest_op(&b, TILE_PTR_ADD, DT_PTR, ref_sub(p, each), ref_sub(from, each), x, ref_none())->elem =
      DT_U8;
  return p;
}

/* The subscript, of %p or the guard, for a reader of these bytes. */
static Affine subscript_of(const Copy *c, const int64_t growth[2], const Affine *bytes) {
  Affine sub = affine_const(0);
  for (int k = -1; k < bytes->n; k++) {
    int64_t by = k < 0 ? bytes->c : bytes->t[k].coef;
    int64_t n = growth_there(c, growth, by);
    Affine term = k < 0 ? affine_const(n) : affine_index(bytes->t[k].index, n);
    BUG_IF(n && !affine_add(&sub, &term), "a subscript of more than %d terms", MAX_TERMS);
  }
  return sub;
}

static Affine forwarded_bytes(const Copy *c, const Affine *bytes) {
  Affine to = affine_const(there(c, bytes->c) + c->first);
  for (int k = 0; k < bytes->n; k++) {
    Affine term = affine_index(bytes->t[k].index, there(c, bytes->t[k].coef));
    BUG_IF(!affine_add(&to, &term), "more terms than before");
  }
  return to;
}

/* The addresses of rows that each have a number of their own. */
static NestVar *address_rows(NestBuilder b, Forwarding *s, const Copy *c) {
  uint32_t count = c->more.var->count;
  NestVar *p = nest_var(s->nest, NULL, DT_PTR, c->base.var->elem, count, false);
  NestStmt *loop = nest_stmt(&b, NEST_UNROLL, 0, 0);
  loop->index = nest_index(s->nest, "a", (int32_t)count);
  b.block = nest_block(s->nest, loop);
  b.before = NULL;
  Affine each = affine_index(loop->index, 1);
  Ref number = ref_sub(c->more.var, each);
  if (c->scale != 1) number = multiply_by(&b, s, number, c->scale);
  nest_op(&b, TILE_PTR_ADD, DT_PTR, ref_sub(p, each), c->base, number, ref_none())->elem = DT_U8;
  return p;
}

static void guard_reader(Forwarding *s, const Copy *c, NestStmt *st) {
  NestBuilder b = {s->nest, st->parent, st, st->span};
  nest_mov(&b, st->dsts[0], ref_zero(st->type), st->type);
  st->guard = ref_sub(c->load->guard.var, subscript_of(c, c->guards, &st->mems[0].bytes));
}

static void redirect(Forwarding *s, Copy *c) {
  NestBuilder b = {s->nest, c->root->parent, c->root, c->load->span};
  NestVar *all = c->base.var, *same = NULL;
  if (c->each) all = address_rows(b, s, c);
  else if (c->more.kind) all = var_moved_by(b, s, all, multiply_by(&b, s, c->more, c->scale));
  for (size_t i = 0; i < c->readers.len; i++) {
    Mem *m = &c->readers.data[i]->mems[0];
    int64_t lane;
    base_is_lanes(s, &m->base, &lane);
    bool lanes = there(c, lane) == c->lane;
    if (!lanes && !same) same = var_moved_by(b, s, all, lanes_back(&b, s, c));
    if (c->zero) guard_reader(s, c, c->readers.data[i]);
    m->buffer = NULL;
    m->base = ref_sub(lanes ? all : same, subscript_of(c, c->pointers, &m->bytes));
    m->bytes = forwarded_bytes(c, &m->bytes);
  }
}

static void remove_empty(NestBlock *b) {
  while (!b->first && b->owner && b->owner->code == NEST_UNROLL) {
    NestStmt *owner = b->owner;
    b = owner->parent;
    nest_remove(owner);
  }
}

static bool reads(const NestStmt *st, const NestVar *v) {
  bool found = st->guard.kind == REF_VAR && st->guard.var == v;
  for (uint32_t i = 0; i < st->nsrcs; i++)
    found |= st->srcs[i].kind == REF_VAR && st->srcs[i].var == v;
  for (uint32_t i = 0; i < st->nmems; i++)
    found |= st->mems[i].base.kind == REF_VAR && st->mems[i].base.var == v;
  return found;
}

static bool is_read(const NestBlock *b, const NestVar *v) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (reads(st, v)) return true;
    for (uint32_t r = 0; r < st->nregions; r++)
      if (is_read(st->regions[r], v)) return true;
  }
  return false;
}

/* A value that nothing reads any more is removed, with those that it alone has read. */
static void remove_unread(Forwarding *s, const Ref *x) {
  NestStmt *def = sole_definition(s, x);
  if (!def || def->guard.kind || def->code != NEST_OP || is_read(s->nest->body, x->var)) return;
  NestBlock *b = def->parent;
  nest_remove(def);
  s->def[x->var->id] = NULL;
  remove_empty(b);
  for (uint32_t i = 0; i < def->nsrcs; i++) remove_unread(s, &def->srcs[i]);
}

static void remove_copy(Forwarding *s, Copy *c) {
  NestBlock *b = c->store->parent;
  nest_remove(c->store);
  if (s->uses[c->load->dsts[0].var->id] == 1) {
    NestStmt *address = sole_definition(s, &c->load->mems[0].base);
    if (address && address->parent == b && address->dsts[0].var != c->base.var &&
        s->uses[address->dsts[0].var->id] == 1)
      nest_remove(address);
    NestStmt *before = c->load->prev;
    if (c->zero || (before && undefines(before) && same_ref(&before->dsts[0], &c->load->dsts[0])))
      nest_remove(c->zero ? c->zero : before);
    nest_remove(c->load);
  }
  remove_empty(b);
  remove_unread(s, &c->store->guard);
}

bool pass_forward_copies(Unit *u) {
  Nest *n = u->nest;
  Arena *scratch = arena_child(u->arena);
  Forwarding s = {n,
                  scratch,
                  n->nvars,
                  ARENA_ARRAY(scratch, NestStmt *, n->nvars),
                  ARENA_ARRAY(scratch, uint32_t, n->nvars),
                  ARENA_ARRAY(scratch, uint32_t, n->nvars),
                  ARENA_ARRAY(scratch, Copy, n->nbuffers)};
  note_definitions_of(&s, n->body);
  for (uint32_t i = 0; i < n->nbuffers; i++) {
    Copy *c = &s.copies[n->buffers[i]->id];
    c->buffer = n->buffers[i];
    if (!is_copy(&s, c) || !find_copy_base(&s, c) || !stays(&s, c, &c->base)) continue;
    if (!stays(&s, c, &c->more) || (c->zero && !stays(&s, c, &c->load->guard))) continue;
    if (!learn_strides(&s, c)) continue;
    if (!readers_follow(c) || !readers_known(&s, c) || !leaves_out_nothing(&s, c)) continue;
    redirect(&s, c);
    remove_copy(&s, c);
  }
  arena_free(scratch);
  return true;
}
