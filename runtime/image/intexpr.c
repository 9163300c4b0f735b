#include "runtime/image/intexpr.h"
#include "lang/base/integers.h"
#include "runtime/messages.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How deep parentheses may nest; the stack of values is never deeper than a few times that. */
enum { DEPTH_MAX = 64, STACK_MAX = 512, CODE_MAX = 4096 };

typedef enum {
  I_NUMBER,
  I_NAME,
  I_NEG,
  I_ADD,
  I_SUB,
  I_MUL,
  I_DIV,
  I_MOD,
  I_CDIV,
  I_MIN,
  I_MAX,
  I_EQ,
  I_NE,
  I_LT,
  I_LE,
  I_GT,
  I_GE,
  I_AND,
  /* of bounds expressions alone */
  I_SPAN,
  I_HULL,
  I_BELOW,
  I_ATMOST,
  I_ABOVE,
  I_ATLEAST,
  I_SIGNED,
  I_UNSIGNED,
  I_QUOTIENT,
  I_REMAINDER,
  I_REPEAT,
  I_BOTH,
  I_WHOLE,
  I_GIVEN
} IntCode;

typedef struct {
  Arena *arena;
  const char *text, *at;
  const char *const *names;
  int nnames;
  VEC(IntOp) code;
  int depth, stack;
  int failed;
  bool bounds; /* it may have the functions of bounds expressions */
} Reader;

static void read_expr(Reader *r);

enum { SHOWN = 60 }; /* characters of an expression in a message */

static void fail(Reader *r, const char *what) {
  if (!r->failed)
    r->failed = error_set(NEREID_E_USAGE, E_RUN_EXPR, SHOWN, r->text,
                          strlen(r->text) > SHOWN ? "..." : "", what, (int)(r->at - r->text) + 1);
}

static void push(Reader *r, IntCode op, int64_t value) {
  r->stack += op <= I_NAME ? 1 : op == I_NEG ? 0 : -1;
  if (r->stack > STACK_MAX || r->code.len >= CODE_MAX) fail(r, "it is too long");
  if (r->failed) return;
  IntOp item = {(uint8_t)op, value};
  vec_push(r->arena, &r->code, item);
}

static void skip_space(Reader *r) {
  while (isspace((unsigned char)*r->at)) r->at++;
}

static bool accept(Reader *r, const char *token) {
  skip_space(r);
  size_t n = strlen(token);
  if (strncmp(r->at, token, n)) return false;
  r->at += n;
  return true;
}

static void expect(Reader *r, const char *token, const char *what) {
  if (!accept(r, token)) fail(r, what);
}

static bool name_char(char c) { return text_is_name_char(c) || c == '.'; }

static void read_number(Reader *r) {
  char *end;
  errno = 0;
  long long v = strtoll(r->at, &end, 10);
  if (errno) fail(r, "the number is too large");
  if (name_char(*end)) {
    r->at = end;
    fail(r, "only whole numbers are known");
    return;
  }
  r->at = end;
  push(r, I_NUMBER, v);
}

/* cdiv(a, b) and the like: the opening parenthesis has been read. */
static void read_call(Reader *r, IntCode op) {
  read_expr(r);
  expect(r, ",", "a comma is missing");
  do {
    read_expr(r);
    push(r, op, 0);
  } while ((op == I_MIN || op == I_MAX || op == I_HULL) && !r->failed && accept(r, ","));
  expect(r, ")", "a closing parenthesis is missing");
}

static void unknown_name(Reader *r, const char *start, size_t len) {
  char name[64], hint[128];
  snprintf(name, sizeof name, "%.*s", (int)len, start);
  r->failed = error_set(NEREID_E_USAGE, E_RUN_EXPR_NAME, SHOWN, r->text, name,
                        error_suggest(hint, sizeof hint, name, r->names, (size_t)r->nnames));
}

/* A function's name, the parenthesis after it read too; false if it is none. */
static bool read_function(Reader *r, const char *name, size_t len) {
  static const struct {
    const char *name;
    IntCode op;
  } calls[] = {{"cdiv", I_CDIV},           {"min", I_MIN},           {"max", I_MAX},
               {"span", I_SPAN},           {"hull", I_HULL},         {"below", I_BELOW},
               {"atmost", I_ATMOST},       {"above", I_ABOVE},       {"atleast", I_ATLEAST},
               {"signed", I_SIGNED},       {"unsigned", I_UNSIGNED}, {"quotient", I_QUOTIENT},
               {"remainder", I_REMAINDER}, {"repeat", I_REPEAT},
               {"both", I_BOTH},           {"whole", I_WHOLE},       {"given", I_GIVEN}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (strlen(calls[i].name) != len || memcmp(calls[i].name, name, len)) continue;
    if ((calls[i].op > I_AND && !r->bounds) || !accept(r, "(")) return false;
    read_call(r, calls[i].op);
    return true;
  }
  return false;
}

static void read_name(Reader *r) {
  const char *start = r->at;
  while (name_char(*r->at)) r->at++;
  size_t len = (size_t)(r->at - start);
  if (read_function(r, start, len)) return;
  for (int i = 0; i < r->nnames; i++)
    if (strlen(r->names[i]) == len && !memcmp(r->names[i], start, len)) {
      push(r, I_NAME, i);
      return;
    }
  if (!r->failed) unknown_name(r, start, len);
}

static void read_atom(Reader *r) {
  skip_space(r);
  if (isdigit((unsigned char)*r->at)) {
    read_number(r);
  } else if (text_is_name_char(*r->at)) {
    read_name(r);
  } else if (accept(r, "(")) {
    read_expr(r);
    expect(r, ")", "a closing parenthesis is missing");
  } else {
    fail(r, "a number or a name is missing");
  }
}

static void read_unary(Reader *r) {
  bool negative = false;
  while (accept(r, "-")) negative = !negative;
  read_atom(r);
  if (negative) push(r, I_NEG, 0);
}

static void read_term(Reader *r) {
  read_unary(r);
  while (!r->failed) {
    IntCode op;
    if (accept(r, "//")) op = I_DIV;
    else if (accept(r, "*")) op = I_MUL;
    else if (accept(r, "%")) op = I_MOD;
    else if (accept(r, "/")) {
      fail(r, "write // for whole division");
      return;
    } else return;
    read_unary(r);
    push(r, op, 0);
  }
}

static void read_sum(Reader *r) {
  read_term(r);
  while (!r->failed) {
    IntCode op;
    if (accept(r, "+")) op = I_ADD;
    else if (accept(r, "-")) op = I_SUB;
    else return;
    read_term(r);
    push(r, op, 0);
  }
}

static void read_comparison(Reader *r) {
  static const struct {
    const char *token;
    IntCode op;
  } tokens[] = {{"==", I_EQ}, {"!=", I_NE}, {"<=", I_LE}, {">=", I_GE}, {"<", I_LT}, {">", I_GT}};
  read_sum(r);
  for (size_t i = 0; i < 6; i++)
    if (accept(r, tokens[i].token)) {
      read_sum(r);
      push(r, tokens[i].op, 0);
      return;
    }
}

static void read_expr(Reader *r) {
  if (++r->depth > DEPTH_MAX) fail(r, "it nests too deeply");
  if (!r->failed) read_comparison(r);
  while (!r->failed && accept(r, "and ")) {
    read_comparison(r);
    push(r, I_AND, 0);
  }
  r->depth--;
}

static void find_mask(IntExpr *e) {
  const IntOp *op = e->code;
  if (e->n != 5 || op[0].op != I_NAME || op[1].op != I_NUMBER || op[2].op != I_MOD) return;
  if (op[3].op != I_NUMBER || op[3].value || op[4].op != I_EQ) return;
  int64_t divisor = op[1].value;
  if (divisor < 1 || divisor & (divisor - 1)) return;
  e->name = (int)op[0].value;
  e->mask = divisor - 1;
}

static int parse(Reader *r, IntExpr *out, const char *text) {
  r->text = r->at = arena_strndup(r->arena, text, strlen(text));
  read_expr(r);
  skip_space(r);
  if (!r->failed && *r->at) fail(r, "it should end there");
  *out = (IntExpr){.text = r->text, .code = r->code.data, .n = (int)r->code.len};
  if (!r->failed && !r->bounds) find_mask(out);
  return r->failed;
}

int intexpr_parse(Arena *a, IntExpr *out, const char *text, const char *const *names, int nnames) {
  Reader r = {.arena = a, .names = names, .nnames = nnames};
  return parse(&r, out, text);
}

int intexpr_parse_bounds(Arena *a, IntExpr *out, const char *text, const char *const *names,
                         int nnames) {
  Reader r = {.arena = a, .names = names, .nnames = nnames, .bounds = true};
  return parse(&r, out, text);
}

/* ---- evaluation ---- */

/* False if it can't be done. */
static bool apply(IntCode op, int64_t x, int64_t y, int64_t *out) {
  bool divides = op == I_DIV || op == I_MOD || op == I_CDIV;
  if (divides && (y == 0 || (y == -1 && x == INT64_MIN))) return false;
  switch (op) {
    case I_ADD: return !__builtin_add_overflow(x, y, out);
    case I_SUB: return !__builtin_sub_overflow(x, y, out);
    case I_MUL: return !__builtin_mul_overflow(x, y, out);
    case I_DIV: *out = floor_div(x, y); return true;
    case I_MOD: *out = floor_mod(x, y); return true;
    case I_CDIV: *out = floor_div(x, y) + (x % y != 0); return true;
    case I_MIN: *out = x < y ? x : y; return true;
    case I_MAX: *out = x > y ? x : y; return true;
    case I_EQ: *out = x == y; return true;
    case I_NE: *out = x != y; return true;
    case I_LT: *out = x < y; return true;
    case I_LE: *out = x <= y; return true;
    case I_GT: *out = x > y; return true;
    case I_GE: *out = x >= y; return true;
    case I_AND: *out = x && y; return true;
    default: return false;
  }
}

bool intexpr_uses(const IntExpr *e, int name) {
  for (int i = 0; i < e->n; i++)
    if (e->code[i].op == I_NAME && e->code[i].value == name) return true;
  return false;
}

int intexpr_eval(int64_t *out, const IntExpr *e, const int64_t *values) {
  int64_t stack[STACK_MAX + 1];
  int n = 0;
  *out = 0;
  for (int i = 0; i < e->n; i++) {
    const IntOp *op = &e->code[i];
    bool ok = true;
    if (op->op <= I_NAME) {
      stack[n++] = op->op == I_NAME ? values[op->value] : op->value;
    } else if (op->op == I_NEG) {
      ok = !__builtin_sub_overflow((int64_t)0, stack[n - 1], &stack[n - 1]);
    } else {
      n--;
      ok = apply((IntCode)op->op, stack[n - 1], stack[n], &stack[n - 1]);
    }
    if (!ok) return error_set(NEREID_E_USAGE, E_RUN_EXPR_VALUE, SHOWN, e->text);
  }
  *out = stack[0];
  return 0;
}

/* ---- as C ---- */

static const char *c_of(Arena *a, IntCode op, const char *x, const char *y) {
  static const char *const functions[] = {[I_DIV] = "floor_div",
                                          [I_MOD] = "floor_mod",
                                          [I_CDIV] = "cdiv",
                                          [I_MIN] = "least",
                                          [I_MAX] = "most"};
  static const char *const operators[] = {
      [I_ADD] = "+", [I_SUB] = "-", [I_MUL] = "*", [I_EQ] = "==", [I_NE] = "!=",
      [I_LT] = "<",  [I_LE] = "<=", [I_GT] = ">",  [I_GE] = ">=", [I_AND] = "&&"};
  if (op >= I_DIV && op <= I_MAX) return arena_printf(a, "%s(%s, %s)", functions[op], x, y);
  return arena_printf(a, "(%s %s %s)", x, operators[op], y);
}

const char *intexpr_c(Arena *a, const IntExpr *e) {
  const char *stack[STACK_MAX + 1];
  int n = 0;
  for (int i = 0; i < e->n; i++) {
    const IntOp *op = &e->code[i];
    if (op->op == I_NAME) stack[n++] = arena_printf(a, "v[%lld]", (long long)op->value);
    else if (op->op == I_NUMBER)
      stack[n++] = arena_printf(a, "INT64_C(%lld)", (long long)op->value);
    else if (op->op == I_NEG) stack[n - 1] = arena_printf(a, "(-%s)", stack[n - 1]);
    else {
      n--;
      stack[n - 1] = c_of(a, (IntCode)op->op, stack[n - 1], stack[n]);
    }
  }
  return stack[0];
}

/* ---- intervals ---- */

typedef __int128 Wide;

static const IntRange everything = {INT64_MIN, INT64_MAX}, nothing = {1, 0};

static bool is_everything(IntRange x) { return x.lo == INT64_MIN && x.hi == INT64_MAX; }

static Wide least(Wide x, Wide y) { return x < y ? x : y; }
static Wide most(Wide x, Wide y) { return x > y ? x : y; }

static IntRange range_of(Wide lo, Wide hi) {
  if (lo <= INT64_MIN || hi >= INT64_MAX) return everything;
  return (IntRange){(int64_t)lo, (int64_t)hi};
}

static IntRange hull(IntRange x, IntRange y) {
  if (x.lo > x.hi) return y;
  if (y.lo > y.hi) return x;
  return (IntRange){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}

/* What op gives at the corners: its extremes, where it is monotone in each operand. */
static IntRange at_corners(IntRange x, IntRange y, Wide (*op)(Wide, Wide)) {
  Wide a = op(x.lo, y.lo), b = op(x.lo, y.hi), c = op(x.hi, y.lo), d = op(x.hi, y.hi);
  return range_of(least(least(a, b), least(c, d)), most(most(a, b), most(c, d)));
}

static Wide product(Wide x, Wide y) { return x * y; }
static Wide towards_zero(Wide x, Wide y) { return x / y; }
static Wide downwards(Wide x, Wide y) { return x / y - (x % y && (x < 0) != (y < 0)); }
static Wide upwards(Wide x, Wide y) { return x / y + (x % y && (x < 0) == (y < 0)); }

/* A division by a range that contains 0 may have any result. */
static IntRange divided(IntRange x, IntRange y, Wide (*op)(Wide, Wide)) {
  return y.lo <= 0 && y.hi >= 0 ? everything : at_corners(x, y, op);
}

/* C's: of x's sign, and nearer to 0 than y and no further than x. */
static IntRange remainder_of(IntRange x, IntRange y) {
  Wide size = most(y.hi, -(Wide)y.lo) - 1;
  if (y.lo <= 0 && y.hi >= 0) return everything;
  Wide hi = x.hi < 0 ? 0 : least(x.hi, size), lo = x.lo > 0 ? 0 : most(x.lo, -size);
  return range_of(lo, hi);
}

/* Python's: of y's sign. */
static IntRange modulus_of(IntRange x, IntRange y) {
  if (y.lo <= 0 && y.hi >= 0) return everything;
  if (y.lo > 0 && x.lo >= 0) return range_of(0, least(x.hi, y.hi - (Wide)1));
  return y.lo > 0 ? range_of(0, y.hi - (Wide)1) : range_of(y.lo + (Wide)1, 0);
}

/* x, or `otherwise`, or where that is NULL all integers of the type, if some value of x is none. */
static IntRange in_type(IntRange x, IntRange bits, bool is_signed, const IntRange *otherwise) {
  if (bits.lo < 1 || bits.hi > 63 || bits.lo != bits.hi) return everything;
  Wide hi = ((Wide)1 << (bits.lo - is_signed)) - 1, lo = is_signed ? -hi - 1 : 0;
  if (x.lo >= lo && x.hi <= hi) return x;
  return otherwise ? *otherwise : range_of(lo, hi);
}

static IntRange repeated(IntRange x, IntRange n) {
  if (n.hi <= 0) return (IntRange){0, 0};
  return range_of(least(0, (Wide)x.lo * n.hi), most(0, (Wide)x.hi * n.hi));
}

static IntRange clipped(IntRange x, Wide lo, Wide hi) {
  Wide from = most(x.lo, lo), to = least(x.hi, hi);
  return from > to ? nothing : (IntRange){(int64_t)from, (int64_t)to};
}

/* Sums and differences that fit, which are most of what there is; false: they may not. */
static bool quick_sum(IntCode op, IntRange x, IntRange y, IntRange *out) {
  const int64_t most = INT64_MAX / 4;
  if (x.lo < -most || x.hi > most || y.lo < -most || y.hi > most) return false;
  if (x.lo > x.hi || y.lo > y.hi) return false;
  *out = op == I_ADD ? (IntRange){x.lo + y.lo, x.hi + y.hi} : (IntRange){x.lo - y.hi, x.hi - y.lo};
  return true;
}

static IntRange range_apply(IntCode op, IntRange x, IntRange y) {
  IntRange out;
  if ((op == I_ADD || op == I_SUB) && quick_sum(op, x, y, &out)) return out;
  bool known = !is_everything(x) && !is_everything(y);
  if (op == I_HULL) return hull(x, y);
  if (x.lo > x.hi || y.lo > y.hi) return nothing;
  switch (op) {
    case I_BELOW: return is_everything(y) ? x : clipped(x, INT64_MIN, y.hi - (Wide)1);
    case I_ATMOST: return is_everything(y) ? x : clipped(x, INT64_MIN, y.hi);
    case I_ABOVE: return is_everything(y) ? x : clipped(x, y.lo + (Wide)1, INT64_MAX);
    case I_ATLEAST: return is_everything(y) ? x : clipped(x, y.lo, INT64_MAX);
    case I_SIGNED: return in_type(x, y, true, NULL);
    case I_UNSIGNED: return in_type(x, y, false, NULL);
    case I_BOTH: return clipped(x, y.lo, y.hi);
    case I_WHOLE: return in_type(x, y, true, &everything);
    case I_GIVEN: return is_everything(y) ? everything : x;
    case I_MIN: return (IntRange){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
    case I_MAX: return (IntRange){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
    case I_MOD: return modulus_of(x, y);
    case I_REMAINDER: return remainder_of(x, y);
    default: break;
  }
  if (!known) return everything;
  switch (op) {
    case I_ADD: return range_of((Wide)x.lo + y.lo, (Wide)x.hi + y.hi);
    case I_SUB: return range_of((Wide)x.lo - y.hi, (Wide)x.hi - y.lo);
    case I_MUL: return at_corners(x, y, product);
    case I_DIV: return divided(x, y, downwards);
    case I_CDIV: return divided(x, y, upwards);
    case I_QUOTIENT: return divided(x, y, towards_zero);
    case I_SPAN: return x.lo < y.hi ? (IntRange){x.lo, y.hi - 1} : nothing;
    case I_REPEAT: return repeated(x, y);
    default: return everything;
  }
}

IntRange intexpr_range(const IntExpr *e, const IntRange *values) {
  IntRange stack[STACK_MAX + 1];
  int n = 0;
  for (int i = 0; i < e->n; i++) {
    const IntOp *op = &e->code[i];
    if (op->op == I_NAME) stack[n++] = values[op->value];
    else if (op->op == I_NUMBER) stack[n++] = (IntRange){op->value, op->value};
    else if (op->op == I_NEG) stack[n - 1] = range_apply(I_SUB, (IntRange){0, 0}, stack[n - 1]);
    else {
      n--;
      stack[n - 1] = range_apply((IntCode)op->op, stack[n - 1], stack[n]);
    }
  }
  return stack[0];
}

/* ---- the API ---- */

typedef struct {
  Arena *arena;
  const char *text;
  const nereid_binding *names;
  int n;
  int64_t out;
} Evaluation;

static int eval_body(void *arg) {
  Evaluation *e = arg;
  const char **names = ARENA_ARRAY(e->arena, const char *, (size_t)e->n);
  int64_t *values = ARENA_ARRAY(e->arena, int64_t, (size_t)e->n);
  for (int i = 0; i < e->n; i++) {
    names[i] = e->names[i].name;
    values[i] = e->names[i].value;
  }
  IntExpr expr;
  int code = intexpr_parse(e->arena, &expr, e->text, names, e->n);
  return code ? code : intexpr_eval(&e->out, &expr, values);
}

int nereid_expr_eval(int64_t *out, const char *text, const nereid_binding *names, int nnames) {
  REQUIRE_OUT(out);
  REQUIRE(text);
  if (nnames) REQUIRE(names);
  Evaluation e = {arena_new(), text, names, nnames, 0};
  if (!e.arena) return error_out_of_memory();
  int code = error_guard(e.arena, eval_body, &e);
  if (!code) *out = e.out;
  arena_free(e.arena);
  return code;
}
