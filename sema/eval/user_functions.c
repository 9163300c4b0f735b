/* Calls of the user's functions, whose bodies are evaluated in place, and of classes: the fields of
 * a named tuple are bound as parameters are.
 */
#include "sema/messages.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

Value func_of(Sema *S, const FuncDef *def, ModuleInfo *m) {
  Func *f = ARENA_NEW(S->arena, Func);
  f->def = def;
  f->module = m;
  f->jit = ast_is_jit(def);
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

static void bind_param(Sema *S, const Param *p, Value v, Span at) {
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

static bool take_named(Binder *b, Name name, Value *v) {
  for (uint32_t i = 0; i < b->args->nnamed; i++)
    if (b->args->names[i] == name && !b->used[i]) {
      b->used[i] = true;
      *v = b->args->named[i];
      return true;
    }
  return false;
}

static Value take_default(Sema *S, const Frame *callee, Binder *b, const Param *p) {
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
  else if (!take_named(b, p->name, &v)) {
    S->frame = callee->caller;
    v = take_default(S, callee, b, p);
    S->frame = callee;
    ok = v.kind != V_ERROR;
  }
  bind_param(S, p, v, p->span);
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

/* ---- functions ---- */

static Value run_body(Sema *S, const Func *fn) {
  if (fn->lambda) return eval(S, fn->lambda->a);
  exec_body(S, &fn->def->body, STATE_RETURN);
  const Var *v = &S->frame->vars.data[VAR_RETURN];
  return v->state == VAR_SET ? v->value : value_none();
}

Value call_func(Sema *S, const Func *fn, const CallArgs *args) {
  Name name = fn->def ? fn->def->name : pool_name(S->names, "lambda");
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
  Value v = bind_params(S, &b) ? run_body(S, fn) : value_error();
  if (S->failed && v.kind == V_NONE) v = value_error(); /* it might have returned something */
  S->failed = S->failed || failed;
  S->calls--;
  S->frame = outer;
  return v;
}

/* ---- classes: named tuples ---- */

static bool is_field(const Stmt *s) {
  return s->kind == ST_ANNASSIGN && s->targets.data[0]->kind == EX_NAME;
}

Value construct(Sema *S, Value cls, const CallArgs *args) {
  const Stmt *def = cls.u.cls.def;
  ParamList params = {ARENA_ARRAY(S->arena, Param, def->body.len), 0};
  for (uint32_t i = 0; i < def->body.len; i++) {
    const Stmt *s = def->body.data[i];
    if (!is_field(s)) continue;
    params.data[params.len++] = (Param){.name = s->targets.data[0]->name,
                                        .annotation = s->annotation,
                                        .dflt = s->value,
                                        .span = s->span};
  }
  if (!params.len) {
    sema_error(S, args->at, S->host ? E_SEMA_HOST_EXTERN : E_SEMA_CLASS, def->name);
    return value_error();
  }
  Func *maker = ARENA_NEW(S->arena, Func);
  maker->module = cls.u.cls.module;
  Frame *outer = S->frame;
  S->frame = frame_new(S, maker, args->at);
  S->frame->name = def->name;
  Binder b = {.args = args,
              .params = &params,
              .name = def->name,
              .used = ARENA_ARRAY(S->arena, bool, args->nnamed)};
  bool ok = bind_params(S, &b);
  Value v = value_tuple(S->arena, NULL, 0);
  Name *fields = ARENA_ARRAY(S->arena, Name, params.len);
  for (uint32_t i = 0; i < params.len; i++) {
    fields[i] = params.data[i].name;
    value_append(S->arena, v.u.tuple, frame_var(S->frame, fields[i])->value);
  }
  v.u.tuple->fields = fields;
  S->frame = outer;
  return ok ? v : value_error();
}
