/* Symbolic integers: whatever is simplified keeps its value.  Random expressions are made twice,
 * as a Dim and as their values at all points of a small grid, by plain arithmetic. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/dim.h"
#include "tests/support/tally.h"

static uint64_t state = 88172645463325252u;

static uint32_t pick(uint32_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 33) % n;
}

/* ---- the grid ---- */

enum { S0, S1, I, J, K, SYMBOLS, POINTS_MAX = 4096, POOL = 24 };

typedef struct {
  Dim x;
  bool defined[POINTS_MAX];
  int64_t value[POINTS_MAX];
} Expr;

typedef struct {
  Arena *arena;
  Dims *d;
  Dim symbol[SYMBOLS];
  int64_t points[POINTS_MAX][SYMBOLS];
  uint32_t npoints;
  Expr pool[POOL];
  uint32_t n;
} Grid;

/* i < 6, j < s0, k < s0*s1 */
static void add_points(Grid *g, int64_t s0, int64_t s1) {
  for (int64_t i = 0; i < 6; i++)
    for (int64_t j = 0; j < s0; j++)
      for (int64_t k = 0; k < s0 * s1; k++) {
        int64_t at[SYMBOLS] = {s0, s1, i, j, k};
        memcpy(g->points[g->npoints++], at, sizeof at);
      }
}

static void open_grid(Grid *g, int64_t low) {
  g->arena = arena_new();
  g->npoints = 0;
  Pool *names = pool_new(g->arena);
  Dims *d = g->d = dims_new(g->arena, names);
  for (int i = S0; i <= S1; i++) {
    g->symbol[i] = dim_symbol(d, pool_name(names, i == S0 ? "s0" : "s1"));
    dim_limit(d, g->symbol[i], (DimRange){low, 4});
  }
  g->symbol[I] = dim_index(d, "i", dim_int(d, 6));
  g->symbol[J] = dim_index(d, "j", g->symbol[S0]);
  g->symbol[K] = dim_index(d, "k", dim_mul(d, g->symbol[S0], g->symbol[S1]));
  for (int64_t s0 = low; s0 <= 4; s0++)
    for (int64_t s1 = low; s1 <= 4; s1++) add_points(g, s0, s1);
}

/* ---- expressions ---- */

static int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (q * b != a && (a < 0) != (b < 0));
}

static int64_t apply(int op, int64_t a, int64_t b) {
  switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return floor_div(a, b);
    case 4: return a - b * floor_div(a, b);
    case 5: return a > b ? a : b;
    default: return a < b ? a : b;
  }
}

static Dim (*const make[])(Dims *, Dim, Dim) = {dim_add, dim_sub, dim_mul, dim_floordiv,
                                                dim_mod, dim_max, dim_min};

static void leaf(Grid *g, Expr *e) {
  uint32_t which = pick(SYMBOLS + 3);
  int64_t c = (int64_t)pick(14) - 2;
  e->x = which < SYMBOLS ? g->symbol[which] : dim_int(g->d, c);
  for (uint32_t p = 0; p < g->npoints; p++) {
    e->defined[p] = true;
    e->value[p] = which < SYMBOLS ? g->points[p][which] : c;
  }
}

static bool small(const Grid *g, const Expr *e) {
  for (uint32_t p = 0; p < g->npoints; p++)
    if (e->defined[p] && llabs(e->value[p]) > 1 << 20) return false;
  return e->x->depth < 8;
}

static void combine(Grid *g, Expr *e, const Expr *a, const Expr *b) {
  static const int ops[] = {0, 0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6};
  int op = ops[pick(sizeof ops / sizeof *ops)];
  e->x = make[op](g->d, a->x, b->x);
  for (uint32_t p = 0; p < g->npoints; p++) {
    bool zero = (op == 3 || op == 4) && b->value[p] == 0;
    e->defined[p] = a->defined[p] && b->defined[p] && !zero;
    e->value[p] = e->defined[p] ? apply(op, a->value[p], b->value[p]) : 0;
  }
}

/* ---- what must hold ---- */

static const char *text_of(Grid *g, Dim x) {
  Text t = text_new(g->arena);
  dim_print(&t, x);
  return t.data;
}

static bool holds(Grid *g, const Expr *e) {
  DimRange r = dim_range(g->d, e->x);
  for (uint32_t p = 0; p < g->npoints; p++) {
    int64_t v = 0;
    if (!e->defined[p]) continue;
    if (e->x->kind == DIM_HUGE || !dim_eval(e->x, g->points[p], &v) || v != e->value[p]) {
      const int64_t *at = g->points[p];
      printf("%s at s0=%d s1=%d i=%d j=%d k=%d: %lld, not %lld\n", text_of(g, e->x), (int)at[S0],
             (int)at[S1], (int)at[I], (int)at[J], (int)at[K], (long long)v, (long long)e->value[p]);
      return false;
    }
    if (v < r.lo || v > r.hi || (dim_divisible(e->x, 3) && v % 3)) return false;
  }
  return true;
}

static bool reads_back(Grid *g, Dim x) {
  if (x->kind == DIM_HUGE) return true; /* what was divided by 0 */
  const char *text = text_of(g, x), *at = text;
  Dim back = dim_parse(g->d, &at, text + strlen(text));
  if (back == x) return true;
  printf("%s reads as %s\n", text, back ? text_of(g, back) : "nothing");
  return false;
}

static bool ordered(Grid *g, const Expr *a, const Expr *b) {
  if (!dim_at_most(g->d, a->x, b->x)) return true;
  for (uint32_t p = 0; p < g->npoints; p++)
    if (a->defined[p] && b->defined[p] && a->value[p] > b->value[p]) return false;
  return true;
}

static void random_expressions(int64_t low, int rounds) {
  Grid *g = calloc(1, sizeof *g);
  Expr *e = malloc(sizeof *e);
  bool values = true, text = true, order = true;
  for (int round = 0; round < rounds; round++) {
    open_grid(g, low);
    for (g->n = 0; g->n < POOL / 3; g->n++) leaf(g, &g->pool[g->n]);
    for (int step = 0; step < 60; step++) {
      const Expr *a = &g->pool[pick(g->n)], *b = &g->pool[pick(g->n)];
      combine(g, e, a, b);
      values &= holds(g, e);
      text &= reads_back(g, e->x);
      order &= ordered(g, a, b);
      if (small(g, e)) g->pool[g->n < POOL ? g->n++ : pick(POOL)] = *e;
    }
    arena_free(g->arena);
  }
  check(values, "random expressions keep their values");
  check(text, "random expressions read back");
  check(order, "what is at most something is");
  free(e);
  free(g);
}

/* ---- what must be simplified ---- */

typedef struct {
  Arena *arena;
  Dims *d;
} World;

static World open_world(void) {
  World w = {.arena = arena_new()};
  w.d = dims_new(w.arena, pool_new(w.arena));
  Dim t = dim_symbol(w.d, pool_name(dims_names(w.d), "n"));
  dim_limit(w.d, t, (DimRange){1, INT64_MAX});
  return w;
}

static Dim parse(World *w, const char *text) {
  const char *at = text;
  return dim_parse(w->d, &at, text + strlen(text));
}

static void index_named(World *w, const char *name, const char *size) {
  dim_index(w->d, name, parse(w, size));
}

/* i < 4, h < 8, e < 64, j < s0, k < s1, m < s0 + 1, t < 4*s0*s1, n > 0 */
static void equal(const char *a, const char *b) {
  World w = open_world();
  index_named(&w, "i", "4");
  index_named(&w, "h", "8");
  index_named(&w, "e", "64");
  index_named(&w, "j", "s0");
  index_named(&w, "k", "s1");
  index_named(&w, "m", "s0 + 1");
  index_named(&w, "t", "4*s0*s1");
  Dim x = parse(&w, a), y = parse(&w, b);
  Text t = text_new(w.arena);
  text_printf(&t, "%s is ", a);
  if (x) dim_print(&t, x);
  text_printf(&t, ", not %s", b);
  check(x && x == y, t.data);
  arena_free(w.arena);
}

static void limits(void) {
  equal("i // 4", "0");
  equal("e % 64", "e");
  equal("j // s0", "0");
  equal("j % s0", "j");
  equal("(s0*i + j) // s0", "i");
  equal("(s0*i + j) % s0", "j");
  equal("(s0*i + j) // (4*s0)", "0");
  equal("(64*s0*i + 64*j + e) // (64*s0)", "i");
  equal("((64*s0*i + 64*j + e) // 64) % s0", "j");
  equal("t // (4*s1)", "t // (4*s1) % s0");
  equal("(m*64 + e) // (64*(s0 + 1))", "0");
  equal("((s0 + 1)*h*64 + 64*m + e) // (64*(s0 + 1))", "h");
  equal("((s0 + 1)*h*64 + 64*m + e) // 64 % (s0 + 1)", "m");
  equal("Max(0, s0 - 1 - j)", "s0 - 1 - j");
}

static void backwards(void) {
  equal("(511 - 64*h - e) // 64", "7 - h");
  equal("(511 - 64*h - e) % 64", "63 - e");
  equal("(4*s0 - 1 - s0*i - j) // s0", "3 - i");
  equal("(4*s0 - 1 - s0*i - j) % s0", "s0 - 1 - j");
}

static void joins(void) {
  equal("4*(t // 4) + t % 4", "t");
  equal("12*(n // 4) + 3*(n % 4)", "3*n");
  equal("s0*(t // s0) + t % s0", "t");
  equal("2*s1*s0*(t // s0) + 2*s1*(t % s0)", "2*s1*t");
  equal("4*(s1*(t // (4*s1)) + (t // 4) % s1) + t % 4", "t");
  equal("4*((t // 4) % 3) + t % 4", "t % 12");
  equal("12*(t // 12) + 4*((t // 4) % 3) + t % 4 + 5", "t + 5");
  equal("(s0 + 1)*(t // (s0 + 1)) + t % (s0 + 1)", "t");
  equal("4*(n // 4) + 2*(n % 4)", "2*(n % 4) + (n // 4)*4");
}

static void nested(void) {
  equal("(t // 3) // 5", "t // 15");
  equal("(t // s0) // s1", "t // (s0*s1)");
  equal("(t % 12) % 4", "t % 4");
  equal("(t % 12) // 4", "(t // 4) % 3");
  equal("(t % (s0*s1)) // s1", "(t // s1) % s0");
  equal("(t % (s0*s1)) % s1", "t % s1");
  equal("(64*t + e) // 128", "t // 2");
  equal("(64*t + e) % 128", "64*(t % 2) + e");
  equal("(s0*t + j) // (s0*n)", "t // n");
}

/* Sizes print as they were read: nothing is known of them but their ranges. */
static void sizes(void) {
  equal("s0 // (s0 + 1)", "s0 // (s0 + 1)");
  equal("(2*s0 + 1) // 4", "(2*s0 + 1) // 4");
  World w = open_world();
  Dim a = parse(&w, "s0 // s1"), s0 = parse(&w, "s0"), one = dim_int(w.d, 1);
  check(a->kind == DIM_FLOORDIV && !a->indexed, "a quotient of sizes stays");
  check(!dim_at_most(w.d, one, s0), "a size may be 0");
  dim_index(w.d, "j", s0);
  parse(&w, "(s0*j + j) // s0");
  check(!dim_at_most(w.d, one, s0), "a size may be 0 after it was a divisor");
  arena_free(w.arena);
}

static void names(void) {
  World w = open_world();
  Dim a = dim_index(w.d, "x", dim_int(w.d, 4)), b = dim_index(w.d, "x", dim_int(w.d, 5));
  check(a != b && strcmp(a->name, b->name), "indices of one name differ");
  check(dim_is_index(a) && dim_is(dim_index_size(w.d, b), 5), "an index knows its size");
  check(dim_range(w.d, b).hi == 4, "an index is below its size");
  check(!dim_is_index(parse(&w, "s0")), "a size is no index");
  check(parse(&w, "x") == a, "an index is read by its name");
  arena_free(w.arena);
}

/* Kernels share indices, and results are kept; what is learned later counts all the same. */
/* What symbols are in most runs is a value for expressions of them, and no limit. */
static void likely(void) {
  World w = open_world();
  Dim s0 = parse(&w, "s0"), x = parse(&w, "4*s0 + s1//2");
  check(!dim_likely(w.d, x) && dim_likely(w.d, dim_int(w.d, 7)) == 7, "nothing is likely yet");
  dim_set_likely(w.d, s0, 10);
  check(dim_likely(w.d, s0) == 10 && !dim_likely(w.d, x), "one of two is known");
  dim_set_likely(w.d, parse(&w, "s1"), 5);
  check(dim_likely(w.d, x) == 42, "a value of an expression");
  check(!dim_likely(w.d, parse(&w, "s0 - 11")) && dim_range(w.d, s0).hi == INT64_MAX,
        "what is below 1 is not known, and a range stays");
  arena_free(w.arena);
}

static void shared(void) {
  World w = open_world();
  Dim four = dim_int(w.d, 4), s0 = parse(&w, "s0"), s9 = parse(&w, "s9");
  Dim a = dim_shared_index(w.d, "x", four);
  check(a == dim_shared_index(w.d, "x", four), "one index for a name and a size");
  check(a != dim_shared_index(w.d, "y", four) && a != dim_shared_index(w.d, "x", s0) &&
            a != dim_index(w.d, "x", four),
        "others are others");
  Dim first[200];
  for (int64_t i = 0; i < 200; i++) first[i] = dim_shared_index(w.d, "x", dim_int(w.d, i));
  bool same = true;
  for (int64_t i = 0; i < 200; i++) same &= first[i] == dim_shared_index(w.d, "x", dim_int(w.d, i));
  check(same && first[4] == a, "there may be many");
  Dim before = dim_floordiv(w.d, s9, four);
  dim_limit(w.d, s9, (DimRange){0, 3});
  check(!dim_is(before, 0) && dim_is(dim_floordiv(w.d, s9, four), 0), "a limit is minded");
  arena_free(w.arena);
}

/* An expression of 2^40 nodes, each level twice the one below it. */
static void hostile(void) {
  World w = open_world();
  Dim x = parse(&w, "s0"), s1 = parse(&w, "s1");
  for (int i = 0; i < 40; i++) x = dim_mod(w.d, dim_floordiv(w.d, x, s1), dim_add(w.d, x, s1));
  check(x->kind == DIM_HUGE, "an expression that doubles is huge");
  Dim low = dim_int(w.d, INT64_MIN), s = dim_mul(w.d, low, s1);
  check(dim_floordiv(w.d, s, dim_int(w.d, -1)) != NULL, "INT64_MIN*s1 // -1 does not trap");
  arena_free(w.arena);
}

int main(void) {
  limits();
  backwards();
  joins();
  nested();
  sizes();
  names();
  likely();
  shared();
  hostile();
  random_expressions(0, 150);
  random_expressions(1, 150);
  return report();
}
