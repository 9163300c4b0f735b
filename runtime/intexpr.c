#include "runtime/intexpr.h"

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
  I_AND
} IntCode;

typedef struct {
  Arena *arena;
  const char *text, *at;
  const char *const *names;
  int nnames;
  VEC(IntOp) code;
  int depth, stack;
  int failed;
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

static bool name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

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
  } while (op != I_CDIV && !r->failed && accept(r, ","));
  expect(r, ")", "a closing parenthesis is missing");
}

static void unknown_name(Reader *r, const char *start, size_t len) {
  char name[64], hint[128];
  snprintf(name, sizeof name, "%.*s", (int)len, start);
  r->failed = error_set(NEREID_E_USAGE, E_RUN_EXPR_NAME, SHOWN, r->text, name,
                        error_suggest(hint, sizeof hint, name, r->names, (size_t)r->nnames));
}

static void read_name(Reader *r) {
  static const struct {
    const char *name;
    IntCode op;
  } calls[] = {{"cdiv", I_CDIV}, {"min", I_MIN}, {"max", I_MAX}};
  const char *start = r->at;
  while (name_char(*r->at)) r->at++;
  size_t len = (size_t)(r->at - start);
  for (size_t i = 0; i < 3; i++)
    if (strlen(calls[i].name) == len && !memcmp(calls[i].name, start, len) && accept(r, "(")) {
      read_call(r, calls[i].op);
      return;
    }
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
  } else if (isalpha((unsigned char)*r->at) || *r->at == '_') {
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

int intexpr_parse(Arena *a, IntExpr *out, const char *text, const char *const *names, int nnames) {
  Reader r = {.arena = a, .names = names, .nnames = nnames};
  r.text = r.at = arena_strndup(a, text, strlen(text));
  read_expr(&r);
  skip_space(&r);
  if (!r.failed && *r.at) fail(&r, "it should end there");
  *out = (IntExpr){r.text, r.code.data, (int)r.code.len};
  return r.failed;
}

/* ---- evaluation ---- */

static int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y && (x < 0) != (y < 0)); }

/* Of y's sign; floor_div(x, y) * y may be more than 64 bits hold. */
static int64_t floor_mod(int64_t x, int64_t y) {
  int64_t r = x % y;
  return r && (r < 0) != (y < 0) ? r + y : r;
}

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
