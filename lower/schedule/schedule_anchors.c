/* The ops that know which layout they want: accesses to memory, and dots. */
#include <string.h>

#include "lower/schedule/schedule_plan.h"
#include "lower/target/wgmma_layout.h"

/* ---- memory ---- */

/* The axis along which neighbours lie in memory: the one with the longest runs, the last if all
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

Choice plan_pointer_choice(const Plan *p, const TileValue *ptr, const TileValue *mask, int rank) {
  int axis = memory_axis(p, ptr);
  unsigned bytes = elem_bytes(ptr);
  if (mask && !p->index_only[mask->id]) mask = NULL;
  int64_t n = axis_vector(p->axis, ptr, mask, axis, bytes, p->u->machine->vector_bytes / bytes);
  return memory_choice(p, &ptr->type, axis, n, rank);
}

/* A view is contiguous along an axis of stride 1; alignment follows from the other strides, the
 * offsets and the base. */
Choice plan_view_choice(const Plan *p, const TileOp *op, const Type *t, int rank) {
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
  return memory_choice(p, t, axis, n, rank);
}

/* ---- matrix instructions ---- */

static void split_warps(const Plan *p, const Atom *atom, const Type *t, int warps, int *wm,
                        int *wn) {
  int m = schedule_repeats(t->shape[t->rank - 2], atom->m),
      n = schedule_repeats(t->shape[t->rank - 1], atom->n);
  *wm = *wn = 1;
  while (*wm * *wn * atom->warps < warps) {
    bool can_m = *wm < m, can_n = *wn < n;
    if (!can_m && !can_n) break;
    int64_t per_m = (int64_t)atom->m * m / *wm, per_n = (int64_t)atom->n * n / *wn;
    /* A warpgroup's instruction reads less of shared memory the more columns it has. */
    bool rows_first = p->chained || atom->warps > 1;
    if (can_m && (rows_first || !can_n || per_m >= per_n)) *wm *= 2;
    else *wn *= 2;
  }
}

bool schedule_group_fits(const Atom *atom, const TileOp *op, int wm, int wn, int warps) {
  enum { MOST_COLUMNS = 256, PANEL_COLUMNS = 64, LEAST_COLUMNS = 16 };
  const Type *a = &op->args[0]->type, *b = &op->args[1]->type, *t = &op->results[0]->type;
  if (wm < 1 || wm * wn * atom->warps != warps || !wgmma_fits(a) || !wgmma_fits(b)) return false;
  int columns = t->shape[1] / wn;
  bool aligned = wn == 1 ? columns >= LEAST_COLUMNS : columns % PANEL_COLUMNS == 0;
  return t->shape[0] % (atom->m * wm) == 0 && a->shape[1] % atom->k == 0 && aligned &&
         columns <= MOST_COLUMNS;
}

static const Atom *group_atom(const Plan *p, const TileOp *op) {
  const Type *t = &op->results[0]->type;
  int warps = schedule_warps(p->u), wm, wn;
  const Atom *atom =
      atom_choose_group((DType)op->args[0]->type.dtype, (DType)op->args[1]->type.dtype,
                        (DType)t->dtype, p->u->machine->sm);
  if (!atom) return NULL;
  split_warps(p, atom, t, warps, &wm, &wn);
  return schedule_group_fits(atom, op, wm, wn, warps) ? atom : NULL;
}

const Atom *plan_dot_atom(const Plan *p, const TileOp *op) {
  const char *prec = tile_str(op, TA_precision, "tf32");
  DType a = (DType)op->args[0]->type.dtype, b = (DType)op->args[1]->type.dtype;
  bool tf32 = a == DT_F32;
  if (tf32 && strcmp(prec, "tf32")) return NULL;
  const Atom *group = group_atom(p, op);
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

static void anchor_dot(Plan *p, const TileOp *op) {
  const Type *t = &op->results[0]->type;
  Choice c = {.rank = RANK_DOT, .atom = plan_dot_atom(p, op)};
  if (c.atom) {
    int wm, wn, warps = schedule_warps(p->u);
    split_warps(p, c.atom, t, warps, &wm, &wn);
    c.layout = schedule_fragment(c.atom, 2, t, wm, wn, warps);
    c.weight = 1;
  } else {
    c.layout = fma_layout(p, t);
  }
  plan_offer(p, op->results[0], c);
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

/* ---- all of them ---- */

static void anchor_op(TileOp *op, void *ctx) {
  Plan *p = ctx;
  switch (op->code) {
    case TILE_DOT: anchor_dot(p, op); return;
    case TILE_LOAD:
      if (op->results[0]->type.rank)
        plan_offer(p, op->results[0], plan_pointer_choice(p, op->args[0], op->args[1], RANK_LOAD));
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

void plan_anchors(Plan *p) {
  tile_walk(p->f->body, note_chain, p);
  tile_walk(p->f->body, anchor_op, p);
}
