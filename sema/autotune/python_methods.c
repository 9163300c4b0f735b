/* Methods that change lists and dicts, and those of configurations and tensors. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/python_host.h"

static bool is_name_in_list(const char *const *names, Name name) {
  for (; *names; names++)
    if (!strcmp(*names, name)) return true;
  return false;
}

bool host_method_known(Sema *S, Value self, Name name) {
  static const char *const lists[] = {"extend",  "insert", "pop",   "sort", "copy",
                                      "reverse", "remove", "clear", NULL};
  static const char *const dicts[] = {"pop", "update", "copy", "setdefault", "clear", NULL};
  static const char *const configs[] = {"all_kwargs", NULL};
  static const char *const tensors[] = {"stride", "element_size", "numel", "data_ptr",      "size",
                                        "dim",    "zero_",        "fill_", "is_contiguous", NULL};
  static const char *const texts[] = {"join", "isdigit", NULL};
  static const char *const loaders[] = {"exec_module", "load_module", NULL};
  if (self.kind == V_SPACE || self.kind == V_MODULE || self.kind == V_EXTERN)
    return is_name_in_list(loaders, name);
  if (value_is_config(S, self)) return is_name_in_list(configs, name);
  if (value_is_tensor(S, self)) return is_name_in_list(tensors, name);
  if (self.kind == V_TUPLE) return self.u.tuple->is_list && is_name_in_list(lists, name);
  return (self.kind == V_DICT && is_name_in_list(dicts, name)) ||
         (self.kind == V_STR && is_name_in_list(texts, name));
}

/* ---- lists ---- */

static Value tuple_remove(Tuple *t, uint32_t at) {
  Value v = t->data[at];
  for (uint32_t i = at; i + 1 < t->len; i++) t->data[i] = t->data[i + 1];
  t->len--;
  return v;
}

static Value list_pop(Sema *S, Tuple *t, const Value *a, uint32_t n, Span at) {
  int64_t i = -1;
  if (n && !want_int(S, a[0], "pop", at, &i)) return value_error();
  if (i < 0) i += t->len;
  if (i >= 0 && i < t->len) return tuple_remove(t, (uint32_t)i);
  sema_error(S, at, E_SEMA_INDEX, (long long)i, t->len);
  return value_error();
}

static Value list_remove(Sema *S, Tuple *t, Value item, Span at) {
  for (uint32_t i = 0; i < t->len; i++) {
    bool known;
    if (!value_equal(t->data[i], item, &known) || !known) continue;
    tuple_remove(t, i);
    return value_none();
  }
  sema_error(S, at, E_SEMA_KEY, value_text(S->arena, item));
  return value_error();
}

static Value list_extend(Sema *S, Tuple *t, Value more, Span at) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, more, at, &items, &n)) return value_error();
  if (t->len + n > TUPLE_MAX) {
    sema_error(S, at, E_SEMA_TUPLE_MAX, TUPLE_MAX);
    return value_error();
  }
  for (uint32_t i = 0; i < n; i++) value_append(S->arena, t, items[i]);
  return value_none();
}

static Value list_insert(Sema *S, Tuple *t, Value where, Value item, Span at) {
  int64_t i;
  if (!want_int(S, where, "insert", at, &i)) return value_error();
  value_append(S->arena, t, item);
  int64_t last = t->len - 1;
  i = i < 0 ? i + last : i;
  i = i < 0 ? 0 : i > last ? last : i;
  for (int64_t k = last; k > i; k--) t->data[k] = t->data[k - 1];
  t->data[i] = item;
  return value_none();
}

static Value list_reverse(Tuple *t) {
  for (uint32_t i = 0, k = t->len; i + 1 < k; i++) {
    Value v = t->data[i];
    t->data[i] = t->data[--k];
    t->data[k] = v;
  }
  return value_none();
}

static Value list_method(Sema *S, Value self, Name name, const Value *a, uint32_t n, Span at) {
  Tuple *t = self.u.tuple;
  if (!count_items(S, t->len, at)) return value_error();
  if (!strcmp(name, "extend") && n == 1) return list_extend(S, t, a[0], at);
  if (!strcmp(name, "insert") && n == 2) return list_insert(S, t, a[0], a[1], at);
  if (!strcmp(name, "pop") && n <= 1) return list_pop(S, t, a, n, at);
  if (!strcmp(name, "remove") && n == 1) return list_remove(S, t, a[0], at);
  if (!strcmp(name, "copy") && !n) return value_copy(S, self);
  if (!strcmp(name, "reverse") && !n) return list_reverse(t);
  if (!strcmp(name, "clear") && !n) {
    t->len = 0;
    return value_none();
  }
  if (strcmp(name, "sort")) return value_of(V_ABSENT);
  Value sorted = host_sorted(S, self, n ? a[0] : value_none(), false, at);
  if (sorted.kind == V_ERROR) return sorted;
  *t = *sorted.u.tuple;
  return value_none();
}

/* ---- dicts ---- */

static Value dict_pop(Sema *S, Dict *d, const Value *a, uint32_t n, Span at) {
  for (uint32_t i = 0; i < d->len; i++) {
    bool known;
    if (!value_equal(d->data[2 * i], a[0], &known) || !known) continue;
    Value v = d->data[2 * i + 1];
    memmove(&d->data[2 * i], &d->data[2 * i + 2], 2 * (d->len - i - 1) * sizeof *d->data);
    d->len--;
    return v;
  }
  if (n == 2) return a[1];
  sema_error(S, at, E_SEMA_KEY, value_text(S->arena, a[0]));
  return value_error();
}

static Value host_dict_method(Sema *S, Value self, Name name, const Value *a, uint32_t n, Span at) {
  Dict *d = self.u.dict;
  if (!count_items(S, d->len, at)) return value_error();
  if (!strcmp(name, "pop") && (n == 1 || n == 2)) return dict_pop(S, d, a, n, at);
  if (!strcmp(name, "copy") && !n) return value_copy(S, self);
  if (!strcmp(name, "update"))
    return host_update(S, d, a, n, NULL, at) ? value_none() : value_error();
  if (!strcmp(name, "clear")) {
    d->len = 0;
    return value_none();
  }
  if (strcmp(name, "setdefault") || !n) return value_of(V_ABSENT);
  if (!value_dict_get(d, a[0])) value_dict_set(S->arena, d, a[0], n > 1 ? a[1] : value_none());
  return *value_dict_get(d, a[0]);
}

/* ---- configurations and tensors ---- */

/* kwargs and the options, as the kernel gets them. */
static Value all_kwargs(Sema *S, const Tuple *config) {
  Value out = value_copy(S, config->data[CONFIG_KWARGS]);
  for (int i = CONFIG_WARPS; i <= CONFIG_MAXNREG; i++)
    if (config->data[i].kind != V_NONE)
      value_dict_set(S->arena, out.u.dict, value_str(config->fields[i]), config->data[i]);
  return out;
}

static bool field(Sema *S, Value self, const char *name, Value *out) {
  return find_attribute(S, self, pool_name(S->names, name), (Span){0}, out);
}

/* The product of the extents from axis `from` on. */
static Value extents(Sema *S, const Tuple *shape, uint32_t from, Span at) {
  Value n = value_int(1);
  for (uint32_t i = from; i < shape->len; i++) n = const_binary(S, OP_MUL, n, shape->data[i], at);
  return n;
}

static Value shaped_method(Sema *S, const Tuple *shape, Name name, const Value *a, uint32_t n,
                           Span at) {
  int64_t axis = 0;
  if (!strcmp(name, "numel")) return extents(S, shape, 0, at);
  if (!strcmp(name, "dim")) return value_int(shape->len);
  if (!n || !want_int(S, a[0], name, at, &axis)) return value_of(V_ABSENT);
  if (axis < 0) axis += shape->len;
  if (axis < 0 || axis >= shape->len) return value_of(V_ABSENT);
  return name[1] == 't' ? extents(S, shape, (uint32_t)axis + 1, at) : shape->data[axis];
}

static Value tensor_method(Sema *S, Value self, Name name, const Value *a, uint32_t n, Span at) {
  Value dtype, shape, label;
  if (!strcmp(name, "zero_") || !strcmp(name, "fill_")) {
    field(S, self, "name", &label);
    vec_push(S->arena, &S->host->zeroed, label.u.s);
    return self;
  }
  if (!strcmp(name, "is_contiguous")) return value_bool(true);
  if (!strcmp(name, "data_ptr")) return value_int(256); /* aligned, which is all that is asked */
  if (!strcmp(name, "element_size"))
    return field(S, self, "dtype", &dtype) ? value_int(dtype_bytes(dtype.u.dtype.type.dtype))
                                           : value_error();
  if (!field(S, self, "shape", &shape)) return value_of(V_ABSENT);
  return shaped_method(S, shape.u.tuple, name, a, n, at);
}

/* ---- strings ---- */

static Value text_method(Sema *S, Value self, Name name, const Value *a, uint32_t n, Span at) {
  const Value *items;
  uint32_t count;
  if (!strcmp(name, "isdigit"))
    return value_bool(*self.u.s && !self.u.s[strspn(self.u.s, "0123456789")]);
  if (n != 1 || !iterate(S, a[0], at, &items, &count)) return value_of(V_ABSENT);
  Text t = text_new(S->arena);
  for (uint32_t i = 0; i < count && t.len <= STR_MAX; i++) {
    text_puts(&t, i ? self.u.s : "");
    value_print(&t, items[i], false);
  }
  return text_value(S, &t, at);
}

Value host_method(Sema *S, Value self, Name name, const Value *a, uint32_t n, Span at) {
  if (!host_method_known(S, self, name)) return value_of(V_ABSENT);
  if (value_is_config(S, self)) return all_kwargs(S, self.u.tuple);
  if (value_is_tensor(S, self)) return tensor_method(S, self, name, a, n, at);
  if (self.kind == V_TUPLE) return list_method(S, self, name, a, n, at);
  if (self.kind == V_DICT) return host_dict_method(S, self, name, a, n, at);
  if (self.kind != V_STR) return host_spec_method(self, name);
  return text_method(S, self, name, a, n, at);
}

Value host_class_item(Sema *S, Value cls, Value name, Span at) {
  Value out;
  if (find_attribute(S, cls, name.u.s, at, &out)) return out;
  sema_error(S, at, E_SEMA_KEY, name.u.s);
  return value_error();
}
