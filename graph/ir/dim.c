#include "graph/ir/dim.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/dim_state.h"
#include "lang/base/diag.h"

/* ---- interning ---- */

static uint64_t mix_dim_hash(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;
}

static uint64_t hash_dim(const DimExpr *x) {
  uint64_t h = mix_dim_hash(x->kind, (uint64_t)x->value);
  h = mix_dim_hash(h, (uint64_t)(uintptr_t)x->name);
  for (uint32_t i = 0; i < x->n; i++) h = mix_dim_hash(h, (uint64_t)(uintptr_t)x->args[i]);
  return h;
}

static bool same_expr(const DimExpr *a, const DimExpr *b) {
  return a->kind == b->kind && a->value == b->value && a->name == b->name && a->n == b->n &&
         (a->n == 0 || !memcmp(a->args, b->args, a->n * sizeof *a->args));
}

static Dim *dim_slot(const Dims *d, const DimExpr *x) {
  for (uint64_t i = hash_dim(x);; i++) {
    Dim *slot = &d->table[i & d->mask];
    if (!*slot || same_expr(*slot, x)) return slot;
  }
}

static void grow_dims(Dims *d) {
  Dim *old = d->table;
  uint32_t n = d->mask + 1;
  d->mask = 2 * n - 1;
  d->table = ARENA_ARRAY(d->arena, Dim, 2 * n);
  for (uint32_t i = 0; i < n; i++)
    if (old[i]) *dim_slot(d, old[i]) = old[i];
}

static void measure_dim(DimExpr *x) {
  x->size = 1;
  for (uint32_t i = 0; i < x->n; i++) {
    Dim arg = x->args[i];
    if (arg->depth >= x->depth) x->depth = arg->depth + 1;
    x->size += arg->size;
    x->indexed |= arg->indexed;
  }
}

/* The one number that has no negative, so that texts do not have it. */
static bool has_least(const DimExpr *x) {
  bool found = x->n && x->value == INT64_MIN;
  for (uint32_t i = 0; i < x->n; i++) found |= dim_is(x->args[i], INT64_MIN);
  return found;
}

Dim dim_intern(Dims *d, DimExpr x) {
  Dim *slot = dim_slot(d, &x);
  if (*slot) return *slot;
  measure_dim(&x);
  if (x.depth > DEPTH_MAX || x.size > SIZE_LIMIT || has_least(&x)) return d->huge;
  DimExpr *new = ARENA_NEW(d->arena, DimExpr);
  *new = x;
  new->id = d->used;
  Dim *args = ARENA_ARRAY(d->arena, Dim, x.n);
  if (x.n) memcpy(args, x.args, x.n * sizeof *args);
  new->args = args;
  *slot = new;
  if (++d->used * 2 > d->mask) grow_dims(d);
  return new;
}

Dims *dims_new(Arena *a, Pool *names) {
  Dims *d = ARENA_NEW(a, Dims);
  d->arena = a;
  d->names = names;
  d->mask = 63;
  d->table = ARENA_ARRAY(a, Dim, d->mask + 1);
  d->results = ARENA_ARRAY(a, Result, RESULTS);
  d->huge = dim_intern(d, (DimExpr){.kind = DIM_HUGE});
  return d;
}

Dim dim_int(Dims *d, int64_t value) {
  return dim_intern(d, (DimExpr){.kind = DIM_INT, .value = value});
}
Dim dim_huge(Dims *d) { return d->huge; }

static Dim symbol(Dims *d, Name name, DimRange range, Dim limit) {
  uint32_t n = (uint32_t)d->symbols.len;
  Dim x = dim_intern(
      d, (DimExpr){.kind = DIM_SYMBOL, .name = name, .symbol = n, .indexed = limit != NULL});
  if (x->symbol != n) return x;
  vec_push(d->arena, &d->symbols, x);
  vec_push(d->arena, &d->ranges, range);
  vec_push(d->arena, &d->likely, 0);
  vec_push(d->arena, &d->limits, limit);
  return x;
}

Dim dim_symbol(Dims *d, Name name) { return symbol(d, name, (DimRange){0, INT64_MAX}, NULL); }

Dim dim_index(Dims *d, const char *name, Dim size) {
  DimRange r = {0, dim_range(d, size).hi};
  if (r.hi != INT64_MAX) r.hi = r.hi > 0 ? r.hi - 1 : 0;
  uint32_t before = dims_symbols(d), suffix = before;
  Dim x = symbol(d, pool_name(d->names, name), r, size);
  while (dims_symbols(d) == before)
    x = symbol(d, pool_name(d->names, arena_printf(d->arena, "%s_%u", name, suffix++)), r, size);
  return x;
}

static SharedIndex *shared_slot(const Dims *d, Name name, Dim size) {
  uint64_t h = mix_dim_hash(mix_dim_hash(0, (uint64_t)(uintptr_t)name), (uint64_t)(uintptr_t)size);
  for (;; h++) {
    SharedIndex *slot = &d->shared[h & d->shared_mask];
    if (!slot->symbol || (slot->name == name && slot->size == size)) return slot;
  }
}

static void grow_shared(Dims *d) {
  SharedIndex *old = d->shared;
  uint32_t n = old ? d->shared_mask + 1 : 0;
  d->shared_mask = n ? 2 * n - 1 : 63;
  d->shared = ARENA_ARRAY(d->arena, SharedIndex, d->shared_mask + 1);
  for (uint32_t i = 0; i < n; i++)
    if (old[i].symbol) *shared_slot(d, old[i].name, old[i].size) = old[i];
}

Dim dim_shared_index(Dims *d, const char *name, Dim size) {
  Name base = pool_name(d->names, name);
  if (d->nshared * 2 >= d->shared_mask) grow_shared(d);
  SharedIndex *slot = shared_slot(d, base, size);
  if (!slot->symbol) {
    *slot = (SharedIndex){base, size, dim_index(d, name, size)};
    d->nshared++;
  }
  return slot->symbol;
}

Dim dim_index_size(const Dims *d, Dim index) { return d->limits.data[index->symbol]; }

Pool *dims_names(const Dims *d) { return d->names; }
uint32_t dims_symbols(const Dims *d) { return (uint32_t)d->symbols.len; }
Dim dims_symbol_at(const Dims *d, uint32_t i) { return d->symbols.data[i]; }
Dim dims_symbol_named(const Dims *d, Name name) {
  Dim x = *dim_slot(d, &(DimExpr){.kind = DIM_SYMBOL, .name = name});
  return x && !x->indexed ? x : NULL;
}

bool dim_limit(Dims *d, Dim symbol, DimRange range) {
  DimRange *r = &d->ranges.data[symbol->symbol];
  memset(d->results, 0, RESULTS * sizeof *d->results);
  if (range.lo > r->lo) r->lo = range.lo;
  if (range.hi < r->hi) r->hi = range.hi;
  return r->lo <= r->hi;
}

void dim_set_likely(Dims *d, Dim symbol, int64_t value) { d->likely.data[symbol->symbol] = value; }

static bool has_likely(const Dims *d, Dim x) {
  if (x->kind == DIM_SYMBOL) return d->likely.data[x->symbol] != 0;
  for (uint32_t i = 0; i < x->n; i++)
    if (!has_likely(d, x->args[i])) return false;
  return true;
}

int64_t dim_likely(const Dims *d, Dim x) {
  int64_t value;
  return has_likely(d, x) && dim_eval(x, d->likely.data, &value) && value > 0 ? value : 0;
}

/* ---- results that are known ----
 *
 * Layers of one structure ask for the same sums, products and quotients again and again. */

static Result *result_slot(const Dims *d, BinaryOp op, Dim a, Dim b) {
  uint64_t h = mix_dim_hash(mix_dim_hash(op, (uint64_t)(uintptr_t)a), (uint64_t)(uintptr_t)b);
  return &d->results[h % RESULTS];
}

/* compute(d, a, b), or what that gave before. */
Dim dim_known(Dims *d, BinaryOp op, Dim a, Dim b, Dim (*compute)(Dims *, Dim, Dim)) {
  if (d->assumed.len) return compute(d, a, b);
  Result *r = result_slot(d, op, a, b);
  if (r->result && r->op == op && r->a == a && r->b == b) return r->result;
  Dim result = compute(d, a, b);
  *r = (Result){a, b, result, op};
  return result;
}

/* ---- order: independent of the order of creation ---- */

static int compare_args(Dim a, Dim b) {
  for (uint32_t i = 0; i < a->n && i < b->n; i++) {
    int c = dim_compare(a->args[i], b->args[i]);
    if (c) return c;
  }
  return (a->n > b->n) - (a->n < b->n);
}

int dim_compare(Dim a, Dim b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == DIM_SYMBOL) return strcmp(a->name, b->name);
  int c = compare_args(a, b);
  return c ? c : (a->value > b->value) - (a->value < b->value);
}
