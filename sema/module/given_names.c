/* Values that the request gives names of files: `-D FLAG=1` of a constant that only Python can
 * compute, and of a name of the host function around a kernel, its parameters among them.
 *
 * A given value counts wherever a file or function binds the name, instead of what is bound there.
 */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/context.h"

void sema_give(Program *p, const KernelArg *args, uint32_t n) {
  if (n || p->ngiven) forget_values(p); /* those that follow from the last ones */
  p->given = args;
  p->ngiven = n;
}

static bool has_parameter(const FuncDef *f, Name name) {
  for (uint32_t i = 0; f && i < f->params.len; i++)
    if (f->params.data[i].name == name) return true;
  return false;
}

static bool binds(const ModuleInfo *m, Name name) {
  uint32_t i;
  return map_get(&m->index, name, &i) || has_parameter(m->body_of, name);
}

bool is_host_parameter(const ModuleInfo *m, Name name) {
  for (; m; m = m->outer)
    if (has_parameter(m->body_of, name)) return true;
  return false;
}

/* The first part of "S.0". */
static Name bound_name(Program *p, Name name) {
  return pool_namen(p->names, name, strcspn(name, "."));
}

bool sema_binds(Program *p, const Kernel *k, const char *name) {
  Name bound = bound_name(p, pool_name(p->names, name));
  for (const ModuleInfo *m = kernel_module(p, k); m; m = m->outer)
    if (binds(m, bound)) return true;
  for (size_t i = 0; i < p->modules.len; i++)
    if (binds(p->modules.data[i], bound)) return true;
  return false;
}

/* Is the name given, as a whole or by items? */
static bool is_given(const Program *p, const char *name) {
  for (uint32_t i = 0; i < p->ngiven; i++)
    if (sema_is_item(p->given[i].name, name)) return true;
  return false;
}

/* The value of an argument, or the tuple of its items. */
static bool value_given(Sema *S, ModuleInfo *m, Name name, Span at, Value *out) {
  const KernelArg *arg = NULL;
  for (uint32_t i = 0; i < S->p->ngiven; i++)
    if (S->p->given[i].name == name) arg = &S->p->given[i];
  if (arg && arg->kind == ARG_NAME) {
    Name other = pool_name(S->names, arg->s);
    return other != name && module_get_path(S, m, other, at, out);
  }
  if (arg && arg->kind != ARG_TUPLE) {
    *out = constant_arg(S, arg);
    return out->kind != V_ABSENT;
  }
  *out = value_tuple(S->arena, NULL, 0);
  for (;;) {
    Value v;
    const char *item = item_name(S->arena, name, out->u.tuple->len);
    if (!is_given(S->p, item) || !value_given(S, m, pool_name(S->names, item), at, &v)) break;
    value_append(S->arena, out->u.tuple, v);
  }
  return arg || out->u.tuple->len;
}

bool given_get(Sema *S, ModuleInfo *m, Name name, Span at, Value *out) {
  return S->p->ngiven && !m->is_std && is_given(S->p, name) && binds(m, name) &&
         value_given(S, m, name, at, out);
}
