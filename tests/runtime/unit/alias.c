/* The runtime alias check: which bytes a kernel may access through a parameter, by the kernel's
 * own text, and which code a launch runs by it. */
#include <stdio.h>
#include <string.h>

#include "runtime/device/device.h"
#include "tests/support/tally.h"

/* ---- bounds ---- */

typedef struct {
  const char *name; /* of the kernel */
  const char *args; /* "n=i32:7,B=4": types with values, and constexprs; pointers are *i32 */
  uint32_t grid;
  int64_t x_lo, x_hi, o_lo, o_hi; /* bytes through x and o; lo > hi: unknown */
} Case;

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def masked(x, o, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i <= n)\n"
    "@triton.jit\n"
    "def whole(x, o, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(o + i, tl.load(x + (B - 1 - i % B)))\n"
    "@triton.jit\n"
    "def branch(x, o, n, B: tl.constexpr):\n"
    "    row = tl.program_id(0)\n"
    "    if row >= n:\n"
    "        return\n"
    "    i = tl.arange(0, B)\n"
    "    tl.store(o + row * 100 + i, tl.load(x + row * B + B - 1 - i))\n"
    "@triton.jit\n"
    "def loop(x, o, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    p = x + i\n"
    "    s = tl.zeros((B,), tl.int32)\n"
    "    for k in range(0, n, B):\n"
    "        s += tl.load(p, mask=i < n - k, other=0)\n"
    "        tl.store(o + k, k)\n"
    "        p += B\n"
    "    tl.store(o - 3, 1)\n"
    "@triton.jit\n"
    "def square(x, o, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    v = tl.load(x + i[:, None] * 16 + i[None, :], mask=(i < n)[:, None])\n"
    "    tl.store(o + i[:, None] * 16 + i[None, :], v, mask=i[None, :] < n)\n"
    "@triton.jit\n"
    "def rows(x, o, n, B: tl.constexpr):\n" /* a product's operand: rows to n, blocks to B */
    "    i = tl.arange(0, B)\n"
    "    p = x + i[:, None] * n + i[None, :]\n"
    "    for k in range(0, tl.cdiv(n, B)):\n"
    "        for j in range(0, n, B):\n"
    "            m = (i[:, None] < n - k * B) & (i[None, :] < n - j)\n"
    "            v = tl.load(p + j, mask=m, other=0)\n"
    "            at = (k * B + i[:, None]).to(tl.int64) * n + j + i[None, :]\n"
    "            tl.store(o + at, v, mask=m)\n"
    "        p += B * n\n"
    "@triton.jit\n"
    "def parts(x, o, n, B: tl.constexpr):\n" /* each program takes some blocks */
    "    i = tl.arange(0, B)\n"
    "    p, q = x + tl.program_id(0) * B, o + tl.program_id(0) * B + i\n"
    "    for k in range(tl.program_id(0) * B, n, B * 3):\n"
    "        tl.store(q, tl.load(p + i, mask=i < n - k), mask=k + i < n)\n"
    "        p += B * 3\n"
    "        q += B * 3\n"
    "@triton.jit\n"
    "def turns(x, o, n, B: tl.constexpr):\n" /* as many programs as there are */
    "    i = tl.arange(0, B)\n"
    "    step = B * tl.num_programs(0)\n"
    "    p = x + tl.program_id(0) * B + i\n"
    "    for k in range(tl.program_id(0) * B, n, step):\n"
    "        tl.store(o + k + i, tl.load(p, mask=i < n - k), mask=i < n - k)\n"
    "        p += step\n"
    "@triton.jit\n"
    "def rest(x, o, n, B: tl.constexpr):\n"
    "    i, start = tl.arange(0, B), tl.program_id(0) * B\n"
    "    x += start\n"
    "    tl.store(o + start + i + 3, tl.load(x + i, mask=i < n - start))\n"
    "@triton.jit\n"
    "def back(x, o, n, B: tl.constexpr):\n" /* from the end */
    "    i = tl.arange(0, B)\n"
    "    for k in range(0, n, B):\n"
    "        at = n - 1 - k\n"
    "        tl.store(o + at - i, tl.load(x + (n - 1) - k - i, mask=i <= at), mask=at - i >= 0)\n"
    "@triton.jit\n"
    "def longer(x, o, n, B: tl.constexpr):\n" /* the pointer moves further than the mask says */
    "    i = tl.arange(0, B)\n"
    "    p = x + i\n"
    "    for k in range(0, n, B):\n"
    "        tl.store(o + k + i, tl.load(p, mask=i < n - k), mask=i < n - k)\n"
    "        p += 2 * B\n"
    "@triton.jit\n"
    "def jumps(x, o, n, B: tl.constexpr):\n" /* steps that no mask has held */
    "    i, at = tl.arange(0, B), 0\n"
    "    for k in range(0, n):\n"
    "        step = k * 3 % 8\n"
    "        if step < 2:\n"
    "            tl.store(o + i, tl.load(x + at + i))\n"
    "        at += step\n"
    "@triton.jit\n"
    "def inner(x, o, n, B: tl.constexpr):\n" /* so many of these steps */
    "    i, p = tl.arange(0, B), x + tl.arange(0, B)\n"
    "    for k in range(0, n):\n"
    "        step = k * 3 % 8\n"
    "        for j in range(0, step):\n"
    "            p += 5\n"
    "        if step < 2:\n"
    "            tl.store(o + i, tl.load(p))\n"
    "@triton.jit\n"
    "def turned(x, o, n, B: tl.constexpr):\n" /* rows of one turn are columns of the next */
    "    i = tl.arange(0, B)\n"
    "    p = x + i[:, None] * 100 + i[None, :]\n"
    "    for k in range(0, 4):\n"
    "        v = tl.load(p, mask=i[:, None] < n)\n"
    "        tl.store(o + i[:, None] * B + i[None, :], v)\n"
    "        p = tl.trans(p) + 1\n"
    "@triton.jit\n"
    "def down(x, o, n, B: tl.constexpr):\n"
    "    for k in range(n, 0, -1):\n"
    "        tl.store(o + k, tl.load(x + k * 3))\n"
    "@triton.jit\n"
    "def wrapped(x, o, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    tl.store(o + i, tl.load(x + i * n * 65536))\n"
    "@triton.jit\n"
    "def middle(x, o, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    tl.store(o + i, tl.load(x + (B - 1 - i + n * 1073741824 - n * 1073741824)))\n"
    "@triton.jit\n"
    "def gather(x, o, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    tl.store(o + i, tl.load(x + tl.load(x + i)))\n"
    "@triton.jit\n"
    "def nibble(x, o, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    tl.store(o + i, tl.load(x + (tl.load(x + i) & 15)))\n"
    "@triton.jit\n"
    "def block(x, o, n, B: tl.constexpr):\n"
    "    p = tl.make_block_ptr(x, (n,), (2,), (tl.program_id(0) * B,), (B,), (0,))\n"
    "    v = tl.load(p, boundary_check=(0,))\n"
    "    tl.store(tl.make_block_ptr(o, (n,), (1,), (3,), (B,), (0,)), v)\n";

static const Case cases[] = {
    {"masked", "n=1000,B=256", 4, 0, 4 * 1000 - 1, 0, 4 * 1001 - 1},
    {"masked", "n=1024,B=256", 4, 0, 4095, 0, 4095},
    {"masked", "n=0,B=256", 4, 1, 0, 0, 3},
    {"masked", "n=5,B=256", 1, 0, 19, 0, 23},
    {"whole", "n=5,B=8", 3, 0, 31, 0, 95},
    {"branch", "n=2,B=8", 5, 0, 63, 0, 4 * 108 - 1},
    {"loop", "n=70,B=32", 1, 0, 4 * 70 - 1, -12, 4 * 70 - 1},
    {"loop", "n=0,B=32", 1, 1, 0, -12, -9},
    {"square", "n=2,B=16", 1, 0, 4 * (16 + 15 + 1) - 1, 0, 4 * (15 * 16 + 2) - 1},
    {"rows", "n=70,B=32", 1, 0, 4 * 70 * 70 - 1, 0, 4 * 70 * 70 - 1},
    {"rows", "n=40000,B=32", 1, 0, 4LL * 40000 * 40000 - 1, 0, 4LL * 40000 * 40000 - 1},
    {"rows", "n=80000000,B=32", 1, -21474836480000000, 21474836790000123, 0,
     4LL * 80000000 * 80000000 - 1}, /* a number of rows wraps */
    {"parts", "n=70,B=16", 3, 0, 4 * 70 - 1, 0, 4 * 70 - 1},
    {"turns", "n=70,B=16", 3, 0, 4 * 70 - 1, 0, 4 * 70 - 1},
    {"rest", "n=70,B=16", 9, 0, 4 * 70 - 1, 4 * 3, 4 * (9 * 16 + 3) - 1},
    {"back", "n=70,B=32", 1, 0, 4 * 70 - 1, 0, 4 * 70 - 1},
    {"longer", "n=70,B=32", 1, 0, 4 * 160 - 1, 0, 4 * 70 - 1},
    {"jumps", "n=10,B=16", 1, 0, 4 * (9 * 7 + 16) - 1, 0, 63},
    {"inner", "n=10,B=16", 1, 0, 4 * ((9 * 7 + 1) * 5 + 16) - 1, 0, 63},
    {"turned", "n=2,B=16", 1, INT64_MIN, INT64_MAX, 0, 1023},
    {"down", "n=9,B=1", 1, 12, 111, 4, 39},
    {"wrapped", "n=7,B=16", 1, 0, 4 * (15 * 7 * 65536 + 1) - 1, 0, 63},
    {"wrapped", "n=70000,B=16", 1, 4 * (-2147483647LL - 1), 4 * 2147483648LL - 1, 0, 63},
    {"middle", "n=70000,B=16", 1, 4 * (15 - 15), 63, 0, 63},
    {"gather", "n=7,B=16", 1, INT64_MIN, INT64_MAX, 0, 63},
    {"nibble", "n=7,B=16", 1, 0, 63, 0, 63},
    {"block", "n=20,B=16", 2, 0, 4 * 39 - 1, 12, 75},
};

/* The kernel for `kind`, or NULL with a message. */
static nereid_image *compile(const char *name, const char *block, nereid_kind kind,
                             nereid_alias alias) {
  nereid_arg args[] = {
      {"x", "*i32", NULL}, {"o", "*i32", NULL}, {"n", "i32", NULL}, {"B", NULL, block}};
  nereid_request r = {.source = {.path = "k.py", .text = source, .size = sizeof source - 1},
                      .kernel = name,
                      .args = args,
                      .nargs = 4,
                      .target = kind == NEREID_C ? "cpu" : "sm_90a",
                      .alias = alias};
  nereid_image *image;
  if (nereid_compile(&image, &r, kind)) printf("%s: %s\n", name, nereid_error_message());
  return image;
}

static IntRange bounds_of(const nereid_image *image, const char *param, int64_t n, uint32_t grid) {
  const ImageVariant *v = image->variants[0];
  int i = nereid_image_find_param(image, param);
  IntRange names[16] = {{0, 0}};
  if (!v->bounds || !v->bounds[i].text) return (IntRange){INT64_MIN, INT64_MAX};
  names[nereid_image_find_param(image, "n")] = (IntRange){n, n};
  IntRange *programs = names + image->nparams;
  programs[0] = (IntRange){0, (int64_t)grid - 1};
  programs[3] = (IntRange){grid, grid};
  return intexpr_range(&v->bounds[i], names);
}

static void check_range(const Case *c, const char *param, IntRange got, int64_t lo, int64_t hi) {
  bool same = lo > hi ? got.lo > got.hi : got.lo == lo && got.hi == hi;
  if (same) passed++;
  else
    failed++, printf("FAIL %s, %s: bytes %lld to %lld of %s, not %lld to %lld\n", c->name, c->args,
                     (long long)got.lo, (long long)got.hi, param, (long long)lo, (long long)hi);
}

static void test_bounds(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const Case *c = &cases[i];
    long long n = 0;
    char block[32];
    sscanf(c->args, "n=%lld,B=%31s", &n, block);
    nereid_image *image = compile(c->name, block, NEREID_THREAD, NEREID_ALIAS_GUARDED);
    check(image != NULL, c->name);
    if (!image) continue;
    check_range(c, "x", bounds_of(image, "x", n, c->grid), c->x_lo, c->x_hi);
    check_range(c, "o", bounds_of(image, "o", n, c->grid), c->o_lo, c->o_hi);
    nereid_image_free(image);
  }
}

/* ---- launches ---- */

enum { N = 1000 };

/* o[i] = x[i] of `masked`: true if the launch ran code that keeps the order. */
static bool launch(nereid_device *d, nereid_kernel *k, int32_t *x, int32_t *o, bool *right) {
  nereid_launch *l;
  const uint32_t grid[3] = {1, 1, 1};
  int32_t want[N];
  memcpy(want, x, sizeof want);
  bool ok = !nereid_launch_new(&l, k, grid) && !nereid_launch_set_pointer(l, 0, x) &&
            !nereid_launch_set_pointer(l, 1, o) && !nereid_launch_set_int(l, 2, N - 1) &&
            !nereid_launch_run(l, NULL) && !nereid_device_sync(d);
  if (!ok) printf("%s\n", nereid_error_message());
  *right = ok && !memcmp(o, want, (N - 1) * sizeof *o);
  bool ordered = l->start.chosen != &k->loaded[0];
  nereid_launch_free(l);
  return ordered;
}

static void test_launches(void) {
  static int32_t memory[4 * N];
  nereid_device *d;
  nereid_kernel *k;
  nereid_image *image = compile("masked", "1024", NEREID_C, NEREID_ALIAS_GUARDED), *copy;
  char *bytes;
  size_t size;
  bool right;
  check(image && !nereid_device_open(&d, "cpu"), "the CPU");
  check(!nereid_image_bytes(&bytes, &size, image) && !nereid_image_from_bytes(&copy, bytes, size),
        "the image as bytes");
  check(!nereid_kernel_load(&k, d, copy), "load");
  for (int i = 0; i < 4 * N; i++) memory[i] = i * 7 % 1001;
  check(!launch(d, k, memory, memory + 2 * N, &right) && right, "arrays apart");
  check(!launch(d, k, memory, memory + N, &right) && right, "arrays side by side");
  check(!launch(d, k, memory, memory, &right) && right, "one array");
  check(!k->late, "no other code is compiled for these");
  check(launch(d, k, memory, memory + 1, &right) && right, "an element further");
  check(launch(d, k, memory + N, memory + 900, &right) && right, "a hundred elements before");
  check(!launch(d, k, memory, memory + 2 * N, &right) && right, "arrays apart again");
  nereid_kernel_free(k);
  nereid_text_free(bytes);
  nereid_image_free(copy);
  nereid_image_free(image);
  nereid_device_close(d);
}

enum { ROWS = 20, SIZE = ROWS * ROWS };

/* `rows` from the second part of four to what is `gap` elements after it. */
static void copy_rows(nereid_device *d, nereid_kernel *k, int32_t *memory, int gap) {
  nereid_launch *l;
  const uint32_t grid[3] = {1, 1, 1};
  int32_t numbers[4 * SIZE], out[SIZE], *x = memory + SIZE, *o = x + SIZE + gap;
  bool apart = gap >= 0 || gap == -2 * SIZE;
  for (int i = 0; i < 4 * SIZE; i++) numbers[i] = i * 7 % 1001;
  bool ran = !nereid_launch_new(&l, k, grid) && !nereid_launch_set_pointer(l, 0, x) &&
             !nereid_launch_set_pointer(l, 1, o) && !nereid_launch_set_int(l, 2, ROWS) &&
             !nereid_copy_in(d, memory, numbers, sizeof numbers, NULL) &&
             !nereid_launch_run(l, NULL) && !nereid_copy_out(d, out, o, sizeof out, NULL) &&
             !nereid_device_sync(d);
  if (!ran) printf("%s\n", nereid_error_message());
  check(ran, "the launch");
  check((l->start.chosen == &k->loaded[0]) == apart, "ordered code where arrays overlap");
  check(!apart || !memcmp(out, numbers + SIZE, sizeof out), "the copy");
  nereid_launch_free(l);
}

/* A product's operand beside another array: rows to the last block's end would meet that. */
static void test_neighbours(void) {
  static const int gaps[] = {0, 1, -1, -SIZE + 1, -2 * SIZE, -2 * SIZE + 1};
  void *memory;
  nereid_image *image = compile("rows", "16", NEREID_THREAD, NEREID_ALIAS_GUARDED);
  nereid_device *d;
  nereid_kernel *k;
  check(image && !nereid_device_open(&d, "nest") && !nereid_kernel_load(&k, d, image), "rows");
  check(image->variants[0]->nnoalias == 1, "a check of the arrays");
  check(!nereid_alloc(&memory, d, 4 * SIZE * sizeof(int32_t)), "one allocation");
  for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) copy_rows(d, k, memory, gaps[i]);
  nereid_free(d, memory);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

static void test_modes(void) {
  nereid_image *ordered = compile("masked", "256", NEREID_PTX, NEREID_ALIAS_ORDERED);
  nereid_image *disjoint = compile("masked", "256", NEREID_PTX, NEREID_ALIAS_DISJOINT);
  nereid_image *guarded = compile("masked", "256", NEREID_PTX, NEREID_ALIAS_GUARDED);
  check(strstr(ordered->variants[0]->code, "bar.sync") != NULL, "a barrier keeps the order");
  check(!strstr(disjoint->variants[0]->code, "bar.sync"), "disjoint arguments need no barrier");
  check(!ordered->variants[0]->nnoalias && !disjoint->variants[0]->nnoalias, "nothing to check");
  check(guarded->variants[0]->nnoalias == 1 && guarded->variants[0]->noalias[0].or_same,
        "two arrays, or one");
  check(!strcmp(guarded->variants[0]->code, disjoint->variants[0]->code), "the same code");
  nereid_image_free(ordered);
  nereid_image_free(disjoint);
  nereid_image_free(guarded);
}

int main(void) {
  test_bounds();
  test_launches();
  test_neighbours();
  test_modes();
  return report();
}
