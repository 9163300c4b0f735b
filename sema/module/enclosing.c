/* Kernels inside of host functions.
 *
 * The names that such a function binds around a kernel count as names of a module: its body is a
 * module whose other names are those of the function or file around it.  Values that it gets when
 * it is called, its parameters among them, are not known.
 */
#include <string.h>

#include "sema/value/context.h"

static ModuleInfo *body_module(Program *p, ModuleInfo *outer, const FuncDef *f) {
  Module *ast = ARENA_NEW(p->arena, Module);
  *ast = (Module){.file = outer->ast->file, .body = f->body};
  ModuleInfo *m = ARENA_NEW(p->arena, ModuleInfo);
  *m = (ModuleInfo){.path = outer->path, .ast = ast, .is_package = outer->is_package};
  m->outer = outer;
  m->body_of = f;
  module_index(p, m, &ast->body);
  return m;
}

/* Finds the function of these statements and their blocks that is `def` or contains it. */
static const FuncDef *function_with(const StmtList *list, const FuncDef *def) {
  const FuncDef *found = NULL;
  for (uint32_t i = 0; i < list->len && !found; i++) {
    const Stmt *s = list->data[i];
    if (s->kind == ST_FUNC) {
      bool holds = s->func == def || function_with(&s->func->body, def);
      found = holds ? s->func : NULL;
    } else {
      found = function_with(&s->body, def);
      if (!found) found = function_with(&s->orelse, def);
    }
  }
  return found;
}

/* "NAME", which a caller may give a dot, or "OUTER.INNER" of a host function, a class or a module;
 * false if there is none. */
bool module_get_path(Sema *S, ModuleInfo *m, const char *path, Span at, Value *out) {
  if (module_get(S, m, pool_name(S->names, path), at, out)) return true;
  size_t n = strcspn(path, ".");
  if (!path[n]) return false;
  if (!module_get(S, m, pool_namen(S->names, path, n), at, out)) return false;
  for (path += n; *path && out->kind != V_ERROR; path += n) {
    n = strcspn(++path, ".");
    Name part = pool_namen(S->names, path, n);
    const Func *f = out->kind == V_FUNC ? out->u.func : NULL;
    bool found = f && f->def && !f->jit
                     ? module_get(S, body_module(S->p, f->module, f->def), part, at, out)
                     : !f && find_attribute(S, *out, part, at, out);
    if (!found) return false;
  }
  return true;
}

ModuleInfo *kernel_module(Program *p, const Kernel *k) {
  ModuleInfo *m = p->main;
  for (;;) {
    const FuncDef *f = function_with(&m->ast->body, k->def);
    if (!f || f == k->def) return m;
    m = body_module(p, m, f);
  }
}
