/* Exported programs (.pt2): archives, sizes as sympy writes them, tensors, and whole models.
 *
 *   build/tests/graph/unit/pt2                what `make check` runs
 *   build/tests/graph/unit/pt2 FILE.pt2...    messages about each, or its graph as text
 *
 * tests/graph/pt2.py gives the second form files that are wrong in one way each. */
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ops/graph_text.h"
#include "import/pt2/pt2_read.h"
#include "import/pt2/sympy.h"
#include "tests/support/tally.h"

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
} Context;

static Context context_new(void) {
  Arena *a = arena_new();
  return (Context){a, pool_new(a), diags_new(a)};
}

/* ---- one file ---- */

/* The graph's text, or the messages. */
static const char *read_model(Context *c, const char *path, Weights **weights, Archive **file) {
  Text out = text_new(c->arena);
  *weights = weights_new(c->arena);
  *file = archive_open(c->arena, c->names, c->diags, path);
  Graph *g = *file ? pt2_read(c->arena, c->names, c->diags, *file, *weights) : NULL;
  if (g) ops_all_known(g);
  diag_print(c->diags, &out);
  if (g) graph_print(&out, g);
  return out.data ? out.data : "";
}

static int print_file(const char *path) {
  Context c = context_new();
  Weights *weights;
  Archive *file;
  printf("%s", read_model(&c, path, &weights, &file));
  bool ok = !diag_errors(c.diags);
  archive_close(file);
  arena_free(c.arena);
  return ok ? 0 : 1;
}

/* ---- the models ---- */

static char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  size_t cap = 0;
  if (!f) return NULL;
  ssize_t n = getdelim(&text, &cap, 0, f);
  fclose(f);
  if (n >= 0) return text;
  free(text);
  return NULL;
}

/* The first line in which they differ. */
static void print_difference(const char *got, const char *want) {
  while (*got && *want) {
    size_t n = strcspn(got, "\n"), m = strcspn(want, "\n");
    if (n != m || memcmp(got, want, n)) break;
    got += n + (got[n] != 0);
    want += m + (want[m] != 0);
  }
  printf("-- got\n%.*s\n-- want\n%.*s\n", (int)strcspn(got, "\n"), got, (int)strcspn(want, "\n"),
         want);
}

static bool same_data(const Weight *w) {
  unsigned char *copy = malloc((size_t)weight_bytes(w) + 1);
  weight_copy(copy, w);
  bool same = !weight_is_dense(w) || !memcmp(copy, w->data, (size_t)weight_bytes(w));
  free(copy);
  return same;
}

static void test_model(const char *path) {
  Context c = context_new();
  Weights *weights;
  Archive *file;
  const char *got = read_model(&c, path, &weights, &file);
  char *want =
      read_text(arena_printf(c.arena, "%.*s/readable.txt", (int)(strrchr(path, '/') - path), path));
  const char *what = arena_printf(c.arena, "%s: the text that FX printed", path);
  check(want && !strcmp(got, want), what);
  if (want && strcmp(got, want)) print_difference(got, want);
  bool same = true;
  for (size_t i = 0; i < weights->list.len; i++) same &= same_data(weights->list.data[i]);
  check(same, "tensors can be read");
  free(want);
  archive_close(file);
  arena_free(c.arena);
}

static void test_models(const char *pattern) {
  glob_t found;
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc; i++) test_model(found.gl_pathv[i]);
  check(found.gl_pathc >= 1, "there are models");
  globfree(&found);
}

/* ---- sizes ---- */

static void size_is(const char *text, const char *want) {
  Context c = context_new();
  Dims *d = dims_new(c.arena, c.names);
  const char *why = "";
  Dim got = sympy_read(d, c.arena, text, &why);
  Text out = text_new(c.arena);
  if (got) dim_print(&out, got);
  else text_puts(&out, why);
  check(!strcmp(out.data, want), text);
  if (strcmp(out.data, want)) printf("-- got %s\n-- want %s\n", out.data, want);
  arena_free(c.arena);
}

#define S "Symbol('s0', positive=True, integer=True)"

static void test_sizes(void) {
  size_is("Integer(5)", "5");
  size_is("Integer(-5)", "-5");
  size_is(S, "s0");
  size_is("Symbol('u0', integer=True)", "u0");
  size_is("Add(Mul(Integer(2), " S "), Integer(-1))", "2*s0 - 1");
  size_is("Pow(" S ", Integer(2))", "s0**2");
  size_is("Pow(Integer(2), Integer(10))", "1024");
  size_is("FloorDiv(" S ", Integer(2))", "(s0//2)");
  size_is("CleanDiv(Integer(12), Integer(-4))", "-3");
  size_is("CeilDiv(Integer(7), Integer(2))", "4");
  size_is("CeilDiv(Integer(-7), Integer(2))", "-3");
  size_is("Mod(Integer(-7), Integer(4))", "1");
  size_is("PythonMod(" S ", Integer(1))", "0");
  size_is("ModularIndexing(Integer(23), Integer(4), Integer(3))", "2");
  size_is("Max(Integer(1), " S ")", "s0"); /* s0 is positive */
  size_is("Min(Integer(3), Integer(2), Integer(4))", "2");
  size_is("Mul(Rational(1, 2), Mul(Integer(4), " S "))", "2*s0");
  size_is("Mul(Rational(1, 2), " S ")", "(s0//2)");
  size_is("Add(Mul(Rational(1, 2), " S "), Mul(Rational(1, 2), " S "))", "s0");
  size_is("floor(Mul(Pow(Integer(3), Integer(-1)), Integer(10)))", "3");
  size_is("ceiling(Mul(Rational(-1, 3), Integer(10)))", "-3");
  size_is("TruncToInt(IntTrueDiv(" S ", Integer(2)))", "(s0//2)");
  size_is("TruncToInt(Mul(Float('0.5', precision=53), ToFloat(" S ")))", "(s0//2)");
  size_is("CeilToInt(FloatTrueDiv(IntTrueDiv(" S ", Integer(2)), Float('0.25', precision=53)))",
          "2*s0");
  size_is("Abs(Integer(-3))", "3");
  size_is("Add( Integer( 3 ) , Integer(4) )", "7");
}

static void test_bad_sizes(void) {
  size_is("", "`` is no expression");
  size_is("Integer(5", "`)` is expected before ``");
  size_is("Integer(5))", "`)` follows its end");
  size_is("Integer(x)", "`x)` is no number");
  size_is("Integer(99999999999999999999)", "a number overflows");
  size_is("Where(" S ", Integer(1), Integer(2))", "there is no function `Where`");
  size_is("FloorDiv(" S ")", "FloorDiv has 1 arguments");
  size_is("FloorDiv(" S ", Integer(0))", "it divides by 0");
  size_is("Mod(" S ", Integer(0))", "it divides by 0");
  size_is("Rational(1, 0)", "it divides by 0");
  size_is("Rational(1, 2)", "it is a fraction");
  size_is("Pow(" S ", " S ")", "its exponent is no number");
  size_is("Pow(" S ", Integer(1000))", "its exponent is too large");
  size_is("IntTrueDiv(Integer(1), " S ")", "it divides by no constant into a fraction");
  size_is("Mul(Rational(1, 4611686018427387904), Rational(1, 4))", "a fraction overflows");
  size_is("Float('0.1', precision=53)", "a float in it is no small fraction");
  size_is("Float('1e300')", "a float in it is no small fraction");
  size_is("Float('nan')", "a float in it is no small fraction");
  size_is("Float(0.5)", "a float has no number");
  size_is("Float('0.5', exact=53)", "a float is malformed");
  size_is("Symbol(s0)", "a symbol has no name");
  size_is("Symbol('s 0')", "a symbol's name is no identifier of small letters");
  size_is("Symbol('s0', positive)", "a symbol's assumption is malformed");
  char deep[4096] = "";
  for (int i = 0; i < 300; i++) memcpy(deep + 4 * i, "Add(", 5);
  size_is(deep, "it is nested too deep");
}

/* ---- tensors ---- */

static unsigned char bytes[64] __attribute__((aligned(16)));

/* A tensor of rank 2 in `bytes`; NULL if it is refused. */
static Weight *add(Context *c, Weights *w, const int64_t shape[2], const int64_t strides[2],
                   int64_t offset, size_t shift) {
  static int n;
  Weight t = {.dtype = DT_F32, .rank = 2, .shape = shape, .strides = strides};
  t.name = pool_name(c->names, arena_printf(c->arena, "t%d", n++));
  WeightBytes b = {bytes + shift, sizeof bytes - shift, "bytes"};
  return weights_add(w, c->diags, (Span){0}, t, offset, b);
}

#define PAIR(a, b) ((const int64_t[]){(a), (b)})

static void test_weights(void) {
  Context c = context_new();
  Weights *w = weights_new(c.arena);
  check(add(&c, w, PAIR(4, 4), PAIR(4, 1), 0, 0), "a tensor of all bytes");
  check(add(&c, w, PAIR(4, 3), PAIR(4, 1), 1, 0), "a tensor with an offset");
  check(!add(&c, w, PAIR(4, 4), PAIR(4, 1), 1, 0), "one element too far");
  check(!add(&c, w, PAIR(4, 3), PAIR(4, 1), 0, 2), "not aligned");
  check(!add(&c, w, PAIR(4, 3), PAIR(4, -1), 8, 0), "a negative stride");
  check(!add(&c, w, PAIR(-1, -1), PAIR(4, 1), 0, 0), "a negative size");
  check(!add(&c, w, PAIR(4, 3), PAIR(4, 1), -1, 0), "a negative offset");
  check(!add(&c, w, PAIR(INT64_MAX, INT64_MAX), PAIR(0, 0), 0, 0), "more elements than fit");
  check(!add(&c, w, PAIR(3, 3), PAIR(INT64_MAX, 1), 0, 0), "a stride that overflows");
  check(!add(&c, w, PAIR(1, 3), PAIR(1, 1), INT64_MAX, 0), "an offset that overflows");
  Weight *none = add(&c, w, PAIR(0, INT64_MAX), PAIR(INT64_MAX, 1), INT64_MAX, 3);
  check(none && !none->data && !weight_bytes(none), "no elements need no bytes");
  Weight *column = add(&c, w, PAIR(1, 4), PAIR(INT64_MAX, 1), 0, 0);
  check(column && weight_is_dense(column), "an axis of one element has any stride");
  Weight *turned = add(&c, w, PAIR(3, 2), PAIR(1, 4), 2, 0);
  float copy[6], *from = (float *)bytes;
  for (int i = 0; i < 16; i++) from[i] = (float)i;
  weight_copy(copy, turned);
  check(!weight_is_dense(turned) && copy[0] == 2 && copy[1] == 6 && copy[5] == 8,
        "a transposed tensor is copied in its order");
  check(weights_find(w, turned->name) == turned, "tensors are found by name");
  weights_bind(w, turned, pool_name(c.names, "p_t"));
  check(weights_find_input(w, pool_name(c.names, "p_t")) == turned, "and by input");
  check(!weights_add(w, c.diags, (Span){0}, *turned, 0, (WeightBytes){bytes, 64, "bytes"}),
        "names are unique");
  arena_free(c.arena);
}

/* ---- what no small file shows ---- */

static bool last_is(const Context *c, const char *want) {
  for (size_t i = 0; i < diag_count(c->diags); i++)
    if (strstr(diag_get(c->diags, i)->text, want)) return true;
  return false;
}

static void test_limits(void) {
  Context c = context_new();
  check(!archive_open(c.arena, c.names, c.diags, "tests"), "a folder is no file");
  check(last_is(&c, "the file can't be read: Is a directory"), "and the message says so");
  Pt2 r = {.arena = c.arena, .diags = c.diags};
  ArchiveEntry large = {"large.json", NULL, (size_t)PT2_JSON_MAX + 1};
  const Json *json;
  check(!pt2_parse(&r, &large, &json), "JSON that no memory holds");
  check(last_is(&c, "the entry is larger than 1024 MiB"), "and the message says so");
  arena_free(c.arena);
}

int main(int argc, char **argv) {
  int status = 0;
  for (int i = 1; i < argc; i++) status |= print_file(argv[i]);
  if (argc > 1) return status;
  test_sizes();
  test_bad_sizes();
  test_weights();
  test_limits();
  test_models("tests/models/*/model.pt2");
  return report();
}
