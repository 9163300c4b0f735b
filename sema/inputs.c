/* The values of a kernel's parameters; tuples and tensor descriptors have one for each item. */
#include <string.h>

#include "sema/value/context.h"

/* Deeper ones are no items: names come from anyone. */
enum { DEPTH_MAX = 8 };

/* The length of ".12", or of ".shape.12" and ".strides.12" of a tensor descriptor; else 0. */
static size_t measure_item(const char *s) {
  static const char *const lists[] = {".shape", ".strides"};
  size_t list = 0;
  for (size_t i = 0; i < sizeof lists / sizeof *lists && !list; i++)
    if (!strncmp(s, lists[i], strlen(lists[i]))) list = strlen(lists[i]);
  size_t digits = s[list] == '.' ? strspn(s + list + 1, "0123456789") : 0;
  bool number = digits && !(s[list + 1] == '0' && digits > 1);
  return number ? list + 1 + digits : 0;
}

bool sema_is_item(const char *name, const char *param) {
  size_t n = strlen(param);
  if (strncmp(name, param, n)) return false;
  int depth = 0;
  for (name += n; *name; depth++) {
    size_t length = measure_item(name);
    if (!length) return false;
    name += length;
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

bool sema_is_descriptor(const KernelArg *arg) {
  return arg && arg->kind == ARG_TYPE && arg->block.rank > 0;
}

/* The extent of a tensor descriptor of which only the block was given. */
static const KernelArg *make_default_extent(Inputs *in, const char *name) {
  KernelArg *out = ARENA_NEW(in->arena, KernelArg);
  *out = (KernelArg){.name = name, .kind = ARG_TYPE, .type = type_scalar(DT_I32), .div = 1};
  return out;
}

static const KernelArg *make_default_stride(Inputs *in, const char *name, Type block, int axis) {
  KernelArg *out = ARENA_NEW(in->arena, KernelArg);
  *out = (KernelArg){.name = name, .kind = ARG_TYPE, .type = type_scalar(DT_I64), .i = 1};
  out->div = (int64_t)(DESCRIPTOR_ALIGNMENT / dtype_bytes((DType)block.dtype));
  if (axis + 1 < block.rank) return out;
  out->kind = ARG_ONE;
  out->div = 1;
  return out;
}

static void add_descriptor_items(Inputs *in, const KernelArg *d) {
  const char *shape = arena_printf(in->arena, "%s.shape", d->name);
  const char *strides = arena_printf(in->arena, "%s.strides", d->name);
  for (int i = 0; i < 2 * d->block.rank; i++) {
    bool stride = i >= d->block.rank;
    int axis = stride ? i - d->block.rank : i;
    const char *name = item_name(in->arena, stride ? strides : shape, (uint32_t)axis);
    KernelInput input = {name, in->param, arg_named(in, name)};
    if (!input.arg)
      input.arg =
          stride ? make_default_stride(in, name, d->block, axis) : make_default_extent(in, name);
    vec_push(in->arena, &in->list, input);
  }
}

static void add_input(Inputs *in, const char *name) {
  KernelInput input = {name, in->param, arg_named(in, name)};
  const char *item = item_name(in->arena, name, 0);
  bool whole = input.arg && input.arg->kind != ARG_TUPLE, has_items = is_item_given(in, item);
  if (input.arg || !has_items) vec_push(in->arena, &in->list, input);
  if (sema_is_descriptor(input.arg)) add_descriptor_items(in, input.arg);
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
