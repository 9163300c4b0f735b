/* Calls: arguments are gathered, then bound to the parameters of the callee.
 *
 * The bodies of the user's functions are evaluated in place; the fields of an object are bound as
 * parameters are.
 */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

static Value call_func(Sema *S, const Func *fn, const CallArgs *args);

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
  if (named_tuple_class(S, path, args, &answer)) return answer;
  size_t n = strlen(path);
  bool finfo = n > 6 && (!strcmp(path + n - 6, ".finfo") || !strcmp(path + n - 6, ".iinfo"));
  if (finfo && args->npos == 1 && args->pos[0].kind == V_DTYPE) return args->pos[0];
  if (!S->host && !strncmp(path, "triton.", 7)) {
    sema_error(S, args->at, E_SEMA_UNSUPPORTED, path);
    if (!strncmp(path, "triton.experimental.gluon.", 26)) sema_hint(S, H_SEMA_GLUON);
  } else {
    sema_error(S, args->at, S->host ? E_SEMA_HOST_EXTERN : E_SEMA_EXTERN, path);
    hint_function(S, path);
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

/* ---- functions of the user, evaluated in place, and named tuples ---- */

/* The decorator may be a name from outside of the text, which the parser does not know as `jit`. */
static bool has_jit_decorator(Sema *S, const FuncDef *def, ModuleInfo *m) {
  bool found = false;
  for (uint32_t i = 0; m && m->asks && i < def->decorators.len && !found; i++) {
    Value v = eval_in_module_quietly(S, m, def->decorators.data[i]);
    found = v.kind == V_BUILTIN && !strcmp(v.u.builtin.fn->name, "jit");
  }
  return found;
}

Value func_of(Sema *S, const FuncDef *def, ModuleInfo *m) {
  Func *f = ARENA_NEW(S->arena, Func);
  f->def = def;
  f->module = m;
  f->jit = ast_is_jit(def) || has_jit_decorator(S, def, m);
  return (Value){.kind = V_FUNC, .u.func = f};
}

static Value in_module(Sema *S, ModuleInfo *m, const Expr *e, Value (*how)(Sema *, const Expr *)) {
  Frame *outer = S->frame;
  Span nowhere = {0};
  S->frame = frame_new(S, NULL, nowhere);
  S->frame->module = m;
  S->frame->host = true;
  S->frame->is_std = m && m->is_std;
  S->frame->call = outer ? outer->call : nowhere;
  Value v = how(S, e);
  S->frame = outer;
  return v;
}

Value eval_in_module(Sema *S, ModuleInfo *m, const Expr *e) { return in_module(S, m, e, eval); }

Value eval_in_module_quietly(Sema *S, ModuleInfo *m, const Expr *e) {
  Value v = in_module(S, m, e, eval_quietly);
  if (v.kind != V_ERROR || S->host) return v;
  TunedQuery query = {.device.target = S->fn->options.target};
  Host host = {.query = &query};
  S->host = &host;
  v = in_module(S, m, e, eval_quietly);
  S->host = NULL;
  return v;
}

/* ---- parameters ---- */

/* A compile-time value again, where a parameter asks for one. */
Value undecay(Value v) {
  BigInt i;
  if (v.kind != V_CONST) return v;
  if (v.u.c.dtype == DT_I1) return value_bool(v.u.c.v.i != 0);
  if (value_as_int(v, &i)) return value_int(i);
  return value_float(v.u.c.v.f);
}

static void bind_call_param(Sema *S, const Param *p, Value v, Span at) {
  if (is_constexpr_annotation(p->annotation)) v = undecay(v);
  give_name(S, v, p->name);
  frame_set(S, p->name, v, at);
}

typedef struct {
  const CallArgs *args;
  const ParamList *params;
  Name name;     /* of the function */
  uint32_t next; /* positional argument */
  bool *used;    /* keyword arguments */
} Binder;

static bool take_named_arg(Binder *b, Name name, Value *v) {
  for (uint32_t i = 0; i < b->args->nnamed; i++)
    if (b->args->names[i] == name && !b->used[i]) {
      b->used[i] = true;
      *v = b->args->named[i];
      return true;
    }
  return false;
}

static Value take_default(Sema *S, const Frame *callee, Binder *b, const Param *p) {
  Value v;
  const FuncDef *def = callee->func->def;
  if (p->dflt && def && outside_default(S, callee->module, def, p, &v)) return v;
  if (p->dflt) return eval_in_module(S, callee->module, p->dflt);
  sema_error(S, b->args->at, E_SEMA_ARG_MISSING, b->name, p->name);
  return value_error();
}

static void bind_rest(Sema *S, Binder *b, const Param *p) {
  Value rest = value_tuple(S->arena, NULL, 0);
  while (b->next < b->args->npos) value_append(S->arena, rest.u.tuple, b->args->pos[b->next++]);
  frame_set(S, p->name, rest, p->span);
}

static void bind_keywords(Sema *S, Binder *b, const Param *p) {
  Dict *d = ARENA_NEW(S->arena, Dict);
  for (uint32_t i = 0; i < b->args->nnamed; i++)
    if (!b->used[i]) {
      b->used[i] = true;
      value_dict_set(S->arena, d, value_str(b->args->names[i]), b->args->named[i]);
    }
  frame_set(S, p->name, (Value){.kind = V_DICT, .u.dict = d}, p->span);
}

static bool bind_one(Sema *S, Binder *b, const Param *p) {
  Frame *callee = S->frame;
  Value v;
  bool ok = true;
  if (!p->keyword_only && b->next < b->args->npos) v = b->args->pos[b->next++];
  else if (!take_named_arg(b, p->name, &v)) {
    S->frame = callee->caller;
    v = take_default(S, callee, b, p);
    S->frame = callee;
    ok = v.kind != V_ERROR;
  }
  bind_call_param(S, p, v, p->span);
  return ok;
}

/* Reports arguments that no parameter has taken. */
static bool none_left(Sema *S, const Binder *b) {
  bool ok = true;
  if (b->next < b->args->npos) {
    sema_error(S, b->args->spans ? b->args->spans[b->next] : b->args->at, E_SEMA_ARG_COUNT, b->name,
               b->params->len, b->args->npos);
    ok = false;
  }
  for (uint32_t i = 0; i < b->args->nnamed; i++) {
    if (b->used[i]) continue;
    sema_error(S, b->args->at, E_SEMA_ARG_UNKNOWN, b->name, b->args->names[i]);
    Nearest n = {0};
    for (uint32_t k = 0; k < b->params->len; k++)
      nearest_offer(&n, b->args->names[i], b->params->data[k].name);
    if (n.best) sema_hint(S, H_SEMA_NEAREST, n.best);
    ok = false;
  }
  return ok;
}

/* Arguments into the frame of the callee, which is S->frame; errors are the caller's. */
static bool bind_params(Sema *S, Binder *b) {
  Frame *callee = S->frame;
  bool ok = true;
  for (uint32_t i = 0; i < b->params->len; i++) {
    const Param *p = &b->params->data[i];
    if (p->kind == PARAM_STAR) bind_rest(S, b, p);
    else if (p->kind == PARAM_STARSTAR) bind_keywords(S, b, p);
    else ok &= bind_one(S, b, p);
  }
  S->frame = callee->caller;
  ok &= none_left(S, b);
  S->frame = callee;
  return ok;
}

bool bind_call(Sema *S, const ParamList *params, Value cls, const CallArgs *args, Value *out) {
  Func *maker = ARENA_NEW(S->arena, Func);
  maker->module = cls.u.cls.module;
  maker->closure = cls.u.cls.closure;
  Frame *outer = S->frame;
  S->frame = frame_new(S, maker, args->at);
  S->frame->name = cls.u.cls.def->name;
  Binder b = {.args = args,
              .params = params,
              .name = S->frame->name,
              .used = ARENA_ARRAY(S->arena, bool, args->nnamed)};
  bool ok = bind_params(S, &b);
  for (uint32_t i = 0; i < params->len; i++)
    out[i] = frame_var(S->frame, params->data[i].name)->value;
  S->frame = outer;
  return ok;
}

/* ---- functions ---- */

static Value eval_function_body(Sema *S, const Func *fn) {
  if (fn->lambda) return eval(S, fn->lambda->a);
  exec_body(S, &fn->def->body, STATE_RETURN);
  const Var *v = &S->frame->vars.data[VAR_RETURN];
  return v->state == VAR_SET && v->value.kind != V_ABSENT ? v->value : value_none();
}

static Value call_func(Sema *S, const Func *fn, const CallArgs *args) {
  Name name = fn->def ? fn->def->name : pool_name(S->names, "lambda");
  Value result;
  if (outside_call(S, fn, args, &result)) return result;
  if (fn->def && fn->def->skipped) {
    sema_error(S, args->at, S->host ? E_SEMA_HOST_EXTERN : E_SEMA_HOST_CODE, name);
    sema_note(S, fn->def->span, N_SEMA_DEFINED);
    return value_error();
  }
  /* Once too deep, all calls on the way back end at once: a function that calls itself twice would
   * else be followed through every one of its ways. */
  if (S->calls >= CALL_DEPTH_MAX || S->out_of_depth) {
    if (!S->out_of_depth) sema_error(S, args->at, E_SEMA_CALL_DEPTH, name, CALL_DEPTH_MAX);
    S->failed = true;
    S->out_of_depth = S->out_of_depth || !S->quiet;
    return value_error();
  }
  Frame *outer = S->frame;
  S->frame = frame_new(S, fn, args->at);
  S->calls++;
  Binder b = {.args = args,
              .params = fn->def ? &fn->def->params : &fn->lambda->params,
              .name = name,
              .used = ARENA_ARRAY(S->arena, bool, args->nnamed)};
  bool failed = S->failed;
  S->failed = false;
  if (S->shared) shared_enter(S);
  bool fits = bind_params(S, &b) && operands_fit(S, fn, args->at);
  Value v = fits ? eval_function_body(S, fn) : value_error();
  if (S->failed && v.kind == V_NONE) v = value_error(); /* it might have returned something */
  S->failed = S->failed || failed;
  S->calls--;
  Frame *callee = S->frame;
  S->frame = outer;
  if (S->shared) shared_leave(S, callee);
  return v;
}
