/* Loads and stores in some lanes, of every dtype and number of lanes, with the processor's vectors
 * and without: memory ends after the last of the lanes, and the next page faults.
 *
 * tests/run: users' compiler */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/c/c.h"
#include "lang/tile/scalar.h"
#include "tests/support/tally.h"

enum { LANES_MAX = 16, PAGE = 4096, BYTES_MAX = LANES_MAX * 8 };

static const DType types[] = {
#define X(id, name, kind, bits, lang, aliases) DT_##id,
    DTYPES(X)
#undef X
};

static bool is_tested(DType t) { return t != DT_NONE && t != DT_PTR; }

/* The lanes that are not loaded keep those of `kept`. */
static void print_functions(Text *out, DType t) {
  const char *name = dtype_name(t), *v = c_vector_type(t);
  text_printf(out, "void first_%s(const char *p, int n, const char *kept, char *q) {\n", name);
  text_printf(out, "  vstore_%s(q, vload_first_%s(p, n, vload_%s(kept)));\n}\n", name, name, name);
  text_printf(out, "void mask_%s(const char *p, const int *m, const char *kept, char *q) {\n",
              name);
  text_printf(out,
              "  vstore_%s(q, vload_mask_%s(p, vload_i32((const char *)m), vload_%s(kept)));\n}\n",
              name, name, name);
  text_printf(out, "void to_first_%s(char *p, int n, const char *q) {\n", name);
  text_printf(out, "  const %s v = vload_%s(q);\n  vstore_first_%s(p, n, v);\n}\n", v, name, name);
  text_printf(out, "void to_mask_%s(char *p, const int *m, const char *q) {\n", name);
  text_printf(out, "  const %s v = vload_%s(q);\n", v, name);
  text_printf(out, "  vstore_mask_%s(p, vload_i32((const char *)m), v);\n}\n", name);
}

static void *compile(Arena *a, int lanes, const char *flags) {
  char folder[] = "/tmp/nereid-lanes-XXXXXX", path[128], command[512];
  Text body = text_new(a), unit = text_new(a);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (is_tested(types[i])) print_functions(&body, types[i]);
  c_prelude(&unit, a, body.data, lanes);
  text_puts(&unit, body.data);
  if (!mkdtemp(folder)) return NULL;
  snprintf(path, sizeof path, "%s/unit.c", folder);
  FILE *f = fopen(path, "w");
  if (!f) return NULL;
  fwrite(unit.data, 1, unit.len, f);
  fclose(f);
  const char *cc = getenv("CC");
  snprintf(command, sizeof command,
           "%s -std=gnu11 -w -Wno-psabi -O2 %s -fPIC -shared -o %s/unit.so %s -lm", cc ? cc : "cc",
           flags, folder, path);
  int status = system(command);
  snprintf(path, sizeof path, "%s/unit.so", folder);
  void *library = status ? NULL : dlopen(path, RTLD_NOW);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command)) printf("cannot remove %s\n", folder);
  return library;
}

/* A page that is followed by one without access. */
static char *guarded_page(void) {
  char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + PAGE, PAGE, PROT_NONE)) return NULL;
  return p + PAGE;
}

typedef void FirstLoad(const char *, int, const char *, char *);
typedef void MaskLoad(const char *, const int *, const char *, char *);
typedef void FirstStore(char *, int, const char *);
typedef void MaskStore(char *, const int *, const char *);

typedef struct {
  void *library;
  DType t;
  int lanes, bytes; /* of an element */
  char *end;        /* of the page */
  char values[BYTES_MAX], kept[BYTES_MAX];
} Case;

/* Numbers that every dtype has, as its bytes; Booleans are 0 and 1. */
static void fill(Case *c) {
  for (int i = 0; i < c->lanes; i++) {
    bool flag = c->t == DT_I1, real = dtype_is_float(c->t);
    Scalar x = {.i = flag ? i % 2 : i + 1}, y = {.i = flag ? i % 3 == 0 : 16};
    if (real) x = (Scalar){.f = i + 1}, y = (Scalar){.f = 16};
    scalar_store(c->t, x, c->values + i * c->bytes);
    scalar_store(c->t, y, c->kept + i * c->bytes);
  }
}

static void *function(const Case *c, const char *kind) {
  char name[64];
  snprintf(name, sizeof name, "%s_%s", kind, dtype_name(c->t));
  return dlsym(c->library, name);
}

static void check_lanes(const Case *c, const char *got, const int *m, const char *what) {
  bool ok = true;
  for (int i = 0; i < c->lanes; i++)
    ok &=
        !memcmp(got + i * c->bytes, (m[i] ? c->values : c->kept) + i * c->bytes, (size_t)c->bytes);
  if (ok) passed++;
  else if (failed++ < 20) printf("FAIL %s of %s, %d lanes\n", what, dtype_name(c->t), c->lanes);
}

/* The lanes of m, of which those from n on are false. */
static void run(const Case *c, const int *m, int n, bool first) {
  char got[BYTES_MAX], *at = c->end - n * c->bytes;
  void *f = function(c, first ? "first" : "mask");
  memcpy(at, c->values, (size_t)(n * c->bytes));
  if (first) ((FirstLoad *)f)(at, n, c->kept, got);
  else ((MaskLoad *)f)(at, m, c->kept, got);
  check_lanes(c, got, m, first ? "a load of the first lanes" : "a load by a mask");
  memcpy(at, c->kept, (size_t)(n * c->bytes));
  f = function(c, first ? "to_first" : "to_mask");
  if (first) ((FirstStore *)f)(at, n, c->values);
  else ((MaskStore *)f)(at, m, c->values);
  memcpy(got, c->kept, sizeof got);
  memcpy(got, at, (size_t)(n * c->bytes));
  check_lanes(c, got, m, first ? "a store of the first lanes" : "a store by a mask");
}

static void run_case(const Case *c) {
  for (int n = 0; n <= c->lanes; n++) {
    int m[LANES_MAX] = {0};
    for (int i = 0; i < n; i++) m[i] = -1;
    run(c, m, n, true);
    run(c, m, n, false);
    for (int i = 0; i < n; i += 3) m[i] = 0;
    run(c, m, n, false);
  }
}

static void run_unit(Arena *a, char *end, int lanes, const char *flags) {
  void *library = compile(a, lanes, flags);
  if (!library) {
    failed++;
    printf("FAIL %d lanes, %s: the unit does not compile\n", lanes, flags);
    return;
  }
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    Case c = {library, types[i], lanes, (int)dtype_bytes(types[i]), end, {0}, {0}};
    if (!is_tested(types[i])) continue;
    fill(&c);
    run_case(&c);
  }
}

int main(void) {
  static const char *const flags[] = {"", "-march=native", "-march=native -mno-avx512f"};
  Arena *a = arena_new();
  char *end = guarded_page();
  for (int lanes = 4; lanes <= LANES_MAX && end; lanes *= 2)
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) run_unit(a, end, lanes, flags[i]);
  if (!end) failed++;
  arena_free(a);
  return report();
}
