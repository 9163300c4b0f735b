/* NESTs: dims, expressions, and memory accesses.  See lower/bind.h. */
#include <string.h>

#include "lower/bind.h"

/* ---- dims ---- */

static bool unrolled(const Dim *d) { return d->place == PLACE_REG || d->place == PLACE_SERIAL; }

static void add_layout_dims(Bind *s, const Layout *l) {
  s->ndims = 0;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (s->ndims == MAX_DIMS) bind_refuse(s, bind_too_many_digits);
    s->dims[s->ndims++] =
        (Dim){d->axis, d->axis < 0 ? 0 : layout_weight(l, i), d->extent, (Place)d->place, d->stride,
              NULL};
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

/* Splits dims where a variable's digits along an axis begin, so that each is within one. */
static void refine_axis(Bind *s, int axis, const Layout *l, int var_axis) {
  for (int i = 0; i < l->ndigits; i++) {
    if (l->d[i].axis != var_axis) continue;
    int64_t w = layout_weight(l, i);
    for (int d = 0; d < s->ndims; d++) {
      Dim *x = &s->dims[d];
      if (x->axis != axis || w <= x->weight || w >= x->weight * x->extent || w % x->weight)
        continue;
      int64_t low = w / x->weight;
      if (x->extent % low == 0) split_dim(s, d, (int32_t)low);
    }
  }
}

static int axis_of(const NestStmt *nest, const NestIndex *index) {
  for (int a = 0; a < nest->layout.rank; a++)
    if (nest->axes[a] == index) return a;
  return -1;
}

static void refine_ref(Bind *s, const NestStmt *nest, const Ref *r) {
  if (r->kind != REF_VAR || !r->var->tile.rank || !r->axes) return;
  for (int a = 0; a < r->var->tile.rank; a++)
    if (r->axes[a].n == 1) refine_axis(s, axis_of(nest, r->axes[a].t[0].index), &r->var->layout, a);
}

/* The two digits of a buffer's axis that is cut into panels, and of which `stride` is the lower's:
 * the index of the upper one, or -1. */
static int panel_digit(const NestBuffer *b, int64_t stride) {
  for (int i = 0; b && i + 1 < b->layout.ndigits; i++)
    if (b->layout.d[i].axis == b->layout.d[i + 1].axis && b->layout.d[i + 1].stride == stride)
      return i;
  return -1;
}

/* Splits dims where panels end. */
static void refine_mem(Bind *s, const NestStmt *nest, const Mem *m) {
  for (int k = 0; k < m->bytes.n; k++) {
    int at = panel_digit(m->buffer, m->bytes.t[k].coef);
    int axis = axis_of(nest, m->bytes.t[k].index);
    if (at >= 0 && axis >= 0)
      refine_axis(s, axis, &m->buffer->layout, m->buffer->layout.d[at].axis);
  }
}

static void refine_body(Bind *s, const NestStmt *nest) {
  for (const NestStmt *st = nest->regions[0]->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) refine_ref(s, nest, &st->dsts[i]);
    for (uint32_t i = 0; i < st->nsrcs; i++) refine_ref(s, nest, &st->srcs[i]);
    refine_ref(s, nest, &st->guard);
    for (uint32_t i = 0; i < st->nmems; i++) refine_mem(s, nest, &st->mems[i]);
  }
}

static void name_dims(Bind *s) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  int n = 0;
  for (int d = 0; d < s->ndims; d++)
    if (unrolled(&s->dims[d]))
      s->dims[d].index = nest_index(
          s->nest, s->dims[d].place == PLACE_SERIAL ? "s" : names[n++ % 8], s->dims[d].extent);
}

void bind_start(Bind *s, const NestStmt *st, const Layout *l) {
  s->stmt = (NestStmt *)st;
  s->id++;
  add_layout_dims(s, l);
  if (st && st->regions[0] && st->code != NEST_REDUCE) refine_body(s, st);
  name_dims(s);
}

DimMask bind_reg_dims(const Bind *s) {
  DimMask m = 0;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].place == PLACE_REG) m |= (DimMask)1 << d;
  return m;
}

/* ---- emitting ---- */

static void room(Bind *s) {
  if (s->nest->nvars <= s->var_room) return;
  uint32_t old = s->var_room, n = s->nest->nvars * 2;
#define GROW(p) (p = arena_grow(s->scratch, p, old * sizeof *(p), n * sizeof *(p)))
  GROW(s->def);
  GROW(s->def_nest);
  GROW(s->known);
  GROW(s->array);
  GROW(s->array_nest);
  GROW(s->depth);
#undef GROW
  s->var_room = n;
}

void bind_split_dim(Bind *s, int d, int32_t low) {
  if (low <= 1 || s->dims[d].extent <= low || s->dims[d].extent % low) return;
  memmove(&s->dims[d + 1], &s->dims[d], sizeof s->dims[0] * (size_t)(s->ndims - d));
  s->ndims++;
  s->dims[d].extent /= low;
  s->dims[d].weight *= low;
  s->dims[d].stride *= low;
  s->dims[d + 1].extent = low;
  s->dims[d].index = nest_index(s->nest, s->dims[d].index->name, s->dims[d].extent);
  s->dims[d + 1].index = nest_index(s->nest, s->dims[d + 1].index->name, low);
}

NestVar *bind_var(Bind *s, const char *name, DType t, DType elem, uint32_t count, bool uniform) {
  NestVar *v = nest_var(s->nest, name, t, elem, count, uniform);
  room(s);
  s->depth[v->id] = s->loops;
  return v;
}

NestBuilder bind_open(Bind *s, DimMask mask) {
  NestBuilder outer = s->b;
  for (int d = 0; d < s->ndims; d++) {
    if (!(mask >> d & 1) || s->dims[d].place != PLACE_REG) continue;
    NestStmt *u = nest_stmt(&s->b, NEST_UNROLL, 0, 0);
    u->index = s->dims[d].index;
    s->b.block = nest_block(s->nest, u);
    s->b.before = NULL;
  }
  return outer;
}

void bind_close(Bind *s, NestBuilder outer) { s->b = outer; }

NestVar *bind_array(Bind *s, const char *name, DType t, DType elem, DimMask mask, Affine *sub) {
  int32_t count = 1;
  *sub = affine_const(0);
  for (int d = s->ndims - 1; d >= 0; d--) {
    if (!(mask >> d & 1) || s->dims[d].place != PLACE_REG) continue;
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

static Ref place_id(Bind *s, Place p) {
  NestVar **v = p == PLACE_LANE ? &s->lane : &s->warp;
  if (!*v) {
    *v = bind_var(s, p == PLACE_LANE ? "lane" : "warp", DT_I32, DT_NONE, 1, false);
    NestStmt *st = nest_stmt(&s->entry, p == PLACE_LANE ? NEST_LANE : NEST_WARP, 1, 0);
    st->dsts[0] = ref_var(*v);
    st->type = DT_I32;
  }
  return ref_var(*v);
}

/* (id / stride) % extent: the digit's value. */
static Ref digit(Bind *s, const Dim *d) {
  Ref r = place_id(s, d->place);
  int32_t all = d->place == PLACE_LANE ? s->nest->lanes : s->nest->warps;
  if (d->stride > 1)
    r = bind_op(s, TILE_SHR, DT_I32, r, ref_int(__builtin_ctz((unsigned)d->stride)));
  if (d->stride * d->extent < all) r = bind_op(s, TILE_AND, DT_I32, r, ref_int(d->extent - 1));
  return r;
}

/* Joins digits that count on from each other with matching coefficients; returns how many stay. */
static int join_digits(Dim *dims, int64_t *coef, int n) {
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        if (i == j || dims[i].place != dims[j].place ||
            dims[j].stride != dims[i].stride * dims[i].extent ||
            coef[j] != coef[i] * dims[i].extent)
          continue;
        dims[i].extent *= dims[j].extent;
        dims[j] = dims[n - 1];
        coef[j] = coef[n - 1];
        n--;
        again = true;
        i = n;
        break;
      }
  }
  return n;
}

Ref bind_thread_const(Bind *s, const Dim *given, const int64_t *coefs, int n) {
  Dim dims[MAX_DIMS];
  int64_t coef[MAX_DIMS];
  memcpy(dims, given, sizeof *dims * (size_t)n);
  memcpy(coef, coefs, sizeof *coef * (size_t)n);
  n = join_digits(dims, coef, n);
  Text key = text_new(s->scratch);
  for (int i = 0; i < n; i++)
    text_printf(&key, "%d:%d:%d:%lld ", dims[i].place, dims[i].stride, dims[i].extent,
                (long long)coef[i]);
  for (size_t i = 0; i < s->consts.len; i++)
    if (!strcmp(s->consts.data[i].key.data, key.data)) return ref_var(s->consts.data[i].var);
  NestBuilder outer = s->b;
  uint8_t loops = s->loops;
  s->b = s->entry;
  s->loops = 0;
  Ref sum = ref_none();
  for (int i = 0; i < n; i++) {
    Ref x = digit(s, &dims[i]);
    if (coef[i] != 1) x = bind_op(s, TILE_MUL, DT_I32, x, ref_int(coef[i]));
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
  Dim dims[MAX_DIMS];
  int64_t coef[MAX_DIMS];
  int n = 0;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].axis < 0 && !unrolled(&s->dims[d])) {
      dims[n] = s->dims[d];
      coef[n] = n ? coef[n - 1] * dims[n - 1].extent : 1;
      n++;
    }
  if (!n) return ref_none();
  Ref id = bind_thread_const(s, dims, coef, n);
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

/* ---- values ---- */

static Value eval(Bind *s, Ref r, DType type, bool address);

static Form axis_form(const Bind *s, int axis) {
  Form f = form_const(0);
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].axis == axis) f.g[0].coef[d] = s->dims[d].weight;
  return f;
}

/* A form of nest axes as a form of digits. */
static Form affine_form(const Bind *s, const Affine *a) {
  Form f = form_const(a->c);
  for (int i = 0; i < a->n; i++) {
    int axis = s->stmt ? axis_of(s->stmt, a->t[i].index) : -1;
    if (axis < 0) bind_refuse(s, "a subscript names an index that is no axis of it");
    Form x = axis_form(s, axis);
    form_add(&f, &x, a->t[i].coef);
  }
  return f;
}

/* Bytes in a buffer: along an axis in panels, digits above a panel's end count panels. */
static Form buffer_form(const Bind *s, const Mem *m) {
  Form f = form_const(m->bytes.c);
  for (int i = 0; i < m->bytes.n; i++) {
    int axis = s->stmt ? axis_of(s->stmt, m->bytes.t[i].index) : -1;
    int at = panel_digit(m->buffer, m->bytes.t[i].coef);
    if (axis < 0) bind_refuse(s, "a subscript names an index that is no axis of it");
    if (at < 0) {
      Form x = axis_form(s, axis);
      form_add(&f, &x, m->bytes.t[i].coef);
      continue;
    }
    const Digit *panel = &m->buffer->layout.d[at], *within = panel + 1;
    for (int d = 0; d < s->ndims; d++) {
      const Dim *x = &s->dims[d];
      if (x->axis != axis) continue;
      bool above = x->weight >= within->extent;
      if (above ? x->weight % within->extent : x->weight * x->extent > within->extent)
        bind_refuse(s, "a digit lies across the end of a panel");
      f.g[0].coef[d] +=
          above ? x->weight / within->extent * panel->stride : x->weight * within->stride;
    }
  }
  return f;
}

/* The register of a tile variable that holds the element at a reference's axes. */
static Affine locate(const Bind *s, const Ref *r, DimMask *mask) {
  const Layout *l = &r->var->layout;
  Affine sub = affine_const(0);
  *mask = 0;
  for (int a = 0; a < r->var->tile.rank; a++) {
    const Affine *x = &r->axes[a];
    for (int i = 0; i < l->ndigits; i++) {
      const Digit *v = &l->d[i];
      if (v->axis != a || (v->place != PLACE_REG && v->place != PLACE_SERIAL)) continue;
      int64_t w = layout_weight(l, i);
      sub.c += x->c / w % v->extent * v->stride;
      if (!x->n) continue;
      int axis = axis_of(s->stmt, x->t[0].index);
      for (int d = 0; d < s->ndims; d++) {
        const Dim *dim = &s->dims[d];
        if (dim->axis != axis || dim->weight < w || dim->weight >= w * v->extent) continue;
        if (!unrolled(dim))
          bind_refuse(s, arena_printf(s->scratch, "its threads do not hold `%%%s`", r->var->name));
        Affine t = affine_index(dim->index, v->stride * (dim->weight / w));
        if (!affine_add(&sub, &t)) bind_refuse(s, bind_too_many_digits);
        *mask |= (DimMask)1 << d;
      }
    }
  }
  return sub;
}

static Value ref_value(Ref r, DimMask mask, DType t) {
  return (Value){.ref = r, .mask = mask, .type = t};
}

static bool integral(DType t) { return dtype_is_int(t) && t != DT_I1; }

/* Form and bytes, of an address. */
static bool has_bytes(const Value *v) { return v->is_form && v->ref.kind; }

/* pointer + bytes, over the dims of both. */
static Value add_bytes(Bind *s, Value pointer, Ref bytes, DimMask mask) {
  Affine sub;
  mask |= pointer.mask;
  NestVar *v = bind_array(s, NULL, DT_PTR, pointer.ref.var->elem, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  nest_op(&s->b, TILE_PTR_ADD, DT_PTR, ref_sub(v, sub), pointer.ref, bytes, ref_none())->elem =
      DT_U8;
  bind_close(s, outer);
  return ref_value(ref_sub(v, sub), mask, DT_PTR);
}

static Value materialized(Bind *s, Value v) {
  if (!v.is_form) return v;
  DType elem = DT_NONE;
  if (v.type == DT_PTR)
    for (int i = 0; i < v.form.n; i++)
      if (v.form.g[i].var && v.form.g[i].var->dtype == DT_PTR) elem = v.form.g[i].var->elem;
  DimMask mask;
  Ref r = form_value(s, &v.form, v.type, elem, &mask);
  Value whole = ref_value(r, mask, v.type);
  return has_bytes(&v) ? add_bytes(s, whole, v.ref, v.mask) : whole;
}

/* ---- forms of ops ---- */

static bool linear(Bind *s, const NestStmt *st, const Value *x, const Value *y, bool address,
                   Form *out) {
  int64_t c;
  switch (st->op) {
    case TILE_ADD: *out = x->form; return form_add(out, &y->form, 1);
    case TILE_SUB: *out = x->form; return form_add(out, &y->form, -1);
    case TILE_MUL:
      return form_mul(&x->form, &y->form, out) ||
             form_scale_by(s, &x->form, &y->form, address ? DT_I64 : st->type, out);
    case TILE_SHL:
      *out = form_const(0);
      return form_is_const(&y->form, &c) && c >= 0 && c < 31 &&
             form_add(out, &x->form, INT64_C(1) << c);
    case TILE_DIV: return form_is_const(&y->form, &c) && form_divide(s, &x->form, c, false, out);
    case TILE_REM: return form_is_const(&y->form, &c) && form_divide(s, &x->form, c, true, out);
    case TILE_SHR:
      return form_is_const(&y->form, &c) && c >= 0 && c < 31 &&
             form_divide(s, &x->form, INT64_C(1) << c, false, out);
    case TILE_AND:
      return form_is_const(&y->form, &c) && c >= 0 && !((c + 1) & c) &&
             form_divide(s, &x->form, c + 1, true, out);
    case TILE_PTR_ADD: {
      int64_t bytes = dtype_bytes(st->elem);
      *out = x->form;
      return form_add(out, &y->form, bytes ? bytes : 1);
    }
    default: return false;
  }
}

/* Signed offsets are taken as if in 64 bits (lang/tile_ops.h), so a widening cast of one that only
 * feeds an address keeps its form. */
static bool transparent_cast(const NestStmt *st, bool address, const Value *x) {
  int64_t c;
  if (st->op != TILE_CAST || !x->is_form || !integral(st->type) || !integral(st->to)) return false;
  if (form_is_const(&x->form, &c)) return dtype_bits(st->to) >= dtype_bits(st->type);
  return address && dtype_is_signed(st->type) && dtype_bits(st->to) == 64;
}

/* The result of a comparison with a bound does not depend on a digit inside whose range all that is
 * compared is divisible. */
static DimMask constant_dims(const Bind *s, const NestStmt *st, const Value *x, const Value *y) {
  bool less = st->op == TILE_LT || st->op == TILE_GE, more = st->op == TILE_GT || st->op == TILE_LE;
  if ((!less && !more) || !x->is_form || !y->is_form) return 0;
  Form diff = less ? x->form : y->form;
  if (!form_add(&diff, less ? &y->form : &x->form, -1)) return 0;
  DimMask free = 0;
  for (bool again = true; again;) {
    again = false;
    for (int d = 0; d < s->ndims; d++) {
      int64_t k = diff.g[0].coef[d];
      if (diff.g[0].var || k <= 0 || free >> d & 1 || !unrolled(&s->dims[d])) continue;
      /* digits already found free lie below this one */
      int64_t span = k * s->dims[d].extent;
      bool lowest = true;
      for (int e = 0; e < s->ndims; e++)
        if (free >> e & 1 && diff.g[0].coef[e] * s->dims[e].extent > k) lowest = false;
      DimMask skip = free | (DimMask)1 << d;
      if (!lowest || form_divisor(&diff, skip) % span) continue;
      free = skip;
      again = true;
    }
  }
  return free;
}

static Form without_dims(Form f, DimMask free) {
  for (int i = 0; i < f.n; i++)
    for (int d = 0; d < MAX_DIMS; d++)
      if (free >> d & 1) f.g[i].coef[d] = 0;
  return f;
}

/* An offset of a pointer to `elem` as bytes. */
static Value offset_bytes(Bind *s, const Value *x, DType elem) {
  unsigned size = dtype_bytes(elem);
  Value v = *x;
  for (int step = 0; step < 2; step++) {
    bool cast = step == 0;
    if (cast ? v.type == DT_I64 : size < 2) continue;
    Affine sub;
    NestVar *to = bind_array(s, NULL, DT_I64, DT_NONE, v.mask, &sub);
    NestBuilder outer = bind_open(s, v.mask);
    NestStmt *st = nest_op(&s->b, cast ? TILE_CAST : TILE_MUL, v.type, ref_sub(to, sub), v.ref,
                           cast ? ref_none() : ref_int(size), ref_none());
    if (cast) st->to = DT_I64;
    bind_close(s, outer);
    v = ref_value(ref_sub(to, sub), v.mask, DT_I64);
  }
  return v;
}

static Value sum_of_bytes(Bind *s, const Value *x, const Value *y) {
  Affine sub;
  DimMask mask = x->mask | y->mask;
  NestVar *v = bind_array(s, NULL, DT_I64, DT_NONE, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  nest_op(&s->b, TILE_ADD, DT_I64, ref_sub(v, sub), x->ref, y->ref, ref_none());
  bind_close(s, outer);
  return ref_value(ref_sub(v, sub), mask, DT_I64);
}

/* pointer + offset where the pointer is a form, with bytes or not, and one of the two is not a form
 * alone: forms are added to forms, bytes to bytes. */
static bool add_to_pointer(Bind *s, const NestStmt *st, const Value *p, const Value *by,
                           Value *out) {
  bool offset_form = by->is_form, more = !offset_form && by->ref.kind == REF_VAR;
  if (!p->is_form || (!more && !offset_form) || (!more && !has_bytes(p))) return false;
  *out = *p;
  if (offset_form) {
    unsigned size = dtype_bytes(st->elem);
    return form_add(&out->form, &by->form, size ? size : 1);
  }
  Value bytes = offset_bytes(s, by, st->elem);
  if (has_bytes(p)) bytes = sum_of_bytes(s, &(Value){.ref = p->ref, .mask = p->mask}, &bytes);
  out->ref = bytes.ref;
  out->mask = bytes.mask;
  return true;
}

static Value eval_op(Bind *s, const NestStmt *st, bool address) {
  Value x[3];
  bool forms = true, offset = st->op == TILE_PTR_ADD;
  DType result = st->op == TILE_CAST || st->op == TILE_BITCAST ? st->to
                 : st->op >= TILE_LT && st->op <= TILE_NE      ? DT_I1
                                                               : st->type;
  uint32_t n = 0;
  for (; n < st->nsrcs && st->srcs[n].kind; n++) {
    DType t = st->op == TILE_SELECT && n == 0 ? DT_I1 : offset && n == 1 ? DT_I64 : st->type;
    x[n] = eval(s, st->srcs[n], t, offset ? n == 1 : address);
    forms &= x[n].is_form;
  }
  Value v = {.is_form = true, .type = result};
  if (n && transparent_cast(st, address, &x[0])) {
    v.form = x[0].form;
    return v;
  }
  if (offset && n == 2 && add_to_pointer(s, st, &x[0], &x[1], &v)) return v;
  for (uint32_t i = 0; i < n; i++) {
    if (!has_bytes(&x[i])) continue;
    x[i] = materialized(s, x[i]);
    forms = false;
  }
  if (forms && n == 2 && (integral(st->type) || offset) &&
      linear(s, st, &x[0], &x[1], address, &v.form))
    return v;
  DimMask free = n == 2 ? constant_dims(s, st, &x[0], &x[1]) : 0, mask = 0;
  Ref refs[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < n; i++) {
    if (x[i].is_form) x[i].form = without_dims(x[i].form, free);
    if (offset && i == 1 && x[i].is_form) x[i].type = DT_I64;
    x[i] = materialized(s, x[i]);
    if (offset && i == 1 && x[i].type != DT_I64 && x[i].ref.kind == REF_VAR) {
      Affine sub;
      NestVar *wide = bind_array(s, NULL, DT_I64, DT_NONE, x[i].mask, &sub);
      NestBuilder outer = bind_open(s, x[i].mask);
      nest_op(&s->b, TILE_CAST, x[i].type, ref_sub(wide, sub), x[i].ref, ref_none(), ref_none())
          ->to = DT_I64;
      bind_close(s, outer);
      x[i].ref = ref_sub(wide, sub);
    }
    refs[i] = x[i].ref;
    mask |= x[i].mask;
  }
  Affine sub;
  NestVar *dst = bind_array(s, NULL, result, st->dsts[0].var->elem, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  NestStmt *op = nest_op(&s->b, st->op, st->type, ref_sub(dst, sub), refs[0], refs[1], refs[2]);
  op->to = st->to;
  op->elem = st->elem;
  op->rtz = st->rtz;
  bind_close(s, outer);
  return ref_value(ref_sub(dst, sub), mask, result);
}

static Value eval_temp(Bind *s, NestVar *v, bool address) {
  Known *k = &s->known[v->id];
  if (k->nest == s->id && !k->value) bind_refuse(s, "a value depends on itself");
  if (k->nest == s->id && k->address == address) return *k->value;
  *k = (Known){s->id, address, NULL};
  Value *out = ARENA_NEW(s->scratch, Value);
  *out = eval_op(s, s->def[v->id], address);
  s->known[v->id] = (Known){s->id, address, out};
  return *out;
}

static Value eval(Bind *s, Ref r, DType type, bool address) {
  Value v = {.is_form = true, .type = type};
  if (r.kind == REF_FLOAT) return ref_value(r, 0, type);
  if (r.kind == REF_AFFINE) {
    v.form = affine_form(s, &r.sub);
    if (!integral(type) && type != DT_PTR) return ref_value(ref_int(r.sub.c), 0, type);
    return v;
  }
  NestVar *x = r.var;
  if (x->tile.rank) {
    DimMask mask;
    Ref at = ref_sub(x, locate(s, &r, &mask));
    return ref_value(at, mask, x->dtype);
  }
  if (s->array_nest[x->id] == s->id) {
    DimMask mask = bind_reg_dims(s);
    Affine sub;
    sub = affine_const(0);
    int32_t count = 1;
    for (int d = s->ndims - 1; d >= 0; d--) {
      if (!(mask >> d & 1)) continue;
      Affine t = affine_index(s->dims[d].index, count);
      affine_add(&sub, &t);
      count *= s->dims[d].extent;
    }
    return ref_value(ref_sub(s->array[x->id], sub), mask, x->dtype);
  }
  if (s->def_nest[x->id] == s->id) return eval_temp(s, x, address);
  if (x->uniform && (integral(x->dtype) || x->dtype == DT_PTR)) {
    v.form = form_var(x);
    v.type = x->dtype;
    return v;
  }
  return ref_value(r, 0, x->dtype);
}

/* ---- statements of a body ---- */

/* Where a destination's registers are: a tile variable, or a temp that becomes an array. */
static Ref destination(Bind *s, Ref r, DimMask *mask) {
  if (r.var->tile.rank) {
    Affine sub = locate(s, &r, mask);
    return ref_sub(r.var, sub);
  }
  *mask = bind_reg_dims(s);
  Affine sub;
  if (s->array_nest[r.var->id] != s->id) {
    NestVar *a = bind_array(s, NULL, r.var->dtype, r.var->elem, *mask, &sub);
    s->array[r.var->id] = a;
    s->array_nest[r.var->id] = s->id;
    return ref_sub(a, sub);
  }
  return eval(s, r, r.var->dtype, false).ref;
}

static Value value_of(Bind *s, Ref r, DType t) { return materialized(s, eval(s, r, t, false)); }

/* An OP or MOV into a variable. */
static void assign(Bind *s, const NestStmt *st) {
  Value x[3];
  uint32_t n = 0;
  bool address = st->code == NEST_OP && st->op == TILE_PTR_ADD;
  if (address) x[n++] = materialized(s, eval_op(s, st, false));
  for (; !address && n < st->nsrcs && st->srcs[n].kind; n++)
    x[n] = value_of(s, st->srcs[n],
                    st->code == NEST_OP && st->op == TILE_SELECT && n == 0 ? DT_I1 : st->type);
  DimMask mask;
  Ref dst = destination(s, st->dsts[0], &mask);
  if (!st->dsts[0].var->tile.rank && st->dsts[0].var->uniform) dst = st->dsts[0], mask = 0;
  NestBuilder outer = bind_open(s, mask);
  bool mov = st->code == NEST_MOV || address;
  NestStmt *out = nest_stmt(&s->b, mov ? NEST_MOV : NEST_OP, 1, n);
  out->op = st->op;
  out->type = st->type;
  out->to = st->to;
  out->elem = st->elem;
  out->rtz = st->rtz;
  out->dsts[0] = dst;
  for (uint32_t i = 0; i < n; i++) out->srcs[i] = x[i].ref;
  bind_close(s, outer);
}

/* ---- memory ---- */

static Value and_guards(Bind *s, Value a, Value b) {
  if (!a.ref.kind) return b;
  if (!b.ref.kind) return a;
  Affine sub;
  DimMask mask = a.mask | b.mask;
  NestVar *v = bind_array(s, NULL, DT_I1, DT_NONE, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  nest_op(&s->b, TILE_AND, DT_I1, ref_sub(v, sub), a.ref, b.ref, ref_none());
  bind_close(s, outer);
  return ref_value(ref_sub(v, sub), mask, DT_I1);
}

/* Positions of a padded axis that lie past its extent hold nothing. */
static Value padding_guard(Bind *s, int axis) {
  NestStmt lt = {.code = NEST_OP, .op = TILE_LT, .type = DT_I32};
  Value x = {.is_form = true, .type = DT_I32, .form = axis_form(s, axis)};
  Value y = {.is_form = true, .type = DT_I32, .form = form_const(s->stmt->layout.shape[axis])};
  DimMask free = constant_dims(s, &lt, &x, &y);
  x.form = without_dims(x.form, free);
  x = materialized(s, x);
  Affine sub;
  NestVar *v = bind_array(s, NULL, DT_I1, DT_NONE, x.mask, &sub);
  NestBuilder outer = bind_open(s, x.mask);
  nest_op(&s->b, TILE_LT, DT_I32, ref_sub(v, sub), x.ref, ref_int(s->stmt->layout.shape[axis]),
          ref_none());
  bind_close(s, outer);
  return ref_value(ref_sub(v, sub), x.mask, DT_I1);
}

static Value and_padding(Bind *s, Value g) {
  for (int a = 0; a < s->stmt->layout.rank; a++)
    if (layout_padded(&s->stmt->layout, a) > s->stmt->layout.shape[a])
      g = and_guards(s, g, padding_guard(s, a));
  return g;
}

static Value and_first_replica(Bind *s, Value g) {
  return and_guards(s, g, ref_value(bind_first_replica(s), 0, DT_I1));
}

/* REF_NONE if there is no guard. */
static Value own_guard(Bind *s, const NestStmt *st) {
  return st->guard.kind ? value_of(s, st->guard, DT_I1) : (Value){.ref = ref_none()};
}

static Value guard_of(Bind *s, const NestStmt *st) {
  Value g = and_padding(s, own_guard(s, st));
  bool writes = st->code == NEST_ST || st->code == NEST_RED || st->code == NEST_ATOM ||
                st->code == NEST_ATOM_CAS || st->code == NEST_ASSERT;
  return writes ? and_first_replica(s, g) : g;
}

/* The address as a form in bytes (pointers) or a byte offset in a buffer. */
static Value address_of(Bind *s, const Mem *m) {
  Value v = {.is_form = true, .type = m->buffer ? DT_I32 : DT_PTR, .form = form_const(0)};
  if (m->base.kind) v = eval(s, m->base, v.type, true);
  if (!v.is_form) return v;
  v.type = m->buffer ? DT_I32 : DT_PTR;
  Form more = m->buffer ? buffer_form(s, m) : affine_form(s, &m->bytes);
  if (!form_add(&v.form, &more, 1)) bind_refuse(s, "an address has too many terms");
  return v;
}

typedef struct {
  Ref base;
  Affine bytes;
  DimMask mask; /* of base and bytes */
  DimMask base_mask;
  int64_t align;
} Address;

static Address split_address(Bind *s, const NestStmt *st) {
  const Mem *m = &st->mems[0];
  Value v = address_of(s, m);
  Address a = {.align = dtype_bytes(st->type)};
  if (v.is_form) {
    DType elem = m->base.kind == REF_VAR ? m->base.var->elem : DT_NONE;
    a.base = form_base(s, &v.form, m->buffer ? DT_I32 : DT_PTR, elem, &a.base_mask);
    a.bytes = form_immediate(s, &v.form);
    a.mask = form_mask(s, &v.form, true);
    if (has_bytes(&v)) {
      Value base = add_bytes(s, ref_value(a.base, a.base_mask, DT_PTR), v.ref, v.mask);
      a.base = base.ref;
      a.base_mask = base.mask;
      a.mask |= base.mask;
    }
    return a;
  }
  a.base = v.ref;
  a.base_mask = a.mask = v.mask;
  a.bytes = affine_const(0);
  if (m->buffer || m->bytes.c || m->bytes.n) {
    Form f = m->buffer ? buffer_form(s, m) : affine_form(s, &m->bytes);
    DimMask mask;
    Ref part = form_base(s, &f, m->buffer ? DT_I32 : DT_I64, DT_NONE, &mask);
    a.bytes = form_immediate(s, &f);
    a.mask |= form_mask(s, &f, true);
    if (part.kind) {
      Affine sub;
      NestVar *sum = bind_array(s, NULL, v.type, v.ref.var->elem, a.base_mask, &sub);
      NestBuilder outer = bind_open(s, a.base_mask);
      nest_op(&s->b, m->buffer ? TILE_ADD : TILE_PTR_ADD, m->buffer ? DT_I32 : DT_PTR,
              ref_sub(sum, sub), a.base, part, ref_none())
          ->elem = DT_U8;
      bind_close(s, outer);
      a.base = ref_sub(sum, sub);
    }
  }
  return a;
}

static int64_t coef_of(const Affine *a, const NestIndex *i) {
  for (int k = 0; k < a->n; k++)
    if (a->t[k].index == i) return a->t[k].coef;
  return 0;
}

static Affine without_index(Affine a, const NestIndex *i) {
  for (int k = 0; k < a.n; k++)
    if (a.t[k].index == i) {
      a.t[k] = a.t[a.n - 1];
      a.n--;
      break;
    }
  return a;
}

/* What divides the address, dim d left out. */
static int64_t alignment(Bind *s, const NestStmt *st, int d) {
  Value v = address_of(s, &st->mems[0]);
  if (!v.is_form) return dtype_bytes(st->type);
  if (has_bytes(&v)) return nest_int(st, NA_width, 1) * dtype_bytes(st->type);
  int64_t n = form_divisor(&v.form, (DimMask)1 << d), power = n & -n;
  const NestBuffer *b = st->mems[0].buffer;
  return b && power > b->align ? b->align : power;
}

/* The register dim whose values are neighbours both in memory and in registers (sub NULL: in memory
 * is enough), and how many of them an access can take at once; 1 if there is none. */
static int64_t vector_dim(Bind *s, const NestStmt *st, const Address *a, const Value *guard,
                          const Affine *sub, int *dim) {
  int64_t bytes = dtype_bytes(st->type);
  if (s->u->machine->kind != MACHINE_GPU) return 1;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->place != PLACE_REG || coef_of(&a->bytes, x->index) != bytes ||
        (sub && coef_of(sub, x->index) != 1) || a->base_mask >> d & 1 || guard->mask >> d & 1)
      continue;
    int64_t n = x->extent & -x->extent, align = alignment(s, st, d);
    while (n > 1 && (n * bytes > s->u->machine->vector_bytes || align % (n * bytes))) n /= 2;
    for (int k = 0; sub && k < sub->n; k++)
      while (n > 1 && sub->t[k].index != x->index && sub->t[k].coef % n) n /= 2;
    while (n > 1 && sub && sub->c % n) n /= 2;
    *dim = d;
    return n;
  }
  return 1;
}

/* Unroll loops over a mask, dim d in steps of n; the subscripts are rewritten to match. */
static NestBuilder open_vector(Bind *s, DimMask mask, int d, int64_t n, Affine *subs[], int nsubs) {
  if (n <= 1) return bind_open(s, mask);
  NestIndex *old = s->dims[d].index, *step = NULL;
  int32_t steps = (int32_t)(s->dims[d].extent / n);
  if (steps > 1) step = nest_index(s->nest, old->name, steps);
  for (int i = 0; i < nsubs; i++) {
    int64_t c = coef_of(subs[i], old);
    *subs[i] = without_index(*subs[i], old);
    if (!step || !c) continue;
    Affine x = affine_index(step, c * n);
    affine_add(subs[i], &x);
  }
  NestBuilder outer = bind_open(s, mask & ~((DimMask)1 << d));
  if (step) {
    NestStmt *u = nest_stmt(&s->b, NEST_UNROLL, 0, 0);
    u->index = step;
    s->b.block = nest_block(s->nest, u);
    s->b.before = NULL;
  }
  return outer;
}

static void copy_attrs(Bind *s, NestStmt *to, const NestStmt *from) {
  to->attrs = ARENA_ARRAY(s->nest->arena, NestAttr, from->nattrs + 1);
  for (uint32_t i = 0; i < from->nattrs; i++)
    if (from->attrs[i].key != NA_width) to->attrs[to->nattrs++] = from->attrs[i];
}

/* sum + x for every element over a mask. */
Ref bind_add_scalar(Bind *s, Ref sum, Ref x, DimMask mask) {
  Affine sub;
  NestVar *v = bind_array(s, NULL, DT_I32, DT_NONE, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  nest_op(&s->b, TILE_ADD, DT_I32, ref_sub(v, sub), sum, x, ref_none());
  bind_close(s, outer);
  return ref_sub(v, sub);
}

Ref bind_swizzle(Bind *s, const Form *at, const Layout *l, Affine *bytes, DimMask *base_mask) {
  int64_t high = INT64_C(1) << (l->xor_base + l->xor_shift + l->xor_bits);
  Form base = {.n = 1, .g = {at->g[0]}}, rest = form_const(0), slot = *at;
  if (base.g[0].var) bind_refuse(s, "a swizzled buffer is addressed by computed offsets");
  slot.g[0] = (Group){0}; /* a ring's slot: a multiple of the highest bit too */
  /* What is a multiple of the highest bit, or lies below the lowest, does not take part. */
  for (int d = 0; d < s->ndims; d++) {
    int64_t c = base.g[0].coef[d];
    if (!c || !unrolled(&s->dims[d])) continue;
    if (c % high == 0 || c * s->dims[d].extent <= INT64_C(1) << l->xor_base) {
      rest.g[0].coef[d] = c;
      base.g[0].coef[d] = 0;
    }
  }
  Value v = materialized(s, (Value){.is_form = true, .form = base, .type = DT_I32});
  Affine sub;
  NestVar *out = bind_array(s, NULL, DT_I32, DT_NONE, v.mask, &sub);
  NestBuilder outer = bind_open(s, v.mask);
  Ref row = bind_op(s, TILE_SHR, DT_I32, v.ref, ref_int(l->xor_shift));
  Ref bits = bind_op(s, TILE_AND, DT_I32, row, ref_int(((1 << l->xor_bits) - 1) << l->xor_base));
  nest_op(&s->b, TILE_XOR, DT_I32, ref_sub(out, sub), v.ref, bits, ref_none());
  bind_close(s, outer);
  *bytes = form_immediate(s, &rest);
  *base_mask = v.mask;
  DimMask none;
  Ref first = form_base(s, &slot, DT_I32, DT_NONE, &none);
  return first.kind ? bind_add_scalar(s, ref_sub(out, sub), first, v.mask) : ref_sub(out, sub);
}

static void swizzle_address(Bind *s, const NestStmt *st, Address *a) {
  Value v = address_of(s, &st->mems[0]);
  if (!v.is_form) bind_refuse(s, "a swizzled buffer is addressed by computed offsets");
  a->base = bind_swizzle(s, &v.form, &st->mems[0].buffer->layout, &a->bytes, &a->base_mask);
}

static void access_memory(Bind *s, const NestStmt *st) {
  bool has_dst = st->ndsts > 0, has_src = st->nsrcs > 0;
  Value guard = guard_of(s, st), src[2] = {{.ref = ref_none()}, {.ref = ref_none()}};
  for (uint32_t i = 0; i < st->nsrcs; i++) src[i] = value_of(s, st->srcs[i], st->type);
  Address a = split_address(s, st);
  if (st->mems[0].buffer && st->mems[0].buffer->layout.xor_bits) swizzle_address(s, st, &a);
  DimMask mask = a.mask | guard.mask | src[0].mask | src[1].mask, dst_mask = 0;
  Ref dst = ref_none();
  if (has_dst && !(st->dsts[0].var->uniform && !st->dsts[0].var->tile.rank))
    dst = destination(s, st->dsts[0], &dst_mask);
  else if (has_dst) dst = st->dsts[0];
  mask |= dst_mask;
  if (st->code != NEST_ST && st->code != NEST_LD) mask |= bind_reg_dims(s); /* once an element */
  int d = 0;
  int64_t n = 1;
  Affine none = affine_const(0);
  Affine *reg = st->code == NEST_LD ? &dst.sub : st->code == NEST_ST ? &src[0].ref.sub : &none;
  bool registers = st->code == NEST_LD ? dst.kind == REF_VAR && dst.var->count != 1
                                       : st->code == NEST_ST && src[0].ref.kind == REF_VAR;
  if (st->code == NEST_LD && dst.kind == REF_VAR && dst.var->tile.rank) registers = true;
  if (registers) n = vector_dim(s, st, &a, &guard, reg, &d);
  Affine *subs[] = {&a.bytes, reg};
  NestBuilder outer = open_vector(s, mask, d, n, subs, 2);
  NestStmt *out = nest_stmt(&s->b, st->code, st->ndsts, st->nsrcs);
  copy_attrs(s, out, st);
  out->type = st->type;
  if (has_dst) out->dsts[0] = dst;
  if (has_src) out->srcs[0] = src[0].ref;
  if (st->nsrcs > 1) out->srcs[1] = src[1].ref;
  out->mems[0] = (Mem){st->mems[0].buffer, a.base, a.bytes};
  out->guard = guard.ref;
  if (n > 1) nest_set_int(s->nest, out, NA_n, n);
  bind_close(s, outer);
}

static void body_stmt(Bind *s, const NestStmt *st);

/* ---- asynchronous copies ---- */

enum { ASYNC_MIN = 4 };

static Address shared_address(Bind *s, const NestStmt *st) {
  Address a = split_address(s, st);
  if (st->mems[0].buffer->layout.xor_bits) swizzle_address(s, st, &a);
  return a;
}

/* The width that both sides of a copy allow along one register dim; 1 if there is none. */
static int64_t copy_width(Bind *s, const NestStmt *ld, const NestStmt *st, const Address *from,
                          const Address *to, DimMask guards, int *dim) {
  int d2 = 0;
  Value guard = {.mask = guards};
  int64_t n = vector_dim(s, ld, from, &guard, NULL, dim);
  int64_t m = vector_dim(s, st, to, &guard, NULL, &d2);
  if (n > 1 && m > 1 && *dim != d2) return 1;
  return n < m ? n : m;
}

void bind_copy(Bind *s, const NestStmt *nest) {
  bind_start(s, nest, &nest->layout);
  NestStmt *ld = NULL, *st = NULL;
  for (NestStmt *x = nest->regions[0]->first; x; x = x->next) {
    if (x->code == NEST_LD) ld = x;
    else if (x->code == NEST_ST) st = x;
    else body_stmt(s, x);
  }
  s->b.span = ld->span;
  Value inside = own_guard(s, ld);
  Value guard = and_first_replica(s, and_padding(s, (Value){.ref = ref_none()}));
  Address from = split_address(s, ld), to = shared_address(s, st);
  int d = 0;
  int64_t n = copy_width(s, ld, st, &from, &to, guard.mask | inside.mask, &d);
  int64_t bytes = dtype_bytes(ld->type);
  if (n * bytes < ASYNC_MIN) { /* too narrow: loaded and stored at once */
    Ref zero = dtype_is_float(ld->type) ? ref_float(0) : ref_int(0);
    NestStmt fill = {.code = NEST_MOV,
                     .type = ld->type,
                     .span = ld->span,
                     .ndsts = 1,
                     .nsrcs = 1,
                     .dsts = ld->dsts,
                     .srcs = &zero};
    body_stmt(s, &fill);
    body_stmt(s, ld);
    body_stmt(s, st);
    return;
  }
  Affine *subs[] = {&from.bytes, &to.bytes};
  NestBuilder outer = open_vector(s, bind_reg_dims(s), d, n, subs, 2);
  NestStmt *cp = nest_stmt(&s->b, NEST_CP_ASYNC, 0, inside.ref.kind != REF_NONE);
  cp->type = ld->type;
  cp->nmems = 2;
  cp->mems[0] = (Mem){st->mems[0].buffer, to.base, to.bytes};
  cp->mems[1] = (Mem){NULL, from.base, from.bytes};
  if (cp->nsrcs) cp->srcs[0] = inside.ref;
  cp->guard = guard.ref;
  nest_set_int(s->nest, cp, NA_bytes, n * bytes);
  bind_close(s, outer);
}

static void assertion(Bind *s, const NestStmt *st) {
  Value guard = guard_of(s, st), x = value_of(s, st->srcs[0], DT_I1);
  NestBuilder outer = bind_open(s, guard.mask | x.mask);
  NestStmt *out = nest_stmt(&s->b, NEST_ASSERT, 0, 1);
  copy_attrs(s, out, st);
  out->type = DT_I1;
  out->srcs[0] = x.ref;
  out->guard = guard.ref;
  bind_close(s, outer);
}

static void body_stmt(Bind *s, const NestStmt *st) {
  s->b.span = st->span;
  switch (st->code) {
    case NEST_OP: {
      NestVar *v = st->dsts[0].var;
      if (!v->tile.rank && !v->uniform && s->array_nest[v->id] != s->id) {
        s->def[v->id] = (NestStmt *)st;
        s->def_nest[v->id] = s->id;
        return;
      }
      assign(s, st);
      return;
    }
    case NEST_MOV: assign(s, st); return;
    case NEST_ASSERT: assertion(s, st); return;
    default: access_memory(s, st); return;
  }
}

/* Serial digits are loops around all of a nest's statements. */
static NestBuilder open_serial(Bind *s) {
  NestBuilder outer = s->b;
  for (int d = 0; d < s->ndims; d++) {
    if (s->dims[d].place != PLACE_SERIAL) continue;
    NestStmt *u = nest_stmt(&s->b, NEST_SERIAL, 0, 0);
    u->index = s->dims[d].index;
    s->b.block = nest_block(s->nest, u);
    s->b.before = NULL;
  }
  return outer;
}

void bind_nest(Bind *s, const NestStmt *st) {
  bind_start(s, st, &st->layout);
  NestBuilder outer = open_serial(s);
  for (const NestStmt *x = st->regions[0]->first; x; x = x->next) body_stmt(s, x);
  bind_close(s, outer);
}
