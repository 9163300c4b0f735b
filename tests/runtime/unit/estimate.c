/* The model of times: what it counts of small kernels, where the right numbers are known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/estimate_request.h"
#include "tests/support/tally.h"

/* What follows from a few of the programs is right within this. */
static const double SAMPLED = 0.05;

static void check_within(double got, double want, double share, const char *what) {
  bool same = fabs(got - want) <= share * fabs(want);
  check(same, what);
  if (!same) printf("  %.10g, not %.10g\n", got, want);
}

static void check_number(double got, double want, const char *what) {
  check_within(got, want, 1e-6, what);
}

/* ---- a kernel, and what the model says of it ---- */

enum { ARGS_MAX = 16 };

typedef struct {
  const char *body, *params;
  nereid_arg args[ARGS_MAX];
  nereid_binding ints[ARGS_MAX];
  uint32_t grid[3];
  int warps;
} Case;

typedef struct {
  int code;
  Estimate estimate;
  LaunchStats stats;
} Found;

static DevicePeaks peaks;
static const char *target; /* NULL: a GPU's */

static Found estimate_stages(const Case *c, int stages) {
  static char text[4096];
  snprintf(text, sizeof text,
           "import triton\nimport triton.language as tl\n\n@triton.jit\ndef f(%s):\n%s", c->params,
           c->body);
  nereid_request r = {.source.text = text, .args = c->args, .num_warps = c->warps};
  r.num_stages = stages;
  r.target = target;
  r.source.size = strlen(text);
  r.source.path = "f.py";
  EstimateLaunch l = {.request = &r, .peaks = &peaks, .ints = c->ints};
  while (r.nargs < ARGS_MAX && c->args[r.nargs].name) r.nargs++;
  while (l.nints < ARGS_MAX && c->ints[l.nints].name) l.nints++;
  memcpy(l.grid, c->grid, sizeof l.grid);
  Found f = {0};
  f.code = estimate_explain(&f.estimate, &f.stats, &l);
  check(f.code == 0, "it can be compiled");
  if (f.code) printf("  %s\n", nereid_error_message());
  return f;
}

static Found estimate(const Case *c) { return estimate_stages(c, 0); }

#define FLAT_PARAMS "x, y, n, B: tl.constexpr"
#define FLAT_ARGS                                                                                  \
  {                                                                                                \
    {"x", "*fp32:16", NULL}, {"y", "*fp32:16", NULL}, {"n", "i32:16", NULL}, { "B", NULL, "1024" } \
  }
#define FLAT_START                                    \
  "    at = tl.program_id(0) * B + tl.arange(0, B)\n" \
  "    mask = at < n\n"

/* A CPU of four cores; its own are measured, and not two times alike. */
static void take_cpu(const char *name) {
  target = name;
  peaks = (DevicePeaks){.processors = 4, .clock = 3e9, .bandwidth = 4e10, .cache = 32 << 20};
}

static void take_gpu(void) {
  target = NULL;
  peaks_of_target(&peaks, "sm_90a");
}

/* ---- memory ---- */

/* x + y: two words in, one out, one addition for each element, whatever runs it. */
static void check_add(Case *c, double n) {
  Found f = estimate(c);
  check_number(f.estimate.memory_bytes, 12 * n, "a sum of vectors moves 12 bytes an element");
  check_number(f.estimate.f32_flops, n, "and adds once");
  check_number(f.estimate.tensor_flops, 0, "without products");
}

static void test_add(void) {
  Case c = {FLAT_START
            "    v = tl.load(x + at, mask=mask) + tl.load(z + at, mask=mask)\n"
            "    tl.store(y + at, v, mask=mask)\n",
            "x, y, z, n, B: tl.constexpr",
            {{"x", "*fp32:16", NULL},
             {"y", "*fp32:16", NULL},
             {"z", "*fp32:16", NULL},
             {"n", "i32:16", NULL},
             {"B", NULL, "1024"}},
            {{"n", 1 << 20}},
            {1024},
            4};
  check_add(&c, 1 << 20);
  c.warps = 8;
  check_add(&c, 1 << 20);
  c.warps = 0;
  take_cpu("cpu:8");
  check_add(&c, 1 << 20);
  take_cpu("cpu:4");
  check_add(&c, 1 << 20);
  take_gpu();
}

static void test_copy(void) {
  Case c = {FLAT_START "    tl.store(y + at, tl.load(x + at, mask=mask) + 1, mask=mask)\n",
            FLAT_PARAMS,
            FLAT_ARGS,
            {{"n", 1 << 20}},
            {1024},
            4};
  Found f = estimate(&c);
  check_number(f.stats.read, 4 << 20, "a copy reads each byte once");
  check_number(f.stats.written, 4 << 20, "and writes each byte once");
  check_number(f.estimate.lines, 1, "in whole lines");
  check_number(f.estimate.f32_flops, 1 << 20, "with an addition for each");
  check(f.estimate.low_us < f.estimate.us && f.estimate.us < f.estimate.high_us, "an error bar");
  c.ints[0].value = 1 << 19;
  check_within(estimate(&c).stats.read, 2 << 20, SAMPLED, "what the mask leaves out is not read");
  c.ints[0].name = NULL;
  check_number(estimate(&c).stats.read, 4 << 20, "without a value, the mask holds");
}

static void test_strides(void) {
  Case c = {FLAT_START "    tl.store(y + at, tl.load(x + 8 * at, mask=mask), mask=mask)\n",
            FLAT_PARAMS,
            FLAT_ARGS,
            {{"n", 1 << 16}},
            {64},
            4};
  Found f = estimate(&c);
  check_within(f.stats.read, 32 << 16, SAMPLED, "every eighth word is a sector each");
  check(f.estimate.lines > 4, "a warp's access touches many lines");
}

static void test_scattered(void) {
  Case c = {FLAT_START
            "    i = tl.load(x + at, mask=mask).to(tl.int32)\n"
            "    tl.store(y + at, tl.load(y + i, mask=mask), mask=mask)\n",
            FLAT_PARAMS,
            FLAT_ARGS,
            {{"n", 1 << 16}},
            {64},
            4};
  c.args[0].type = "*i32:16";
  check(estimate(&c).stats.loaded > 32 * 1024, "places that are loaded are scattered");
}

/* What many programs read comes from memory once, if the cache holds it. */
static void test_shared(void) {
  Case c = {
      "    k = tl.arange(0, B)\n"
      "    v = tl.load(x + k)\n"
      "    tl.store(y + tl.program_id(0) * B + k, v + n)\n",
      FLAT_PARAMS,
      FLAT_ARGS,
      {{"n", 16}},
      {500},
      4};
  Found f = estimate(&c);
  check_number(f.stats.read, 4096, "a row that all read comes once from memory");
  check_number(f.stats.loaded, 4096, "and for each program from the cache");
}

/* ---- loops ---- */

static void test_loop(void) {
  Case c = {
      "    total = 0.0\n"
      "    for start in range(0, n, B):\n"
      "        at = start + tl.arange(0, B)\n"
      "        total += tl.sum(tl.load(x + tl.program_id(0) * n + at, mask=at < n), 0)\n"
      "    tl.store(y + tl.program_id(0), total)\n",
      FLAT_PARAMS,
      FLAT_ARGS,
      {{"n", 100 * 1024}},
      {8},
      4};
  Found f = estimate(&c);
  check_number(f.stats.read, 8 * 4 * 100 * 1024, "the middle of a loop counts");
  double once = f.stats.clocks;
  c.ints[0].value *= 10;
  f = estimate(&c);
  check_number(f.stats.read, 10 * 8 * 4 * 100 * 1024, "so does that of a longer one");
  check(f.stats.clocks > 9 * once && f.stats.clocks < 11 * once, "which takes longer");
}

#define PLANE(row, column)                       \
  "    rows = tl.program_id(" row                \
  ") * 16 + tl.arange(0, 16)\n"                  \
  "    cols = tl.program_id(" column             \
  ") * B + tl.arange(0, B)\n"                    \
  "    at = rows[:, None] * n + cols[None, :]\n" \
  "    tl.store(y + at, tl.load(x + at))\n"

/* A plane of 1024 by 4096 in blocks of 16 rows. */
static Found estimate_plane(const char *columns, bool down) {
  uint32_t blocks = 4096 / (uint32_t)atoi(columns);
  Case c = {PLANE("1", "0"), FLAT_PARAMS, FLAT_ARGS, {{"n", 4096}}, {blocks, 64}, 4};
  if (down) c = (Case){PLANE("0", "1"), FLAT_PARAMS, FLAT_ARGS, {{"n", 4096}}, {64, blocks}, 4};
  c.args[3].value = columns;
  return estimate(&c);
}

static void test_runs(void) {
  double bytes = 2 * 4.0 * 1024 * 4096;
  Found f = estimate_plane("64", true);
  check_number(f.stats.busy, bytes, "memory reads runs of 256 bytes as fast as longer ones");
  f = estimate_plane("16", true);
  check(f.stats.busy > 1.2 * bytes, "it takes longer for runs of 64");
  check_number(f.stats.read + f.stats.written, bytes, "but moves as much");
  f = estimate_plane("16", false);
  check_number(f.stats.busy, bytes, "not where the next programs read on");
}

/* 32 registers of values a thread: a sum uses them up one by one, what needs their largest one
 * first has to keep them all. */
static void test_streamed(void) {
  Case sum = {
      "    v = tl.load(x + tl.arange(0, B))\n"
      "    tl.store(y, tl.sum(v, 0))\n",
      FLAT_PARAMS,
      FLAT_ARGS,
      {{"n", 1}},
      {1},
      1};
  double few = estimate(&sum).stats.clocks;
  sum.warps = 4;
  double fewer = estimate(&sum).stats.clocks;
  check(few > fewer + 500, "the second half of many values waits for the first");
  Case both = sum;
  both.body =
      "    v = tl.load(x + tl.arange(0, B))\n"
      "    tl.store(y, tl.sum(tl.exp(v - tl.max(v, 0)), 0))\n";
  double four = estimate(&both).stats.clocks;
  both.warps = 1;
  check(estimate(&both).stats.clocks < four + 500, "values that are kept are loaded together");
}

/* Programs of a triangle: the last one has twice as much to do as the mean. */
static void test_uneven(void) {
  Case c = {
      "    total = 0.0\n"
      "    for start in range(0, (tl.program_id(0) + 1) * n, B):\n"
      "        total += tl.sum(tl.load(x + start + tl.arange(0, B)), 0)\n"
      "    tl.store(y + tl.program_id(0), total)\n",
      FLAT_PARAMS,
      FLAT_ARGS,
      {{"n", 1024}},
      {64},
      4};
  Found f = estimate(&c);
  double share = f.stats.clocks_most / f.stats.clocks;
  check(share > 1.5 && share < 2, "the longest program of a triangle");
  check_within(f.stats.loaded, 4 * 1024 * 32.5, SAMPLED, "the mean one loads half a row");
  check_within(f.stats.read, 4 * 1024 * 64, 0.15, "and the array comes about once");
}

/* Each row is read twice: some of it is in the cache still, which is smaller than all rows. */
static void test_twice(void) {
  enum { ROWS = 2048, COLUMNS = 65536 };
  double bytes = 4.0 * ROWS * COLUMNS;
  Case c = {
      "    row = x + tl.program_id(0) * n\n"
      "    total = 0.0\n"
      "    for start in range(0, n, B):\n"
      "        total += tl.sum(tl.load(row + start + tl.arange(0, B)), 0)\n"
      "    for start in range(0, n, B):\n"
      "        v = tl.load(row + start + tl.arange(0, B))\n"
      "        tl.store(y + tl.program_id(0) * n + start + tl.arange(0, B), v / total)\n",
      FLAT_PARAMS,
      FLAT_ARGS,
      {{"n", COLUMNS}},
      {ROWS},
      4};
  Found f = estimate(&c);
  check_number(f.stats.loaded, 2.0 * 4 * COLUMNS, "a row comes twice from the cache");
  check_number(f.stats.written, bytes, "it is written once");
  check(f.stats.read > bytes && f.stats.read < 2 * bytes, "between once and twice from memory");
}

/* Loops in loops, of bounds that nobody knows. */
static void test_deep(void) {
  enum { DEPTH = 12 };
  char body[2048] = "    total = 0.0\n";
  size_t n = strlen(body);
  for (int i = 0; i < DEPTH; i++)
    n += (size_t)snprintf(body + n, sizeof body - n, "%*sfor i%d in range(0, n):\n", 4 + 2 * i, "",
                          i);
  snprintf(body + n, sizeof body - n, "%*stotal += tl.load(x + i11)\n    tl.store(y, total)\n",
           4 + 2 * DEPTH, "");
  Case c = {body, FLAT_PARAMS, FLAT_ARGS, {{NULL, 0}}, {4}, 4};
  check(estimate(&c).estimate.us > 0, "twelve loops deep");
}

/* ---- products ---- */

static void test_product(void) {
  Case c = {
      "    m = tl.program_id(0) * 64 + tl.arange(0, 64)\n"
      "    k = tl.arange(0, 64)\n"
      "    acc = tl.zeros((64, 64), tl.float32)\n"
      "    for start in range(0, n, 64):\n"
      "        a = tl.load(x + m[:, None] * n + start + k[None, :])\n"
      "        b = tl.load(y + (start + k[:, None]) * 64 + k[None, :])\n"
      "        acc = tl.dot(a, b, acc)\n"
      "    tl.store(out + m[:, None] * 64 + k[None, :], acc)\n",
      "x, y, out, n",
      {{"x", "*bf16:16", NULL},
       {"y", "*bf16:16", NULL},
       {"out", "*fp32:16", NULL},
       {"n", "i32:16", NULL}},
      {{"n", 4096}},
      {32},
      4};
  Found f = estimate(&c);
  check_number(f.estimate.tensor_flops, 2.0 * 32 * 64 * 64 * 4096, "operations of a product");
  check_number(f.stats.read, 2.0 * (32 * 64 * 4096 + 4096 * 64), "each operand is read once");
  check(f.estimate.stages > 1 && f.estimate.shared > 0, "operands go through a ring");
  double slow = f.estimate.us;
  peaks.clock /= 2;
  check(estimate(&c).estimate.us > 1.5 * slow, "half the clock takes longer");
  take_gpu();
}

typedef struct {
  int m, n, k, warps, stages;
} Tile;

/* x by y, where y is [n, k], in bf16. */
static Found product_found(int m, int n, int k, const Tile *t) {
  char numbers[3][16];
  Case c = {
      "    rows = tl.cdiv(m, BM)\n"
      "    i = tl.program_id(0) % rows * BM + tl.arange(0, BM)\n"
      "    j = tl.program_id(0) // rows * BN + tl.arange(0, BN)\n"
      "    at = tl.arange(0, BK)\n"
      "    acc = tl.zeros((BM, BN), tl.float32)\n"
      "    for start in range(0, k, BK):\n"
      "        a = tl.load(x + i[:, None] * k + start + at[None, :])\n"
      "        b = tl.load(y + j[None, :] * k + start + at[:, None])\n"
      "        acc = tl.dot(a, b, acc)\n"
      "    tl.store(out + i[:, None] * n + j[None, :], acc.to(tl.bfloat16))\n",
      "x, y, out, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr",
      {{"x", "*bf16:16", NULL},
       {"y", "*bf16:16", NULL},
       {"out", "*bf16:16", NULL},
       {"m", "i32:16", NULL},
       {"n", "i32:16", NULL},
       {"k", k % 16 ? "i32" : "i32:16", NULL},
       {"BM", NULL, numbers[0]},
       {"BN", NULL, numbers[1]},
       {"BK", NULL, numbers[2]}},
      {{"m", m}, {"n", n}, {"k", k}},
      {(uint32_t)((m + t->m - 1) / t->m * ((n + t->n - 1) / t->n))},
      t->warps};
  snprintf(numbers[0], sizeof numbers[0], "%d", t->m);
  snprintf(numbers[1], sizeof numbers[1], "%d", t->n);
  snprintf(numbers[2], sizeof numbers[2], "%d", t->k);
  return estimate_stages(&c, t->stages);
}

static double product_us(int m, int n, int k, const Tile *t) {
  return product_found(m, n, k, t).estimate.us;
}

/* Code that a launch runs, other than the kernel's first. */
static void test_late_code(void) {
  static const Tile tile = {64, 128, 64, 4, 3};
  Found few = product_found(1024, 1024, 4096, &tile);
  Found many = product_found(8192, 8192, 4096, &tile);
  check(many.stats.stages == tile.stages, "many programs have the rings of the source");
  check(few.stats.stages > tile.stages + 1, "few have deeper ones");
  check(few.stats.shared > many.stats.shared, "which take more memory");
  check(product_found(1024, 1024, 128, &tile).stats.stages == tile.stages,
        "unless their loops don't fill them");
  Found even = product_found(2048, 2048, 2048, &tile);
  Found odd = product_found(2048, 2048, 2044, &tile);
  check(odd.stats.counts.issued > 2 * even.stats.counts.issued,
        "threads copy rows that begin at no multiples of 16 bytes");
}

/* The order of times that one H200 took (bench/tune.md), where the slower one is not chosen. */
static void test_rings(void) {
  static const struct {
    int m, n, k;
    Tile fast, slow;
    const char *why;
  } measured[] = {
      {256, 3072, 11008, {64, 128, 64, 4, 5}, {64, 128, 128, 4, 3}, "four small steps ahead"},
      {1024, 1024, 11008, {64, 128, 64, 4, 5}, {64, 128, 128, 4, 3}, "the same, of fewer columns"},
      {512, 4096, 4096, {128, 128, 64, 8, 5}, {128, 128, 128, 4, 3}, "of a tile of 8 warps"},
      {4096, 11008, 1536, {128, 256, 64, 8, 3}, {128, 128, 32, 4, 4}, "large tiles in many rounds"},
  };
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    double fast = product_us(measured[i].m, measured[i].n, measured[i].k, &measured[i].fast);
    double slow = product_us(measured[i].m, measured[i].n, measured[i].k, &measured[i].slow);
    check(fast < slow, measured[i].why);
    if (fast >= slow) printf("  %.1f and %.1f us\n", fast, slow);
  }
}

/* Clocks of a step that few programs of one H200 took, with rings as deep as memory allows. */
static void test_steps(void) {
  static const struct {
    Tile tile;
    double clocks;
  } measured[] = {
      {{64, 64, 64, 4, 4}, 309}, {{128, 128, 32, 4, 4}, 331}, {{64, 128, 64, 4, 4}, 331},
      {{64, 256, 32, 8, 4}, 339}, {{128, 128, 64, 4, 3}, 553}, {{256, 128, 32, 8, 4}, 538},
  };
  static const double CLOSE = 0.15;
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    const Tile *t = &measured[i].tile;
    Found f = product_found(256, 512, 1 << 14, t);
    double clocks = f.stats.clocks / f.stats.waits;
    check_within(clocks, measured[i].clocks, CLOSE, "a step of a deep ring");
  }
}

/* m, n, k = 32, 64, 128 for each of 16 programs: on a CPU, products are multiply-adds. */
static void test_small_products(void) {
  static const char *const types[] = {"*fp32:16", "*bf16:16", "*fp16:16"};
  double flops = 16 * 2.0 * 32 * 64 * 128;
  Case c = {
      "    i = tl.arange(0, 32)\n"
      "    j = tl.arange(0, 64)\n"
      "    k = tl.arange(0, 128)\n"
      "    a = tl.load(x + tl.program_id(0) * 32 * 128 + i[:, None] * 128 + k[None, :])\n"
      "    b = tl.load(y + k[:, None] * 64 + j[None, :])\n"
      "    acc = tl.dot(a, b)\n"
      "    tl.store(out + tl.program_id(0) * 32 * 64 + i[:, None] * 64 + j[None, :], acc)\n",
      "x, y, out",
      {{"x", NULL, NULL}, {"y", NULL, NULL}, {"out", "*fp32:16", NULL}},
      {{NULL, 0}},
      {16},
      4};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    c.args[0].type = c.args[1].type = types[i];
    c.warps = 4;
    take_gpu();
    check_number(estimate(&c).estimate.tensor_flops, flops, "a product's operations are 2mnk");
    c.warps = 0;
    take_cpu("cpu:8");
    Found f = estimate(&c);
    check_number(f.estimate.f32_flops, flops, "and as many on a CPU");
    check(f.estimate.us > 0 && f.estimate.low_us > 0, "which has a time there as well");
  }
  take_gpu();
}

/* ---- the order of candidates ---- */

/* Candidates 0 and 1 have all but their times in common, 2 is another kind, 3 is not known. */
static void test_order(void) {
  enum { N = 4 };
  static const Estimate big = {.programs = 64, .warps = 8, .occupancy = 1, .registers = 200},
                        small = {.programs = 1024, .warps = 2, .occupancy = 8, .registers = 64};
  Estimate e[N] = {big, big, small};
  const Estimate *all[N] = {&e[0], &e[1], &e[2], &e[3]};
  size_t order[N];
  e[0].us = 100;
  e[1].us = 101;
  e[2].us = 105;
  estimate_order(order, all, N);
  check(order[0] == 0, "the fastest is tried first");
  check(order[1] == 2 && order[2] == 1, "then one that is unlike it");
  check(order[3] == 3, "and what nothing is known of at last");
  e[2].us = 120;
  estimate_order(order, all, N);
  check(order[1] == 1, "but not one that is much slower");
  estimate_order(order, all, 0);
}

int main(void) {
  take_gpu();
  test_add();
  test_copy();
  test_strides();
  test_scattered();
  test_shared();
  test_loop();
  test_runs();
  test_streamed();
  test_uneven();
  test_twice();
  test_deep();
  test_product();
  test_rings();
  test_late_code();
  test_steps();
  test_small_products();
  test_order();
  return report();
}
