/* Machine code without a GPU: images that ptxas assembles, what they say of registers, keys,
 * and C sources. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/image/cubin.h"
#include "runtime/image/image.h"
#include "runtime/support/tool.h"
#include "tests/support/calls.h"

#define HEAD "import triton\nimport triton.language as tl\n@triton.jit\n"

static const char SUM[] = HEAD
    "def total(x, o, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    tl.store(o, tl.sum(tl.load(x + i)))\n";
static const char SUM_MOVED[] = HEAD
    "# a comment moves the text\n"
    "def total(x, o, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    tl.store(o, tl.sum(tl.load(x + i)))\n";
/* Too much for 24 registers a thread. */
static const char SORT[] = HEAD
    "def total(x, o, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    a = tl.load(x + i)\n"
    "    tl.store(o + i, a + tl.flip(a) * tl.sum(a))\n";

/* 64 addresses a thread, twice: more than the registers of a thread hold. */
static const char WALK[] = HEAD
    "def total(x, o, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    step = tl.load(x + i).to(tl.int32, bitcast=True)\n"
    "    p = x + i\n"
    "    q = o + i\n"
    "    for j in range(tl.load(x).to(tl.int32)):\n"
    "        tl.store(q, tl.load(p))\n"
    "        p += step\n"
    "        q += step\n";

typedef struct {
  const char *text, *path, *target, *block;
  int maxnreg;
} What;

static nereid_image *compile(What w) {
  nereid_arg args[] = {{"x", "*fp32", NULL}, {"o", "*fp32", NULL}, {"B", NULL, w.block}};
  nereid_request r = {.source = {.text = w.text, .path = w.path},
                      .args = args,
                      .nargs = 3,
                      .target = w.target,
                      .num_warps = 1,
                      .maxnreg = w.maxnreg};
  nereid_image *image;
  if (!nereid_compile(&image, &r, strcmp(w.target, "cpu") ? NEREID_PTX : NEREID_C)) return image;
  printf("%s\n", nereid_error_message());
  abort();
}

static nereid_variant first_variant(const nereid_image *image) {
  nereid_variant v;
  if (nereid_image_get_variant(&v, image, 0)) abort();
  return v;
}

/* ---- keys ---- */

static void test_keys(void) {
  nereid_image *same[] = {compile((What){SUM, "a.py", "sm_90a", "64", 0}),
                          compile((What){SUM_MOVED, "b.py", "sm_90a", "64", 0})};
  nereid_image *other[] = {compile((What){SUM, "a.py", "sm_90a", "128", 0}),
                           compile((What){SUM, "a.py", "sm_80", "64", 0}),
                           compile((What){SUM, "a.py", "cpu", "64", 0})};
  char key[33], again[33];
  check_call(!nereid_image_key(key, sizeof key, same[0]) &&
                 !nereid_image_key(again, sizeof again, same[1]) && strlen(key) == 32 &&
                 strspn(key, "0123456789abcdef") == 32 && !strcmp(key, again),
             "places in the source are not in a key");
  for (int i = 0; i < 3; i++)
    check_call(!nereid_image_key(again, sizeof again, other[i]) && strcmp(key, again) != 0,
               "other code");
  for (int i = 0; i < 2; i++) nereid_image_free(same[i]);
  for (int i = 0; i < 3; i++) nereid_image_free(other[i]);
}

/* ---- machine code ---- */

static void test_cubin(void) {
  nereid_image *ptx = compile((What){SUM, "a.py", "sm_90a", "64", 0}), *cubin, *again;
  nereid_variant of = first_variant(ptx);
  check(!of.registers && !of.spill_bytes, "PTX doesn't tell its registers");
  check_call(!nereid_image_assemble(&cubin, ptx, NULL), "assemble");
  nereid_variant v = first_variant(cubin);
  check(v.kind == NEREID_CUBIN && !strcmp(v.target, "sm_90a") && !strcmp(v.entry, of.entry) &&
            v.threads == of.threads && v.shared_bytes == of.shared_bytes,
        "what the PTX has, too");
  check(v.registers >= 8 && v.registers <= 255 && !v.spill_bytes, "registers");
  check_call(!nereid_image_assemble(&again, ptx, "sm_90a"), "assemble again");
  nereid_variant w = first_variant(again);
  check(w.size == v.size && !memcmp(w.code, v.code, v.size), "the same from the cache");
  nereid_image_free(again);
  check_call(!nereid_image_assemble(&again, cubin, "sm_90a") && first_variant(again).size == v.size,
             "machine code stays as it is");
  nereid_image_free(again);
  X(nereid_image_assemble(&again, ptx, "sm_80"), NEREID_E_USAGE,
    "the image of total has no PTX that sm_80 can run");
  X(nereid_image_assemble(&again, ptx, "sm_9"), NEREID_E_USAGE, "*sm_9*");
  nereid_image_free(cubin);
  nereid_image_free(ptx);
}

/* PTX for an older GPU, in an image of two variants. */
static void test_targets(void) {
  nereid_image *image = compile((What){SUM, "a.py", "sm_90a", "64", 0}), *cubin;
  nereid_image *old = compile((What){SUM, "a.py", "sm_80", "64", 0});
  check_call(!nereid_image_add(image, old) && !nereid_image_assemble(&cubin, image, NULL) &&
                 nereid_image_nvariants(cubin) == 2,
             "each for its target");
  nereid_image_free(cubin);
  check_call(!nereid_image_assemble(&cubin, image, "sm_86") && nereid_image_nvariants(cubin) == 1 &&
                 !strcmp(first_variant(cubin).target, "sm_86"),
             "those that the target runs");
  nereid_image_free(cubin);
  nereid_image_free(old);
  nereid_image_free(image);
}

static void test_spills(void) {
  nereid_image *ptx = compile((What){SORT, "a.py", "sm_90a", "2048", 24}), *cubin;
  check_call(!nereid_image_assemble(&cubin, ptx, NULL), "assemble for few registers");
  nereid_variant v = first_variant(cubin);
  check(v.registers == 24 && v.spill_bytes > 0, "spills");
  CubinUse use;
  bool safe = true;
  char *part = malloc(v.size);
  for (size_t n = 0; n < v.size; n += 1 + n / 7) {
    memcpy(part, v.code, n);
    safe &= !cubin_use(&use, part, n, v.entry) || use.registers == 24;
  }
  check(safe, "files that are cut short");
  check(!cubin_use(&use, v.code, v.size, "another") && !use.registers, "a kernel that isn't there");
  free(part);
  nereid_image_free(cubin);
  nereid_image_free(ptx);
}

/* ptxas leaves such a kernel 32 registers where many programs may share a multiprocessor. */
static void test_many_registers(void) {
  nereid_image *ptx = compile((What){WALK, "a.py", "sm_90a", "2048", 0}), *cubin;
  check_call(!nereid_image_assemble(&cubin, ptx, NULL), "assemble for many registers");
  nereid_variant v = first_variant(cubin);
  check(v.registers == 255 && v.spill_bytes > 0, "all registers where some spill");
  nereid_image_free(cubin);
  nereid_image_free(ptx);
}

static void test_failures(void) {
  nereid_image *ptx = compile((What){SUM, "a.py", "sm_90a", "32", 0}), *cubin;
  nereid_image *c = compile((What){SUM, "a.py", "cpu", "64", 0});
  X(nereid_image_assemble(&cubin, c, NULL), NEREID_E_USAGE,
    "the image of total has no PTX that a GPU can run");
  setenv("NEREID_PTXAS", "", 1);
  X(nereid_image_assemble(&cubin, ptx, NULL), NEREID_E_TOOL,
    "no ptxas to assemble with: install NVIDIA's ptxas, or set NEREID_PTXAS to it");
  setenv("NEREID_PTXAS", "/bin/false", 1);
  X(nereid_image_assemble(&cubin, ptx, NULL), NEREID_E_TOOL, "*false failed*");
  check(!cubin, "and no image");
  nereid_image_free(c);
  nereid_image_free(ptx);
}

/* ---- C sources ---- */

/* A kernel whose only parameter is n. */
static nereid_image *image_with(ImageSlot slot, ImageNoAlias *pair) {
  ImageParam params[] = {{"n", type_scalar(DT_I32), false}};
  ImageVariant v = {.target = "sm_80",
                    .entry = "k",
                    .kind = NEREID_PTX,
                    .code = "ptx",
                    .size = 3,
                    .threads = 32,
                    .slots = &slot,
                    .nslots = 1,
                    .noalias = pair,
                    .nnoalias = pair != NULL};
  nereid_image *image;
  if (image_new(&image, "k", params, 1) || image_add_variant(image, &v, true)) abort();
  return image;
}

static void refuse_source(nereid_image *image, const char *name, const char *message) {
  char *source = "", *header = "";
  X(nereid_image_source(&source, &header, image, name), NEREID_E_USAGE, message);
  check(!source && !header, "no text after a failure");
}

static void test_source_failures(void) {
  ImageNoAlias pair = {0, 0, false};
  nereid_image *scratch = image_with((ImageSlot){.kind = SLOT_SCRATCH, .expr.text = "n"}, NULL);
  nereid_image *alias = image_with((ImageSlot){.kind = SLOT_ARG, .param = 0}, &pair);
  nereid_image *good = image_with((ImageSlot){.kind = SLOT_ARG, .param = 0}, NULL);
  nereid_image *c = compile((What){SUM, "a.py", "cpu", "64", 0});
  refuse_source(scratch, NULL, "kernel k needs scratch memory, which a C source doesn't provide");
  refuse_source(
      alias, NULL,
      "the code of k takes arguments for disjoint that may overlap: compile it with alias "
      "ORDERED, or DISJOINT if they never do");
  refuse_source(c, NULL, "a C source holds code for GPUs; the image of total has c code");
  refuse_source(good, "a b", "`a b` is no name of a C function");
  refuse_source(good, "", "`` is no name of a C function");
  nereid_image_free(scratch);
  nereid_image_free(alias);
  nereid_image_free(good);
  nereid_image_free(c);
}

/* Expressions that the launcher evaluates, and names that C would not take. */
static void test_source(void) {
  ImageParam params[] = {{"int", type_scalar(DT_I32), false},
                         {"shape.0", type_scalar(DT_BF16), false},
                         {"shape_0", type_ptr(DT_F32), true}};
  ImageSlot slots[] = {{.kind = SLOT_ARG, .param = 2},
                       {.kind = SLOT_VALUE, .expr.text = "min(int, 7) // -2 % processors"}};
  IntExpr guard = {"int == 3 and shape_0 % 16 == 0", NULL, 0};
  ImageVariant v = {.target = "sm_80",
                    .entry = "k",
                    .kind = NEREID_PTX,
                    .code = "ptx",
                    .size = 3,
                    .threads = 32,
                    .slots = slots,
                    .nslots = 2,
                    .guards = &guard,
                    .nguards = 1,
                    .has_grid = true,
                    .grid = {{"cdiv(grid_x, 2)", NULL, 0}, {"1", NULL, 0}, {"-int", NULL, 0}}};
  nereid_image *image;
  char *source, *header;
  if (image_new(&image, "k", params, 3) || image_add_variant(image, &v, true)) abort();
  check_call(!nereid_image_source(&source, &header, image, "mine"), "a source");
  check_got(strstr(header, "    int32_t k_int,\n    uint16_t shape_0,\n    CUdeviceptr shape_0_)"),
            "names", header);
  static const char *const parts[] = {
      "((v[0] == INT64_C(3)) && (floor_mod(v[2], INT64_C(16)) == INT64_C(0)))",
      "floor_mod(floor_div(least(v[0], INT64_C(7)), (-INT64_C(2))), v[6])",
      "(unsigned)cdiv(v[3], INT64_C(2)),\n        (unsigned)INT64_C(1),\n        (unsigned)(-v[0])",
      "{code_0, \"k\", 80, 0, 0, 0, 32, 0}", "  112,116,120,\n  0};"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    check_got(strstr(source, parts[i]) != NULL, parts[i], source);
  nereid_text_free(source);
  nereid_text_free(header);
  nereid_image_free(image);
}

int main(void) {
  char ptxas[TOOL_PATH];
  test_keys();
  test_source();
  test_source_failures();
  if (tool_find_ptxas(ptxas)) {
    test_cubin();
    test_targets();
    test_spills();
    test_many_registers();
    test_failures();
  } else {
    printf("1 skipped: no ptxas\n");
  }
  return report();
}
