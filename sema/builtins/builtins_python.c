/* Python's own functions, on compile-time values. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* Floats below it are integers of ours when they are rounded; a NaN is not below it. */
#define WHOLE_MAX 0x1p120

Value builtin_len(Sema *S, Call *c) {
  Value v = c->args[0];
  const Value *items;
  uint32_t n;
  if (value_is_typed(v) && value_type(v).rank) return value_int(value_type(v).shape[0]);
  if (!iterate(S, v, c->spans[0], &items, &n)) return value_error();
  return value_int(n);
}

static Value refuse_conversion(Sema *S, Call *c, const char *what, const char *wanted,
                               const char *remedy) {
  refuse_argument(S, c->args[0], what, wanted, c->spans[0]);
  if (c->args[0].kind == V_TILE) sema_hint(S, H_SEMA_REMEDY, remedy);
  return value_error();
}

Value builtin_int(Sema *S, Call *c) {
  BigInt i;
  double f;
  Value v = c->args[0];
  if (value_as_int(v, &i)) return value_int(i);
  if (value_as_float(v, &f) && fabs(f) < WHOLE_MAX) return value_int((BigInt)f);
  if (v.kind == V_STR && v.u.s[0]) {
    char *end;
    errno = 0;
    long long n = strtoll(v.u.s, &end, 10);
    if (!*end && !errno) return value_int(n);
  }
  return refuse_conversion(S, c, "int()", "a number", "x.to(tl.int32)");
}

static bool text_float(const char *s, double *out) {
  bool minus = *s == '-';
  if (*s == '-' || *s == '+') s++;
  char low[16] = "";
  for (size_t i = 0; s[i] && i + 1 < sizeof low; i++) low[i] = (char)tolower((unsigned char)s[i]);
  char *end;
  if (!strcmp(low, "inf") || !strcmp(low, "infinity")) *out = INFINITY;
  else if (!strcmp(low, "nan")) *out = NAN;
  else {
    *out = strtod(s, &end);
    if (end == s || *end) return false;
  }
  if (minus) *out = -*out;
  return true;
}

Value builtin_float(Sema *S, Call *c) {
  double f;
  Value v = c->args[0];
  if (value_as_float(v, &f) || (v.kind == V_STR && text_float(v.u.s, &f))) return value_float(f);
  return refuse_conversion(S, c, "float()", "a number or a string such as \"inf\"",
                           "x.to(tl.float32)");
}

Value builtin_bool(Sema *S, Call *c) {
  bool truth;
  if (value_truth(c->args[0], &truth)) return value_bool(truth);
  return as_condition(S, c->args[0], c->at);
}

Value builtin_str(Sema *S, Call *c) {
  Text t = text_new(S->arena);
  value_print(&t, c->args[0], c->fn->code == 1);
  return text_value(S, &t, c->at);
}

/* ---- types ---- */

static bool is_row(Value v, const char *name) {
  return v.kind == V_BUILTIN && !strcmp(v.u.builtin.fn->name, name);
}

DType python_dtype(Value v) {
  return is_row(v, "int")     ? DT_I32
         : is_row(v, "float") ? DT_F32
         : is_row(v, "bool")  ? DT_I1
                              : DT_NONE;
}

/* A name of the host that ends so. */
static bool is_host_class(Value type, const char *end) {
  size_t n = strlen(type.u.s), m = strlen(end);
  return n >= m && !strcmp(type.u.s + n - m, end);
}

static bool instance_of(Sema *S, Value v, Value type, Span at, bool *yes) {
  *yes = false;
  if (type.kind == V_TUPLE) {
    for (uint32_t i = 0; i < type.u.tuple->len && !*yes; i++)
      if (!instance_of(S, v, type.u.tuple->data[i], at, yes)) return false;
    return true;
  }
  if (is_row(type, "int")) *yes = v.kind == V_INT || v.kind == V_BOOL;
  else if (is_row(type, "float")) *yes = v.kind == V_FLOAT;
  else if (is_row(type, "bool")) *yes = v.kind == V_BOOL;
  else if (is_row(type, "str")) *yes = v.kind == V_STR;
  else if (is_row(type, "tuple") || is_row(type, "list"))
    *yes = v.kind == V_TUPLE && !is_aggregate(v);
  else if (type.kind == V_CLASS)
    *yes = v.kind == V_TUPLE && v.u.tuple->cls && is_subclass(S, *v.u.tuple->cls, type);
  else if (is_row(type, "dict")) *yes = v.kind == V_DICT;
  else if (is_row(type, "tensor")) *yes = value_is_typed(v);
  else if (is_row(type, "dtype")) *yes = v.kind == V_DTYPE && !v.u.dtype.constant;
  else if (is_row(type, "constexpr_type")) *yes = v.kind == V_DTYPE && v.u.dtype.constant;
  else if (is_row(type, "tuple_type"))
    *yes = v.kind == V_TUPLE && v.u.tuple->len && v.u.tuple->data[0].kind == V_DTYPE;
  else if (is_row(type, "pointer_type")) *yes = v.kind == V_DTYPE && v.u.dtype.type.dtype == DT_PTR;
  else if (is_row(type, "block_type")) *yes = v.kind == V_DTYPE && v.u.dtype.type.rank > 0;
  else if (is_row(type, "tensor_descriptor") || is_row(type, "tensor_descriptor_base"))
    *yes = v.kind == V_BLOCKPTR && v.u.block->descriptor;
  else if (is_row(type, "constexpr")) *yes = false; /* Python sees their values */
  else if (type.kind == V_EXTERN && S->host && value_is_tensor(S, v))
    *yes = is_host_class(type, value_is_host_descriptor(S, v) ? ".TensorDescriptor" : ".Tensor");
  else if (type.kind != V_EXTERN) {
    refuse_argument(S, type, "isinstance()", "a type", at);
    return false;
  }
  return true;
}

Value builtin_isinstance(Sema *S, Call *c) {
  bool yes;
  if (!has_leaves(S, c->args[1], c->spans[1])) return value_error();
  return instance_of(S, c->args[0], c->args[1], c->spans[1], &yes) ? value_bool(yes)
                                                                   : value_error();
}

Value builtin_type_of(Sema *S, Call *c) {
  if (value_is_typed(c->args[0])) return value_dtype(value_type(c->args[0]));
  (void)S;
  return (Value){.kind = V_STR, .u.s = pool_name(S->names, value_describe(S->arena, c->args[0]))};
}

Value builtin_getattr(Sema *S, Call *c) {
  Value v;
  if (c->args[1].kind != V_STR)
    return refuse_argument(S, c->args[1], "the name", "a string", c->spans[1]);
  S->quiet++;
  bool failed = S->failed, found = find_attribute(S, c->args[0], c->args[1].u.s, c->at, &v);
  S->failed = failed;
  S->quiet--;
  found = found && v.kind != V_ERROR && !(c->args[0].kind == V_EXTERN && v.kind == V_EXTERN);
  if (c->fn->code == 1) return value_bool(found);
  if (found) return v;
  if (c->args[2].kind != V_ABSENT) return c->args[2];
  return get_attribute(S, c->args[0], c->args[1].u.s, c->at);
}

/* ---- sequences ---- */

Value builtin_zip(Sema *S, Call *c) {
  const Tuple *t = c->rest.u.tuple;
  Value out = value_list(S->arena, NULL, 0);
  const Value **items = ARENA_ARRAY(S->arena, const Value *, t->len);
  uint32_t shortest = t->len ? UINT32_MAX : 0;
  for (uint32_t i = 0; i < t->len; i++) {
    uint32_t n;
    if (!iterate(S, t->data[i], c->at, &items[i], &n)) return value_error();
    if (n < shortest) shortest = n;
  }
  if ((uint64_t)shortest * t->len > ROWS_MAX) {
    sema_error(S, c->at, E_SEMA_TUPLE_MAX, ROWS_MAX);
    return value_error();
  }
  for (uint32_t k = 0; k < shortest; k++) {
    Value row = value_tuple(S->arena, NULL, 0);
    for (uint32_t i = 0; i < t->len; i++) value_append(S->arena, row.u.tuple, items[i][k]);
    value_append(S->arena, out.u.tuple, row);
  }
  return out;
}

Value builtin_enumerate(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  int64_t start;
  if (!iterate(S, c->args[0], c->spans[0], &items, &n) ||
      !want_int(S, c->args[1], "start", c->spans[1], &start))
    return value_error();
  Value out = value_list(S->arena, NULL, 0);
  for (uint32_t i = 0; i < n; i++) {
    Value pair[] = {value_int((BigInt)start + i), items[i]};
    value_append(S->arena, out.u.tuple, value_tuple(S->arena, pair, 2));
  }
  return out;
}

Value builtin_reversed(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[0], c->spans[0], &items, &n)) return value_error();
  Value out = value_list(S->arena, NULL, 0);
  while (n--) value_append(S->arena, out.u.tuple, items[n]);
  return out;
}

Value builtin_all(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[0], c->spans[0], &items, &n)) return value_error();
  for (uint32_t i = 0; i < n; i++) {
    bool truth;
    if (!value_truth(items[i], &truth))
      return refuse_argument(S, items[i], c->fn->name, "compile-time values", c->at);
    if (truth != (c->fn->code == 1)) return value_bool(truth);
  }
  return value_bool(c->fn->code == 1);
}

Value builtin_py_sum(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[0], c->spans[0], &items, &n)) return value_error();
  Value total = c->args[1];
  for (uint32_t i = 0; i < n && !memory_spent(S, c->at); i++)
    total = binary(S, OP_ADD, total, items[i], c->at);
  return total;
}

Value builtin_pow(Sema *S, Call *c) { return binary(S, OP_POW, c->args[0], c->args[1], c->at); }

Value builtin_divmod(Sema *S, Call *c) {
  Value both[] = {binary(S, OP_FLOORDIV, c->args[0], c->args[1], c->at),
                  binary(S, OP_MOD, c->args[0], c->args[1], c->at)};
  return both[0].kind == V_ERROR || both[1].kind == V_ERROR ? value_error()
                                                            : value_tuple(S->arena, both, 2);
}

static Value refuse_round(Sema *S, const Call *c) {
  Value refused = refuse_argument(S, c->args[0], "round()", "a number", c->spans[0]);
  hint_method(S, c->args[0], "round");
  return refused;
}

Value builtin_round(Sema *S, Call *c) {
  double f;
  BigInt i;
  if (value_as_int(c->args[0], &i)) return value_int(i);
  if (!value_as_float(c->args[0], &f) || !isfinite(f))
    return refuse_round(S, c);
  if (c->args[1].kind == V_NONE && fabs(f) < WHOLE_MAX) return value_int((BigInt)rint(f));
  if (c->args[1].kind == V_NONE) return value_float(f);
  int64_t digits;
  if (!want_int(S, c->args[1], "digits", c->spans[1], &digits)) return value_error();
  double scale = pow(10, (double)digits);
  return value_float(rint(f * scale) / scale);
}
