/* Reductions within a thread: the register and serial digits of the axis are folded, one by one. */
#include <string.h>

#include "lower/bind/bind_reduce.h"

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
    if (s->dims[d].axis == axis && place_in_thread(s->dims[d].place)) m |= (DimMask)1 << d;
  return m;
}

static DimMask register_dims(const Bind *s) {
  DimMask m = 0;
  for (int d = 0; d < s->ndims; d++)
    if (place_in_thread(s->dims[d].place)) m |= (DimMask)1 << d;
  return m;
}

Affine bind_packed(const Bind *s, DimMask mask) {
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

uint32_t bind_registers_of(const Bind *s, DimMask mask) {
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
    if (place_in_thread(s->dims[d].place)) {
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

/* One step of a fold: an array over the dims of `left` (in the order of a layout's registers, or
 * packed) becomes one over `left` without dim d; d < 0 only copies. */
typedef struct {
  DimMask left;
  bool packed;
} Held;

static Affine held_subscript(const Bind *s, Held h) {
  return h.packed ? bind_packed(s, h.left) : subscript(s, h.left);
}

/* Where loops stay loops, the accumulators go innermost, so that each iteration has several steps
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

/* Begins with the first register, and loops over those behind it. */
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
    bool serial = s->dims[d].place == PLACE_SERIAL;
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

/* Where loops stay loops, a reduction of many registers, one after the other, would wait for each
 * step. */
static void split_axis(Bind *s, int axis) {
  if (machine_has(s->u->machine, HAS_EXPANDED_LOOPS)) return;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].axis == axis && place_in_thread(s->dims[d].place)) {
      bind_split_dim(s, d, ACCUMULATORS);
      return;
    }
}

/* Folds the axis's register digits, the outermost first, so that the inner ones are independent
 * accumulators. */
void bind_fold_registers(Bind *s, Reduction *r, const Layout *l) {
  if (!r->ordered) split_axis(s, r->axis);
  r->kept = register_dims(s) & ~axis_dims(s, r->axis);
  mask_padding(s, r, l);
  Held h = {register_dims(s), false};
  DimMask axis = axis_dims(s, r->axis);
  memcpy(r->acc, r->in, sizeof r->acc);
  for (int d = 0; d < s->ndims; d++)
    if (axis >> d & 1) fold_step(s, r, r->acc, &h, d);
  if (!h.packed) fold_step(s, r, r->acc, &h, -1);
}
