#include "graph/dim.h"

#include <stdlib.h>
#include <string.h>

#include "lang/diag.h"

/* Terms of a sum: what has more is as good as unknown. */
enum { TERMS_MAX = 256, DEPTH_MAX = 64 };

struct Dims {
  Arena *arena;
  Pool *names;
  Dim *table; /* open addressing */
  uint32_t mask, used;
  VEC(Dim) symbols;
  VEC(DimRange) ranges; /* of symbols */
  Dim huge;
};

/* ---- interning ---- */

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;
}

static uint64_t hash(const DimExpr *x) {
  uint64_t h = mix(x->kind, (uint64_t)x->value);
  h = mix(h, (uint64_t)(uintptr_t)x->name);
  for (uint32_t i = 0; i < x->n; i++) h = mix(h, (uint64_t)(uintptr_t)x->args[i]);
  return h;
}

static bool same(const DimExpr *a, const DimExpr *b) {
  return a->kind == b->kind && a->value == b->value && a->name == b->name && a->n == b->n &&
         (a->n == 0 || !memcmp(a->args, b->args, a->n * sizeof *a->args));
}

static Dim *slot_of(const Dims *d, const DimExpr *x) {
  for (uint64_t i = hash(x);; i++) {
    Dim *slot = &d->table[i & d->mask];
    if (!*slot || same(*slot, x)) return slot;
  }
}

static void grow(Dims *d) {
  Dim *old = d->table;
  uint32_t n = d->mask + 1;
  d->mask = 2 * n - 1;
  d->table = ARENA_ARRAY(d->arena, Dim, 2 * n);
  for (uint32_t i = 0; i < n; i++)
    if (old[i]) *slot_of(d, old[i]) = old[i];
}

static Dim intern(Dims *d, DimExpr x) {
  Dim *slot = slot_of(d, &x);
  if (*slot) return *slot;
  for (uint32_t i = 0; i < x.n; i++)
    if (x.args[i]->depth >= x.depth) x.depth = x.args[i]->depth + 1;
  if (x.depth > DEPTH_MAX) return d->huge;
  DimExpr *new = ARENA_NEW(d->arena, DimExpr);
  *new = x;
  new->id = d->used;
  Dim *args = ARENA_ARRAY(d->arena, Dim, x.n);
  if (x.n) memcpy(args, x.args, x.n * sizeof *args);
  new->args = args;
  *slot = new;
  if (++d->used * 2 > d->mask) grow(d);
  return new;
}

Dims *dims_new(Arena *a, Pool *names) {
  Dims *d = ARENA_NEW(a, Dims);
  d->arena = a;
  d->names = names;
  d->mask = 63;
  d->table = ARENA_ARRAY(a, Dim, d->mask + 1);
  d->huge = intern(d, (DimExpr){.kind = DIM_HUGE});
  return d;
}

Dim dim_int(Dims *d, int64_t value) {
  return intern(d, (DimExpr){.kind = DIM_INT, .value = value});
}
Dim dim_huge(Dims *d) { return d->huge; }

Dim dim_symbol(Dims *d, Name name) {
  for (size_t i = 0; i < d->symbols.len; i++)
    if (d->symbols.data[i]->name == name) return d->symbols.data[i];
  Dim x = intern(d, (DimExpr){.kind = DIM_SYMBOL, .name = name, .symbol = d->symbols.len});
  vec_push(d->arena, &d->symbols, x);
  vec_push(d->arena, &d->ranges, ((DimRange){0, INT64_MAX}));
  return x;
}

Pool *dims_names(const Dims *d) { return d->names; }
uint32_t dims_symbols(const Dims *d) { return (uint32_t)d->symbols.len; }
Dim dims_symbol_at(const Dims *d, uint32_t i) { return d->symbols.data[i]; }

bool dim_limit(Dims *d, Dim symbol, DimRange range) {
  DimRange *r = &d->ranges.data[symbol->symbol];
  if (range.lo > r->lo) r->lo = range.lo;
  if (range.hi < r->hi) r->hi = range.hi;
  return r->lo <= r->hi;
}

/* ---- order: one that does not depend on what was met first ---- */

static int compare(Dim a, Dim b);

static int compare_args(Dim a, Dim b) {
  for (uint32_t i = 0; i < a->n && i < b->n; i++) {
    int c = compare(a->args[i], b->args[i]);
    if (c) return c;
  }
  return (a->n > b->n) - (a->n < b->n);
}

static int compare(Dim a, Dim b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == DIM_SYMBOL) return strcmp(a->name, b->name);
  int c = compare_args(a, b);
  return c ? c : (a->value > b->value) - (a->value < b->value);
}

/* ---- products: a coefficient and atoms ---- */

typedef struct {
  int64_t coefficient;
  const Dim *atoms;
  uint32_t n;
} Product;

/* x stands for a product of one atom if it is an atom itself. */
static Product product_of(const Dim *x) {
  if ((*x)->kind == DIM_PRODUCT) return (Product){(*x)->value, (*x)->args, (*x)->n};
  return (Product){1, x, 1};
}

static Dim make_product(Dims *d, Product p) {
  if (p.n == 0 || p.coefficient == 0) return dim_int(d, p.n ? 0 : p.coefficient);
  if (p.n == 1 && p.coefficient == 1) return p.atoms[0];
  DimExpr x = {.kind = DIM_PRODUCT, .value = p.coefficient, .n = p.n, .args = p.atoms};
  return intern(d, x);
}

/* Higher degrees first, then by atoms: s0*s1, s0, s1. */
static int compare_terms(const Product *a, const Product *b) {
  if (a->n != b->n) return a->n > b->n ? -1 : 1;
  for (uint32_t i = 0; i < a->n; i++) {
    int c = compare(a->atoms[i], b->atoms[i]);
    if (c) return c;
  }
  return 0;
}

/* ---- sums: a constant and products, merged as they are added ---- */

typedef struct {
  Dims *d;
  int64_t constant;
  uint32_t n;
  bool huge;
  Product term[TERMS_MAX];
} Sum;

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

/* Adds factor * x. */
static void add_times(Sum *s, const Dim *x, int64_t factor) {
  if ((*x)->kind == DIM_HUGE) s->huge = true;
  if ((*x)->kind == DIM_SUM)
    for (uint32_t i = 0; i < (*x)->n; i++) add_times(s, &(*x)->args[i], factor);
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

static Dim finish_sum(Sum *s) {
  Dims *d = s->d;
  if (s->huge) return d->huge;
  if (s->n == 0) return dim_int(d, s->constant);
  if (s->n == 1 && s->constant == 0) return make_product(d, s->term[0]);
  Dim terms[TERMS_MAX];
  for (uint32_t i = 0; i < s->n; i++) terms[i] = make_product(d, s->term[i]);
  return intern(d, (DimExpr){.kind = DIM_SUM, .value = s->constant, .n = s->n, .args = terms});
}

static Dim linear(Dims *d, Dim a, int64_t times_a, Dim b, int64_t times_b) {
  Sum s = {.d = d};
  add_times(&s, &a, times_a);
  add_times(&s, &b, times_b);
  return finish_sum(&s);
}

Dim dim_add(Dims *d, Dim a, Dim b) { return linear(d, a, 1, b, 1); }
Dim dim_sub(Dims *d, Dim a, Dim b) { return linear(d, a, 1, b, -1); }

/* ---- multiplication ---- */

/* The terms of x; its constant is the last of them. */
static uint32_t term_count(Dim x) { return x->kind == DIM_SUM ? x->n + (x->value != 0) : 1; }

static Product term_at(const Dim *x, uint32_t i) {
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
    if (j == b.n || (i < a.n && compare(a.atoms[i], b.atoms[j]) <= 0)) atoms[n++] = a.atoms[i++];
    else atoms[n++] = b.atoms[j++];
  out->atoms = atoms;
  out->n = n;
  return true;
}

Dim dim_mul(Dims *d, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE) return d->huge;
  if (dim_is(a, 1)) return b;
  if (dim_is(b, 1)) return a;
  Sum s = {.d = d};
  for (uint32_t i = 0; i < term_count(a); i++)
    for (uint32_t j = 0; j < term_count(b) && !s.huge; j++) {
      Product p;
      if (!multiply_terms(d, term_at(&a, i), term_at(&b, j), &p)) return d->huge;
      if (p.n) add_product(&s, p);
      else if (__builtin_add_overflow(s.constant, p.coefficient, &s.constant)) s.huge = true;
    }
  return finish_sum(&s);
}

/* ---- division ---- */

static int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a % b < 0) != (b < 0));
}

static int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* p / q, if q's atoms are among p's and the coefficients divide. */
static bool divide_term(Dims *d, Product p, Product q, Product *out) {
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

/* a = quotient * b + rest, with the terms of a that b divides in the quotient. */
static void take_out(Dims *d, Dim a, Dim b, Dim *quotient, Dim *rest) {
  Sum q = {.d = d}, r = {.d = d};
  Product by = term_at(&b, 0);
  for (uint32_t i = 0; i < term_count(a); i++) {
    Product t = term_at(&a, i), x;
    Sum *to = divide_term(d, t, by, &x) ? &q : &r;
    if (to == &r) x = t;
    if (x.n) add_product(to, x);
    else if (__builtin_add_overflow(to->constant, x.coefficient, &to->constant)) to->huge = true;
  }
  *quotient = finish_sum(&q);
  *rest = finish_sum(&r);
}

static Dim make_pair(Dims *d, DimKind kind, Dim a, Dim b) {
  return intern(d, (DimExpr){.kind = kind, .n = 2, .args = (Dim[]){a, b}});
}

/* Is 0 <= a < b? */
static bool below(Dims *d, Dim a, Dim b) {
  return dim_range(d, a).lo >= 0 && dim_range(d, dim_sub(d, b, a)).lo > 0;
}

static bool may_take_out(const Dims *d, Dim b) { return b->kind != DIM_SUM && never_zero(d, b); }

Dim dim_floordiv(Dims *d, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE || dim_is(b, 0)) return d->huge;
  if (dim_is_int(a) && dim_is_int(b))
    return a->value == INT64_MIN && b->value == -1 ? d->huge
                                                   : dim_int(d, floor_div(a->value, b->value));
  if (dim_is(b, 1)) return a;
  if (a == b && never_zero(d, b)) return dim_int(d, 1);
  if (below(d, a, b)) return dim_int(d, 0);
  if (!may_take_out(d, b)) return make_pair(d, DIM_FLOORDIV, a, b);
  Dim quotient, rest;
  take_out(d, a, b, &quotient, &rest);
  if (rest->kind == DIM_HUGE || quotient->kind == DIM_HUGE) return d->huge;
  if (dim_is(quotient, 0)) return make_pair(d, DIM_FLOORDIV, a, b);
  return dim_add(d, quotient, dim_floordiv(d, rest, b));
}

Dim dim_mod(Dims *d, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE || dim_is(b, 0)) return d->huge;
  if (dim_is_int(a) && dim_is_int(b))
    return dim_int(d, b->value == -1 ? 0 : floor_mod(a->value, b->value));
  if (dim_is(b, 1) || (a == b && never_zero(d, b))) return dim_int(d, 0);
  if (below(d, a, b)) return a;
  if (!may_take_out(d, b)) return make_pair(d, DIM_MOD, a, b);
  Dim quotient, rest;
  take_out(d, a, b, &quotient, &rest);
  if (rest->kind == DIM_HUGE) return d->huge;
  return dim_is(quotient, 0) ? make_pair(d, DIM_MOD, a, b) : dim_mod(d, rest, b);
}

/* ---- the larger and the smaller ---- */

bool dim_at_most(Dims *d, Dim a, Dim b) {
  if (a == b) return true;
  Dim gap = dim_sub(d, b, a);
  return gap->kind != DIM_HUGE && dim_range(d, gap).lo >= 0;
}

static Dim either(Dims *d, DimKind kind, Dim a, Dim b) {
  if (a->kind == DIM_HUGE || b->kind == DIM_HUGE) return d->huge;
  if (dim_at_most(d, a, b)) return kind == DIM_MAX ? b : a;
  if (dim_at_most(d, b, a)) return kind == DIM_MAX ? a : b;
  return compare(a, b) < 0 ? make_pair(d, kind, a, b) : make_pair(d, kind, b, a);
}

Dim dim_max(Dims *d, Dim a, Dim b) { return either(d, DIM_MAX, a, b); }
Dim dim_min(Dims *d, Dim a, Dim b) { return either(d, DIM_MIN, a, b); }

/* ---- ranges ---- */

static const DimRange ANY = {INT64_MIN, INT64_MAX};

static int64_t clamp(__int128 x) {
  return x < INT64_MIN ? INT64_MIN : x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

/* Ends that stand for infinity stay where they are. */
static bool unbounded(int64_t x) { return x == INT64_MIN || x == INT64_MAX; }

static int64_t add_end(int64_t a, int64_t b) {
  return unbounded(a) ? a : unbounded(b) ? b : clamp((__int128)a + b);
}

static DimRange range_add(DimRange a, DimRange b) {
  return (DimRange){add_end(a.lo, b.lo), add_end(a.hi, b.hi)};
}

static int64_t mul_end(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (unbounded(a) || unbounded(b)) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  return clamp((__int128)a * b);
}

static DimRange hull(const int64_t *x, int n) {
  DimRange r = {x[0], x[0]};
  for (int i = 1; i < n; i++) {
    if (x[i] < r.lo) r.lo = x[i];
    if (x[i] > r.hi) r.hi = x[i];
  }
  return r;
}

static DimRange range_mul(DimRange a, DimRange b) {
  int64_t ends[] = {mul_end(a.lo, b.lo), mul_end(a.lo, b.hi), mul_end(a.hi, b.lo),
                    mul_end(a.hi, b.hi)};
  return hull(ends, 4);
}

/* Of a number that is not negative by one that is positive; otherwise nothing is known. */
static DimRange range_floordiv(DimRange a, DimRange b) {
  if (b.lo <= 0 || a.lo < 0) return ANY;
  int64_t hi = a.hi == INT64_MAX ? INT64_MAX : a.hi / b.lo;
  return (DimRange){b.hi == INT64_MAX ? 0 : a.lo / b.hi, hi};
}

static DimRange range_mod(DimRange b) {
  if (b.lo <= 0) return ANY;
  return (DimRange){0, b.hi == INT64_MAX ? INT64_MAX : b.hi - 1};
}

DimRange dim_range(const Dims *d, Dim x) {
  DimRange r, a, b;
  switch (x->kind) {
    case DIM_INT: return (DimRange){x->value, x->value};
    case DIM_SYMBOL: return d->ranges.data[x->symbol];
    case DIM_HUGE: return ANY;
    case DIM_SUM:
      r = (DimRange){x->value, x->value};
      for (uint32_t i = 0; i < x->n; i++) r = range_add(r, dim_range(d, x->args[i]));
      return r;
    case DIM_PRODUCT:
      r = (DimRange){x->value, x->value};
      for (uint32_t i = 0; i < x->n; i++) r = range_mul(r, dim_range(d, x->args[i]));
      return r;
    default: break;
  }
  a = dim_range(d, x->args[0]);
  b = dim_range(d, x->args[1]);
  if (x->kind == DIM_FLOORDIV) return range_floordiv(a, b);
  if (x->kind == DIM_MOD) return range_mod(b);
  bool max = x->kind == DIM_MAX;
  return (DimRange){(a.lo > b.lo) == max ? a.lo : b.lo, (a.hi > b.hi) == max ? a.hi : b.hi};
}

bool dim_divisible(Dim x, int64_t n) {
  if (x->kind == DIM_INT || x->kind == DIM_PRODUCT) return x->value % n == 0;
  if (x->kind != DIM_SUM || x->value % n != 0) return n == 1;
  for (uint32_t i = 0; i < x->n; i++)
    if (!dim_divisible(x->args[i], n)) return false;
  return true;
}

/* ---- values ---- */

bool dim_eval(Dim x, const int64_t *values, int64_t *out) {
  int64_t v[2] = {0, 0};
  switch (x->kind) {
    case DIM_HUGE: return false;
    case DIM_INT: *out = x->value; return true;
    case DIM_SYMBOL: *out = values[x->symbol]; return true;
    case DIM_SUM:
    case DIM_PRODUCT:
      *out = x->value;
      for (uint32_t i = 0; i < x->n; i++) {
        if (!dim_eval(x->args[i], values, v)) return false;
        if (x->kind == DIM_SUM ? __builtin_add_overflow(*out, v[0], out)
                               : __builtin_mul_overflow(*out, v[0], out))
          return false;
      }
      return true;
    default: break;
  }
  for (int i = 0; i < 2; i++)
    if (!dim_eval(x->args[i], values, &v[i])) return false;
  if (x->kind == DIM_MAX || x->kind == DIM_MIN) {
    *out = (v[0] > v[1]) == (x->kind == DIM_MAX) ? v[0] : v[1];
    return true;
  }
  if (v[1] == 0 || (v[0] == INT64_MIN && v[1] == -1)) return false;
  *out = x->kind == DIM_FLOORDIV ? floor_div(v[0], v[1]) : floor_mod(v[0], v[1]);
  return true;
}
