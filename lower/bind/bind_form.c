/* Linear forms of a nest's digits: see lower/bind/bind.h. */
#include <string.h>

#include "lower/bind/bind.h"

Form form_const(int64_t c) {
  Form f = {.n = 1};
  f.g[0].c = c;
  return f;
}

Form form_var(NestVar *v) {
  Form f = {.n = 2};
  f.g[1].var = v;
  f.g[1].c = 1;
  return f;
}

static Group *form_group(Form *f, NestVar *v) {
  for (int i = 0; i < f->n; i++)
    if (f->g[i].var == v) return &f->g[i];
  if (f->n == MAX_GROUPS) return NULL;
  Group *g = &f->g[f->n++];
  memset(g, 0, sizeof *g);
  g->var = v;
  return g;
}

/* Indices wrap, as the integers do that they represent. */
static void add_scaled(int64_t *to, int64_t x, int64_t scale) {
  *to = (int64_t)((uint64_t)*to + (uint64_t)x * (uint64_t)scale);
}

bool form_add(Form *a, const Form *b, int64_t scale) {
  for (int i = 0; i < b->n; i++) {
    Group *g = form_group(a, b->g[i].var);
    if (!g) return false;
    add_scaled(&g->c, b->g[i].c, scale);
    for (int d = 0; d < MAX_DIMS; d++) add_scaled(&g->coef[d], b->g[i].coef[d], scale);
  }
  return true;
}

static bool group_is_zero(const Group *g) {
  if (g->c) return false;
  for (int d = 0; d < MAX_DIMS; d++)
    if (g->coef[d]) return false;
  return true;
}

bool form_is_const(const Form *f, int64_t *c) {
  *c = 0;
  for (int i = 0; i < f->n; i++) {
    const Group *g = &f->g[i];
    if (g->var && !group_is_zero(g)) return false;
    if (g->var) continue;
    for (int d = 0; d < MAX_DIMS; d++)
      if (g->coef[d]) return false;
    add_scaled(c, g->c, 1);
  }
  return true;
}

/* The variable of a form that is one uniform variable times a constant. */
static bool one_variable(const Form *f, NestVar **v, int64_t *c) {
  *v = NULL;
  for (int i = 0; i < f->n; i++) {
    const Group *g = &f->g[i];
    if (group_is_zero(g)) continue;
    if (*v || !g->var) return false;
    for (int d = 0; d < MAX_DIMS; d++)
      if (g->coef[d]) return false;
    *v = g->var;
    *c = g->c;
  }
  return *v != NULL;
}

static bool only_digits(const Form *f) {
  for (int i = 0; i < f->n; i++)
    if (f->g[i].var && !group_is_zero(&f->g[i])) return false;
  return true;
}

static Ref cast_ref(Bind *s, Ref r, DType from, DType to, bool uniform, int64_t div);

/* The product of two uniform variables, computed here; where it does not change in a loop, licm
 * moves it out. */
static NestVar *product_var(Bind *s, NestVar *u, NestVar *v, DType t) {
  Ref x = cast_ref(s, ref_var(u), u->dtype, t, true, u->div);
  Ref y = cast_ref(s, ref_var(v), v->dtype, t, true, v->div);
  NestVar *p = bind_var(s, NULL, t, DT_NONE, 1, true);
  uint8_t deeper = s->depth[u->id] > s->depth[v->id] ? s->depth[u->id] : s->depth[v->id];
  nest_op(&s->b, TILE_MUL, t, ref_var(p), x, y, ref_none());
  s->depth[p->id] = deeper;
  if (!__builtin_mul_overflow(u->div ? u->div : 1, v->div ? v->div : 1, &p->div)) p->div &= -p->div;
  else p->div = 1;
  return p;
}

bool form_scale_by(Bind *s, const Form *a, const Form *b, DType t, Form *out) {
  NestVar *v, *w;
  int64_t c;
  *out = form_const(0);
  if (!one_variable(b, &v, &c)) {
    if (!one_variable(a, &w, &c)) return false;
    const Form *x = a;
    a = b;
    b = x;
    one_variable(b, &v, &c);
  }
  if (v->dtype == DT_PTR) return false;
  for (int i = 0; i < a->n; i++)
    if (a->g[i].var && a->g[i].var->dtype == DT_PTR) return false;
  for (int i = 0; i < a->n; i++) {
    if (group_is_zero(&a->g[i])) continue;
    Group *g = form_group(out, a->g[i].var ? product_var(s, a->g[i].var, v, t) : v);
    if (!g) return false;
    add_scaled(&g->c, a->g[i].c, c);
    for (int d = 0; d < MAX_DIMS; d++) add_scaled(&g->coef[d], a->g[i].coef[d], c);
  }
  return true;
}

bool form_mul(const Form *a, const Form *b, Form *out) {
  int64_t c;
  NestVar *v;
  *out = form_const(0);
  if (form_is_const(b, &c)) return form_add(out, a, c);
  if (form_is_const(a, &c)) return form_add(out, b, c);
  if (one_variable(a, &v, &c) && only_digits(b)) {
    const Form *t = a;
    a = b;
    b = t;
  } else if (!(only_digits(a) && one_variable(b, &v, &c))) {
    return false;
  }
  Group *g = form_group(out, v);
  g->c = a->g[0].c * c;
  for (int d = 0; d < MAX_DIMS; d++) g->coef[d] = a->g[0].coef[d] * c;
  return true;
}

/* Floor division of a form without variables, where digits are wholly above or below `by`. */
bool form_divide(const Bind *s, const Form *f, int64_t by, bool rem, Form *out) {
  if (!only_digits(f) || by <= 0 || f->g[0].c < 0) return false;
  const Group *g = &f->g[0];
  *out = form_const(rem ? g->c % by : g->c / by);
  int64_t low = g->c % by;
  for (int d = 0; d < s->ndims; d++) {
    int64_t k = g->coef[d];
    if (k < 0) return false;
    if (k % by) low += k * (s->dims[d].extent - 1);
    if (rem) out->g[0].coef[d] = k % by ? k : 0;
    else out->g[0].coef[d] = k % by ? 0 : k / by;
  }
  return low < by;
}

/* A known divisor of k * v: the product, or v if it overflows. */
static int64_t multiple(int64_t k, int64_t v) {
  int64_t product;
  return __builtin_mul_overflow(k, v, &product) || product == INT64_MIN ? v : product;
}

int64_t form_divisor(const Form *f, DimMask skip) {
  int64_t all = 0;
  for (int i = 0; i < f->n; i++) {
    const Group *g = &f->g[i];
    int64_t v = g->var ? (g->var->div ? g->var->div : 1) : 1;
    all = gcd64(all, multiple(g->c, v));
    for (int d = 0; d < MAX_DIMS; d++)
      if (g->coef[d] && !(skip >> d & 1)) all = gcd64(all, multiple(g->coef[d], v));
  }
  return all ? all : INT64_C(1) << 30;
}

static bool unrolled(const Bind *s, int d) { return d < s->ndims && hw_in_thread(s->dims[d].hw); }

DimMask form_mask(const Bind *s, const Form *f, bool all) {
  DimMask m = 0;
  for (int i = 0; i < f->n; i++)
    for (int d = 0; d < s->ndims; d++)
      if (f->g[i].coef[d] && unrolled(s, d) && (all || f->g[i].var)) m |= (DimMask)1 << d;
  return m;
}

Affine form_immediate(const Bind *s, const Form *f) {
  Affine a = affine_const(0);
  for (int i = 0; i < f->n; i++) {
    if (f->g[i].var) continue;
    add_scaled(&a.c, f->g[i].c, 1);
    for (int d = 0; d < s->ndims; d++) {
      if (!f->g[i].coef[d] || !unrolled(s, d)) continue;
      Affine x = affine_index(s->dims[d].index, f->g[i].coef[d]);
      if (!affine_add(&a, &x)) bind_refuse(s, bind_too_many_digits);
    }
  }
  return a;
}

/* ---- computing forms ---- */

static Ref cast_ref(Bind *s, Ref r, DType from, DType to, bool uniform, int64_t div) {
  if (from == to || r.kind != REF_VAR) return r;
  NestVar *v = bind_var(s, NULL, to, DT_NONE, 1, uniform);
  v->div = div;
  nest_op(&s->b, TILE_CAST, from, ref_var(v), r, ref_none(), ref_none())->to = to;
  return ref_var(v);
}

/* The part of a group that is linear in lanes and warps, as an i32; REF_NONE if there is none. */
static Ref thread_part(Bind *s, const Group *g) {
  ThreadForm f = {.n = 0};
  for (int d = 0; d < s->ndims; d++)
    if (g->coef[d] && !unrolled(s, d)) thread_form_add(&f, &s->dims[d], g->coef[d]);
  return bind_thread_const(s, &f);
}

static bool is_uniform(Ref r) { return r.kind != REF_VAR || r.var->uniform; }

static bool is_pointer_ref(Ref r) { return r.kind == REF_VAR && r.var->dtype == DT_PTR; }

static void pointer_first(Ref *a, Ref *b) {
  if (!is_pointer_ref(*b)) return;
  Ref t = *a;
  *a = *b;
  *b = t;
}

/* sum := sum + x; in t. */
static void accumulate_ref(Bind *s, Ref *sum, Ref x, DType t, DType elem) {
  if (!sum->kind) {
    *sum = x;
    return;
  }
  pointer_first(sum, &x);
  bool pointer = is_pointer_ref(*sum);
  bool uniform = is_uniform(*sum) && is_uniform(x);
  NestVar *v = bind_var(s, NULL, pointer ? DT_PTR : t, pointer ? elem : DT_NONE, 1, uniform);
  NestStmt *st = nest_op(&s->b, pointer ? TILE_PTR_ADD : TILE_ADD, pointer ? DT_PTR : t, ref_var(v),
                         *sum, x, ref_none());
  if (pointer) st->elem = DT_U8; /* offsets are in bytes */
  *sum = ref_var(v);
}

/* u * coef, both scalars. */
static Ref multiply_ref(Bind *s, Ref u, int64_t c, DType t) {
  if (c == 1) return u;
  NestVar *v = bind_var(s, NULL, t, DT_NONE, 1, is_uniform(u));
  nest_op(&s->b, TILE_MUL, t, ref_var(v), u, ref_int(c), ref_none());
  return ref_var(v);
}

static Ref group_scalar(Bind *s, const Group *g, DType t) {
  Ref sum = ref_none(), part = thread_part(s, g);
  if (!g->var) return part.kind ? cast_ref(s, part, DT_I32, t, false, 1) : part;
  Ref u = g->var->dtype == DT_PTR
              ? ref_var(g->var)
              : cast_ref(s, ref_var(g->var), g->var->dtype, t, true, g->var->div);
  if (g->c) sum = multiply_ref(s, u, g->c, t);
  if (!part.kind) return sum;
  part = cast_ref(s, part, DT_I32, t, false, 1);
  NestVar *v = bind_var(s, NULL, t, DT_NONE, 1, false);
  nest_op(&s->b, TILE_MUL, t, ref_var(v), u, part, ref_none());
  accumulate_ref(s, &sum, ref_var(v), t, DT_NONE);
  return sum;
}

/* Groups in the order of how deep in loops their variables change, pointers first: the sums that do
 * not change in a loop come first and can be hoisted. */
static int next_group(const Bind *s, const Form *f, const bool *done) {
  int best = -1, best_key = 0;
  for (int i = 0; i < f->n; i++) {
    if (done[i] || group_is_zero(&f->g[i])) continue;
    NestVar *v = f->g[i].var;
    int key = v ? 2 * s->depth[v->id] + 1 : 1;
    if (v && v->dtype == DT_PTR) key--;
    if (best < 0 || key < best_key) best = i, best_key = key;
  }
  return best;
}

static bool has_dims(const Bind *s, const Group *g) {
  for (int d = 0; d < s->ndims; d++)
    if (g->coef[d] && unrolled(s, d)) return true;
  return false;
}

/* Adds var * (sum of coef * register digit) to every element of an array over `mask`. */
static Ref add_register_part(Bind *s, Ref sum, const Group *g, DType t, DType elem, DimMask mask) {
  Affine sub, digits = affine_const(0);
  bool pointer = sum.kind == REF_VAR && sum.var->dtype == DT_PTR;
  NestVar *v = bind_array(s, NULL, pointer ? DT_PTR : t, pointer ? elem : DT_NONE, mask, &sub);
  Ref u = cast_ref(s, ref_var(g->var), g->var->dtype, t, true, g->var->div);
  NestBuilder outer = bind_open(s, mask);
  for (int d = 0; d < s->ndims; d++) {
    if (!g->coef[d] || !unrolled(s, d)) continue;
    Affine x = affine_index(s->dims[d].index, g->coef[d]);
    affine_add(&digits, &x);
  }
  NestVar *step = bind_var(s, NULL, t, DT_NONE, 1, is_uniform(u));
  nest_op(&s->b, TILE_MUL, t, ref_var(step), u, ref_affine(digits), ref_none());
  Ref dst = ref_sub(v, sub);
  if (!sum.kind) {
    nest_mov(&s->b, dst, ref_var(step), t);
  } else {
    NestStmt *st = nest_op(&s->b, pointer ? TILE_PTR_ADD : TILE_ADD, pointer ? DT_PTR : t, dst, sum,
                           ref_var(step), ref_none());
    if (pointer) st->elem = DT_U8;
  }
  bind_close(s, outer);
  return dst;
}

/* sum + x for every element over the mask. */
static Ref add_array(Bind *s, Ref sum, Ref x, DType t, DType elem, DimMask mask) {
  pointer_first(&sum, &x);
  Affine sub;
  bool pointer = is_pointer_ref(sum);
  NestVar *v = bind_array(s, NULL, sum.kind == REF_VAR ? sum.var->dtype : t,
                          pointer ? elem : DT_NONE, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  NestStmt *st = nest_op(&s->b, pointer ? TILE_PTR_ADD : TILE_ADD, pointer ? DT_PTR : t,
                         ref_sub(v, sub), sum, x, ref_none());
  if (pointer) st->elem = DT_U8;
  bind_close(s, outer);
  return ref_sub(v, sub);
}

static Ref add_scalar(Bind *s, Ref sum, Ref x, DType t, DType elem, DimMask mask) {
  if (mask && sum.kind == REF_VAR) return add_array(s, sum, x, t, elem, mask);
  accumulate_ref(s, &sum, x, t, elem);
  return sum;
}

static DimMask register_dims(const Bind *s, const Group *g) {
  DimMask m = 0;
  for (int d = 0; d < s->ndims; d++)
    if (g->coef[d] && unrolled(s, d)) m |= (DimMask)1 << d;
  return m;
}

static int64_t mask_count(const Bind *s, DimMask mask) {
  int64_t n = 1;
  for (int d = 0; d < s->ndims; d++)
    if (mask >> d & 1) n *= s->dims[d].extent;
  return n;
}

/* The sum in the order of depths: what is invariant in a loop is one value an element. */
static Ref sum_by_depth(Bind *s, const Form *f, DType arith, DType elem, DimMask *mask) {
  bool done[MAX_GROUPS] = {0};
  Ref sum = ref_none();
  for (int i; (i = next_group(s, f, done)) >= 0;) {
    const Group *g = &f->g[i];
    done[i] = true;
    Ref x = group_scalar(s, g, arith);
    if (x.kind) sum = add_scalar(s, sum, x, arith, elem, *mask);
    if (!g->var || !has_dims(s, g)) continue;
    DimMask more = *mask | register_dims(s, g);
    sum = add_register_part(s, sum, g, arith, elem, more);
    *mask = more;
  }
  return sum;
}

/* The sum of all that registers share, then of steps along the digits of one stride after another,
 * fewest first.  Out of loops move steps alone, which the addresses of other accesses share. */
static Ref sum_by_strides(Bind *s, const Form *f, DType arith, DType elem, DimMask *mask) {
  bool done[MAX_GROUPS] = {0};
  Ref sum = ref_none(), steps[MAX_GROUPS];
  for (int i; (i = next_group(s, f, done)) >= 0;) {
    const Group *g = &f->g[i];
    done[i] = true;
    Ref x = group_scalar(s, g, arith);
    if (x.kind) accumulate_ref(s, &sum, x, arith, elem);
    steps[i] = ref_none();
    if (g->var && has_dims(s, g))
      steps[i] = add_register_part(s, ref_none(), g, arith, DT_NONE, register_dims(s, g));
  }
  for (;;) {
    int next = -1;
    for (int i = 0; i < f->n; i++)
      if (done[i] && steps[i].kind &&
          (next < 0 || mask_count(s, register_dims(s, &f->g[i])) <
                           mask_count(s, register_dims(s, &f->g[next]))))
        next = i;
    if (next < 0) return sum;
    *mask |= register_dims(s, &f->g[next]);
    sum = sum.kind ? add_array(s, sum, steps[next], arith, elem, *mask) : steps[next];
    steps[next] = ref_none();
  }
}

Ref form_base(Bind *s, const Form *f, DType t, DType elem, DimMask *mask) {
  enum { FEW = 4 }; /* addresses that may be live across loops */
  bool wide = t == DT_PTR || t == DT_I64;
  *mask = 0;
  if (wide && machine_has(s->u->machine, HAS_EXPANDED_LOOPS) &&
      mask_count(s, form_mask(s, f, false)) > FEW)
    return sum_by_strides(s, f, DT_I64, elem, mask);
  return sum_by_depth(s, f, t == DT_PTR ? DT_I64 : t, elem, mask);
}

Ref form_value(Bind *s, const Form *f, DType t, DType elem, DimMask *mask) {
  Affine imm = form_immediate(s, f);
  Ref base = form_base(s, f, t, elem, mask);
  if (!base.kind) {
    *mask = form_mask(s, f, true);
    return ref_affine(imm);
  }
  if (!imm.c && !imm.n) return base;
  *mask |= form_mask(s, f, true);
  Affine sub;
  bool pointer = t == DT_PTR;
  NestVar *v = bind_array(s, NULL, t, elem, *mask, &sub);
  v->uniform = !*mask && is_uniform(base);
  NestBuilder outer = bind_open(s, *mask);
  NestStmt *st = nest_op(&s->b, pointer ? TILE_PTR_ADD : TILE_ADD, t, ref_sub(v, sub), base,
                         ref_affine(imm), ref_none());
  if (pointer) st->elem = DT_U8;
  bind_close(s, outer);
  return ref_sub(v, sub);
}
