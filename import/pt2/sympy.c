/* Inside of an expression there may be fractions (`s0/2` where s0 is even): a value is a Dim over
 * a positive integer, and only the whole must be an integer. */
#include "import/pt2/sympy.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/python_words.h"

enum { DEPTH_MAX = 200, ARGS_MAX = 4096, POWER_MAX = 64 };

typedef struct {
  Dim num;
  int64_t den; /* > 0 */
} Value;

typedef struct {
  Dims *dims;
  Arena *arena;
  const char *at;
  const char *why; /* NULL: no error yet */
  int depth;
} Reader;

static Value fail_expression(Reader *r, const char *why) {
  if (!r->why) r->why = why;
  return (Value){dim_int(r->dims, 0), 1};
}

static Value integer_value(Dim d) { return (Value){d, 1}; }
static Value number_value(const Reader *r, int64_t n) { return integer_value(dim_int(r->dims, n)); }

/* ---- functions ---- */

typedef Value (*Function)(Reader *r, const Value *args, size_t n);

/* Both over one denominator. */
static bool align(Reader *r, Value *a, Value *b) {
  int64_t den;
  if (a->den == b->den) return true;
  if (__builtin_mul_overflow(a->den, b->den, &den))
    return fail_expression(r, "a fraction overflows"), false;
  a->num = dim_mul(r->dims, a->num, dim_int(r->dims, b->den));
  b->num = dim_mul(r->dims, b->num, dim_int(r->dims, a->den));
  a->den = b->den = den;
  return true;
}

static Value add_values(Reader *r, const Value *args, size_t n) {
  Value sum = number_value(r, 0);
  for (size_t i = 0; i < n; i++) {
    Value b = args[i];
    if (!align(r, &sum, &b)) break;
    sum.num = dim_add(r->dims, sum.num, b.num);
  }
  return sum;
}

static Value multiply_values(Reader *r, const Value *args, size_t n) {
  Value product = number_value(r, 1);
  for (size_t i = 0; i < n; i++) {
    product.num = dim_mul(r->dims, product.num, args[i].num);
    if (__builtin_mul_overflow(product.den, args[i].den, &product.den))
      return fail_expression(r, "a fraction overflows");
  }
  return product;
}

static Value fold_values(Reader *r, const Value *args, size_t n, Dim (*f)(Dims *, Dim, Dim)) {
  Value x = args[0];
  for (size_t i = 1; i < n; i++) {
    Value b = args[i];
    if (!align(r, &x, &b)) break;
    x.num = f(r->dims, x.num, b.num);
  }
  return x;
}

static Value max_values(Reader *r, const Value *args, size_t n) {
  return fold_values(r, args, n, dim_max);
}
static Value minimum(Reader *r, const Value *args, size_t n) {
  return fold_values(r, args, n, dim_min);
}

/* a / b as a fraction; b is a number that is not 0, or 1 over something. */
static Value divide_values(Reader *r, const Value *args, size_t n) {
  (void)n;
  Value a = args[0], b = args[1];
  if (!dim_is_int(b.num) || b.num->value == INT64_MIN)
    return fail_expression(r, "it divides by no constant into a fraction");
  int64_t by = b.num->value;
  if (!by) return fail_expression(r, "it divides by 0");
  if (by < 0) by = -by, a.num = dim_mul(r->dims, a.num, dim_int(r->dims, -1));
  a.num = dim_mul(r->dims, a.num, dim_int(r->dims, b.den));
  if (__builtin_mul_overflow(a.den, by, &a.den)) return fail_expression(r, "a fraction overflows");
  return a;
}

static Value power_value(Reader *r, const Value *args, size_t n) {
  (void)n;
  Value e = args[1], x = number_value(r, 1);
  if (!dim_is_int(e.num) || e.den != 1) return fail_expression(r, "its exponent is no number");
  if (e.num->value > POWER_MAX || e.num->value < -POWER_MAX)
    return fail_expression(r, "its exponent is too large");
  int64_t times = e.num->value < 0 ? -e.num->value : e.num->value;
  for (int64_t i = 0; i < times && !r->why; i++) {
    Value pair[] = {x, args[0]};
    x = e.num->value < 0 ? divide_values(r, pair, 2) : multiply_values(r, pair, 2);
  }
  return x;
}

/* The largest integer that is not above x. */
static Value round_down(Reader *r, const Value *x, size_t n) {
  (void)n;
  if (x->den == 1) return *x;
  return integer_value(dim_floordiv(r->dims, x->num, dim_int(r->dims, x->den)));
}

static Value round_up(Reader *r, const Value *x, size_t n) {
  (void)n;
  if (x->den == 1) return *x;
  Dim up = dim_add(r->dims, x->num, dim_int(r->dims, x->den - 1));
  return integer_value(dim_floordiv(r->dims, up, dim_int(r->dims, x->den)));
}

static Value truncate_to_int(Reader *r, const Value *x, size_t n) {
  if (x->den > 1 && dim_range(r->dims, x->num).lo < 0)
    return fail_expression(r, "it cuts the fraction of what may be negative");
  return round_down(r, x, n);
}

static bool can_divide(Reader *r, Value *a, Value *b) {
  if (dim_is(b->num, 0)) return fail_expression(r, "it divides by 0"), false;
  return align(r, a, b);
}

static Value floor_divide_values(Reader *r, const Value *args, size_t n) {
  (void)n;
  Value a = args[0], b = args[1];
  if (!can_divide(r, &a, &b)) return number_value(r, 0);
  return integer_value(dim_floordiv(r->dims, a.num, b.num));
}

static Value ceil_divide(Reader *r, const Value *args, size_t n) {
  Dim minus = dim_int(r->dims, -1);
  Value negated[] = {{dim_mul(r->dims, args[0].num, minus), args[0].den}, args[1]};
  return integer_value(dim_mul(r->dims, floor_divide_values(r, negated, n).num, minus));
}

static Value modulo(Reader *r, const Value *args, size_t n) {
  (void)n;
  Value a = args[0], b = args[1];
  if (!can_divide(r, &a, &b)) return number_value(r, 0);
  return (Value){dim_mod(r->dims, a.num, b.num), a.den};
}

/* (x // d) % m */
static Value modular_index(Reader *r, const Value *args, size_t n) {
  Value pair[] = {floor_divide_values(r, args, n), args[2]};
  return modulo(r, pair, 2);
}

static Value absolute(Reader *r, const Value *x, size_t n) {
  (void)n;
  Dim minus = dim_mul(r->dims, x->num, dim_int(r->dims, -1));
  return (Value){dim_max(r->dims, x->num, minus), x->den};
}

static Value identity(Reader *r, const Value *args, size_t n) {
  (void)r, (void)n;
  return args[0];
}

static const struct {
  const char *name;
  size_t least, most; /* arguments */
  Function f;
} functions[] = {{"Abs", 1, 1, absolute},
                 {"Add", 0, ARGS_MAX, add_values},
                 {"CeilDiv", 2, 2, ceil_divide},
                 {"CeilToInt", 1, 1, round_up},
                 {"CleanDiv", 2, 2, floor_divide_values},
                 {"FloorDiv", 2, 2, floor_divide_values},
                 {"FloatTrueDiv", 2, 2, divide_values},
                 {"FloorToInt", 1, 1, round_down},
                 {"Identity", 1, 1, identity},
                 {"IntTrueDiv", 2, 2, divide_values},
                 {"Max", 1, ARGS_MAX, max_values},
                 {"Min", 1, ARGS_MAX, minimum},
                 {"Mod", 2, 2, modulo},
                 {"ModularIndexing", 3, 3, modular_index},
                 {"Mul", 0, ARGS_MAX, multiply_values},
                 {"Pow", 2, 2, power_value},
                 {"PowByNatural", 2, 2, power_value},
                 {"PythonMod", 2, 2, modulo},
                 {"Rational", 2, 2, divide_values},
                 {"ToFloat", 1, 1, identity},
                 {"TruncToInt", 1, 1, truncate_to_int},
                 {"ceiling", 1, 1, round_up},
                 {"floor", 1, 1, round_down}};

/* ---- text ---- */

static void skip_blanks(Reader *r) {
  while (*r->at == ' ') r->at++;
}

static bool accept_char(Reader *r, char c) {
  skip_blanks(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static bool expect_char(Reader *r, char c) {
  if (accept_char(r, c)) return true;
  fail_expression(r, arena_printf(r->arena, "`%c` is expected before `%.20s`", c, r->at));
  return false;
}

/* The length of the identifier that comes next. */
static size_t word_at(Reader *r) {
  size_t n = 0;
  skip_blanks(r);
  while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_') n++;
  return n;
}

static bool is_named_word(const char *at, size_t n, const char *name) {
  return n == strlen(name) && !memcmp(at, name, n);
}

/* `'s77', positive=True, integer=True)` */
static Value read_sympy_symbol(Reader *r) {
  char quote = *r->at;
  if (quote != '\'' && quote != '"') return fail_expression(r, "a symbol has no name");
  r->at++;
  size_t n = word_at(r);
  /* Functions begin with a capital letter. */
  if (!n || !(islower((unsigned char)*r->at) || *r->at == '_') || r->at[n] != quote)
    return fail_expression(r, "a symbol's name is no identifier of small letters");
  Name name = pool_namen(dims_names(r->dims), r->at, n);
  if (python_is_keyword(name)) return fail_expression(r, "a symbol's name is a word of Python");
  Dim symbol = dim_symbol(r->dims, name);
  r->at += n + 1;
  while (accept_char(r, ',')) {
    n = word_at(r);
    bool positive = is_named_word(r->at, n, "positive");
    r->at += n;
    if (!n || !accept_char(r, '=')) return fail_expression(r, "a symbol's assumption is malformed");
    n = word_at(r);
    if (positive && is_named_word(r->at, n, "True") &&
        !dim_limit(r->dims, symbol, (DimRange){1, INT64_MAX}))
      return fail_expression(r, "a symbol has no value left");
    r->at += n;
  }
  expect_char(r, ')');
  return integer_value(symbol);
}

static Value read_sympy_number(Reader *r) {
  char *end;
  errno = 0;
  long long value = strtoll(r->at, &end, 10);
  if (end == r->at)
    return fail_expression(r, arena_printf(r->arena, "`%.20s` is no number", r->at));
  if (errno) return fail_expression(r, "a number overflows");
  r->at = end;
  return number_value(r, value);
}

/* `'0.5', precision=53)`: a fraction whose denominator is a small power of 2, with which floats of
 * sizes are exact. */
static Value read_sympy_float(Reader *r) {
  enum { DENOMINATOR_MAX = 1 << 20 };
  const double NUMERATOR_MAX = 1 << 30;
  char quote = *r->at, *end;
  if (quote != '\'' && quote != '"') return fail_expression(r, "a float has no number");
  double x = strtod(r->at + 1, &end);
  if (end == r->at + 1 || *end != quote) return fail_expression(r, "a float has no number");
  int64_t den = 1;
  for (; den < DENOMINATOR_MAX && fabs(x) < NUMERATOR_MAX && x != floor(x); den *= 2) x *= 2;
  if (!(fabs(x) < NUMERATOR_MAX) || x != floor(x))
    return fail_expression(r, "a float in it is no small fraction");
  r->at = end + 1;
  if (accept_char(r, ',')) {
    size_t n = word_at(r);
    bool precision = is_named_word(r->at, n, "precision");
    r->at += n;
    if (!precision || !accept_char(r, '=')) return fail_expression(r, "a float is malformed");
    r->at += word_at(r);
  }
  expect_char(r, ')');
  return (Value){dim_int(r->dims, (int64_t)x), den};
}

static Value read_sympy_value(Reader *r);

static Value read_sympy_call(Reader *r, const char *name, size_t len) {
  VEC(Value) args = {0};
  if (!accept_char(r, ')')) {
    do {
      if (args.len == ARGS_MAX) return fail_expression(r, "it has too many terms");
      vec_push(r->arena, &args, read_sympy_value(r));
    } while (!r->why && accept_char(r, ','));
    if (r->why || !expect_char(r, ')')) return number_value(r, 0);
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (!is_named_word(name, len, functions[i].name)) continue;
    if (args.len < functions[i].least || args.len > functions[i].most)
      return fail_expression(
          r, arena_printf(r->arena, "%s has %zu arguments", functions[i].name, args.len));
    return functions[i].f(r, args.data, args.len);
  }
  return fail_expression(r, arena_printf(r->arena, "there is no function `%.*s`", (int)len, name));
}

static Value read_word(Reader *r, const char *name, size_t len) {
  if (!expect_char(r, '(')) return number_value(r, 0);
  if (is_named_word(name, len, "Symbol")) return read_sympy_symbol(r);
  if (is_named_word(name, len, "Float")) return read_sympy_float(r);
  if (!is_named_word(name, len, "Integer")) return read_sympy_call(r, name, len);
  Value value = read_sympy_number(r);
  expect_char(r, ')');
  return value;
}

static Value read_sympy_value(Reader *r) {
  skip_blanks(r);
  if (*r->at == '-' || isdigit((unsigned char)*r->at)) return read_sympy_number(r);
  const char *name = r->at;
  size_t len = word_at(r);
  if (!len) return fail_expression(r, arena_printf(r->arena, "`%.20s` is no expression", r->at));
  if (len > 40) return fail_expression(r, "a word in it is too long");
  r->at += len;
  if (++r->depth > DEPTH_MAX) return fail_expression(r, "it is nested too deep");
  Value value = read_word(r, name, len);
  r->depth--;
  return value;
}

Dim sympy_read(Dims *d, Arena *a, const char *text, const char **why) {
  Reader r = {.dims = d, .arena = a, .at = text};
  Value value = read_sympy_value(&r);
  skip_blanks(&r);
  if (!r.why && *r.at) fail_expression(&r, arena_printf(a, "`%.20s` follows its end", r.at));
  /* The whole is an integer: who wrote it knows more of its symbols than is said here. */
  if (!r.why && value.den != 1) {
    if (dim_is_int(value.num) && !dim_divisible(value.num, value.den))
      fail_expression(&r, "it is a fraction");
    value = round_down(&r, &value, 1);
  }
  *why = r.why;
  return r.why ? NULL : value.num;
}

/* ---- comparisons ---- */

static const struct {
  const char *name, *before, *between, *after;
} relations[] = {{"Equality", "Eq(", ", ", ")"},    {"GreaterThan", "", " >= ", ""},
                 {"LessThan", "", " <= ", ""},      {"StrictGreaterThan", "", " > ", ""},
                 {"StrictLessThan", "", " < ", ""}, {"Unequality", "Ne(", ", ", ")"}};

Name sympy_relation(Dims *d, Arena *a, const char *text) {
  Reader r = {.dims = d, .arena = a, .at = text};
  size_t len = word_at(&r), row = 0, rows = sizeof relations / sizeof *relations;
  while (row < rows && !is_named_word(r.at, len, relations[row].name)) row++;
  if (row == rows) return NULL;
  r.at += len;
  if (!accept_char(&r, '(')) return NULL;
  Value left = read_sympy_value(&r);
  if (r.why || !accept_char(&r, ',')) return NULL;
  Value right = read_sympy_value(&r);
  if (r.why || !accept_char(&r, ')') || *r.at || left.den != 1 || right.den != 1) return NULL;
  Text out = text_new(a);
  text_puts(&out, relations[row].before);
  dim_print(&out, left.num);
  text_puts(&out, relations[row].between);
  dim_print(&out, right.num);
  text_puts(&out, relations[row].after);
  return pool_name(dims_names(d), out.data);
}
