/* Values of a nest's body: forms as long as they are linear, else registers.  See
 * lower/bind/bind.h. */
#include <string.h>

#include "lang/tile/scalar.h"
#include "lower/analysis/box_access.h"
#include "lower/bind/bind_nest.h"

/* The attribute of functions below bind_eval, which is recursive: it keeps their Values, of 2 KB
 * each, off the stack of each level. */
#define OUT_OF_LINE __attribute__((noinline))

/* ---- values ---- */

static Form axis_form(const Bind *s, int axis) {
  Form f = form_const(s->at.before == axis + 1 ? -1 : 0);
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].axis == axis && !(s->at.first >> d & 1)) f.g[0].coef[d] = s->dims[d].weight;
  return f;
}

/* A form of nest axes as a form of digits. */
Form bind_affine_form(const Bind *s, const Affine *a) {
  Form f = form_const(a->c);
  for (int i = 0; i < a->n; i++) {
    int axis = s->stmt ? bind_axis_of(s->stmt, a->t[i].index) : -1;
    if (axis < 0) bind_refuse(s, "a subscript names an index that is no axis of it");
    Form x = axis_form(s, axis);
    form_add(&f, &x, a->t[i].coef);
  }
  return f;
}

/* Bytes in a buffer: along an axis in panels, digits above a panel's end count panels. */
Form bind_buffer_form(const Bind *s, const Mem *m) {
  Form f = form_const(m->bytes.c);
  for (int i = 0; i < m->bytes.n; i++) {
    int axis = s->stmt ? bind_axis_of(s->stmt, m->bytes.t[i].index) : -1;
    int at = bind_panel_digit(m->buffer, m->bytes.t[i].coef);
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
  const Layout *l = r->var->layout;
  Affine sub = affine_const(0);
  *mask = 0;
  for (int a = 0; a < r->var->tile.rank; a++) {
    const Affine *x = &r->axes[a];
    for (int i = 0; i < l->ndigits; i++) {
      const Digit *v = &l->d[i];
      if (v->axis != a || !hw_in_thread((HwDim)v->hw)) continue;
      int64_t w = layout_weight(l, i);
      sub.c += x->c / w % v->extent * v->stride;
      if (!x->n) continue;
      int axis = bind_axis_of(s->stmt, x->t[0].index);
      for (int d = 0; d < s->ndims; d++) {
        const Dim *dim = &s->dims[d];
        if (dim->axis != axis || dim->weight < w || dim->weight >= w * v->extent ||
            s->at.first >> d & 1)
          continue;
        if (!bind_unrolled(dim))
          bind_refuse(s, arena_printf(s->scratch, "its threads do not hold `%%%s`", r->var->name));
        Affine t = affine_index(dim->index, v->stride * (dim->weight / w));
        if (!affine_add(&sub, &t)) bind_refuse(s, bind_too_many_digits);
        *mask |= (DimMask)1 << d;
      }
    }
  }
  return sub;
}

Value bind_ref_value(Ref r, DimMask mask, DType t) {
  return (Value){.ref = r, .mask = mask, .type = t};
}

static bool integral(DType t) { return dtype_is_int(t) && t != DT_I1; }

bool bind_has_rest(const Value *v) { return v->is_form && v->ref.kind; }

/* pointer + bytes, over the dims of both. */
Value bind_add_bytes(Bind *s, Value pointer, Ref bytes, DimMask mask) {
  Affine sub;
  mask |= pointer.mask;
  NestVar *v = bind_array(s, NULL, DT_PTR, pointer.ref.var->elem, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  nest_op(&s->b, TILE_PTR_ADD, DT_PTR, ref_sub(v, sub), pointer.ref, bytes, ref_none())->elem =
      DT_U8;
  bind_close(s, outer);
  return bind_ref_value(ref_sub(v, sub), mask, DT_PTR);
}

/* x op y for every element over the dims of both. */
static Value combine_values(Bind *s, TileCode op, DType t, const Value *x, Ref y, DimMask mask) {
  Affine sub;
  DType result = op >= TILE_LT && op <= TILE_NE ? DT_I1 : t;
  mask |= x->mask;
  NestVar *v = bind_array(s, NULL, result, DT_NONE, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  nest_op(&s->b, op, t, ref_sub(v, sub), x->ref, y, ref_none());
  bind_close(s, outer);
  return bind_ref_value(ref_sub(v, sub), mask, result);
}

Value bind_materialized(Bind *s, Value v) {
  if (!v.is_form) return v;
  DType elem = DT_NONE;
  if (v.type == DT_PTR)
    for (int i = 0; i < v.form.n; i++)
      if (v.form.g[i].var && v.form.g[i].var->dtype == DT_PTR) elem = v.form.g[i].var->elem;
  DimMask mask;
  Ref r = form_value(s, &v.form, v.type, elem, &mask);
  Value whole = bind_ref_value(r, mask, v.type);
  if (!bind_has_rest(&v)) return whole;
  if (v.type == DT_PTR) return bind_add_bytes(s, whole, v.ref, v.mask);
  return combine_values(s, TILE_ADD, v.type, &whole, v.ref, v.mask);
}

/* ---- forms of ops ---- */

/* A bound of a group's digits, with its variable as 1; false if it does not fit 64 bits. */
static bool group_reach(const Bind *s, const Group *g, int64_t *reach) {
  int64_t last;
  *reach = g->c < 0 ? ~g->c : g->c;
  for (int d = 0; d < s->ndims; d++) {
    int64_t k = g->coef[d] < 0 ? ~g->coef[d] : g->coef[d];
    if (!g->coef[d]) continue;
    if (__builtin_add_overflow(k, 1, &last) ||
        __builtin_mul_overflow(last, s->dims[d].extent, &last) ||
        __builtin_add_overflow(*reach, last, reach))
      return false;
  }
  return true;
}

/* A form whose digits may overflow is computed in registers, where its type's bits are all that
 * counts; constants wrap as well as those do. */
static bool in_range(const Bind *s, const Form *f) {
  int64_t c, reach;
  if (form_is_const(f, &c)) return true;
  for (int i = 0; i < f->n; i++)
    if (!group_reach(s, &f->g[i], &reach)) return false;
  return true;
}

/* False if the digits alone, without variables, pass the largest number of the type: then it is the
 * wrapped value that is divided. */
static bool digits_fit(const Bind *s, const Form *f, DType t) {
  unsigned bits = dtype_bits(t) - dtype_is_signed(t);
  int64_t reach;
  for (int i = 0; i < f->n && bits < 63; i++)
    if (!f->g[i].var && (!group_reach(s, &f->g[i], &reach) || reach >> bits)) return false;
  return true;
}

/* Folds two constants as their type computes it: the result may wrap.  Signed offsets of addresses
 * are computed in 64 bits. */
static bool constant_form(const NestStmt *st, const Value *x, const Value *y, bool address,
                          Form *out) {
  int64_t a, b;
  if (!form_is_const(&x->form, &a) || !form_is_const(&y->form, &b)) return false;
  if (st->op == TILE_PTR_ADD || (address && dtype_is_signed(st->type))) return false;
  if ((st->op == TILE_DIV || st->op == TILE_REM) && !b) return false;
  Scalar operands[] = {{.i = a}, {.i = b}};
  *out = form_const(scalar_op(st->op, st->type, st->type, operands, false).i);
  return true;
}

static bool linear_form(Bind *s, const NestStmt *st, const Value *x, const Value *y, bool address,
                        Form *out) {
  int64_t c;
  bool listed = st->op == TILE_ADD || st->op == TILE_SUB || st->op == TILE_MUL ||
                st->op == TILE_SHL || st->op == TILE_SHR || st->op == TILE_DIV ||
                st->op == TILE_REM || st->op == TILE_AND;
  if (listed && constant_form(st, x, y, address, out)) return true;
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
    case TILE_DIV:
      return form_is_const(&y->form, &c) && digits_fit(s, &x->form, st->type) &&
             form_divide(s, &x->form, c, false, out);
    case TILE_REM: return form_is_const(&y->form, &c) && form_divide(s, &x->form, c, true, out);
    case TILE_SHR:
      return form_is_const(&y->form, &c) && c >= 0 && c < 31 && digits_fit(s, &x->form, st->type) &&
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

/* Signed offsets are taken as if in 64 bits (lang/tile/tile_ops.h), so a widening cast of one that
 * only feeds an address keeps its form. */
static bool transparent_cast(const NestStmt *st, bool address, const Value *x) {
  int64_t c;
  if (st->op != TILE_CAST || !integral(st->type) || !integral(st->to)) return false;
  if (!x->is_form || bind_has_rest(x)) return false;
  if (form_is_const(&x->form, &c)) return dtype_bits(st->to) >= dtype_bits(st->type);
  return address && dtype_is_signed(st->type) && dtype_bits(st->to) == 64;
}

/* Has a thread all numbers that the dim counts?  The lanes of a vector are one thread's. */
static bool is_counted_here(const Bind *s, const Dim *d) {
  return bind_unrolled(d) || (d->hw == HW_LANE && machine_has(s->u->machine, HAS_LOCKSTEP));
}

/* The counted dims that are the lowest digits of a form: the rest of the form is divisible by the
 * product of their extents, and so is `bound`. */
static DimMask lowest_dims(const Bind *s, const Form *f, int64_t bound) {
  DimMask low = 0;
  for (bool again = true; again;) {
    again = false;
    for (int d = 0; d < s->ndims; d++) {
      int64_t k = f->g[0].coef[d];
      if (f->g[0].var || k <= 0 || low >> d & 1 || !is_counted_here(s, &s->dims[d])) continue;
      int64_t span = k * s->dims[d].extent;
      bool lowest = bound % span == 0;
      for (int e = 0; e < s->ndims; e++)
        if (low >> e & 1 && f->g[0].coef[e] * s->dims[e].extent > k) lowest = false;
      DimMask skip = low | (DimMask)1 << d;
      if (!lowest || form_divisor(f, skip) % span) continue;
      low = skip;
      again = true;
    }
  }
  return low;
}

/* The result of a comparison with a bound does not depend on a digit inside whose range all that is
 * compared is divisible. */
static DimMask constant_dims(const Bind *s, const NestStmt *st, const Value *x, const Value *y) {
  bool less = st->op == TILE_LT || st->op == TILE_GE, more = st->op == TILE_GT || st->op == TILE_LE;
  if ((!less && !more) || !x->is_form || !y->is_form) return 0;
  Form diff = less ? x->form : y->form;
  return form_add(&diff, less ? &y->form : &x->form, -1) ? lowest_dims(s, &diff, 0) : 0;
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
    v = bind_ref_value(ref_sub(to, sub), v.mask, DT_I64);
  }
  return v;
}

/* pointer + offset where the pointer is a form, with a rest or not, and one of the two is not a
 * form alone: forms are added to forms, bytes to bytes. */
static bool add_to_pointer(Bind *s, const NestStmt *st, const Value *p, const Value *by,
                           Value *out) {
  bool more = by->ref.kind == REF_VAR;
  if (!p->is_form || (!more && !(by->is_form && bind_has_rest(p)))) return false;
  unsigned size = dtype_bytes(st->elem);
  *out = *p;
  if (by->is_form && !form_add(&out->form, &by->form, size ? size : 1)) return false;
  if (!more) return true;
  Value bytes =
      offset_bytes(s, &(Value){.ref = by->ref, .mask = by->mask, .type = by->type}, st->elem);
  if (bind_has_rest(p)) bytes = combine_values(s, TILE_ADD, DT_I64, &bytes, p->ref, p->mask);
  out->ref = bytes.ref;
  out->mask = bytes.mask;
  return true;
}

/* ---- offsets that are a form and a rest ---- */

/* The rest of an offset: all of it if it has no form. */
static Value rest_of(const Value *v) { return bind_ref_value(v->ref, v->mask, v->type); }

static Value with_rest(Form form, const Value *rest) {
  return (Value){
      .is_form = true, .form = form, .ref = rest->ref, .mask = rest->mask, .type = rest->type};
}

/* Forms are added to forms, rests to rests. */
static bool add_offsets(Bind *s, const Value *x, const Value *y, Value *out) {
  bool rest_x = x->ref.kind == REF_VAR, rest_y = y->ref.kind == REF_VAR;
  if ((!x->is_form && !rest_x) || (!y->is_form && !rest_y) || !(x->is_form || y->is_form))
    return false;
  Form form = x->is_form ? x->form : form_const(0);
  if (y->is_form && !form_add(&form, &y->form, 1)) return false;
  Value rest = rest_of(rest_x ? x : y);
  if (rest_x && rest_y) rest = combine_values(s, TILE_ADD, x->type, &rest, y->ref, y->mask);
  *out = with_rest(form, &rest);
  return true;
}

static bool is_not_negative(const Bind *s, const Ref *r) {
  bool is_new = r->kind == REF_VAR && r->var->id >= s->nsigned;
  return !is_new && ref_is_not_negative(s->not_negative, r);
}

/* x % y is (x - low) % y + low, and x / y is (x - low) / y, where `low` counts through what y and
 * all else in x is divisible by.  Numbers below 0 are rounded up: x is known to be none. */
static bool split_division(Bind *s, TileCode op, const Value *x, const Value *y, DType t,
                           Value *out) {
  if (!x->is_form || bind_has_rest(x) || !y->is_form || bind_has_rest(y)) return false;
  DimMask low = lowest_dims(s, &x->form, form_divisor(&y->form, 0));
  if (!low) return false;
  Value high = *x, by = bind_materialized(s, *y);
  Form form = form_const(0);
  high.form = without_dims(x->form, low);
  for (int d = 0; d < s->ndims; d++)
    if (low >> d & 1) form.g[0].coef[d] = x->form.g[0].coef[d];
  high = bind_materialized(s, high);
  Value rest = combine_values(s, op, t, &high, by.ref, by.mask);
  *out = with_rest(op == TILE_REM ? form : form_const(0), &rest);
  return true;
}

/* The power of two by which an op divides; 0: another number. */
static int64_t dividing_power(const NestStmt *st, const Value *y) {
  int64_t c;
  bool constant = y->is_form && !bind_has_rest(y) && form_is_const(&y->form, &c);
  return constant ? bind_power(st->op, c) : 0;
}

static int64_t most_of_digits(const Bind *s, const Group *g) {
  int64_t most = g->c;
  for (int d = 0; d < s->ndims; d++) most += g->coef[d] * (s->dims[d].extent - 1);
  return most;
}

/* A rest that is one number for all threads is a variable of the form, of known divisor. */
static void add_whole_quotient(Value *v, const Form *dividend, int64_t divisor) {
  NestVar *x = v->ref.kind == REF_VAR ? v->ref.var : NULL;
  bool uniform = x && !v->mask && x->count == 1 && !v->ref.sub.n && !v->ref.sub.c;
  for (int i = 0; i < dividend->n; i++) {
    const NestVar *of = dividend->g[i].var;
    uniform &= !of || of->uniform;
  }
  if (!uniform) return;
  Form quotient = form_var(x), sum = v->form;
  if (!form_add(&sum, &quotient, 1)) return;
  x->uniform = true;
  x->div = divisor;
  v->form = sum;
  v->ref = ref_none();
}

/* A number whose variables are multiples of a power of two, and whose digits are less than that and
 * wholly above or below the divisor, as a vector's lanes are: variables and digits are divided each
 * for themselves.  The rule holds for variables that wrap, too. */
static bool divide_parts(Bind *s, const NestStmt *st, const Value *x, const Value *y, Value *out) {
  int64_t c = dividing_power(st, y);
  bool remainder = st->op == TILE_REM || st->op == TILE_AND;
  bool rounded = st->op == TILE_DIV || st->op == TILE_REM;
  if (!c || !x->is_form || bind_has_rest(x) || x->form.n < 2) return false;
  if (rounded && !is_not_negative(s, &st->srcs[0])) return false;
  Value variables = *x;
  Form digits = form_const(0), divided;
  digits.g[0] = x->form.g[0];
  if (!form_add(&variables.form, &digits, -1)) return false;
  int64_t unit = form_divisor(&variables.form, 0);
  unit &= -unit;
  if (unit % c || !form_divide(s, &digits, c, remainder, &divided)) return false;
  if (most_of_digits(s, &digits.g[0]) >= unit) return false;
  if (remainder) {
    *out = (Value){.is_form = true, .form = divided, .type = st->type};
    return true;
  }
  Form dividend = variables.form;
  variables = bind_materialized(s, variables);
  Value rest = combine_values(s, TILE_DIV, st->type, &variables, ref_int(c), 0);
  *out = with_rest(divided, &rest);
  add_whole_quotient(out, &dividend, unit / c);
  return true;
}

/* A cast to i64 keeps the form (transparent_cast). */
static bool widen_offset(Bind *s, const NestStmt *st, const Value *x, Value *out) {
  if (!bind_has_rest(x) || !dtype_is_signed(st->type) || dtype_bits(st->to) != 64) return false;
  Value rest = rest_of(x), wide = offset_bytes(s, &rest, DT_U8);
  *out = with_rest(x->form, &wide);
  return true;
}

/* An op on offsets that stays a form with a rest. */
static bool split_offset(Bind *s, const NestStmt *st, const Value x[2], uint32_t n, Value *out) {
  if (!integral(st->type)) return false;
  if (st->op == TILE_CAST && n == 1) return widen_offset(s, st, &x[0], out);
  bool whole = n == 2 && x[0].is_form && x[1].is_form && !x[0].ref.kind && !x[1].ref.kind;
  if (st->op == TILE_ADD && n == 2 && !whole) return add_offsets(s, &x[0], &x[1], out);
  bool divides = st->op == TILE_REM || st->op == TILE_DIV;
  Form exact;
  int64_t c;
  if (!divides || !whole || !is_not_negative(s, &st->srcs[0])) return false;
  if (form_is_const(&x[1].form, &c) && form_divide(s, &x[0].form, c, st->op == TILE_REM, &exact))
    return false;
  return split_division(s, st->op, &x[0], &x[1], st->type, out);
}

/* The op on its operands x. */
OUT_OF_LINE static Value op_of_values(Bind *s, const NestStmt *st, Value x[3], uint32_t n,
                                      bool address) {
  bool forms = true, offset = st->op == TILE_PTR_ADD;
  DType result = st->op == TILE_CAST || st->op == TILE_BITCAST ? st->to
                 : st->op >= TILE_LT && st->op <= TILE_NE      ? DT_I1
                                                               : st->type;
  for (uint32_t i = 0; i < n; i++) forms &= x[i].is_form;
  Value v = {.is_form = true, .type = result};
  if (n && transparent_cast(st, address, &x[0])) {
    v.form = x[0].form;
    return v;
  }
  if (offset && n == 2 && add_to_pointer(s, st, &x[0], &x[1], &v)) return v;
  if (n == 2 && integral(st->type) && machine_has(s->u->machine, HAS_LOCKSTEP) &&
      divide_parts(s, st, &x[0], &x[1], &v))
    return v;
  if (address && !offset && split_offset(s, st, x, n, &v)) return v;
  for (uint32_t i = 0; i < n; i++) {
    if (!bind_has_rest(&x[i])) continue;
    x[i] = bind_materialized(s, x[i]);
    forms = false;
  }
  if (forms && n == 2 && (integral(st->type) || offset) &&
      linear_form(s, st, &x[0], &x[1], address, &v.form) && (offset || in_range(s, &v.form)))
    return v;
  DimMask free = n == 2 ? constant_dims(s, st, &x[0], &x[1]) : 0, mask = 0;
  Ref refs[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < n; i++) {
    if (x[i].is_form) x[i].form = without_dims(x[i].form, free);
    if (offset && i == 1 && x[i].is_form) x[i].type = DT_I64;
    x[i] = bind_materialized(s, x[i]);
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
  return bind_ref_value(ref_sub(dst, sub), mask, result);
}

static bool is_form_alone(const Value *v) { return v->is_form && !bind_has_rest(v); }

static bool counts_by_powers(const Form *f, DimMask dims) {
  for (int d = 0; d < MAX_DIMS; d++)
    if (dims >> d & 1 && f->g[0].coef[d] & (f->g[0].coef[d] - 1)) return false;
  return true;
}

/* The form of an i64 as if what was widened had been computed in 64 bits.  It may have wrapped, but
 * numbers from one multiple of a power of two to the next wrap together: *dims keeps the dims that
 * count such. */
static bool widened_form(Bind *s, Ref r, Form *out, DimMask *dims) {
  const NestStmt *def = r.kind == REF_VAR && !r.var->tile.rank ? s->def[r.var->id] : NULL;
  bool op = def && def->code == NEST_OP;
  if (op && def->op == TILE_CAST && integral(def->type) && dtype_is_signed(def->type)) {
    Value v = bind_eval(s, def->srcs[0], def->type, false);
    DimMask low = is_form_alone(&v) ? lowest_dims(s, &v.form, 0) : 0;
    *out = v.form;
    *dims &= low && counts_by_powers(&v.form, low) ? low : form_mask(s, &v.form, true) ? 0 : *dims;
    return is_form_alone(&v);
  }
  if (op && (def->op == TILE_ADD || def->op == TILE_SUB)) {
    Form y;
    return widened_form(s, def->srcs[0], out, dims) && widened_form(s, def->srcs[1], &y, dims) &&
           form_add(out, &y, def->op == TILE_ADD ? 1 : -1);
  }
  Value v = bind_eval(s, r, DT_I64, false);
  *out = v.form;
  return is_form_alone(&v);
}

/* constant_dims() of a comparison in 64 bits of what was computed in fewer. */
static DimMask widened_constant_dims(Bind *s, const NestStmt *st) {
  DimMask dims = ~(DimMask)0;
  Value x = {.is_form = true, .type = DT_I64}, y = x;
  if (st->op < TILE_LT || st->op > TILE_NE || st->type != DT_I64) return 0;
  if (!widened_form(s, st->srcs[0], &x.form, &dims) || !dims) return 0;
  return widened_form(s, st->srcs[1], &y.form, &dims) ? dims & constant_dims(s, st, &x, &y) : 0;
}

Value bind_eval_op(Bind *s, const NestStmt *st, bool address) {
  Value x[3];
  bool offset = st->op == TILE_PTR_ADD;
  uint32_t n = 0;
  Where outer = s->at;
  s->at.first |= widened_constant_dims(s, st);
  for (; n < st->nsrcs && st->srcs[n].kind; n++) {
    DType t = st->op == TILE_SELECT && n == 0 ? DT_I1 : offset && n == 1 ? DT_I64 : st->type;
    x[n] = bind_eval(s, st->srcs[n], t, offset ? n == 1 : address);
  }
  s->at = outer;
  return op_of_values(s, st, x, n, address);
}

/* ---- hints ---- */

static bool is_own_element(const Bind *s) { return !s->at.first && !s->at.before; }

/* The dims that count lanes. */
static DimMask lane_dims(const Bind *s) {
  DimMask lanes = 0;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].hw == HW_LANE) lanes |= (DimMask)1 << d;
  return lanes;
}

/* The operand where the dims of `low` are 0.  What it reads of registers is each lane's own: then
 * lanes are no part of *low any more. */
static Value first_of_groups(Bind *s, const NestStmt *st, bool address, DimMask *low) {
  Where outer = s->at;
  bool others = s->reads_registers, again = true;
  DimMask lanes = lane_dims(s);
  Value v;
  while (again) {
    s->reads_registers = false;
    s->at.first |= *low;
    v = bind_eval(s, st->srcs[0], st->type, address);
    s->at = outer;
    again = s->reads_registers && *low & lanes;
    *low &= ~(again ? lanes : 0);
  }
  s->reads_registers |= others;
  return v;
}

/* The operand one element earlier along the hint's axis; false if computing it reads a register,
 * which another thread may have. */
static bool neighbour(Bind *s, const NestStmt *st, Value *out) {
  Where outer = s->at;
  bool others = s->reads_registers;
  s->reads_registers = false;
  s->at.before = (int)nest_int(st, NA_axis, 0) + 1;
  *out = bind_materialized(s, bind_eval(s, st->srcs[0], st->type, false));
  s->at = outer;
  bool computed = !s->reads_registers;
  s->reads_registers |= others;
  return computed;
}

/* x and one more, in elements. */
static Value successor(Bind *s, const NestStmt *st, const Value *x) {
  if (x->type == DT_PTR) return bind_add_bytes(s, *x, ref_int(dtype_bytes(st->elem)), 0);
  return combine_values(s, TILE_ADD, x->type, x, ref_int(1), 0);
}

static void assert_that(Bind *s, const NestStmt *hint, const Value *holds, const char *name,
                        int64_t n) {
  Value guard = bind_and_padding(s, (Value){.ref = ref_none()});
  NestBuilder outer = bind_open(s, holds->mask | guard.mask);
  NestStmt *check = nest_stmt(&s->b, NEST_ASSERT, 0, 1);
  check->type = DT_I1;
  check->srcs[0] = holds->ref;
  check->guard = guard.ref;
  check->span = hint->span;
  nest_set_str(s->nest, check, NA_kind, "hint");
  nest_set_str(s->nest, check, NA_message,
               arena_printf(s->nest->arena, "%s(%lld)", name, (long long)n));
  bind_close(s, outer);
}

static Value are_equal(Bind *s, const Value *x, const Value *y) {
  return combine_values(s, TILE_EQ, x->type, x, y->ref, y->mask);
}

static Value either_value(Bind *s, const Value *x, const Value *y) {
  return combine_values(s, TILE_OR, DT_I1, x, y->ref, y->mask);
}

/* Is x % n zero? */
static Value is_multiple_value(Bind *s, const Value *x, int64_t n) {
  Value rest = combine_values(s, TILE_REM, x->type, x, ref_int(n), 0);
  return combine_values(s, TILE_EQ, x->type, &rest, ref_int(0), 0);
}

/* Checks a hint at run time.  Each element of a group, except the first, is compared with its
 * predecessor, which the same thread recomputes; if the predecessor has to be read from registers,
 * which may be another thread's, the element is compared with the hint's own result. */
OUT_OF_LINE static void assert_hint(Bind *s, const NestStmt *st, Value made) {
  bool contig = nest_int(st, NA_contig, 1) > 1;
  int64_t n = nest_int(st, contig ? NA_contig : NA_constancy, 1), by = nest_int(st, NA_div, 1);
  const char *name = contig ? "max_contiguous" : "max_constancy";
  Value x = bind_materialized(s, bind_eval(s, st->srcs[0], st->type, false));
  Value before;
  if (!neighbour(s, st, &before)) {
    made = bind_materialized(s, made);
    Value same = are_equal(s, &x, &made);
    if (n > 1) assert_that(s, st, &same, name, n);
    return;
  }
  Value next = successor(s, st, &before), follows = are_equal(s, &x, &next);
  Form at = axis_form(s, (int)nest_int(st, NA_axis, 0));
  Value index = bind_materialized(s, (Value){.is_form = true, .form = at, .type = DT_I32});
  if (n > 1) {
    Value first = is_multiple_value(s, &index, n),
          same = contig ? follows : are_equal(s, &x, &before);
    Value holds = either_value(s, &same, &first);
    assert_that(s, st, &holds, name, n);
  }
  if (by > 1 && st->type != DT_PTR) { /* a pointer's: accesses are checked */
    Value later = combine_values(s, TILE_GT, DT_I32, &index, ref_int(0), 0);
    later = combine_values(s, TILE_AND, DT_I1, &later, follows.ref, follows.mask);
    Value multiple = is_multiple_value(s, &x, by), holds = either_value(s, &later, &multiple);
    assert_that(s, st, &holds, "multiple_of", by);
  }
}

/* A hint about groups that one thread holds completely: only the first elements are computed, and
 * the others are equal, or larger by their digit. */
static Value made_by_hint(Bind *s, const NestStmt *st, bool address) {
  int64_t contig = nest_int(st, NA_contig, 1), constancy = nest_int(st, NA_constancy, 1);
  Form at = axis_form(s, (int)nest_int(st, NA_axis, 0));
  DimMask low = contig == 1 ? lowest_dims(s, &at, constancy)
                : address   ? lowest_dims(s, &at, contig)
                            : 0;
  Value v = first_of_groups(s, st, address, &low);
  if (!low || contig == 1) return v;
  if (!v.is_form && v.type == DT_PTR) return bind_eval(s, st->srcs[0], st->type, address);
  if (!v.is_form) v = with_rest(form_const(0), &v);
  Form within = without_dims(at, ~low);
  form_add(&v.form, &within, v.type == DT_PTR ? dtype_bytes(st->elem) : 1);
  return v;
}

OUT_OF_LINE static Value eval_hint(Bind *s, const NestStmt *st, bool address) {
  Value v = made_by_hint(s, st, address);
  if (s->nest->options.checked && is_own_element(s)) assert_hint(s, st, v);
  return v;
}

static bool same_where(const Where *a, const Where *b) {
  return a->first == b->first && a->before == b->before;
}

static Value eval_temp(Bind *s, NestVar *v, bool address) {
  Known *k = &s->known[v->id];
  const NestStmt *def = s->def[v->id];
  if (k->nest == s->id && !k->value) bind_refuse(s, "a value depends on itself");
  if (k->nest == s->id && k->address == address && same_where(&k->at, &s->at)) {
    s->reads_registers |= k->reads_registers;
    return *k->value;
  }
  bool others = s->reads_registers;
  s->reads_registers = false;
  *k = (Known){.nest = s->id};
  Value *out = ARENA_NEW(s->scratch, Value);
  bool hint = def->code == NEST_OP && def->op == TILE_HINT;
  *out = hint ? eval_hint(s, def, address) : bind_eval_op(s, def, address);
  s->known[v->id] = (Known){s->id, s->at, address, s->reads_registers, out};
  s->reads_registers |= others;
  return *out;
}

/* References that no statement of the nest computes. */
OUT_OF_LINE static Value leaf_value(Bind *s, Ref r, DType type) {
  Value v = {.is_form = true, .type = type};
  if (r.kind == REF_FLOAT) return bind_ref_value(r, 0, type);
  if (r.kind == REF_AFFINE) {
    v.form = bind_affine_form(s, &r.sub);
    if (!integral(type) && type != DT_PTR) return bind_ref_value(ref_int(r.sub.c), 0, type);
    return v;
  }
  NestVar *x = r.var;
  if (x->tile.rank) {
    DimMask mask;
    s->reads_registers = true;
    Ref at = ref_sub(x, locate(s, &r, &mask));
    return bind_ref_value(at, mask, x->dtype);
  }
  if (s->array_nest[x->id] == s->id) {
    s->reads_registers = true;
    DimMask mask = bind_reg_dims(s);
    Affine sub;
    sub = affine_const(0);
    int32_t count = 1;
    for (int d = s->ndims - 1; d >= 0; d--) {
      if (!(mask >> d & 1)) continue;
      Affine t = affine_index(s->dims[d].index, count);
      if (!(s->at.first >> d & 1)) affine_add(&sub, &t);
      count *= s->dims[d].extent;
    }
    return bind_ref_value(ref_sub(s->array[x->id], sub), mask & ~s->at.first, x->dtype);
  }
  if (x->uniform && (integral(x->dtype) || x->dtype == DT_PTR)) {
    v.form = form_var(x);
    v.type = x->dtype;
    return v;
  }
  return bind_ref_value(r, 0, x->dtype);
}

Value bind_eval(Bind *s, Ref r, DType type, bool address) {
  bool temp = r.kind == REF_VAR && !r.var->tile.rank && s->array_nest[r.var->id] != s->id &&
              s->def_nest[r.var->id] == s->id;
  return temp ? eval_temp(s, r.var, address) : leaf_value(s, r, type);
}

/* ---- as statements need them ---- */

/* The registers of a destination: a tile variable, or a temp that becomes an array. */
Ref bind_destination(Bind *s, Ref r, DimMask *mask) {
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
  return bind_eval(s, r, r.var->dtype, false).ref;
}

Value bind_value_of(Bind *s, Ref r, DType t) {
  return bind_materialized(s, bind_eval(s, r, t, false));
}

/* ---- guards ---- */

static Value and_guards(Bind *s, Value a, Value b) {
  if (!a.ref.kind) return b;
  if (!b.ref.kind) return a;
  Affine sub;
  DimMask mask = a.mask | b.mask;
  NestVar *v = bind_array(s, NULL, DT_I1, DT_NONE, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  nest_op(&s->b, TILE_AND, DT_I1, ref_sub(v, sub), a.ref, b.ref, ref_none());
  bind_close(s, outer);
  return bind_ref_value(ref_sub(v, sub), mask, DT_I1);
}

/* Positions of a padded axis that are past its extent hold nothing. */
static Value padding_guard(Bind *s, int axis) {
  NestStmt lt = {.code = NEST_OP, .op = TILE_LT, .type = DT_I32};
  Value x = {.is_form = true, .type = DT_I32, .form = axis_form(s, axis)};
  Value y = {.is_form = true, .type = DT_I32, .form = form_const(s->stmt->layout->shape[axis])};
  DimMask free = constant_dims(s, &lt, &x, &y);
  x.form = without_dims(x.form, free);
  x = bind_materialized(s, x);
  Affine sub;
  NestVar *v = bind_array(s, NULL, DT_I1, DT_NONE, x.mask, &sub);
  NestBuilder outer = bind_open(s, x.mask);
  nest_op(&s->b, TILE_LT, DT_I32, ref_sub(v, sub), x.ref, ref_int(s->stmt->layout->shape[axis]),
          ref_none());
  bind_close(s, outer);
  return bind_ref_value(ref_sub(v, sub), x.mask, DT_I1);
}

Value bind_and_padding(Bind *s, Value g) {
  for (int a = 0; a < s->stmt->layout->rank; a++)
    if (layout_has_padding(s->stmt->layout, a)) g = and_guards(s, g, padding_guard(s, a));
  return g;
}

Value bind_and_first_replica(Bind *s, Value g) {
  return and_guards(s, g, bind_ref_value(bind_first_replica(s), 0, DT_I1));
}

/* REF_NONE if there is no guard. */
Value bind_own_guard(Bind *s, const NestStmt *st) {
  return st->guard.kind ? bind_value_of(s, st->guard, DT_I1) : (Value){.ref = ref_none()};
}

Value bind_guard_of(Bind *s, const NestStmt *st) {
  Value g = bind_and_padding(s, bind_own_guard(s, st));
  bool once = nest_flags(st) & (NEST_IS_WRITE | NEST_IS_EFFECT);
  return once ? bind_and_first_replica(s, g) : g;
}
