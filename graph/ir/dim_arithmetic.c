/* Arithmetic of sizes: sums and products in their normal form, quotients and remainders, and the
 * ranges that simplify them. */
#include <string.h>

#include "graph/ir/dim_state.h"

/* ---- sums and products ---- */

/* A coefficient and atoms. */
typedef struct {
  int64_t coefficient;
  const Dim *atoms;
  uint32_t n;
} Product;

/* A constant and products, merged as they are added.  It takes some kilobytes of the stack. */
typedef struct {
  Dims *d;
  int64_t constant;
  uint32_t n;
  bool huge;
  Product term[TERMS_MAX];
} Sum;

/* ---- products: a coefficient and atoms ---- */

/* x as a product: of one atom if it is an atom itself. */
static Product as_product(const Dim *x) {
  if ((*x)->kind == DIM_PRODUCT) return (Product){(*x)->value, (*x)->args, (*x)->n};
  return (Product){1, x, 1};
}

static Dim dim_make_product(Dims *d, Product p) {
  if (p.n == 0 || p.coefficient == 0) return dim_int(d, p.n ? 0 : p.coefficient);
  if (p.n == 1 && p.coefficient == 1) return p.atoms[0];
  DimExpr x = {.kind = DIM_PRODUCT, .value = p.coefficient, .n = p.n, .args = p.atoms};
  return dim_intern(d, x);
}

/* Higher degrees first, then by atoms: s0*s1, s0, s1. */
static int compare_terms(const Product *a, const Product *b) {
  if (a->n != b->n) return a->n > b->n ? -1 : 1;
  for (uint32_t i = 0; i < a->n; i++) {
    int c = dim_compare(a->atoms[i], b->atoms[i]);
    if (c) return c;
  }
  return 0;
}

/* ---- sums: a constant and products, merged as they are added ---- */

/* Terms are left as they are: there are kilobytes of them. */
static void dim_sum_begin(Sum *s, Dims *d) {
  s->d = d;
  s->constant = 0;
  s->n = 0;
  s->huge = false;
}

static void sum_add_product(Sum *s, Product p) {
  if (p.coefficient == 0) return;
  uint32_t i = 0;
  while (i < s->n && compare_terms(&s->term[i], &p) < 0) i++;
  if (i < s->n && compare_terms(&s->term[i], &p) == 0) {
    int64_t *c = &s->term[i].coefficient;
    if (__builtin_add_overflow(*c, p.coefficient, c)) s->huge = true;
    if (*c == 0) memmove(&s->term[i], &s->term[i + 1], (--s->n - i) * sizeof(Product));
    return;
  }
  if (s->n == TERMS_MAX) {
    s->huge = true;
    return;
  }
  memmove(&s->term[i + 1], &s->term[i], (s->n++ - i) * sizeof(Product));
  s->term[i] = p;
}

/* Adds factor * *x; x lives as long as s. */
static void dim_sum_add(Sum *s, const Dim *x, int64_t factor) {
  if ((*x)->kind == DIM_HUGE) s->huge = true;
  if ((*x)->kind == DIM_SUM)
    for (uint32_t i = 0; i < (*x)->n; i++) dim_sum_add(s, &(*x)->args[i], factor);
  if ((*x)->kind == DIM_SUM || (*x)->kind == DIM_INT) {
    int64_t c;
    if (__builtin_mul_overflow((*x)->value, factor, &c) ||
        __builtin_add_overflow(s->constant, c, &s->constant))
      s->huge = true;
    return;
  }
  Product p = as_product(x);
  if (__builtin_mul_overflow(p.coefficient, factor, &p.coefficient)) s->huge = true;
  sum_add_product(s, p);
}

static void recombine(Sum *s);

/* Adds factor * *x; x lives as long as s. */
static Dim dim_sum_finish(Sum *s) {
  Dims *d = s->d;
  if (s->n > 1) recombine(s);
  if (s->huge) return d->huge;
  if (s->n == 0) return dim_int(d, s->constant);
  if (s->n == 1 && s->constant == 0) return dim_make_product(d, s->term[0]);
  Dim terms[TERMS_MAX];
  for (uint32_t i = 0; i < s->n; i++) terms[i] = dim_make_product(d, s->term[i]);
  return dim_intern(d, (DimExpr){.kind = DIM_SUM, .value = s->constant, .n = s->n, .args = terms});
}

static Dim linear_combination(Dims *d, Dim a, int64_t times_a, Dim b, int64_t times_b) {
  Sum s;
  dim_sum_begin(&s, d);
  dim_sum_add(&s, &a, times_a);
  dim_sum_add(&s, &b, times_b);
  return dim_sum_finish(&s);
}

static Dim sum_of(Dims *d, Dim a, Dim b) { return linear_combination(d, a, 1, b, 1); }
static Dim dim_difference(Dims *d, Dim a, Dim b) { return linear_combination(d, a, 1, b, -1); }
Dim dim_add(Dims *d, Dim a, Dim b) { return dim_known(d, OP_ADD, a, b, sum_of); }
Dim dim_sub(Dims *d, Dim a, Dim b) { return dim_known(d, OP_SUB, a, b, dim_difference); }

/* ---- multiplication ---- */

/* The terms of x; its constant is the last of them. */
static uint32_t dim_term_count(Dim x) { return x->kind == DIM_SUM ? x->n + (x->value != 0) : 1; }

static Product dim_term_at(const Dim *x, uint32_t i) {
  if ((*x)->kind == DIM_INT) return (Product){(*x)->value, NULL, 0};
  if ((*x)->kind != DIM_SUM) return as_product(x);
  if (i == (*x)->n) return (Product){(*x)->value, NULL, 0};
  return as_product(&(*x)->args[i]);
}

static bool multiply_terms(Dims *d, Product a, Product b, Product *out) {
  if (a.n + b.n > DEPTH_MAX) return false;
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &out->coefficient)) return false;
  Dim *atoms = ARENA_ARRAY(d->arena, Dim, a.n + b.n);
  uint32_t i = 0, j = 0, n = 0;
  while (i < a.n || j < b.n)
    if (j == b.n || (i < a.n && dim_compare(a.atoms[i], b.atoms[j]) <= 0))
      atoms[n++] = a.atoms[i++];
    else atoms[n++] = b.atoms[j++];
  out->atoms = atoms;
  out->n = n;
  return true;
}

static void dim_sum_add_term(Sum *s, Product p) {
  if (p.n) sum_add_product(s, p);
  else if (__builtin_add_overflow(s->constant, p.coefficient, &s->constant)) s->huge = true;
}

/* Adds p * x. */
static void add_times_product(Sum *s, Product p, Dim x) {
  for (uint32_t i = 0; i < dim_term_count(x) && !s->huge; i++) {
    Product t;
    if (multiply_terms(s->d, p, dim_term_at(&x, i), &t)) dim_sum_add_term(s, t);
    else s->huge = true;
  }
}

static Dim product_of_two(Dims *d, Dim a, Dim b) {
  Sum s;
  dim_sum_begin(&s, d);
  for (uint32_t i = 0; i < dim_term_count(a); i++) add_times_product(&s, dim_term_at(&a, i), b);
  return dim_sum_finish(&s);
}

Dim dim_mul(Dims *d, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE) return d->huge;
  if (dim_is(a, 1)) return b;
  if (dim_is(b, 1)) return a;
  return dim_known(d, OP_MUL, a, b, product_of_two);
}

/* ---- joining quotients and remainders ----
 *
 * A remainder e % b in a sum, times some product k, joins
 *   k*b * (e // b)        to k*e
 *   k*b * ((e // b) % c)  to k * (e % (b*c)), where c > 0
 * so that an index that was split into subscripts and put together again is the index itself. */

static Dim dim_make_pair(Dims *d, DimKind kind, Dim a, Dim b) {
  return dim_intern(d, (DimExpr){.kind = kind, .n = 2, .args = (Dim[]){a, b}});
}

/* p without its atom i. */
static Product product_without(Dims *d, Product p, uint32_t i) {
  Dim *atoms = ARENA_ARRAY(d->arena, Dim, p.n);
  for (uint32_t k = 0, n = 0; k < p.n; k++)
    if (k != i) atoms[n++] = p.atoms[k];
  return (Product){p.coefficient, atoms, p.n - 1};
}

static void negate_into(Sum *s, const Sum *x) {
  for (uint32_t i = 0; i < x->n; i++) {
    Product p = x->term[i];
    if (__builtin_sub_overflow(0, p.coefficient, &p.coefficient)) s->huge = true;
    sum_add_product(s, p);
  }
}

/* Are all terms of x, which has no constant, terms of s? */
static bool has_terms(const Sum *s, const Sum *x) {
  if (x->huge || x->constant || x->n == 0) return false;
  for (uint32_t i = 0, k = 0; i < x->n; i++, k++) {
    while (k < s->n && compare_terms(&s->term[k], &x->term[i]) < 0) k++;
    if (k == s->n || compare_terms(&s->term[k], &x->term[i]) ||
        s->term[k].coefficient != x->term[i].coefficient)
      return false;
  }
  return true;
}

/* The atom that e // b is, if it is one. */
static Dim quotient_atom(Dims *d, Dim e, Dim b) {
  if (e->kind != DIM_FLOORDIV || dim_range(d, b).lo < 0)
    return dim_make_pair(d, DIM_FLOORDIV, e, b);
  return dim_make_pair(d, DIM_FLOORDIV, e->args[0], dim_mul(d, e->args[1], b));
}

/* If k*b*q and k*(e % b) are terms of s, puts k*e in their place. */
static bool join_quotient(Sum *s, Product remainder, Product k, Dim e, Dim b, Dim q) {
  Sum pair;
  dim_sum_begin(&pair, s->d);
  Product kq;
  if (!multiply_terms(s->d, k, (Product){1, &q, 1}, &kq)) return false;
  add_times_product(&pair, kq, b);
  sum_add_product(&pair, remainder);
  if (!has_terms(s, &pair)) return false;
  negate_into(s, &pair);
  add_times_product(s, k, e);
  return true;
}

/* The divisor c of an atom q % c of p, which is k times it; NULL if p is none such. */
static Dim product_remainder(Dims *d, Product p, Dim q, Product k) {
  for (uint32_t i = 0; i < p.n; i++) {
    if (p.atoms[i]->kind != DIM_MOD || p.atoms[i]->args[0] != q) continue;
    Product rest = product_without(d, p, i);
    if (rest.coefficient == k.coefficient && compare_terms(&rest, &k) == 0)
      return p.atoms[i]->args[1];
  }
  return NULL;
}

static bool join_remainder(Sum *s, Product remainder, Product k, Dim e, Dim b, Dim q) {
  Dims *d = s->d;
  Product kb;
  if (b->kind == DIM_SUM || !multiply_terms(d, k, dim_term_at(&b, 0), &kb)) return false;
  for (uint32_t i = 0; i < s->n; i++) {
    Product t = s->term[i];
    Dim c = product_remainder(d, t, q, kb);
    if (!c || dim_range(d, c).lo < 0) continue;
    Sum pair;
    dim_sum_begin(&pair, d);
    sum_add_product(&pair, remainder);
    sum_add_product(&pair, t);
    negate_into(s, &pair);
    add_times_product(s, k, dim_mod(d, e, dim_mul(d, b, c)));
    return true;
  }
  return false;
}

static bool join_term(Sum *s, Product t) {
  for (uint32_t i = 0; i < t.n; i++) {
    if (t.atoms[i]->kind != DIM_MOD) continue;
    Dim e = t.atoms[i]->args[0], b = t.atoms[i]->args[1];
    Product k = product_without(s->d, t, i);
    Dim q = quotient_atom(s->d, e, b);
    if (join_quotient(s, t, k, e, b, q) || join_remainder(s, t, k, e, b, q)) return true;
  }
  return false;
}

/* Each step leaves fewer remainders. */
static void recombine(Sum *s) {
  for (uint32_t i = 0; i < s->n && !s->huge; i++)
    if (join_term(s, s->term[i])) i = UINT32_MAX; /* from the start */
}

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
static void extract_factor(Dims *d, Dim a, Product by, Dim *quotient, Dim *rest) {
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

/* Divides by a sum, whose first term says what it may divide. */
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

/* Nothing is assumed of expressions without indices: they are sizes, which print unchanged. */
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

static Dim extreme_bound(Dims *d, Dim x, bool above);

static Dim bound_sum(Dims *d, Dim x, bool above) {
  Sum sum;
  dim_sum_begin(&sum, d);
  sum.constant = x->value;
  Dim *terms = ARENA_ARRAY(d->arena, Dim, x->n); /* the sum points to them */
  for (uint32_t i = 0; i < x->n; i++) {
    terms[i] = extreme_bound(d, x->args[i], above);
    if (!terms[i]) return NULL;
    dim_sum_add(&sum, &terms[i], 1);
  }
  return dim_sum_finish(&sum);
}

/* The bound of a product of atoms that are not negative. */
static Dim bound_product(Dims *d, Dim x, bool above) {
  for (uint32_t i = 0; i < x->n; i++)
    if (dim_range(d, x->args[i]).lo < 0) return NULL;
  if (above != (x->value > 0)) return dim_int(d, 0);
  Dim product = dim_int(d, x->value);
  for (uint32_t i = 0; i < x->n && product; i++) {
    Dim atom = extreme_bound(d, x->args[i], true);
    product = atom ? dim_mul(d, product, atom) : NULL;
  }
  return product;
}

static Dim bound_division(Dims *d, Dim x, bool above) {
  Dim a = x->args[0], b = x->args[1];
  if (b->indexed || dim_range(d, b).lo <= 0) return NULL;
  if (x->kind == DIM_MOD) return above ? dim_sub(d, b, dim_int(d, 1)) : dim_int(d, 0);
  a = extreme_bound(d, a, above);
  return a ? dim_floordiv(d, a, b) : NULL;
}

/* A bound of x that has no indices; NULL if none is known. */
static Dim extreme_bound(Dims *d, Dim x, bool above) {
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
  x = x->indexed ? extreme_bound(d, x, false) : NULL;
  return x && dim_range(d, x).lo >= 0;
}

/* Is 0 <= a < b? */
static bool is_below(Dims *d, Dim a, Dim b) {
  return not_negative(d, a) && not_negative(d, dim_sub(d, dim_sub(d, b, a), dim_int(d, 1)));
}

static bool is_quotient(Dims *d, Dim a, Dim b, Dim q) {
  return is_below(d, dim_is(q, 0) ? a : dim_sub(d, a, dim_mul(d, q, b)), b);
}

/* Is a // b one integer, whatever the symbols are?  Tried are 0, -1, and what a's least value
 * gives. */
static bool is_quotient_settled(Dims *d, Dim a, Dim b, Dim *quotient) {
  int64_t lo = dim_range(d, a).lo, least = 0;
  if (dim_is_int(b) && b->value > 0 && lo != INT64_MIN) least = floor_div(lo, b->value);
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

static int64_t greatest_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t r = b == -1 ? 0 : a % b;
    a = b;
    b = r;
  }
  return a;
}

/* The factor common to both; without a coefficient if that has no absolute value. */
static Product common_factor(Dims *d, Product a, Product b) {
  Dim *atoms = ARENA_ARRAY(d->arena, Dim, a.n);
  uint32_t n = 0;
  for (uint32_t i = 0, j = 0; i < a.n && j < b.n;) {
    int c = dim_compare(a.atoms[i], b.atoms[j]);
    if (c == 0) atoms[n++] = a.atoms[i];
    i += c <= 0;
    j += c >= 0;
  }
  int64_t k = greatest_divisor(a.coefficient, b.coefficient);
  return (Product){k == INT64_MIN ? 1 : k < 0 ? -k : k, atoms, n};
}

/* If g, c > 0, (g*h + l) // (g*c) = (h + l // g) // c, provided that l // g is known. */
static bool split_factor(Dims *d, Dim a, Dim b, Product g, Split *out) {
  Product c;
  Dim high, low, q, by = dim_make_product(d, g);
  if (dim_is(by, 1) || dim_range(d, by).lo <= 0 || !divide_term(d, dim_term_at(&b, 0), g, &c))
    return false;
  if (dim_range(d, dim_make_product(d, c)).lo <= 0) return false;
  extract_factor(d, a, g, &high, &low);
  if (!is_quotient_settled(d, low, by, &q)) return false;
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

static bool split_by_divisor(Dims *d, Dim a, Dim b, Split *out) {
  Dim quotient, rest, k, zero = dim_int(d, 0);
  take_out_sum(d, a, b, &quotient, &rest);
  if (!is_quotient_settled(d, rest, b, &k)) return false;
  rest = dim_sub(d, rest, dim_mul(d, k, b));
  *out = (Split){dim_add(d, quotient, k), zero, b, zero, rest};
  return true;
}

static bool split_multiples(Dims *d, Dim a, Dim b, Split *out) {
  Dim quotient, rest, zero = dim_int(d, 0);
  extract_factor(d, a, dim_term_at(&b, 0), &quotient, &rest);
  *out = (Split){quotient, rest, b, dim_int(d, 1), zero};
  return !dim_is(quotient, 0);
}

/* Makes a step on the way to a normal form; false where a // b and a % b stay as they are. */
static bool split_quotient(Dims *d, Dim a, Dim b, Split *out) {
  Dim k, zero = dim_int(d, 0);
  if (is_quotient_settled(d, a, b, &k)) {
    *out = (Split){k, zero, b, zero, dim_sub(d, a, dim_mul(d, k, b))};
    return true;
  }
  if (b->kind == DIM_SUM) return a->indexed && split_by_divisor(d, a, b, out);
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
  if (split_quotient(d, a, b, &s))
    return dim_add(d, s.quotient, dim_floordiv(d, s.rest, s.divisor));
  if (a->kind == DIM_FLOORDIV && dim_range(d, b).lo > 0) /* (x // y) // b */
    return dim_floordiv(d, a->args[0], dim_mul(d, a->args[1], b));
  Dim c = a->kind == DIM_MOD && a->indexed ? positive_ratio(d, a->args[1], b) : NULL;
  if (c) return dim_mod(d, dim_floordiv(d, a->args[0], b), c); /* (x % (b*c)) // b */
  return dim_make_pair(d, DIM_FLOORDIV, a, b);
}

static Dim mod(Dims *d, Dim a, Dim b) {
  Split s;
  if (split_quotient(d, a, b, &s))
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
                                                   : dim_int(d, floor_div(a->value, b->value));
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
    return dim_int(d, b->value == -1 ? 0 : floor_mod(a->value, b->value));
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

static Dim make_extreme(Dims *d, DimKind kind, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE) return d->huge;
  if (dim_at_most(d, a, b)) return kind == DIM_MAX ? b : a;
  if (dim_at_most(d, b, a)) return kind == DIM_MAX ? a : b;
  return dim_compare(a, b) < 0 ? dim_make_pair(d, kind, a, b) : dim_make_pair(d, kind, b, a);
}

Dim dim_max(Dims *d, Dim a, Dim b) { return make_extreme(d, DIM_MAX, a, b); }
Dim dim_min(Dims *d, Dim a, Dim b) { return make_extreme(d, DIM_MIN, a, b); }
