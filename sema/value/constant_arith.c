/* Python's arithmetic on compile-time values. */
#include <math.h>
#include <string.h>

#include "lang/messages.h"
#include "sema/messages.h"
#include "sema/value/context.h"

static Value bad_operands(Sema *S, AstOp op, Value a, Value b, Span at) {
  sema_error(S, at, E_SEMA_OPERANDS, ast_op_text(op), value_describe(S->arena, a),
             value_describe(S->arena, b));
  return value_error();
}

static Value overflow_error(Sema *S, Span at) {
  sema_error(S, at, E_SEMA_CONST_OVERFLOW);
  return value_error();
}

static Value by_zero(Sema *S, Span at) {
  sema_error(S, at, E_LANG_DIVISION_BY_ZERO);
  return value_error();
}

/* C rounds a quotient to zero, Python down: is that not the same? */
static bool rounds_apart(BigInt a, BigInt b) { return a % b != 0 && (a < 0) != (b < 0); }

/* b is not 0.  Division by -1 is special: C does not define it for the least integer. */
static bool floor_div_overflow(BigInt a, BigInt b, BigInt *q) {
  if (b == -1) return __builtin_sub_overflow((BigInt)0, a, q);
  *q = a / b - rounds_apart(a, b);
  return false;
}

/* floor_div(a, b) * b may be more than the bits hold, what it leaves never is. */
static BigInt big_floor_mod(BigInt a, BigInt b) {
  return b == -1 ? 0 : a % b + (rounds_apart(a, b) ? b : 0);
}

static Value int_power(Sema *S, BigInt a, BigInt b, Span at) {
  if (b < 0) return a ? value_float(pow((double)a, (double)b)) : by_zero(S, at);
  BigInt r = 1;
  for (; b; b >>= 1) {
    if (b & 1 && __builtin_mul_overflow(r, a, &r)) return overflow_error(S, at);
    if (b > 1 && __builtin_mul_overflow(a, a, &a)) return overflow_error(S, at);
  }
  return value_int(r);
}

static Value int_shift(Sema *S, AstOp op, BigInt a, BigInt b, Span at) {
  enum { WIDTH = 127 };
  if (b < 0) {
    sema_error(S, at, E_SEMA_NEGATIVE_SHIFT);
    return value_error();
  }
  if (op == OP_SHR) return value_int(b >= WIDTH ? (a < 0 ? -1 : 0) : a >> (int)b);
  BigInt r;
  if (b >= WIDTH || __builtin_mul_overflow(a, (BigInt)1 << (int)b, &r))
    return overflow_error(S, at);
  return value_int(r);
}

static Value int_binary(Sema *S, AstOp op, BigInt a, BigInt b, Span at) {
  BigInt r = 0;
  bool lost = false;
  switch (op) {
    case OP_ADD: lost = __builtin_add_overflow(a, b, &r); break;
    case OP_SUB: lost = __builtin_sub_overflow(a, b, &r); break;
    case OP_MUL: lost = __builtin_mul_overflow(a, b, &r); break;
    case OP_DIV: return b ? value_float((double)a / (double)b) : by_zero(S, at);
    case OP_FLOORDIV:
      if (!b) return by_zero(S, at);
      lost = floor_div_overflow(a, b, &r);
      break;
    case OP_MOD: return b ? value_int(big_floor_mod(a, b)) : by_zero(S, at);
    case OP_POW: return int_power(S, a, b, at);
    case OP_AND: r = a & b; break;
    case OP_OR: r = a | b; break;
    case OP_XOR: r = a ^ b; break;
    case OP_SHL:
    case OP_SHR: return int_shift(S, op, a, b, at);
    default: return bad_operands(S, op, value_int(a), value_int(b), at);
  }
  return lost ? overflow_error(S, at) : value_int(r);
}

static Value float_binary(Sema *S, AstOp op, double a, double b, Span at) {
  if ((op == OP_DIV || op == OP_FLOORDIV || op == OP_MOD) && b == 0) return by_zero(S, at);
  switch (op) {
    case OP_ADD: return value_float(a + b);
    case OP_SUB: return value_float(a - b);
    case OP_MUL: return value_float(a * b);
    case OP_DIV: return value_float(a / b);
    case OP_FLOORDIV: return value_float(floor(a / b));
    case OP_MOD: {
      double r = fmod(a, b);
      return value_float(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    }
    case OP_POW: return value_float(pow(a, b));
    default: return bad_operands(S, op, value_float(a), value_float(b), at);
  }
}

static Value concat_tuples(Sema *S, const Tuple *a, const Tuple *b, Span at) {
  uint32_t n = a->len + b->len;
  if (n > TUPLE_MAX) {
    sema_error(S, at, E_SEMA_TUPLE_MAX, TUPLE_MAX);
    return value_error();
  }
  Value *items = ARENA_ARRAY(S->arena, Value, n);
  for (uint32_t i = 0; i < a->len; i++) items[i] = a->data[i];
  for (uint32_t i = 0; i < b->len; i++) items[a->len + i] = b->data[i];
  Value v = value_tuple(S->arena, items, n);
  v.u.tuple->is_list = a->is_list && b->is_list;
  return v;
}

static Value repeat_tuple(Sema *S, const Tuple *t, BigInt times, Span at) {
  if (times < 0) times = 0;
  if (t->len && times > TUPLE_MAX / t->len) {
    sema_error(S, at, E_SEMA_TUPLE_MAX, TUPLE_MAX);
    return value_error();
  }
  uint32_t n = (uint32_t)times * t->len;
  Value *items = ARENA_ARRAY(S->arena, Value, n);
  for (uint32_t i = 0; i < n; i++) items[i] = t->data[i % t->len];
  Value v = value_tuple(S->arena, items, n);
  v.u.tuple->is_list = t->is_list;
  return v;
}

Value text_value(Sema *S, const Text *t, Span at) {
  if (t->len <= STR_MAX) return value_str(pool_name(S->names, t->data));
  sema_error(S, at, E_SEMA_STR_MAX, STR_MAX);
  return value_error();
}

static Value repeat_str(Sema *S, Name s, BigInt times, Span at) {
  Text t = text_new(S->arena);
  size_t n = strlen(s);
  for (; n && times > 0 && t.len <= STR_MAX; times--) text_putn(&t, s, n);
  return text_value(S, &t, at);
}

static Value concat_strs(Sema *S, Name a, Name b, Span at) {
  Text t = text_new(S->arena);
  text_puts(&t, a);
  text_puts(&t, b);
  return text_value(S, &t, at);
}

/* Containers; V_ABSENT if the operands are none. */
static Value container_binary(Sema *S, AstOp op, Value a, Value b, Span at) {
  BigInt i;
  if (op == OP_ADD && a.kind == V_TUPLE && b.kind == V_TUPLE)
    return concat_tuples(S, a.u.tuple, b.u.tuple, at);
  if (op == OP_ADD && a.kind == V_STR && b.kind == V_STR) return concat_strs(S, a.u.s, b.u.s, at);
  if (op == OP_MUL && a.kind == V_TUPLE && value_as_int(b, &i))
    return repeat_tuple(S, a.u.tuple, i, at);
  if (op == OP_MUL && b.kind == V_TUPLE && value_as_int(a, &i))
    return repeat_tuple(S, b.u.tuple, i, at);
  if (op == OP_MUL && a.kind == V_STR && value_as_int(b, &i)) return repeat_str(S, a.u.s, i, at);
  return value_of(V_ABSENT);
}

Value const_binary(Sema *S, AstOp op, Value a, Value b, Span at) {
  if (a.kind == V_ERROR || b.kind == V_ERROR) return value_error();
  BigInt i, j;
  double f, g;
  if (a.kind == V_BOOL && b.kind == V_BOOL && (op == OP_AND || op == OP_OR || op == OP_XOR))
    return value_bool(op == OP_AND ? a.u.i & b.u.i : op == OP_OR ? a.u.i | b.u.i : a.u.i ^ b.u.i);
  if (value_as_int(a, &i) && value_as_int(b, &j)) return int_binary(S, op, i, j, at);
  if (value_as_float(a, &f) && value_as_float(b, &g)) return float_binary(S, op, f, g, at);
  Value v = container_binary(S, op, a, b, at);
  return v.kind == V_ABSENT ? bad_operands(S, op, a, b, at) : v;
}

Value const_unary(Sema *S, AstOp op, Value a, Span at) {
  BigInt i;
  double f;
  bool truth;
  if (op == OP_NOT && value_truth(a, &truth)) return value_bool(!truth);
  if (value_as_int(a, &i) && op == OP_NEG) return int_binary(S, OP_SUB, 0, i, at);
  if (value_as_int(a, &i) && op == OP_INVERT) return value_int(~i);
  if (value_as_int(a, &i) && op == OP_POS) return value_int(i);
  if (value_as_float(a, &f) && (op == OP_NEG || op == OP_POS))
    return value_float(op == OP_NEG ? -f : f);
  sema_error(S, at, E_SEMA_OPERAND, ast_op_text(op), value_describe(S->arena, a));
  return value_error();
}

/* -1, 0, 1; 2 if the two have no order (a NaN), 3 if they are not comparable at all. */
static int order(Value a, Value b, Walk *w);

static int order_tuples(const Tuple *x, const Tuple *y, Walk *w) {
  if (!walk_enter(w, x->len)) return 3;
  for (uint32_t k = 0; k < x->len && k < y->len; k++) {
    int c = order(x->data[k], y->data[k], w);
    if (c) return c;
  }
  walk_leave(w);
  return (x->len > y->len) - (x->len < y->len);
}

static int order(Value a, Value b, Walk *w) {
  BigInt i, j;
  double f, g;
  if (value_as_int(a, &i) && value_as_int(b, &j)) return (i > j) - (i < j);
  if (value_as_float(a, &f) && value_as_float(b, &g))
    return isnan(f) || isnan(g) ? 2 : (f > g) - (f < g);
  if (a.kind == V_STR && b.kind == V_STR) {
    int c = strcmp(a.u.s, b.u.s);
    return (c > 0) - (c < 0);
  }
  return a.kind == V_TUPLE && b.kind == V_TUPLE ? order_tuples(a.u.tuple, b.u.tuple, w) : 3;
}

static bool constant_contains(Sema *S, Value item, Value in, Span at, bool *found) {
  *found = false;
  if (in.kind == V_STR && item.kind == V_STR) {
    *found = strstr(in.u.s, item.u.s) != NULL;
    return true;
  }
  if (in.kind == V_DICT) {
    *found = dict_find(S, in.u.dict, item, at) != NULL;
    return true;
  }
  const Value *items;
  uint32_t n;
  if (!iterate(S, in, at, &items, &n)) return false;
  for (uint32_t i = 0; i < n && !*found; i++) {
    Walk w = {0};
    bool known;
    *found = value_equal_in(items[i], item, &known, &w) && known;
    if (!count_items(S, w.items, at)) return false;
  }
  return true;
}

Value const_compare(Sema *S, AstOp op, Value a, Value b, Span at) {
  if (a.kind == V_ERROR || b.kind == V_ERROR) return value_error();
  Walk w = {0};
  bool known, yes;
  if (op == OP_EQ || op == OP_NE) {
    yes = value_equal_in(a, b, &known, &w);
    if (!count_items(S, w.items, at)) return value_error();
    if (!known) return bad_operands(S, op, a, b, at);
    return value_bool(yes == (op == OP_EQ));
  }
  if (op == OP_IN || op == OP_NOT_IN) {
    if (!constant_contains(S, a, b, at, &yes)) return value_error();
    return value_bool(yes == (op == OP_IN));
  }
  int c = order(a, b, &w);
  if (!count_items(S, w.items, at)) return value_error();
  switch (c == 3 ? OP_ADD : op) {
    case OP_LT: return value_bool(c == -1);
    case OP_LE: return value_bool(c == -1 || c == 0);
    case OP_GT: return value_bool(c == 1);
    case OP_GE: return value_bool(c == 1 || c == 0);
    default: return bad_operands(S, op, a, b, at);
  }
}
