/* The layouts that dots need, and their operands. */
#include "lower/schedule/plan.h"

#include <string.h>

#include "lower/target/wgmma_layout.h"

/* The value of the load that a dot's operand is, or is the transpose of; NULL: it is computed. */
static const TileValue *loaded_operand(const TileOp *dot, int which, bool *turned) {
  const TileValue *v = dot->args[which];
  *turned = false;
  for (; v->def && v->def->code == TILE_TRANS; v = v->def->args[0]) *turned = !*turned;
  bool load = v->def && (v->def->code == TILE_LOAD || v->def->code == TILE_VIEW_LOAD);
  return load ? v : NULL;
}

/* The axis along which memory has the elements that are loaded. */
static int load_axis(const Plan *p, const TileValue *v) {
  return v->def->code == TILE_LOAD ? plan_memory_axis(p, v->def->args[0])
                                   : plan_view_run(p, v->def).axis;
}

/* The axis of an operand of rank 2 along which memory has it; the last if it is computed. */
static int memory_axis(const Plan *p, const TileOp *dot, int which) {
  bool turned;
  const TileValue *v = loaded_operand(dot, which, &turned);
  return (v ? load_axis(p, v) : 1) ^ turned;
}

typedef struct {
  int32_t rows, columns; /* of a thread */
  int32_t warps[2];      /* along rows and columns */
} FmaSquare;

/* Warps as they make a thread's block of outputs a square, so that it loads least for them. */
static bool fma_square(const Type *t, int warps, const int *lanes, const int *vector,
                       FmaSquare *out) {
  int32_t least = 0;
  for (int32_t wm = 1; wm <= warps; wm *= 2) {
    int32_t wn = warps / wm, m = wm * lanes[0] * vector[0], n = wn * lanes[1] * vector[1];
    if (t->shape[0] % m || t->shape[1] % n) continue;
    FmaSquare q = {t->shape[0] / (wm * lanes[0]), t->shape[1] / (wn * lanes[1]), {wm, wn}};
    if (least && q.rows + q.columns >= least) continue;
    least = q.rows + q.columns;
    *out = q;
  }
  return least;
}

/* 4 lanes along rows and 8 along columns: threads that read the same vector of an operand read it
 * once.  A thread has whole vectors of an operand whose elements lie along the output's axis;
 * neighbors along k are in different banks. */
static bool fma_blocks(const Plan *p, const TileOp *dot, Layout *out) {
  static const int lanes[] = {4, 8};
  const Type *t = &dot->results[0]->type;
  int elements = p->u->machine->vector_bytes / (int)dtype_bytes((DType)t->dtype), vector[2];
  bool fits = machine_has(p->u->machine, HAS_BANKED_SHARED) && t->rank == 2 && elements > 1;
  for (int i = 0; fits && i < 2; i++) vector[i] = memory_axis(p, dot, i) == i ? elements : 1;
  FmaSquare q = {0};
  if (!fits || !fma_square(t, schedule_warps(p->u), lanes, vector, &q)) return false;
  Layout l = layout_new(t);
  int32_t own[] = {q.rows, q.columns}, stride[] = {q.columns, 1};
  for (int a = 0; a < 2; a++) {
    layout_push(&l, a, HW_REG, own[a] / vector[a], stride[a] * vector[a]);
    layout_push(&l, a, HW_WARP, q.warps[a], a ? 1 : q.warps[1]);
    layout_push(&l, a, HW_LANE, lanes[a], a ? 1 : lanes[1]);
    layout_push(&l, a, HW_REG, vector[a], stride[a]);
  }
  *out = l;
  return true;
}

/* Without a matrix instruction: threads over M and N, a small square of outputs each. */
static Layout fma_layout(const Plan *p, const TileOp *dot) {
  const Type *t = &dot->results[0]->type;
  const Machine *m = p->u->machine;
  Layout blocks;
  if (fma_blocks(p, dot, &blocks)) return blocks;
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

/* Can boxes of a tensor bring the load, whose tile is then turned in shared memory?  In loops of
 * chained products threads copy words. */
static bool may_turn(const Plan *p, const TileOp *load, int fast) {
  const Options *o = &p->u->tile->options;
  const TileOp *loop = load->parent->owner;
  WgmmaTurn turn;
  bool words = dtype_bytes((DType)load->results[0]->type.dtype) > 1;
  if ((p->chained && words) || !machine_has(p->u->machine, HAS_ASYNC_PROXY)) return false;
  return !o->no_tensor_maps && !o->known_rows &&
         o->alias != NEREID_ALIAS_ORDERED && loop && loop->code == TILE_FOR &&
         wgmma_turn(&load->results[0]->type, fast, schedule_warps(p->u), &turn);
}

/* An operand that is loaded in another order than the one that a descriptor needs. */
static void anchor_across(Plan *p, const TileOp *dot, int which) {
  enum { SURE = 1024 };
  bool turned;
  const TileValue *v = loaded_operand(dot, which, &turned);
  if (!v) return;
  int need = wgmma_fast_axis((DType)v->type.dtype, which) ^ turned, fast = load_axis(p, v);
  if (fast == need) return;
  if (may_turn(p, v->def, fast)) {
    p->turned[v->id] = true;
    return;
  }
  if (dtype_bytes((DType)v->type.dtype) != sizeof(float)) return;
  Choice c = {.rank = RANK_LOAD, .weight = SURE, .layout = across_layout(p, &v->type, fast)};
  plan_offer(p, v, c);
}

void plan_invert(const TileAttr *perm, int64_t *out) {
  for (uint32_t i = 0; i < perm->len; i++) out[perm->list[i]] = i;
}

Layout plan_unbroadcast(const Layout *l, const Type *from) {
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
      plan_invert(tile_attr(op, TA_perm), inverse);
      *out = layout_permute(result, inverse);
      return true;
    case TILE_BROADCAST: *out = plan_unbroadcast(result, &op->args[0]->type); return true;
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

void plan_anchor_dot(Plan *p, const TileOp *op) {
  const Type *t = &op->results[0]->type;
  Choice c = {.rank = RANK_DOT, .atom = plan_dot_atom(p, op)};
  if (c.atom) {
    int wm, wn, warps = schedule_warps(p->u);
    plan_split_warps(p, c.atom, t, warps, &wm, &wn);
    c.layout = schedule_fragment(c.atom, 2, t, wm, wn, warps);
    c.weight = 1;
    for (int i = 0; i < 2 && c.atom->warps > 1; i++)
      if (!wgmma_takes_any_axis(c.atom->a, i)) anchor_across(p, op, i);
  } else {
    c.layout = fma_layout(p, op);
  }
  plan_offer(p, op->results[0], c);
  if (c.atom) offer_fragments(p, op, &c);
}

void plan_note_chain(TileOp *op, void *ctx) {
  Plan *p = ctx;
  /* A reduction over a dot's shape, or a dot whose A operand was computed, as in attention. */
  if (op->code != TILE_DOT) return;
  const TileValue *a = op->args[0];
  while (a->def && (tile_op_flags(a->def->code) & TILE_ELEM) && a->def->nargs) a = a->def->args[0];
  if (!a->def ||
      (a->def->code != TILE_LOAD && a->def->code != TILE_VIEW_LOAD && a->def->code != TILE_TRANS))
    p->chained = true;
}
