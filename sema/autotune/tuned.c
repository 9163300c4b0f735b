/* The decorators of a kernel that configure it, and their arguments. */
#include "sema/tuned.h"

#include <stdlib.h>
#include <string.h>

#include "sema/autotune/tuned_read.h"
#include "sema/messages.h"
#include "sema/value/builtins.h"

/* ---- evaluating ---- */

void tuned_forget(TunedReader *r) {
  r->host.why = NULL;
  r->host.why_at = (Span){0};
  r->S.failed = false;
  r->S.out_of_depth = r->S.spent = false;
  r->S.unrolled = 0;
  r->S.memory = arena_size(r->S.arena);
}

/* Quietly: who asked says what it was for.  V_ABSENT without an expression. */
static Value evaluate_decorator(TunedReader *r, const Expr *e) {
  if (!e) return value_of(V_ABSENT);
  tuned_forget(r);
  r->host.line = r->kind == DECOR_AUTOTUNE ? e->span.line : 0;
  Value v = eval(&r->S, e);
  r->host.line = 0;
  return r->S.failed ? value_error() : v;
}

void tuned_explain(TunedReader *r, Span at, const char *why) {
  if (why && at.file) diag_note(r->p->diags, at, N_SEMA_TUNED_WHY, why);
}

/* ---- which decorators ---- */

typedef VEC(const Expr *) Exprs;

/* Decorators of `f = autotune(...)(heuristics(...)(f))` wrap those at the function. */
static void collect_wrapping_calls(TunedReader *r, const Expr *e, Exprs *out) {
  while (e && e->kind == EX_CALL && e->a->kind == EX_CALL && e->nargs == 1 && !e->args[0].name) {
    vec_push(r->p->arena, out, e->a);
    e = e->args[0].value;
  }
}

/* `tuned = autotune(...)(kernel)`: the first name that has the kernel with more around it is what
 * programs launch. */
static void wrapped_elsewhere(TunedReader *r, Name kernel, Exprs *out) {
  const StmtList *body = &r->p->main->ast->body;
  for (uint32_t i = 0; i < body->len; i++) {
    const Stmt *s = body->data[i];
    const Expr *e = s->kind == ST_ASSIGN ? s->value : NULL;
    bool other = e && s->targets.data[0]->kind == EX_NAME && s->targets.data[0]->name != kernel;
    while (e && e->kind == EX_CALL && e->a->kind == EX_CALL && e->nargs == 1) e = e->args[0].value;
    if (!other || e == s->value || e->kind != EX_NAME || e->name != kernel) continue;
    collect_wrapping_calls(r, s->value, out);
    return;
  }
}

static void collect_decorators(TunedReader *r, Exprs *out) {
  uint32_t at;
  const ModuleInfo *m = r->p->main;
  Name name = last_part_of(r->p, r->k->name);
  const Binding *b = map_get(&m->index, name, &at) ? m->globals.data[at].first : NULL;
  for (; b; b = b->next)
    if (b->stmt->kind == ST_ASSIGN) collect_wrapping_calls(r, b->stmt->value, out);
  if (r->k->alias) collect_wrapping_calls(r, r->k->alias, out);
  else if (!out->len) wrapped_elsewhere(r, name, out);
  const ExprList *own = &r->k->def->decorators;
  for (uint32_t i = 0; i < own->len; i++) vec_push(r->p->arena, out, own->data[i]);
}

/* ---- what they are given ---- */

static const Expr *call_argument(const Expr *call, uint32_t position, const char *name) {
  for (uint32_t i = 0; i < call->nargs; i++) {
    const CallArg *a = &call->args[i];
    if (a->name ? !strcmp(a->name, name) : i == position && a->value->kind != EX_STARRED)
      return a->value;
  }
  return NULL;
}

static bool is_called(const Expr *call, const char *name) {
  const Expr *f = call->a;
  return (f->kind == EX_NAME || f->kind == EX_ATTR) && !strcmp(f->name, name);
}

static void add_decorator(TunedReader *r, Decorator d) {
  if (d.kind != r->kind) return;
  d.why = r->host.why;
  d.why_at = r->host.why_at;
  vec_push(r->p->arena, &r->list, d);
}

/* True if the call names its parts itself: other names than triton's are common for the same. */
static bool read_decorator_call(TunedReader *r, const Expr *e) {
  enum { NOWHERE = UINT32_MAX };
  if (e->kind != EX_CALL) return false;
  bool own = is_called(e, "autotune");
  const Expr *configs = call_argument(e, own ? 0 : NOWHERE, "configs");
  if (configs && r->kind != DECOR_AUTOTUNE) return true;
  if (configs) {
    Decorator d = {.kind = DECOR_AUTOTUNE, .at = configs->span};
    d.key = evaluate_decorator(r, call_argument(e, own ? 1 : NOWHERE, "key"));
    d.prune = evaluate_decorator(r, call_argument(e, NOWHERE, "prune_configs_by"));
    d.reset = evaluate_decorator(r, call_argument(e, NOWHERE, "reset_to_zero"));
    d.restore = evaluate_decorator(r, call_argument(e, NOWHERE, "restore_value"));
    d.values = evaluate_decorator(r, configs);
    add_decorator(r, d);
    return true;
  }
  const Expr *values = is_called(e, "heuristics") ? call_argument(e, 0, "values") : NULL;
  if (!values) return false;
  Decorator d = {
      .kind = DECOR_HEURISTICS, .at = values->span, .values = evaluate_decorator(r, values)};
  add_decorator(r, d);
  return true;
}

static Value part(Sema *S, const Tuple *given, uint32_t position, const char *name) {
  const Tuple *pos = given->data[0].u.tuple;
  const Value *v = value_dict_get(given->data[1].u.dict, value_str(pool_name(S->names, name)));
  return v ? *v : position < pos->len ? pos->data[position] : value_of(V_ABSENT);
}

/* A name or a call whose value is autotune(...) or heuristics(...). */
static void read_decorator_value(TunedReader *r, const Expr *e) {
  enum { NOWHERE = UINT32_MAX };
  Sema *S = &r->S;
  Value v = evaluate_decorator(r, e);
  if (v.kind != V_BUILTIN || !v.u.builtin.self || v.u.builtin.self->kind != V_TUPLE) return;
  const Tuple *given = v.u.builtin.self->u.tuple;
  const char *name = v.u.builtin.fn->name;
  Decorator d = {.kind = DECOR_AUTOTUNE, .at = e->span};
  if (!strcmp(name, "heuristics")) {
    d.kind = DECOR_HEURISTICS;
    d.values = part(S, given, 0, "values");
  } else if (!strcmp(name, "autotune")) {
    d.values = part(S, given, 0, "configs");
    d.key = part(S, given, 1, "key");
    d.prune = part(S, given, NOWHERE, "prune_configs_by");
    d.reset = part(S, given, NOWHERE, "reset_to_zero");
    d.restore = part(S, given, NOWHERE, "restore_value");
  } else {
    return;
  }
  add_decorator(r, d);
}

void tuned_read(TunedReader *r, Program *p, const Kernel *k, const TunedQuery *q, DecorKind kind) {
  *r = (TunedReader){.p = p, .k = k, .q = q, .kind = kind, .host = {.query = q}};
  r->S = (Sema){.p = p, .arena = p->arena, .names = p->names, .diags = p->diags, .quiet = 1};
  r->S.host = &r->host;
  Func *top = ARENA_NEW(p->arena, Func);
  top->module = kernel_module(p, k);
  r->S.frame = frame_new(&r->S, top, (Span){0});
  r->S.frame->name = k->name;
  Exprs decorators = {0};
  collect_decorators(r, &decorators);
  for (size_t i = 0; i < decorators.len; i++)
    if (!read_decorator_call(r, decorators.data[i])) read_decorator_value(r, decorators.data[i]);
}

/* ---- a name of the file ---- */

const FuncDef *host_function_named(Program *p, Name name, const char *target) {
  TunedQuery query = {.device.target = target};
  Host host = {.query = &query};
  Sema S = {.p = p, .arena = p->arena, .names = p->names, .diags = p->diags, .quiet = 1};
  Func *top = ARENA_NEW(p->arena, Func);
  Value v;
  S.host = &host;
  top->module = p->main;
  S.frame = frame_new(&S, top, (Span){0});
  S.frame->name = name;
  bool found = module_get(&S, p->main, name, (Span){0}, &v);
  forget_values(p); /* of this target */
  return found && v.kind == V_FUNC ? v.u.func->def : NULL;
}

/* ---- arguments and values ---- */

const KernelParam *tuned_param(const Kernel *k, Name name) {
  for (uint32_t i = 0; i < k->nparams; i++)
    if (k->params[i].name == name) return &k->params[i];
  return NULL;
}

bool tuned_for_gpu(const TunedQuery *q) {
  return !q->device.target || strncmp(q->device.target, "cpu", 3);
}

const TunedArg *tuned_given(const TunedQuery *q, Name name) {
  for (uint32_t i = 0; i < q->nargs; i++)
    if (!strcmp(q->args[i].arg.name, name)) return &q->args[i];
  return NULL;
}

const KernelArg *tuned_find(const TunedConfig *c, Name name) {
  for (size_t i = 0; c && i < c->len; i++)
    if (!strcmp(c->data[i].name, name)) return &c->data[i];
  return NULL;
}

Value tuned_value(TunedReader *r, const KernelArg *arg) {
  Sema *S = &r->S;
  Value v;
  if (arg->kind != ARG_NAME) return constant_arg(S, arg);
  bool known = module_get(S, S->p->main, pool_name(S->names, arg->s), r->k->span, &v);
  return known ? v : value_error();
}

Value tuned_arguments(TunedReader *r, const TunedConfig *config) {
  Arena *a = r->p->arena;
  Dict *d = ARENA_NEW(a, Dict);
  for (uint32_t i = 0; i < r->q->nargs; i++) {
    const TunedArg *t = &r->q->args[i];
    bool tensor = t->arg.kind == ARG_TYPE && t->arg.type.dtype == DT_PTR;
    Value v = tensor ? host_tensor(&r->S, t) : tuned_value(r, &t->arg);
    if (v.kind != V_ABSENT) value_dict_set(a, d, value_str(pool_name(r->p->names, t->arg.name)), v);
  }
  for (size_t i = 0; config && i < config->len; i++) {
    const KernelArg *arg = &config->data[i];
    Value name = value_str(pool_name(r->p->names, arg->name)), v = tuned_value(r, arg);
    const Value *old = value_dict_get(d, name);
    if (!sema_is_descriptor(arg)) value_dict_set(a, d, name, v);
    else if (old && value_is_host_descriptor(&r->S, *old))
      old->u.tuple->data[TENSOR_BLOCK] = shape_value(&r->S, arg->block);
  }
  return (Value){.kind = V_DICT, .u.dict = d};
}

bool tuned_arg(TunedReader *r, Name name, Value v, KernelArg *out) {
  v = undecay(v);
  *out = (KernelArg){.name = pool_name(r->p->names, name), .div = 1};
  switch (v.kind) {
    case V_INT:
    case V_BOOL:
      out->kind = v.kind == V_INT ? ARG_INT : ARG_BOOL;
      out->i = (int64_t)v.u.i;
      return out->i == v.u.i;
    case V_FLOAT:
      out->kind = ARG_FLOAT;
      out->f = v.u.f;
      return true;
    case V_STR:
      out->kind = ARG_STR;
      out->s = v.u.s;
      return true;
    case V_NONE: out->kind = ARG_NONE; return true;
    case V_DTYPE:
      out->kind = ARG_DTYPE;
      out->type = v.u.dtype.type;
      return !out->type.rank && out->type.dtype != DT_PTR;
    case V_FUNC:
      out->kind = ARG_NAME;
      out->s = v.u.func->def ? v.u.func->def->name : "";
      return v.u.func->def && v.u.func->jit;
    default: return false;
  }
}

const char *tuned_text(Arena *a, const KernelArg *v) {
  switch (v->kind) {
    case ARG_INT: return arena_printf(a, "%lld", (long long)v->i);
    case ARG_BOOL: return v->i ? "True" : "False";
    case ARG_FLOAT: return value_text(a, value_float(v->f));
    case ARG_STR: return v->s;
    case ARG_DTYPE: return arena_printf(a, "tl.%s", dtype_lang_name((DType)v->type.dtype));
    case ARG_NAME: return arena_printf(a, "fn:%s", v->s);
    case ARG_TYPE:
      return arena_printf(a, "tensordesc<%s%s>", type_text(a, v->block),
                          strcmp(v->padding, "nan") ? "" : ",padding=nan");
    default: return "None";
  }
}

bool tuned_is_heuristic(const TunedReader *h, Name name) {
  for (size_t i = 0; i < h->list.len; i++) {
    Value v = h->list.data[i].values;
    if (v.kind == V_DICT && value_dict_get(v.u.dict, value_str(name))) return true;
  }
  return false;
}

const char *tuned_space_hint(TunedReader *r) {
  Text t = text_new(r->p->arena);
  TunedReader *h = ARENA_NEW(r->p->arena, TunedReader);
  tuned_read(h, r->p, r->k, r->q, DECOR_HEURISTICS);
  for (uint32_t i = 0; i < r->k->nparams; i++) {
    const KernelParam *param = &r->k->params[i];
    bool open = (param->kind == KP_CONSTEXPR && !param->has_default) || param->tuned;
    if (open && !tuned_given(r->q, param->name) && !tuned_is_heuristic(h, param->name))
      text_printf(&t, " --space %s=V1,V2,...", param->name);
  }
  return t.len ? t.data : " --num-warps 1,2,4,8";
}

/* ---- spaces ---- */

bool tuned_space(Program *p, const Kernel *k, const TunedQuery *q, TunedSpace *out) {
  TunedReader *r = ARENA_NEW(p->arena, TunedReader);
  *out = (TunedSpace){0};
  tuned_read(r, p, k, q, DECOR_AUTOTUNE);
  for (size_t i = 0; i < r->list.len; i++)
    if (!tuned_add_configs(r, &r->list.data[i], out)) return false;
  return true;
}
