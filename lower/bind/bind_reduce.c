/* Reductions: by digit, registers first, then lanes, then warps. */
#include <string.h>

#include "lower/bind/bind_fold.h"

/* If the axis is padded and the function has no neutral element, the reduction is `ordered`: the
 * axis is spelled by warps, lanes and one register digit, so that padding is at its end, elements
 * are combined in their order, and a last operand flags whether the share of a thread, of lanes or
 * of warps contains any element.  `held` is `n` plus that operand. */
typedef struct {
  const NestStmt *st;
  int axis, n, held;
  bool ordered;
  NestVar *in[MAX_OPERANDS + 1];
  NestVar *acc[MAX_OPERANDS + 1];
  DimMask kept; /* dims of the thread, of the other axes */
} Reduction;

static void bind_combine_held(Bind *s, const Reduction *r, const Ref *acc, const Ref *x);

/* ======== within a thread ======== */

static Affine subscript(const Bind *s, DimMask mask) {
  Affine sub = affine_const(0);
  for (int d = 0; d < s->ndims; d++)
    if (mask >> d & 1) {
      Affine x = affine_index(s->dims[d].index, s->dims[d].stride);
      if (!affine_add(&sub, &x)) bind_refuse(s, bind_too_many_digits);
    }
  return sub;
}

static DimMask axis_dims(const Bind *s, int axis) {
  DimMask m = 0;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].axis == axis && hw_in_thread(s->dims[d].hw)) m |= (DimMask)1 << d;
  return m;
}

static DimMask register_dims(const Bind *s) {
  DimMask m = 0;
  for (int d = 0; d < s->ndims; d++)
    if (hw_in_thread(s->dims[d].hw)) m |= (DimMask)1 << d;
  return m;
}

/* The subscript in an array that is packed over the dims of a mask, and its size. */
static Affine bind_packed(const Bind *s, DimMask mask) {
  Affine sub = affine_const(0);
  int64_t count = 1;
  bool done[MAX_DIMS] = {0};
  for (;;) {
    int best = -1;
    for (int d = 0; d < s->ndims; d++)
      if ((mask >> d & 1) && !done[d] && (best < 0 || s->dims[d].stride < s->dims[best].stride))
        best = d;
    if (best < 0) return sub;
    done[best] = true;
    Affine x = affine_index(s->dims[best].index, count);
    if (!affine_add(&sub, &x)) bind_refuse(s, bind_too_many_digits);
    count *= s->dims[best].extent;
  }
}

static uint32_t bind_registers_of(const Bind *s, DimMask mask) {
  uint32_t n = 1;
  for (int d = 0; d < s->ndims; d++)
    if (mask >> d & 1) n *= (uint32_t)s->dims[d].extent;
  return n;
}

/* Positions past the extent of a padded axis become the identity; if ordered, the operand is made
 * that tells them from elements. */
static void mask_padding(Bind *s, Reduction *r, const Layout *l) {
  if (!layout_has_padding(l, r->axis)) return;
  ThreadForm f = {.n = 0};
  Affine imm = affine_const(0);
  for (int d = 0; d < s->ndims; d++) {
    if (s->dims[d].axis != r->axis) continue;
    if (hw_in_thread(s->dims[d].hw)) {
      Affine x = affine_index(s->dims[d].index, s->dims[d].weight);
      affine_add(&imm, &x);
    } else {
      thread_form_add(&f, &s->dims[d], s->dims[d].weight);
    }
  }
  Ref part = bind_thread_const(s, &f);
  DimMask all = register_dims(s);
  DType t = r->ordered ? DT_I1 : (DType)r->in[0]->dtype;
  const char *name = r->ordered ? "has" : r->in[0]->name;
  NestVar *v = bind_var(s, name, t, DT_NONE, bind_registers_of(s, all), false);
  NestBuilder outer = bind_open_loops(s, all);
  Ref at = part.kind ? bind_op(s, TILE_ADD, DT_I32, part, ref_affine(imm)) : ref_affine(imm);
  Ref in = bind_op(s, TILE_LT, DT_I32, at, ref_int(l->shape[r->axis]));
  Affine sub = subscript(s, all);
  if (r->ordered) nest_mov(&s->b, ref_sub(v, sub), in, t);
  else
    nest_op(&s->b, TILE_SELECT, t, ref_sub(v, sub), in, ref_sub(r->in[0], sub),
            bind_identity(nest_str(r->st, NA_combine, NULL), t));
  bind_close(s, outer);
  r->in[r->ordered ? r->n : 0] = v;
}

/* A step of a fold: an array over the dims of `left` (in the order of a layout's registers, or
 * packed) becomes one over `left` without dim d; d < 0 only copies. */
typedef struct {
  DimMask left;
  bool packed;
} Held;

static Affine held_subscript(const Bind *s, Held h) {
  return h.packed ? bind_packed(s, h.left) : subscript(s, h.left);
}

/* If loops stay loops, the accumulators go innermost, so that each iteration has several steps
 * that do not wait for each other. */
static DimMask accumulators(const Bind *s, const Reduction *r, DimMask rest) {
  return machine_has(s->u->machine, HAS_EXPANDED_LOOPS) ? 0 : rest & ~r->kept;
}

/* A fold over many registers begins with the identity, where there is one: so its loop takes every
 * register, and pass fuse_loops can fuse it with the loop that makes them. */
static bool fold_all(Bind *s, const Reduction *r, const Ref *acc, NestVar *const *from, Held h,
                     int d, DimMask rest) {
  const char *name = nest_str(r->st, NA_combine, NULL);
  DimMask inner = accumulators(s, r, rest);
  if (d < 0 || !name || !inner || h.packed) return false;
  NestBuilder outer = bind_open_loops(s, rest & ~inner);
  bind_open_loops(s, inner);
  DType t = acc[0].var->dtype;
  nest_mov(&s->b, acc[0], bind_identity(name, t), t);
  bind_close(s, outer);
  bind_open_loops(s, rest & ~inner);
  bind_open_loops(s, (DimMask)1 << d);
  bind_open_loops(s, inner);
  Ref x = ref_sub(from[0], held_subscript(s, h));
  bind_combine_held(s, r, acc, &x);
  bind_close(s, outer);
  return true;
}

/* Begins with the first register, and loops over those after it. */
static void fold_rest(Bind *s, const Reduction *r, const Ref *acc, NestVar *const *from, Held h,
                      int d, DimMask rest) {
  Ref x[MAX_OPERANDS + 1];
  int64_t stride = 0;
  Affine first = held_subscript(s, h);
  if (d >= 0) stride = affine_drop(&first, s->dims[d].index);
  DimMask inner = accumulators(s, r, rest);
  NestBuilder outer = bind_open_loops(s, rest & ~inner), at = bind_open_loops(s, inner);
  for (int i = 0; i < r->held; i++)
    nest_mov(&s->b, acc[i], ref_sub(from[i], first), from[i]->dtype);
  bind_close(s, at);
  if (d >= 0) {
    bool serial = s->dims[d].hw == HW_SERIAL;
    NestIndex *u = nest_index(s->nest, "r", s->dims[d].extent - 1);
    bind_loop(s, serial ? NEST_SERIAL : NEST_UNROLL, u);
    Affine next = first, step = affine_index(u, stride), one = affine_const(stride);
    affine_add(&next, &step);
    affine_add(&next, &one);
    for (int i = 0; i < r->held; i++) x[i] = ref_sub(from[i], next);
    bind_open_loops(s, inner);
    bind_combine_held(s, r, acc, x);
  }
  bind_close(s, outer);
}

static void fold_step(Bind *s, Reduction *r, NestVar **from, Held *h, int d) {
  DimMask rest = d < 0 ? h->left : h->left & ~((DimMask)1 << d);
  Ref acc[MAX_OPERANDS + 1];
  Affine out = bind_packed(s, rest);
  for (int i = 0; i < r->held; i++)
    acc[i] = ref_sub(bind_var(s, from[i]->name, from[i]->dtype, from[i]->elem,
                              bind_registers_of(s, rest), false),
                     out);
  if (!fold_all(s, r, acc, from, *h, d, rest)) fold_rest(s, r, acc, from, *h, d, rest);
  for (int i = 0; i < r->held; i++) from[i] = acc[i].var;
  *h = (Held){rest, true};
}

enum { ACCUMULATORS = 4 };

/* If loops stay loops, a reduction of many registers, one after the other, would wait for each
 * step. */
static void split_axis_dims(Bind *s, int axis) {
  if (machine_has(s->u->machine, HAS_EXPANDED_LOOPS)) return;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].axis == axis && hw_in_thread(s->dims[d].hw)) {
      bind_split_dim(s, d, ACCUMULATORS);
      return;
    }
}

/* Folds the axis's register digits, the outermost first, so that the inner ones are independent
 * accumulators. */
static void bind_fold_registers(Bind *s, Reduction *r, const Layout *l) {
  if (!r->ordered) split_axis_dims(s, r->axis);
  r->kept = register_dims(s) & ~axis_dims(s, r->axis);
  mask_padding(s, r, l);
  Held h = {register_dims(s), false};
  DimMask axis = axis_dims(s, r->axis);
  memcpy(r->acc, r->in, sizeof r->acc);
  for (int d = 0; d < s->ndims; d++)
    if (axis >> d & 1) fold_step(s, r, r->acc, &h, d);
  if (!h.packed) fold_step(s, r, r->acc, &h, -1);
}

/* ======== across lanes and warps ======== */

/* ---- one step ---- */

static Ref new_scalar_like(Bind *s, const NestVar *like) {
  return ref_var(bind_var(s, NULL, like->dtype, like->elem, 1, like->uniform));
}

/* x is after acc: where it is padding, acc stays. */
static void bind_combine_held(Bind *s, const Reduction *r, const Ref *acc, const Ref *x) {
  if (!r->ordered) {
    bind_combine(s, r->st, acc, x);
    return;
  }
  Ref has = x[r->n], both[MAX_OPERANDS];
  for (int i = 0; i < r->n; i++) {
    both[i] = new_scalar_like(s, acc[i].var);
    nest_mov(&s->b, both[i], acc[i], acc[i].var->dtype);
  }
  bind_combine(s, r->st, both, x);
  for (int i = 0; i < r->n; i++)
    nest_op(&s->b, TILE_SELECT, acc[i].var->dtype, acc[i], has, both[i], acc[i]);
}

/* ---- across lanes ---- */

/* The number of the lane whose digits along the axis are 0. */
static Ref first_lane(Bind *s, const Reduction *r) {
  ThreadForm f = {.n = 0};
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->hw == HW_LANE && x->axis != r->axis) thread_form_add(&f, x, x->stride);
  }
  return f.n ? bind_thread_const(s, &f) : ref_int(0);
}

/* The result of a function of the user's may depend on their order, and so on the
 * lane: all take the result of the first. */
static void share_first(Bind *s, const Reduction *r) {
  Affine sub = bind_packed(s, r->kept);
  Ref from = first_lane(s, r);
  NestBuilder outer = bind_open_loops(s, r->kept);
  for (int i = 0; i < r->n; i++) {
    Ref x = ref_sub(r->acc[i], sub);
    bind_from_lane(s, x, x, from, r->acc[i]->dtype);
  }
  bind_close(s, outer);
}

static void fold_lane(Bind *s, const Reduction *r, int by) {
  Affine sub = bind_packed(s, r->kept);
  NestBuilder outer = bind_open_loops(s, r->kept);
  Ref acc[MAX_OPERANDS + 1], other[MAX_OPERANDS + 1];
  for (int i = 0; i < r->held; i++) {
    acc[i] = ref_sub(r->acc[i], sub);
    other[i] = new_scalar_like(s, r->acc[i]);
    bind_shuffle(s, other[i], acc[i], "xor", by, r->acc[i]->dtype);
  }
  bind_combine_held(s, r, acc, other);
  bind_close(s, outer);
}

/* A butterfly over the axis's lane digits leaves the result in all of them; if ordered, in the
 * first one, which takes neighbours first. */
static void fold_lanes(Bind *s, Reduction *r) {
  bool any = false;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->axis != r->axis || x->hw != HW_LANE) continue;
    any = true;
    for (int near = 1, far = x->extent / 2; far >= 1; near *= 2, far /= 2)
      fold_lane(s, r, x->stride * (r->ordered ? near : far));
  }
  bool tile = r->st->dsts[0].var->tile.rank > 0;
  if (any && tile && !nest_str(r->st, NA_combine, NULL)) share_first(s, r);
}

/* ---- across warps ---- */

/* A single thread of every kept position and warp writes: lanes of the axis and replicas all hold
 * the same value, so threads with a digit above 0 don't write. */
static Ref partial_writer_guard(Bind *s, const Reduction *r) {
  ThreadForm f = {.n = 0};
  int64_t at = 1;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (hw_in_thread(x->hw)) continue;
    if (x->axis >= 0 && x->axis != r->axis) continue;
    if (x->axis == r->axis && x->hw == HW_WARP) continue;
    thread_form_add(&f, x, at);
    at *= x->extent;
  }
  Ref digits = bind_thread_const(s, &f);
  return digits.kind ? bind_op(s, TILE_EQ, DT_I32, digits, ref_int(0)) : digits;
}

static int axis_warps(Bind *s, const Reduction *r, Ref *number, int64_t bytes) {
  ThreadForm f = {.n = 0};
  int warps = 1;
  for (int d = s->ndims - 1; d >= 0; d--) {
    const Dim *x = &s->dims[d];
    if (x->axis != r->axis || x->hw != HW_WARP) continue;
    thread_form_add(&f, x, warps * bytes);
    warps *= x->extent;
  }
  *number = bind_thread_const(s, &f);
  return warps;
}

static int64_t vector_of(const Bind *s, int64_t count, int64_t bytes) {
  int64_t n = count & -count;
  if (!machine_has(s->u->machine, HAS_VECTOR_ACCESSES)) return 1;
  while (n > 1 && n * bytes > s->u->machine->vector_bytes) n /= 2;
  return n;
}

/* Combines n registers pair by pair, so that few of the steps wait for each other: n is a power of
 * two.  The result is in the first one.  If ordered, neighbours come first. */
static void combine_tree(Bind *s, const Reduction *r, NestVar **v, int32_t n) {
  for (int32_t apart = 1; (n /= 2) >= 1; apart *= 2) {
    NestBuilder outer = s->b;
    NestIndex *u = nest_index(s->nest, "k", n);
    bind_loop(s, NEST_UNROLL, u);
    Affine near = affine_index(u, r->ordered ? 2 * apart : 1);
    Affine far = affine_const(r->ordered ? apart : n);
    affine_add(&far, &near);
    Ref acc[MAX_OPERANDS + 1], x[MAX_OPERANDS + 1];
    for (int i = 0; i < r->held; i++) {
      acc[i] = ref_sub(v[i], near);
      x[i] = ref_sub(v[i], far);
    }
    bind_combine_held(s, r, acc, x);
    bind_close(s, outer);
  }
}

enum { MBARRIER_BYTES = 8 };

/* The partial results of all warps, as every thread reads them. */
typedef struct {
  int warps;           /* of all thread blocks, if the reduction joins them */
  int own;             /* of this one */
  bool joins, uniform; /* uniform: all threads read from one address */
  NestBuffer *full;    /* the mbarrier of the exchange; NULL: there is none */
  NestVar *turn;       /* 0 and 1 in turns where a loop joins again and again; or NULL */
  NestVar *parity;     /* of the turn's mbarrier: which of its phases this one is */
  NestBuffer *buf[MAX_OPERANDS + 1];
  Slot slot[MAX_OPERANDS + 1];
  NestVar *part[MAX_OPERANDS + 1]; /* by warp */
} Warps;

/* The warps of the thread blocks before this one, as bytes. */
static Ref earlier_blocks(Bind *s, const Warps *w, int64_t bytes) {
  if (!w->joins) return ref_none();
  if (!s->rank) {
    s->rank = bind_var(s, "rank", DT_I32, DT_NONE, 1, true);
    NestStmt *st = nest_stmt(&s->entry, NEST_CLUSTER_RANK, 1, 0);
    st->dsts[0] = ref_var(s->rank);
    st->type = DT_I32;
  }
  return bind_op(s, TILE_MUL, DT_I32, ref_var(s->rank), ref_int(w->own * bytes));
}

/* No thread block writes to another that has not begun; each reads when all have written. */
static void meet_before(Bind *s, const Warps *w) {
  if (!w->joins || s->joined) return;
  if (s->loops) bind_refuse(s, "thread blocks join in a loop before which they have not met");
  s->joined = true;
  nest_stmt(&s->b, NEST_CLUSTER_WAIT, 0, 0);
}

/* A warp stores each value once: the blocks exchange what warps have, and need no other order. */
static bool exchanges(const Bind *s, const Reduction *r, const Warps *w) {
  bool fits = w->joins && !r->ordered && !r->kept && w->own == s->nest->warps;
  for (int i = 0; i < r->held; i++) {
    int64_t bytes = dtype_bytes(bind_stored(r->acc[i]->dtype));
    fits &= bytes == 4 || bytes == 8;
  }
  return fits;
}

/* The offset of what this iteration has of two places of so many bytes. */
static Ref turn_offset(Bind *s, const Warps *w, int64_t bytes) {
  if (!w->turn) return ref_none();
  return bind_op(s, TILE_MUL, DT_I32, ref_var(w->turn), ref_int(bytes));
}

/* Value i of the warp goes to all blocks, which wait for the last one. */
static void store_or_exchange(Bind *s, const Reduction *r, const Warps *w, NestStmt *st, int i) {
  if (!w->full) {
    if (w->joins) nest_set_int(s->nest, st, NA_everywhere, 1);
    return;
  }
  Ref full = turn_offset(s, w, MBARRIER_BYTES);
  NestStmt *made = nest_stmt(&s->b, NEST_EXCHANGE, 0, w->turn ? 2 : 1);
  made->type = st->type;
  made->srcs[0] = st->srcs[0];
  if (w->turn) made->srcs[1] = ref_var(w->parity);
  made->guard = st->guard;
  made->mems[0] = st->mems[0];
  made->mems[1] = (Mem){.buffer = w->full, .base = full};
  if (i + 1 < r->held) nest_set_int(s->nest, made, NA_open, 1);
  st->mems[0].buffer->own = true; /* the exchange orders its accesses */
  nest_remove(st);
}

/* Blocks that exchange in each iteration of a loop have two mbarriers and two places in turns: one
 * that is ahead of another by an iteration neither writes to what that one reads nor counts for
 * what it still waits for.  None is ahead by two, since it has waited for all warps since. */
static void plan_exchange(Bind *s, const Reduction *r, Warps *w) {
  if (!exchanges(s, r, w)) {
    if (w->joins && s->loops)
      bind_refuse(s, "thread blocks join in a loop what they can't exchange");
    return;
  }
  int64_t bytes = s->loops ? 2 * MBARRIER_BYTES : MBARRIER_BYTES;
  w->full = nest_buffer(s->nest, "full", DT_I64, bytes, MBARRIER_BYTES);
  if (!s->loops) return;
  w->turn = bind_var(s, "turn", DT_I32, DT_NONE, 1, true);
  w->parity = bind_var(s, "parity", DT_I32, DT_NONE, 1, true);
  nest_mov(&s->entry, ref_var(w->turn), ref_int(0), DT_I32);
  nest_mov(&s->entry, ref_var(w->parity), ref_int(0), DT_I32);
}

/* Each mbarrier has its next phase in every other turn. */
static void next_turn(Bind *s, const Warps *w) {
  if (!w->turn) return;
  Ref turn = ref_var(w->turn), parity = ref_var(w->parity);
  nest_op(&s->b, TILE_XOR, DT_I32, parity, parity, turn, ref_none());
  nest_op(&s->b, TILE_XOR, DT_I32, turn, turn, ref_int(1), ref_none());
}

static void meet_after(Bind *s, const Warps *w) {
  if (!w->joins || w->full) return;
  nest_stmt(&s->b, NEST_CLUSTER_ARRIVE, 0, 0);
  nest_stmt(&s->b, NEST_CLUSTER_WAIT, 0, 0);
}

static void store_parts(Bind *s, const Reduction *r, Warps *w) {
  Affine sub = bind_packed(s, r->kept);
  for (int i = 0; i < r->held; i++) {
    DType t = r->acc[i]->dtype;
    int64_t bytes = dtype_bytes(t);
    Slot slot = w->slot[i] = bind_slot(s, r->axis, bytes * w->warps);
    int64_t turns = w->turn ? 2 : 1;
    w->buf[i] =
        nest_buffer(s->nest, "red", bind_stored(t), turns * slot.slots * w->warps * bytes, 16);
    Ref number;
    axis_warps(s, r, &number, bytes);
    w->uniform &= !slot.base.kind && !r->kept;
    Ref guard = partial_writer_guard(s, r), base = bind_sum(s, slot.base, number);
    base = bind_sum(s, base, earlier_blocks(s, w, bytes));
    base = bind_sum(s, base, turn_offset(s, w, w->warps * bytes));
    NestBuilder outer = bind_open_loops(s, r->kept);
    NestStmt *st =
        bind_st_shared(s, ref_sub(r->acc[i], sub), t, w->buf[i], base, slot.bytes, guard);
    store_or_exchange(s, r, w, st, i);
    bind_close(s, outer);
  }
}

static void load_parts(Bind *s, Reduction *r, Warps *w) {
  for (int i = 0; i < r->held; i++) {
    const NestVar *acc = r->acc[i];
    DType t = acc->dtype;
    int64_t bytes = dtype_bytes(t), n = vector_of(s, w->warps, bytes);
    w->part[i] = bind_var(s, acc->name, t, acc->elem, (uint32_t)w->warps, w->uniform);
    if (w->uniform) r->acc[i] = bind_var(s, acc->name, t, acc->elem, 1, true);
    Ref base = bind_sum(s, w->slot[i].base, turn_offset(s, w, w->warps * bytes));
    for (int64_t k = 0; k < w->warps; k += n) {
      Affine at = affine_const(k * bytes);
      affine_add(&at, &w->slot[i].bytes);
      bind_ld_shared(s, ref_sub(w->part[i], affine_const(k)), t, w->buf[i], base, at, n);
    }
  }
}

/* ---- many parts: each lane combines neighbours, then lanes do ---- */

/* Lanes may combine in another order than the first one: that must not matter, or the result be
 * taken from it. */
static bool folds_by_lanes(const Bind *s, const Reduction *r, const Warps *w) {
  bool any_order = nest_str(r->st, NA_combine, NULL) || !r->st->dsts[0].var->tile.rank;
  return w->joins && w->uniform && !r->ordered && any_order && w->warps >= s->nest->lanes;
}

static void fold_parts_by_lanes(Bind *s, Reduction *r, Warps *w) {
  int lanes = s->nest->lanes, own = w->warps / lanes;
  const Dim lane = {.axis = -1, .weight = 1, .extent = lanes, .hw = HW_LANE, .stride = 1};
  for (int i = 0; i < r->held; i++) {
    const NestVar *acc = r->acc[i];
    DType t = acc->dtype;
    int64_t bytes = dtype_bytes(t), n = vector_of(s, own, bytes);
    ThreadForm f = {.n = 0};
    thread_form_add(&f, &lane, own * bytes);
    Ref base = bind_sum(s, bind_thread_const(s, &f), turn_offset(s, w, w->warps * bytes));
    w->part[i] = bind_var(s, acc->name, t, acc->elem, (uint32_t)own, false);
    for (int64_t k = 0; k < own; k += n) {
      Affine at = affine_const(k * bytes);
      affine_add(&at, &w->slot[i].bytes);
      bind_ld_shared(s, ref_sub(w->part[i], affine_const(k)), t, w->buf[i], base, at, n);
    }
    r->acc[i] = w->part[i];
  }
  combine_tree(s, r, w->part, own);
  for (int by = lanes / 2; by >= 1; by /= 2) fold_lane(s, r, by);
}

static void fold_parts(Bind *s, Reduction *r, Warps *w) {
  Affine sub = bind_packed(s, r->kept);
  NestBuilder outer = bind_open_loops(s, r->kept);
  load_parts(s, r, w);
  combine_tree(s, r, w->part, w->warps);
  for (int i = 0; i < r->held; i++)
    nest_mov(&s->b, ref_sub(r->acc[i], sub), ref_sub(w->part[i], affine_const(0)),
             r->acc[i]->dtype);
  bind_close(s, outer);
}

/* Returns true if the results are uniform: read by every thread from one address. */
static bool fold_warps(Bind *s, Reduction *r) {
  Ref number;
  Warps w = {.own = axis_warps(s, r, &number, 1), .uniform = true};
  w.joins = nest_int(r->st, NA_joins, 0);
  w.warps = w.joins ? w.own * s->nest->cluster : w.own;
  if (w.warps == 1) return false;
  meet_before(s, &w);
  plan_exchange(s, r, &w);
  store_parts(s, r, &w);
  meet_after(s, &w);
  bool by_lanes = folds_by_lanes(s, r, &w);
  if (by_lanes) fold_parts_by_lanes(s, r, &w);
  else fold_parts(s, r, &w);
  next_turn(s, &w);
  return !by_lanes && w.uniform;
}

/* A scalar result is the same in every thread: lane 0's.  Without a fold over warps each of them
 * has reduced a replica of all elements, in the same order. */
static void to_scalar(Bind *s, NestVar *dst, NestVar *acc, bool uniform) {
  if (uniform) {
    nest_mov(&s->b, ref_var(dst), ref_sub(acc, affine_const(0)), dst->dtype);
    return;
  }
  Ref first = ref_sub(acc, affine_const(0));
  NestStmt *st = bind_from_lane(s, ref_var(dst), first, ref_int(0), acc->dtype);
  if (s->nest->warps > 1) nest_set_int(s->nest, st, NA_same, 1);
}

/* ---- the statement ---- */

/* Is the axis spelled by at most a digit of warps, one of lanes and one in the thread, so? */
static bool in_runs(const Bind *s, int axis) {
  int64_t weight[3] = {INT64_MAX, 0, 0};
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->axis != axis) continue;
    int rank = hw_in_thread(x->hw) ? 2 : x->hw == HW_LANE;
    if (rank ? weight[rank] : weight[0] != INT64_MAX) return false;
    weight[rank] = x->weight;
  }
  return weight[0] > weight[1] && (!weight[1] || weight[1] > weight[2]) && weight[0] > weight[2];
}

void bind_reduce(Bind *s, const NestStmt *st) {
  Reduction r = {.st = st, .axis = (int)nest_int(st, NA_axis, 0), .n = bind_operands(s, st)};
  const Layout l = *st->srcs[0].var->layout;
  r.ordered = layout_has_padding(&l, r.axis) && !nest_str(st, NA_combine, NULL);
  r.held = r.n + r.ordered;
  bind_start(s, NULL, &l);
  if (r.ordered && !in_runs(s, r.axis)) bind_refuse(s, "padding lies between elements of its axis");
  for (int i = 0; i < r.n; i++) r.in[i] = st->srcs[i].var;
  bind_fold_registers(s, &r, &l);
  fold_lanes(s, &r);
  bool uniform = fold_warps(s, &r);
  for (int i = 0; i < r.n; i++) {
    NestVar *dst = st->dsts[i].var;
    if (!dst->tile.rank) {
      to_scalar(s, dst, r.acc[i], uniform);
      continue;
    }
    /* layout_drop_axis packs the kept registers in the same order as bind_packed() does */
    bind_mov_run(s, dst, 0, r.acc[i], 0, bind_registers_of(s, r.kept));
  }
}
