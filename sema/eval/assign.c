/* Assignments: to names, tuples of them, and, in host code, to items and fields. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

static Value decay_leaves(Sema *S, Value v, Span at) {
  if (value_is_number(v)) return typed(S, v, at);
  if (v.kind != V_TUPLE) return v;
  Value copy = value_tuple(S->arena, v.u.tuple->data, v.u.tuple->len);
  copy.u.tuple->is_list = v.u.tuple->is_list;
  copy.u.tuple->fields = v.u.tuple->fields;
  for (uint32_t i = 0; i < copy.u.tuple->len; i++)
    copy.u.tuple->data[i] = decay_leaves(S, copy.u.tuple->data[i], at);
  return copy;
}

Value decay(Sema *S, Value v, Span at) {
  if (S->frame->host) return v;
  return has_leaves(S, v, at) ? decay_leaves(S, v, at) : value_error();
}

/* The user's name for a value; the library's are none. */
void give_name(const Sema *S, Value v, Name name) {
  if (v.kind == V_TILE && !v.u.tile->name && !S->frame->is_std) v.u.tile->name = name;
}

/* `x: tl.constexpr` on a line of its own keeps the next assignment a constexpr. */
static bool declared_constexpr(Sema *S, Name name) {
  for (size_t i = 0; i < S->frame->constexprs.len; i++)
    if (S->frame->constexprs.data[i] == name) return true;
  return false;
}

static void assign_tuple(Sema *S, const Expr *target, Value v, Span at) {
  const Value *items;
  uint32_t n, want = target->items.len, star = want;
  if (v.kind == V_ERROR) {
    for (uint32_t i = 0; i < want; i++) assign(S, target->items.data[i], v, at);
    return;
  }
  for (uint32_t i = 0; i < want; i++)
    if (target->items.data[i]->kind == EX_STARRED) star = i;
  if (v.kind == V_TILE || !iterate(S, v, at, &items, &n)) {
    if (v.kind == V_TILE) sema_error(S, at, E_SEMA_UNPACK_KIND, value_describe(S->arena, v));
    assign_tuple(S, target, value_error(), at);
    return;
  }
  if (star < want ? n < want - 1 : n != want) {
    sema_error(S, at, E_SEMA_UNPACK, want - (star < want), n);
    assign_tuple(S, target, value_error(), at);
    return;
  }
  for (uint32_t i = 0, k = 0; i < want; i++) {
    if (i != star) {
      assign(S, target->items.data[i], items[k++], at);
      continue;
    }
    uint32_t taken = n - (want - 1);
    assign(S, target->items.data[i]->a, value_list(S->arena, items + k, taken), at);
    k += taken;
  }
}

static void assign_item(Sema *S, const Expr *target, Value v, Span at) {
  Value into = eval(S, target->a);
  if (into.kind == V_ERROR) return;
  Value index = eval(S, target->b);
  BigInt i;
  if (S->frame->host && into.kind == V_DICT) {
    dict_put(S, into.u.dict, index, v, at);
  } else if (S->frame->host && into.kind == V_TUPLE && into.u.tuple->is_list &&
             value_as_int(index, &i) && i >= -(BigInt)into.u.tuple->len &&
             i < (BigInt)into.u.tuple->len) {
    into.u.tuple->data[i < 0 ? i + into.u.tuple->len : i] = v;
  } else {
    sema_error(S, at, E_SEMA_ASSIGN_ITEM, value_describe(S->arena, into));
    if (into.kind == V_TILE)
      sema_hint(S, value_is_pointer(into) ? H_SEMA_POINTER_ITEM : H_SEMA_ASSIGN_ITEM);
  }
}

/* Tensors are what they are, and the constexprs of a configuration are a dict. */
static bool can_be(const Sema *S, Value of, uint32_t field, Value v) {
  if (value_is_tensor(S, of)) return false;
  return field != CONFIG_KWARGS || v.kind == V_DICT || !value_is_config(S, of);
}

/* config.num_warps = 8 */
static void assign_field(Sema *S, const Expr *target, Value v) {
  Value into = eval(S, target->a);
  const Tuple *t = into.kind == V_TUPLE ? into.u.tuple : NULL;
  for (uint32_t i = 0; t && t->fields && i < t->len; i++)
    if (t->fields[i] == target->name && can_be(S, into, i, v)) {
      t->data[i] = v;
      return;
    }
  Text text = text_new(S->arena);
  ast_print_expr(&text, target);
  sema_error(S, target->span, E_SEMA_HOST_STATEMENT, arena_printf(S->arena, "%s = ...", text.data));
}

void assign(Sema *S, const Expr *target, Value v, Span at) {
  switch (target->kind) {
    case EX_NAME:
      if (!declared_constexpr(S, target->name)) v = decay(S, v, at);
      give_name(S, v, target->name);
      frame_set(S, target->name, v, target->span);
      break;
    case EX_TUPLE:
    case EX_LIST: assign_tuple(S, target, v, at); break;
    case EX_SUBSCRIPT: assign_item(S, target, v, target->span); break;
    case EX_ATTR:
      if (S->host) assign_field(S, target, v);
      else sema_error(S, target->span, E_SEMA_ASSIGN_TARGET);
      break;
    default: sema_error(S, target->span, E_SEMA_ASSIGN_TARGET); break;
  }
}

/* Host code may compute what no list of configurations needs: a name that gets an erroneous value
 * fails where it is used. */
void exec_assign(Sema *S, const Stmt *s) {
  bool failed = S->failed;
  Value v = eval(S, s->value);
  if (S->host) S->failed = failed;
  for (uint32_t i = 0; i < s->targets.len; i++) assign(S, s->targets.data[i], v, s->value->span);
}

void exec_augassign(Sema *S, const Stmt *s) {
  const Expr *target = s->targets.data[0];
  Value old = eval(S, target);
  Value v = binary(S, s->op, old, eval(S, s->value), s->span);
  assign(S, target, v, s->span);
}

/* `tl.constexpr`, `constexpr`, or either in quotes. */
bool is_constexpr_annotation(const Expr *e) {
  if (!e) return false;
  if (e->kind == EX_NAME || e->kind == EX_ATTR) return !strcmp(e->name, "constexpr");
  if (e->kind == EX_SUBSCRIPT) return is_constexpr_annotation(e->a);
  return e->kind == EX_STR && strstr(e->name, "constexpr");
}

void exec_annassign(Sema *S, const Stmt *s) {
  const Expr *target = s->targets.data[0];
  bool is_constexpr = is_constexpr_annotation(s->annotation);
  if (!s->value) {
    if (is_constexpr && target->kind == EX_NAME)
      vec_push(S->arena, &S->frame->constexprs, target->name);
    return;
  }
  Value v = eval(S, s->value);
  if (!is_constexpr || target->kind != EX_NAME) {
    assign(S, target, v, s->value->span);
    return;
  }
  give_name(S, v, target->name);
  frame_set(S, target->name, v, target->span);
}
