/* Lists of triton.Config(...): pruned, checked against the kernel, and joined. */
#include <string.h>

#include "sema/autotune/tuned_read.h"
#include "sema/messages.h"

bool tuned_is_option(Name name) { return option_tuned(name) != NULL; }

/* ---- one configuration ---- */

static bool refuse_decorator(TunedReader *r, const Decorator *d, const char *text) {
  diag_error(r->p->diags, d->at, text, r->k->name);
  tuned_explain(r, d->why_at, d->why);
  diag_hint(r->p->diags, H_SEMA_TUNED, tuned_space_hint(r));
  return false;
}

static bool bad_value(TunedReader *r, Span at, Name name, Value v) {
  diag_error(r->p->diags, at, E_SEMA_TUNED_VALUE, name, value_describe(r->p->arena, v));
  return false;
}

/* A name that is no parameter, as those that other back ends take: said once. */
static void warn_unknown_name(TunedReader *r, Span at, Name name) {
  const char *text = arena_printf(r->p->arena, W_SEMA_TUNED_NAME, name);
  for (size_t i = 0; i < diag_count(r->p->diags); i++)
    if (!strcmp(diag_get(r->p->diags, i)->text, text)) return;
  diag_warning(r->p->diags, at, "%s", text);
  diag_format(r->p->diags, W_SEMA_TUNED_NAME);
}

static bool read_kwargs(TunedReader *r, const Decorator *d, const Dict *kwargs, TunedConfig *out) {
  Span at = d->at;
  for (uint32_t i = 0; i < r->k->nparams; i++) {
    Name name = r->k->params[i].name;
    const Value *v = value_dict_get(kwargs, value_str(name));
    KernelArg arg;
    if (!v || tuned_given(r->q, name)) continue;
    if (v->kind == V_ERROR) return refuse_decorator(r, d, E_SEMA_TUNED);
    if (!tuned_arg(r, name, *v, &arg)) return bad_value(r, at, name, *v);
    vec_push(r->p->arena, out, arg);
  }
  for (uint32_t i = 0; i < kwargs->len; i++) {
    Value key = kwargs->data[2 * i];
    if (key.kind == V_STR && !tuned_param(r->k, key.u.s) && !tuned_is_option(key.u.s))
      warn_unknown_name(r, at, key.u.s);
  }
  return true;
}

/* Options are the compiler's; a kernel may have a constexpr of that name as well. */
static bool read_config_option(TunedReader *r, Span at, const Tuple *config, int i,
                               TunedConfig *out) {
  Name name = pool_name(r->p->names, option_rows[i].name);
  const Dict *kwargs = config->data[CONFIG_KWARGS].u.dict;
  const Value *own = value_dict_get(kwargs, value_str(name));
  bool param = tuned_param(r->k, name) != NULL;
  bool gpu = tuned_for_gpu(r->q);
  Value v = own && !param ? *own : config->data[CONFIG_WARPS + i];
  bool standard = i >= 2 && (v.kind == V_NONE || (i == 2 && v.kind == V_INT && v.u.i == 1));
  if (standard || tuned_given(r->q, name) || tuned_find(out, name) || !(gpu || param)) return true;
  KernelArg arg;
  if (!tuned_arg(r, name, v, &arg) || arg.kind != ARG_INT || arg.i < (i != 1)) {
    diag_error(r->p->diags, at, E_SEMA_TUNED_OPTION, name, value_describe(r->p->arena, v));
    return false;
  }
  vec_push(r->p->arena, out, arg);
  return true;
}

static bool read_config_value(TunedReader *r, const Decorator *d, Value v, TunedConfig *out) {
  Span at = d->at;
  if (!value_is_config(&r->S, v)) {
    diag_error(r->p->diags, at, E_SEMA_TUNED_KIND, value_describe(r->p->arena, v));
    return false;
  }
  const Tuple *config = v.u.tuple;
  if (!read_kwargs(r, d, config->data[CONFIG_KWARGS].u.dict, out)) return false;
  for (int i = 0; i < OPTION_TUNED; i++)
    if (!read_config_option(r, at, config, i, out)) return false;
  return true;
}

/* ---- pruning ---- */

static bool takes_keywords(Value fn) {
  fn = host_function(fn);
  if (fn.kind != V_FUNC) return false;
  const Func *f = fn.u.func;
  const ParamList *params = f->def ? &f->def->params : &f->lambda->params;
  for (uint32_t i = 0; i < params->len; i++)
    if (params->data[i].kind == PARAM_STARSTAR) return true;
  return false;
}

/* early_config_prune(configs, named_args, **kwargs): the launch decides which argument is in which
 * of the two, so both contain all. */
static Value call_prune(TunedReader *r, Span at, Value fn, Value configs) {
  Value pos[] = {configs, tuned_arguments(r, NULL)};
  const Dict *known = pos[1].u.dict;
  CallArgs args = {.pos = pos, .npos = 2, .at = at};
  args.names = ARENA_ARRAY(r->p->arena, Name, known->len);
  args.named = ARENA_ARRAY(r->p->arena, Value, known->len);
  for (uint32_t i = 0; i < known->len && takes_keywords(fn); i++) {
    args.names[args.nnamed] = known->data[2 * i].u.s;
    args.named[args.nnamed++] = known->data[2 * i + 1];
  }
  return call_value(&r->S, fn, &args);
}

static void not_pruned(TunedReader *r, Span at, const char *text) {
  diag_warning(r->p->diags, at, text, r->k->name);
  tuned_explain(r, r->host.why_at, r->host.why);
}

static Value pruned(TunedReader *r, const Decorator *d, Value configs) {
  const Value *fn = NULL;
  if (d->prune.kind == V_DICT) {
    fn = value_dict_get(d->prune.u.dict, value_str(pool_name(r->p->names, "early_config_prune")));
    if (!fn || fn->kind == V_NONE) return configs;
  } else if (d->prune.kind == V_ABSENT || d->prune.kind == V_NONE) {
    return configs;
  }
  tuned_forget(r);
  Value kept = fn ? call_prune(r, d->at, *fn, value_copy(&r->S, configs)) : value_error();
  if (r->S.failed || kept.kind != V_TUPLE) {
    not_pruned(r, d->at, W_SEMA_TUNED_PRUNE);
    return configs;
  }
  if (kept.u.tuple->len) return kept;
  not_pruned(r, d->at, W_SEMA_TUNED_PRUNED_ALL);
  return configs;
}

/* ---- names and hooks ---- */

static void add_distinct_name(TunedReader *r, TunedNames *out, Name name) {
  for (size_t i = 0; i < out->len; i++)
    if (out->data[i] == name) return;
  vec_push(r->p->arena, out, name);
}

static void add_reset_names(TunedReader *r, TunedNames *out, Value v) {
  const Value one[] = {v}, *items = one;
  uint32_t n = v.kind == V_STR;
  if (v.kind == V_TUPLE) {
    items = v.u.tuple->data;
    n = v.u.tuple->len;
  }
  for (uint32_t i = 0; i < n; i++)
    if (items[i].kind == V_STR) add_distinct_name(r, out, items[i].u.s);
}

/* What a configuration's pre_hook does that is known here. */
typedef struct {
  TunedNames zeroed;  /* tensors */
  TunedConfig blocks; /* descriptors that it gives other blocks */
} Hook;

/* A hook sees the constexprs and options of its configuration, too. */
static Value hook_arguments(TunedReader *r, const Tuple *config) {
  Value args = tuned_arguments(r, NULL);
  const Dict *kwargs = config->data[CONFIG_KWARGS].u.dict;
  for (int i = 0; i < OPTION_TUNED; i++)
    value_dict_set(r->p->arena, args.u.dict, value_str(pool_name(r->p->names, option_rows[i].name)),
                   config->data[CONFIG_WARPS + i]);
  for (uint32_t i = 0; i < kwargs->len; i++)
    value_dict_set(r->p->arena, args.u.dict, kwargs->data[2 * i], kwargs->data[2 * i + 1]);
  return args;
}

/* The block that a hook has given to a descriptor.  False if no descriptor can have it. */
static bool read_block(TunedReader *r, Value block, Type *out) {
  Type shape;
  r->S.quiet++;
  bool ok = want_shape(&r->S, block, r->k->span, &shape) && shape.rank == out->rank;
  r->S.quiet--;
  for (int i = 0; ok && i < shape.rank; i++) ok = !(shape.shape[i] & (shape.shape[i] - 1));
  if (ok) *out = type_like(type_element(*out), shape);
  return ok;
}

/* False if a descriptor has got a block that is none. */
static bool read_blocks(TunedReader *r, const Dict *args, TunedConfig *out) {
  for (uint32_t i = 0; i < r->q->nargs; i++) {
    KernelArg arg = r->q->args[i].arg;
    const Value *v = value_dict_get(args, value_str(pool_name(r->p->names, arg.name)));
    if (!v || !value_is_host_descriptor(&r->S, *v)) continue;
    Type block = arg.block;
    if (!read_block(r, v->u.tuple->data[TENSOR_BLOCK], &arg.block)) return false;
    if (!type_eq(block, arg.block)) vec_push(r->p->arena, out, arg);
  }
  return true;
}

/* What else a hook does can't be known.  False if it does that. */
static bool run_hook(TunedReader *r, const Decorator *d, Value config, Hook *out) {
  if (!value_is_config(&r->S, config)) return true;
  Value hook = config.u.tuple->data[CONFIG_HOOK];
  if (hook.kind == V_NONE) return true;
  Value args = hook_arguments(r, config.u.tuple);
  tuned_forget(r);
  r->host.zeroed.len = 0;
  if (hook.kind == V_FUNC) call_with(&r->S, hook, &args, 1, d->at);
  for (size_t i = 0; i < r->host.zeroed.len; i++)
    add_distinct_name(r, &out->zeroed, r->host.zeroed.data[i]);
  return hook.kind == V_FUNC && read_blocks(r, args.u.dict, &out->blocks) && !r->S.failed;
}

/* For each configuration.  The hooks after one that can't be run are ignored, with a warning. */
static Hook *run_hooks(TunedReader *r, const Decorator *d, const Tuple *configs) {
  bool known = true;
  Hook *hooks = ARENA_ARRAY(r->p->arena, Hook, configs->len);
  for (uint32_t i = 0; i < configs->len && known; i++)
    known = run_hook(r, d, configs->data[i], &hooks[i]);
  if (!known) not_pruned(r, d->at, W_SEMA_TUNED_HOOK);
  tuned_forget(r);
  return hooks;
}

/* ---- joining ---- */

static bool settings_equal(const KernelArg *a, const KernelArg *b) {
  if (a->name != b->name || a->kind != b->kind) return false;
  switch (a->kind) {
    case ARG_FLOAT: return a->f == b->f;
    case ARG_STR:
    case ARG_NAME: return !strcmp(a->s, b->s);
    case ARG_DTYPE: return type_eq(a->type, b->type);
    case ARG_TYPE: return type_eq(a->block, b->block);
    default: return a->i == b->i;
  }
}

static bool same_config(const TunedConfig *a, const TunedConfig *b) {
  if (a->len != b->len) return false;
  for (size_t i = 0; i < a->len; i++)
    if (!settings_equal(&a->data[i], &b->data[i])) return false;
  return true;
}

/* The inner decorator's values count where both have one. */
static TunedConfig both(TunedReader *r, const TunedConfig *outer, const TunedConfig *inner) {
  TunedConfig out = {0};
  for (uint32_t i = 0; i < r->k->nparams; i++) {
    Name name = r->k->params[i].name;
    const KernelArg *a = tuned_find(inner, name);
    if (!a) a = tuned_find(outer, name);
    if (a) vec_push(r->p->arena, &out, *a);
  }
  for (int i = 0; i < OPTION_TUNED; i++) {
    const KernelArg *a = tuned_find(inner, option_rows[i].name);
    if (!a) a = tuned_find(outer, option_rows[i].name);
    if (a && !tuned_find(&out, option_rows[i].name)) vec_push(r->p->arena, &out, *a);
  }
  return out;
}

static TunedNames both_names(TunedReader *r, const TunedNames *x, const TunedNames *y) {
  TunedNames out = {0};
  for (size_t i = 0; i < x->len; i++) add_distinct_name(r, &out, x->data[i]);
  for (size_t i = 0; i < y->len; i++) add_distinct_name(r, &out, y->data[i]);
  return out;
}

static bool add_distinct_config(TunedReader *r, const Decorator *d, TunedSpace *out,
                                TunedConfig config, TunedNames zeroed) {
  for (size_t i = 0; i < out->configs.len; i++)
    if (same_config(&out->configs.data[i], &config)) return true;
  if (out->configs.len == TUNED_CONFIGS_MAX) {
    diag_error(r->p->diags, d->at, E_SEMA_TUNED_MAX, r->k->name, TUNED_CONFIGS_MAX);
    return false;
  }
  vec_push(r->p->arena, &out->configs, config);
  vec_push(r->p->arena, &out->zeroed, zeroed);
  return true;
}

/* False for a configuration that wants another value of a constexpr than the one that is fixed. */
static bool config_agrees_with_query(TunedReader *r, Value v) {
  if (!value_is_config(&r->S, v)) return true;
  const Dict *kwargs = v.u.tuple->data[CONFIG_KWARGS].u.dict;
  for (uint32_t i = 0; i < kwargs->len; i++) {
    Value key = kwargs->data[2 * i];
    const TunedArg *given = key.kind == V_STR ? tuned_given(r->q, key.u.s) : NULL;
    bool known;
    if (given && !value_equal(tuned_value(r, &given->arg), kwargs->data[2 * i + 1], &known))
      return false;
  }
  return true;
}

/* The product of the configurations so far and those of this decorator: of these the ones that
 * agree with the fixed constexprs or, if none does, all of them without those constexprs. */
static bool multiply_spaces(TunedReader *r, const Decorator *d, const TunedSpace *before,
                            const Tuple *list, TunedSpace *out) {
  bool any = false;
  const Hook *hooks = run_hooks(r, d, list);
  for (uint32_t i = 0; i < list->len && !any; i++) any = config_agrees_with_query(r, list->data[i]);
  for (uint32_t i = 0; i < list->len; i++) {
    TunedConfig config = {0};
    if (any && !config_agrees_with_query(r, list->data[i])) continue;
    if (!read_config_value(r, d, list->data[i], &config)) return false;
    for (size_t k = 0; k < hooks[i].blocks.len; k++)
      vec_push(r->p->arena, &config, hooks[i].blocks.data[k]);
    if (!before->decorated && !add_distinct_config(r, d, out, config, hooks[i].zeroed))
      return false;
    for (size_t k = 0; k < before->configs.len; k++)
      if (!add_distinct_config(r, d, out, both(r, &before->configs.data[k], &config),
                               both_names(r, &before->zeroed.data[k], &hooks[i].zeroed)))
        return false;
  }
  return true;
}

bool tuned_add_configs(TunedReader *r, const Decorator *d, TunedSpace *out) {
  const Value *items;
  uint32_t n;
  tuned_forget(r);
  if (d->values.kind == V_ERROR || !iterate(&r->S, d->values, d->at, &items, &n))
    return refuse_decorator(r, d, E_SEMA_TUNED);
  if (n == 0) return refuse_decorator(r, d, E_SEMA_TUNED_EMPTY);
  if (n > TUNED_CONFIGS_MAX) {
    diag_error(r->p->diags, d->at, E_SEMA_TUNED_MAX, r->k->name, TUNED_CONFIGS_MAX);
    return false;
  }
  Value kept = pruned(r, d, value_list(r->p->arena, items, n));
  TunedSpace before = *out;
  out->configs = (TunedConfigs){0};
  memset(&out->zeroed, 0, sizeof out->zeroed);
  if (!multiply_spaces(r, d, &before, kept.u.tuple, out)) return false;
  out->decorated = true;
  add_reset_names(r, &out->key, d->key);
  add_reset_names(r, &out->reset_to_zero, d->reset);
  add_reset_names(r, &out->restore_value, d->restore);
  for (size_t i = 0; i < out->zeroed.len; i++)
    out->reset_to_zero = both_names(r, &out->reset_to_zero, &out->zeroed.data[i]);
  return true;
}
