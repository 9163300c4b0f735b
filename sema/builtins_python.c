/* Python's own functions and methods, on compile-time values. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/messages.h"
#include "sema/builtins.h"
#include "sema/context.h"
#include "sema/host.h"

static Value wanted(Sema *S, const char *what, const char *kind, Value v, Span at) {
  if (v.kind == V_TILE) sema_error(S, at, E_SEMA_NOT_CONSTEXPR, what, value_describe(S->arena, v));
  else if (v.kind != V_ERROR)
    sema_error(S, at, E_SEMA_WANTED, what, kind, value_describe(S->arena, v));
  return value_error();
}

Value builtin_len(Sema *S, Call *c) {
  Value v = c->args[0];
  const Value *items;
  uint32_t n;
  if (value_is_typed(v) && value_type(v).rank) return value_int(value_type(v).shape[0]);
  if (!iterate(S, v, c->spans[0], &items, &n)) return value_error();
  return value_int(n);
}

Value builtin_int(Sema *S, Call *c) {
  BigInt i;
  double f;
  Value v = c->args[0];
  if (value_as_int(v, &i)) return value_int(i);
  if (value_as_float(v, &f) && isfinite(f) && fabs(f) < 0x1p120) return value_int((BigInt)f);
  if (v.kind == V_STR && v.u.s[0]) {
    char *end;
    long long n = strtoll(v.u.s, &end, 10);
    if (!*end) return value_int(n);
  }
  return wanted(S, "int()", "a number", v, c->spans[0]);
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
  return wanted(S, "float()", "a number or a string such as \"inf\"", v, c->spans[0]);
}

Value builtin_bool(Sema *S, Call *c) {
  bool truth;
  if (value_truth(c->args[0], &truth)) return value_bool(truth);
  return as_condition(S, c->args[0], c->at);
}

Value builtin_str(Sema *S, Call *c) {
  Text t = text_new(S->arena);
  value_print(&t, c->args[0], c->fn->code == 1);
  return value_str(pool_name(S->names, t.data));
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
  else if (is_row(type, "tuple") || is_row(type, "list")) *yes = v.kind == V_TUPLE;
  else if (is_row(type, "dict")) *yes = v.kind == V_DICT;
  else if (is_row(type, "tensor")) *yes = value_is_typed(v);
  else if (is_row(type, "dtype")) *yes = v.kind == V_DTYPE;
  else if (is_row(type, "pointer_type")) *yes = v.kind == V_DTYPE && v.u.dtype.type.dtype == DT_PTR;
  else if (is_row(type, "block_type")) *yes = v.kind == V_DTYPE && v.u.dtype.type.rank > 0;
  else if (is_row(type, "tensor_descriptor")) *yes = v.kind == V_BLOCKPTR && v.u.block->descriptor;
  else if (is_row(type, "constexpr"))
    *yes = value_is_number(v) || v.kind == V_STR || v.kind == V_NONE;
  else if (type.kind != V_EXTERN && type.kind != V_CLASS) {
    wanted(S, "isinstance()", "a type", type, at);
    return false;
  }
  return true;
}

Value builtin_isinstance(Sema *S, Call *c) {
  bool yes;
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
  if (c->args[1].kind != V_STR) return wanted(S, "the name", "a string", c->args[1], c->spans[1]);
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
    Value pair[] = {value_int(start + i), items[i]};
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
      return wanted(S, c->fn->name, "compile-time values", items[i], c->at);
    if (truth != (c->fn->code == 1)) return value_bool(truth);
  }
  return value_bool(c->fn->code == 1);
}

Value builtin_py_sum(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[0], c->spans[0], &items, &n)) return value_error();
  Value total = c->args[1];
  for (uint32_t i = 0; i < n; i++) total = binary(S, OP_ADD, total, items[i], c->at);
  return total;
}

Value builtin_pow(Sema *S, Call *c) { return binary(S, OP_POW, c->args[0], c->args[1], c->at); }

Value builtin_divmod(Sema *S, Call *c) {
  Value both[] = {binary(S, OP_FLOORDIV, c->args[0], c->args[1], c->at),
                  binary(S, OP_MOD, c->args[0], c->args[1], c->at)};
  return both[0].kind == V_ERROR || both[1].kind == V_ERROR ? value_error()
                                                            : value_tuple(S->arena, both, 2);
}

Value builtin_round(Sema *S, Call *c) {
  double f;
  BigInt i;
  if (value_as_int(c->args[0], &i)) return value_int(i);
  if (!value_as_float(c->args[0], &f) || !isfinite(f))
    return wanted(S, "round()", "a number", c->args[0], c->spans[0]);
  if (c->args[1].kind == V_NONE) return value_int((BigInt)rint(f));
  int64_t digits;
  if (!want_int(S, c->args[1], "digits", c->spans[1], &digits)) return value_error();
  double scale = pow(10, (double)digits);
  return value_float(rint(f * scale) / scale);
}

/* ---- math.NAME ---- */

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

static Value math_two(Sema *S, const char *name, const Tuple *args, Span at) {
  double f, g;
  BigInt i, j;
  if (!strcmp(name, "gcd") && args->len == 3 && value_as_int(args->data[1], &i) &&
      value_as_int(args->data[2], &j)) {
    while (j) {
      BigInt r = i % j;
      i = j;
      j = r;
    }
    return value_int(i < 0 ? -i : i);
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
  return wanted(S, name, "compile-time numbers", args->len > 1 ? args->data[1] : value_none(), at);
}

Value builtin_math(Sema *S, Call *c) {
  const Tuple *args = c->rest.u.tuple;
  const char *name = args->data[0].u.s;
  double f;
  for (size_t i = 0; i < sizeof unary_math / sizeof *unary_math; i++) {
    if (strcmp(unary_math[i].name, name)) continue;
    if (!strcmp(name, "log") && args->len == 3) break;
    if (args->len != 2 || !value_as_float(args->data[1], &f))
      return wanted(S, name, "a compile-time number", args->len > 1 ? args->data[1] : value_none(),
                    c->at);
    double r = unary_math[i].one(f);
    bool whole = !strcmp(name, "floor") || !strcmp(name, "ceil") || !strcmp(name, "trunc");
    return whole && fabs(r) < 0x1p120 ? value_int((BigInt)r) : value_float(r);
  }
  return math_two(S, name, args, c->at);
}

/* ---- methods of compile-time values ---- */

static Value str_of(Sema *S, const char *text) { return value_str(pool_name(S->names, text)); }

static Value split_str(Sema *S, const char *s, const char *sep) {
  Value out = value_list(S->arena, NULL, 0);
  size_t n = strlen(sep);
  for (const char *end; (end = strstr(s, sep)); s = end + n)
    value_append(S->arena, out.u.tuple, value_str(pool_namen(S->names, s, (size_t)(end - s))));
  value_append(S->arena, out.u.tuple, str_of(S, s));
  return out;
}

static Value replace_str(Sema *S, const char *s, const char *from, const char *to) {
  Text t = text_new(S->arena);
  size_t n = strlen(from);
  for (const char *end; n && (end = strstr(s, from)); s = end + n) {
    text_putn(&t, s, (size_t)(end - s));
    text_puts(&t, to);
  }
  text_puts(&t, s);
  return str_of(S, t.data);
}

static Value change_case(Sema *S, const char *s, bool upper) {
  char *copy = arena_strndup(S->arena, s, strlen(s));
  for (char *p = copy; *p; p++)
    *p = (char)(upper ? toupper((unsigned char)*p) : tolower((unsigned char)*p));
  return str_of(S, copy);
}

/* V_ABSENT if there is no such method for these arguments. */
static Value str_method(Sema *S, const char *s, const char *name, const Value *a, uint32_t n) {
  size_t len = strlen(s);
  bool one = n == 1 && a[0].kind == V_STR;
  size_t k = one ? strlen(a[0].u.s) : 0;
  if (!strcmp(name, "startswith") && one) return value_bool(!strncmp(s, a[0].u.s, k));
  if (!strcmp(name, "endswith") && one)
    return value_bool(k <= len && !strcmp(s + len - k, a[0].u.s));
  if (!strcmp(name, "lower")) return change_case(S, s, false);
  if (!strcmp(name, "upper")) return change_case(S, s, true);
  if (!strcmp(name, "split") && one && k) return split_str(S, s, a[0].u.s);
  if (!strcmp(name, "replace") && n == 2 && a[0].kind == V_STR && a[1].kind == V_STR)
    return replace_str(S, s, a[0].u.s, a[1].u.s);
  if (!strcmp(name, "strip") && n == 0) {
    while (isspace((unsigned char)*s)) s++;
    len = strlen(s);
    while (len && isspace((unsigned char)s[len - 1])) len--;
    return value_str(pool_namen(S->names, s, len));
  }
  return value_of(V_ABSENT);
}

static Value dict_method(Sema *S, Dict *d, const char *name, const Value *a, uint32_t n) {
  if (!strcmp(name, "get") && (n == 1 || n == 2)) {
    const Value *v = value_dict_get(d, a[0]);
    return v ? *v : n == 2 ? a[1] : value_none();
  }
  int part = !strcmp(name, "keys")     ? 0
             : !strcmp(name, "values") ? 1
             : !strcmp(name, "items")  ? 2
                                       : -1;
  if (part < 0 || n) return value_of(V_ABSENT);
  Value out = value_list(S->arena, NULL, 0);
  for (uint32_t i = 0; i < d->len; i++)
    value_append(
        S->arena, out.u.tuple,
        part == 2 ? value_tuple(S->arena, &d->data[2 * i], 2) : d->data[2 * i + (uint32_t)part]);
  return out;
}

static Value tuple_method(Sema *S, Tuple *t, const char *name, const Value *a, uint32_t n,
                          Span at) {
  if (!strcmp(name, "append") && n == 1 && t->is_list && S->frame->host) {
    value_append(S->arena, t, a[0]);
    return value_none();
  }
  if (n != 1 || !strcmp(name, "append")) return value_of(V_ABSENT);
  int64_t count = 0, first = -1;
  for (uint32_t i = 0; i < t->len; i++) {
    bool known;
    if (!value_equal(t->data[i], a[0], &known) || !known) continue;
    if (first < 0) first = i;
    count++;
  }
  if (!strcmp(name, "count")) return value_int(count);
  if (first >= 0) return value_int(first);
  sema_error(S, at, E_SEMA_KEY, value_text(S->arena, a[0]));
  return value_error();
}

static Value dtype_method(Sema *S, Value self, const char *name, const Value *a, uint32_t n) {
  bool yes;
  Type t = self.u.dtype.type;
  if (n == 0 && dtype_question(self.u.dtype, name, &yes)) return value_bool(yes);
  if (!strcmp(name, "get_block_shapes")) {
    Value items[MAX_RANK];
    for (int i = 0; i < t.rank; i++) items[i] = value_int(t.shape[i]);
    return value_tuple(S->arena, items, t.rank);
  }
  if (!strcmp(name, "with_element_ty") && n == 1 && a[0].kind == V_DTYPE)
    return value_dtype(type_like(a[0].u.dtype.type, t));
  if (!strcmp(name, "kind"))
    return value_int(dtype_is_float((DType)t.dtype) ? 2 : t.dtype != DT_I1);
  return value_of(V_ABSENT);
}

Value builtin_method(Sema *S, Call *c) {
  const Tuple *t = c->rest.u.tuple;
  Value self = t->data[0].u.tuple->data[0];
  const char *name = t->data[0].u.tuple->data[1].u.s;
  const Value *a = t->data + 1;
  uint32_t n = t->len - 1;
  Value v = S->host ? host_method(S, self, name, a, n, c->at) : value_of(V_ABSENT);
  if (v.kind != V_ABSENT) return v;
  if (self.kind == V_STR) v = str_method(S, self.u.s, name, a, n);
  else if (self.kind == V_DICT) v = dict_method(S, self.u.dict, name, a, n);
  else if (self.kind == V_TUPLE) v = tuple_method(S, self.u.tuple, name, a, n, c->at);
  else if (self.kind == V_DTYPE) v = dtype_method(S, self, name, a, n);
  else if (self.kind == V_INT && !n) {
    int bits = 0;
    for (BigInt i = self.u.i < 0 ? -self.u.i : self.u.i; i; i >>= 1) bits++;
    v = value_int(bits);
  }
  if (v.kind != V_ABSENT) return v;
  sema_error(S, c->at, E_SEMA_METHOD, name, value_describe(S->arena, self));
  return value_error();
}
