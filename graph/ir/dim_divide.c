/* Quotients and remainders of sizes, and what must be known to simplify them. */
#include "graph/ir/dim_state.h"

/* ---- quotients of terms ---- */

/* p / q, if q's atoms are among p's and the coefficients divide. */
static bool divide_term(Dims *d, Product p, Product q, Product *out) {
  if (q.coefficient == -1 && p.coefficient == INT64_MIN) return false;
  if (p.coefficient % q.coefficient != 0 || q.n > p.n) return false;
  Dim *atoms = ARENA_ARRAY(d->arena, Dim, p.n);
  uint32_t n = 0, j = 0;
  for (uint32_t i = 0; i < p.n; i++)
    if (j < q.n && p.atoms[i] == q.atoms[j]) j++;
    else atoms[n++] = p.atoms[i];
  *out = (Product){p.coefficient / q.coefficient, atoms, n};
  return j == q.n;
}

static bool never_zero(const Dims *d, Dim x) {
  DimRange r = dim_range(d, x);
  return r.lo > 0 || r.hi < 0;
}

/* a = quotient * by + rest, with the terms of a that `by` divides in the quotient. */
static void take_out(Dims *d, Dim a, Product by, Dim *quotient, Dim *rest) {
  Sum q, r;
  dim_sum_begin(&q, d);
  dim_sum_begin(&r, d);
  for (uint32_t i = 0; i < dim_term_count(a); i++) {
    Product t = dim_term_at(&a, i), x;
    if (divide_term(d, t, by, &x)) dim_sum_add_term(&q, x);
    else dim_sum_add_term(&r, t);
  }
  *quotient = dim_sum_finish(&q);
  *rest = dim_sum_finish(&r);
}

/* The first of a's terms that `by` divides, divided; NULL if there is none. */
static Dim first_multiple(Dims *d, Dim a, Product by) {
  for (uint32_t i = 0; i < dim_term_count(a); i++) {
    Product x;
    if (divide_term(d, dim_term_at(&a, i), by, &x)) return dim_make_product(d, x);
  }
  return NULL;
}

/* The same by a sum, whose first term says what it may divide. */
static void take_out_sum(Dims *d, Dim a, Dim b, Dim *quotient, Dim *rest) {
  *quotient = dim_int(d, 0);
  *rest = a;
  for (uint32_t i = 0; i < TERMS_MAX && (*rest)->kind != DIM_HUGE; i++) {
    Dim q = first_multiple(d, *rest, dim_term_at(&b, 0));
    if (!q || dim_is(q, 0)) return;
    *quotient = dim_add(d, *quotient, q);
    *rest = dim_sub(d, *rest, dim_mul(d, q, b));
  }
}

/* ---- assumptions: where an expression is defined, its indices have values and its divisors are
 * not 0 ---- */

static void assume_symbol(Dims *d, Dim x) {
  if (x->kind != DIM_SYMBOL || d->ranges.data[x->symbol].lo > 0) return;
  vec_push(d->arena, &d->assumed, ((Assumed){x->symbol, d->ranges.data[x->symbol].lo}));
  d->ranges.data[x->symbol].lo = 1;
}

/* No symbol is negative, so those of a product that is not 0 are positive. */
static void assume_not_zero(Dims *d, Dim x) {
  if (x->kind == DIM_PRODUCT)
    for (uint32_t i = 0; i < x->n; i++) assume_symbol(d, x->args[i]);
  else assume_symbol(d, x);
}

static void assume_parts(Dims *d, Dim x) {
  if (!x->indexed) return;
  if (x->kind == DIM_SYMBOL) assume_not_zero(d, d->limits.data[x->symbol]);
  if (x->kind == DIM_FLOORDIV || x->kind == DIM_MOD) assume_not_zero(d, x->args[1]);
  for (uint32_t i = 0; i < x->n; i++) assume_parts(d, x->args[i]);
}

/* Of expressions without indices nothing is assumed: they are sizes, which print as they were. */
static size_t assume_defined(Dims *d, Dim x) {
  size_t before = d->assumed.len;
  assume_parts(d, x);
  return before;
}

static void unassume(Dims *d, size_t before) {
  while (d->assumed.len > before) {
    Assumed a = d->assumed.data[--d->assumed.len];
    d->ranges.data[a.symbol].lo = a.lo;
  }
}

/* ---- bounds ---- */

static Dim bound(Dims *d, Dim x, bool above);

static Dim bound_sum(Dims *d, Dim x, bool above) {
  Sum sum;
  dim_sum_begin(&sum, d);
  sum.constant = x->value;
  Dim *terms = ARENA_ARRAY(d->arena, Dim, x->n); /* the sum points to them */
  for (uint32_t i = 0; i < x->n; i++) {
    terms[i] = bound(d, x->args[i], above);
    if (!terms[i]) return NULL;
    dim_sum_add(&sum, &terms[i], 1);
  }
  return dim_sum_finish(&sum);
}

/* Of atoms that are not negative. */
static Dim bound_product(Dims *d, Dim x, bool above) {
  for (uint32_t i = 0; i < x->n; i++)
    if (dim_range(d, x->args[i]).lo < 0) return NULL;
  if (above != (x->value > 0)) return dim_int(d, 0);
  Dim product = dim_int(d, x->value);
  for (uint32_t i = 0; i < x->n && product; i++) {
    Dim atom = bound(d, x->args[i], true);
    product = atom ? dim_mul(d, product, atom) : NULL;
  }
  return product;
}

static Dim bound_division(Dims *d, Dim x, bool above) {
  Dim a = x->args[0], b = x->args[1];
  if (b->indexed || dim_range(d, b).lo <= 0) return NULL;
  if (x->kind == DIM_MOD) return above ? dim_sub(d, b, dim_int(d, 1)) : dim_int(d, 0);
  a = bound(d, a, above);
  return a ? dim_floordiv(d, a, b) : NULL;
}

/* A bound of x that has no indices; NULL if none is known. */
static Dim bound(Dims *d, Dim x, bool above) {
  if (!x->indexed) return x;
  switch (x->kind) {
    case DIM_SYMBOL:
      if (!above) return dim_int(d, 0);
      x = d->limits.data[x->symbol];
      return x->indexed ? NULL : dim_sub(d, x, dim_int(d, 1));
    case DIM_SUM: return bound_sum(d, x, above);
    case DIM_PRODUCT: return bound_product(d, x, above);
    case DIM_FLOORDIV:
    case DIM_MOD: return bound_division(d, x, above);
    default: return NULL;
  }
}

static bool not_negative(Dims *d, Dim x) {
  if (dim_range(d, x).lo >= 0) return true;
  x = x->indexed ? bound(d, x, false) : NULL;
  return x && dim_range(d, x).lo >= 0;
}

/* Is 0 <= a < b? */
static bool below(Dims *d, Dim a, Dim b) {
  return not_negative(d, a) && not_negative(d, dim_sub(d, dim_sub(d, b, a), dim_int(d, 1)));
}

static bool is_quotient(Dims *d, Dim a, Dim b, Dim q) {
  return below(d, dim_is(q, 0) ? a : dim_sub(d, a, dim_mul(d, q, b)), b);
}

/* Is a // b one integer, whatever the symbols are?  Tried are 0, -1, and what a's least value
 * gives. */
static bool settled(Dims *d, Dim a, Dim b, Dim *quotient) {
  int64_t lo = dim_range(d, a).lo, least = 0;
  if (dim_is_int(b) && b->value > 0 && lo != INT64_MIN) least = dim_floor_div(lo, b->value);
  *quotient = dim_int(d, least);
  if (is_quotient(d, a, b, *quotient)) return true;
  if (lo >= 0 && least == 0) return false;
  *quotient = dim_int(d, lo >= 0 ? 0 : -1);
  if (is_quotient(d, a, b, *quotient)) return true;
  *quotient = dim_int(d, 0);
  return lo < 0 && least != 0 && is_quotient(d, a, b, *quotient);
}

/* ---- division ---- */

/* a // b = quotient + rest // divisor, and a % b = factor * (rest % divisor) + remainder. */
typedef struct {
  Dim quotient, rest, divisor, factor, remainder;
} Split;

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = b == -1 ? 0 : a % b;
    a = b;
    b = r;
  }
  return a;
}

/* What divides both; without a common coefficient if that has no absolute value. */
static Product common_factor(Dims *d, Product a, Product b) {
  Dim *atoms = ARENA_ARRAY(d->arena, Dim, a.n);
  uint32_t n = 0;
  for (uint32_t i = 0, j = 0; i < a.n && j < b.n;) {
    int c = dim_compare(a.atoms[i], b.atoms[j]);
    if (c == 0) atoms[n++] = a.atoms[i];
    i += c <= 0;
    j += c >= 0;
  }
  int64_t k = gcd(a.coefficient, b.coefficient);
  return (Product){k == INT64_MIN ? 1 : k < 0 ? -k : k, atoms, n};
}

/* With g, c > 0: (g*h + l) // (g*c) = (h + l // g) // c, if l // g is known. */
static bool split_factor(Dims *d, Dim a, Dim b, Product g, Split *out) {
  Product c;
  Dim high, low, q, by = dim_make_product(d, g);
  if (dim_is(by, 1) || dim_range(d, by).lo <= 0 || !divide_term(d, dim_term_at(&b, 0), g, &c))
    return false;
  if (dim_range(d, dim_make_product(d, c)).lo <= 0) return false;
  take_out(d, a, g, &high, &low);
  if (!settled(d, low, by, &q)) return false;
  *out = (Split){.quotient = dim_int(d, 0),
                 .rest = dim_add(d, high, q),
                 .divisor = dim_make_product(d, c),
                 .factor = by,
                 .remainder = dim_sub(d, low, dim_mul(d, q, by))};
  return true;
}

static bool split_factors(Dims *d, Dim a, Dim b, Split *out) {
  for (uint32_t i = 0; i < dim_term_count(a); i++) {
    Product g = common_factor(d, dim_term_at(&a, i), dim_term_at(&b, 0));
    if (split_factor(d, a, b, g, out)) return true;
  }
  return false;
}

static bool split_sum(Dims *d, Dim a, Dim b, Split *out) {
  Dim quotient, rest, k, zero = dim_int(d, 0);
  take_out_sum(d, a, b, &quotient, &rest);
  if (!settled(d, rest, b, &k)) return false;
  rest = dim_sub(d, rest, dim_mul(d, k, b));
  *out = (Split){dim_add(d, quotient, k), zero, b, zero, rest};
  return true;
}

static bool split_multiples(Dims *d, Dim a, Dim b, Split *out) {
  Dim quotient, rest, zero = dim_int(d, 0);
  take_out(d, a, dim_term_at(&b, 0), &quotient, &rest);
  *out = (Split){quotient, rest, b, dim_int(d, 1), zero};
  return !dim_is(quotient, 0);
}

/* One step on the way to a normal form; false where a // b and a % b stay as they are. */
static bool split(Dims *d, Dim a, Dim b, Split *out) {
  Dim k, zero = dim_int(d, 0);
  if (settled(d, a, b, &k)) {
    *out = (Split){k, zero, b, zero, dim_sub(d, a, dim_mul(d, k, b))};
    return true;
  }
  if (b->kind == DIM_SUM) return a->indexed && split_sum(d, a, b, out);
  if (!never_zero(d, b)) return false;
  return split_multiples(d, a, b, out) || (a->indexed && split_factors(d, a, b, out));
}

/* m / b, if b divides it and that is positive; else NULL. */
static Dim positive_ratio(Dims *d, Dim m, Dim b) {
  if (b->kind == DIM_SUM || m->kind == DIM_SUM || !never_zero(d, b)) return NULL;
  Product c;
  if (!divide_term(d, dim_term_at(&m, 0), dim_term_at(&b, 0), &c)) return NULL;
  Dim ratio = dim_make_product(d, c);
  return dim_range(d, ratio).lo > 0 ? ratio : NULL;
}

static Dim floordiv(Dims *d, Dim a, Dim b) {
  Split s;
  if (split(d, a, b, &s)) return dim_add(d, s.quotient, dim_floordiv(d, s.rest, s.divisor));
  if (a->kind == DIM_FLOORDIV && dim_range(d, b).lo > 0) /* (x // y) // b */
    return dim_floordiv(d, a->args[0], dim_mul(d, a->args[1], b));
  Dim c = a->kind == DIM_MOD && a->indexed ? positive_ratio(d, a->args[1], b) : NULL;
  if (c) return dim_mod(d, dim_floordiv(d, a->args[0], b), c); /* (x % (b*c)) // b */
  return dim_make_pair(d, DIM_FLOORDIV, a, b);
}

static Dim mod(Dims *d, Dim a, Dim b) {
  Split s;
  if (split(d, a, b, &s))
    return dim_add(d, dim_mul(d, s.factor, dim_mod(d, s.rest, s.divisor)), s.remainder);
  if (a->kind == DIM_MOD && positive_ratio(d, a->args[1], b)) /* (x % (b*c)) % b */
    return dim_mod(d, a->args[0], b);
  return dim_make_pair(d, DIM_MOD, a, b);
}

/* Runs `divide` where a // b is defined. */
static Dim where_defined(Dims *d, Dim a, Dim b, Dim (*divide)(Dims *, Dim, Dim)) {
  size_t before = assume_defined(d, a);
  if (a->indexed) assume_not_zero(d, b);
  Dim result = divide(d, a, b);
  unassume(d, before);
  return result;
}

static Dim defined_floordiv(Dims *d, Dim a, Dim b) { return where_defined(d, a, b, floordiv); }
static Dim defined_mod(Dims *d, Dim a, Dim b) { return where_defined(d, a, b, mod); }

Dim dim_floordiv(Dims *d, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE || dim_is(b, 0)) return d->huge;
  if (dim_is_int(a) && dim_is_int(b))
    return a->value == INT64_MIN && b->value == -1 ? d->huge
                                                   : dim_int(d, dim_floor_div(a->value, b->value));
  if (dim_is(b, 1) || dim_is(a, 0)) return a;
  if (a == b && never_zero(d, b)) return dim_int(d, 1);
  return dim_known(d, OP_FLOORDIV, a, b, defined_floordiv);
}

Dim dim_quotient(Dims *d, Dim a, Dim b) {
  size_t before = d->assumed.len;
  assume_not_zero(d, b);
  Dim q = dim_floordiv(d, a, b);
  unassume(d, before);
  return q;
}

Dim dim_mod(Dims *d, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE || dim_is(b, 0)) return d->huge;
  if (dim_is_int(a) && dim_is_int(b))
    return dim_int(d, b->value == -1 ? 0 : dim_floor_mod(a->value, b->value));
  if (dim_is(b, 1) || dim_is(a, 0) || (a == b && never_zero(d, b))) return dim_int(d, 0);
  return dim_known(d, OP_MOD, a, b, defined_mod);
}

/* ---- the larger and the smaller ---- */

bool dim_at_most(Dims *d, Dim a, Dim b) {
  if (a == b) return true;
  Dim gap = dim_sub(d, b, a);
  size_t before = assume_defined(d, gap);
  bool ok = not_negative(d, gap);
  unassume(d, before);
  return ok;
}

static Dim either(Dims *d, DimKind kind, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE) return d->huge;
  if (dim_at_most(d, a, b)) return kind == DIM_MAX ? b : a;
  if (dim_at_most(d, b, a)) return kind == DIM_MAX ? a : b;
  return dim_compare(a, b) < 0 ? dim_make_pair(d, kind, a, b) : dim_make_pair(d, kind, b, a);
}

Dim dim_max(Dims *d, Dim a, Dim b) { return either(d, DIM_MAX, a, b); }
Dim dim_min(Dims *d, Dim a, Dim b) { return either(d, DIM_MIN, a, b); }
