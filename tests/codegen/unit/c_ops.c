/* Every elementwise op on every dtype as printed C, compiled in one unit by the system's compiler,
 * against scalar_op: on vectors, and on scalars that are the same in all lanes.
 *
 * tests/run: users' compiler */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "lang/interp/interp.h"
#include "tests/support/tally.h"

enum { LANES = 8, ELEMENTS = 320, SLOT = ELEMENTS * 8 };

static void check_kernel(bool ok, const char *kernel, const char *what) {
  if (ok) passed++;
  else if (failed++ < 50) printf("FAIL %s: %s\n", kernel, what);
}

static const DType all_types[] = {
#define X(id, name, kind, bits, lang, aliases) DT_##id,
    DTYPES(X)
#undef X
};
enum { NTYPES = sizeof all_types / sizeof *all_types, MAX_OPS = 128 };

static uint64_t seed = 1;
static uint64_t random64(void) {
  seed += 0x9e3779b97f4a7c15u;
  uint64_t z = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* ---- inputs ---- */

static Scalar int_input(DType t, uint64_t i) {
  static const int64_t edges[] = {
      0,         1,        -1, 2,  -2,  3,         7,         8,
      31,        32,       63, 64, 100, INT64_MIN, INT64_MAX, INT64_MIN + 1,
      INT32_MAX, INT32_MIN};
  enum { EDGES = sizeof edges / sizeof *edges };
  Scalar x = {.i = i < EDGES ? edges[i] : (int64_t)(random64() >> random64() % 64)};
  if (i < EDGES && x.i > INT32_MAX && dtype_bits(t) < 64) x.i = INT64_MAX >> (64 - dtype_bits(t));
  return scalar_op(TILE_CAST, DT_I64, t, &x, false);
}

static Scalar float_input(DType t, uint64_t i) {
  static const double edges[] = {0.0,   -0.0,     1,      -1,      0.5,     -0.5,    1.5,   2.5,
                                 -2.5,  3.140625, 1e30,   -1e30,   3e9,     -3e9,    65504, 65519,
                                 65520, 1e-40,    -1e-42, 0x1p-24, 0x1p-25, 0x1p-14, 448,   464,
                                 127.6, -128.5,   0x1p31, 0x1p63,  1e300,   1e-310};
  enum { EDGES = sizeof edges / sizeof *edges };
  double v = i < EDGES        ? edges[i]
             : i == EDGES     ? INFINITY
             : i == EDGES + 1 ? -INFINITY
             : i == EDGES + 2
                 ? NAN
                 : ((double)(int64_t)random64()) * exp2((double)(random64() % 40) - 82);
  Scalar x = {.f = scalar_round(t, v)};
  return x;
}

/* Operand k at position i: edge values of different operands meet each other. */
static Scalar input(DType t, int k, int i) {
  int at = k == 0 ? i % 18 : k == 1 ? i / 18 : i % 7;
  if (i >= 18 * 17 || (k == 2 && i % 3)) at = 1000;
  if (!dtype_is_float(t)) return int_input(t, (uint64_t)at);
  if (i < 64 && k == 0) at = i;
  return float_input(t, (uint64_t)at);
}

/* ---- kernels ---- */

typedef struct {
  TileCode op;
  DType type, to; /* to: of the result, too */
  bool rtz;
} Case;

typedef struct {
  char name[32];
  DType type;
  bool same; /* the operands are the same in all lanes */
  Case cases[MAX_OPS];
  int n;
  uint8_t inputs[3][SLOT], *outputs;
} Kernel;

static bool has_meaning(TileCode op, DType t) {
  const char *rule = tile_op_rule(op);
  if (!(tile_op_flags(op) & TILE_ELEM)) return false;
  if (op == TILE_DOT4) return t == DT_I32;
  if (op == TILE_DOT2) return false; /* some processors take denormals for 0 */
  if (!strcmp(rule, "float")) return dtype_is_float(t);
  if (!strcmp(rule, "int")) return dtype_is_int(t);
  return !strcmp(rule, "same") || !strcmp(rule, "compare");
}

static void add_case(Kernel *k, TileCode op, DType t, DType to, bool rtz) {
  if (k->n < MAX_OPS) k->cases[k->n++] = (Case){op, t, to, rtz};
}

static void add_cases(Kernel *k) {
  DType t = k->type;
  for (int op = 0; op < TILE_OP_COUNT; op++) {
    bool compare = op >= TILE_LT && op <= TILE_NE;
    if (has_meaning((TileCode)op, t)) add_case(k, (TileCode)op, t, compare ? DT_I1 : t, false);
  }
  for (int i = 0; i < NTYPES; i++) {
    DType to = all_types[i];
    bool floats = dtype_is_float(t) && dtype_is_float(to);
    add_case(k, TILE_CAST, t, to, false);
    if (floats) add_case(k, TILE_CAST, t, to, true);
    if (dtype_bits(t) == dtype_bits(to)) add_case(k, TILE_BITCAST, t, to, false);
  }
}

static void print_case(Text *out, const Case *c, int at) {
  static const char *const operands[] = {"", " %x", " %x, %y", " %x, %y, %z"};
  bool converts = c->op == TILE_CAST || c->op == TILE_BITCAST;
  text_printf(out, "  %%r%d = %s%s : %s", at, tile_op_name(c->op),
              operands[strlen(tile_op_args(c->op))], dtype_name(c->type));
  if (converts) text_printf(out, " to %s%s", dtype_name(c->to), c->rtz ? " rtz" : "");
  text_printf(out, "\n  st [%%o%u + %d], %%r%d%s : %s\n", dtype_bytes(c->to), at * SLOT, at, "",
              dtype_name(c->to));
}

static const char *nest_text(Arena *a, const Kernel *k) {
  Text t = text_new(a);
  const char *type = dtype_name(k->type);
  text_printf(&t, "nest @%s level thread {target \"cpu:8\", num_warps 1, lanes 8} {\n", k->name);
  text_printf(&t, "  param %%a : *%s {arg 0}\n  param %%b : *%s {arg 1}\n", type, type);
  text_printf(&t, "  param %%c : *%s {arg 2}\n  param %%out : *u8 {arg 3}\n", type);
  text_printf(&t,
              "  var %%pid : i32 uniform\n  var %%lane : i32\n  var %%first : i32 uniform\n"
              "  var %%at : i32%s\n  var %%x : %s\n  var %%y : %s\n  var %%z : %s\n",
              k->same ? " uniform" : "", type, type, type);
  for (int i = 0; i < 3; i++) text_printf(&t, "  var %%p%d : *%s\n", i, type);
  for (int i = 1; i <= 8; i *= 2) text_printf(&t, "  var %%b%d : i32\n  var %%o%d : *u8\n", i, i);
  for (int i = 0; i < k->n; i++)
    text_printf(&t, "  var %%r%d : %s\n", i, dtype_name(k->cases[i].to));
  text_printf(&t, "  %%pid = pid {axis 0}\n  %%lane = lane\n");
  text_printf(&t, "  %%first = mul %%pid, %d : i32\n", k->same ? 1 : LANES);
  text_puts(&t, k->same ? "  %at = mov %first : i32\n" : "  %at = add %first, %lane : i32\n");
  for (int i = 0; i < 3; i++)
    text_printf(&t, "  %%p%d = ptr_add %%%c, %%at : *%s\n  %%%c = ld [%%p%d] : %s\n", i, 'a' + i,
                type, 'x' + i, i, type);
  for (int i = 1; i <= 8; i *= 2)
    text_printf(&t, "  %%b%d = mul %%at, %d : i32\n  %%o%d = ptr_add %%out, %%b%d : *u8\n", i, i, i,
                i);
  for (int i = 0; i < k->n; i++) print_case(&t, &k->cases[i], i);
  text_puts(&t, "}\n");
  return t.data;
}

static bool print_kernel(Arena *a, Text *unit, const Kernel *k) {
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  const char *text = nest_text(a, k);
  size_t at = 0;
  Nest *n =
      nest_parse(a, names, d, diag_source(d, pool_name(names, k->name), text, strlen(text)), &at);
  Code code = {0};
  bool ok = n && nest_verify(n, d) && c_print(a, n, machine_find("cpu:8"), d, &code);
  Text messages = text_new(a);
  diag_print(d, &messages);
  check_kernel(ok, k->name, messages.data);
  if (ok) text_putn(unit, code.text, code.len);
  return ok;
}

/* ---- comparing ---- */

static int mantissa(DType t) {
  switch (t) {
    case DT_F8E5: return 2;
    case DT_F8E4NV:
    case DT_F8E4B15: return 3;
    case DT_BF16: return 7;
    case DT_F16: return 10;
    case DT_F32: return 23;
    default: return 52;
  }
}

/* What tile_ops.h allows: how far `got` may be from `want`; what is rounded afterwards may come out
 * one place further. */
static bool close_enough(const Case *c, double x, double got, double want) {
  double place = ldexp(1, -mantissa(c->type)), size = fabs(want);
  if (c->type != DT_F32 && c->type != DT_F64)
    return fabs(got - want) <= place * (size + ldexp(1, -20)) * 1.01;
  double ulps = c->type == DT_F64 ? 4 : 2;
  switch (c->op) {
    case TILE_EXP2: return fabs(got - want) <= ulps * place * size + 0x1p-149;
    case TILE_LOG2: return fabs(got - want) <= fmax(ldexp(1, -22), ulps * place * size);
    case TILE_SIN:
    case TILE_COS: return fabs(x) > 3.1416 || fabs(got - want) <= ldexp(1, -21);
    case TILE_TANH: return fabs(got - want) <= ldexp(size, -18);
    default: return fabs(got - want) <= ulps * place * size;
  }
}

static bool is_approximate(const Case *c) {
  switch (c->op) {
    case TILE_EXP2:
    case TILE_LOG2:
    case TILE_SIN:
    case TILE_COS:
    case TILE_TANH: return true;
    default: return false;
  }
}

static bool agrees(const Case *c, const Scalar *x, Scalar got, Scalar want) {
  if (!dtype_is_float(c->to)) return got.i == want.i;
  if (isnan(want.f)) return isnan(got.f);
  bool outside = (c->op == TILE_SIN || c->op == TILE_COS) && !(fabs(x[0].f) < 3.1416);
  if (outside) return true;
  if (got.f == want.f) return signbit(got.f) == signbit(want.f) || is_approximate(c);
  return is_approximate(c) && close_enough(c, x[0].f, got.f, want.f);
}

static void check_case(const Kernel *k, int at) {
  const Case *c = &k->cases[at];
  unsigned from = dtype_bytes(c->type), to = dtype_bytes(c->to);
  for (int i = 0; i < ELEMENTS; i++) {
    Scalar x[3];
    for (int j = 0; j < 3; j++) x[j] = scalar_load(c->type, k->inputs[j] + (unsigned)i * from);
    Scalar want = scalar_op(c->op, c->type, c->to, x, c->rtz);
    Scalar got = scalar_load(c->to, k->outputs + at * SLOT + (unsigned)i * to);
    if (agrees(c, x, got, want)) continue;
    char what[200];
    bool in = dtype_is_float(c->type), out = dtype_is_float(c->to);
    snprintf(what, sizeof what, "%s to %s%s of %.9g, %.9g, %.9g: %.9g, not %.9g",
             tile_op_name(c->op), dtype_name(c->to), c->rtz ? " rtz" : "",
             in ? x[0].f : (double)x[0].i, in ? x[1].f : (double)x[1].i,
             in ? x[2].f : (double)x[2].i, out ? got.f : (double)got.i,
             out ? want.f : (double)want.i);
    check_kernel(false, k->name, what);
    return;
  }
  check_kernel(true, k->name, "");
}

/* ---- running ---- */

static void fill(Arena *a, Kernel *k) {
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < ELEMENTS; i++)
      scalar_store(k->type, input(k->type, j, i),
                   k->inputs[j] + (unsigned)i * dtype_bytes(k->type));
  k->outputs = arena_array(a, (size_t)k->n, SLOT);
}

static void run(const Kernel *k, void *library) {
  void (*entry)(const void *, const uint32_t[3], void *team);
  char launch[128];
  snprintf(launch, sizeof launch, "%s_launch", k->name);
  void *symbol = dlsym(library, launch);
  memcpy(&entry, &symbol, sizeof entry);
  if (!entry) {
    check_kernel(false, k->name, "its entry is missing");
    return;
  }
  uint64_t args[4] = {(uintptr_t)k->inputs[0], (uintptr_t)k->inputs[1], (uintptr_t)k->inputs[2],
                      (uintptr_t)k->outputs};
  uint32_t programs = k->same ? ELEMENTS : ELEMENTS / LANES, grid[3] = {programs, 1, 1};
  entry(args, grid, NULL);
  for (int i = 0; i < k->n; i++) check_case(k, i);
}

static void *compile(const Text *unit) {
  char folder[] = "/tmp/nereid-c-XXXXXX", path[128], command[512];
  if (!mkdtemp(folder)) return NULL;
  snprintf(path, sizeof path, "%s/unit.c", folder);
  FILE *f = fopen(path, "w");
  if (!f) return NULL;
  fwrite(unit->data, 1, unit->len, f);
  fclose(f);
  const char *cc = getenv("CC");
  snprintf(command, sizeof command, "%s -std=gnu11 -w %s -fPIC -shared -o %s/unit.so %s -lm",
           cc ? cc : "cc", C_FLAGS, folder, path);
  int status = system(command);
  snprintf(path, sizeof path, "%s/unit.so", folder);
  void *library = status ? NULL : dlopen(path, RTLD_NOW);
  if (!getenv("KEEP")) {
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) printf("cannot remove %s\n", folder);
  }
  return library;
}

int main(void) {
  Arena *a = arena_new();
  Kernel *kernels = ARENA_ARRAY(a, Kernel, 2 * NTYPES);
  Text unit = text_new(a);
  int n = 0;
  for (int i = 0; i < 2 * NTYPES; i++) {
    Kernel *k = &kernels[n];
    k->type = all_types[i / 2];
    k->same = i % 2;
    snprintf(k->name, sizeof k->name, "%s_%s", k->same ? "scalar" : "vector", dtype_name(k->type));
    add_cases(k);
    fill(a, k);
    n += print_kernel(a, &unit, k);
  }
  void *library = compile(&unit);
  check_kernel(library != NULL, "unit", "it does not compile");
  for (int i = 0; i < n && library; i++) run(&kernels[i], library);
  arena_free(a);
  return report();
}
