/* Choosing layouts: see lower/schedule/schedule.h.  Groups of values get those of their anchors,
 * others what follows from their neighbours.
 */
#include "lower/schedule/schedule.h"

#include <string.h>

#include "lower/passes.h"
#include "lower/target/wgmma_layout.h"

/* How sure an anchor is of its choice; the surest of a group wins. */
enum { RANK_NONE, RANK_DERIVED, RANK_SCAN, RANK_STORE, RANK_LOAD, RANK_DOT };

typedef struct {
  int rank;
  int64_t weight; /* among equals: elements a thread moves at once */
  bool adjacent;  /* then: lanes that follow each other access neighbors in memory */
  bool scattered; /* it is that of a load through pointers of which no two are neighbors */
  bool crossed;   /* accesses go along two axes, of both of which a thread has vectors */
  Layout layout;
  const Atom *atom;
} Choice;

typedef struct {
  Unit *u;
  Arena *scratch;
  const TileFunc *f;
  AxisInfo *axis;
  bool *index_only;
  unsigned *data_axes; /* by value id: axes along which a held value is any function of data */
  uint32_t *parent;    /* union-find over value ids */
  Choice *choice;      /* by group root */
  const TileOp **dot;  /* by group root: a dot whose result is in the group, or NULL */
  bool *ahead;         /* by value id: loads that run ahead of their loop */
  bool *broadcast;     /* by group root: larger tiles are made of a value in the group */
  bool follows;        /* users of such loads take their layouts, for want of others */
  bool chained;        /* a dot's result feeds a reduction or another dot: warps go along M */
} Plan;

static const Atom *plan_dot_atom(const Plan *p, const TileOp *op);

/* ======== groups: values that share a layout ======== */

/* ---- index-only values ---- */

static bool cheap(TileCode c) {
  switch (c) {
    case TILE_CONST:
    case TILE_UNDEF:
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_DIV:
    case TILE_REM:
    case TILE_NEG:
    case TILE_ABS:
    case TILE_MIN:
    case TILE_MAX:
    case TILE_AND:
    case TILE_OR:
    case TILE_XOR:
    case TILE_NOT:
    case TILE_SHL:
    case TILE_SHR:
    case TILE_LT:
    case TILE_LE:
    case TILE_GT:
    case TILE_GE:
    case TILE_EQ:
    case TILE_NE:
    case TILE_SELECT:
    case TILE_CAST:
    case TILE_BITCAST:
    case TILE_PTR_ADD:
    case TILE_HINT:
    case TILE_ARANGE:
    case TILE_SPLAT:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST:
    case TILE_TRANS:
    case TILE_RESHAPE: return true;
    default: return false;
  }
}

/* Index-only values are computed at each use, by recursion over their operands.  These bound it: a
 * deeper value is held in registers.  x + trans(x) computes x twice, in both orders of the axes, so
 * that every level of it doubles the work. */
enum { INDEX_DEPTH = 128, INDEX_TURNS = 4 };

typedef struct {
  bool *only;
  uint8_t *depth; /* of an index-only value: ops on its longest way down */
  uint8_t *turns; /* and the most that turn axes on one */
} IndexOnly;

/* False: too deep. */
static bool count_levels(IndexOnly *x, const TileOp *op) {
  int depth = 0, turns = 0;
  for (uint32_t i = 0; i < op->nargs; i++) {
    if (!op->args[i]->type.rank) continue;
    uint32_t arg = op->args[i]->id;
    if (x->depth[arg] > depth) depth = x->depth[arg];
    if (x->turns[arg] > turns) turns = x->turns[arg];
  }
  depth += op->nargs > 0;
  turns += op->code == TILE_TRANS;
  if (depth > INDEX_DEPTH || turns > INDEX_TURNS) return false;
  x->depth[op->results[0]->id] = (uint8_t)depth;
  x->turns[op->results[0]->id] = (uint8_t)turns;
  return true;
}

static void mark_index_only(TileOp *op, void *ctx) {
  IndexOnly *x = ctx;
  if (op->nresults != 1 || !op->results[0]->type.rank || !cheap(op->code)) return;
  bool floats = dtype_is_float((DType)op->results[0]->type.dtype);
  if (op->code == TILE_RESHAPE && op->args[0]->type.rank > 1) return;
  if (floats && (op->code == TILE_DIV || op->code == TILE_REM)) return;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i]->type.rank && !x->only[op->args[i]->id]) return;
  x->only[op->results[0]->id] = count_levels(x, op);
}

bool *schedule_index_only(const TileFunc *f, Arena *a) {
  IndexOnly x = {ARENA_ARRAY(a, bool, f->nvalues), ARENA_ARRAY(a, uint8_t, f->nvalues),
                 ARENA_ARRAY(a, uint8_t, f->nvalues)};
  tile_walk(f->body, mark_index_only, &x);
  return x.only;
}

bool schedule_renames(const TileValue *v) {
  return v->def && (v->def->code == TILE_SPLAT || v->def->code == TILE_EXPAND_DIMS ||
                    v->def->code == TILE_BROADCAST || v->def->code == TILE_TRANS ||
                    v->def->code == TILE_HINT);
}

unsigned schedule_flipped_axes(const TileOp *op) {
  const Type *t = &op->args[0]->type;
  unsigned axes = 0;
  if (op->code != TILE_SLICE || !type_same_shape(*t, op->results[0]->type)) return 0;
  for (int a = 0; a < t->rank; a++)
    if (t->shape[a] > 1 && tile_attr(op, TA_strides)->list[a] < 0) axes |= 1U << a;
  return axes;
}

/* ---- groups ---- */

/* the root of a value's group */
static uint32_t plan_find(Plan *p, uint32_t v) {
  while (p->parent[v] != v) v = p->parent[v] = p->parent[p->parent[v]];
  return v;
}

static bool plan_held(const Plan *p, const TileValue *v) {
  return v && v->type.rank && !p->index_only[v->id];
}

/* Dots of one group have one layout, so they are computed by one atom. */
static bool may_join(const Plan *p, const TileOp *a, const TileOp *b) {
  return !a || !b || plan_dot_atom(p, a) == plan_dot_atom(p, b);
}

/* A load that runs ahead is read of shared memory, in whatever layout its users like. */
static void tie(Plan *p, const TileValue *a, const TileValue *b) {
  if ((a && p->ahead[a->id]) || (b && p->ahead[b->id])) return;
  if (!plan_held(p, a) || !plan_held(p, b) || !type_same_shape(a->type, b->type)) return;
  uint32_t from = plan_find(p, a->id), to = plan_find(p, b->id);
  if (!may_join(p, p->dot[from], p->dot[to])) return;
  p->parent[from] = to;
  if (!p->dot[to]) p->dot[to] = p->dot[from];
}

static void note_dot(TileOp *op, void *ctx) {
  Plan *p = ctx;
  if (op->code == TILE_DOT) p->dot[op->results[0]->id] = op;
}

static void tie_loop(Plan *p, const TileOp *op) {
  bool is_for = op->code == TILE_FOR;
  uint32_t first = is_for ? 3 : 0, skip = is_for ? 1 : 0;
  const TileBlock *head = op->regions[0], *body = op->regions[is_for ? 0 : 1];
  for (uint32_t i = 0; i + first < op->nargs; i++) {
    tie(p, head->params[i + skip], op->args[i + first]);
    tie(p, head->params[i + skip], body->last->args[i]);
  }
  for (uint32_t i = 0; i < op->nresults; i++) {
    if (is_for) {
      tie(p, op->results[i], head->params[i + 1]);
      continue;
    }
    tie(p, op->results[i], head->last->args[i + 1]);
    tie(p, body->params[i], head->last->args[i + 1]);
  }
}

static void tie_op(TileOp *op, void *ctx) {
  Plan *p = ctx;
  switch (op->code) {
    case TILE_FOR:
    case TILE_WHILE: tie_loop(p, op); return;
    case TILE_IF:
      for (uint32_t i = 0; i < op->nresults; i++)
        for (int r = 0; r < 2; r++) tie(p, op->results[i], op->regions[r]->last->args[i]);
      return;
    case TILE_DOT: tie(p, op->args[2], op->results[0]); return;
    case TILE_LOAD:
    case TILE_ATOMIC_RMW:
    case TILE_ATOMIC_CAS:
    case TILE_VIEW_LOAD:
      for (uint32_t i = 0; i < op->nargs; i++) tie(p, op->args[i], op->results[0]);
      return;
    case TILE_STORE:
      tie(p, op->args[0], op->args[1]);
      tie(p, op->args[2], op->args[1]);
      return;
    case TILE_SLICE:
      if (machine_has(p->u->machine, HAS_COALESCING) && schedule_flipped_axes(op))
        tie(p, op->args[0], op->results[0]);
      return;
    case TILE_ASM:
    case TILE_ASM_IMPURE:
      for (uint32_t i = 0; i < op->nargs; i++) tie(p, op->args[i], op->results[0]);
      for (uint32_t i = 1; i < op->nresults; i++) tie(p, op->results[i], op->results[0]);
      return;
    case TILE_SCAN:
      for (uint32_t i = 0; i < op->nargs; i++) tie(p, op->args[i], op->results[i]);
      for (uint32_t i = 1; i < op->nargs; i++) tie(p, op->args[i], op->args[0]);
      return;
    case TILE_REDUCE:
      for (uint32_t i = 1; i < op->nargs; i++) tie(p, op->args[i], op->args[0]);
      for (uint32_t i = 1; i < op->nresults; i++) tie(p, op->results[i], op->results[0]);
      return;
    default:
      if (tile_op_flags(op->code) & TILE_ELEM)
        for (uint32_t i = 0; i < op->nargs; i++) tie(p, op->args[i], op->results[0]);
      return;
  }
}

/* Is a surer than b? */
static bool is_better(const Choice *a, const Choice *b) {
  if (a->rank != b->rank) return a->rank > b->rank;
  if (a->weight != b->weight) return a->weight > b->weight;
  return a->adjacent && !b->adjacent;
}

/* Offers a layout to a value's group, which takes the surest. */
static void plan_offer(Plan *p, const TileValue *v, Choice c) {
  Choice *best = &p->choice[plan_find(p, v->id)];
  if (is_better(&c, best)) *best = c;
}

static void plan_groups(Plan *p) {
  for (uint32_t i = 0; i < p->f->nvalues; i++) p->parent[i] = i;
  tile_walk(p->f->body, note_dot, p);
  tile_walk(p->f->body, tie_op, p);
}

/* ======== anchors: accesses to memory, and dots ======== */

/* ---- where data decides addresses ---- */

static unsigned long_axes(const Type *t) {
  unsigned axes = 0;
  for (int a = 0; a < t->rank; a++) axes |= (unsigned)(t->shape[a] > 1) << a;
  return axes;
}

/* rows[:, None] * stride + column[None, :], with rows that are loaded, still has an order along the
 * columns; codes[:, None] >> shift[None, :] & 15 has none along any axis. */
static unsigned data_axes_of(const Plan *p, const TileOp *op, const TileValue *r) {
  unsigned axes = 0, arg = op->nargs ? p->data_axes[op->args[0]->id] : 0;
  if (!plan_held(p, r)) return 0;
  switch (op->code) {
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_NEG:
    case TILE_CAST:
    case TILE_HINT:
    case TILE_PTR_ADD:
      for (uint32_t i = 0; i < op->nargs; i++) axes |= p->data_axes[op->args[i]->id];
      return axes;
    case TILE_BROADCAST: return arg;
    case TILE_EXPAND_DIMS: {
      unsigned below = (1U << tile_int(op, TA_axis, 0)) - 1;
      return (arg & below) | (arg & ~below) << 1;
    }
    case TILE_TRANS:
      for (int a = 0; a < r->type.rank; a++)
        axes |= (arg >> tile_attr(op, TA_perm)->list[a] & 1) << a;
      return axes;
    default: return long_axes(&r->type);
  }
}

static void note_data_axes(TileOp *op, void *ctx) {
  Plan *p = ctx;
  for (uint32_t i = 0; i < op->nresults; i++)
    p->data_axes[op->results[i]->id] = data_axes_of(p, op, op->results[i]);
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++) {
      const TileValue *v = op->regions[r]->params[i];
      p->data_axes[v->id] = plan_held(p, v) ? long_axes(&v->type) : 0;
    }
}

static bool is_scattered(const Plan *p, const TileValue *ptr) {
  return plan_held(p, ptr) && p->data_axes[ptr->id] == long_axes(&ptr->type);
}

/* ---- memory ---- */

/* The axis along which neighbours are in memory: the one with the longest runs, the last if all
 * are alike. */
static int memory_axis(const Plan *p, const TileValue *ptr) {
  const AxisInfo *x = &p->axis[ptr->id];
  int best = ptr->type.rank - 1;
  for (int a = ptr->type.rank - 2; a >= 0; a--)
    if (x->contig[a] > x->contig[best]) best = a;
  return best;
}

static Choice memory_choice(const Plan *p, const Type *t, int axis, int64_t vector, int rank) {
  const Machine *m = p->u->machine;
  int warps = schedule_warps(p->u), order[MAX_RANK], n = 0;
  order[n++] = axis;
  for (int a = t->rank - 1; a >= 0; a--)
    if (a != axis) order[n++] = a;
  if (!machine_has(m, HAS_VECTOR_ACCESSES)) vector = 1;
  if (vector > t->shape[axis]) vector = t->shape[axis];
  int64_t share = type_numel(*t) / ((int64_t)warps * m->lanes);
  vector = pow2_at_most(vector < share ? vector : share > 1 ? share : 1);
  Choice c = {.rank = rank, .weight = vector};
  c.layout = schedule_blocked(t, order, (int)vector, warps, m->lanes);
  return c;
}

static unsigned elem_bytes(const TileValue *ptr) {
  unsigned n = dtype_bytes((DType)ptr->type.elem);
  return n ? n : 1;
}

/* Elements that an access can take at once, along an axis. */
typedef struct {
  int axis;
  int64_t n;
} Run;

static Run pointer_run(const Plan *p, const TileValue *ptr, const TileValue *mask) {
  int axis = memory_axis(p, ptr);
  unsigned bytes = elem_bytes(ptr);
  if (mask && !p->index_only[mask->id]) mask = NULL;
  return (Run){axis,
               axis_vector(p->axis, ptr, mask, axis, bytes, p->u->machine->vector_bytes / bytes)};
}

/* A view is contiguous along an axis of stride 1; alignment follows from the other strides, the
 * offsets and the base. */
static Run view_run(const Plan *p, const TileOp *op) {
  uint32_t r = tile_view_rank(op);
  unsigned bytes = elem_bytes(op->args[0]);
  int axis = (int)r - 1;
  int64_t n = 1;
  for (int a = (int)r - 1; a >= 0; a--) {
    const AxisInfo *s = &p->axis[tile_view_stride(op, (uint32_t)a)->id];
    if (!s->known || s->lo != 1) continue;
    axis = a;
    n = p->u->machine->vector_bytes / bytes;
    int64_t div = p->axis[op->args[0]->id].div[0] / bytes;
    for (uint32_t k = 0; k < r; k++) {
      int64_t d = (int)k == a ? p->axis[tile_view_offset(op, k)->id].div[0]
                              : p->axis[tile_view_stride(op, k)->id].div[0];
      if (d < div) div = d;
    }
    if (tile_view_checked(op, (uint32_t)a)) {
      int64_t size = p->axis[tile_view_size(op, (uint32_t)a)->id].div[0];
      if (size < div) div = size;
    }
    if (div < n) n = div < 1 ? 1 : div;
    break;
  }
  return (Run){axis, n};
}

typedef struct {
  int dots;
  bool writes; /* to memory */
} LoopBody;

static void note_body(TileOp *op, void *ctx) {
  LoopBody *body = ctx;
  body->dots += op->code == TILE_DOT;
  body->writes |= (tile_op_flags(op->code) & TILE_WRITE) != 0;
}

/* Has a loop one dot, and writes no memory? */
static bool only_multiplies(TileBlock *b) {
  LoopBody body = {0};
  tile_walk(b, note_body, &body);
  return body.dots == 1 && !body.writes;
}

/* Does the value change in the loop whose body that is? */
static bool changes_in(const TileValue *v, const TileBlock *body, int depth) {
  if (v->block) return v->block == body;
  if (!v->def || !depth) return true;
  const TileBlock *at = v->def->parent;
  while (at && at != body) at = at->owner ? at->owner->parent : NULL;
  if (!at) return false;
  for (uint32_t i = 0; i < v->def->nargs; i++)
    if (v->def->args[i] && changes_in(v->def->args[i], body, depth - 1)) return true;
  return v->def->nregions > 0;
}

/* Shall the load run ahead of its loop, through shared memory?  Pass pipeline makes a copy of it,
 * as of operands that are stored there as they are. */
static bool runs_ahead(const Plan *p, const TileOp *op) {
  const TileOp *loop = op->parent->owner;
  if (op->code != TILE_LOAD || !loop || loop->code != TILE_FOR || !only_multiplies(op->parent) ||
      !machine_has(p->u->machine, HAS_ASYNC_COPIES) ||
      tile_int(loop, TA_num_stages, p->u->tile->options.num_stages) < 2)
    return false;
  enum { DEPTH = 12 };
  const TileValue *ptr = op->args[0], *mask = op->args[1];
  if (!ptr->type.rank || !p->index_only[ptr->id] || (mask && !p->index_only[mask->id]) ||
      !changes_in(ptr, op->parent, DEPTH))
    return false;
  Run run = pointer_run(p, ptr, mask);
  int64_t most = ptr->type.shape[run.axis];
  return (run.n < most ? run.n : most) * elem_bytes(ptr) >= MACHINE_COPY_LEAST;
}

static void note_ahead(TileOp *op, void *ctx) {
  Plan *p = ctx;
  if (op->code == TILE_LOAD && runs_ahead(p, op)) p->ahead[op->results[0]->id] = true;
}

/* Do neighbors read the same element, as the fields of a word and what shares a scale do, or does
 * data say which?  Such a load is as good in the layout of a store. */
static bool is_loose_read(const Plan *p, const TileValue *ptr, const Run *run) {
  bool loose = p->axis[ptr->id].constancy[run->axis] > 1 || is_scattered(p, ptr);
  return run->n == 1 && loose && machine_has(p->u->machine, HAS_COALESCING);
}

/* The layout that an access through pointers, or to a view, would like best. */
static Choice plan_pointer_choice(const Plan *p, const TileValue *ptr, const TileValue *mask,
                                  int rank) {
  Run run = pointer_run(p, ptr, mask);
  if (rank == RANK_LOAD && is_loose_read(p, ptr, &run)) rank = RANK_STORE;
  Choice c = memory_choice(p, &ptr->type, run.axis, run.n, rank);
  c.scattered = is_scattered(p, ptr);
  c.adjacent = p->axis[ptr->id].contig[run.axis] > 1 && machine_has(p->u->machine, HAS_COALESCING);
  return c;
}

static Choice plan_view_choice(const Plan *p, const TileOp *op, const Type *t, int rank) {
  Run run = view_run(p, op);
  return memory_choice(p, t, run.axis, run.n, rank);
}

/* ---- matrix instructions ---- */

/* Registers that the assembler can give a thread of so many warps. */
static int registers_of_thread(const Machine *m, int warps, int maxnreg) {
  enum { PROCESSOR = 65536, STEP = 8 };
  int n = PROCESSOR / (warps * m->lanes) / STEP * STEP;
  if (m->regs && m->regs < n) n = m->regs;
  return maxnreg && maxnreg < n ? maxnreg : n;
}

bool schedule_accumulators_fit(const Machine *m, int warps, int maxnreg, int accumulators) {
  enum { OTHERS = 30 };
  return accumulators + OTHERS <= registers_of_thread(m, warps, maxnreg);
}

/* A warpgroup's instruction needs all of its accumulators in registers at once. */
static bool has_registers(const Unit *u, const Atom *atom, int columns) {
  int accumulators = atom->m * columns / (atom->warps * u->machine->lanes);
  return schedule_accumulators_fit(u->machine, schedule_warps(u), u->tile->options.maxnreg,
                                   accumulators);
}

static void split_warps(const Plan *p, const Atom *atom, const Type *t, int warps, int *wm,
                        int *wn) {
  int m = schedule_repeats(t->shape[t->rank - 2], atom->m),
      n = schedule_repeats(t->shape[t->rank - 1], atom->n);
  *wm = *wn = 1;
  /* Warps that multiply different matrices of a batch share no operands' elements. */
  if (atom->warps == 1) warps /= schedule_batch_warps(t, warps);
  while (*wm * *wn * atom->warps < warps) {
    bool can_m = *wm < m, can_n = *wn < n;
    if (!can_m && !can_n) break;
    int64_t per_m = (int64_t)atom->m * m / *wm, per_n = (int64_t)atom->n * n / *wn;
    /* A warpgroup's instruction reads less of shared memory the more columns it has. */
    bool rows_first = p->chained || atom->warps > 1;
    if (can_m && (rows_first || !can_n || per_m >= per_n)) *wm *= 2;
    else *wn *= 2;
  }
  /* Fewer columns an instruction, where a thread has too few registers for as many. */
  while (atom->warps > 1 && *wm > 1 && !has_registers(p->u, atom, t->shape[1] / *wn)) {
    *wm /= 2;
    *wn *= 2;
  }
}

bool schedule_group_fits(const Unit *u, const Atom *atom, const TileOp *op, int wm, int wn) {
  enum { MOST_COLUMNS = 256, PANEL_COLUMNS = 64, LEAST_COLUMNS = 16 };
  const Type *a = &op->args[0]->type, *b = &op->args[1]->type, *t = &op->results[0]->type;
  bool split = wm >= 1 && wm * wn * atom->warps == schedule_warps(u);
  if (!split || !wgmma_fits(a, 0) || !wgmma_fits(b, 1)) return false;
  int columns = t->shape[1] / wn;
  bool aligned = wn == 1 ? columns >= LEAST_COLUMNS : columns % PANEL_COLUMNS == 0;
  return t->shape[0] % (atom->m * wm) == 0 && a->shape[1] % atom->k == 0 && aligned &&
         columns <= MOST_COLUMNS && has_registers(u, atom, columns);
}

static const Atom *group_atom(const Plan *p, const TileOp *op, Tf32 tf32) {
  const Type *t = &op->results[0]->type;
  int warps = schedule_warps(p->u), wm, wn;
  const Atom *atom =
      atom_choose_group((DType)op->args[0]->type.dtype, (DType)op->args[1]->type.dtype,
                        (DType)t->dtype, tf32, p->u->machine->sm);
  if (!atom) return NULL;
  split_warps(p, atom, t, warps, &wm, &wn);
  return schedule_group_fits(p->u, atom, op, wm, wn) ? atom : NULL;
}

/* The matrix instruction that computes a dot; NULL: multiply-adds. */
static const Atom *plan_dot_atom(const Plan *p, const TileOp *op) {
  DType a = (DType)op->args[0]->type.dtype, b = (DType)op->args[1]->type.dtype;
  Tf32 tf32 = tile_dot_tf32(op);
  if (a == DT_F32 && tf32 == TF32_NONE) return NULL;
  const Atom *group = group_atom(p, op, tf32);
  if (group) return group;
  return atom_choose(a, b, (DType)op->results[0]->type.dtype, tf32, p->u->machine->sm);
}

/* ---- dots ---- */

/* Without a matrix instruction: threads over M and N, a small square of outputs each. */
static Layout fma_layout(const Plan *p, const Type *t) {
  const Machine *m = p->u->machine;
  int order[MAX_RANK], warps = schedule_warps(p->u);
  schedule_order(t, order);
  if (!machine_has(m, HAS_VECTOR_ACCESSES)) return schedule_blocked(t, order, 1, warps, m->lanes);
  int64_t share = type_numel(*t) / ((int64_t)warps * m->lanes);
  int vec = share >= 16 && t->shape[t->rank - 1] % 4 == 0 ? 4 : 1;
  return schedule_blocked(t, order, vec, warps, m->lanes);
}

/* Words that are copied to shared memory across: 8 that follow each other, a sector of memory, of
 * each of 4 rows, which make 16 bytes of a row there. */
static Layout across_layout(const Plan *p, const Type *t, int fast) {
  enum { SECTOR_WORDS = 8 };
  int lanes[2], warps[2], left = schedule_warps(p->u), order[2] = {1 - fast, fast};
  Layout l = layout_new(t);
  lanes[fast] = SECTOR_WORDS;
  lanes[1 - fast] = p->u->machine->lanes / SECTOR_WORDS;
  for (int i = 0; i < 2; i++) {
    int a = order[i];
    for (warps[a] = 1; left > 1 && t->shape[a] % (2 * warps[a] * lanes[a]) == 0; left /= 2)
      warps[a] *= 2;
  }
  int32_t regs = 1;
  for (int a = 0; a < 2; a++) {
    int32_t n = t->shape[a] / (lanes[a] * warps[a]);
    layout_push(&l, a, HW_REG, n, regs);
    layout_push(&l, a, HW_WARP, warps[a], a == fast ? warps[1 - fast] : 1);
    layout_push(&l, a, HW_LANE, lanes[a], a == fast ? 1 : SECTOR_WORDS);
    regs *= n;
  }
  layout_push(&l, -1, HW_WARP, left, warps[0] * warps[1]);
  return l;
}

/* An operand of f32 that is loaded in another order than the one that a descriptor needs. */
static void anchor_across(Plan *p, const TileOp *dot, int which) {
  enum { SURE = 1024 };
  const TileValue *v = dot->args[which];
  int need = wgmma_fast_axis((DType)v->type.dtype, which);
  for (; v->def && v->def->code == TILE_TRANS; v = v->def->args[0]) need = 1 - need;
  bool load = v->def && v->def->code == TILE_LOAD;
  if (!load && !(v->def && v->def->code == TILE_VIEW_LOAD)) return;
  int fast = load ? memory_axis(p, v->def->args[0]) : view_run(p, v->def).axis;
  if (fast == need) return;
  Choice c = {.rank = RANK_LOAD, .weight = SURE, .layout = across_layout(p, &v->type, fast)};
  plan_offer(p, v, c);
}

static void invert(const TileAttr *perm, int64_t *out) {
  for (uint32_t i = 0; i < perm->len; i++) out[perm->list[i]] = i;
}

/* Broadcast axes keep one element: their digits in warps and lanes replicate it. */
static Layout unbroadcast(const Layout *l, const Type *from) {
  Layout r = {.rank = l->rank};
  memcpy(r.shape, from->shape, sizeof r.shape);
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    bool gone = d->axis >= 0 && from->shape[d->axis] == 1;
    if (gone && hw_in_thread((HwDim)d->hw)) continue;
    layout_push(&r, gone ? -1 : d->axis, (HwDim)d->hw, d->extent, d->stride);
  }
  layout_pack_registers(&r);
  return r;
}

/* The layout of an op's argument in which the elements of its result are where they are wanted. */
static bool layout_before(const TileOp *op, const Layout *result, Layout *out) {
  int64_t inverse[MAX_RANK];
  switch (op->code) {
    case TILE_RESHAPE: return layout_reshape(result, &op->args[0]->type, out);
    case TILE_TRANS:
      invert(tile_attr(op, TA_perm), inverse);
      *out = layout_permute(result, inverse);
      return true;
    case TILE_BROADCAST: *out = unbroadcast(result, &op->args[0]->type); return true;
    default: return false;
  }
}

/* A thread's registers in the order of the tile's elements, the last axis first: bytes of a word
 * stay together. */
static void number_registers(Layout *l) {
  int32_t next = 1;
  for (int axis = l->rank - 1; axis >= 0; axis--)
    for (int i = l->ndigits - 1; i >= 0; i--) {
      if (l->d[i].axis != axis || l->d[i].hw != HW_REG) continue;
      l->d[i].stride = next;
      next *= l->d[i].extent;
    }
  int n = 0;
  for (int i = 0; i < l->ndigits; i++) { /* neighbors become one digit */
    Digit d = l->d[i], *last = n ? &l->d[n - 1] : NULL;
    bool joins = last && d.hw == HW_REG && last->hw == HW_REG && last->axis == d.axis &&
                 d.axis >= 0 && last->stride == d.stride * d.extent;
    if (joins) *last = (Digit){last->extent * d.extent, d.stride, HW_REG, d.axis};
    else l->d[n++] = d;
  }
  l->ndigits = (uint8_t)n;
}

/* An operand in another shape or order than it is computed in is computed, where nothing else
 * decides, by the threads whose instructions take it. */
static void offer_fragments(Plan *p, const TileOp *op, const Choice *c) {
  int wm, wn;
  if (c->atom->warps > 1) return;
  schedule_warp_split(c->atom, &c->layout, &wm, &wn);
  for (int i = 0; i < 2; i++) {
    const TileValue *x = op->args[i];
    if (!x->def || x->def->code != TILE_RESHAPE) continue;
    Layout l = schedule_fragment(c->atom, i, &x->type, wm, wn, schedule_warps(p->u));
    while (plan_held(p, x)) {
      Layout before;
      bool goes_on = x->def && x->def->nargs && layout_before(x->def, &l, &before);
      if (!goes_on) number_registers(&l);
      plan_offer(p, x, (Choice){.rank = RANK_DERIVED, .layout = l});
      if (!goes_on) break;
      x = x->def->args[0];
      l = before;
    }
  }
}

static void anchor_dot(Plan *p, const TileOp *op) {
  const Type *t = &op->results[0]->type;
  Choice c = {.rank = RANK_DOT, .atom = plan_dot_atom(p, op)};
  if (c.atom) {
    int wm, wn, warps = schedule_warps(p->u);
    split_warps(p, c.atom, t, warps, &wm, &wn);
    c.layout = schedule_fragment(c.atom, 2, t, wm, wn, warps);
    c.weight = 1;
    for (int i = 0; i < 2 && c.atom->warps > 1 && c.atom->tf32; i++) anchor_across(p, op, i);
  } else {
    c.layout = fma_layout(p, t);
  }
  plan_offer(p, op->results[0], c);
  if (c.atom) offer_fragments(p, op, &c);
}

static void note_chain(TileOp *op, void *ctx) {
  Plan *p = ctx;
  /* A reduction over a dot's shape, or a dot whose A operand was computed, as in attention. */
  if (op->code != TILE_DOT) return;
  const TileValue *a = op->args[0];
  while (a->def && (tile_op_flags(a->def->code) & TILE_ELEM) && a->def->nargs) a = a->def->args[0];
  if (!a->def ||
      (a->def->code != TILE_LOAD && a->def->code != TILE_VIEW_LOAD && a->def->code != TILE_TRANS))
    p->chained = true;
}

/* ---- small loads ---- */

static void note_broadcast(TileOp *op, void *ctx) {
  Plan *p = ctx;
  if (op->code != TILE_BROADCAST) return;
  const TileValue *v = op->args[0];
  for (; plan_held(p, v); v = v->def->args[0]) {
    p->broadcast[plan_find(p, v->id)] = true;
    if (!v->def || v->def->code != TILE_EXPAND_DIMS) return;
  }
}

/* A load of at most an element a thread that larger tiles are made of, as weights are of channels
 * and scales of rows, has the layout of these: every thread loads what it needs, where an exchange
 * through shared memory would stop them all. */
static bool follows_users(Plan *p, const TileOp *op) {
  if (op->code != TILE_LOAD || !machine_has(p->u->machine, HAS_COALESCING) ||
      p->ahead[op->results[0]->id])
    return false;
  const TileValue *v = op->results[0];
  int64_t threads = (int64_t)schedule_warps(p->u) * p->u->machine->lanes;
  return plan_held(p, v) && type_numel(v->type) <= threads && p->broadcast[plan_find(p, v->id)];
}

/* Does a thread load all its elements in that layout at once, or by a few accesses?  These take
 * less time than an exchange, for which the threads wait. */
static bool is_quick_access(const Plan *p, const TileOp *op, const Layout *l) {
  enum { FEW = 4 };
  const TileValue *ptr = op->args[0], *mask = op->args[1];
  int axis = memory_axis(p, ptr), elements = layout_registers(l);
  unsigned bytes = elem_bytes(ptr);
  if (elements <= FEW) return true;
  if (mask && !p->index_only[mask->id]) return false;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].hw == HW_REG &&
        (l->d[i].axis != axis || l->d[i].extent != elements || layout_weight(l, i) != 1))
      return false;
  int64_t n = axis_vector(p->axis, ptr, mask, axis, bytes, p->u->machine->vector_bytes / bytes);
  return n * FEW >= elements;
}

/* A small load that got no suitable layout chooses one as other loads do. */
static void settle_small_load(TileOp *op, void *ctx) {
  Plan *p = ctx;
  if (!follows_users(p, op)) return;
  const TileValue *v = op->results[0];
  const Choice *c = &p->choice[plan_find(p, v->id)];
  if (c->rank == RANK_NONE || (c->rank == RANK_DERIVED && !is_quick_access(p, op, &c->layout)))
    plan_offer(p, v, plan_pointer_choice(p, op->args[0], op->args[1], RANK_LOAD));
}

/* ---- all of them ---- */

/* A copy that runs ahead takes some bytes at once, whatever the number of threads. */
static Choice load_choice(const Plan *p, const TileOp *op) {
  Choice c = plan_pointer_choice(p, op->args[0], op->args[1], RANK_LOAD);
  int64_t least = MACHINE_COPY_LEAST / elem_bytes(op->args[0]);
  if (!p->ahead[op->results[0]->id] || c.weight >= least) return c;
  int order[MAX_RANK], n = 0, axis = pointer_run(p, op->args[0], op->args[1]).axis;
  const Type *t = &op->args[0]->type;
  order[n++] = axis;
  for (int a = t->rank - 1; a >= 0; a--)
    if (a != axis) order[n++] = a;
  c.layout = schedule_blocked(t, order, (int)least, schedule_warps(p->u), p->u->machine->lanes);
  c.weight = least;
  return c;
}

static void anchor_op(TileOp *op, void *ctx) {
  Plan *p = ctx;
  switch (op->code) {
    case TILE_DOT: anchor_dot(p, op); return;
    case TILE_LOAD:
      if (op->results[0]->type.rank && !follows_users(p, op))
        plan_offer(p, op->results[0], load_choice(p, op));
      return;
    case TILE_ATOMIC_RMW:
      if (op->results[0]->type.rank)
        plan_offer(p, op->results[0], plan_pointer_choice(p, op->args[0], op->args[2], RANK_STORE));
      return;
    case TILE_VIEW_LOAD:
      if (op->results[0]->type.rank)
        plan_offer(p, op->results[0], plan_view_choice(p, op, &op->results[0]->type, RANK_LOAD));
      return;
    case TILE_STORE:
      if (plan_held(p, op->args[1]))
        plan_offer(p, op->args[1], plan_pointer_choice(p, op->args[0], op->args[2], RANK_STORE));
      return;
    case TILE_VIEW_STORE:
      if (plan_held(p, op->args[1]))
        plan_offer(p, op->args[1], plan_view_choice(p, op, &op->args[1]->type, RANK_STORE));
      return;
    default: return;
  }
}

/* ---- scans ---- */

/* Threads that hold neighbours along a scan's axis have less to exchange.  Where lanes that follow
 * each other are along another axis, which rows a warp has makes no difference to its accesses. */
static void settle_scan(TileOp *op, void *ctx) {
  Plan *p = ctx;
  const TileValue *v = op->nargs ? op->args[0] : NULL;
  if (op->code != TILE_SCAN || !machine_has(p->u->machine, HAS_COALESCING) || !plan_held(p, v))
    return;
  int axis = (int)tile_int(op, TA_axis, 0);
  Choice *c = &p->choice[plan_find(p, v->id)];
  if (!c->rank) {
    int warps = schedule_warps(p->u), lanes = p->u->machine->lanes;
    c->rank = RANK_SCAN;
    c->layout = schedule_runs(&v->type, axis, 1, warps, lanes);
  } else if (c->rank <= RANK_LOAD) {
    bool across = true;
    for (int i = 0; i < c->layout.ndigits; i++) {
      const Digit *d = &c->layout.d[i];
      across &= d->axis != axis || d->hw != HW_LANE || d->stride > 1;
    }
    if (across) c->layout = schedule_registers_last(&c->layout, axis);
  }
}

/* ---- accesses along two axes ---- */

/* What the accesses to a group's tiles take at once along each axis, at most. */
typedef struct {
  const Type *tile;
  int64_t most[MAX_RANK];
  unsigned bytes[MAX_RANK]; /* of an element, there */
  int loaded;               /* the axis of a load; -1: there is none */
} Crossing;

typedef struct {
  Plan *p;
  Crossing *crossing; /* by group root */
} Crossings;

static void note_run(const Crossings *x, const TileValue *held, const TileValue *ptr, Run run,
                     bool load) {
  if (!plan_held(x->p, held) || held->type.rank < 2 || plan_held(x->p, ptr)) return;
  for (int a = 0; a < held->type.rank; a++) /* a row for all columns, which a cache has */
    if (a != run.axis && x->p->axis[ptr->id].constancy[a] > 1) return;
  Crossing *c = &x->crossing[plan_find(x->p, held->id)];
  if (!c->tile) c->loaded = -1;
  c->tile = &held->type;
  if (run.n > held->type.shape[run.axis]) run.n = held->type.shape[run.axis];
  run.n = pow2_at_most(run.n);
  if (load && run.n > 1 && c->loaded < 0) c->loaded = run.axis;
  if (run.n <= c->most[run.axis]) return;
  c->most[run.axis] = run.n;
  c->bytes[run.axis] = elem_bytes(ptr);
}

static void note_crossing(TileOp *op, void *ctx) {
  const Crossings *x = ctx;
  switch (op->code) {
    case TILE_LOAD:
      note_run(x, op->results[0], op->args[0], pointer_run(x->p, op->args[0], op->args[1]), true);
      return;
    case TILE_STORE:
      note_run(x, op->args[1], op->args[0], pointer_run(x->p, op->args[0], op->args[2]), false);
      return;
    case TILE_VIEW_LOAD:
      note_run(x, op->results[0], op->args[0], view_run(x->p, op), true);
      return;
    case TILE_VIEW_STORE:
      note_run(x, op->args[1], op->args[0], view_run(x->p, op), false);
      return;
    default: return;
  }
}

/* The axis other than `but` (-1: any) along which most bytes are taken at once; -1: along none is
 * more than one element. */
static int longest_run(const Crossing *c, int but) {
  int best = -1;
  for (int a = c->tile->rank - 1; a >= 0; a--)
    if (a != but && c->most[a] > 1 &&
        (best < 0 || c->most[a] * c->bytes[a] > c->most[best] * c->bytes[best]))
      best = a;
  return best;
}

/* A tile that is read along one axis and written along another, as a transposition is: a thread has
 * vectors along both, and the lanes of a warp share both axes.  Accesses of either kind then fill
 * sectors of memory, and elements change places among a thread's registers alone. */
static void cross_group(const Plan *p, const Crossing *c, Choice *choice) {
  int a = c->loaded >= 0 ? c->loaded : longest_run(c, -1), b = a < 0 ? -1 : longest_run(c, a);
  bool memory = choice->rank == RANK_LOAD || choice->rank == RANK_STORE;
  if (b < 0 || !memory || choice->scattered) return;
  int warps = schedule_warps(p->u), lanes = p->u->machine->lanes;
  int64_t share = type_numel(*c->tile) / ((int64_t)warps * lanes);
  Cross x = {{a, b}, {c->most[a], c->most[b]}, {c->bytes[a], c->bytes[b]}};
  while (x.vector[0] * x.vector[1] > (share > 1 ? share : 1)) {
    int64_t bytes[] = {x.vector[0] * x.bytes[0], x.vector[1] * x.bytes[1]};
    x.vector[bytes[1] > bytes[0] ? x.vector[1] > 1 : x.vector[0] == 1] /= 2;
  }
  choice->layout = schedule_crossed(c->tile, &x, warps, lanes);
  choice->crossed = true;
}

static void plan_crossings(Plan *p) {
  if (!machine_has(p->u->machine, HAS_COALESCING)) return;
  Crossings x = {p, ARENA_ARRAY(p->scratch, Crossing, p->f->nvalues)};
  tile_walk(p->f->body, note_crossing, &x);
  for (uint32_t i = 0; i < p->f->nvalues; i++)
    if (x.crossing[i].tile) cross_group(p, &x.crossing[i], &p->choice[i]);
}

static void plan_anchors(Plan *p) {
  tile_walk(p->f->body, note_chain, p);
  tile_walk(p->f->body, anchor_op, p);
  plan_crossings(p);
  tile_walk(p->f->body, settle_scan, p);
}

/* ======== propagation ======== */

int schedule_warps(const Unit *u) {
  return u->machine->max_warps == 1 ? 1 : u->tile->options.num_warps;
}

static Layout plain_layout(const Plan *p, const Type *t) {
  int order[MAX_RANK];
  schedule_order(t, order);
  return schedule_blocked(t, order, 1, schedule_warps(p->u), p->u->machine->lanes);
}

/* ---- neighbours ---- */

static const Layout *layout_of(Plan *p, const TileValue *v) {
  if (!plan_held(p, v) || (p->ahead[v->id] && !p->follows)) return NULL;
  Choice *c = &p->choice[plan_find(p, v->id)];
  return c->rank ? &c->layout : NULL;
}

static void derive(Plan *p, const TileValue *v, Layout l, bool *changed) {
  if (!plan_held(p, v) || p->choice[plan_find(p, v->id)].rank) return;
  plan_offer(p, v, (Choice){.rank = RANK_DERIVED, .layout = l});
  *changed = true;
}

static void derive_op(Plan *p, const TileOp *op, bool *changed) {
  const TileValue *x = op->nargs ? op->args[0] : NULL, *r = op->nresults ? op->results[0] : NULL;
  const Layout *lx = x ? layout_of(p, x) : NULL, *lr = r ? layout_of(p, r) : NULL;
  int64_t inverse[MAX_RANK];
  Layout same;
  switch (op->code) {
    case TILE_REDUCE:
      if (lx) derive(p, r, layout_drop_axis(lx, (int)tile_int(op, TA_axis, 0)), changed);
      return;
    case TILE_EXPAND_DIMS:
      if (lx) derive(p, r, layout_insert_axis(lx, (int)tile_int(op, TA_axis, 0)), changed);
      if (lr) derive(p, x, layout_drop_axis(lr, (int)tile_int(op, TA_axis, 0)), changed);
      return;
    case TILE_BROADCAST:
      if (lr) derive(p, x, unbroadcast(lr, &x->type), changed);
      return;
    case TILE_TRANS:
      if (lx) derive(p, r, layout_permute(lx, tile_attr(op, TA_perm)->list), changed);
      invert(tile_attr(op, TA_perm), inverse);
      if (lr) derive(p, x, layout_permute(lr, inverse), changed);
      return;
    case TILE_RESHAPE:
      if (lx && r->type.rank && layout_reshape(lx, &r->type, &same)) derive(p, r, same, changed);
      if (lr && x->type.rank && layout_reshape(lr, &x->type, &same)) derive(p, x, same, changed);
      return;
    case TILE_JOIN:
      if (lx) derive(p, r, layout_add_pair(lx), changed);
      for (uint32_t i = 0; lr && i < op->nargs; i++)
        if (layout_drop_pair(lr, &same)) derive(p, op->args[i], same, changed);
      return;
    case TILE_SPLIT:
      for (uint32_t i = 0; lx && i < op->nresults; i++)
        if (layout_drop_pair(lx, &same)) derive(p, op->results[i], same, changed);
      if (lr) derive(p, x, layout_add_pair(lr), changed);
      return;
    default: return;
  }
}

typedef struct {
  Plan *p;
  bool changed;
} Derive;

static void visit_derive(TileOp *op, void *ctx) {
  Derive *d = ctx;
  arena_work(d->p->scratch, 1);
  derive_op(d->p, op, &d->changed);
}

static void plan_neighbours(Plan *p) {
  Derive d = {p, true};
  while (d.changed) {
    d.changed = false;
    tile_walk(p->f->body, visit_derive, &d);
  }
}

typedef struct {
  Plan *p;
  uint32_t group;
  int varies[MAX_RANK]; /* tiles of which the group's are made that are longer than 1 there */
} Parts;

static void note_part(TileOp *op, void *ctx) {
  Parts *x = ctx;
  if (op->code != TILE_BROADCAST || plan_find(x->p, op->results[0]->id) != x->group) return;
  const Type *t = &op->args[0]->type;
  for (int a = 0; a < t->rank; a++) x->varies[a] += t->shape[a] > 1;
}

static int axis_of_vector(const Layout *l) {
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].hw == HW_REG && l->d[i].stride == 1) return l->d[i].axis;
  return -1;
}

/* A load that runs ahead, or that with more axes. */
static bool is_ahead(const Plan *p, const TileValue *v) {
  while (v->def && v->def->code == TILE_EXPAND_DIMS) v = v->def->args[0];
  return p->ahead[v->id];
}

/* The layout for what is computed of a load that runs ahead: the copy's or, of words, one that
 * gives a thread those for which other parts of the result are the same, as fields of a column have
 * one zero point. */
static Layout layout_of_users(Plan *p, const TileValue *load, const TileValue *user) {
  enum { WORD = 4 };
  Layout own = *layout_of(p, load);
  const Type *t = &load->type;
  Parts parts = {.p = p, .group = plan_find(p, user->id)};
  int axis = axis_of_vector(&own), from = axis;
  int64_t share = type_numel(*t) / ((int64_t)schedule_warps(p->u) * p->u->machine->lanes);
  if (axis < 0 || share < 2 || dtype_bytes((DType)t->dtype) < WORD) return own;
  tile_walk(p->f->body, note_part, &parts);
  for (int a = 0; a < t->rank; a++)
    if (t->shape[a] % share == 0 && parts.varies[a] < parts.varies[axis]) axis = a;
  if (axis == from) return own;
  return schedule_repeated(t, from, axis, (int)share, schedule_warps(p->u), p->u->machine->lanes);
}

/* Without another choice, the layout of a load that runs ahead, of so many elements. */
static void follow_loads(Plan *p, const TileOp *op, int64_t least) {
  bool changed;
  if (!(tile_op_flags(op->code) & TILE_ELEM) && op->code != TILE_ASM) return;
  for (uint32_t i = 0; i < op->nargs; i++) {
    const TileValue *x = op->args[i];
    if (x && plan_held(p, x) && p->ahead[x->id] && type_numel(x->type) >= least)
      derive(p, op->results[0], layout_of_users(p, x, op->results[0]), &changed);
  }
}

static void follow_large_load(TileOp *op, void *ctx) {
  const Plan *p = ctx;
  follow_loads(ctx, op, (int64_t)schedule_warps(p->u) * p->u->machine->lanes);
}

static void follow_load(TileOp *op, void *ctx) { follow_loads(ctx, op, 1); }

/* ---- larger tiles of loaded ones ---- */

/* The layout of a tile with more elements along axes that have one: a thread has all of these. */
static Layout broadcasted(const Layout *l, const Type *to) {
  Layout r = layout_new(to);
  int32_t registers = layout_registers(l);
  for (int a = 0; a < to->rank; a++) {
    bool grows = l->shape[a] == 1 && to->shape[a] > 1;
    if (grows) layout_push(&r, a, HW_REG, to->shape[a], registers);
    if (grows) registers *= to->shape[a];
    for (int i = 0; i < l->ndigits && !grows; i++)
      if (l->d[i].axis == a) layout_push(&r, a, (HwDim)l->d[i].hw, l->d[i].extent, l->d[i].stride);
  }
  return r;
}

typedef struct {
  Plan *p;
  const bool *open; /* by group root: nothing has chosen its layout */
} Grow;

/* Words of several fields that a tile has side by side, rows that are added to columns: where
 * nothing else decides, the tile follows from the largest of those that it is made of, whose
 * elements then stay where they are loaded. */
static void grow_tile(TileOp *op, void *ctx) {
  const Grow *g = ctx;
  Plan *p = g->p;
  if (op->code != TILE_BROADCAST || !plan_held(p, op->results[0])) return;
  const TileValue *x = op->args[0], *r = op->results[0];
  const Layout *l = layout_of(p, x);
  int64_t threads = (int64_t)schedule_warps(p->u) * p->u->machine->lanes;
  bool whole = l && type_numel(x->type) >= threads && !layout_replicated(l);
  if (!whole || !g->open[plan_find(p, r->id)]) return;
  bool loaded = p->choice[plan_find(p, r->id)].rank == RANK_LOAD;
  int rank = loaded ? RANK_LOAD : RANK_DERIVED;
  Layout own = is_ahead(p, x) ? layout_of_users(p, x, r) : *l;
  plan_offer(
      p, r,
      (Choice){.rank = rank, .weight = type_numel(x->type), .layout = broadcasted(&own, &r->type)});
}

/* A load by loaded indices, element by element, is as good in any layout. */
static bool is_open(const Choice *c) {
  return !c->rank || (c->rank == RANK_LOAD && c->scattered && c->weight == 1);
}

static void plan_grown_tiles(Plan *p) {
  if (!machine_has(p->u->machine, HAS_COALESCING)) return;
  bool *open = ARENA_ARRAY(p->scratch, bool, p->f->nvalues);
  for (uint32_t i = 0; i < p->f->nvalues; i++) open[i] = is_open(&p->choice[i]);
  Grow g = {p, open};
  tile_walk(p->f->body, grow_tile, &g);
  plan_neighbours(p);
}

/* ---- the pass ---- */

static bool tile_store(const TileOp *op) {
  return (op->code == TILE_STORE || op->code == TILE_VIEW_STORE) && op->args[1]->type.rank;
}

typedef struct {
  Plan *p;
  VEC(Layout) list;
} Stores;

/* A store keeps its value's layout, but for fragments: their rows are apart, and what a warp stores
 * at once shall be in one.  Of a tile that is crossed a thread stores what it has along the store's
 * axis. */
static void choose_store(TileOp *op, void *ctx) {
  Stores *s = ctx;
  Plan *p = s->p;
  if (!tile_store(op)) return;
  const TileValue *value = op->args[1];
  bool view = op->code == TILE_VIEW_STORE;
  Run run = view ? view_run(p, op) : pointer_run(p, op->args[0], op->args[2]);
  const Layout *held_in = layout_of(p, value);
  const Layout *ptr_in = view ? NULL : layout_of(p, op->args[0]);
  const Choice *held = held_in ? &p->choice[plan_find(p, value->id)] : NULL;
  Layout l = memory_choice(p, &value->type, run.axis, run.n, RANK_STORE).layout;
  if (ptr_in) l = *ptr_in;
  else if (held && held->crossed) l = schedule_vectors_along(held_in, run.axis);
  else if (held && (!machine_has(p->u->machine, HAS_COALESCING) || held->rank != RANK_DOT))
    l = *held_in;
  vec_push(p->u->arena, &s->list, l);
}

typedef struct {
  Plan *p;
  Schedule *s;
} Fill;

static void fill_value(Fill *x, const TileValue *v) {
  ValuePlan *out = &x->s->values[v->id];
  if (!plan_held(x->p, v) || schedule_renames(v)) return;
  Choice *c = &x->p->choice[plan_find(x->p, v->id)];
  if (!c->rank) *c = (Choice){.rank = RANK_DERIVED, .layout = plain_layout(x->p, &v->type)};
  out->held = true;
  out->layout = c->layout;
  out->ahead = x->p->ahead[v->id];
  if (v->def && v->def->code == TILE_DOT) out->atom = c->atom;
}

/* Groups that no anchor reaches get a plain layout, and their users derive theirs from it. */
static void fill_op(TileOp *op, void *ctx) {
  bool changed;
  derive_op(((Fill *)ctx)->p, op, &changed);
  for (uint32_t i = 0; i < op->nresults; i++) fill_value(ctx, op->results[i]);
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++)
      fill_value(ctx, op->regions[r]->params[i]);
}

bool pass_schedule(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  Plan p = {.u = u, .scratch = scratch, .f = u->tile};
  p.axis = axis_analyze(u->tile, scratch);
  p.index_only = schedule_index_only(u->tile, scratch);
  p.data_axes = ARENA_ARRAY(scratch, unsigned, u->tile->nvalues);
  p.parent = ARENA_ARRAY(scratch, uint32_t, u->tile->nvalues);
  p.choice = ARENA_ARRAY(scratch, Choice, u->tile->nvalues);
  p.ahead = ARENA_ARRAY(scratch, bool, u->tile->nvalues + 1);
  p.dot = ARENA_ARRAY(scratch, const TileOp *, u->tile->nvalues);
  p.broadcast = ARENA_ARRAY(scratch, bool, u->tile->nvalues);
  tile_walk(u->tile->body, note_ahead, &p);
  plan_groups(&p);
  tile_walk(u->tile->body, note_data_axes, &p);
  tile_walk(u->tile->body, note_broadcast, &p);
  plan_anchors(&p);
  plan_neighbours(&p);
  p.follows = true;
  tile_walk(u->tile->body, follow_large_load, &p);
  plan_neighbours(&p);
  plan_grown_tiles(&p);
  tile_walk(u->tile->body, follow_load, &p);
  plan_neighbours(&p);
  tile_walk(u->tile->body, settle_small_load, &p);
  plan_neighbours(&p);
  Schedule *s = ARENA_NEW(u->arena, Schedule);
  s->values = ARENA_ARRAY(u->arena, ValuePlan, u->tile->nvalues);
  s->nvalues = u->tile->nvalues;
  Fill fill = {&p, s};
  tile_walk(u->tile->body, fill_op, &fill);
  Stores stores = {.p = &p};
  tile_walk(u->tile->body, choose_store, &stores);
  s->stores = stores.list.data;
  s->nstores = (uint32_t)stores.list.len;
  u->schedule = s;
  arena_free(scratch);
  return true;
}
