/* Methods of compile-time values: strings, dicts, lists and tuples, dtypes. */
#include <ctype.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

static Value str_of(Sema *S, const char *text) { return value_str(pool_name(S->names, text)); }

static Value split_str(Sema *S, const char *s, const char *sep) {
  Value out = value_list(S->arena, NULL, 0);
  size_t n = strlen(sep);
  for (const char *end; (end = strstr(s, sep)); s = end + n)
    value_append(S->arena, out.u.tuple, value_str(pool_namen(S->names, s, (size_t)(end - s))));
  value_append(S->arena, out.u.tuple, str_of(S, s));
  return out;
}

static Value replace_str(Sema *S, const char *s, const char *from, const char *to, Span at) {
  Text t = text_new(S->arena);
  size_t n = strlen(from);
  for (const char *end; n && t.len <= STR_MAX && (end = strstr(s, from)); s = end + n) {
    text_putn(&t, s, (size_t)(end - s));
    text_puts(&t, to);
  }
  text_puts(&t, s);
  return text_value(S, &t, at);
}

static Value change_case(Sema *S, const char *s, bool upper) {
  char *copy = arena_strndup(S->arena, s, strlen(s));
  for (char *p = copy; *p; p++)
    *p = (char)(upper ? toupper((unsigned char)*p) : tolower((unsigned char)*p));
  return str_of(S, copy);
}

/* V_ABSENT if there is no such method for these arguments. */
static Value str_method(Sema *S, const char *s, const char *name, const Value *a, uint32_t n,
                        Span at) {
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
    return replace_str(S, s, a[0].u.s, a[1].u.s, at);
  if (!strcmp(name, "strip") && n == 0) {
    while (isspace((unsigned char)*s)) s++;
    len = strlen(s);
    while (len && isspace((unsigned char)s[len - 1])) len--;
    return value_str(pool_namen(S->names, s, len));
  }
  return value_of(V_ABSENT);
}

static Value dict_method(Sema *S, Dict *d, const char *name, const Value *a, uint32_t n, Span at) {
  if (!strcmp(name, "get") && (n == 1 || n == 2)) {
    const Value *v = dict_find(S, d, a[0], at);
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
  if (!count_items(S, t->len, at)) return value_error();
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

/* Without the sign, which the least integer cannot lose. */
static int bit_length(BigInt i) {
  unsigned __int128 left = i < 0 ? -(unsigned __int128)i : (unsigned __int128)i;
  int bits = 0;
  for (; left; left >>= 1) bits++;
  return bits;
}

Value builtin_method(Sema *S, Call *c) {
  const Tuple *t = c->rest.u.tuple;
  Value self = t->data[0].u.tuple->data[0];
  const char *name = t->data[0].u.tuple->data[1].u.s;
  const Value *a = t->data + 1;
  uint32_t n = t->len - 1;
  Value v = S->host ? host_method(S, self, name, a, n, c->at) : value_of(V_ABSENT);
  if (v.kind != V_ABSENT) return v;
  if (self.kind == V_STR) v = str_method(S, self.u.s, name, a, n, c->at);
  else if (self.kind == V_DICT) v = dict_method(S, self.u.dict, name, a, n, c->at);
  else if (self.kind == V_TUPLE) v = tuple_method(S, self.u.tuple, name, a, n, c->at);
  else if (self.kind == V_DTYPE) v = dtype_method(S, self, name, a, n);
  else if (special_method_known(name)) v = special_method(S, self, name, a, n, c->at);
  else if (self.kind == V_INT && !n) v = value_int(bit_length(self.u.i));
  if (v.kind != V_ABSENT) return v;
  sema_error(S, c->at, E_SEMA_METHOD, name, value_describe(S->arena, self));
  hint_method(S, self, t->data[0].u.tuple->data[1].u.s);
  return value_error();
}
