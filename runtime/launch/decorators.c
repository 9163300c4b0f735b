#include "runtime/launch/decorators.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compilation.h"
#include "runtime/compile/spec.h"
#include "runtime/launch/argument_value.h"
#include "runtime/messages.h"
#include "sema/tuned.h"

struct Decorators {
  Compilation c;
  const nereid_request *kernel;
  const DecoratorArg *args;
  int nargs;
  const nereid_device_info *device;
  TunedQuery query;
};

/* ---- opening ---- */

DecoratorArg decorator_arg(const Argument *a) {
  const DescriptorValue *descriptor = &a->value->descriptor;
  return (DecoratorArg){a->name, a->array ? a->array : a->value,
                        descriptor->block.rank ? descriptor : NULL};
}

static const int64_t *copy_extents(Decorators *d, const int64_t *extents, int rank) {
  int64_t *out = ARENA_ARRAY(d->c.arena, int64_t, (size_t)rank);
  for (int i = 0; i < rank; i++) out[i] = extents[i];
  return out;
}

static void add_descriptor_facts(Decorators *d, const DescriptorValue *of, TunedArg *out) {
  out->arg.block = of->block;
  out->arg.padding = of->padding;
  out->rank = of->block.rank;
  out->shape = copy_extents(d, of->shape, out->rank);
  out->strides = copy_extents(d, of->strides, out->rank);
}

static TunedArg value_arg(Decorators *d, const DecoratorArg *a) {
  const nereid_value *v = a->value;
  TunedArg out = {.arg = {.name = pool_name(d->c.names, a->name), .div = 1}};
  switch (v->kind) {
    case NEREID_VALUE_INT: out.arg.kind = ARG_INT; break;
    case NEREID_VALUE_BOOL: out.arg.kind = ARG_BOOL; break;
    case NEREID_VALUE_FLOAT: out.arg.kind = ARG_FLOAT; break;
    case NEREID_VALUE_ARRAY:
      out.arg.kind = ARG_TYPE;
      out.arg.type = type_ptr(v->array.dtype);
      out.shape = copy_extents(d, v->array.shape, v->array.rank);
      out.rank = v->array.rank;
      if (a->descriptor) add_descriptor_facts(d, a->descriptor, &out);
      break;
    default: out.arg.kind = ARG_NONE; break;
  }
  out.arg.i = v->i;
  out.arg.f = v->f;
  return out;
}

static int fixed_arg(Decorators *d, const nereid_arg *a, TunedArg *out) {
  Name name = pool_name(d->c.names, a->name);
  *out = (TunedArg){0};
  return a->type ? spec_type(&out->arg, d->c.names, name, a->type)
                 : spec_constexpr(&out->arg, d->c.names, name, a->value ? a->value : "None");
}

static bool has_value(const Decorators *d, const char *name) {
  for (int i = 0; i < d->nargs; i++)
    if (!strcmp(d->args[i].name, name)) return true;
  return false;
}

/* Options that the request fixes are given as constexprs are. */
static uint32_t add_option_args(Decorators *d, TunedArg *args, uint32_t n) {
  nereid_request r = *d->kernel;
  for (int i = 0; i < OPTION_TUNED; i++) {
    int value = *request_number(&r, &option_rows[i]);
    Name name = pool_name(d->c.names, option_rows[i].name);
    if (value) args[n++] = (TunedArg){.arg = {.name = name, .kind = ARG_INT, .i = value}};
  }
  return n;
}

static int read_decorator_args(Decorators *d) {
  const nereid_request *r = d->kernel;
  TunedArg *args = ARENA_ARRAY(d->c.arena, TunedArg, (size_t)(d->nargs + r->nargs) + 4);
  uint32_t n = 0;
  for (int i = 0; i < d->nargs; i++) args[n++] = value_arg(d, &d->args[i]);
  for (int i = 0; i < r->nargs; i++) {
    if (has_value(d, r->args[i].name)) continue;
    int code = fixed_arg(d, &r->args[i], &args[n++]);
    if (code) return code;
  }
  d->query.args = args;
  d->query.nargs = add_option_args(d, args, n);
  return 0;
}

static int open_kernel_body(void *arg) {
  Decorators *d = arg;
  d->c.kernel = sema_find(d->c.program, d->kernel->kernel, d->kernel->target);
  if (!d->c.kernel) return compile_not_found(d->c.program);
  const nereid_device_info *info = d->device;
  d->query.device.target = d->kernel->target;
  if (info) {
    TunedDevice device = {info->target, info->description, info->processors, info->shared_bytes,
                          info->memory};
    if (d->kernel->target) device.target = d->kernel->target;
    d->query.device = device;
  }
  return read_decorator_args(d);
}

/* Errors of a candidate are removed before the next one. */
static int report_decorators(Decorators *d, int code) {
  code = compile_report(&d->c, code, d->kernel->on_message, d->kernel->context);
  if (d->c.diags) diag_rewind(d->c.diags, 0);
  return code;
}

int decorators_open(Decorators **out, const nereid_request *kernel, const DecoratorArg *args,
                    int nargs, const nereid_device_info *device) {
  *out = NULL;
  Decorators *d = calloc(1, sizeof *d);
  if (!d) return error_out_of_memory();
  d->kernel = kernel;
  d->args = args;
  d->nargs = nargs;
  d->device = device;
  int code = compile_open(&d->c, &kernel->source, false);
  if (!code && d->c.from_ir) code = error_set(NEREID_E_USAGE, E_RUN_DECORATORS_IR);
  else if (!code) code = compile_guard(&d->c, COMPILE_SEMA, open_kernel_body, d);
  if (code) code = report_decorators(d, code);
  if (code) decorators_free(d);
  else *out = d;
  return code;
}

void decorators_free(Decorators *d) {
  if (!d) return;
  compile_close(&d->c);
  free(d);
}

/* ---- configurations as text ---- */

static Config config_of_tuned(Decorators *d, const TunedConfig *c) {
  Config out = {.settings = ARENA_ARRAY(d->c.arena, nereid_setting, c->len)};
  for (size_t i = 0; i < c->len; i++)
    out.settings[out.n++] = (nereid_setting){c->data[i].name, tuned_text(d->c.arena, &c->data[i])};
  return out;
}

static const char **names_text(Decorators *d, const TunedNames *names, int *n) {
  const char **out = ARENA_ARRAY(d->c.arena, const char *, names->len);
  for (size_t i = 0; i < names->len; i++) out[i] = names->data[i];
  *n = (int)names->len;
  return out;
}

/* ---- spaces ---- */

typedef struct {
  Decorators *d;
  DecoratorSpace *out;
  bool derive; /* a space where no decorator gives one */
  const Config *config;
  Config *completed;
} Asking;

static int space_body(void *arg) {
  Asking *a = arg;
  Decorators *d = a->d;
  TunedSpace s;
  DecoratorSpace *out = a->out;
  if (!tuned_space(d->c.program, d->c.kernel, &d->query, &s)) return NEREID_E_KERNEL;
  out->source = s.decorated ? SPACE_AUTOTUNE : a->derive ? SPACE_AUTOMATIC : SPACE_NONE;
  if (!s.decorated && a->derive && !tuned_automatic(d->c.program, d->c.kernel, &d->query, &s))
    return NEREID_E_KERNEL;
  for (size_t i = 0; i < s.configs.len; i++)
    vec_push(d->c.arena, &out->configs, config_of_tuned(d, &s.configs.data[i]));
  if (!s.decorated && s.configs.len == 1 && !s.configs.data[0].len) out->source = SPACE_NONE;
  out->zeroed = ARENA_ARRAY(d->c.arena, ArrayNames, s.configs.len);
  for (size_t i = 0; i < s.zeroed.len; i++)
    out->zeroed[i].data = names_text(d, &s.zeroed.data[i], &out->zeroed[i].len);
  out->key = names_text(d, &s.key, &out->nkey);
  out->reset_to_zero = names_text(d, &s.reset_to_zero, &out->nreset_to_zero);
  out->restore_value = names_text(d, &s.restore_value, &out->nrestore_value);
  return 0;
}

static int ask_space(DecoratorSpace *out, Decorators *d, bool derive) {
  *out = (DecoratorSpace){0};
  Asking a = {.d = d, .out = out, .derive = derive};
  return report_decorators(d, compile_guard(&d->c, COMPILE_SEMA, space_body, &a));
}

int decorators_declared(DecoratorSpace *out, Decorators *d) { return ask_space(out, d, false); }
int decorators_space(DecoratorSpace *out, Decorators *d) { return ask_space(out, d, true); }

/* ---- heuristics ---- */

static int read_fixed_config(Decorators *d, const Config *c, TunedConfig *out) {
  for (int i = 0; c && i < c->n; i++) {
    KernelArg arg;
    Name name = pool_name(d->c.names, c->settings[i].name);
    int code = spec_constexpr(&arg, d->c.names, name, c->settings[i].value);
    if (code) return code;
    vec_push(d->c.arena, out, arg);
  }
  return 0;
}

static const KernelArg *find_setting(const TunedConfig *c, const char *name) {
  for (size_t i = 0; i < c->len; i++)
    if (!strcmp(c->data[i].name, name)) return &c->data[i];
  return NULL;
}

/* Constexprs in the kernel's order, then options. */
static Config merged(Decorators *d, const TunedConfig *a, const TunedConfig *b) {
  const Kernel *k = d->c.kernel;
  TunedConfig out = {0};
  for (uint32_t i = 0; i < k->nparams; i++) {
    const KernelArg *arg = find_setting(a, k->params[i].name);
    if (!arg) arg = find_setting(b, k->params[i].name);
    if (arg && !config_is_option(arg->name)) vec_push(d->c.arena, &out, *arg);
  }
  for (int i = 0; i < OPTION_TUNED; i++) {
    const KernelArg *arg = find_setting(a, option_rows[i].name);
    if (!arg) arg = find_setting(b, option_rows[i].name);
    if (arg) vec_push(d->c.arena, &out, *arg);
  }
  return config_of_tuned(d, &out);
}

static int complete_body(void *arg) {
  Asking *a = arg;
  Decorators *d = a->d;
  TunedConfig config = {0}, more;
  int code = read_fixed_config(d, a->config, &config);
  if (code) return code;
  if (!tuned_heuristics(d->c.program, d->c.kernel, &d->query, &config, &more))
    return NEREID_E_KERNEL;
  *a->completed = merged(d, &config, &more);
  return 0;
}

int decorators_complete(Config *out, Decorators *d, const Config *c) {
  *out = (Config){0};
  Asking a = {.d = d, .config = c, .completed = out};
  return report_decorators(d, compile_guard(&d->c, COMPILE_SEMA, complete_body, &a));
}

static int known_body(void *arg) {
  Asking *a = arg;
  TunedConfig none = {0}, more;
  tuned_known(a->d->c.program, a->d->c.kernel, &a->d->query, &more);
  *a->completed = merged(a->d, &none, &more);
  return 0;
}

int decorators_known(Config *out, Decorators *d) {
  *out = (Config){0};
  Asking a = {.d = d, .completed = out};
  return compile_guard(&d->c, COMPILE_SEMA, known_body, &a);
}

nereid_request decorators_request(Arena *a, const nereid_request *kernel,
                                  const nereid_kernel_info *info, const Config *c) {
  nereid_request r = *kernel;
  nereid_arg *args = ARENA_ARRAY(a, nereid_arg, (size_t)(r.nargs + c->n));
  int n = 0;
  for (int i = 0; i < r.nargs; i++) args[n++] = r.args[i];
  for (int i = 0; i < c->n; i++) {
    const nereid_setting *s = &c->settings[i];
    int *option = config_option(&r, s->name);
    if (option) *option = (int)strtol(s->value, NULL, 10);
    /* A kernel may take num_warps as a constexpr, too. */
    if (!option || arguments_param(info, s->name))
      args[n++] = (nereid_arg){.name = s->name, .value = s->value};
  }
  r.args = args;
  r.nargs = n;
  return r;
}
