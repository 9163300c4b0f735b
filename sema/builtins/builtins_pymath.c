/* Python's module `math`, on compile-time numbers. */
#include <math.h>
#include <string.h>

#include "sema/value/builtins.h"
#include "sema/value/context.h"

static const struct {
  const char *name;
  double (*one)(double);
} unary_math[] = {{"sqrt", sqrt},   {"exp", exp},     {"exp2", exp2},   {"log", log},
                  {"log2", log2},   {"log10", log10}, {"sin", sin},     {"cos", cos},
                  {"tan", tan},     {"tanh", tanh},   {"erf", erf},     {"fabs", fabs},
                  {"floor", floor}, {"ceil", ceil},   {"trunc", trunc}, {"gamma", tgamma},
                  {"atan", atan},   {"asin", asin},   {"acos", acos}};

bool math_function_known(const char *name) {
  for (size_t i = 0; i < sizeof unary_math / sizeof *unary_math; i++)
    if (!strcmp(unary_math[i].name, name)) return true;
  return !strcmp(name, "pow") || !strcmp(name, "gcd") || !strcmp(name, "prod");
}

/* The language has its own function for run-time values, which the message names. */
static Value refuse_math(Sema *S, const char *name, const Tuple *args, const char *kind, Span at) {
  Value v = args->len > 1 ? args->data[1] : value_none();
  for (uint32_t i = 1; i < args->len; i++)
    if (args->data[i].kind == V_TILE) v = args->data[i];
  Value refused = refuse_argument(S, v, name, kind, at);
  const char *path = arena_printf(S->arena, "math.%s", name);
  if (v.kind == V_TILE) hint_function(S, pool_name(S->names, path));
  return refused;
}

static Value math_two(Sema *S, const char *name, const Tuple *args, Span at) {
  double f, g;
  BigInt i, j;
  if (!strcmp(name, "gcd") && args->len == 3 && value_as_int(args->data[1], &i) &&
      value_as_int(args->data[2], &j)) {
    while (j) {
      BigInt r = j == -1 ? 0 : i % j;
      i = j;
      j = r;
    }
    return i < 0 ? const_unary(S, OP_NEG, value_int(i), at) : value_int(i);
  }
  if (!strcmp(name, "log") && value_as_float(args->data[1], &f) &&
      value_as_float(args->data[2], &g))
    return value_float(log(f) / log(g));
  if (!strcmp(name, "pow") && args->len == 3 && value_as_float(args->data[1], &f) &&
      value_as_float(args->data[2], &g))
    return value_float(pow(f, g));
  const Value *items;
  uint32_t n;
  if (!strcmp(name, "prod") && args->len == 2 && iterate(S, args->data[1], at, &items, &n)) {
    Value product = value_int(1);
    for (uint32_t k = 0; k < n; k++) product = binary(S, OP_MUL, product, items[k], at);
    return product;
  }
  return refuse_math(S, name, args, "compile-time numbers", at);
}

Value builtin_math(Sema *S, Call *c) {
  const Tuple *args = c->rest.u.tuple;
  const char *name = args->data[0].u.s;
  double f;
  for (size_t i = 0; i < sizeof unary_math / sizeof *unary_math; i++) {
    if (strcmp(unary_math[i].name, name)) continue;
    if (!strcmp(name, "log") && args->len == 3) break;
    if (args->len != 2 || !value_as_float(args->data[1], &f))
      return refuse_math(S, name, args, "a compile-time number", c->at);
    double r = unary_math[i].one(f);
    bool whole = !strcmp(name, "floor") || !strcmp(name, "ceil") || !strcmp(name, "trunc");
    return whole && fabs(r) < 0x1p120 ? value_int((BigInt)r) : value_float(r);
  }
  return math_two(S, name, args, c->at);
}
