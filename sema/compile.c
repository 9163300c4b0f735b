/* One kernel for one specialization. */
#include <string.h>

#include "lang/messages.h"
#include "sema/context.h"

/* ---- arguments ---- */

static const KernelArg *arg_named(const KernelArg *args, uint32_t n, Name name) {
  for (uint32_t i = 0; i < n; i++)
    if (args[i].name == name || !strcmp(args[i].name, name)) return &args[i];
  return NULL;
}

static Value runtime_param(Sema *S, const KernelParam *p, const KernelArg *arg, uint32_t index) {
  TileValue *v = tile_add_param(S->fn, p->name, arg->type, index, arg->div > 0 ? arg->div : 1);
  S->fn->params[S->fn->nparams - 1].is_const = p->is_const;
  return value_tile(v);
}

Value constant_arg(Sema *S, const KernelArg *arg) {
  switch (arg->kind) {
    case ARG_ONE: return value_int(1);
    case ARG_NONE: return value_none();
    case ARG_INT: return value_int(arg->i);
    case ARG_BOOL: return value_bool(arg->i != 0);
    case ARG_FLOAT: return value_float(arg->f);
    case ARG_STR: return value_str(pool_name(S->names, arg->s));
    case ARG_DTYPE: return value_dtype(arg->type);
    default: return value_of(V_ABSENT);
  }
}

static Value function_arg(Sema *S, const char *name, Span at) {
  Value v;
  Name n = pool_name(S->names, name);
  if (module_get(S, S->p->main, n, at, &v)) return v;
  sema_error(S, at, E_SEMA_ARG_FUNC, name);
  return value_error();
}

static Value arg_value(Sema *S, const Kernel *k, uint32_t index, const KernelArg *arg) {
  const KernelParam *p = &k->params[index];
  Span at = k->def->params.data[index].span;
  if (arg->kind == ARG_FUNC) return function_arg(S, arg->s, at);
  if (arg->kind != ARG_TYPE) return constant_arg(S, arg);
  if (p->kind != KP_CONSTEXPR) return runtime_param(S, p, arg, index);
  sema_error(S, at, E_SEMA_ARG_CONSTEXPR, p->name, p->name);
  return value_error();
}

static Value missing_arg(Sema *S, const Kernel *k, uint32_t index) {
  const KernelParam *p = &k->params[index];
  Span at = k->def->params.data[index].span;
  if (p->kind == KP_CONSTEXPR || p->tuned) sema_error(S, at, E_SEMA_MISSING_CONSTEXPR, p->name);
  else sema_error(S, at, E_SEMA_MISSING_ARG, p->name);
  if (p->tuned) sema_hint(S, H_SEMA_MISSING_TUNED, p->name);
  else if (p->kind == KP_CONSTEXPR) sema_hint(S, H_SEMA_MISSING_CONSTEXPR, p->name);
  else sema_hint(S, H_SEMA_MISSING_ARG, p->name, p->name);
  return value_error();
}

/* A default of a run-time parameter is a run-time value that happens to be known.  One that has no
 * value at compile time matters where the parameter is used. */
static void bind_default(Sema *S, const Kernel *k, uint32_t index) {
  const Param *p = &k->def->params.data[index];
  Value v = eval_in_module_quietly(S, S->frame->module, p->dflt);
  bool constexpr_param = k->params[index].kind == KP_CONSTEXPR;
  if (v.kind == V_ERROR) frame_slot(S, S->frame, p->name)->state = VAR_DEFAULT;
  else if (constexpr_param || !value_is_number(v)) frame_set(S, p->name, v, p->span);
  else frame_set(S, p->name, typed(S, v, p->span), p->span);
}

static void bind_args(Sema *S, const Kernel *k, const KernelArg *args, uint32_t nargs) {
  for (uint32_t i = 0; i < k->nparams; i++) {
    const Param *p = &k->def->params.data[i];
    const KernelArg *arg = arg_named(args, nargs, p->name);
    if (p->kind == PARAM_PLAIN && !arg && p->dflt) {
      bind_default(S, k, i);
      continue;
    }
    Value v = value_error();
    if (p->kind != PARAM_PLAIN) sema_error(S, p->span, E_SEMA_KERNEL_STAR, p->name);
    else v = arg ? arg_value(S, k, i, arg) : missing_arg(S, k, i);
    frame_set(S, p->name, v, p->span);
  }
}

static void check_names(Sema *S, const Kernel *k, const KernelArg *args, uint32_t nargs) {
  for (uint32_t i = 0; i < nargs; i++) {
    bool known = false;
    Nearest near = {0};
    for (uint32_t j = 0; j < k->nparams; j++) {
      known |= !strcmp(k->params[j].name, args[i].name);
      nearest_offer(&near, args[i].name, k->params[j].name);
    }
    if (known) continue;
    sema_error(S, k->span, E_SEMA_ARG_UNKNOWN, k->name, args[i].name);
    if (near.best) sema_hint(S, H_SEMA_NEAREST, near.best);
  }
}

/* ---- compiling ---- */

static void replace_values(Sema *S) {
  if (!S->replaced.len) return;
  TileValue **map = ARENA_ARRAY(S->arena, TileValue *, S->fn->nvalues);
  for (size_t i = 0; i < S->replaced.len; i++)
    map[S->replaced.data[i].from->id] = S->replaced.data[i].to;
  tile_substitute(S->fn, map);
}

TileFunc *sema_compile(Program *p, const Kernel *k, const KernelArg *args, uint32_t nargs,
                       Options options) {
  size_t before = diag_errors(p->diags);
  Sema state = {.p = p,
                .arena = p->arena,
                .names = p->names,
                .diags = p->diags,
                .memory = arena_size(p->arena)},
       *S = &state;
  Name name = last_part_of(p, k->name);
  S->fn = tile_func_new(p->arena, p->names, name, k->span, options);
  S->b = (TileBuilder){.fn = S->fn, .block = S->fn->body, .span = k->span};
  Func *fn = func_of(S, k->def, kernel_module(p, k)).u.func;
  fn->jit = true;
  S->frame = frame_new(S, fn, (Span){0});
  check_names(S, k, args, nargs);
  bind_args(S, k, args, nargs);
  exec_body(S, &k->def->body, STATE_RETURN);
  p->steps = S->unrolled;
  if (diag_errors(p->diags) > before) return NULL;
  emit(S, TILE_RETURN, NULL, 0, NULL, 0, k->span);
  replace_values(S);
  if (options.enable_fp_fusion) fuse_products(S);
  return S->fn;
}
