/* The values of a kernel's parameters, where tuples are given item by item. */
#include <string.h>

#include "sema/value/context.h"

/* Deeper ones are no items: names come from anyone. */
enum { DEPTH_MAX = 8 };

bool sema_is_item(const char *name, const char *param) {
  size_t n = strlen(param);
  if (strncmp(name, param, n)) return false;
  int depth = 0;
  for (name += n; *name; depth++) {
    size_t digits = *name == '.' ? strspn(name + 1, "0123456789") : 0;
    if (!digits || (name[1] == '0' && digits > 1)) return false;
    name += 1 + digits;
  }
  return depth <= DEPTH_MAX;
}

const KernelParam *sema_param_of(const Kernel *k, const char *name) {
  for (uint32_t i = 0; i < k->nparams; i++)
    if (sema_is_item(name, k->params[i].name)) return &k->params[i];
  return NULL;
}

typedef struct {
  Arena *arena;
  const KernelArg *args;
  uint32_t nargs, param;
  VEC(KernelInput) list;
} Inputs;

static const KernelArg *arg_named(const Inputs *in, const char *name) {
  for (uint32_t i = 0; i < in->nargs; i++)
    if (!strcmp(in->args[i].name, name)) return &in->args[i];
  return NULL;
}

static bool is_item_given(const Inputs *in, const char *name) {
  for (uint32_t i = 0; i < in->nargs; i++)
    if (sema_is_item(in->args[i].name, name)) return true;
  return false;
}

const char *item_name(Arena *a, const char *tuple, uint32_t i) {
  return arena_printf(a, "%s.%u", tuple, i);
}

static void add_input(Inputs *in, const char *name) {
  KernelInput input = {name, in->param, arg_named(in, name)};
  const char *item = item_name(in->arena, name, 0);
  bool whole = input.arg && input.arg->kind != ARG_TUPLE, has_items = is_item_given(in, item);
  if (input.arg || !has_items) vec_push(in->arena, &in->list, input);
  if (whole || !has_items) return;
  for (uint32_t i = 0; is_item_given(in, item); item = item_name(in->arena, name, ++i))
    add_input(in, item);
}

uint32_t sema_inputs(Arena *a, const Kernel *k, const KernelArg *args, uint32_t nargs,
                     const KernelInput **out) {
  Inputs in = {.arena = a, .args = args, .nargs = nargs};
  for (; in.param < k->nparams; in.param++) add_input(&in, k->params[in.param].name);
  *out = in.list.data;
  return (uint32_t)in.list.len;
}
