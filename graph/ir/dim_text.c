#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/dim.h"
#include "graph/ir/python_words.h"

/* ---- printing, as sympy does, with torch's FloorDiv ---- */

static void print_extreme(Text *out, const char *name, Dim x) {
  text_printf(out, "%s(", name);
  dim_print(out, x->args[0]);
  text_puts(out, ", ");
  dim_print(out, x->args[1]);
  text_puts(out, ")");
}

static bool is_atom(Dim x) {
  return x->kind == DIM_SYMBOL || (x->kind == DIM_INT && x->value >= 0);
}

static void print_closed(Text *out, Dim x, bool bare) {
  if (!bare) text_puts(out, "(");
  dim_print(out, x);
  if (!bare) text_puts(out, ")");
}

static void print_floordiv(Text *out, Dim x) {
  text_puts(out, "(");
  print_closed(out, x->args[0], is_atom(x->args[0]));
  text_puts(out, "//");
  print_closed(out, x->args[1], is_atom(x->args[1]));
  text_puts(out, ")");
}

/* The atoms of a product or one atom, with powers; a division has parentheses of its own. */
static void print_atoms(Text *out, const Dim *atoms, uint32_t n) {
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i; j < n && atoms[j] == atoms[i]; j++) {
    }
    if (i) text_puts(out, "*");
    print_closed(out, atoms[i], atoms[i]->kind != DIM_FLOORDIV);
    if (j - i > 1) text_printf(out, "**%u", j - i);
  }
}

/* |coefficient| * atoms. */
static void print_term(Text *out, Dim x) {
  if (x->kind != DIM_PRODUCT) {
    print_atoms(out, &x, 1);
    return;
  }
  uint64_t c = x->value < 0 ? 0 - (uint64_t)x->value : (uint64_t)x->value;
  if (c != 1) text_printf(out, "%llu*", (unsigned long long)c);
  print_atoms(out, x->args, x->n);
}

static bool is_negative_product(Dim x) { return x->kind == DIM_PRODUCT && x->value < 0; }

/* sympy writes 1 - s0, but -s0 - 1. */
static bool constant_first(Dim x) {
  return x->n == 1 && x->value > 0 && is_negative_product(x->args[0]) && x->args[0]->n == 1;
}

static void print_dim_sum(Text *out, Dim x) {
  bool first = constant_first(x);
  if (first) text_printf(out, "%lld", (long long)x->value);
  for (uint32_t i = 0; i < x->n; i++) {
    bool minus = is_negative_product(x->args[i]);
    text_puts(out, i || first ? (minus ? " - " : " + ") : (minus ? "-" : ""));
    print_term(out, x->args[i]);
  }
  if (first || x->value == 0) return;
  uint64_t c = x->value < 0 ? 0 - (uint64_t)x->value : (uint64_t)x->value;
  text_printf(out, " %c %llu", x->value < 0 ? '-' : '+', (unsigned long long)c);
}

void dim_print(Text *out, Dim x) {
  switch (x->kind) {
    case DIM_INT: text_printf(out, "%lld", (long long)x->value); return;
    case DIM_SYMBOL: text_puts(out, x->name); return;
    case DIM_SUM: print_dim_sum(out, x); return;
    case DIM_PRODUCT:
      text_puts(out, x->value < 0 ? "-" : "");
      print_term(out, x);
      return;
    case DIM_FLOORDIV: print_floordiv(out, x); return;
    case DIM_MOD: print_extreme(out, "Mod", x); return;
    case DIM_MAX: print_extreme(out, "Max", x); return;
    case DIM_MIN: print_extreme(out, "Min", x); return;
    case DIM_HUGE: text_puts(out, "huge"); return;
  }
}

/* ---- reading ---- */

enum { NESTING_MAX = 100, POWER_MAX = 16 };

typedef struct {
  Dims *d;
  const char *at, *end;
  int depth;
} Reader;

static Dim read_dim_sum(Reader *r);

static void skip_dim_spaces(Reader *r) {
  while (r->at < r->end && *r->at == ' ') r->at++;
}

static bool accept_dim_text(Reader *r, const char *s) {
  skip_dim_spaces(r);
  size_t n = strlen(s);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, s, n)) return false;
  r->at += n;
  return true;
}

static Dim read_dim_number(Reader *r) {
  int64_t v = 0;
  bool huge = false;
  for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++)
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *r->at - '0', &v))
      huge = true;
  return huge ? dim_huge(r->d) : dim_int(r->d, v);
}

static const struct {
  const char *name;
  Dim (*make)(Dims *d, Dim a, Dim b);
} calls[] = {{"Max", dim_max},           {"Min", dim_min},     {"Mod", dim_mod},
             {"PythonMod", dim_mod},     {"max", dim_max},     {"min", dim_min},
             {"FloorDiv", dim_floordiv}, {"sym_max", dim_max}, {"sym_min", dim_min}};

/* f(a, b, ...), taken from the left. */
static Dim read_dim_call(Reader *r, const char *name, size_t len) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (strlen(calls[i].name) != len || memcmp(calls[i].name, name, len)) continue;
    Dim x = read_dim_sum(r);
    while (x && accept_dim_text(r, ",")) {
      Dim y = read_dim_sum(r);
      x = y ? calls[i].make(r->d, x, y) : NULL;
    }
    return x && accept_dim_text(r, ")") ? x : NULL;
  }
  return NULL;
}

static Dim read_dim_name(Reader *r) {
  const char *from = r->at;
  while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '_')) r->at++;
  size_t len = (size_t)(r->at - from);
  if (len == 0) return NULL;
  if (accept_dim_text(r, "(")) return read_dim_call(r, from, len);
  Name name = pool_namen(dims_names(r->d), from, len);
  return python_is_keyword(name) ? NULL : dim_symbol(r->d, name);
}

static Dim read_dim_atom(Reader *r) {
  skip_dim_spaces(r);
  if (r->at == r->end || ++r->depth > NESTING_MAX) return NULL;
  Dim x;
  if (accept_dim_text(r, "(")) {
    x = read_dim_sum(r);
    if (x && !accept_dim_text(r, ")")) x = NULL;
  } else {
    x = isdigit((unsigned char)*r->at) ? read_dim_number(r) : read_dim_name(r);
  }
  r->depth--;
  return x;
}

static Dim read_power(Reader *r);

/* Negates the operand with its power: -a**2 is -(a**2). */
static Dim read_negative(Reader *r) {
  if (++r->depth > NESTING_MAX) return NULL;
  Dim x = read_power(r);
  r->depth--;
  return x ? dim_sub(r->d, dim_int(r->d, 0), x) : NULL;
}

static Dim read_power(Reader *r) {
  if (accept_dim_text(r, "-")) return read_negative(r);
  Dim x = read_dim_atom(r), result = x;
  if (!x || !accept_dim_text(r, "**")) return x;
  Dim n = read_dim_atom(r);
  if (!n || !dim_is_int(n) || n->value < 0 || n->value > POWER_MAX) return NULL;
  result = dim_int(r->d, 1);
  for (int64_t i = 0; i < n->value; i++) result = dim_mul(r->d, result, x);
  return result;
}

static Dim read_product(Reader *r) {
  Dim x = read_power(r);
  for (;;) {
    Dim (*make)(Dims *, Dim, Dim) = accept_dim_text(r, "//")  ? dim_floordiv
                                    : accept_dim_text(r, "*") ? dim_mul
                                    : accept_dim_text(r, "%") ? dim_mod
                                                              : NULL;
    if (!x || !make) return x;
    Dim y = read_power(r);
    x = y ? make(r->d, x, y) : NULL;
  }
}

static Dim read_dim_sum(Reader *r) {
  Dim x = read_product(r);
  for (;;) {
    bool minus = accept_dim_text(r, "-");
    if (!x || (!minus && !accept_dim_text(r, "+"))) return x;
    Dim y = read_product(r);
    x = !y ? NULL : minus ? dim_sub(r->d, x, y) : dim_add(r->d, x, y);
  }
}

Dim dim_parse(Dims *d, const char **at, const char *end) {
  Reader r = {.d = d, .at = *at, .end = end};
  Dim x = read_dim_sum(&r);
  *at = r.at;
  return x;
}
