/* The small languages of values: VALUE of `run`, types and constexprs, expressions of grids. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/spec.h"
#include "runtime/nereid.h"
#include "tests/fuzz/common/fuzz.h"

static const char *const corpus[] = {"tests/fuzz/value/*", NULL};
static const char *const words[] = {"zeros:",
                                    "ones:",
                                    "empty:",
                                    "rand:",
                                    "randn:",
                                    "randint:",
                                    "f32[4]",
                                    "bf16[2,3]",
                                    "i64[]",
                                    ":7",
                                    ":0:10:1",
                                    "@",
                                    "&",
                                    "1e-6:fp64",
                                    "true",
                                    "none",
                                    "0x",
                                    "1_0",
                                    "inf",
                                    "nan",
                                    "-",
                                    "**",
                                    "*fp32:16",
                                    "i32:1",
                                    "tl.float16",
                                    "fn:",
                                    "cdiv(",
                                    "min(",
                                    "max(",
                                    ")",
                                    "and ",
                                    "==",
                                    "//",
                                    "%",
                                    "grid_x",
                                    "n",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "18446744073709551616",
                                    "1e400",
                                    "f8e4nv",
                                    NULL};

const FuzzTarget fuzz_target = {"value", corpus, words, 400, 8000};

/* Arrays past this take time and say nothing new; their text is looked at all the same. */
static bool is_large(const char *text) {
  double n = 1;
  for (const char *p = strchr(text, '['); p && *p && *p != ']'; p++)
    if (p[0] >= '1' && p[0] <= '9') n *= strtod(p, (char **)&p), p--;
  return n > 1e5 && n < 1e14;
}

static void read_value(const char *text) {
  nereid_value *v;
  nereid_tensor t;
  char out[256];
  if (is_large(text) || nereid_value_parse(&v, text)) return;
  nereid_value_type(out, sizeof out, v, 1);
  if (nereid_value_tensor(&t, v) == 0 && nereid_value_bytes(v))
    nereid_value_element_text(out, sizeof out, v, 0);
  nereid_value_cast(v, "fp16");
  nereid_value_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const nereid_binding names[] = {{"n", 1000}, {"BLOCK", 64}, {"grid_x", -3}};
  KernelArg arg;
  int64_t result;
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  read_value(text);
  Arena *arena = arena_new();
  Pool *pool = pool_new(arena);
  spec_type(&arg, pool, "x", text);
  spec_constexpr(&arg, pool, "x", text);
  arena_free(arena);
  nereid_expr_eval(&result, text, names, 3);
  free(text);
  return 0;
}
