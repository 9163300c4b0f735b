#include "lower/analysis/box_access.h"

#include <string.h>

enum { MAP_ALIGN = 16, DEEPEST = 64 };

static bool is_within(const NestStmt *st, const NestStmt *loop) {
  for (; st; st = st->parent->owner)
    if (st == loop) return true;
  return false;
}

/* ---- sums of products ---- */

static bool same_factors(const Product *a, const Product *b) {
  return !memcmp(a->factors, b->factors, sizeof a->factors);
}

static bool same_digit(const AxisDigit *a, const AxisDigit *b) {
  return a->axis == b->axis && a->unit == b->unit && a->extent == b->extent;
}

static bool same_symbol(const Product *a, const Product *b) {
  return a->kind == b->kind && same_digit(&a->digit, &b->digit) && a->var == b->var;
}

static bool add_product(Sum *s, Product p) {
  for (int i = 0; i < s->n; i++) {
    if (!same_factors(&s->t[i], &p) || !same_symbol(&s->t[i], &p)) continue;
    if (__builtin_add_overflow(s->t[i].coef, p.coef, &s->t[i].coef)) return false;
    s->t[i].wide |= p.wide;
    if (!s->t[i].coef) s->t[i] = s->t[--s->n];
    return true;
  }
  if (!p.coef) return true;
  if (s->n == MAX_SUM) return false;
  s->t[s->n++] = p;
  return true;
}

static bool add_sum(Sum *s, const Sum *x, int64_t by) {
  for (int i = 0; i < x->n; i++) {
    Product p = x->t[i];
    if (__builtin_mul_overflow(p.coef, by, &p.coef) || !add_product(s, p)) return false;
  }
  return true;
}

/* Factors are in the order of their ids, so that equal products look alike. */
static bool add_factor(Product *p, NestVar *v) {
  if (!v) return true;
  if (p->factors[MAX_FACTORS - 1]) return false;
  int i = 0;
  while (p->factors[i]) i++;
  for (; i > 0 && p->factors[i - 1]->id > v->id; i--) p->factors[i] = p->factors[i - 1];
  p->factors[i] = v;
  return true;
}

static bool multiply_products(Product *out, const Product *a, const Product *b) {
  if (a->kind && b->kind) return false;
  *out = a->kind ? *a : *b;
  const Product *other = a->kind ? b : a;
  if (__builtin_mul_overflow(a->coef, b->coef, &out->coef)) return false;
  for (int i = 0; i < MAX_FACTORS; i++)
    if (!add_factor(out, other->factors[i])) return false;
  return true;
}

static bool multiply_sums(Sum *out, const Sum *a, const Sum *b) {
  *out = (Sum){0};
  for (int i = 0; i < a->n; i++)
    for (int k = 0; k < b->n; k++) {
      Product p;
      if (!multiply_products(&p, &a->t[i], &b->t[k]) || !add_product(out, p)) return false;
    }
  return true;
}

static bool is_number(const Sum *s) {
  for (int i = 0; i < s->n; i++)
    if (s->t[i].kind || s->t[i].factors[0]) return false;
  return true;
}

/* Is b more than a by a constant? */
static bool is_shifted(const Sum *a, const Sum *b, int64_t *by) {
  Sum rest = *b;
  if (!add_sum(&rest, a, -1) || !is_number(&rest)) return false;
  *by = rest.n ? rest.t[0].coef : 0;
  return true;
}

static bool has_symbol(const Sum *s, SymbolKind kind) {
  for (int i = 0; i < s->n; i++)
    if (s->t[i].kind == kind) return true;
  return false;
}

/* ---- expanding ---- */

typedef struct {
  const Definitions *d;
  const NestStmt *loop, *nest;
  int depth;
} Expand;

static bool expand(Expand *x, const Ref *r, Sum *out);

static bool is_signed_integer(DType t) { return t == DT_I32 || t == DT_I64; }

static bool expand_operands(Expand *x, const NestStmt *st, Sum *a, Sum *b) {
  return expand(x, &st->srcs[0], a) && expand(x, &st->srcs[1], b);
}

/* A quotient or remainder of an index by a constant that divides its digit. */
static bool cut_digit(TileCode op, const Sum *a, const Sum *b, Sum *out) {
  const Product *by = b->t;
  bool single = a->n == 1 && a->t[0].kind == SYMBOL_AXIS && a->t[0].coef == 1 &&
                !a->t[0].factors[0];
  if (!single || b->n != 1 || by->kind || by->factors[0] || by->coef <= 0) return false;
  *out = *a;
  AxisDigit *d = &out->t[0].digit;
  if (by->coef >= d->extent) {
    if (op == TILE_DIV) *out = (Sum){0};
    return true;
  }
  if (d->extent % by->coef) return false;
  if (op == TILE_DIV) {
    d->unit *= (int32_t)by->coef;
    d->extent /= (int32_t)by->coef;
  } else {
    d->extent = (int32_t)by->coef;
  }
  if (d->extent == 1) *out = (Sum){0};
  return true;
}

/* Integers are taken as if they didn't wrap: an element that is reached by a sum that wraps is no
 * element of the array. */
static bool expand_op(Expand *x, const NestStmt *st, Sum *out) {
  Sum a, b;
  if (st->code == NEST_MOV) return expand(x, &st->srcs[0], out);
  if (st->code != NEST_OP || !is_signed_integer(st->type)) return false;
  switch (st->op) {
    case TILE_ADD:
    case TILE_SUB:
      if (!expand_operands(x, st, out, &b)) return false;
      return add_sum(out, &b, st->op == TILE_ADD ? 1 : -1);
    case TILE_MUL:
      if (!expand_operands(x, st, &a, &b) || !multiply_sums(out, &a, &b)) return false;
      for (int i = 0; i < out->n; i++) out->t[i].wide |= st->type == DT_I64;
      return true;
    case TILE_DIV:
    case TILE_REM: return expand_operands(x, st, &a, &b) && cut_digit(st->op, &a, &b, out);
    case TILE_CAST:
      return is_signed_integer(st->to) && dtype_bits(st->to) >= dtype_bits(st->type) &&
             expand(x, &st->srcs[0], out);
    case TILE_HINT: return expand(x, &st->srcs[0], out);
    default: return false;
  }
}

/* Is it equal in all turns of the loop? */
static bool is_invariant(const Expand *x, const Sum *s) {
  for (int i = 0; i < s->n; i++) {
    const Product *p = &s->t[i];
    if (p->kind == SYMBOL_AXIS || p->kind == SYMBOL_TURN) return false;
    if (p->kind == SYMBOL_VAR && is_within(x->d->last[p->var->id], x->loop)) return false;
  }
  return true;
}

static bool precedes(const NestStmt *a, const NestStmt *b) {
  for (; b; b = b->prev)
    if (a == b) return true;
  return false;
}

/* The sum that a variable carried by the loop becomes at the end of a turn, v + a step, after the
 * load; it is set once before the loop.  NULL: v is another variable. */
static const NestStmt *carried_step(const Expand *x, const NestVar *v) {
  const NestStmt *init = x->d->first[v->id], *set = x->d->last[v->id];
  if (!x->loop || x->d->count[v->id] != 2 || is_within(init, x->loop)) return NULL;
  if (set->code != NEST_MOV || set->parent != x->loop->regions[0] || !precedes(x->nest, set))
    return NULL;
  const Ref *r = &set->srcs[0];
  if (r->kind != REF_VAR || x->d->count[r->var->id] != 1) return NULL;
  const NestStmt *sum = x->d->first[r->var->id];
  bool adds = sum->code == NEST_OP && (sum->op == TILE_ADD || sum->op == TILE_PTR_ADD);
  return adds && sum->srcs[0].kind == REF_VAR && sum->srcs[0].var == v ? sum : NULL;
}

/* out += step * the turn's number */
static bool add_turns(const Expand *x, Sum *out, const Sum *step) {
  Sum turn = {1, {{.coef = 1, .kind = SYMBOL_TURN}}}, turns;
  return is_invariant(x, step) && multiply_sums(&turns, step, &turn) && add_sum(out, &turns, 1);
}

static bool expand_carried(Expand *x, const NestVar *v, Sum *out) {
  const NestStmt *sum = carried_step(x, v);
  Sum step;
  if (!sum || sum->op != TILE_ADD || !is_signed_integer(v->dtype)) return false;
  return expand(x, &sum->srcs[1], &step) && expand_op(x, x->d->first[v->id], out) &&
         is_invariant(x, out) && add_turns(x, out, &step);
}

static bool expand_var(Expand *x, NestVar *v, Sum *out) {
  Sum step;
  if (x->loop && v == x->loop->dsts[0].var)
    return expand(x, &x->loop->srcs[0], out) && expand(x, &x->loop->srcs[2], &step) &&
           is_invariant(x, out) && add_turns(x, out, &step);
  if (x->d->count[v->id] == 1) {
    Ref n;
    bool symbol = v->uniform && counts_down(&n, x->d, x->d->first[v->id]);
    return !symbol && expand_op(x, x->d->first[v->id], out);
  }
  return expand_carried(x, v, out);
}

static bool expand_affine(const Expand *x, const Affine *a, Sum *out) {
  *out = (Sum){0};
  if (!add_product(out, (Product){.coef = a->c})) return false;
  for (int i = 0; i < a->n; i++) {
    int axis = 0;
    while (axis < 2 && x->nest->axes[axis] != a->t[i].index) axis++;
    if (axis == 2) return false;
    AxisDigit whole = {axis, 1, x->nest->axes[axis]->extent};
    Product p = {.coef = a->t[i].coef, .kind = SYMBOL_AXIS, .digit = whole};
    if (!add_product(out, p)) return false;
  }
  return true;
}

static bool same_operand(const Expand *x, const Ref *a, const Ref *b) {
  if (a->kind == REF_AFFINE) return b->kind == REF_AFFINE && affine_eq(&a->sub, &b->sub);
  bool same = a->kind == REF_VAR && b->kind == REF_VAR && a->var == b->var;
  return same && (a->var->is_param || x->d->count[a->var->id] == 1);
}

/* A quotient or remainder that is computed before in the same block; v if there is none. */
static NestVar *same_value(const Expand *x, NestVar *v) {
  const NestStmt *st = x->d->count[v->id] == 1 ? x->d->first[v->id] : NULL;
  if (!st || st->code != NEST_OP || (st->op != TILE_DIV && st->op != TILE_REM)) return v;
  for (const NestStmt *by = st->prev; by; by = by->prev) {
    arena_work(x->d->arena, 1);
    bool same = by->code == NEST_OP && by->op == st->op && by->type == st->type &&
                x->d->count[by->dsts[0].var->id] == 1 && by->dsts[0].var->uniform;
    if (same && same_operand(x, &by->srcs[0], &st->srcs[0]) &&
        same_operand(x, &by->srcs[1], &st->srcs[1]))
      v = by->dsts[0].var;
  }
  return v;
}

static bool expand(Expand *x, const Ref *r, Sum *out) {
  if (r->kind == REF_AFFINE) return expand_affine(x, &r->sub, out);
  if (r->kind != REF_VAR || !is_signed_integer(r->var->dtype) || r->var->tile.rank) return false;
  NestVar *v = r->var;
  if (v->is_param) {
    *out = (Sum){1, {{.coef = 1, .factors = {v}}}};
    return true;
  }
  bool done = x->depth < DEEPEST;
  x->depth++;
  if (done) done = expand_var(x, v, out);
  x->depth--;
  if (!done && v->uniform)
    *out = (Sum){1, {{.coef = 1, .kind = SYMBOL_VAR, .var = same_value(x, v)}}};
  return done || v->uniform;
}

/* The parameter from which a pointer comes, and how many elements further it is. */
static NestVar *expand_pointer(Expand *x, const Ref *r, unsigned size, Sum *out) {
  NestVar *v = r->kind == REF_VAR ? r->var : NULL;
  *out = (Sum){0};
  if (!v || x->depth == DEEPEST) return NULL;
  if (v->is_param) return v;
  const NestStmt *st = x->d->first[v->id], *carried = NULL;
  if (x->d->count[v->id] != 1 && !(carried = carried_step(x, v))) return NULL;
  x->depth++;
  NestVar *base = NULL;
  Sum by = {0};
  bool adds = st->code == NEST_OP && st->op == TILE_PTR_ADD && dtype_bytes(st->elem) == size;
  if (adds && expand(x, &st->srcs[1], &by)) base = expand_pointer(x, &st->srcs[0], size, out);
  if (st->code == NEST_MOV) base = expand_pointer(x, &st->srcs[0], size, out);
  x->depth--;
  if (!base || !add_sum(out, &by, 1)) return NULL;
  if (!carried) return base;
  bool step = carried->op == TILE_PTR_ADD && dtype_bytes(carried->elem) == size &&
              is_invariant(x, out) && expand(x, &carried->srcs[1], &by) && add_turns(x, out, &by);
  return step ? base : NULL;
}

/* ---- bounds ---- */

enum { NO_AXIS = -1 };

/* The bounds in the mask of a digit, or of a number that all elements have (NO_AXIS): elements from
 * `at` on, of which there are `extent`. */
typedef struct {
  AxisDigit digit;
  bool upper, lower;
  Sum at, from; /* of upper, of lower: at + i < extent, from + i >= 0 */
  LaunchValue extent;
} AxisBound;

enum { MOST_BOUNDS = MAX_MAP_RANK };

typedef struct {
  AxisBound b[MOST_BOUNDS];
  int n;
} Bounds;

/* The bounds of the digit, or of the number `at`; NULL: there are too many. */
static AxisBound *bound_of(Bounds *x, const AxisDigit *digit, const Sum *at) {
  for (int i = 0; i < x->n; i++) {
    const AxisBound *b = &x->b[i];
    if (!same_digit(&b->digit, digit)) continue;
    int64_t by;
    if (digit->axis != NO_AXIS || is_shifted(b->upper ? &b->at : &b->from, at, &by))
      return &x->b[i];
  }
  if (x->n == MOST_BOUNDS) return NULL;
  x->b[x->n] = (AxisBound){.digit = *digit};
  return &x->b[x->n++];
}

/* Takes the digit that a difference is about, which it has once, or NO_AXIS; false: others. */
static bool take_digit(Sum *s, AxisDigit *digit) {
  int found = -1;
  *digit = (AxisDigit){.axis = NO_AXIS};
  for (int i = 0; i < s->n; i++) {
    if (s->t[i].kind != SYMBOL_AXIS) continue;
    bool plain = found < 0 && s->t[i].coef == 1 && !s->t[i].factors[0];
    if (!plain) return false;
    found = i;
  }
  if (found < 0) return true;
  *digit = s->t[found].digit;
  s->t[found] = s->t[--s->n];
  return true;
}

/* i + s < 0: the extent is a parameter that is subtracted, or else the constant; the rest is the
 * place. */
static bool split_bound(const Sum *s, AxisBound *b) {
  b->upper = true;
  b->at = *s;
  b->extent = (LaunchValue){0};
  for (int pass = 0; pass < 2 && !b->extent.scale; pass++)
    for (int i = 0; i < b->at.n && !b->extent.scale; i++) {
      Product *p = &b->at.t[i];
      if (p->kind || !p->factors[0] == !pass || p->factors[1] || p->coef >= 0) continue;
      b->extent = (LaunchValue){-p->coef, p->factors[0]};
      *p = b->at.t[--b->at.n];
    }
  return b->extent.scale != 0;
}

/* a <= i + x: i + x - a >= 0 */
static bool add_lower(Bounds *bounds, const Sum *less, Sum *more, bool strict) {
  if (!add_sum(more, less, -1) || (strict && !add_product(more, (Product){.coef = -1})))
    return false;
  AxisDigit digit;
  AxisBound *b = take_digit(more, &digit) ? bound_of(bounds, &digit, more) : NULL;
  if (!b || b->lower) return false;
  b->lower = true;
  b->from = *more;
  return true;
}

/* i + x < b: i + x - b < 0 */
static bool add_upper(Bounds *bounds, Sum *less, const Sum *more, bool strict) {
  AxisBound found = {0};
  if (!add_sum(less, more, -1) || (!strict && !add_product(less, (Product){.coef = -1})))
    return false;
  AxisDigit digit;
  if (!take_digit(less, &digit) || !split_bound(less, &found)) return false;
  AxisBound *b = bound_of(bounds, &digit, &found.at);
  if (!b || b->upper) return false;
  b->upper = true;
  b->at = found.at;
  b->extent = found.extent;
  return true;
}

/* a < b (strict) or a <= b */
static bool add_comparison(Expand *x, Bounds *bounds, const Ref *a, const Ref *b, bool strict) {
  Sum less, more;
  if (!expand(x, a, &less) || !expand(x, b, &more)) return false;
  bool scalars = !has_symbol(&less, SYMBOL_AXIS) && is_number(&less);
  if (has_symbol(&more, SYMBOL_AXIS) || scalars) return add_lower(bounds, &less, &more, strict);
  return add_upper(bounds, &less, &more, strict);
}

/* The signed number that an unsigned comparison with a constant is about: negative ones are too
 * large. */
static const Ref *signed_number(const Expand *x, const NestStmt *st) {
  const Ref *r = &st->srcs[0], *limit = &st->srcs[1];
  bool constant = limit->kind == REF_AFFINE && !limit->sub.n && limit->sub.c > 0;
  if (st->op != TILE_LT || st->type != DT_U32 || !constant || r->kind != REF_VAR) return NULL;
  const NestStmt *cast = x->d->count[r->var->id] == 1 ? x->d->first[r->var->id] : NULL;
  bool same = cast && cast->code == NEST_OP && cast->op == TILE_CAST && cast->type == DT_I32;
  return same && limit->sub.c <= INT32_MAX ? &cast->srcs[0] : NULL;
}

static bool add_bounds(Expand *x, Bounds *bounds, const Ref *guard) {
  if (!guard->kind) return true;
  if (guard->kind != REF_VAR || x->d->count[guard->var->id] != 1) return false;
  const NestStmt *st = x->d->first[guard->var->id];
  if (st->code != NEST_OP) return false;
  if (st->op == TILE_HINT) return add_bounds(x, bounds, &st->srcs[0]);
  if (st->op == TILE_AND)
    return add_bounds(x, bounds, &st->srcs[0]) && add_bounds(x, bounds, &st->srcs[1]);
  const Ref *number = signed_number(x, st), zero = ref_int(0);
  if (number)
    return add_comparison(x, bounds, &zero, number, false) &&
           add_comparison(x, bounds, number, &st->srcs[1], true);
  if (!is_signed_integer(st->type)) return false;
  const Ref *a = &st->srcs[0], *b = &st->srcs[1];
  switch (st->op) {
    case TILE_LT: return add_comparison(x, bounds, a, b, true);
    case TILE_LE: return add_comparison(x, bounds, a, b, false);
    case TILE_GT: return add_comparison(x, bounds, b, a, true);
    case TILE_GE: return add_comparison(x, bounds, b, a, false);
    default: return false;
  }
}

/* ---- strides and coordinates ---- */

typedef struct {
  BoxAccess *box;
  Bounds bounds;
  AxisDigit digit[MAX_MAP_RANK]; /* of the tile, those axes of the map that have one */
  Product stride[MAX_MAP_RANK]; /* of each axis of the map, in elements, without a symbol */
  bool open[MAX_MAP_RANK];      /* the coordinate may have more terms */
  bool lower[MAX_MAP_RANK];     /* the mask lets no negative coordinate through */
} Place;

/* Before the digits of the same axis with larger units; the contiguous axis comes first. */
static bool insert_digit(Place *p, const Product *t) {
  int *n = &p->box->map.rank, at = t->digit.axis == p->box->fast ? 0 : *n;
  if (*n == MAX_MAP_RANK) return false;
  while (at > 0 && p->digit[at - 1].axis == t->digit.axis && p->digit[at - 1].unit > t->digit.unit)
    at--;
  for (int i = (*n)++; i > at; i--) {
    p->digit[i] = p->digit[i - 1];
    p->stride[i] = p->stride[i - 1];
  }
  p->digit[at] = t->digit;
  p->stride[at] = *t;
  p->stride[at].kind = SYMBOL_NONE;
  p->stride[at].digit = (AxisDigit){0};
  return true;
}

/* Takes the coefficient of each digit of the tile's axes out of the address. */
static bool take_strides(Place *p, Sum *address, const NestStmt *nest) {
  int fast = p->box->fast;
  for (int i = 0; i < address->n;) {
    const Product t = address->t[i];
    if (t.kind != SYMBOL_AXIS) {
      i++;
      continue;
    }
    if (t.coef <= 0 || !insert_digit(p, &t)) return false;
    address->t[i] = address->t[--address->n];
  }
  const AxisDigit whole = {fast, 1, nest->axes[fast]->extent};
  if (p->box->map.rank < 2 || !same_digit(&p->digit[0], &whole)) return false;
  int32_t unit = 1;
  for (int i = 1; i < p->box->map.rank; i++) {
    if (p->digit[i].axis == fast || p->digit[i].unit != unit) return false;
    unit *= p->digit[i].extent;
    p->box->map.axes[i].box = p->digit[i].extent;
  }
  p->box->digits = p->box->map.rank - 1;
  return unit == nest->axes[1 - fast]->extent && p->stride[0].coef == 1 &&
         !p->stride[0].factors[0];
}

/* The stride of an axis along which all elements are at one place, of which the address has a
 * multiple; 0: it has none. */
static Product stride_of(const Sum *address, const Sum *at) {
  for (int i = 0; i < at->n; i++) {
    const Product *by = &at->t[i];
    for (int k = 0; by->kind && k < address->n; k++) {
      Product t = address->t[k];
      if (!same_symbol(&t, by) || by->factors[0] || t.coef <= 0 || t.coef % by->coef) continue;
      t.coef /= by->coef;
      t.kind = SYMBOL_NONE;
      t.var = NULL;
      return t;
    }
  }
  return (Product){0};
}

/* Axes of one element each, for numbers that the mask bounds. */
static bool add_single_axes(Place *p, const Sum *address) {
  BoxAccess *b = p->box;
  for (int k = 0; k < p->bounds.n; k++) {
    const AxisBound *bound = &p->bounds.b[k];
    if (bound->digit.axis != NO_AXIS) continue;
    Product stride = stride_of(address, &bound->at);
    if (b->map.rank == MAX_MAP_RANK || !bound->upper || stride.coef <= 0) return false;
    p->digit[b->map.rank] = (AxisDigit){.axis = NO_AXIS, .unit = k};
    p->stride[b->map.rank] = stride;
    b->map.axes[b->map.rank++].box = 1;
  }
  return true;
}

/* Elements count from the lower bound on, if there are both. */
static bool settle(AxisBound *b) {
  int64_t by;
  if (!b->lower) return true;
  if (!b->upper || !is_shifted(&b->at, &b->from, &by)) return false;
  if (by && b->extent.param) return false;
  b->at = b->from;
  b->extent.scale += by;
  return b->extent.scale > 0;
}

static AxisBound *bound_of_axis(Place *p, int i) {
  const AxisDigit *d = &p->digit[i];
  if (d->axis == NO_AXIS) return &p->bounds.b[d->unit];
  for (int k = 0; k < p->bounds.n; k++)
    if (same_digit(&p->bounds.b[k].digit, d)) return &p->bounds.b[k];
  return NULL;
}

/* Coordinates that the mask gives, whose part of the address it has. */
static bool take_bounds(Place *p, Sum *address) {
  BoxAccess *b = p->box;
  int found = 0;
  if (!add_single_axes(p, address)) return false;
  for (int i = 0; i < b->map.rank; i++) {
    AxisBound *bound = bound_of_axis(p, i);
    b->map.axes[i].extent = (LaunchValue){.scale = INT32_MAX};
    p->open[i] = !bound || !bound->upper;
    p->lower[i] = bound && bound->lower;
    if (!bound) continue;
    found++;
    if (!settle(bound)) return false;
    if (!bound->upper) continue;
    Sum stride = {1, {p->stride[i]}}, part;
    b->map.axes[i].extent = bound->extent;
    b->at[i] = bound->at;
    if (!multiply_sums(&part, &bound->at, &stride) || !add_sum(address, &part, -1)) return false;
  }
  return found == p->bounds.n;
}

/* May it be more than the 31 bits that a coordinate has? */
static bool is_far(const Product *t) {
  enum { FAR = 1 << 15 };
  return t->kind == SYMBOL_VAR && (t->wide || t->var->dtype == DT_I64 || t->coef >= FAR);
}

/* An axis whose stride the term is a multiple of. */
static int axis_of_term(const Place *p, const Product *t) {
  const BoxAccess *b = p->box;
  for (int i = b->map.rank - 1; i > 0; i--)
    if (p->open[i] && same_factors(&p->stride[i], t) && t->coef % p->stride[i].coef == 0) return i;
  bool near = (!t->factors[0] || !t->kind) && !is_far(t);
  return p->open[0] && near ? 0 : -1;
}

/* The rest of the address: to coordinates that no bound fixes, or an axis of its own. */
static bool place_term(Place *p, const Product *t) {
  BoxAccess *b = p->box;
  int axis = axis_of_term(p, t);
  Product at = {.coef = 1, .kind = t->kind, .var = t->var};
  if (axis < 0) {
    if (b->map.rank == MAX_MAP_RANK || t->coef <= 0) return false;
    axis = b->map.rank++;
    p->open[axis] = true;
    p->stride[axis] = *t;
    p->stride[axis].kind = SYMBOL_NONE;
    p->stride[axis].var = NULL;
    b->map.axes[axis] = (MapAxis){1, {.scale = INT32_MAX}, {0}};
  } else if (axis) {
    at.coef = t->coef / p->stride[axis].coef;
  } else {
    at = *t;
  }
  return add_product(&b->at[axis], at);
}

/* Strides that may be multiples of 16 bytes, which the launch checks; with option known_rows only
 * those that are, whatever the launch. */
static bool set_strides(Place *p, const Options *o, unsigned size) {
  TensorMap *m = &p->box->map;
  for (int i = 0; i < m->rank; i++) {
    const Product *s = &p->stride[i];
    NestVar *param = s->factors[0];
    int64_t bytes;
    if (s->factors[1] || __builtin_mul_overflow(s->coef, (int64_t)size, &bytes)) return false;
    m->axes[i].stride = (LaunchValue){bytes, param};
    int64_t known = bytes % MAP_ALIGN * ((param ? param->div : 1) % MAP_ALIGN);
    bool is_open = param && !o->known_rows;
    if (i && known % MAP_ALIGN && !is_open) return false;
  }
  return true;
}

/* A box begins at a multiple of 16 bytes along the contiguous axis, whatever the launch. */
static bool begins_aligned(const BoxAccess *b, unsigned size) {
  for (int k = 0; k < b->at[0].n; k++) {
    const Product *t = &b->at[0].t[k];
    int64_t known = t->coef % MAP_ALIGN * size;
    for (int f = 0; f < MAX_FACTORS && t->factors[f]; f++)
      known = known % MAP_ALIGN * (t->factors[f]->div % MAP_ALIGN);
    if (known % MAP_ALIGN) return false;
  }
  return true;
}

/* A box is zero before the tensor, where a load reads what is there: the middle of a larger one. */
static bool is_behind_base(const Place *p, const Definitions *d, const bool *assumed) {
  const BoxAccess *b = p->box;
  const bool *holds = not_negative(d->arena, d->n, &b->map, assumed);
  for (int i = 0; i < b->map.rank; i++) {
    for (int k = 0; k < b->at[i].n && !p->lower[i]; k++) {
      const Product *t = &b->at[i].t[k];
      if (t->coef < 0 || (t->kind == SYMBOL_VAR && !holds[t->var->id])) return false;
      for (int f = 0; f < MAX_FACTORS && t->factors[f]; f++)
        if (!holds[t->factors[f]->id]) return false;
    }
  }
  return true;
}

/* No coordinate has a natural number that would not fit into 31 bits where it is multiplied. */
static bool is_near(const BoxAccess *b, const NestVar *v) {
  for (int i = 0; i < b->map.rank; i++)
    for (int k = 0; k < b->at[i].n; k++)
      for (int f = 0; f < MAX_FACTORS; f++)
        if (b->at[i].t[k].factors[f] == v && b->at[i].t[k].wide) return false;
  return v->dtype == DT_I32;
}

/* The map's natural numbers: arguments whose sign the launch checks, as few as will do.
 * Interpreters run the code whatever the launch. */
static bool set_naturals(Place *p, const Definitions *d) {
  const Options *o = &d->n->options;
  bool *assumed = ARENA_ARRAY(d->arena, bool, d->n->nvars + 1);
  if (is_behind_base(p, d, assumed)) return true;
  if (o->known_rows || o->checked) return false;
  for (uint32_t i = 0; i < d->n->nparams; i++)
    assumed[d->n->params[i]->id] = is_signed_integer(d->n->params[i]->dtype);
  if (!is_behind_base(p, d, assumed)) return false;
  int n = 0;
  for (uint32_t i = 0; i < d->n->nparams; i++) {
    NestVar *v = d->n->params[i];
    bool was = assumed[v->id];
    assumed[v->id] = false;
    if (!was || is_behind_base(p, d, assumed)) continue;
    if (n == MAX_NATURAL || !is_near(p->box, v)) return false;
    assumed[v->id] = true;
    p->box->map.natural[n++] = v;
  }
  return true;
}

/* ---- writes ---- */

static NestVar *root_of(const Definitions *d, const Ref *r) {
  for (int depth = 0; r->kind == REF_VAR && depth < DEEPEST; depth++) {
    if (r->var->is_param) return r->var;
    const NestStmt *st = d->first[r->var->id];
    bool steps = st && (st->code == NEST_MOV || (st->code == NEST_OP && st->op == TILE_PTR_ADD));
    if (!steps) return NULL;
    r = &st->srcs[0];
  }
  return NULL;
}

NestVar *box_root(const Definitions *d, const NestStmt *st) {
  if (st->code == NEST_BULK_STORE || st->code == NEST_BULK_COPY)
    return nest_map_of(d->n, st)->base;
  return root_of(d, &st->mems[0].base);
}

/* Copies of boxes would need a fence after the kernel's own writes to global memory. */
static bool may_write(const Definitions *d, const NestBlock *b, const NestVar *base) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (!nest_writes_global(st)) continue;
    for (uint32_t r = 0; r < st->nregions; r++)
      if (may_write(d, st->regions[r], base)) return true;
    if (st->nregions) continue;
    const NestVar *root = box_root(d, st);
    if (!root || root == base) return true;
  }
  return false;
}

/* The access of the nest to global memory. */
static NestStmt *access_in(const NestStmt *nest, NestCode code) {
  NestStmt *st = nest->regions[0]->first;
  while (st && st->code != code) st = st->next;
  return st;
}

/* The tensor and the box's place in it, of an LD or ST of `nest`. */
static bool find_box(Expand *x, Place *p, const NestStmt *access) {
  Sum address;
  BoxAccess *out = p->box;
  unsigned size = dtype_bytes(access->type);
  const Mem *mem = &access->mems[0];
  if (x->nest->layout->rank != 2 || mem->bytes.n || mem->bytes.c) return false;
  NestVar *base = expand_pointer(x, &mem->base, size, &address);
  if (!base || base->div % MAP_ALIGN || dtype_bytes(base->elem) != size) return false;
  out->map.base = base;
  out->map.dtype = access->type;
  if (!add_bounds(x, &p->bounds, &access->guard)) return false;
  if (!take_strides(p, &address, x->nest) || !take_bounds(p, &address)) return false;
  for (int i = 0; i < address.n; i++)
    if (!place_term(p, &address.t[i])) return false;
  if (!begins_aligned(out, size)) return false;
  return set_strides(p, &x->d->n->options, size) && set_naturals(p, x->d);
}

bool box_access(BoxAccess *out, const Definitions *d, const NestStmt *loop, const NestStmt *nest) {
  Expand x = {.d = d, .loop = loop, .nest = nest};
  *out = (BoxAccess){.fast = out->fast};
  Place p = {.box = out};
  return find_box(&x, &p, access_in(nest, NEST_LD)) && !may_write(d, d->n->body, out->map.base);
}

/* Each is set once, so that it still has the value of which the address was made. */
static bool has_settled_coordinates(const BoxAccess *b, const Definitions *d) {
  for (int i = 0; i < b->map.rank; i++)
    for (int k = 0; k < b->at[i].n; k++)
      if (b->at[i].t[k].kind == SYMBOL_VAR && d->count[b->at[i].t[k].var->id] != 1) return false;
  return true;
}

bool box_store_access(BoxAccess *out, const Definitions *d, const NestStmt *nest) {
  Expand x = {.d = d, .nest = nest};
  *out = (BoxAccess){.fast = out->fast};
  Place p = {.box = out};
  return find_box(&x, &p, access_in(nest, NEST_ST)) && out->digits == 1 &&
         has_settled_coordinates(out, d);
}
