/* Sums and products of sizes in their normal form. */
#include <string.h>

#include "graph/ir/dim_state.h"

/* ---- products: a coefficient and atoms ---- */

/* x stands for a product of one atom if it is an atom itself. */
static Product product_of(const Dim *x) {
  if ((*x)->kind == DIM_PRODUCT) return (Product){(*x)->value, (*x)->args, (*x)->n};
  return (Product){1, x, 1};
}

Dim dim_make_product(Dims *d, Product p) {
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
void dim_sum_begin(Sum *s, Dims *d) {
  s->d = d;
  s->constant = 0;
  s->n = 0;
  s->huge = false;
}

static void add_product(Sum *s, Product p) {
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
void dim_sum_add(Sum *s, const Dim *x, int64_t factor) {
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
  Product p = product_of(x);
  if (__builtin_mul_overflow(p.coefficient, factor, &p.coefficient)) s->huge = true;
  add_product(s, p);
}

static void recombine(Sum *s);

Dim dim_sum_finish(Sum *s) {
  Dims *d = s->d;
  if (s->n > 1) recombine(s);
  if (s->huge) return d->huge;
  if (s->n == 0) return dim_int(d, s->constant);
  if (s->n == 1 && s->constant == 0) return dim_make_product(d, s->term[0]);
  Dim terms[TERMS_MAX];
  for (uint32_t i = 0; i < s->n; i++) terms[i] = dim_make_product(d, s->term[i]);
  return dim_intern(d, (DimExpr){.kind = DIM_SUM, .value = s->constant, .n = s->n, .args = terms});
}

static Dim linear(Dims *d, Dim a, int64_t times_a, Dim b, int64_t times_b) {
  Sum s;
  dim_sum_begin(&s, d);
  dim_sum_add(&s, &a, times_a);
  dim_sum_add(&s, &b, times_b);
  return dim_sum_finish(&s);
}

static Dim sum_of(Dims *d, Dim a, Dim b) { return linear(d, a, 1, b, 1); }
static Dim difference(Dims *d, Dim a, Dim b) { return linear(d, a, 1, b, -1); }
Dim dim_add(Dims *d, Dim a, Dim b) { return dim_known(d, OP_ADD, a, b, sum_of); }
Dim dim_sub(Dims *d, Dim a, Dim b) { return dim_known(d, OP_SUB, a, b, difference); }

/* ---- multiplication ---- */

/* The terms of x; its constant is the last of them. */
uint32_t dim_term_count(Dim x) { return x->kind == DIM_SUM ? x->n + (x->value != 0) : 1; }

Product dim_term_at(const Dim *x, uint32_t i) {
  if ((*x)->kind == DIM_INT) return (Product){(*x)->value, NULL, 0};
  if ((*x)->kind != DIM_SUM) return product_of(x);
  if (i == (*x)->n) return (Product){(*x)->value, NULL, 0};
  return product_of(&(*x)->args[i]);
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

void dim_sum_add_term(Sum *s, Product p) {
  if (p.n) add_product(s, p);
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
 * so that an index that was split into a place and put together again is the index itself. */

Dim dim_make_pair(Dims *d, DimKind kind, Dim a, Dim b) {
  return dim_intern(d, (DimExpr){.kind = kind, .n = 2, .args = (Dim[]){a, b}});
}

/* p without its atom i. */
static Product without(Dims *d, Product p, uint32_t i) {
  Dim *atoms = ARENA_ARRAY(d->arena, Dim, p.n);
  for (uint32_t k = 0, n = 0; k < p.n; k++)
    if (k != i) atoms[n++] = p.atoms[k];
  return (Product){p.coefficient, atoms, p.n - 1};
}

static void negate_into(Sum *s, const Sum *x) {
  for (uint32_t i = 0; i < x->n; i++) {
    Product p = x->term[i];
    if (__builtin_sub_overflow(0, p.coefficient, &p.coefficient)) s->huge = true;
    add_product(s, p);
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
  add_product(&pair, remainder);
  if (!has_terms(s, &pair)) return false;
  negate_into(s, &pair);
  add_times_product(s, k, e);
  return true;
}

/* The divisor c of an atom q % c of p, which is k times it; NULL if p is none such. */
static Dim remainder_of(Dims *d, Product p, Dim q, Product k) {
  for (uint32_t i = 0; i < p.n; i++) {
    if (p.atoms[i]->kind != DIM_MOD || p.atoms[i]->args[0] != q) continue;
    Product rest = without(d, p, i);
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
    Dim c = remainder_of(d, t, q, kb);
    if (!c || dim_range(d, c).lo < 0) continue;
    Sum pair;
    dim_sum_begin(&pair, d);
    add_product(&pair, remainder);
    add_product(&pair, t);
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
    Product k = without(s->d, t, i);
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
