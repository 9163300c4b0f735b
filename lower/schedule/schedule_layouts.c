/* Layouts that follow from a shape alone: plain ones, and fragments of matrix instructions. */
#include "lower/schedule/schedule.h"

#include <string.h>

/* ---- plain layouts ---- */

int schedule_warps(const Unit *u) {
  return u->machine->max_warps == 1 ? 1 : options_warps(&u->tile->options);
}

static int min_int(int a, int b) { return a < b ? a : b; }

/* The largest power of two that divides n and is at most `most`. */
static int32_t pow2_part(int32_t n, int32_t most) {
  int32_t part = n & -n;
  return part < most ? part : (int32_t)pow2_at_most(most);
}

Layout schedule_blocked(const Type *tile, const int *order, int vector, int warps, int lanes) {
  Layout l = layout_new(tile);
  int nl[MAX_RANK], nw[MAX_RANK], left[MAX_RANK];
  int lane_left = lanes, warp_left = warps;
  for (int i = 0; i < tile->rank; i++) {
    int a = order[i], vec = i ? 1 : vector;
    int64_t groups = (tile->shape[a] + vec - 1) / vec;
    nl[a] = min_int(lane_left, (int)pow2_at_least(groups));
    lane_left /= nl[a];
    groups = (groups + nl[a] - 1) / nl[a];
    left[a] = (int)groups;
  }
  for (int i = 0; i < tile->rank; i++) nw[i] = 1;
  /* Warps go to the slowest axis first, so that a warp's own rows stay whole. */
  for (int i = tile->rank - 1; i >= 0; i--) {
    int a = order[i];
    nw[a] = min_int(warp_left, (int)pow2_at_least(left[a]));
    warp_left /= nw[a];
    left[a] = (left[a] + nw[a] - 1) / nw[a];
  }
  int32_t lane_stride[MAX_RANK], warp_stride[MAX_RANK], s = 1, w = 1;
  for (int i = 0; i < tile->rank; i++) {
    lane_stride[order[i]] = s, s *= nl[order[i]];
    warp_stride[order[i]] = w, w *= nw[order[i]];
  }
  int32_t reg_stride[MAX_RANK], r = vector;
  for (int i = 0; i < tile->rank; i++) reg_stride[order[i]] = r, r *= left[order[i]];
  for (int a = 0; a < tile->rank; a++) {
    layout_push(&l, a, HW_REG, left[a], reg_stride[a]);
    layout_push(&l, a, HW_WARP, nw[a], warp_stride[a]);
    layout_push(&l, a, HW_LANE, nl[a], lane_stride[a]);
    if (a == order[0]) layout_push(&l, a, HW_REG, vector, 1);
  }
  layout_push(&l, -1, HW_WARP, warp_left, w);
  layout_push(&l, -1, HW_LANE, lane_left, s);
  return l;
}

void schedule_order(const Type *t, int *order) {
  for (int i = 0; i < t->rank; i++) order[i] = t->rank - 1 - i;
}

Layout schedule_slot(const Unit *u, const Type *tile, int64_t align) {
  int order[MAX_RANK], warps = schedule_warps(u), lanes = u->machine->lanes;
  int64_t share = type_numel(*tile) / ((int64_t)warps * lanes);
  if (!align || align > u->machine->vector_bytes) align = u->machine->vector_bytes;
  int64_t vector = align / dtype_bytes((DType)tile->dtype);
  if (vector > share) vector = share > 1 ? share : 1;
  for (int a = 0; a < tile->rank; a++) order[a] = tile->rank - 1 - a;
  for (int a = 1; a < tile->rank; a++) /* the long axis first */
    if (tile->shape[order[a]] > tile->shape[order[0]]) {
      int first = order[0];
      order[0] = order[a];
      order[a] = first;
    }
  return schedule_blocked(tile, order, (int)vector, warps, lanes);
}

Layout schedule_runs(const Type *t, int axis, int64_t run, int warps, int lanes) {
  int order[MAX_RANK], n = 0, use = warps;
  order[n++] = axis;
  for (int a = t->rank - 1; a >= 0; a--)
    if (a != axis) order[n++] = a;
  int64_t extent = t->shape[axis], rows = 1;
  for (int a = 0; a < t->rank; a++)
    if (a != axis) rows *= t->shape[a];
  for (; use > 1 && rows > 1; rows = (rows + 1) / 2) use /= 2;
  while (use > 1 && extent < (int64_t)use * lanes * 2) use /= 2;
  int64_t least = (extent + (int64_t)lanes * use - 1) / ((int64_t)lanes * use);
  if (run < least) run = least;
  return schedule_blocked(t, order, (int)run, warps, lanes);
}

Layout schedule_repeated(const Type *tile, int first, int axis, int n, int warps, int lanes) {
  Type rest = *tile;
  int order[MAX_RANK], at = 0;
  order[at++] = first;
  for (int a = tile->rank - 1; a >= 0; a--)
    if (a != first) order[at++] = a;
  rest.shape[axis] /= n;
  Layout one = schedule_blocked(&rest, order, 1, warps, lanes), l = layout_new(tile);
  int32_t registers = layout_registers(&one);
  for (int a = 0; a < tile->rank; a++) {
    if (a == axis) layout_push(&l, a, HW_REG, n, registers);
    for (int i = 0; i < one.ndigits; i++)
      if (one.d[i].axis == a)
        layout_push(&l, a, (HwDim)one.d[i].hw, one.d[i].extent, one.d[i].stride);
  }
  for (int i = 0; i < one.ndigits; i++)
    if (one.d[i].axis < 0)
      layout_push(&l, -1, (HwDim)one.d[i].hw, one.d[i].extent, one.d[i].stride);
  return l;
}

/* A warp's lanes for both axes: those of the axis with the shorter run of bytes are doubled, as
 * long as the tile has elements for them. */
static void split_lanes(const Type *tile, const Cross *x, int lanes, int nl[2]) {
  nl[0] = nl[1] = 1;
  while (nl[0] * nl[1] < lanes) {
    int64_t run[2];
    bool more[2];
    for (int i = 0; i < 2; i++) {
      run[i] = nl[i] * x->vector[i];
      more[i] = run[i] < tile->shape[x->axis[i]];
      run[i] *= x->bytes[i];
    }
    if (!more[0] && !more[1]) return;
    nl[!more[0] || (more[1] && run[1] < run[0])] *= 2;
  }
}

Layout schedule_crossed(const Type *tile, const Cross *x, int warps, int lanes) {
  Layout l = layout_new(tile);
  int nl[2], warp_left = warps;
  int32_t w = 1, r = (int32_t)(x->vector[0] * x->vector[1]);
  split_lanes(tile, x, lanes, nl);
  for (int a = 0; a < tile->rank; a++) {
    int which = a == x->axis[0] ? 0 : a == x->axis[1] ? 1 : -1;
    int32_t vector = which < 0 ? 1 : (int32_t)x->vector[which];
    int32_t of_lanes = which < 0 ? 1 : nl[which];
    int left = schedule_repeats(tile->shape[a], vector * of_lanes);
    int nw = min_int(warp_left, (int)pow2_at_least(left));
    int repeats = schedule_repeats(left, nw);
    layout_push(&l, a, HW_REG, repeats, r);
    layout_push(&l, a, HW_WARP, nw, w);
    if (which >= 0) layout_push(&l, a, HW_LANE, of_lanes, which ? nl[0] : 1);
    if (which >= 0) layout_push(&l, a, HW_REG, vector, which ? (int32_t)x->vector[0] : 1);
    warp_left /= nw, w *= nw, r *= repeats;
  }
  layout_push(&l, -1, HW_WARP, warp_left, w);
  layout_push(&l, -1, HW_LANE, lanes / (nl[0] * nl[1]), nl[0] * nl[1]);
  return l;
}

/* The digit of registers whose unit is `weight` along the axis; -1: there is none. */
static int register_digit(const Layout *l, int axis, int64_t weight) {
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis == axis && l->d[i].hw == HW_REG && layout_weight(l, i) == weight) return i;
  return -1;
}

/* `most` digits come first, as far as they are beside each other along the axis. */
static Layout registers_along(const Layout *l, int axis, int most) {
  Layout r = *l;
  int span = layout_registers(l), i;
  bool first[MAX_DIGITS] = {false};
  int32_t next = 1;
  for (int n = 0; n < most && (i = register_digit(l, axis, next)) >= 0; n++) {
    first[i] = true;
    r.d[i].stride = next;
    next *= l->d[i].extent;
  }
  if (next == 1) return r;
  for (int32_t at = 1; at < span;) { /* the others, in the order of their strides */
    int32_t step = span;
    for (int k = 0; k < l->ndigits; k++) {
      const Digit *d = &l->d[k];
      if (d->hw != HW_REG || d->stride != at) continue;
      step = at * d->extent;
      if (first[k]) continue;
      r.d[k].stride = next;
      next *= d->extent;
    }
    at = step;
  }
  return r;
}

Layout schedule_vectors_along(const Layout *l, int axis) { return registers_along(l, axis, 1); }

/* Neighbours in registers that follow each other along an axis are one digit. */
static Layout merge_registers(const Layout *l) {
  Layout r = *l;
  r.ndigits = 0;
  for (int i = 0; i < l->ndigits; i++) {
    Digit *last = r.ndigits ? &r.d[r.ndigits - 1] : NULL;
    const Digit *d = &l->d[i];
    bool joins = last && last->axis == d->axis && last->hw == HW_REG && d->hw == HW_REG &&
                 last->stride == d->stride * d->extent;
    if (joins) *last = (Digit){last->extent * d->extent, d->stride, d->hw, d->axis};
    else r.d[r.ndigits++] = *d;
  }
  return r;
}

Layout schedule_runs_along(const Layout *l, int axis) {
  Layout r = registers_along(l, axis, l->ndigits);
  return merge_registers(&r);
}

Layout schedule_registers_last(const Layout *l, int axis) {
  Layout r = {.rank = l->rank};
  memcpy(r.shape, l->shape, sizeof r.shape);
  for (int i = 0; i < l->ndigits; i++) {
    bool held_back = l->d[i].axis == axis && l->d[i].hw == HW_REG;
    if (!held_back)
      layout_push(&r, l->d[i].axis, (HwDim)l->d[i].hw, l->d[i].extent, l->d[i].stride);
    bool last = l->d[i].axis == axis && (i + 1 == l->ndigits || l->d[i + 1].axis != axis);
    for (int k = 0; last && k <= i; k++)
      if (l->d[k].axis == axis && l->d[k].hw == HW_REG)
        layout_push(&r, axis, HW_REG, l->d[k].extent, l->d[k].stride);
  }
  return r;
}

/* The repeats of another axis than `axis`, above its lanes, that as many as possible of `warps`
 * divide; -1: there are none. */
static int repeats_beside(const Layout *l, int axis, int32_t warps) {
  int best = -1;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (d->axis < 0 || d->axis == axis || d->hw != HW_REG || layout_weight(l, i) == 1) continue;
    int32_t part = pow2_part(d->extent, warps);
    if (part > 1 && (best < 0 || part > pow2_part(l->d[best].extent, warps))) best = i;
  }
  return best;
}

Layout schedule_warps_from(const Layout *l, int axis) {
  Layout r = {.rank = l->rank};
  memcpy(r.shape, l->shape, sizeof r.shape);
  int from = -1;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis == axis && l->d[i].hw == HW_WARP) from = i;
  int to = from < 0 ? -1 : repeats_beside(l, axis, l->d[from].extent);
  if (to < 0) return *l;
  const Digit *warps = &l->d[from], *repeats = &l->d[to];
  int32_t part = pow2_part(repeats->extent, warps->extent), left = repeats->extent / part;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (i == to) {
      layout_push(&r, d->axis, HW_REG, left, d->stride);
      layout_push(&r, d->axis, HW_WARP, part, warps->stride);
    } else if (i == from) {
      layout_push(&r, axis, HW_WARP, d->extent / part, d->stride * part);
      layout_push(&r, axis, HW_REG, part, repeats->stride * left);
    } else {
      layout_push(&r, d->axis, (HwDim)d->hw, d->extent, d->stride);
    }
  }
  return r;
}

/* ---- fragments ---- */

/* Pushes the digits of an atom along one matrix axis. */
static void push_atom_axis(Layout *l, const Layout *atom, int from, int to) {
  for (int i = 0; i < atom->ndigits; i++)
    if (atom->d[i].axis == from)
      layout_push(l, to, (HwDim)atom->d[i].hw, atom->d[i].extent, atom->d[i].stride);
}

int schedule_repeats(int extent, int step) { return (extent + step - 1) / step; }

Type schedule_operand_room(const TileValue *x, const Layout *acc, int which) {
  Type t = x->type;
  int axis = t.rank - 2 + which;
  t.shape[axis] = (int32_t)layout_padded(acc, axis);
  if (t.rank == 3) t.shape[0] = (int32_t)layout_padded(acc, 0);
  return t;
}

int schedule_batch_warps(const Type *tile, int warps) {
  int n = 1;
  if (tile->rank == 3)
    while (n < warps && tile->shape[0] % (2 * n) == 0) n *= 2;
  return n;
}

Layout schedule_fragment(const Atom *atom, int which, const Type *tile, int wm, int wn, int warps) {
  Layout one = atom_layout(atom, which), l = layout_new(tile);
  int rows = tile->rank - 2, cols = tile->rank - 1;
  int row_step = which == 1 ? atom->k : atom->m, col_step = which == 0 ? atom->k : atom->n;
  int row_warps = which == 1 ? 1 : wm, col_warps = which == 0 ? 1 : wn;
  int row_reps = schedule_repeats(tile->shape[rows], row_step * row_warps);
  int col_reps = schedule_repeats(tile->shape[cols], col_step * col_warps);
  int regs = layout_span(&one, HW_REG), group = atom->warps;
  int batch_warps = schedule_batch_warps(tile, warps / (wm * wn * group));
  if (rows) layout_push(&l, 0, HW_REG, tile->shape[0] / batch_warps, regs * row_reps * col_reps);
  if (rows) layout_push(&l, 0, HW_WARP, batch_warps, wm * wn * group);
  layout_push(&l, rows, HW_REG, row_reps, regs * col_reps);
  layout_push(&l, rows, HW_WARP, row_warps, group);
  layout_push(&l, rows, HW_WARP, group, 1);
  push_atom_axis(&l, &one, 0, rows);
  /* A warpgroup's columns follow each other: one instruction computes them. */
  if (group > 1) layout_push(&l, cols, HW_WARP, col_warps, wm * group);
  layout_push(&l, cols, HW_REG, col_reps, regs);
  if (group == 1) layout_push(&l, cols, HW_WARP, col_warps, wm);
  push_atom_axis(&l, &one, 1, cols);
  if (which == 1) layout_push(&l, -1, HW_WARP, wm, group);
  if (which == 0) layout_push(&l, -1, HW_WARP, wn, wm * group);
  int used = wm * wn * group * batch_warps;
  layout_push(&l, -1, HW_WARP, warps / used, used);
  return l;
}

void schedule_warp_split(const Atom *atom, const Layout *acc, int *wm, int *wn) {
  *wm = *wn = 1;
  for (int i = 0; i < acc->ndigits; i++) {
    if (acc->d[i].hw != HW_WARP) continue;
    if (acc->d[i].axis == acc->rank - 2) *wm *= acc->d[i].extent;
    if (acc->d[i].axis == acc->rank - 1) *wn *= acc->d[i].extent;
  }
  *wm /= atom->warps;
}
