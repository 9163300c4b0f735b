/* The digits of a nest, loops over them, and numbers of threads.  See lower/bind/bind.h. */
#include <string.h>

#include "lower/bind/bind_nest.h"
#include "lower/messages.h"

const char bind_too_many_digits[] = "a layout has too many digits";

void bind_refuse(const Bind *s, const char *why) {
  diag_error(s->u->diags, s->b.span, E_LOWER_BIND, why);
  longjmp(*s->refused, 1);
}

/* ---- dims ---- */

static void add_layout_dims(Bind *s, const Layout *l) {
  s->ndims = 0;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (s->ndims == MAX_DIMS) bind_refuse(s, bind_too_many_digits);
    s->dims[s->ndims++] = (Dim){
        d->axis, d->axis < 0 ? 0 : layout_weight(l, i), d->extent, (HwDim)d->hw, d->stride, NULL};
  }
}

/* Splits dim d into a high part and a low part of `low` values. */
static void split_dim(Bind *s, int d, int32_t low) {
  if (s->ndims == MAX_DIMS) bind_refuse(s, bind_too_many_digits);
  memmove(&s->dims[d + 1], &s->dims[d], sizeof s->dims[0] * (size_t)(s->ndims - d));
  s->ndims++;
  s->dims[d].extent /= low;
  s->dims[d].weight *= low;
  s->dims[d].stride *= low;
  s->dims[d + 1].extent = low;
}

/* Splits the dims of an axis so that none goes on over a multiple of weight w. */
static void split_axis(Bind *s, int axis, int64_t w) {
  for (int d = 0; d < s->ndims; d++) {
    Dim *x = &s->dims[d];
    if (x->axis != axis || w <= x->weight || w >= x->weight * x->extent || w % x->weight) continue;
    int64_t low = w / x->weight;
    if (x->extent % low == 0) split_dim(s, d, (int32_t)low);
  }
}

/* Splits dims where a variable's digits along an axis begin, so that each is within one. */
static void refine_axis(Bind *s, int axis, const Layout *l, int var_axis) {
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis == var_axis) split_axis(s, axis, layout_weight(l, i));
}

int bind_axis_of(const NestStmt *nest, const NestIndex *index) {
  for (int a = 0; a < nest->layout->rank; a++)
    if (nest->axes[a] == index) return a;
  return -1;
}

static void refine_ref(Bind *s, const NestStmt *nest, const Ref *r) {
  if (r->kind != REF_VAR || !r->var->tile.rank || !r->axes) return;
  for (int a = 0; a < r->var->tile.rank; a++)
    if (r->axes[a].n == 1)
      refine_axis(s, bind_axis_of(nest, r->axes[a].t[0].index), r->var->layout, a);
}

/* The two digits of a buffer's axis that is cut into panels, and of which `stride` is the lower's:
 * the index of the upper one, or -1. */
int bind_panel_digit(const NestBuffer *b, int64_t stride) {
  for (int i = 0; b && i + 1 < b->layout.ndigits; i++)
    if (b->layout.d[i].axis == b->layout.d[i + 1].axis && b->layout.d[i + 1].stride == stride)
      return i;
  return -1;
}

/* Splits dims where panels end, and where the unit of a swizzled buffer that keeps its order
 * does. */
static void refine_mem(Bind *s, const NestStmt *nest, const Mem *m) {
  for (int k = 0; k < m->bytes.n; k++) {
    int64_t stride = m->bytes.t[k].coef;
    int at = bind_panel_digit(m->buffer, stride);
    int axis = bind_axis_of(nest, m->bytes.t[k].index);
    int64_t unit = m->buffer && m->buffer->layout.xor_bits ? 1 << m->buffer->layout.xor_base : 0;
    if (axis >= 0 && stride > 0 && unit > stride) split_axis(s, axis, unit / stride);
    if (at >= 0 && axis >= 0)
      refine_axis(s, axis, &m->buffer->layout, m->buffer->layout.d[at].axis);
  }
}

int64_t bind_power(TileCode op, int64_t c) {
  if (c <= 0) return 0;
  if (op == TILE_SHR) c = c < 31 ? INT64_C(1) << c : 0;
  else if (op == TILE_AND) c++;
  else if (op != TILE_DIV && op != TILE_REM) return 0;
  return c & (c - 1) ? 0 : c;
}

int64_t bind_dividing_power(const NestStmt *st) {
  if (st->code != NEST_OP || st->nsrcs < 2) return 0;
  const Ref *by = &st->srcs[1];
  return bind_power(st->op, by->kind == REF_AFFINE && !by->sub.n ? by->sub.c : 0);
}

/* The statement of a body that computes an operand; NULL: none of it. */
static const NestStmt *definition_in(const NestBlock *body, const Ref *r) {
  for (const NestStmt *st = body->first; st && r->kind == REF_VAR; st = st->next)
    if (st->ndsts == 1 && st->dsts[0].kind == REF_VAR && st->dsts[0].var == r->var) return st;
  return NULL;
}

enum { INDEX_DEPTH = 8 }; /* statements one on the other that compute an index */

/* Does the body compute the operand of numbers and indices alone, without what is loaded? */
static bool is_index(const NestBlock *body, const Ref *r, int depth) {
  if (r->kind != REF_VAR || !r->var->tile.rank) return true;
  const NestStmt *st = definition_in(body, r);
  if (!st || st->code != NEST_OP || dtype_is_float(st->type) || depth == INDEX_DEPTH) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (!is_index(body, &st->srcs[i], depth + 1)) return false;
  return true;
}

/* The positive constant by which a statement divides or shifts; 0: it does neither. */
static int64_t divisor_of(const NestStmt *st) {
  bool divides = st->code == NEST_OP && (st->op == TILE_DIV || st->op == TILE_REM);
  if (!divides) return bind_dividing_power(st);
  const Ref *by = &st->srcs[1];
  return by->kind == REF_AFFINE && !by->sub.n && by->sub.c > 0 ? by->sub.c : 0;
}

/* The power of two in the divisor of an index, times those of the quotients that it is. */
static int64_t run_of(const NestBlock *body, const NestStmt *st) {
  int64_t all = 1, by = divisor_of(st);
  if (by && !is_index(body, &st->srcs[0], 0)) return 0;
  while (by) {
    if (__builtin_mul_overflow(all, by, &all)) return 0;
    st = definition_in(body, &st->srcs[0]);
    by = st && (st->op == TILE_DIV || st->op == TILE_SHR) ? divisor_of(st) : 0;
  }
  return all & -all;
}

/* Splits digits of registers where quotients of the body end.  A machine that has a number for each
 * register ends them at each divisor: indices are constants then, and addresses a base and
 * constants.  Others end them with a run of the index, whose address is computed once. */
static void cut_registers(Bind *s, const NestBlock *body, const NestStmt *st) {
  bool expands = machine_has(s->u->machine, HAS_EXPANDED_LOOPS);
  int64_t cut = expands ? bind_dividing_power(st) : run_of(body, st);
  if (cut < 2) return;
  for (int d = 0; d < s->ndims && s->ndims < MAX_DIMS; d++) {
    const Dim *x = &s->dims[d];
    if (x->hw != HW_REG || x->axis < 0 || cut <= x->weight || cut % x->weight) continue;
    int64_t low = cut / x->weight;
    if (low < x->extent && x->extent % low == 0) split_dim(s, d, (int32_t)low);
  }
}

static void refine_body(Bind *s, const NestStmt *nest) {
  for (const NestStmt *st = nest->regions[0]->first; st; st = st->next) {
    cut_registers(s, nest->regions[0], st);
    for (uint32_t i = 0; i < st->ndsts; i++) refine_ref(s, nest, &st->dsts[i]);
    for (uint32_t i = 0; i < st->nsrcs; i++) refine_ref(s, nest, &st->srcs[i]);
    refine_ref(s, nest, &st->guard);
    for (uint32_t i = 0; i < st->nmems; i++) refine_mem(s, nest, &st->mems[i]);
  }
}

/* Splits digits of lanes where quotients by which the kernel divides end. */
static void cut_lanes(Bind *s) {
  for (int64_t cut = 2; cut <= s->lane_cuts; cut *= 2) {
    if (!(s->lane_cuts & cut)) continue;
    for (int d = 0; d < s->ndims; d++) {
      const Dim *x = &s->dims[d];
      if (x->hw != HW_LANE || x->axis < 0 || cut <= x->weight) continue;
      int64_t low = cut / x->weight;
      if (cut % x->weight == 0 && low < x->extent && x->extent % low == 0)
        split_dim(s, d, (int32_t)low);
    }
  }
}

static void name_dims(Bind *s) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  int n = 0;
  for (int d = 0; d < s->ndims; d++)
    if (bind_unrolled(&s->dims[d]))
      s->dims[d].index =
          nest_index(s->nest, s->dims[d].hw == HW_SERIAL ? "s" : names[n++ % 8], s->dims[d].extent);
}

void bind_start(Bind *s, const NestStmt *st, const Layout *l) {
  s->stmt = (NestStmt *)st;
  s->id++;
  add_layout_dims(s, l);
  if (st && st->regions[0] && st->code != NEST_REDUCE) {
    refine_body(s, st);
    cut_lanes(s);
  }
  name_dims(s);
}

DimMask bind_reg_dims(const Bind *s) {
  DimMask m = 0;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].hw == HW_REG) m |= (DimMask)1 << d;
  return m;
}

/* ---- emitting ---- */

static void grow_tables(Bind *s) {
  if (s->nest->nvars <= s->var_room) return;
  uint32_t old = s->var_room, n = s->nest->nvars * 2;
#define GROW(p) (p = arena_grow(s->scratch, p, old * sizeof *(p), n * sizeof *(p)))
  GROW(s->def);
  GROW(s->def_nest);
  GROW(s->known);
  GROW(s->chain);
  GROW(s->array);
  GROW(s->array_nest);
  GROW(s->depth);
#undef GROW
  s->var_room = n;
}

void bind_split_dim(Bind *s, int d, int32_t low) {
  if (low <= 1 || s->dims[d].extent <= low || s->dims[d].extent % low) return;
  split_dim(s, d, low);
  s->dims[d].index = nest_index(s->nest, s->dims[d].index->name, s->dims[d].extent);
  s->dims[d + 1].index = nest_index(s->nest, s->dims[d + 1].index->name, low);
}

NestVar *bind_var(Bind *s, const char *name, DType t, DType elem, uint32_t count, bool uniform) {
  NestVar *v = nest_var(s->nest, name, t, elem, count, uniform);
  grow_tables(s);
  s->depth[v->id] = s->loops;
  return v;
}

void bind_loop(Bind *s, NestCode code, NestIndex *index) {
  NestStmt *loop = nest_stmt(&s->b, code, 0, 0);
  loop->index = index;
  s->b.block = nest_block(s->nest, loop);
  s->b.before = NULL;
}

void bind_unroll(Bind *s, NestIndex *index) {
  if (index) bind_loop(s, NEST_UNROLL, index);
}

NestBuilder bind_open(Bind *s, DimMask mask) {
  NestBuilder outer = s->b;
  for (int d = 0; d < s->ndims; d++)
    if (mask >> d & 1 && s->dims[d].hw == HW_REG) bind_unroll(s, s->dims[d].index);
  return outer;
}

NestBuilder bind_open_loops(Bind *s, DimMask mask) {
  NestBuilder outer = s->b;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *dim = &s->dims[d];
    if (mask >> d & 1) bind_loop(s, dim->hw == HW_REG ? NEST_UNROLL : NEST_SERIAL, dim->index);
  }
  return outer;
}

void bind_add_index(Affine *a, NestIndex *index, int64_t coef) {
  if (!index) return;
  Affine x = affine_index(index, coef);
  BUG_IF(!affine_add(a, &x), "a subscript of more than %d terms", MAX_TERMS);
}

void bind_close(Bind *s, NestBuilder outer) { s->b = outer; }

/* The dim of the mask that comes after dim `last` in registers, by its stride there; -1: none. */
static int next_in_registers(const Bind *s, DimMask mask, int last) {
  int next = -1;
  for (int d = s->ndims - 1; d >= 0; d--) {
    if (!(mask >> d & 1) || s->dims[d].hw != HW_REG) continue;
    bool after = last < 0 || s->dims[d].stride > s->dims[last].stride ||
                 (s->dims[d].stride == s->dims[last].stride && d < last);
    if (after && (next < 0 || s->dims[d].stride < s->dims[next].stride)) next = d;
  }
  return next;
}

NestVar *bind_array(Bind *s, const char *name, DType t, DType elem, DimMask mask, Affine *sub) {
  int32_t count = 1;
  *sub = affine_const(0);
  for (int d = next_in_registers(s, mask, -1); d >= 0; d = next_in_registers(s, mask, d)) {
    Affine x = affine_index(s->dims[d].index, count);
    if (!affine_add(sub, &x)) bind_refuse(s, bind_too_many_digits);
    count *= s->dims[d].extent;
  }
  return bind_var(s, name, t, elem, (uint32_t)count, false);
}

Ref bind_op(Bind *s, TileCode op, DType t, Ref x, Ref y) {
  bool compare = op >= TILE_LT && op <= TILE_NE;
  bool uniform = (x.kind != REF_VAR || x.var->uniform) && (y.kind != REF_VAR || y.var->uniform);
  NestVar *v = bind_var(s, NULL, compare ? DT_I1 : t, DT_NONE, 1, uniform);
  nest_op(&s->b, op, t, ref_var(v), x, y, ref_none());
  return ref_var(v);
}

/* ---- thread constants ---- */

static Ref place_id(Bind *s, HwDim p) {
  NestVar **v = p == HW_LANE ? &s->lane : &s->warp;
  if (!*v) {
    *v = bind_var(s, p == HW_LANE ? "lane" : "warp", DT_I32, DT_NONE, 1, false);
    NestStmt *st = nest_stmt(&s->entry, p == HW_LANE ? NEST_LANE : NEST_WARP, 1, 0);
    st->dsts[0] = ref_var(*v);
    st->type = DT_I32;
  }
  return ref_var(*v);
}

Ref bind_leader(Bind *s) {
  if (s->leader) return ref_var(s->leader);
  Ref lane = place_id(s, HW_LANE), warp = place_id(s, HW_WARP);
  NestVar *any = bind_var(s, NULL, DT_I32, DT_NONE, 1, false);
  s->leader = bind_var(s, "leader", DT_I1, DT_NONE, 1, false);
  nest_op(&s->entry, TILE_OR, DT_I32, ref_var(any), lane, warp, ref_none());
  nest_op(&s->entry, TILE_EQ, DT_I32, ref_var(s->leader), ref_var(any), ref_int(0), ref_none());
  return ref_var(s->leader);
}

Ref bind_first_lane(Bind *s) {
  if (s->first_lane) return ref_var(s->first_lane);
  Ref lane = place_id(s, HW_LANE);
  s->first_lane = bind_var(s, "first", DT_I1, DT_NONE, 1, false);
  nest_op(&s->entry, TILE_EQ, DT_I32, ref_var(s->first_lane), lane, ref_int(0), ref_none());
  return ref_var(s->first_lane);
}

/* (id / stride) % extent: the digit's value. */
static Ref digit_value(Bind *s, const Dim *d) {
  Ref r = place_id(s, d->hw);
  int32_t all = d->hw == HW_LANE ? s->nest->lanes : s->nest->warps;
  if (d->stride > 1)
    r = bind_op(s, TILE_SHR, DT_I32, r, ref_int(__builtin_ctz((unsigned)d->stride)));
  if (d->stride * d->extent < all) r = bind_op(s, TILE_AND, DT_I32, r, ref_int(d->extent - 1));
  return r;
}

/* Joins digit j to digit i, if j counts on from i with a matching coefficient. */
static bool join_digit(ThreadForm *f, int i, int j) {
  Dim *a = &f->dims[i], *b = &f->dims[j];
  if (i == j || a->hw != b->hw || b->stride != a->stride * a->extent ||
      f->coef[j] != f->coef[i] * a->extent)
    return false;
  a->extent *= b->extent;
  *b = f->dims[--f->n];
  f->coef[j] = f->coef[f->n];
  return true;
}

static bool join_digits(ThreadForm *f) {
  for (int i = 0; i < f->n; i++)
    for (int j = 0; j < f->n; j++)
      if (join_digit(f, i, j)) return true;
  return false;
}

void thread_form_add(ThreadForm *f, const Dim *dim, int64_t coef) {
  f->dims[f->n] = *dim;
  f->coef[f->n++] = coef;
}

Ref bind_thread_const(Bind *s, const ThreadForm *given) {
  ThreadForm f = *given;
  if (!f.n) return ref_none();
  while (join_digits(&f)) {
  }
  Text key = text_new(s->scratch);
  for (int i = 0; i < f.n; i++)
    text_printf(&key, "%d:%d:%d:%lld ", f.dims[i].hw, f.dims[i].stride, f.dims[i].extent,
                (long long)f.coef[i]);
  for (size_t i = 0; i < s->consts.len; i++)
    if (!strcmp(s->consts.data[i].key.data, key.data)) return ref_var(s->consts.data[i].var);
  NestBuilder outer = s->b;
  uint8_t loops = s->loops;
  s->b = s->entry;
  s->loops = 0;
  Ref sum = ref_none();
  for (int i = 0; i < f.n; i++) {
    Ref x = digit_value(s, &f.dims[i]);
    if (f.coef[i] != 1) x = bind_op(s, TILE_MUL, DT_I32, x, ref_int(f.coef[i]));
    sum = sum.kind ? bind_op(s, TILE_ADD, DT_I32, sum, x) : x;
  }
  s->b = outer;
  s->loops = loops;
  ThreadConst c = {key, sum.var};
  vec_push(s->scratch, &s->consts, c);
  return sum;
}

/* The test is done on a copy in the entry: replication digits are the same all through a kernel. */
Ref bind_first_replica(Bind *s) {
  ThreadForm f = {.n = 0};
  int64_t below = 1;
  for (int d = 0; d < s->ndims; d++) {
    if (s->dims[d].axis >= 0 || bind_unrolled(&s->dims[d])) continue;
    thread_form_add(&f, &s->dims[d], below);
    below *= s->dims[d].extent;
  }
  Ref id = bind_thread_const(s, &f);
  if (!id.kind) return id;
  Text key = text_new(s->scratch);
  text_printf(&key, "first %u", id.var->id);
  for (size_t i = 0; i < s->consts.len; i++)
    if (!strcmp(s->consts.data[i].key.data, key.data)) return ref_var(s->consts.data[i].var);
  NestBuilder outer = s->b;
  s->b = s->entry;
  Ref first = bind_op(s, TILE_EQ, DT_I32, id, ref_int(0));
  s->b = outer;
  s->depth[first.var->id] = 0;
  ThreadConst c = {key, first.var};
  vec_push(s->scratch, &s->consts, c);
  return first;
}
