/* Functions of Python's library that lists of configurations are built with. */
#include <stdlib.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/python_host.h"

static Value too_long(Sema *S, int most, Span at) {
  sema_error(S, at, E_SEMA_TUPLE_MAX, most);
  return value_error();
}

/* ---- itertools ---- */

static bool repeat_of(Sema *S, const CallArgs *args, int64_t *out) {
  *out = 1;
  for (uint32_t i = 0; i < args->nnamed; i++)
    if (!want_int(S, args->named[i], args->names[i], args->at, out)) return false;
  return *out >= 0 && *out <= 64;
}

typedef struct {
  const Value *items;
  uint32_t n;
} Items;

static Value cartesian_product(Sema *S, const Items *lists, uint32_t n) {
  Value out = value_list(S->arena, NULL, 0);
  uint64_t total = 1;
  for (uint32_t i = 0; i < n; i++) total *= total > TUPLE_MAX ? 1 : lists[i].n;
  for (uint64_t k = 0; k < total; k++) {
    Value row = value_tuple(S->arena, NULL, 0);
    uint64_t rest = k, step = total;
    for (uint32_t i = 0; i < n; i++) {
      step /= lists[i].n;
      value_append(S->arena, row.u.tuple, lists[i].items[rest / step]);
      rest %= step;
    }
    value_append(S->arena, out.u.tuple, row);
  }
  return out;
}

static Value itertools_product(Sema *S, const CallArgs *args) {
  int64_t repeat;
  if (!repeat_of(S, args, &repeat)) return value_error();
  uint32_t n = args->npos * (uint32_t)repeat;
  Items *lists = ARENA_ARRAY(S->arena, Items, n);
  uint64_t total = 1;
  for (uint32_t i = 0; i < n; i++) {
    if (!iterate(S, args->pos[i % args->npos], args->at, &lists[i].items, &lists[i].n))
      return value_error();
    total *= lists[i].n;
    if (total > TUPLE_MAX) return too_long(S, TUPLE_MAX, args->at);
  }
  if (total * n > ROWS_MAX) return too_long(S, ROWS_MAX, args->at);
  return cartesian_product(S, lists, n);
}

static Value chain(Sema *S, const Value *lists, uint32_t n, Span at) {
  Value out = value_list(S->arena, NULL, 0);
  for (uint32_t i = 0; i < n; i++) {
    const Value *items;
    uint32_t count;
    if (!iterate(S, lists[i], at, &items, &count)) return value_error();
    if (out.u.tuple->len + count > TUPLE_MAX) return too_long(S, TUPLE_MAX, at);
    for (uint32_t k = 0; k < count; k++) value_append(S->arena, out.u.tuple, items[k]);
  }
  return out;
}

static Value chain_items(Sema *S, const CallArgs *args) {
  const Value *items;
  uint32_t n;
  if (args->npos != 1 || !iterate(S, args->pos[0], args->at, &items, &n)) return value_error();
  return chain(S, items, n, args->at);
}

/* ---- copy, os, packaging ---- */

Value value_copy(Sema *S, Value v) {
  if (v.kind == V_DICT) {
    Dict *d = ARENA_NEW(S->arena, Dict);
    for (uint32_t i = 0; i < v.u.dict->len; i++)
      value_dict_set(S->arena, d, v.u.dict->data[2 * i], v.u.dict->data[2 * i + 1]);
    return (Value){.kind = V_DICT, .u.dict = d};
  }
  if (v.kind != V_TUPLE) return v;
  Value out = value_tuple(S->arena, v.u.tuple->data, v.u.tuple->len);
  out.u.tuple->is_list = v.u.tuple->is_list;
  out.u.tuple->fields = v.u.tuple->fields;
  return out;
}

/* Containers past the limits of a walk (VALUE_DEPTH_MAX, VALUE_ITEMS_MAX) are shared with the
 * original. */
static Value deep_copy(Sema *S, Value v, Walk *w) {
  v = value_copy(S, v);
  uint32_t n = v.kind == V_TUPLE ? v.u.tuple->len : v.kind == V_DICT ? 2 * v.u.dict->len : 0;
  Value *items = v.kind == V_TUPLE ? v.u.tuple->data : v.kind == V_DICT ? v.u.dict->data : NULL;
  if (!items || !walk_enter(w, n)) return v;
  for (uint32_t i = 0; i < n; i++) items[i] = deep_copy(S, items[i], w);
  walk_leave(w);
  return v;
}

/* "3.5.1+cu" as (3, 5, 1): versions compare as their numbers do. */
static Value version(Sema *S, const char *text) {
  Value out = value_tuple(S->arena, NULL, 0);
  while (*text >= '0' && *text <= '9' && out.u.tuple->len < 8) {
    char *end;
    value_append(S->arena, out.u.tuple, value_int(strtol(text, &end, 10)));
    text = *end == '.' ? end + 1 : end;
  }
  return out;
}

/* functools.partial(f, ...): f with arguments before and after those of the call. */
static Value partial(Sema *S, const CallArgs *args) {
  Dict *named = ARENA_NEW(S->arena, Dict);
  host_update(S, named, NULL, 0, args, args->at);
  Value parts[] = {value_tuple(S->arena, args->pos, args->npos), {.kind = V_DICT}};
  parts[1].u.dict = named;
  return host_bound(S, "partial", value_tuple(S->arena, parts, 2));
}

Value host_function(Value f) {
  while (f.kind == V_BUILTIN && f.u.builtin.self && !strcmp(f.u.builtin.fn->name, "partial"))
    f = f.u.builtin.self->u.tuple->data[0].u.tuple->data[0];
  return f;
}

/* A call of a partial() object. */
Value builtin_partial(Sema *S, Call *c) {
  const Tuple *given = c->rest.u.tuple->data[0].u.tuple;
  const Tuple *first = given->data[0].u.tuple;
  const Dict *named = given->data[1].u.dict;
  CallArgs all = *c->given;
  Value pos = value_tuple(S->arena, first->data + 1, first->len - 1);
  for (uint32_t i = 0; i < all.npos; i++) value_append(S->arena, pos.u.tuple, all.pos[i]);
  all.pos = pos.u.tuple->data;
  all.npos = pos.u.tuple->len;
  all.names = ARENA_ARRAY(S->arena, Name, named->len + all.nnamed);
  all.named = ARENA_ARRAY(S->arena, Value, named->len + all.nnamed);
  all.spans = all.named_spans = NULL;
  all.nnamed = 0;
  for (uint32_t i = 0; i < named->len; i++, all.nnamed++) {
    all.names[all.nnamed] = named->data[2 * i].u.s;
    all.named[all.nnamed] = named->data[2 * i + 1];
  }
  for (uint32_t i = 0; i < c->given->nnamed; i++, all.nnamed++) {
    all.names[all.nnamed] = c->given->names[i];
    all.named[all.nnamed] = c->given->named[i];
  }
  return call_value(S, first->data[0], &all);
}

/* heapq.nsmallest(n, items, key=None): the first items of sorted(). */
static Value extremes(Sema *S, const CallArgs *args, bool largest) {
  Value key = args->npos > 2 ? args->pos[2] : args->nnamed ? args->named[0] : value_none();
  int64_t n;
  if (args->npos < 2 || !want_int(S, args->pos[0], "n", args->at, &n)) return value_error();
  Value out = host_sorted(S, args->pos[1], key, largest, args->at);
  if (out.kind != V_ERROR && n < out.u.tuple->len) out.u.tuple->len = n > 0 ? (uint32_t)n : 0;
  return out;
}

bool host_library(Sema *S, Name path, const CallArgs *args, Value *out) {
  bool one = args->npos == 1 && !args->nnamed;
  Walk w = {0};
  if (!strcmp(path, "itertools.product")) *out = itertools_product(S, args);
  else if (!strcmp(path, "itertools.chain")) *out = chain(S, args->pos, args->npos, args->at);
  else if (!strcmp(path, "itertools.chain.from_iterable")) *out = chain_items(S, args);
  else if (one && !strcmp(path, "copy.copy")) *out = value_copy(S, args->pos[0]);
  else if (one && !strcmp(path, "copy.deepcopy")) *out = deep_copy(S, args->pos[0], &w);
  else if (!strcmp(path, "heapq.nsmallest")) *out = extremes(S, args, false);
  else if (!strcmp(path, "heapq.nlargest")) *out = extremes(S, args, true);
  else if (args->npos && !strcmp(path, "functools.partial")) *out = partial(S, args);
  else if (!strcmp(path, "os.getenv")) *out = args->npos > 1 ? args->pos[1] : value_none();
  else if (one && args->pos[0].kind == V_STR && !strncmp(path, "packaging.version.", 18))
    *out = version(S, args->pos[0].u.s);
  else return host_import(S, path, args, out);
  return true;
}

/* ---- sorted, filter, map, set, dict ---- */

typedef struct {
  Value key, item;
} Keyed;

/* 1 if b must stand before a; -1 after an error. */
static int out_of_order(Sema *S, const Keyed *a, const Keyed *b, bool reverse, Span at) {
  Value less = reverse ? const_compare(S, OP_LT, a->key, b->key, at)
                       : const_compare(S, OP_LT, b->key, a->key, at);
  bool truth;
  return value_truth(less, &truth) ? truth : -1;
}

/* A stable sort by merging runs of doubling length; false after an error. */
static bool merge_sort(Sema *S, Keyed *data, uint32_t n, bool reverse, Span at) {
  Keyed *other = ARENA_ARRAY(S->arena, Keyed, n);
  for (uint32_t run = 1; run < n; run *= 2) {
    for (uint32_t lo = 0; lo < n; lo += 2 * run) {
      uint32_t mid = lo + run < n ? lo + run : n, hi = lo + 2 * run < n ? lo + 2 * run : n;
      for (uint32_t i = lo, j = mid, k = lo; k < hi; k++) {
        int later = i < mid && j < hi ? out_of_order(S, &data[i], &data[j], reverse, at) : i == mid;
        if (later < 0) return false;
        other[k] = later ? data[j++] : data[i++];
      }
    }
    memcpy(data, other, n * sizeof *data);
  }
  return true;
}

Value host_sorted(Sema *S, Value list, Value key, bool reverse, Span at) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, list, at, &items, &n)) return value_error();
  Keyed *data = ARENA_ARRAY(S->arena, Keyed, n);
  for (uint32_t i = 0; i < n; i++) {
    Value k = key.kind == V_NONE ? items[i] : call_with(S, key, &items[i], 1, at);
    if (k.kind == V_ERROR) return k;
    data[i] = (Keyed){k, items[i]};
  }
  if (!merge_sort(S, data, n, reverse, at)) return value_error();
  Value out = value_list(S->arena, NULL, 0);
  for (uint32_t i = 0; i < n; i++) value_append(S->arena, out.u.tuple, data[i].item);
  return out;
}

Value builtin_sorted(Sema *S, Call *c) {
  bool reverse;
  if (!want_bool(S, c->args[2], "reverse", c->spans[2], &reverse)) return value_error();
  return host_sorted(S, c->args[0], c->args[1], reverse, c->at);
}

Value builtin_filter(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[1], c->spans[1], &items, &n)) return value_error();
  Value out = value_list(S->arena, NULL, 0);
  for (uint32_t i = 0; i < n; i++) {
    bool keep;
    Value v = c->args[0].kind == V_NONE ? items[i] : call_with(S, c->args[0], &items[i], 1, c->at);
    if (v.kind == V_ERROR) return v;
    if (!want_bool(S, v, "the function of filter", c->spans[0], &keep)) return value_error();
    if (keep) value_append(S->arena, out.u.tuple, items[i]);
  }
  return out;
}

Value builtin_map(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[1], c->spans[1], &items, &n)) return value_error();
  Value out = value_list(S->arena, NULL, 0);
  for (uint32_t i = 0; i < n; i++) {
    Value v = call_with(S, c->args[0], &items[i], 1, c->at);
    if (v.kind == V_ERROR) return v;
    value_append(S->arena, out.u.tuple, v);
  }
  return out;
}

Value builtin_set(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[0], c->spans[0], &items, &n)) return value_error();
  return as_set(S, value_list(S->arena, items, n), c->at);
}

static bool add_pairs(Sema *S, Dict *d, Value from, Span at) {
  if (from.kind == V_DICT) {
    for (uint32_t i = 0; i < from.u.dict->len; i++)
      dict_put(S, d, from.u.dict->data[2 * i], from.u.dict->data[2 * i + 1], at);
    return true;
  }
  const Value *items;
  uint32_t n;
  if (!iterate(S, from, at, &items, &n)) return false;
  for (uint32_t i = 0; i < n; i++) {
    if (items[i].kind != V_TUPLE || items[i].u.tuple->len != 2) {
      sema_error(S, at, E_SEMA_WANTED, "dict", "pairs", value_describe(S->arena, items[i]));
      return false;
    }
    dict_put(S, d, items[i].u.tuple->data[0], items[i].u.tuple->data[1], at);
  }
  return true;
}

bool host_update(Sema *S, Dict *d, const Value *from, uint32_t n, const CallArgs *named, Span at) {
  for (uint32_t i = 0; i < n; i++)
    if (!add_pairs(S, d, from[i], at)) return false;
  for (uint32_t i = 0; named && i < named->nnamed; i++)
    value_dict_set(S->arena, d, value_str(named->names[i]), named->named[i]);
  return true;
}

Value builtin_dict(Sema *S, Call *c) {
  Dict *d = ARENA_NEW(S->arena, Dict);
  const Tuple *rest = c->rest.u.tuple;
  if (!host_update(S, d, rest->data, rest->len, c->given, c->at)) return value_error();
  return (Value){.kind = V_DICT, .u.dict = d};
}
