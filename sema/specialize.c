/* Evaluates one kernel for one specialization. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/context.h"

/* ---- arguments ---- */

/* The inputs that are not bound yet. */
typedef struct {
  const Kernel *k;
  const KernelInput *all;
  uint32_t n, at;
  const KernelArg *args;
  uint32_t nargs;
} Bound;

static Value runtime_param(Sema *S, const KernelParam *p, const KernelArg *arg, uint32_t index) {
  Name name = pool_name(S->names, arg->name);
  TileValue *v = tile_add_param(S->fn, name, arg->type, index, arg->div > 0 ? arg->div : 1);
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
    case ARG_TUPLE: return value_tuple(S->arena, NULL, 0);
    default: return value_of(V_ABSENT);
  }
}

/* The value of a name: a function or class of the kernel's file, or a name from outside. */
static Value file_name_value(Sema *S, const char *name, Span at) {
  Value v;
  if (module_get_path(S, S->frame->module, name, at, &v)) return v;
  sema_error(S, at, E_SEMA_ARG_FUNC, name);
  return value_error();
}

/* A number that a decorator gives a run-time parameter is a run-time value that happens to be
 * known, unless it is marked as a constexpr. */
static Value constant_value(Sema *S, const KernelParam *p, const KernelArg *arg, Span at) {
  Value v = constant_arg(S, arg);
  bool known =
      p->kind == KP_RUNTIME && arg->kind != ARG_ONE && !arg->is_constexpr && value_is_number(v);
  return known ? typed(S, v, at) : v;
}

static Value named_value(Sema *S, const KernelParam *p, const KernelArg *arg, Span at) {
  Value v = file_name_value(S, arg->s, at);
  bool known = p->kind == KP_RUNTIME && !arg->is_constexpr && value_is_number(v);
  return known ? typed(S, v, at) : v;
}

static Value arg_value(Sema *S, const Kernel *k, const KernelInput *in, uint32_t index) {
  const KernelParam *p = &k->params[in->param];
  const KernelArg *arg = in->arg;
  Span at = k->def->params.data[in->param].span;
  if (arg->kind == ARG_NAME) return named_value(S, p, arg, at);
  if (arg->kind != ARG_TYPE) return constant_value(S, p, arg, at);
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

/* A default of a run-time parameter is a run-time value that happens to be known.  A default
 * without a value at compile time is an error only where the parameter is used. */
static void bind_default(Sema *S, const Kernel *k, uint32_t index) {
  const Param *p = &k->def->params.data[index];
  Value v;
  if (!outside_default(S, S->frame->module, k->def, p, &v))
    v = eval_in_module_quietly(S, S->frame->module, p->dflt);
  bool constexpr_param = k->params[index].kind == KP_CONSTEXPR;
  if (v.kind == V_ERROR) frame_slot(S, S->frame, p->name)->state = VAR_DEFAULT;
  else if (constexpr_param || !value_is_number(v)) frame_set(S, p->name, v, p->span);
  else frame_set(S, p->name, typed(S, v, p->span), p->span);
}

/* A named tuple from its items, by its class. */
static Value object_arg(Sema *S, const char *class_name, const Value *items, uint32_t n, Span at) {
  Value cls = gluon_value(S, class_name);
  if (cls.kind != V_CLASS) cls = file_name_value(S, class_name, at);
  if (cls.kind != V_CLASS) {
    if (cls.kind != V_ERROR) sema_error(S, at, E_SEMA_ARG_CLASS, class_name);
    return value_error();
  }
  for (uint32_t i = 0; i < n; i++)
    if (items[i].kind == V_ERROR) return value_error();
  return call_with(S, cls, items, n, at);
}

static const KernelArg *arg_named(const Bound *b, const char *name) {
  for (uint32_t i = 0; i < b->nargs; i++)
    if (!strcmp(b->args[i].name, name)) return &b->args[i];
  return NULL;
}

/* ---- tensor descriptors ---- */

/* The next input: an extent or a stride. */
static Value bind_descriptor_item(Sema *S, Bound *b) {
  const KernelInput *in = &b->all[b->at];
  const KernelArg *arg = in->arg;
  Span at = b->k->def->params.data[in->param].span;
  uint32_t index = b->at++;
  bool integer = (arg->kind == ARG_TYPE || arg->kind == ARG_ONE) && !sema_is_descriptor(arg) &&
                 dtype_is_int((DType)arg->type.dtype);
  if (!integer) {
    sema_error(S, at, E_SEMA_ARG_EXTENT, arg->name);
    return value_error();
  }
  Value v =
      arg->kind == ARG_ONE ? value_int(1) : runtime_param(S, &b->k->params[in->param], arg, index);
  return cast_dtype(S, typed(S, v, at), DT_I64, at);
}

/* The next input's pointer with the extents and strides that follow it. */
static Value bind_descriptor(Sema *S, Bound *b) {
  const KernelInput *in = &b->all[b->at];
  BlockPtr *d = ARENA_NEW(S->arena, BlockPtr);
  *d = (BlockPtr){.type = in->arg->block, .descriptor = true, .padding = in->arg->padding};
  d->base = arg_value(S, b->k, in, b->at);
  b->at++;
  bool known = d->base.kind != V_ERROR;
  for (int p = 0; p < 2; p++)
    for (int i = 0; i < d->type.rank; i++) {
      Value v = bind_descriptor_item(S, b);
      *(p ? &d->strides[i] : &d->sizes[i]) = v;
      known = known && v.kind != V_ERROR;
    }
  for (int i = 0; i < d->type.rank; i++) d->offsets[i] = value_const(DT_I64, (Scalar){.i = 0});
  return known ? (Value){.kind = V_BLOCKPTR, .u.block = d} : value_error();
}

/* ---- parameters ---- */

/* The value of the next input, or of the tuple whose items come next. */
static Value bound_value(Sema *S, Bound *b, const char *name) {
  const KernelInput *in = &b->all[b->at];
  const KernelArg *whole = arg_named(b, name);
  bool has_class = whole && whole->kind == ARG_TUPLE && whole->s;
  if (!has_class && !strcmp(in->name, name)) {
    if (sema_is_descriptor(in->arg)) return bind_descriptor(S, b);
    uint32_t index = b->at++;
    return in->arg ? arg_value(S, b->k, in, index) : missing_arg(S, b->k, in->param);
  }
  if (!strcmp(in->name, name)) b->at++;
  VEC(Value) items = {0};
  for (;;) {
    const char *item = item_name(S->arena, name, (uint32_t)items.len);
    if (b->at == b->n || !sema_is_item(b->all[b->at].name, item)) break;
    Value v = bound_value(S, b, item);
    vec_push(S->arena, &items, v);
  }
  uint32_t n = (uint32_t)items.len;
  if (!has_class) return value_tuple(S->arena, items.data, n);
  Span at = b->k->def->params.data[in->param].span;
  return object_arg(S, whole->s, items.data, n, at);
}

static void bind_kernel_param(Sema *S, Bound *b, const Param *p) {
  const KernelInput *in = &b->all[b->at];
  if (p->kind == PARAM_PLAIN && !in->arg && p->dflt) {
    bind_default(S, b->k, in->param);
    return;
  }
  Value v = value_error();
  if (p->kind != PARAM_PLAIN) sema_error(S, p->span, E_SEMA_KERNEL_STAR, p->name);
  else v = bound_value(S, b, p->name);
  frame_set(S, p->name, v, p->span);
}

static void bind_args(Sema *S, Bound *b) {
  while (b->at < b->n) {
    uint32_t param = b->all[b->at].param;
    bind_kernel_param(S, b, &b->k->def->params.data[param]);
    while (b->at < b->n && b->all[b->at].param == param) b->at++;
  }
}

/* Items of a tuple after a gap, or of a tuple that is also given as a whole. */
static void check_items(Sema *S, const Bound *b, const KernelArg *arg) {
  for (uint32_t i = 0; i < b->n; i++)
    if (!strcmp(b->all[i].name, arg->name)) return;
  if (strstr(arg->name, ".s")) { /* d.shape.0, d.strides.0 */
    sema_error(S, b->k->span, E_SEMA_ARG_AXIS, arg->name);
    return;
  }
  Name tuple = sema_param_of(b->k, arg->name)->name;
  sema_error(S, b->k->span, E_SEMA_ARG_ITEM, arg->name, tuple, tuple);
}

static void check_names(Sema *S, const Bound *b, const KernelArg *args, uint32_t nargs) {
  const Kernel *k = b->k;
  for (uint32_t i = 0; i < nargs; i++) {
    if (sema_param_of(k, args[i].name)) {
      check_items(S, b, &args[i]);
      continue;
    }
    Nearest near = {0};
    for (uint32_t j = 0; j < k->nparams; j++) nearest_offer(&near, args[i].name, k->params[j].name);
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

const TileFunc *sema_unfinished(const Program *p) { return p->unfinished; }

TileFunc *sema_compile(Program *p, const Kernel *k, const KernelArg *args, uint32_t nargs,
                       Options options) {
  size_t before = diag_errors(p->diags);
  Sema state = {.p = p,
                .arena = p->arena,
                .names = p->names,
                .diags = p->diags,
                .language = options.language,
                .memory = arena_size(p->arena)},
       *S = &state;
  Name name = last_part_of(p, k->name);
  S->fn = p->unfinished = tile_func_new(p->arena, p->names, name, k->span, options);
  S->b = (TileBuilder){.fn = S->fn, .block = S->fn->body, .span = k->span};
  Func *fn = func_of(S, k->def, kernel_module(p, k)).u.func;
  fn->jit = true;
  S->frame = frame_new(S, fn, (Span){0});
  Bound b = {.k = k, .args = args, .nargs = nargs};
  b.n = sema_inputs(S->arena, k, args, nargs, &b.all);
  check_names(S, &b, args, nargs);
  bind_args(S, &b);
  exec_body(S, &k->def->body, STATE_RETURN);
  p->steps = S->unrolled;
  if (diag_errors(p->diags) > before) return NULL;
  emit(S, TILE_RETURN, NULL, 0, NULL, 0, k->span);
  replace_values(S);
  if (!options.no_fp_fusion) fuse_products(S);
  return S->fn;
}
