/* Calls: their arguments are gathered, then bound by what is called. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* ---- arguments at the call ---- */

typedef struct {
  VEC(Value) pos;
  VEC(Span) spans;
  VEC(Name) names;
  VEC(Value) named;
  VEC(Span) named_spans;
  bool bad;
} Gathered;

static void gather_one(Sema *S, Gathered *g, Value v, Span at) {
  g->bad |= v.kind == V_ERROR;
  vec_push(S->arena, &g->pos, v);
  vec_push(S->arena, &g->spans, at);
}

static void gather_star(Sema *S, Gathered *g, const Expr *e) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, eval(S, e), e->span, &items, &n)) {
    g->bad = true;
    return;
  }
  for (uint32_t i = 0; i < n; i++) gather_one(S, g, items[i], e->span);
}

static void gather_named(Sema *S, Gathered *g, Name name, Value v, Span at) {
  g->bad |= v.kind == V_ERROR;
  vec_push(S->arena, &g->names, name);
  vec_push(S->arena, &g->named, v);
  vec_push(S->arena, &g->named_spans, at);
}

static void gather_dict(Sema *S, Gathered *g, const Expr *e) {
  Value v = eval(S, e);
  if (v.kind != V_DICT) {
    if (v.kind != V_ERROR) sema_error(S, e->span, E_SEMA_KWARGS, value_describe(S->arena, v));
    g->bad = true;
    return;
  }
  for (uint32_t i = 0; i < v.u.dict->len; i++)
    if (v.u.dict->data[2 * i].kind == V_STR)
      gather_named(S, g, v.u.dict->data[2 * i].u.s, v.u.dict->data[2 * i + 1], e->span);
}

Value eval_call(Sema *S, const Expr *e) {
  Value fn = eval(S, e->a);
  Gathered g = {0};
  for (uint32_t i = 0; i < e->nargs; i++) {
    const CallArg *a = &e->args[i];
    if (!a->name && a->value->kind == EX_STARRED) gather_star(S, &g, a->value->a);
    else if (!a->name) gather_one(S, &g, eval(S, a->value), a->value->span);
    else if (!strcmp(a->name, "**")) gather_dict(S, &g, a->value);
    else gather_named(S, &g, a->name, eval(S, a->value), a->value->span);
  }
  if (fn.kind == V_ERROR || g.bad) return value_error();
  CallArgs args = {g.pos.data,   (uint32_t)g.pos.len,   g.names.data,
                   g.named.data, (uint32_t)g.named.len, e->span,
                   g.spans.data, g.named_spans.data};
  return call_value(S, fn, &args);
}

/* ---- calling anything ---- */

static Value call_bound(Sema *S, const Func *fn, const CallArgs *args) {
  CallArgs with = *args;
  with.npos++;
  with.pos = ARENA_ARRAY(S->arena, Value, with.npos);
  with.spans = NULL;
  with.pos[0] = *fn->self;
  for (uint32_t i = 0; i < args->npos; i++) with.pos[i + 1] = args->pos[i];
  return call_func(S, fn, &with);
}

/* tl.float32(0.0): a number of that type. */
static Value typed_number(Sema *S, Value dtype, const CallArgs *args) {
  Type t = dtype.u.dtype.type;
  bool scalar = !t.rank && t.dtype != DT_NONE && t.dtype != DT_PTR;
  if (scalar && args->npos == 1 && !args->nnamed && value_is_operand(args->pos[0]))
    return cast_to(S, args->pos[0], t, false, args->at);
  sema_error(S, args->at, E_SEMA_NOT_CALLABLE, value_describe(S->arena, dtype));
  return value_error();
}

/* A name of the host, called: what decorators may call, torch.finfo(dtype), else an error. */
static Value call_extern(Sema *S, Name path, const CallArgs *args) {
  Value answer;
  if (S->host && host_call(S, path, args, &answer)) return answer;
  size_t n = strlen(path);
  bool finfo = n > 6 && (!strcmp(path + n - 6, ".finfo") || !strcmp(path + n - 6, ".iinfo"));
  if (finfo && args->npos == 1 && args->pos[0].kind == V_DTYPE) return args->pos[0];
  if (!S->host && !strncmp(path, "triton.", 7)) {
    sema_error(S, args->at, E_SEMA_UNSUPPORTED, path);
  } else {
    sema_error(S, args->at, S->host ? E_SEMA_HOST_EXTERN : E_SEMA_EXTERN, path);
    sema_hint(S, H_SEMA_EXTERN);
  }
  return value_error();
}

Value call_value(Sema *S, Value fn, const CallArgs *args) {
  if (memory_spent(S, args->at)) return value_error();
  switch (fn.kind) {
    case V_ERROR: return fn;
    case V_FUNC:
      return fn.u.func->self ? call_bound(S, fn.u.func, args) : call_func(S, fn.u.func, args);
    case V_BUILTIN: return call_builtin(S, fn, args);
    case V_CLASS: return construct(S, fn, args);
    case V_DTYPE: return typed_number(S, fn, args);
    case V_EXTERN: return call_extern(S, fn.u.s, args);
    default:
      sema_error(S, args->at, E_SEMA_NOT_CALLABLE, value_describe(S->arena, fn));
      return value_error();
  }
}

Value call_with(Sema *S, Value fn, const Value *args, uint32_t n, Span at) {
  CallArgs a = {.pos = (Value *)args, .npos = n, .at = at};
  return call_value(S, fn, &a);
}
