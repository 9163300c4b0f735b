/* The runtime's own parts: expressions, images as bytes, values, NumPy files, the cache. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lang/interp/interp.h"
#include "runtime/compile/code_key.h"
#include "runtime/compile/compilation.h"
#include "runtime/image/image.h"
#include "runtime/launch/argument_value.h"
#include "runtime/store/cache.h"
#include "runtime/support/random.h"
#include "runtime/support/tool.h"
#include "tests/support/calls.h"

/* ---- expressions ---- */

static void expect(const char *text, int64_t want) {
  nereid_binding names[] = {{"n", 1000}, {"BLOCK", 128}, {"m", -7}};
  int64_t got;
  check_call(!nereid_expr_eval(&got, text, names, 3) && got == want, text);
}

static void refuse(const char *text, const char *words) {
  nereid_binding names[] = {{"n", 1000}, {"BLOCK", 128}};
  int64_t got;
  check_call(nereid_expr_eval(&got, text, names, 2) == NEREID_E_USAGE &&
                 strstr(nereid_error_message(), words),
             text);
}

static void test_expressions(void) {
  expect("cdiv(n, BLOCK)", 8);
  expect(" 2 + 3*4 - 1 ", 13);
  expect("(2+3)*4", 20);
  expect("m // 2", -4);
  expect("m % 3", 2);
  expect("9223372036854775807 % -4294967296", -1);
  expect("9223372036854775807 % -9223372036854775806", -9223372036854775805);
  expect("cdiv(m, 2)", -3);
  expect("-m - -2", 9);
  expect("min(n, 10, 3) + 0", 0 + 3);
}

static void test_expressions_more(void) {
  expect("max(n, BLOCK)*min(2, 3)", 2000);
  expect("n % 8 == 0 and m < 0", 1);
  expect("n != 1000", 0);
  refuse("n + ", "a number or a name is missing at column 5");
  refuse("n / 2", "write // for whole division");
  refuse("nn", "unknown integer nn (did you mean n?)");
  refuse("(n", "a closing parenthesis is missing");
  refuse("cdiv(n)", "a comma is missing");
  refuse("n n", "it should end there");
  refuse("1.5", "only whole numbers are known");
  refuse("99999999999999999999", "the number is too large");
  refuse("n // 0", "divides by zero or does not fit 64 bits");
  refuse("9223372036854775807 + 1", "divides by zero or does not fit 64 bits");
  char deep[400];
  memset(deep, '(', 399);
  deep[399] = 0;
  refuse(deep, "it nests too deeply");
}

/* ---- images ---- */

static nereid_image *make_image(void) {
  ImageParam params[] = {{"x ptr\n", type_ptr(DT_BF16), true}, {"n", type_scalar(DT_I64), false}};
  IntExpr guards[] = {{"n % 16 == 0", NULL, 0}};
  ImageSlot slots[] = {{.kind = SLOT_ARG, .param = 1},
                       {.kind = SLOT_SCRATCH, .expr.text = "4 * grid_x"}};
  ImageVariant v = {.target = "cpu",
                    .entry = "k",
                    .file = "k.tile",
                    .kind = NEREID_C,
                    .code = "a\nb\0c",
                    .size = 5,
                    .threads = 1,
                    .shared = 99,
                    .guards = guards,
                    .nguards = 1,
                    .slots = slots,
                    .nslots = 2,
                    .has_grid = true,
                    .grid = {{"min(grid_x, processors)", NULL, 0}, {"1", NULL, 0}, {"1", NULL, 0}}};
  nereid_image *image;
  if (image_new(&image, "k", params, 2) || image_add_variant(image, &v, true)) abort();
  return image;
}

/* Damaged bytes are refused or, where the hash is made right again, read without harm. */
static void test_damage(const char *data, size_t size) {
  nereid_image *image;
  char *copy = malloc(size);
  int refused = 0, cuts = 0;
  for (size_t i = 0; i < size; i++) {
    memcpy(copy, data, size);
    copy[i] ^= 1;
    refused += nereid_image_from_bytes(&image, copy, size) == NEREID_E_FILE;
    cuts += nereid_image_from_bytes(&image, data, i) == NEREID_E_FILE;
  }
  check_call(refused == (int)size, "a flipped bit is noticed");
  check_call(cuts == (int)size, "a truncated image is noticed");
  free(copy);
}

/* Bytes changed at random, under a hash that is right again: read or refused, never worse. */
static void test_hostile(const char *data, size_t size) {
  enum { ROUNDS = 20000, END = 21 };
  static const char tokens[] = "\"\n 0123456789abcdefx()*%-codeguardslotgridvariant";
  int outcomes[2] = {0};
  char *copy = malloc(size + 1);
  for (int round = 0; round < ROUNDS; round++) {
    uint32_t w[4];
    random_philox(w, 1, (uint64_t)round);
    memcpy(copy, data, size);
    for (int i = 0; i < 3; i++)
      copy[w[i] % (size - END)] = tokens[(w[3] >> 8 * i) % (sizeof tokens - 1)];
    snprintf(copy + size - 17, 18, "%016llx\n", (unsigned long long)XXH64(copy, size - END, 0));
    nereid_image *image;
    int code = nereid_image_from_bytes(&image, copy, size);
    outcomes[code == 0]++;
    nereid_image_free(image);
  }
  check_call(outcomes[0] && outcomes[1], "hostile images");
  free(copy);
}

static void test_images(void) {
  nereid_image *image = make_image(), *again, *other = make_image();
  char *data, *data2;
  size_t size, size2;
  check_call(!nereid_image_bytes(&data, &size, image), "image to bytes");
  check_call(!nereid_image_from_bytes(&again, data, size), "bytes to image");
  check_call(
      !nereid_image_bytes(&data2, &size2, again) && size == size2 && !memcmp(data, data2, size),
      "the same bytes again");
  check_call(!nereid_image_add(again, other) && nereid_image_nvariants(again) == 2,
             "joined images");
  test_damage(data, size);
  test_hostile(data, size);
  nereid_image_param p;
  nereid_variant v;
  check_call(!nereid_image_get_param(&p, again, 0) && p.is_pointer && p.written &&
                 !strcmp(p.type, "*bf16") && nereid_image_find_param(again, "n") == 1 &&
                 nereid_image_find_param(again, "m") == -1,
             "parameters");
  check_call(!nereid_image_get_variant(&v, again, 1) && v.size == 5 && v.shared_bytes == 99 &&
                 !memcmp(v.code, "a\nb\0c", 5) &&
                 !strcmp(nereid_image_guard(again, 1, 0), "n % 16 == 0"),
             "variants");
  X(nereid_image_get_variant(&v, again, 2), NEREID_E_USAGE, "variant 2 does not exist in kernel k");
  nereid_image_free(other);
  X(nereid_image_load(&other, "/tmp/no/such/image"), NEREID_E_FILE,
    "can't open /tmp/no/such/image: No such file or directory");
  nereid_text_free(data);
  nereid_text_free(data2);
  nereid_image_free(image);
  nereid_image_free(again);
}

/* What can't be read, what is no image, and requests that make no sense. */
static void test_requests(void) {
  nereid_image *image;
  nereid_device *d;
  void *p;
  char *text;
  size_t size;
  const char *kernel = "kernel @k() {num_warps 4, target \"sm_90a\"} {\n  return\n}\n";
  nereid_request r = {.source = {.path = "k.tile", .text = kernel, .size = strlen(kernel)}};
  X(nereid_image_from_bytes(&image, "x", 1), NEREID_E_FILE,
    "<bytes> is not an image, or is damaged: compile it again");
  X(nereid_image_load(&image, "/proc/self/mem"), NEREID_E_FILE,
    "can't read /proc/self/mem: Input/output error");
  X(nereid_image_load(&image, "/dev/zero"), NEREID_E_FILE,
    "/dev/zero is too large for a kernel file (more than 64 MiB)");
  X(nereid_emit(&text, &size, &r, 99), NEREID_E_USAGE, "99 is not a kind of code");
  r.num_ctas = 3;
  X(nereid_emit(&text, &size, &r, NEREID_TILE), NEREID_E_USAGE,
    "num_ctas must be one of 1 2 4 8 16, not 3");
  r.num_ctas = 0, r.maxnreg = 1025;
  X(nereid_emit(&text, &size, &r, NEREID_TILE), NEREID_E_USAGE,
    "maxnreg must be from 1 to 1024, not 1025");
  r.maxnreg = 0, r.num_stages = 65;
  X(nereid_emit(&text, &size, &r, NEREID_TILE), NEREID_E_USAGE,
    "num_stages must be from 1 to 64, not 65");
  r.num_stages = 0, r.kernel = "other";
  X(nereid_emit(&text, &size, &r, NEREID_TILE), NEREID_E_USAGE,
    "error: * has no kernel 'other'\n*: note: kernel 'k'\n*");
  if (nereid_device_open(&d, "interp")) abort();
  X(nereid_alloc(&p, d, SIZE_MAX / 2), NEREID_E_MEMORY,
    "out of memory: 8796093022207 MiB requested, * MiB free");
  nereid_device_close(d);
}

/* What a device is too small for is told apart from what no device could run. */
static void test_excess(void) {
  static const char source[] =
      "import triton\n"
      "import triton.language as tl\n"
      "@triton.jit\n"
      "def turn(x, y, n, BLOCK: tl.constexpr):\n"
      "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
      "    for j in range(0, n, BLOCK):\n"
      "        at = i[:, None] * n + (j + tl.arange(0, BLOCK))[None, :]\n"
      "        to = (j + tl.arange(0, BLOCK))[:, None] * n + i[None, :]\n"
      "        a, b = tl.load(x + at), tl.load(y + at)\n"
      "        tl.store(y + to, tl.trans((a + b).to(tl.float32)) + b + a * b)\n";
  nereid_arg args[] = {
      {"x", "*fp64:16", 0}, {"y", "*fp64:16", 0}, {"n", "i32", 0}, {"BLOCK", 0, "1024"}};
  nereid_request r = {
      .source = {.path = "turn.py", .text = source, .size = sizeof source - 1},
      .args = args,
      .nargs = 4,
  };
  nereid_image *image;
  r.target = "sm_90a";
  X(nereid_compile(&image, &r, NEREID_PTX), NEREID_E_RESOURCES,
    "turn.py:4:5: error: `turn` needs * bytes of shared memory, but sm_90a has 232448 *");
  nereid_resource short_of;
  check_call(!nereid_error_resource(&short_of) && !strcmp(short_of.name, "shared memory") &&
                 short_of.required > short_of.limit && short_of.limit == 232448,
             "the resource");
  for (const char *const *width = (const char *const[]){"cpu:4", "cpu:8", "cpu:16", NULL}; *width;
       width++) {
    r.target = *width;
    X(nereid_compile(&image, &r, NEREID_C), NEREID_E_RESOURCES,
      "turn.py:4:5: error: the kernel's register arrays take * bytes; a thread has * for them\n*");
  }
  args[3].value = "0";
  X(nereid_compile(&image, &r, NEREID_C), NEREID_E_KERNEL, "turn.py:5:*");
}

static bool is_part(int i, nereid_severity severity, int line, int column, const char *text) {
  nereid_diagnostic d;
  return !nereid_error_diagnostic(&d, i) && d.severity == severity && d.line == line &&
         d.column == column && matches(text, d.text);
}

/* The last failure as data. */
static void test_error_parts(void) {
  static const char source[] =
      "import triton\n"
      "import triton.language as tl\n"
      "@triton.jit\n"
      "def turn(x, BLOCK: tl.constexpr):\n"
      "    i = tl.arange(0, BLOCK)\n"
      "    tl.store(x + i, y + missing)\n";
  nereid_arg args[] = {{"x", "*fp32:16", 0}, {"BLOCK", 0, "128"}};
  nereid_request r = {.source = {.path = "a: b.py", .text = source}, .args = args, .nargs = 2};
  nereid_image *image;
  nereid_diagnostic d, again;
  check_call(nereid_compile(&image, &r, NEREID_PTX) == NEREID_E_KERNEL, "an unknown name");
  check_call(nereid_error_count() >= 1 && !nereid_error_diagnostic(&d, 0), "the error");
  check_call(is_part(0, NEREID_SEVERITY_ERROR, 6, 21, "'y' is not defined"), "its place");
  check_call(!strcmp(d.file, "a: b.py") && d.caret == 20 && d.length == 1 &&
                 !strcmp(d.source, "    tl.store(x + i, y + missing)"),
             "its source line");
  check_call(!strcmp(d.id, "E_SEMA_UNDEFINED"), "its id");
  check_call(!strcmp(nereid_error_kernel(), "turn"), "the kernel");
  check_call(!nereid_error_diagnostic(&again, 0) && again.text == d.text, "asked again");
  X(nereid_error_diagnostic(&d, 99), NEREID_E_USAGE, "part 99 of a message of *");
  check_call(d.text == NULL && !*nereid_error_kernel(), "another failure");
  check_call(nereid_error_count() == 1 && is_part(0, NEREID_SEVERITY_ERROR, 0, 0, "part 99*"),
             "a message without a place");
  check_call(!nereid_error_diagnostic(&d, 0) && !strcmp(d.id, "E_RUN_NO_DIAGNOSTIC"), "and its id");
}

static void test_message_parts(void) {
  char text[] =
      "a.py:3:9: warning: first\nmore of it\n    x = 1\n        ^~\n  hint: second\n"
      "b.py: note: third\nno head\n";
  char *at = text;
  nereid_diagnostic d;
  check_call(nereid_message_next(&d, &at) && d.severity == NEREID_SEVERITY_WARNING && d.line == 3 &&
                 d.column == 9 && d.caret == 4 && d.length == 2 && !strcmp(d.source, "x = 1") &&
                 !strcmp(d.text, "first\nmore of it") && !strcmp(d.file, "a.py"),
             "a warning of two lines");
  check_call(nereid_message_next(&d, &at) && d.severity == NEREID_SEVERITY_HINT && !*d.file &&
                 !*d.source && !strcmp(d.text, "second"),
             "a hint");
  check_call(nereid_message_next(&d, &at) && d.severity == NEREID_SEVERITY_NOTE && !d.line &&
                 !strcmp(d.file, "b.py") && !strcmp(d.text, "third\nno head"),
             "a note about a file");
  check_call(!nereid_message_next(&d, &at) && !*at && !*d.text, "the end");
}

static int compile_within(const nereid_request *r, ArenaUse most) {
  Compilation c;
  Code code;
  int status = compile_open(&c, &r->source, false);
  c.limits = most;
  if (!status) status = compile_specialize(&c, r);
  if (!status) status = compile_lower(&c, r, LEVEL_THREAD);
  if (!status) status = compile_generate(&c, NEREID_C, &code);
  compile_close(&c);
  return status;
}

/* A compilation has so much memory, so many steps, and no more, wherever they end. */
static void test_limits(void) {
  static const char source[] =
      "import triton\n"
      "import triton.language as tl\n"
      "@triton.jit\n"
      "def add(x, N: tl.constexpr):\n"
      "    a = tl.load(x)\n"
      "    for i in tl.static_range(N):\n"
      "        a = a * a + i\n"
      "    tl.store(x, a)\n";
  nereid_arg args[] = {{"x", "*fp32:16", 0}, {"N", 0, "500"}};
  nereid_request r = {
      .source = {.path = "add.py", .text = source, .size = sizeof source - 1},
      .target = "cpu:8",
      .args = args,
      .nargs = 2,
  };
  for (size_t most = 1 << 16; most < (size_t)1 << 26; most *= 2) {
    int status = compile_within(&r, (ArenaUse){.bytes = most});
    check_call(!status || status == NEREID_E_RESOURCES, "a limit of memory");
    if (most == 1 << 19)
      X(status, NEREID_E_RESOURCES,
        "add.py:4:*: error: compilation exceeds 0 MiB, in *: the kernel is too long, "
        "or unrolls too much*add.py:7:*: note: * operations come from this line*");
  }
  for (uint64_t most = 1000; most < 1000000; most *= 2) {
    int status = compile_within(&r, (ArenaUse){.steps = most});
    check_call(!status || status == NEREID_E_RESOURCES, "a limit of steps");
    if (most == 1000)
      X(status, NEREID_E_RESOURCES,
        "add.py:4:*: error: compilation exceeds 0.001 million steps, in *: the kernel "
        "is too long, nests too deep, or unrolls too much*operations come from this line*");
  }
  check_call(!compile_within(&r, (ArenaUse){(size_t)1 << 26, 1000000}), "within the limits");
}

static CacheKey code_of(const char *path, const char *body, const char *block, nereid_kind kind) {
  char text[512];
  int n = snprintf(text, sizeof text,
                   "import triton\nimport triton.language as tl\n@triton.jit\n"
                   "def fill(x, BLOCK: tl.constexpr):\n%s",
                   body);
  nereid_arg args[] = {{"x", "*fp32:16", 0}, {"BLOCK", 0, block}};
  nereid_request r = {
      .source = {.path = path, .text = text, .size = (size_t)n}, .args = args, .nargs = 2};
  r.target = kind == NEREID_C ? "cpu" : "sm_90a";
  nereid_image *image;
  if (nereid_compile(&image, &r, kind)) abort();
  CacheKey key = code_key(image);
  nereid_image_free(image);
  return key;
}

/* Places are no code. */
static void test_code_key(void) {
  const char *one = "    tl.store(x + tl.arange(0, BLOCK), 1.0)\n";
  const char *moved =
      "    # a comment\n    tl.store(\n        x + tl.arange(0, BLOCK),\n        1.0)\n";
  const char *two = "    tl.store(x + tl.arange(0, BLOCK), 2.0)\n";
  for (int i = 0; i < 2; i++) {
    nereid_kind kind = i ? NEREID_C : NEREID_PTX;
    CacheKey key = code_of("a.py", one, "256", kind), same = code_of("b/c.py", moved, "256", kind);
    check_call(!memcmp(&key, &same, sizeof key), "the same code elsewhere");
    CacheKey other = code_of("a.py", two, "256", kind), wide = code_of("a.py", one, "512", kind);
    check_call(memcmp(&key, &other, sizeof key) && memcmp(&key, &wide, sizeof key), "other code");
  }
}

static void test_diagnostics(void) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  check_call(!diag_only_resource_limits(d), "no errors");
  diag_resource_limit(d, (Span){0}, (Resource){"size", 2, 1}, "too large");
  check_call(diag_only_resource_limits(d), "an excess");
  for (int i = 0; i < DIAG_LIMIT; i++)
    diag_resource_limit(d, (Span){0}, (Resource){"size", 2, 1}, "too large");
  check_call(diag_only_resource_limits(d), "more of them than are kept");
  diag_error(d, (Span){0}, "wrong");
  check_call(!diag_only_resource_limits(d), "and an error");
  diag_rewind(d, 1);
  check_call(diag_errors(d) == 1 && diag_only_resource_limits(d), "rewound");
  diag_rewind(d, 0);
  diag_error(d, (Span){0}, "wrong");
  check_call(!diag_only_resource_limits(d), "an error alone");
  arena_free(a);
}

static void test_joining(void) {
  nereid_image *a = make_image(), *b;
  ImageParam params[1] = {{"x", type_ptr(DT_F32), false}};
  ImageParam *many = calloc(IMAGE_MAX_PARAMS + 1, sizeof *many);
  if (image_new(&b, "b", params, 1)) abort();
  X(nereid_image_add(a, b), NEREID_E_USAGE,
    "images of k and b can't be joined: their parameters differ");
  nereid_image_free(b);
  X(image_new(&b, "b", many, IMAGE_MAX_PARAMS + 1), NEREID_E_KERNEL,
    "the kernel has 1025 run-time parameters; at most 1024 are possible");
  free(many);
  nereid_image_free(a);
}

/* ---- values ---- */

static void expect_type(const char *text, const char *want) {
  nereid_value *v;
  char type[64] = "";
  bool ok = !nereid_value_parse(&v, text) && !nereid_value_type(type, sizeof type, v, 1) &&
            !strcmp(type, want);
  check_call(ok, text);
  nereid_value_free(v);
}

static int parse_value(const char *text) {
  nereid_value *v;
  return nereid_value_parse(&v, text);
}

static void test_numbers(void) {
  expect_type("12", "i32");
  expect_type("1", "i32:1");
  expect_type("-32", "i32:16");
  expect_type("0x10", "i32:16");
  expect_type("2147483648", "i64:16");
  expect_type("18446744073709551615", "u64");
  expect_type("1.5", "f32");
  expect_type("1e-6:fp64", "f64");
  expect_type("3:u8", "u8");
  expect_type("1:fp16", "f16");
  expect_type("true", "i1");
  expect_type("none", "none");
  expect_type("zeros:f32[4]", "*f32:16");
  expect_type("randint:int64[2, 2]:0:9:1", "*i64:16");
  X(parse_value("x"), NEREID_E_USAGE, "value `x`: it is neither a number nor an array");
  X(parse_value("arange:f32[10]"), NEREID_E_USAGE,
    "value `arange:f32[10]`: it is no array: these begin with zeros:, ones:, empty:, rand:, "
    "randn:, randint:, tensordesc< or @, as randn:f32[8,16]");
  X(parse_value("1:f31"), NEREID_E_USAGE, "value `1:f31`: the dtype is unknown");
  X(parse_value("300:u8"), NEREID_E_USAGE, "the number 300 does not fit u8");
  X(parse_value("1.5:i32"), NEREID_E_USAGE, "the number 1.5 does not fit i32");
  X(parse_value("zeros:f32"), NEREID_E_USAGE,
    "value `zeros:f32`: the shape is missing: f32[128,64]");
  X(parse_value("zeros:f32[a]"), NEREID_E_USAGE,
    "value `zeros:f32[a]`: the shape should be numbers: f32[128,64]");
  X(parse_value("zeros:f32[-1]"), NEREID_E_USAGE,
    "value `zeros:f32[-1]`: the shape should be numbers: f32[128,64]");
  X(parse_value("zeros:f32[4]:1"), NEREID_E_USAGE,
    "value `zeros:f32[4]:1`: nothing may follow the shape");
  X(parse_value("rand:i32[4]"), NEREID_E_USAGE,
    "value `rand:i32[4]`: only floats are drawn so; use randint");
  X(parse_value("randint:i32[4]:5:5:0"), NEREID_E_USAGE,
    "value `randint:i32[4]:5:5:0`: LO should be below HI");
  X(parse_value("randint:u8[4]:0:300:0"), NEREID_E_USAGE,
    "value `randint:u8[4]:0:300:0`: LO and HI do not fit the dtype");
  X(parse_value("zeros:f32[99999999999,99999999999]"), NEREID_E_MEMORY, "the array is too large");
  nereid_value *v;
  nereid_tensor t;
  if (nereid_value_parse(&v, "5")) abort();
  X(nereid_value_tensor(&t, v), NEREID_E_USAGE, "the value is not an array");
  check_call(!nereid_value_cast(v, "i64") && !strcmp(nereid_value_dtype(v), "i64"), "cast");
  X(nereid_value_cast(v, "foo"), NEREID_E_USAGE, "the value can't be cast to foo");
  nereid_value_free(v);
  char type[8];
  if (nereid_value_parse(&v, "&x")) abort();
  X(nereid_value_type(type, 8, v, 1), NEREID_E_USAGE,
    "a reference to another argument has the type of that argument");
  nereid_value_free(v);
}

/* Philox's known answers, and what is promised of drawn arrays. */
static void test_random(void) {
  uint32_t w[4];
  random_philox(w, 0, 0);
  check_call(w[0] == 0x6627e8d5 && w[1] == 0xe169c58d && w[2] == 0xbc57ac4c && w[3] == 0x9b00dbd8,
             "philox of zeros");
  nereid_value *a, *b;
  if (nereid_value_parse(&a, "randn:f32[300000]:7") || nereid_value_parse(&b, "randn:f64[10]:7"))
    abort();
  double sum = 0, squares = 0;
  for (int i = 0; i < 300000; i++) {
    double x = nereid_value_element(a, i);
    sum += x, squares += x * x;
  }
  check_call(fabs(sum / 3e5) < 0.01 && fabs(squares / 3e5 - 1) < 0.01, "randn's moments");
  check_call((float)nereid_value_element(b, 9) == nereid_value_element(a, 9),
             "randn by index and seed");
  nereid_value_free(a);
  nereid_value_free(b);
  if (nereid_value_parse(&a, "rand:bf16[100000]") ||
      nereid_value_parse(&b, "randint:i8[100000]:-3:4:1"))
    abort();
  bool inside = true;
  for (int i = 0; i < 100000; i++) {
    double x = nereid_value_element(a, i), y = nereid_value_element(b, i);
    inside &= x >= 0 && x < 1 && y >= -3 && y < 4 && y == rint(y);
  }
  check_call(inside, "rand and randint stay in their range");
  nereid_value_free(a);
  nereid_value_free(b);
}

/* ---- NumPy files ---- */

static char numpy_path[TOOL_PATH + 64];

/* A file with this header (version 1 unless it is 2) and so many zero bytes behind it. */
static const char *npy_file(int version, const char *header, size_t bytes) {
  static char text[TOOL_PATH + 80];
  FILE *f = fopen(numpy_path, "wb");
  size_t n = strlen(header);
  fprintf(f, "\x93NUMPY%c%c%c%c", version, 0, (int)(n & 255), (int)(n >> 8));
  if (version > 1) fwrite("\0\0", 1, 2, f);
  fputs(header, f);
  for (size_t i = 0; i < bytes; i++) fputc(0, f);
  fclose(f);
  snprintf(text, sizeof text, "@%s", numpy_path);
  return text;
}

static void test_numpy_bad(void) {
  const char *good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  X(parse_value(npy_file(1, good, 23)), NEREID_E_FILE,
    "* is truncated: its header declares 24 bytes of elements, it has 23");
  X(parse_value(npy_file(1, good, 25)), NEREID_E_FILE,
    "* is too long: its header declares 24 bytes of elements, it has 25");
  X(parse_value(npy_file(4, good, 24)), NEREID_E_FILE, "* is not a .npy file");
  X(parse_value(npy_file(1, "{'descr': '<f4'}", 0)), NEREID_E_FILE,
    "*: the NumPy header is malformed");
  X(parse_value(npy_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4)),
    NEREID_E_FILE, "*: the NumPy header is malformed");
  X(parse_value(npy_file(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4)),
    NEREID_E_FILE, "*: dtype >f4 is big-endian; convert it with astype");
  X(parse_value(npy_file(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8)),
    NEREID_E_FILE, "*: NumPy dtype <c8 is not supported; convert it with astype");
  X(parse_value(npy_file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4)),
    NEREID_E_FILE, "*: NumPy dtype (structured) is not supported; convert it with astype");
  X(parse_value(npy_file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", 24)),
    NEREID_E_FILE, "* is in Fortran order; save numpy.ascontiguousarray of it instead");
  X(parse_value(npy_file(
        1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", 24)),
    NEREID_E_FILE,
    "* is truncated: its header declares 9223372036854775807 bytes of elements, it has 24");
  X(parse_value("@/tmp/no/such.npy"), NEREID_E_FILE,
    "can't open /tmp/no/such.npy: No such file or directory");
}

static void test_numpy(void) {
  nereid_value *v, *w;
  nereid_tensor t;
  npy_file(2, "{'shape': (3,), 'fortran_order': True, 'descr': '<i8'}", 24);
  char text[TOOL_PATH + 80];
  snprintf(text, sizeof text, "@%s:fp16", numpy_path);
  check_call(!nereid_value_parse(&v, text) && !strcmp(nereid_value_dtype(v), "f16"), "converted");
  nereid_value_free(v);
  if (nereid_value_parse(&v, "randn:bf16[3,5]:1")) abort();
  check_call(!nereid_value_save(v, numpy_path), "save");
  text[strlen(text) - 5] = 0;
  check_call(!nereid_value_parse(&w, text) && !strcmp(nereid_value_dtype(w), "f32") &&
                 !nereid_value_tensor(&t, w) && t.ndim == 2 && t.shape[1] == 5 &&
                 nereid_value_element(w, 14) == nereid_value_element(v, 14),
             "bf16 is widened");
  nereid_value_free(v);
  nereid_value_free(w);
  if (nereid_value_parse(&v, "ones:f32[2]")) abort();
  X(nereid_value_save(v, "/tmp/no/such/folder/x.npy"), NEREID_E_FILE,
    "can't write /tmp/no/such/folder/x.npy: there is no such folder");
  nereid_value_free(v);
  if (nereid_value_parse(&v, "randint:i32[4]:1000:1001:0")) abort();
  if (nereid_value_save(v, numpy_path)) abort();
  nereid_value_free(v);
  snprintf(text, sizeof text, "@%s:i8", numpy_path);
  X(parse_value(text), NEREID_E_USAGE, "values of dtype i32 do not all fit i8");
}

/* ---- the cache ---- */

static int notes;
static char last_note[8192];

static void on_note(void *context, const char *text) {
  (void)context;
  notes++;
  snprintf(last_note, sizeof last_note, "%s", text);
}

static CacheId id_of(int i) {
  KeyMaker *k = cache_key_start();
  cache_key_add(k, &i, sizeof i);
  return (CacheId){cache_key_end(k), CACHE_LIBRARY, "test", NULL};
}

static bool holds(Cache *c, int i, const char *want) {
  CacheId id = id_of(i);
  char *data;
  size_t size;
  if (!cache_get(c, &id, &data, &size)) return false;
  bool same = size == strlen(want) && !memcmp(data, want, size);
  free(data);
  return same;
}

static void put(Cache *c, int i, const char *text) {
  CacheId id = id_of(i);
  cache_put(c, &id, text, strlen(text));
}

static void test_cache(const TempFolder *t) {
  char folder[TOOL_PATH + 64], path[TOOL_PATH + 128], about[TOOL_PATH + 256];
  temp_name(folder, sizeof folder, t, "cache");
  setenv("NEREID_CACHE_DIR", folder, 1);
  Cache *c = cache_open(on_note, NULL);
  put(c, 1, "one");
  check_call(holds(c, 1, "one") && !holds(c, 2, "two"), "the cache keeps what it is given");
  cache_close(c);
  cache_path(path, sizeof path);
  FILE *f = fopen(path, "r+b");
  fputs("this is no database", f);
  fclose(f);
  c = cache_open(on_note, NULL);
  check_call(notes == 1 && strstr(last_note, "is damaged; it was renamed to"), "a damaged cache");
  put(c, 3, "three");
  check_call(holds(c, 3, "three") && !holds(c, 1, "one"), "goes on with a new one");
  cache_close(c);
  nereid_cache_describe(about, sizeof about);
  check_call(!strcmp(about, path), "where the cache is");
}

/* Eight processes write and read one database. */
static void test_cache_shared(void) {
  enum { PROCESSES = 8, ENTRIES = 20 };
  int good = 0, status;
  fflush(stdout);
  for (int p = 0; p < PROCESSES; p++)
    if (fork() == 0) {
      Cache *c = cache_open(NULL, NULL);
      for (int i = 0; i < ENTRIES; i++) put(c, 100 + i, "shared");
      bool ok = true;
      for (int i = 0; i < ENTRIES; i++) ok &= holds(c, 100 + i, "shared");
      cache_close(c);
      _exit(ok ? 0 : 1);
    }
  while (wait(&status) > 0) good += status == 0;
  check_call(good == PROCESSES, "many processes share the cache");
}

static void test_cache_unusable(const TempFolder *t) {
  char folder[TOOL_PATH + 64];
  temp_name(folder, sizeof folder, t, "array.npy"); /* a file, not a folder */
  setenv("NEREID_CACHE_DIR", folder, 1);
  notes = 0;
  Cache *c = cache_open(on_note, NULL);
  put(c, 1, "one");
  check_call(!holds(c, 1, "one") && notes == 1 && strstr(last_note, "can't be used"),
             "a cache that can't be made");
  cache_close(c);
  setenv("NEREID_CACHE_DIR", "", 1);
  c = cache_open(on_note, NULL);
  put(c, 1, "one");
  check_call(!holds(c, 1, "one") && notes == 1, "a cache that is turned off");
  cache_close(c);
}

/* Becomes a user who may only read; root's files are read-only for nobody. */
static void read_only_child(void) {
  if (!geteuid() && seteuid(65534)) _exit(2);
  notes = 0;
  Cache *c = cache_open(on_note, NULL);
  bool read = holds(c, 1, "one") && !notes;
  put(c, 2, "two");
  bool told = notes == 1 && strstr(last_note, "is read-only: new entries are not kept");
  bool again = holds(c, 1, "one");
  cache_close(c);
  _exit(!read ? 3 : !told ? 4 : !again ? 5 : 0);
}

static void test_cache_read_only(void) {
  static const char journal[512] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  TempFolder t;
  char path[TOOL_PATH + 64];
  int status;
  if (temp_new(&t)) abort();
  setenv("NEREID_CACHE_DIR", t.path, 1);
  Cache *c = cache_open(NULL, NULL);
  put(c, 1, "one");
  cache_close(c);
  cache_path(path, sizeof path);
  for (int hot = 0; hot < 2; hot++) {
    if (hot && temp_write(&t, CACHE_FILE "-journal", journal, sizeof journal)) abort();
    chmod(path, 0444);
    chmod(t.path, 0555);
    fflush(stdout);
    if (!fork()) read_only_child();
    wait(&status);
    chmod(t.path, 0755);
    check_call(!status, hot ? "a cache to read, with a journal" : "a cache to read");
    if (status) printf("  child: %d\n", WEXITSTATUS(status));
  }
  temp_free(&t);
  setenv("NEREID_CACHE_DIR", "", 1);
}

/* The folder of a killed process is removed, that of a living one is kept. */
static void test_left_folders(void) {
  TempFolder base, ours;
  char left[2][TEMP_PATH];
  int pipes[2], status;
  if (temp_new(&base) || setenv("TMPDIR", base.path, 1) || temp_new(&ours) || pipe(pipes)) abort();
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    TempFolder t;
    close(ours.lock);
    if (temp_new(&t) || temp_write(&t, "kernel.c", "x", 1)) _exit(1);
    if (write(pipes[1], t.path, sizeof t.path) < 0) _exit(1);
    pause();
  }
  if (read(pipes[0], left[0], sizeof left[0]) != sizeof left[0]) abort();
  snprintf(left[1], sizeof left[1], "%.*s/nereid-other", TEMP_PATH - 32, base.path);
  mkdir(left[1], 0700);
  temp_sweep();
  check_call(!access(left[0], F_OK), "the folder of a process that lives");
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  temp_sweep();
  check_call(access(left[0], F_OK), "the folder of a process that was killed");
  check_call(!access(ours.path, F_OK), "the folder of this process");
  check_call(!access(left[1], F_OK), "a folder that is not ours");
  rmdir(left[1]);
  temp_free(&ours);
  temp_free(&base);
  unsetenv("TMPDIR");
}

int main(void) {
  TempFolder t;
  char command[TOOL_PATH + 64];
  if (temp_new(&t)) abort();
  temp_name(numpy_path, sizeof numpy_path, &t, "array.npy");
  test_expressions();
  test_expressions_more();
  test_images();
  test_joining();
  test_excess();
  test_limits();
  test_error_parts();
  test_message_parts();
  test_code_key();
  test_diagnostics();
  test_requests();
  test_numbers();
  test_random();
  test_numpy_bad();
  test_numpy();
  test_cache(&t);
  test_cache_shared();
  test_cache_unusable(&t);
  test_cache_read_only();
  test_left_folders();
  temp_name(command, sizeof command, &t, "cache");
  const char *argv[] = {"/bin/rm", "-rf", command, NULL};
  char output[256];
  tool_run(argv, output, sizeof output);
  temp_free(&t);
  return report();
}
