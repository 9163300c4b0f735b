/* The reference interpreter: kernels in tile IR, with the results and findings they must give. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "tests/support/tally.h"

/* ---- launches ---- */

typedef struct {
  const char *name;
  Arena *arena;
  Pool *names;
  Diags *diags;
  Memory *memory;
  InterpArg args[8];
  uint32_t nargs, grid[3];
  InterpOptions limits;
  int status;
  const char *messages;
} Launch;

static Launch launch(const char *name, uint32_t programs) {
  Arena *a = arena_new();
  Launch l = {.name = name, .arena = a, .names = pool_new(a), .diags = diags_new(a)};
  l.memory = memory_new(a, l.diags);
  l.grid[0] = programs, l.grid[1] = l.grid[2] = 1;
  return l;
}

static void add_buffer(Launch *l, const char *name, void *data, size_t bytes, bool written) {
  memory_add(l->memory, name, l->nargs, data, bytes, written);
  l->args[l->nargs++].bits = (uint64_t)(uintptr_t)data;
}
#define INPUT(l, array) add_buffer((l), #array, (array), sizeof(array), true)
#define EMPTY(l, array) add_buffer((l), #array, (array), sizeof(array), false)

static void add_int(Launch *l, int64_t v) { l->args[l->nargs++].bits = (uint64_t)v; }

/* The function of the text `kernel @k(PARAMS) { BODY return }`. */
static TileFunc *parse(Launch *l, const char *params, const char *body) {
  const char *text = arena_printf(l->arena, "kernel @k(%s) {\n%s\n return\n}\n", params, body);
  size_t at = 0;
  uint32_t file = diag_source(l->diags, pool_name(l->names, "k.tile"), text, strlen(text));
  TileFunc *f = tile_parse(l->arena, l->names, l->diags, file, &at);
  return f && tile_verify(f, l->diags) ? f : NULL;
}

static void run(Launch *l, const char *params, const char *body) {
  TileFunc *f = parse(l, params, body);
  l->status = f ? tile_interp(f, l->args, l->grid, l->memory, l->diags, l->limits) : -2;
  Text out = text_new(l->arena);
  diag_print(l->diags, &out);
  l->messages = out.data ? out.data : "";
}

/* Ends a launch that must be in order. */
static void clean(Launch *l) {
  bool ok = l->status == 0 && !diag_errors(l->diags);
  check(ok, l->name);
  if (!ok) printf("%s\n", l->messages);
  arena_free(l->arena);
}

/* Ends one that must give exactly one finding, with this text in its messages. */
static void finds(Launch *l, const char *want) {
  bool ok = l->status > -2 && diag_errors(l->diags) == 1 && strstr(l->messages, want);
  check(ok, l->name);
  if (!ok) printf("  expected: %s\n%s\n", want, l->messages);
  arena_free(l->arena);
}

static void same_ints(const char *name, const int *got, const int *want, size_t n) {
  size_t i = 0;
  while (i < n && got[i] == want[i]) i++;
  check(i == n, name);
  if (i < n) printf("  element %zu is %d, expected %d\n", i, got[i], want[i]);
}
#define SAME(name, got, ...)                                       \
  do {                                                             \
    const int want_[] = {__VA_ARGS__};                             \
    same_ints((name), (got), want_, sizeof want_ / sizeof *want_); \
  } while (0)

/* ---- elementwise, memory ---- */

static void test_vector_add(void) {
  float x[1000], y[1000], out[1000];
  for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 2 * (float)i;
  Launch l = launch("vector add", 8);
  INPUT(&l, x), INPUT(&l, y), EMPTY(&l, out), add_int(&l, 1000);
  run(&l, "%x: *f32, %y: *f32, %out: *f32, %n: i32",
      "%pid = program_id {axis 0} : i32\n"
      "%size = const {value 128} : i32\n"
      "%start = mul %pid, %size : i32\n"
      "%r = arange {start 0, end 128} : i32[128]\n"
      "%s = splat %start : i32[128]\n"
      "%i = add %r, %s : i32[128]\n"
      "%nn = splat %n : i32[128]\n"
      "%m = lt %i, %nn : i1[128]\n"
      "%px = splat %x : *f32[128]\n"
      "%ax = ptr_add %px, %i : *f32[128]\n"
      "%vx = load %ax mask %m : f32[128]\n"
      "%py = splat %y : *f32[128]\n"
      "%ay = ptr_add %py, %i : *f32[128]\n"
      "%vy = load %ay mask %m : f32[128]\n"
      "%sum = add %vx, %vy : f32[128]\n"
      "%po = splat %out : *f32[128]\n"
      "%ao = ptr_add %po, %i : *f32[128]\n"
      "store %ao, %sum mask %m\n");
  bool ok = true;
  for (int i = 0; i < 1000; i++) ok &= out[i] == 3 * (float)i;
  check(ok && memory_was_written(l.memory, 2) && !memory_was_written(l.memory, 0), "sums");
  clean(&l);
}

/* Runs a body that computes %r, an i32[n], and stores it. */
static void compute(Launch *l, int n, int *out, const char *body) {
  add_buffer(l, "out", out, (size_t)n * sizeof *out, false);
  run(l, l->nargs > 1 ? "%x: *i32, %out: *i32" : "%out: *i32",
      arena_printf(l->arena,
                   "%s\n"
                   "%%o.i = arange {start 0, end %d} : i32[%d]\n"
                   "%%o.p = splat %%out : *i32[%d]\n"
                   "%%o.a = ptr_add %%o.p, %%o.i : *i32[%d]\n"
                   "store %%o.a, %%r\n",
                   body, n, n, n, n));
}

static void test_programs(void) {
  int out[24];
  Launch l = launch("program ids", 2);
  l.grid[1] = 3, l.grid[2] = 4;
  EMPTY(&l, out);
  run(&l, "%out: *i32",
      "%a = program_id {axis 0} : i32\n%b = program_id {axis 1} : i32\n"
      "%c = program_id {axis 2} : i32\n%na = num_programs {axis 0} : i32\n"
      "%nb = num_programs {axis 1} : i32\n"
      "%0 = mul %c, %nb : i32\n%1 = add %0, %b : i32\n%2 = mul %1, %na : i32\n"
      "%3 = add %2, %a : i32\n%p = ptr_add %out, %3 : *i32\nstore %p, %3\n");
  bool ok = true;
  for (int i = 0; i < 24; i++) ok &= out[i] == i;
  check(ok, "linear index");
  clean(&l);
}

static void test_dtypes(void) {
  uint16_t h[4] = {0x3c00, 0x4000, 0x7bff, 0x0001}, out[4];
  Launch l = launch("f16 is rounded at each op", 1);
  INPUT(&l, h), EMPTY(&l, out);
  run(&l, "%h: *f16, %out: *f16",
      "%i = arange {start 0, end 4} : i32[4]\n"
      "%p = splat %h : *f16[4]\n%a = ptr_add %p, %i : *f16[4]\n%v = load %a : f16[4]\n"
      "%k = const {value 0.333333} : f16[4]\n%w = add %v, %k : f16[4]\n"
      "%q = splat %out : *f16[4]\n%b = ptr_add %q, %i : *f16[4]\nstore %b, %w\n");
  check(out[0] == 0x3d55 && out[1] == 0x40ab && out[2] == 0x7bff && out[3] == 0x3555, "f16 sums");
  clean(&l);

  int8_t x[3] = {127, -128, 5};
  uint8_t y[3];
  Launch m = launch("bytes and i1", 1);
  INPUT(&m, x), EMPTY(&m, y);
  run(&m, "%x: *i8, %y: *i1",
      "%i = arange {start 0, end 3} : i32[3]\n"
      "%p = splat %x : *i8[3]\n%a = ptr_add %p, %i : *i8[3]\n%v = load %a : i8[3]\n"
      "%one = const {value 1} : i8[3]\n%w = add %v, %one : i8[3]\n%c = lt %w, %v : i1[3]\n"
      "%q = splat %y : *i1[3]\n%b = ptr_add %q, %i : *i1[3]\nstore %b, %c\n");
  check(y[0] == 1 && y[1] == 0 && y[2] == 0, "i8 wraps");
  clean(&m);
}

static void test_pointers(void) {
  int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, out[2];
  int *table[2] = {a, b};
  Launch l = launch("a table of pointers", 2);
  INPUT(&l, table), EMPTY(&l, out);
  memory_add(l.memory, "a", (uint32_t)MEMORY_NO_ARG, a, sizeof a, true);
  memory_add(l.memory, "b", (uint32_t)MEMORY_NO_ARG, b, sizeof b, true);
  run(&l, "%t: *i64, %out: *i32",
      "%pid = program_id {axis 0} : i32\n%e = ptr_add %t, %pid : *i64\n"
      "%raw = load %e : i64\n%p = bitcast %raw : *i32\n%two = const {value 2} : i32\n"
      "%q = ptr_add %p, %two : *i32\n%v = load %q : i32\n"
      "%o = ptr_add %out, %pid : *i32\nstore %o, %v\n");
  SAME("pointed at", out, 3, 7);
  clean(&l);
}

/* ---- shape ---- */

static void test_shape(void) {
  int out[12];
  Launch l = launch("trans and slice", 1);
  compute(&l, 6, out,
          "%i = arange {start 0, end 12} : i32[12]\n%a = reshape %i : i32[3,4]\n"
          "%t = trans %a {perm [1, 0]} : i32[4,3]\n"
          "%s = slice %t {starts [3, 0], strides [-3, 1]} : i32[2,3]\n%r = reshape %s : i32[6]\n");
  SAME("trans and slice", out, 3, 7, 11, 0, 4, 8);
  clean(&l);

  l = launch("broadcast", 1);
  compute(&l, 6, out,
          "%i = arange {start 5, end 8} : i32[3]\n%a = expand_dims %i {axis 1} : i32[3,1]\n"
          "%b = broadcast %a : i32[3,2]\n%r = reshape %b : i32[6]\n");
  SAME("broadcast", out, 5, 5, 6, 6, 7, 7);
  clean(&l);

  l = launch("join, split, cat", 1);
  compute(&l, 12, out,
          "%a = arange {start 0, end 3} : i32[3]\n%b = arange {start 10, end 13} : i32[3]\n"
          "%j = join %a, %b : i32[3,2]\n%f = reshape %j : i32[6]\n"
          "%k = reshape %f : i32[3,2]\n%c, %d = split %k : i32[3], i32[3]\n"
          "%e = cat %d, %c : i32[6]\n%r = cat %f, %e : i32[12]\n");
  SAME("join, split, cat", out, 0, 10, 1, 11, 2, 12, 10, 11, 12, 0, 1, 2);
  clean(&l);

  l = launch("gather", 1);
  compute(&l, 6, out,
          "%i = arange {start 0, end 12} : i32[12]\n%a = reshape %i : i32[3,4]\n"
          "%j = arange {start 0, end 6} : i32[6]\n%two = const {value 2} : i32[6]\n"
          "%h = div %j, %two : i32[6]\n%k = reshape %h : i32[3,2]\n"
          "%g = gather %a, %k {axis 1} : i32[3,2]\n%r = reshape %g : i32[6]\n");
  SAME("gather", out, 0, 0, 5, 5, 10, 10);
  clean(&l);

  l = launch("3D trans", 1);
  compute(&l, 8, out,
          "%i = arange {start 0, end 8} : i32[8]\n%a = reshape %i : i32[2,2,2]\n"
          "%t = trans %a {perm [2, 0, 1]} : i32[2,2,2]\n%r = reshape %t : i32[8]\n");
  SAME("3D trans", out, 0, 2, 4, 6, 1, 3, 5, 7);
  clean(&l);
}

/* ---- control ---- */

#define CONSTS                                                                           \
  "%0 = const {value 0} : i32\n%1 = const {value 1} : i32\n%3 = const {value 3} : i32\n" \
  "%10 = const {value 10} : i32\n%m2 = const {value -2} : i32\n"

static void test_for(void) {
  int out[2];
  Launch l = launch("carried values swap", 1);
  compute(&l, 2, out,
          CONSTS
          "%a, %b = for %i = %0 to %10 step %3 carry (%p = %0, %q = %1) : i32, i32 {\n"
          " %s = add %p, %q : i32\n yield %q, %s\n}\n"
          "%x.1 = splat %a : i32[1]\n%x.2 = splat %b : i32[1]\n%r = cat %x.1, %x.2 : i32[2]\n");
  SAME("four steps of Fibonacci", out, 3, 5);
  clean(&l);

  l = launch("a loop that runs down", 1);
  compute(&l, 2, out,
          CONSTS
          "%a, %b = for %i = %10 to %1 step %m2 carry (%n = %0, %s = %0) : i32, i32 {\n"
          " %n1 = add %n, %1 : i32\n %s1 = add %s, %i : i32\n yield %n1, %s1\n}\n"
          "%x.1 = splat %a : i32[1]\n%x.2 = splat %b : i32[1]\n%r = cat %x.1, %x.2 : i32[2]\n");
  SAME("10 8 6 4 2", out, 5, 30);
  clean(&l);

  l = launch("no iteration, nested loops", 1);
  compute(&l, 2, out,
          CONSTS
          "%a = for %i = %10 to %1 step %1 carry (%n = %3) : i32 { yield %n }\n"
          "%b = for %i.1 = %0 to %10 step %1 carry (%s = %0) : i32 {\n"
          " %t = for %k = %0 to %i.1 step %1 carry (%u = %s) : i32 {\n"
          "  %v = add %u, %k : i32\n  yield %v\n }\n yield %t\n}\n"
          "%x.1 = splat %a : i32[1]\n%x.2 = splat %b : i32[1]\n%r = cat %x.1, %x.2 : i32[2]\n");
  SAME("sum of sums", out, 3, 120);
  clean(&l);

  l = launch("bounds at the end of the range", 1);
  compute(&l, 1, out,
          "%lo = const {value 2147483640} : i32\n%hi = const {value 2147483647} : i32\n"
          "%st = const {value 5} : i32\n%0 = const {value 0} : i32\n%1 = const {value 1} : i32\n"
          "%a = for %i = %lo to %hi step %st carry (%n = %0) : i32 {\n"
          " %n1 = add %n, %1 : i32\n yield %n1\n}\n%r = splat %a : i32[1]\n");
  SAME("two iterations", out, 2);
  clean(&l);
}

static void test_while_if(void) {
  int out[2];
  Launch l = launch("while", 1);
  compute(&l, 2, out,
          CONSTS
          "%27 = const {value 27} : i32\n%2 = const {value 2} : i32\n"
          "%v, %n = while carry (%c = %27, %k = %0) : i32, i32 {\n"
          " %go = ne %c, %1 : i1\n condition %go, %c, %k\n} do (%d: i32, %j: i32) {\n"
          " %o = rem %d, %2 : i32\n %odd = eq %o, %1 : i1\n"
          " %e = if %odd : i32 {\n  %t = mul %d, %3 : i32\n  %u = add %t, %1 : i32\n  yield %u\n"
          " } else {\n  %h = div %d, %2 : i32\n  yield %h\n }\n"
          " %j1 = add %j, %1 : i32\n yield %e, %j1\n}\n"
          "%x.1 = splat %v : i32[1]\n%x.2 = splat %n : i32[1]\n%r = cat %x.1, %x.2 : i32[2]\n");
  SAME("Collatz from 27", out, 1, 111);
  clean(&l);
}

/* ---- reduce, scan, histogram ---- */

/* x -> a*x + b, composed: associative, not commutative. */
#define COMPOSE                                                      \
  "(%a: i32, %b: i32, %c: i32, %d: i32) {\n %e = mul %a, %c : i32\n" \
  " %f = mul %b, %c : i32\n %g = add %f, %d : i32\n yield %e, %g\n}\n"

static void test_reduce(void) {
  int out[4];
  Launch l = launch("reduce an axis", 1);
  compute(&l, 4, out,
          "%i = arange {start 0, end 12} : i32[12]\n%a = reshape %i : i32[3,4]\n"
          "%r = reduce %a {axis 0, combine \"add\"} : i32[4]\n");
  SAME("columns", out, 12, 15, 18, 21);
  clean(&l);

  l = launch("reduce to scalars", 1);
  compute(&l, 3, out,
          "%i = arange {start 0, end 15} : i32[15]\n%a = reshape %i : i32[3,5]\n"
          "%r = reduce %a {axis 1, combine \"max\"} : i32[3]\n");
  SAME("rows", out, 4, 9, 14);
  clean(&l);

  /* Horner's scheme: the composition of x -> 2x + i for i = 0..6 */
  l = launch("operands keep their order", 1);
  compute(&l, 2, out,
          "%i = arange {start 0, end 7} : i32[7]\n%t = const {value 2} : i32[7]\n"
          "%p, %q = reduce %t, %i {axis 0} : i32, i32 " COMPOSE
          "%x.1 = splat %p : i32[1]\n%x.2 = splat %q : i32[1]\n%r = cat %x.1, %x.2 : i32[2]\n");
  SAME("composition", out, 128, 120);
  clean(&l);

  l = launch("argmax, a scalar from outside, control flow", 1);
  compute(&l, 2, out,
          "%i = arange {start 0, end 9} : i32[9]\n%four = const {value 4} : i32[9]\n"
          "%one = const {value 1} : i32\n%d = sub %i, %four : i32[9]\n%s = mul %d, %d : i32[9]\n"
          "%v, %k = reduce %s, %i {axis 0} : i32, i32 (%a: i32, %b: i32, %c: i32, %e: i32) {\n"
          " %gt = gt %a, %c : i1\n %eq = eq %a, %c : i1\n %lt = lt %b, %e : i1\n"
          " %tie = and %eq, %lt : i1\n %w = or %gt, %tie : i1\n"
          " %m, %n = if %w : i32, i32 { yield %a, %b } else { yield %c, %e }\n"
          " %n1 = mul %n, %one : i32\n yield %m, %n1\n}\n"
          "%x.1 = splat %v : i32[1]\n%x.2 = splat %k : i32[1]\n%r = cat %x.1, %x.2 : i32[2]\n");
  SAME("argmax, the first of ties", out, 16, 0);
  clean(&l);

  uint16_t half[1];
  l = launch("a sum of many f16", 1);
  EMPTY(&l, half);
  run(&l, "%p: *f16",
      "%v = const {value 0.5} : f16[8192]\n%s = reduce %v {axis 0, combine \"add\"} : f16\n"
      "store %p, %s\n");
  check(half[0] == 0x6c00, "4096 as f16");
  clean(&l);
}

static void test_scan(void) {
  int out[8];
  Launch l = launch("cumsum", 1);
  compute(&l, 7, out,
          "%i = arange {start 1, end 8} : i32[7]\n"
          "%r = scan %i {axis 0, combine \"add\"} : i32[7]\n");
  SAME("cumsum", out, 1, 3, 6, 10, 15, 21, 28);
  clean(&l);

  l = launch("cumsum, reverse, axis 0", 1);
  compute(&l, 6, out,
          "%i = arange {start 1, end 7} : i32[6]\n%a = reshape %i : i32[3,2]\n"
          "%s = scan %a {axis 0, reverse, combine \"add\"} : i32[3,2]\n%r = reshape %s : i32[6]\n");
  SAME("reverse", out, 9, 12, 8, 10, 5, 6);
  clean(&l);

  l = launch("a scan of pairs", 1);
  compute(&l, 7, out,
          "%i = arange {start 0, end 7} : i32[7]\n%t = const {value 2} : i32[7]\n"
          "%p, %r = scan %t, %i {axis 0} : i32[7], i32[7] " COMPOSE);
  SAME("compositions", out, 0, 1, 4, 11, 26, 57, 120);
  clean(&l);

  l = launch("a scan of pairs, reverse", 1);
  compute(&l, 5, out,
          "%i = arange {start 0, end 5} : i32[5]\n%t = const {value 2} : i32[5]\n"
          "%p, %r = scan %t, %i {axis 0, reverse} : i32[5], i32[5] " COMPOSE);
  SAME("from the right", out, 98, 49, 24, 11, 4);
  clean(&l);
}

static void test_histogram(void) {
  int out[4];
  Launch l = launch("histogram", 1);
  compute(&l, 4, out,
          "%i = arange {start 0, end 16} : i32[16]\n%k = const {value 5} : i32[16]\n"
          "%v = rem %i, %k : i32[16]\n%ten = const {value 10} : i32[16]\n"
          "%m = lt %i, %ten : i1[16]\n%r = histogram %v mask %m : i32[4]\n");
  SAME("histogram", out, 2, 2, 2, 2);
  clean(&l);
}

/* ---- dot ---- */

static void test_dot(void) {
  int out[4];
  Launch l = launch("dot of bytes, in batches", 1);
  compute(&l, 4, out,
          "%i = arange {start 0, end 12} : i32[12]\n%h = reshape %i : i32[2,2,3]\n"
          "%a = cast %h : i8[2,2,3]\n%k = trans %h {perm [0, 2, 1]} : i32[2,3,2]\n"
          "%s = slice %k {starts [0, 0, 0], strides [1, 1, 1]} : i32[2,3,1]\n"
          "%b = cast %s : i8[2,3,1]\n%c = const {value 1} : i32[2,2,1]\n"
          "%d = dot %a, %b, %c : i32[2,2,1]\n%r = reshape %d : i32[4]\n");
  SAME("batches", out, 6, 15, 150, 213);
  clean(&l);
}

/* c + a*b of 1x1 tiles, of the types given. */
static void dot_one(const char *in, const char *acc, const char *attrs, double a, double b,
                    double c, double want) {
  double out[1];
  Launch l = launch("dot of one", 1);
  EMPTY(&l, out);
  run(&l, "%p: *f64",
      arena_printf(l.arena,
                   "%%a = const {value %.17g} : %s[1,1]\n%%b = const {value %.17g} : %s[1,1]\n"
                   "%%c = const {value %.17g} : %s[1,1]\n%%d = dot %%a, %%b, %%c %s : %s[1,1]\n"
                   "%%e = reshape %%d : %s\n%%f = cast %%e : f64\nstore %%p, %%f\n",
                   a, in, b, in, c, acc, attrs, acc, acc));
  check(out[0] == want, arena_printf(l.arena, "dot %s %s %s", in, acc, attrs));
  if (out[0] != want) printf("  %a, expected %a\n", out[0], want);
  clean(&l);
}

static void test_dot_floats(void) {
  const double e = 0x1p-12;
  dot_one("f32", "f32", "{precision \"ieee\"}", 1 + e, 1 - e, -1, -0x1p-24);
  dot_one("f32", "f32", "{precision \"tf32x3\"}", 1 + e, 1 - e, -1, -0x1p-24);
  dot_one("f32", "f32", "", 1 + e, 1 - e, -1, -0x1p-11);
  dot_one("f32", "f32", "{precision \"tf32\"}", 1 + e, 1 - 4 * e, -1, -4 * e);
  dot_one("f32", "f32", "{precision \"tf32\"}", 1 + 0x1p-11, 1, 0, 1);
  dot_one("f32", "f32", "{precision \"tf32_rounded\"}", 1 + 0x1p-11, 1, 0, 1 + 0x1p-10);
  dot_one("f16", "f32", "", 2049, 2047, 1, 2048.0 * 2047 + 1);
  dot_one("f16", "f16", "", 1 + 0x1p-10, 1 + 0x1p-10, 0, 1 + 0x1p-9);
  dot_one("bf16", "f32", "", 3, 5, 0.125, 15.125);
  dot_one("f8e4nv", "f32", "", 1.125, 448, 0, 504);
  dot_one("f64", "f64", "", 1 + 0x1p-30, 1 - 0x1p-30, -1, -0x1p-60);
}

/* ---- views ---- */

static void test_views(void) {
  int x[12], out[6];
  for (int i = 0; i < 12; i++) x[i] = i + 100;
  Launch l = launch("a view with padding", 1);
  INPUT(&l, x);
  compute(&l, 6, out,
          "%m1 = const {value -1} : i32\n%2 = const {value 2} : i32\n%3 = const {value 3} : i32\n"
          "%4 = const {value 4} : i64\n%1 = const {value 1} : i64\n"
          "%v = view_load %x [%m1, %2] [%3, %3] [%4, %1] {check [0, 1]} : i32[3,2]\n"
          "%r = reshape %v : i32[6]\n");
  SAME("padding", out, 0, 0, 102, 0, 106, 0);
  clean(&l);

  l = launch("a view with other and mask", 1);
  INPUT(&l, x);
  compute(&l, 6, out,
          "%0 = const {value 0} : i32\n%4 = const {value 4} : i32\n%1 = const {value 1} : i32\n"
          "%i = arange {start 0, end 6} : i32[6]\n%one = const {value 1} : i32[6]\n"
          "%m = gt %i, %one : i1[6]\n%other = const {value -7} : i32[6]\n"
          "%r = view_load %x [%0] [%4] [%1] mask %m other %other {check [0]} : i32[6]\n");
  SAME("other", out, -7, -7, 102, 103, -7, -7);
  clean(&l);

  float y[4], z[4] = {9, 9, 9, 9};
  for (int i = 0; i < 4; i++) y[i] = (float)i;
  l = launch("a view that is stored", 1);
  INPUT(&l, y), INPUT(&l, z);
  run(&l, "%y: *f32, %z: *f32",
      "%0 = const {value 0} : i32\n%1 = const {value 1} : i32\n%2 = const {value 2} : i32\n"
      "%3 = const {value 3} : i32\n"
      "%v = view_load %y [%2] [%3] [%1] {check [0], pad \"nan\"} : f32[4]\n"
      "view_store %z [%0] [%2] [%1], %v {check [0]}\n");
  check(z[0] == 2 && isnan(z[1]) && z[2] == 9, "nan, and no store past the size");
  clean(&l);
}

/* ---- atomics, programs that meet ---- */

static void test_atomics(void) {
  int x[6] = {0, -1, 0, 5, -1000000, 1000000};
  Launch l = launch("kinds of atomics", 100);
  INPUT(&l, x);
  run(&l, "%x: *i32",
      "%pid = program_id {axis 0} : i32\n%1 = const {value 1} : i32\n%2 = const {value 2} : i32\n"
      "%4 = const {value 4} : i32\n%5 = const {value 5} : i32\n%7 = const {value 7} : i32\n"
      "%p1 = ptr_add %x, %1 : *i32\n%p2 = ptr_add %x, %2 : *i32\n"
      "%p4 = ptr_add %x, %4 : *i32\n%p5 = ptr_add %x, %5 : *i32\n"
      "%a = atomic_rmw %x, %1 {kind \"add\"} : i32\n"
      "%b = atomic_rmw %p1, %7 {kind \"and\", sem \"relaxed\"} : i32\n"
      "%c = atomic_rmw %p2, %pid {kind \"or\"} : i32\n"
      "%d = atomic_rmw %p4, %pid {kind \"max\"} : i32\n"
      "%e = atomic_rmw %p5, %pid {kind \"min\"} : i32\n");
  SAME("kinds", x, 100, 7, 127, 5, 99, 0);
  clean(&l);

  float sums[4] = {0};
  Launch m = launch("a histogram of programs", 200);
  INPUT(&m, sums);
  run(&m, "%s: *f32",
      "%pid = program_id {axis 0} : i32\n%i = arange {start 0, end 16} : i32[16]\n"
      "%n = splat %pid : i32[16]\n%j = add %i, %n : i32[16]\n%four = const {value 4} : i32[16]\n"
      "%k = rem %j, %four : i32[16]\n%p = splat %s : *f32[16]\n%a = ptr_add %p, %k : *f32[16]\n"
      "%one = const {value 1.0} : f32[16]\n%z = const {value 3} : i32[16]\n"
      "%m = gt %i, %z : i1[16]\n%o = atomic_rmw %a, %one mask %m {kind \"add\"} : f32[16]\n");
  check(sums[0] == 600 && sums[1] == 600 && sums[2] == 600 && sums[3] == 600, "all counted");
  clean(&m);
}

#define LOCK                                                                 \
  "while {\n %old = atomic_cas %lock, %zero, %one {sem \"acquire\"} : i32\n" \
  " %taken = eq %old, %one : i1\n condition %taken\n} do { yield }\n"

static void test_lock(void) {
  int count[1] = {0}, lock[1] = {0};
  Launch l = launch("a spin lock", 150);
  INPUT(&l, count), INPUT(&l, lock);
  run(&l, "%count: *i32, %lock: *i32",
      "%zero = const {value 0} : i32\n%one = const {value 1} : i32\n" LOCK
      "%v = load %count : i32\n%w = add %v, %one : i32\nbarrier\nstore %count, %w\nbarrier\n"
      "%u = atomic_rmw %lock, %zero {kind \"xchg\", sem \"release\"} : i32\n");
  check(count[0] == 150 && lock[0] == 0, "the lock holds");
  clean(&l);

  int open_count[1] = {0};
  l = launch("the same without the lock", 4);
  INPUT(&l, open_count);
  run(&l, "%count: *i32",
      "%one = const {value 1} : i32\n%v = load %count : i32\n%w = add %v, %one : i32\n"
      "store %count, %w\n");
  check(diag_errors(l.diags) == 2 && strstr(l.messages, "without synchronization"), "a race");
  arena_free(l.arena);
}

/* Four rows of four elements, `step` elements apart: at a step of 3 each row meets the next. */
#define ROWS(step)                                                            \
  "%i = arange {start 0, end 16} : i32[16]\n%4 = const {value 4} : i32[16]\n" \
  "%step = const {value " step                                                \
  "} : i32[16]\n%row = div %i, %4 : i32[16]\n"                                \
  "%col = rem %i, %4 : i32[16]\n%at = mul %row, %step : i32[16]\n"            \
  "%o = add %at, %col : i32[16]\n%b = splat %x : *i32[16]\n"                  \
  "%a = ptr_add %b, %o : *i32[16]\n"

static void test_rows_that_meet(void) {
  int x[16] = {0};
  Launch l = launch("a store that writes elements twice", 1);
  INPUT(&l, x);
  run(&l, "%x: *i32", ROWS("3") "store %a, %i\n");
  finds(&l, "this store writes x[3] more than once, with different values");

  l = launch("rows apart", 1);
  INPUT(&l, x);
  run(&l, "%x: *i32", ROWS("4") "store %a, %i\n");
  clean(&l);

  l = launch("twice, but one value", 1);
  INPUT(&l, x);
  run(&l, "%x: *i32", ROWS("3") "store %a, %4\n");
  clean(&l);

  l = launch("the first of a row is masked off", 1);
  INPUT(&l, x);
  run(&l, "%x: *i32", ROWS("3") "%0 = const {value 0} : i32[16]\n%m = gt %col, %0 : i1[16]\n"
                                "store %a, %i mask %m\n");
  clean(&l);

  l = launch("rows in descending order", 1);
  INPUT(&l, x);
  run(&l, "%x: *i32", ROWS("4") "%15 = const {value 15} : i32[16]\n%d = sub %15, %o : i32[16]\n"
                                "%e = ptr_add %b, %d : *i32[16]\nstore %e, %i\n");
  clean(&l);
}

static void test_ticket(void) {
  int part[100], ticket[1] = {0}, sum[1];
  Launch l = launch("the last program adds up", 100);
  EMPTY(&l, part), INPUT(&l, ticket), EMPTY(&l, sum);
  run(&l, "%part: *i32, %ticket: *i32, %sum: *i32",
      "%pid = program_id {axis 0} : i32\n%p = ptr_add %part, %pid : *i32\nstore %p, %pid\n"
      "%1 = const {value 1} : i32\n%last = const {value 99} : i32\n"
      "%t = atomic_rmw %ticket, %1 {kind \"add\"} : i32\n%is = eq %t, %last : i1\n"
      "if %is {\n %i = arange {start 0, end 100} : i32[100]\n %b = splat %part : *i32[100]\n"
      " %a = ptr_add %b, %i : *i32[100]\n %v = load %a : i32[100]\n"
      " %s = reduce %v {axis 0, combine \"add\"} : i32\n store %sum, %s\n yield\n}\n");
  SAME("the sum", sum, 4950);
  clean(&l);
}

/* Every program waits for the next one: the first can go on when all have started. */
#define CHAIN                                                                              \
  "%pid = program_id {axis 0} : i32\n%n = num_programs {axis 0} : i32\n"                   \
  "%0 = const {value 0} : i32\n%1 = const {value 1} : i32\n%next = add %pid, %1 : i32\n"   \
  "%more = lt %next, %n : i1\n"                                                            \
  "if %more {\n %q = ptr_add %flag, %next : *i32\n while {\n"                              \
  "  %f = atomic_rmw %q, %0 {kind \"add\"} : i32\n  %w = eq %f, %0 : i1\n  condition %w\n" \
  " } do { yield }\n yield\n}\n"                                                           \
  "%p = ptr_add %flag, %pid : *i32\n"

static void test_waiting(void) {
  int flag[200] = {0};
  Launch l = launch("programs that wait for later ones", 200);
  INPUT(&l, flag);
  run(&l, "%flag: *i32", CHAIN "%u = atomic_rmw %p, %1 {kind \"xchg\"} : i32\n");
  check(flag[0] == 1 && flag[199] == 1, "all went on");
  clean(&l);

  int stuck[8] = {0};
  l = launch("deadlock", 8);
  add_buffer(&l, "stuck", stuck, sizeof stuck, true);
  run(&l, "%flag: *i32", CHAIN "%u = atomic_rmw %p, %0 {kind \"xchg\"} : i32\n");
  check(l.status == -1, "a deadlock stops the launch");
  finds(&l,
        "k.tile:10:2: error: "
        "deadlock: 7 programs wait, and none is left to wake them");

  l = launch("a flag that is polled by plain loads", 2);
  INPUT(&l, flag);
  flag[0] = flag[1] = 0;
  run(&l, "%flag: *i32",
      "%pid = program_id {axis 0} : i32\n%0 = const {value 0} : i32\n%1 = const {value 1} : i32\n"
      "%first = eq %pid, %0 : i1\nif %first {\n while {\n  %f = load %flag {volatile} : i32\n"
      "  %w = eq %f, %0 : i1\n  condition %w\n } do { yield }\n yield\n} else {\n"
      " %u = atomic_rmw %flag, %1 {kind \"xchg\"} : i32\n yield\n}\n");
  clean(&l);
}

#define ENDLESS(op)                                                                     \
  "%0 = const {value 0} : i64\n%1 = const {value 1} : i64\n%t = const {value 1} : i1\n" \
  "%r = while carry (%a = %0) : i64 {\n condition %t, %a\n} do (%b: i64) {\n %c = " op  \
  " %b, %1 : i64\n yield %c\n}\n"

static void test_steps(void) {
  Launch l = launch("a loop that never ends", 1);
  l.limits.steps = 1000;
  run(&l, "", ENDLESS("add"));
  check(l.status == -1, "it stops");
  finds(&l, "error: stopped after 1000 operations: is a loop infinite?");

  l = launch("one that counts", 2);
  l.limits.iterations = 1000;
  run(&l, "", ENDLESS("add"));
  check(l.status == -1, "it stops");
  finds(&l,
        "k.tile:5:6: error: stopped after 1000 iterations of `while` in which no program ended: "
        "is this loop infinite?");

  l = launch("one that goes to and fro", 2);
  run(&l, "", ENDLESS("xor"));
  check(l.status == -1, "it stops");
  finds(&l, "k.tile:5:6: error: infinite loop: in program 0 its values repeat");
}

/* ---- findings ---- */

#define TAIL                                                                         \
  "%i = arange {start 0, end 8} : i32[8]\n%k = const {value 6} : i32[8]\n"           \
  "%m = lt %i, %k : i1[8]\n%p = splat %x : *f32[8]\n%a = ptr_add %p, %i : *f32[8]\n" \
  "%v = load %a mask %m : f32[8]\n"

static void test_undefined(void) {
  float x[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  Launch l = launch("undefined, but not used", 1);
  INPUT(&l, x);
  run(&l, "%x: *f32",
      TAIL
      "%z = const {value 0.0} : f32[8]\n%w = add %v, %v : f32[8]\n"
      "%s = select %m, %w, %z : f32[8]\n%r = reduce %s {axis 0, combine \"add\"} : f32\n"
      "%big = gt %w, %z : i1[8]\n%n = and %m, %big : i1[8]\nstore %a, %w mask %n\n"
      "store %x, %r\n");
  check(x[0] == 12 && x[5] == 2 && x[6] == 1, "masked");
  clean(&l);

  l = launch("undefined, stored", 1);
  INPUT(&l, x);
  run(&l, "%x: *f32", TAIL "%w = add %v, %v : f32[8]\nstore %a, %w\n");
  check(strstr(l.messages, "note: it comes from this load, whose mask is false") != NULL, "why");
  finds(&l, "k.tile:9:1: error: the stored value is undefined here");

  l = launch("undefined, summed", 1);
  INPUT(&l, x);
  run(&l, "%x: *f32", TAIL "%r = reduce %v {axis 0, combine \"add\"} : f32\nstore %x, %r\n");
  finds(&l, "error: the stored value is undefined here");

  l = launch("undefined, branched on", 1);
  run(&l, "", "%u = undef : i1\nif %u { yield }\n");
  finds(&l, "k.tile:3:1: error: the condition is undefined here");

  l = launch("undefined address", 1);
  INPUT(&l, x);
  run(&l, "%x: *f32", "%u = undef : i32\n%p = ptr_add %x, %u : *f32\n%v = load %p : f32\n");
  finds(&l, "error: the address is undefined here");
}

static void test_wrap(void) {
  float x[8] = {0};
  Launch l = launch("an index that overflows", 1);
  INPUT(&l, x);
  run(&l, "%x: *f32",
      "%a = const {value 65536} : i32\n%b = mul %a, %a : i32\n%c = cast %b : i64\n"
      "%p = ptr_add %x, %c : *f32\n%v = load %p : f32\n");
  check(strstr(l.messages, "k.tile:3:6: note: this mul overflows i32") != NULL, "where");
  finds(&l, "error: the address comes from i32 arithmetic that overflowed");

  l = launch("a hash that overflows", 1);
  INPUT(&l, x);
  run(&l, "%x: *f32",
      "%a = const {value 65537} : i32\n%b = mul %a, %a : i32\n%m = const {value 7} : i32\n"
      "%c = and %b, %m : i32\n%p = ptr_add %x, %c : *f32\n%v = load %p : f32\n");
  clean(&l);

  l = launch("overflow where the mask is false", 1);
  INPUT(&l, x);
  run(&l, "%x: *f32",
      "%i = arange {start 0, end 2} : i32[2]\n%big = const {value 2147483647} : i32[2]\n"
      "%j = mul %i, %big : i32[2]\n%t = add %j, %j : i32[2]\n%one = const {value 1} : i32[2]\n"
      "%m = lt %i, %one : i1[2]\n%p = splat %x : *f32[2]\n%a = ptr_add %p, %t : *f32[2]\n"
      "%z = const {value 0.0} : f32[2]\nstore %a, %z mask %m\n");
  clean(&l);
}

static void test_claims(void) {
  Launch l = launch("device_assert", 3);
  run(&l, "",
      "%pid = program_id {axis 0} : i32\n%1 = const {value 1} : i32\n%c = le %pid, %1 : i1\n"
      "assert %c {message \"pid is small\"}\n");
  check(strstr(l.messages, "note: in program 2") != NULL, "which program");
  finds(&l, "k.tile:5:1: error: device_assert failed: pid is small");

  l = launch("assume", 3);
  run(&l, "",
      "%pid = program_id {axis 0} : i32\n%1 = const {value 0} : i32\n%c = eq %pid, %1 : i1\n"
      "assume %c\n");
  check(strstr(l.messages, "2 times in all") != NULL, "how often");
  finds(&l, "error: the assumption does not hold");

  l = launch("a step of zero", 1);
  run(&l, "", "%0 = const {value 0} : i32\nfor %i = %0 to %0 step %0 { yield }\n");
  finds(&l, "k.tile:3:1: error: the loop's step is zero");

  int out[4];
  l = launch("gather outside", 1);
  compute(&l, 4, out,
          "%i = arange {start 1, end 5} : i32[4]\n%g = gather %i, %i {axis 0} : i32[4]\n"
          "%k = const {value 4} : i32[4]\n%m = lt %i, %k : i1[4]\n%z = const {value 0} : i32[4]\n"
          "%r = select %m, %g, %z : i32[4]\n");
  finds(&l, "error: the index 4 is outside 0..4");
}

static void test_bounds(void) {
  float x[8] = {0};
  Launch l = launch("a missing mask", 3);
  INPUT(&l, x);
  run(&l, "%x: *f32",
      "%pid = program_id {axis 0} : i32\n%k = const {value 4} : i32\n%s = mul %pid, %k : i32\n"
      "%b = splat %s : i32[4]\n%r = arange {start 0, end 4} : i32[4]\n%i = add %b, %r : i32[4]\n"
      "%p = splat %x : *f32[4]\n%a = ptr_add %p, %i : *f32[4]\n%v = load %a : f32[4]\n");
  check(strstr(l.messages, "note: first in program 2, 4 times in all") != NULL, "count");
  check(strstr(l.messages, "hint: a mask such as `offsets < n`") != NULL, "hint");
  finds(&l,
        "k.tile:10:6: error: "
        "out of bounds: load of 4 bytes at x[8], right past the end of 'x' (8 x 4 bytes)");
}

/* Many programs, each with large tiles, give their storage back. */
static void test_storage(void) {
  int out[1] = {0};
  Launch l = launch("large tiles", 20);
  INPUT(&l, out);
  run(&l, "%out: *i32",
      "%a = arange {start 0, end 1048576} : i32[1048576]\n%b = add %a, %a : i32[1048576]\n"
      "%c = mul %b, %a : i32[1048576]\n%s = reduce %c {axis 0, combine \"xor\"} : i32\n"
      "%o = atomic_rmw %out, %s {kind \"add\"} : i32\n");
  clean(&l);
}

int main(void) {
  test_vector_add();
  test_programs();
  test_dtypes();
  test_pointers();
  test_shape();
  test_for();
  test_while_if();
  test_reduce();
  test_scan();
  test_histogram();
  test_dot();
  test_dot_floats();
  test_views();
  test_atomics();
  test_lock();
  test_rows_that_meet();
  test_ticket();
  test_waiting();
  test_steps();
  test_undefined();
  test_wrap();
  test_claims();
  test_bounds();
  test_storage();
  return report();
}
