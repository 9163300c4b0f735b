/* Reductions, scans and relayouts: by digit, registers first, then lanes, then warps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lower/bind.h"

/* ---- combining ---- */

static TileCode combine_code(const char *name) {
  static const struct {
    const char *name;
    TileCode code;
  } rows[] = {{"add", TILE_ADD}, {"mul", TILE_MUL},         {"min", TILE_MIN},
              {"max", TILE_MAX}, {"min_nan", TILE_MIN_NAN}, {"max_nan", TILE_MAX_NAN},
              {"and", TILE_AND}, {"or", TILE_OR},           {"xor", TILE_XOR}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name)) return rows[i].code;
  return TILE_OP_COUNT;
}

typedef struct {
  NestVar *from;
  Ref to;
} Renamed;

static Ref renamed(const Renamed *map, size_t n, Ref r) {
  for (size_t i = n; i-- > 0;)
    if (r.kind == REF_VAR && map[i].from == r.var) return map[i].to;
  return r;
}

/* acc[i] := combine(acc[i], x[i]) for all operands of a reduction or scan, at the builder. */
void bind_combine(Bind *s, const NestStmt *st, const Ref *acc, const Ref *x) {
  const char *name = nest_str(st, NA_combine, NULL);
  if (name) {
    nest_op(&s->b, combine_code(name), acc[0].var->dtype, acc[0], acc[0], x[0], ref_none());
    return;
  }
  const NestBlock *body = st->regions[0];
  uint32_t n = body->nparams / 2;
  size_t count = body->nparams, cap = count;
  for (const NestStmt *o = body->first; o; o = o->next) cap++;
  Renamed *map = ARENA_ARRAY(s->scratch, Renamed, cap);
  for (uint32_t i = 0; i < body->nparams; i++)
    map[i] = (Renamed){body->params[i], i < n ? acc[i] : x[i - n]};
  for (const NestStmt *o = body->first; o; o = o->next) {
    Ref srcs[3];
    for (uint32_t i = 0; i < o->nsrcs; i++) srcs[i] = renamed(map, count, o->srcs[i]);
    Ref dst = renamed(map, count, o->dsts[0]);
    if (dst.var == o->dsts[0].var) {
      const NestVar *v = o->dsts[0].var;
      dst = ref_var(bind_var(s, v->name, v->dtype, v->elem, 1, acc[0].var->uniform));
      map[count++] = (Renamed){o->dsts[0].var, dst};
    }
    NestStmt *c = nest_stmt(&s->b, o->code, 1, o->nsrcs);
    c->op = o->op;
    c->type = o->type;
    c->to = o->to;
    c->elem = o->elem;
    c->rtz = o->rtz;
    c->dsts[0] = dst;
    if (o->nsrcs) memcpy(c->srcs, srcs, sizeof *srcs * o->nsrcs);
  }
}

void bind_mov_run(Bind *s, NestVar *to, int64_t at, NestVar *from, int64_t first, int64_t n) {
  for (int64_t i = 0; i < n; i += NEST_MAX_RUN) {
    NestStmt *m = nest_mov(&s->b, ref_sub(to, affine_const(at + i)),
                           ref_sub(from, affine_const(first + i)), to->dtype);
    int64_t run = n - i < NEST_MAX_RUN ? n - i : NEST_MAX_RUN;
    if (run > 1) nest_set_int(s->nest, m, NA_n, run);
  }
}

static Ref identity(const char *name, DType t) {
  TileCode c = combine_code(name);
  bool f = dtype_is_float(t);
  unsigned bits = dtype_bits(t);
  bool sign = dtype_is_signed(t);
  int64_t top = sign        ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1)
                : bits < 64 ? (int64_t)((UINT64_C(1) << bits) - 1)
                            : -1;
  switch (c) {
    case TILE_MUL: return f ? ref_float(1) : ref_int(1);
    /* Of a number and a NaN these two give the number; of NaN alone, NaN. */
    case TILE_MIN: return f ? ref_float(NAN) : ref_int(top);
    case TILE_MAX: return f ? ref_float(NAN) : ref_int(sign ? -top - 1 : 0);
    case TILE_MIN_NAN: return f ? ref_float(INFINITY) : ref_int(top);
    case TILE_MAX_NAN: return f ? ref_float(-INFINITY) : ref_int(sign ? -top - 1 : 0);
    case TILE_AND: return ref_int(t == DT_I1 ? 1 : -1);
    default: return f ? ref_float(-0.0) : ref_int(0); /* -0.0 + 0.0 is 0.0 */
  }
}

/* ---- digits of a variable ---- */

enum { MAX_OPERANDS = 8 };

static Affine subscript(const Bind *s, DimMask mask) {
  Affine sub = affine_const(0);
  for (int d = 0; d < s->ndims; d++)
    if (mask >> d & 1) {
      Affine x = affine_index(s->dims[d].index, s->dims[d].stride);
      if (!affine_add(&sub, &x)) bind_refuse(s, bind_too_many_digits);
    }
  return sub;
}

static DimMask axis_dims(const Bind *s, int axis, bool registers) {
  DimMask m = 0;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].axis == axis && place_in_thread(s->dims[d].place) == registers)
      m |= (DimMask)1 << d;
  return m;
}

static DimMask register_dims(const Bind *s) {
  DimMask m = 0;
  for (int d = 0; d < s->ndims; d++)
    if (place_in_thread(s->dims[d].place)) m |= (DimMask)1 << d;
  return m;
}

/* Register and serial digits alike become loops here. */
NestBuilder bind_open_loops(Bind *s, DimMask mask) {
  NestBuilder outer = s->b;
  for (int d = 0; d < s->ndims; d++) {
    if (!(mask >> d & 1)) continue;
    NestStmt *u = nest_stmt(&s->b, s->dims[d].place == PLACE_REG ? NEST_UNROLL : NEST_SERIAL, 0, 0);
    u->index = s->dims[d].index;
    s->b.block = nest_block(s->nest, u);
    s->b.before = NULL;
  }
  return outer;
}

typedef struct {
  const NestStmt *st;
  int axis, n;
  NestVar *in[MAX_OPERANDS];
  NestVar *acc[MAX_OPERANDS];
  DimMask kept; /* register dims of the other axes */
} Reduction;

/* A subscript in an array that is packed over the dims of a mask. */
static Affine packed(const Bind *s, DimMask mask) {
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

static uint32_t registers_of(const Bind *s, DimMask mask) {
  uint32_t n = 1;
  for (int d = 0; d < s->ndims; d++)
    if (mask >> d & 1) n *= (uint32_t)s->dims[d].extent;
  return n;
}

/* Positions past the extent of a padded axis become the identity. */
static void mask_padding(Bind *s, Reduction *r, const Layout *l) {
  if (layout_padded(l, r->axis) == l->shape[r->axis]) return;
  Dim dims[MAX_DIMS];
  int64_t coef[MAX_DIMS];
  int n = 0;
  Affine imm = affine_const(0);
  for (int d = 0; d < s->ndims; d++) {
    if (s->dims[d].axis != r->axis) continue;
    if (place_in_thread(s->dims[d].place)) {
      Affine x = affine_index(s->dims[d].index, s->dims[d].weight);
      affine_add(&imm, &x);
    } else {
      dims[n] = s->dims[d];
      coef[n++] = s->dims[d].weight;
    }
  }
  Ref part = n ? bind_thread_const(s, dims, coef, n) : ref_none();
  DimMask all = register_dims(s);
  const char *name = nest_str(r->st, NA_combine, "add");
  NestVar *v = bind_var(s, r->in[0]->name, r->in[0]->dtype, DT_NONE, registers_of(s, all), false);
  NestBuilder outer = bind_open_loops(s, all);
  Ref at = part.kind ? bind_op(s, TILE_ADD, DT_I32, part, ref_affine(imm)) : ref_affine(imm);
  Ref in = bind_op(s, TILE_LT, DT_I32, at, ref_int(l->shape[r->axis]));
  Affine sub = subscript(s, all);
  nest_op(&s->b, TILE_SELECT, v->dtype, ref_sub(v, sub), in, ref_sub(r->in[0], sub),
          identity(name, v->dtype));
  bind_close(s, outer);
  r->in[0] = v;
}

/* One step of a fold: an array over the dims of `left` (in the order of a layout's registers, or
 * packed) becomes one over `left` without dim d; d < 0 only copies. */
typedef struct {
  DimMask left;
  bool packed;
} Held;

static Affine held_subscript(const Bind *s, Held h) {
  return h.packed ? packed(s, h.left) : subscript(s, h.left);
}

static Affine drop_index(Affine a, const NestIndex *index, int64_t *coef) {
  *coef = 0;
  for (int k = 0; k < a.n; k++)
    if (a.t[k].index == index) {
      *coef = a.t[k].coef;
      a.t[k] = a.t[--a.n];
      break;
    }
  return a;
}

/* Loops stay loops on a CPU: there the accumulators go innermost, so that each iteration has
 * several steps that do not wait for each other. */
static DimMask accumulators(const Bind *s, const Reduction *r, DimMask rest) {
  return s->u->machine->kind == MACHINE_CPU ? rest & ~r->kept : 0;
}

/* Combines n registers pair by pair, so that few of the steps wait for each other: n is a power of
 * two.  The result is in the first one. */
static void combine_tree(Bind *s, const Reduction *r, NestVar **v, int32_t n) {
  while ((n /= 2) >= 1) {
    NestBuilder outer = s->b;
    NestStmt *u = nest_stmt(&s->b, NEST_UNROLL, 0, 0);
    u->index = nest_index(s->nest, "k", n);
    s->b.block = nest_block(s->nest, u);
    s->b.before = NULL;
    Affine near = affine_index(u->index, 1), far = affine_const(n);
    affine_add(&far, &near);
    Ref acc[MAX_OPERANDS], x[MAX_OPERANDS];
    for (int i = 0; i < r->n; i++) {
      acc[i] = ref_sub(v[i], near);
      x[i] = ref_sub(v[i], far);
    }
    bind_combine(s, r->st, acc, x);
    bind_close(s, outer);
  }
}

/* A fold over many registers begins with the identity, where there is one: so its loop takes every
 * register, and pass fuse can join it with the loop that makes them. */
static bool fold_all(Bind *s, const Reduction *r, const Ref *acc, NestVar *const *from, Held h,
                     int d, DimMask rest) {
  const char *name = nest_str(r->st, NA_combine, NULL);
  DimMask inner = accumulators(s, r, rest);
  if (d < 0 || !name || !inner || h.packed) return false;
  NestBuilder outer = bind_open_loops(s, rest & ~inner);
  bind_open_loops(s, inner);
  DType t = acc[0].var->dtype;
  nest_mov(&s->b, acc[0], identity(name, t), t);
  bind_close(s, outer);
  bind_open_loops(s, rest & ~inner);
  bind_open_loops(s, (DimMask)1 << d);
  bind_open_loops(s, inner);
  Ref x = ref_sub(from[0], held_subscript(s, h));
  bind_combine(s, r->st, acc, &x);
  bind_close(s, outer);
  return true;
}

/* Begins with the first register, and loops over those behind it. */
static void fold_rest(Bind *s, const Reduction *r, const Ref *acc, NestVar *const *from, Held h,
                      int d, DimMask rest) {
  Ref x[MAX_OPERANDS];
  int64_t stride = 0;
  Affine first = held_subscript(s, h);
  if (d >= 0) first = drop_index(first, s->dims[d].index, &stride);
  DimMask inner = accumulators(s, r, rest);
  NestBuilder outer = bind_open_loops(s, rest & ~inner), at = bind_open_loops(s, inner);
  for (int i = 0; i < r->n; i++) nest_mov(&s->b, acc[i], ref_sub(from[i], first), from[i]->dtype);
  bind_close(s, at);
  if (d >= 0) {
    bool serial = s->dims[d].place == PLACE_SERIAL;
    NestStmt *u = nest_stmt(&s->b, serial ? NEST_SERIAL : NEST_UNROLL, 0, 0);
    u->index = nest_index(s->nest, "r", s->dims[d].extent - 1);
    s->b.block = nest_block(s->nest, u);
    s->b.before = NULL;
    Affine next = first, step = affine_index(u->index, stride), one = affine_const(stride);
    affine_add(&next, &step);
    affine_add(&next, &one);
    for (int i = 0; i < r->n; i++) x[i] = ref_sub(from[i], next);
    bind_open_loops(s, inner);
    bind_combine(s, r->st, acc, x);
  }
  bind_close(s, outer);
}

static void fold_step(Bind *s, Reduction *r, NestVar **from, Held *h, int d) {
  DimMask rest = d < 0 ? h->left : h->left & ~((DimMask)1 << d);
  Ref acc[MAX_OPERANDS];
  Affine out = packed(s, rest);
  for (int i = 0; i < r->n; i++)
    acc[i] = ref_sub(
        bind_var(s, from[i]->name, from[i]->dtype, from[i]->elem, registers_of(s, rest), false),
        out);
  if (!fold_all(s, r, acc, from, *h, d, rest)) fold_rest(s, r, acc, from, *h, d, rest);
  for (int i = 0; i < r->n; i++) from[i] = acc[i].var;
  *h = (Held){rest, true};
}

enum { ACCUMULATORS = 4 };

/* On a CPU a reduction of many registers, one after the other, would wait for each step. */
static void split_axis(Bind *s, int axis) {
  if (s->u->machine->kind != MACHINE_CPU) return;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].axis == axis && place_in_thread(s->dims[d].place)) {
      bind_split_dim(s, d, ACCUMULATORS);
      return;
    }
}

/* Folds the axis's register digits, the outermost first, so that the inner ones are independent
 * accumulators. */
static void fold_registers(Bind *s, Reduction *r) {
  Held h = {register_dims(s), false};
  DimMask axis = axis_dims(s, r->axis, true);
  memcpy(r->acc, r->in, sizeof r->acc);
  for (int d = 0; d < s->ndims; d++)
    if (axis >> d & 1) fold_step(s, r, r->acc, &h, d);
  if (!h.packed) fold_step(s, r, r->acc, &h, -1);
}

void bind_shuffle(Bind *s, Ref dst, Ref src, const char *mode, int by, DType t) {
  NestStmt *st = nest_stmt(&s->b, NEST_SHFL, 1, 1);
  st->dsts[0] = dst;
  st->srcs[0] = src;
  st->type = t;
  nest_set_str(s->nest, st, NA_mode, mode);
  nest_set_int(s->nest, st, NA_by, by);
}

/* The number of the lane whose digits along the axis are 0. */
static Ref first_lane(Bind *s, const Reduction *r) {
  Dim dims[MAX_DIMS];
  int64_t coef[MAX_DIMS];
  int n = 0;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->place != PLACE_LANE || x->axis == r->axis) continue;
    coef[n] = x->stride;
    dims[n++] = *x;
  }
  return n ? bind_thread_const(s, dims, coef, n) : ref_int(0);
}

/* What a function of the user's makes of two operands may depend on their order, and so on the
 * lane: all take the result of the first. */
static void share_first(Bind *s, const Reduction *r) {
  Affine sub = packed(s, r->kept);
  Ref from = first_lane(s, r);
  NestBuilder outer = bind_open_loops(s, r->kept);
  for (int i = 0; i < r->n; i++) {
    NestStmt *st = nest_stmt(&s->b, NEST_SHFL, 1, 2);
    st->dsts[0] = st->srcs[0] = ref_sub(r->acc[i], sub);
    st->srcs[1] = from;
    st->type = r->acc[i]->dtype;
    nest_set_str(s->nest, st, NA_mode, "idx");
  }
  bind_close(s, outer);
}

/* A butterfly over the axis's lane digits leaves the result in all of them. */
static void fold_lanes(Bind *s, Reduction *r) {
  Affine sub = packed(s, r->kept);
  bool any = false;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->axis != r->axis || x->place != PLACE_LANE) continue;
    any = true;
    for (int by = x->stride * x->extent / 2; by >= x->stride; by /= 2) {
      NestBuilder outer = bind_open_loops(s, r->kept);
      Ref acc[MAX_OPERANDS], other[MAX_OPERANDS];
      for (int i = 0; i < r->n; i++) {
        acc[i] = ref_sub(r->acc[i], sub);
        other[i] = ref_var(bind_var(s, NULL, r->acc[i]->dtype, r->acc[i]->elem, 1, false));
        bind_shuffle(s, other[i], acc[i], "xor", by, r->acc[i]->dtype);
      }
      bind_combine(s, r->st, acc, other);
      bind_close(s, outer);
    }
  }
  bool tile = r->st->dsts[0].var->tile.rank > 0;
  if (any && tile && !nest_str(r->st, NA_combine, NULL)) share_first(s, r);
}

/* ---- across warps ---- */

static DType stored(DType t) { return t == DT_PTR ? DT_I64 : t; }

/* Where a thread's partial results lie: kept positions first, the axis's warps fastest. */
typedef struct {
  Ref base;      /* i32 bytes, or REF_NONE */
  Affine bytes;  /* of the register digits */
  int64_t slots; /* kept positions */
} Slot;

static Slot slot_of(Bind *s, const Reduction *r, int64_t bytes) {
  Dim dims[MAX_DIMS];
  int64_t coef[MAX_DIMS], count = 1;
  int n = 0;
  Slot slot = {ref_none(), affine_const(0), 0};
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->axis == r->axis || x->axis < 0) continue;
    if (place_in_thread(x->place)) {
      Affine a = affine_index(x->index, count * bytes);
      affine_add(&slot.bytes, &a);
    } else {
      dims[n] = *x;
      coef[n++] = count * bytes;
    }
    count *= x->extent;
  }
  if (n) slot.base = bind_thread_const(s, dims, coef, n);
  slot.slots = count;
  return slot;
}

static Ref sum_of(Bind *s, Ref a, Ref b) {
  if (!a.kind) return b;
  if (!b.kind) return a;
  return bind_op(s, TILE_ADD, DT_I32, a, b);
}

/* One thread of every kept position and warp writes: lanes of the axis and replicas all hold the
 * same, so those with a digit above 0 stay out. */
static Ref writer_guard(Bind *s, const Reduction *r, bool with_warps) {
  Dim dims[MAX_DIMS];
  int64_t coef[MAX_DIMS], at = 1;
  int n = 0;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (place_in_thread(x->place)) continue;
    if (x->axis >= 0 && x->axis != r->axis) continue;
    if (x->axis == r->axis && x->place == PLACE_WARP && !with_warps) continue;
    dims[n] = *x;
    coef[n++] = at;
    at *= x->extent;
  }
  if (!n) return ref_none();
  return bind_op(s, TILE_EQ, DT_I32, bind_thread_const(s, dims, coef, n), ref_int(0));
}

static int axis_warps(Bind *s, const Reduction *r, Ref *number, int64_t bytes) {
  Dim dims[MAX_DIMS];
  int64_t coef[MAX_DIMS];
  int n = 0, warps = 1;
  for (int d = s->ndims - 1; d >= 0; d--) {
    const Dim *x = &s->dims[d];
    if (x->axis != r->axis || x->place != PLACE_WARP) continue;
    dims[n] = *x;
    coef[n++] = warps * bytes;
    warps *= x->extent;
  }
  *number = n ? bind_thread_const(s, dims, coef, n) : ref_none();
  return warps;
}

void bind_st_shared(Bind *s, Ref src, DType t, NestBuffer *buf, Ref base, Affine bytes, Ref guard) {
  NestStmt *st = nest_stmt(&s->b, NEST_ST, 0, 1);
  st->srcs[0] = src;
  st->type = stored(t);
  st->mems[0] = (Mem){buf, base, bytes};
  st->guard = guard;
}

void bind_ld_shared(Bind *s, Ref dst, DType t, NestBuffer *buf, Ref base, Affine bytes, int64_t n) {
  NestStmt *st = nest_stmt(&s->b, NEST_LD, 1, 0);
  st->dsts[0] = dst;
  st->type = stored(t);
  st->mems[0] = (Mem){buf, base, bytes};
  if (n > 1) nest_set_int(s->nest, st, NA_n, n);
}

static int64_t vector_of(const Bind *s, int64_t count, int64_t bytes) {
  int64_t n = count & -count;
  if (s->u->machine->kind != MACHINE_GPU) return 1;
  while (n > 1 && n * bytes > s->u->machine->vector_bytes) n /= 2;
  return n;
}

/* Returns true if the results are uniform: read by every thread from one place. */
static bool fold_warps(Bind *s, Reduction *r) {
  Ref number;
  int warps = axis_warps(s, r, &number, 1);
  if (warps == 1) return false;
  bool uniform = true;
  NestVar *parts[MAX_OPERANDS];
  Affine sub = packed(s, r->kept);
  NestBuffer *buf[MAX_OPERANDS];
  Slot slot[MAX_OPERANDS];
  for (int i = 0; i < r->n; i++) {
    DType t = r->acc[i]->dtype;
    int64_t bytes = dtype_bytes(t);
    slot[i] = slot_of(s, r, bytes * warps);
    buf[i] = nest_buffer(s->nest, "red", stored(t), slot[i].slots * warps * bytes, 16);
    axis_warps(s, r, &number, bytes);
    uniform &= !slot[i].base.kind && !r->kept;
    Ref guard = writer_guard(s, r, false), base = sum_of(s, slot[i].base, number);
    NestBuilder outer = bind_open_loops(s, r->kept);
    bind_st_shared(s, ref_sub(r->acc[i], sub), t, buf[i], base, slot[i].bytes, guard);
    bind_close(s, outer);
  }
  NestBuilder outer = bind_open_loops(s, r->kept);
  for (int i = 0; i < r->n; i++) {
    DType t = r->acc[i]->dtype;
    int64_t bytes = dtype_bytes(t), n = vector_of(s, warps, bytes);
    parts[i] = bind_var(s, r->acc[i]->name, t, r->acc[i]->elem, (uint32_t)warps, uniform);
    if (uniform) r->acc[i] = bind_var(s, r->acc[i]->name, t, r->acc[i]->elem, 1, true);
    for (int64_t w = 0; w < warps; w += n) {
      Affine at = affine_const(w * bytes);
      affine_add(&at, &slot[i].bytes);
      bind_ld_shared(s, ref_sub(parts[i], affine_const(w)), t, buf[i], slot[i].base, at, n);
    }
  }
  combine_tree(s, r, parts, warps);
  for (int i = 0; i < r->n; i++)
    nest_mov(&s->b, ref_sub(r->acc[i], sub), ref_sub(parts[i], affine_const(0)), r->acc[i]->dtype);
  bind_close(s, outer);
  return uniform;
}

/* A scalar result is the same in every thread: lane 0's.  Without a fold over warps each of them
 * has reduced a replica of all elements, in the same order. */
static void to_scalar(Bind *s, NestVar *dst, NestVar *acc, bool uniform) {
  if (uniform) {
    nest_mov(&s->b, ref_var(dst), ref_sub(acc, affine_const(0)), dst->dtype);
    return;
  }
  NestStmt *st = nest_stmt(&s->b, NEST_SHFL, 1, 2);
  st->dsts[0] = ref_var(dst);
  st->srcs[0] = ref_sub(acc, affine_const(0));
  st->srcs[1] = ref_int(0);
  st->type = acc->dtype;
  nest_set_str(s->nest, st, NA_mode, "idx");
  if (s->nest->warps > 1) nest_set_int(s->nest, st, NA_same, 1);
}

void bind_reduce(Bind *s, const NestStmt *st) {
  Reduction r = {.st = st, .axis = (int)nest_int(st, NA_axis, 0), .n = (int)st->nsrcs};
  if (r.n > MAX_OPERANDS) bind_refuse(s, "it has more than 8 operands");
  const Layout l = st->srcs[0].var->layout;
  bind_start(s, NULL, &l);
  split_axis(s, r.axis);
  for (int i = 0; i < r.n; i++) r.in[i] = st->srcs[i].var;
  r.kept = register_dims(s) & ~axis_dims(s, r.axis, true);
  mask_padding(s, &r, &l);
  fold_registers(s, &r);
  fold_lanes(s, &r);
  bool uniform = fold_warps(s, &r);
  for (int i = 0; i < r.n; i++) {
    NestVar *dst = st->dsts[i].var;
    if (!dst->tile.rank) {
      to_scalar(s, dst, r.acc[i], uniform);
      continue;
    }
    /* layout_drop_axis packs the kept registers in the same order as packed() does */
    bind_mov_run(s, dst, 0, r.acc[i], 0, registers_of(s, r.kept));
  }
}

/* ---- relayout ---- */

/* The row-major position of every register's element, lanes and warps at 0. */
static int64_t *positions(Arena *a, const Layout *l, int32_t *count) {
  *count = layout_registers(l);
  int64_t *at = ARENA_ARRAY(a, int64_t, (size_t)*count), below = 1;
  for (int axis = l->rank - 1; axis >= 0; axis--) {
    for (int i = 0; i < l->ndigits; i++) {
      const Digit *d = &l->d[i];
      if (d->axis != axis || !place_in_thread((Place)d->place)) continue;
      int64_t w = layout_weight(l, i) * below;
      for (int32_t r = 0; r < *count; r++) at[r] += r / d->stride % d->extent * w;
    }
    below *= layout_padded(l, axis);
  }
  return at;
}

typedef struct {
  int64_t at;
  int32_t reg;
} Place1;

static int by_position(const void *a, const void *b) {
  const Place1 *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at ? 1 : x->reg - y->reg;
}

static Place1 *sorted(Arena *a, const Layout *l, int32_t *n) {
  int64_t *at = positions(a, l, n);
  Place1 *p = ARENA_ARRAY(a, Place1, (size_t)*n);
  for (int32_t i = 0; i < *n; i++) p[i] = (Place1){at[i], i};
  qsort(p, (size_t)*n, sizeof *p, by_position);
  return p;
}

void bind_relayout(Bind *s, const NestStmt *st) {
  NestVar *from = st->srcs[0].var, *to = st->dsts[0].var;
  int32_t nf, nt;
  Place1 *f = sorted(s->scratch, &from->layout, &nf), *t = sorted(s->scratch, &to->layout, &nt);
  int32_t *source = ARENA_ARRAY(s->scratch, int32_t, (size_t)nt);
  for (int32_t i = 0, k = 0; i < nt; i++) {
    while (k + 1 < nf && f[k].at < t[i].at) k++;
    source[t[i].reg] = f[k].reg;
  }
  for (int32_t i = 0, n; i < nt; i += n) {
    for (n = 1; i + n < nt && source[i + n] == source[i] + n;) n++;
    bind_mov_run(s, to, i, from, source[i], n);
  }
}
