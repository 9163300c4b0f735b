/* Tuples, lists, sets and dicts as they are written, comprehensions, and what can be iterated. */
#include "sema/messages.h"
#include "sema/value/context.h"

bool iterate(Sema *S, Value v, Span at, const Value **items, uint32_t *n) {
  if (v.kind == V_TUPLE) {
    *items = v.u.tuple->data;
    *n = v.u.tuple->len;
    return count_items(S, *n, at);
  }
  Value list = value_list(S->arena, NULL, 0);
  BigInt lo, hi, step;
  if (v.kind == V_DICT) {
    for (uint32_t i = 0; i < v.u.dict->len; i++)
      value_append(S->arena, list.u.tuple, v.u.dict->data[2 * i]);
  } else if (v.kind == V_STR) {
    for (const char *s = v.u.s; *s; s++)
      value_append(S->arena, list.u.tuple, value_str(pool_namen(S->names, s, 1)));
  } else if (v.kind == V_RANGE && value_as_int(v.u.range->start, &lo) &&
             value_as_int(v.u.range->stop, &hi) && value_as_int(v.u.range->step, &step) && step) {
    for (BigInt i = lo; step > 0 ? i < hi : i > hi;) {
      if (list.u.tuple->len == TUPLE_MAX) {
        sema_error(S, at, E_SEMA_TUPLE_MAX, TUPLE_MAX);
        return false;
      }
      value_append(S->arena, list.u.tuple, value_int(i));
      if (__builtin_add_overflow(i, step, &i)) break;
    }
  } else {
    if (v.kind != V_ERROR) sema_error(S, at, E_SEMA_NOT_ITERABLE, value_describe(S->arena, v));
    return false;
  }
  *items = list.u.tuple->data;
  *n = list.u.tuple->len;
  return count_items(S, *n, at);
}

const Value *dict_find(Sema *S, const Dict *d, Value key, Span at) {
  return count_items(S, d->len, at) ? value_dict_get(d, key) : NULL;
}

void dict_put(Sema *S, Dict *d, Value key, Value v, Span at) {
  if (count_items(S, d->len, at)) value_dict_set(S->arena, d, key, v);
}

Value eval_items(Sema *S, const ExprList *list, bool is_list) {
  Value v = is_list ? value_list(S->arena, NULL, 0) : value_tuple(S->arena, NULL, 0);
  bool bad = false;
  for (uint32_t i = 0; i < list->len; i++) {
    const Expr *e = list->data[i];
    if (e->kind != EX_STARRED) {
      Value item = eval(S, e);
      bad |= item.kind == V_ERROR;
      value_append(S->arena, v.u.tuple, item);
      continue;
    }
    const Value *items;
    uint32_t n;
    if (!iterate(S, eval(S, e->a), e->span, &items, &n)) return value_error();
    for (uint32_t k = 0; k < n; k++) value_append(S->arena, v.u.tuple, items[k]);
  }
  return bad ? value_error() : v;
}

Value as_set(Sema *S, Value list, Span at) {
  if (list.kind != V_TUPLE) return list;
  Dict seen = {0};
  for (uint32_t i = 0; i < list.u.tuple->len; i++)
    dict_put(S, &seen, list.u.tuple->data[i], value_none(), at);
  Value out = value_list(S->arena, NULL, 0);
  for (uint32_t i = 0; i < seen.len; i++) value_append(S->arena, out.u.tuple, seen.data[2 * i]);
  return out;
}

Value eval_dict(Sema *S, const Expr *e) {
  Dict *d = ARENA_NEW(S->arena, Dict);
  for (uint32_t i = 0; i + 1 < e->items.len; i += 2) {
    Value v = eval(S, e->items.data[i + 1]);
    if (e->items.data[i]) {
      dict_put(S, d, eval(S, e->items.data[i]), v, e->span);
    } else if (v.kind == V_DICT) {
      for (uint32_t k = 0; k < v.u.dict->len; k++)
        dict_put(S, d, v.u.dict->data[2 * k], v.u.dict->data[2 * k + 1], e->span);
    }
    if (v.kind == V_ERROR) return v;
  }
  return (Value){.kind = V_DICT, .u.dict = d};
}

static bool comprehend(Sema *S, const Expr *e, uint32_t level, Value out) {
  if (level == e->nfors) {
    Value item = eval(S, e->a);
    if (item.kind == V_ERROR) return false;
    if (out.kind == V_DICT) dict_put(S, out.u.dict, item, eval(S, e->b), e->span);
    else value_append(S->arena, out.u.tuple, item);
    return true;
  }
  const CompFor *f = &e->fors[level];
  const Value *items;
  uint32_t n;
  if (!iterate(S, eval(S, f->iter), f->iter->span, &items, &n)) return false;
  for (uint32_t i = 0; i < n; i++) {
    bool keep = true;
    assign(S, f->target, items[i], f->target->span);
    for (uint32_t k = 0; k < f->conds.len && keep; k++) {
      Value cond;
      if (eval_condition(S, f->conds.data[k], &cond, &keep)) continue;
      if (cond.kind != V_ERROR)
        sema_error(S, f->conds.data[k]->span, E_SEMA_NOT_CONSTEXPR,
                   "a condition of a comprehension", value_describe(S->arena, cond));
      return false;
    }
    if (keep && !comprehend(S, e, level + 1, out)) return false;
    if (unrolled_too_much(S, e->span)) return false;
  }
  return true;
}

Value eval_comp(Sema *S, const Expr *e) {
  Value out = value_list(S->arena, NULL, 0);
  if (e->bracket == '{' && e->b) out = (Value){.kind = V_DICT, .u.dict = ARENA_NEW(S->arena, Dict)};
  bool host = S->frame->host; /* its variables are compile-time values */
  S->frame->host = true;
  bool ok = comprehend(S, e, 0, out);
  S->frame->host = host;
  if (!ok) return value_error();
  return e->bracket == '{' ? as_set(S, out, e->span) : out;
}
