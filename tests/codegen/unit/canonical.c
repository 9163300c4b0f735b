/* Units that differ by names of functions and parameters have one canonical text, and no others. */
#include <stdio.h>
#include <string.h>

#include "codegen/codegen.h"
#include "tests/support/tally.h"

#define UNIT(entry, pointer, size, file, body)                       \
  "#define LANES 8\nINLINE int32_t size(int32_t u1);\n"              \
  "\n/* Kernel " entry " of " file                                   \
  ". */\n"                                                           \
  "static void " entry                                               \
  "_program(const char *args, const uint32_t *grid) {\n"             \
  "  char *" pointer                                                 \
  " = (char *)load_u64(args + 0);\n"                                 \
  "  int32_t " size " = load_i32(args + 8); /* " file ":1 */\n" body \
  "}\n"                                                              \
  "static double " entry                                             \
  "_ns(const char *args) { return load_i32(args + 8) * 1.5e-3f; }\n" \
  "void " entry "_launch(const void *args) { launch(" entry "_program, " entry "_ns(args)); }\n"

typedef struct {
  const char *what, *entry, *unit;
  bool same;
} Case;

static const Case cases[] = {
    {"itself", "k1_sum", UNIT("k1_sum", "in0", "u1", "f", "  store(in0, u1);\n"), true},
    {"another number", "k22_sum", UNIT("k22_sum", "in0", "u1", "f", "  store(in0, u1);\n"), true},
    {"another file", "k1_sum", UNIT("k1_sum", "in0", "u1", "g", "  store(in0, u1);\n"), true},
    {"another size", "k1_sum", UNIT("k1_sum", "in0", "u14", "f", "  store(in0, u14);\n"), true},
    {"a pointer's name", "k1_sum", UNIT("k1_sum", "x", "u1", "f", "  store(x, u1);\n"), true},
    {"names that are another's", "u1", UNIT("u1", "in7", "in0", "f", "  store(in7, in0);\n"), true},
    {"exchanged names", "k1_sum", UNIT("k1_sum", "u1", "in0", "f", "  store(u1, in0);\n"), true},
    {"exchanged uses", "k1_sum", UNIT("k1_sum", "in0", "u1", "f", "  store(u1, in0);\n"), false},
    {"another function", "k1_sum", UNIT("k1_sum", "in0", "u1", "f", "  keep(in0, u1);\n"), false},
    {"another constant", "k1_sum", UNIT("k1_sum", "in0", "u1", "f", "  store(in0, 1);\n"), false},
    {"a name in a word", "k1_sum", UNIT("k1_sum", "in0", "u1", "f", "  store(in0, u1x);\n"), false},
    {"a name in a text", "k1_sum", UNIT("k1_sum", "in0", "u1", "f", "  store(in0, \"u1 /*\");\n"),
     false},
    {"an entry of another name", "k2_sum", UNIT("k1_sum", "in0", "u1", "f", "  store(in0, u1);\n"),
     false},
};

static const char *canonical(Arena *a, const char *unit, const char *entry) {
  Text t = text_new(a);
  c_canonical(&t, a, unit, entry);
  return t.data;
}

int main(void) {
  Arena *a = arena_new();
  const char *first = canonical(a, cases[0].unit, cases[0].entry);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = canonical(a, cases[i].unit, cases[i].entry);
    check_got(!strcmp(first, text) == cases[i].same, cases[i].what, text);
  }
  check(strstr(first, "INLINE int32_t size(int32_t u1);") != NULL, "helpers keep their names");
  check(strstr(first, "* 1.5e-3f") != NULL, "numbers are no names");
  const char *texts[] = {UNIT("k1", "e", "ll", "f", "  store(e, 1e3f + 2ll + ll);\n"),
                         UNIT("k1", "x", "y", "f", "  store(x, 1e3f + 2ll + y);\n")};
  check(!strcmp(canonical(a, texts[0], "k1"), canonical(a, texts[1], "k1")),
        "names that end numbers");
  check(!strcmp(canonical(a, "int f;", "f"), "int f;"), "another text stays");
  arena_free(a);
  return report();
}
