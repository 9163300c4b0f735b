/* The kernels of a file: what sema_kernels lists and sema_find looks up. */
#include <stdlib.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

typedef struct {
  Program *p;
  VEC(Kernel) list;
  VEC(const FuncDef *) jitted; /* of `f = triton.jit(g)` */
} Finder;

/* ---- decorators: which names does the tuner set? ---- */

typedef struct {
  Program *p;
  VEC(Name) names;
  int depth;
} Tuned;

static void tuned_in(Tuned *t, const Expr *e);

static void tuned_in_list(Tuned *t, const ExprList *list) {
  for (uint32_t i = 0; i < list->len; i++) tuned_in(t, list->data[i]);
}

/* A name of the module that holds configs is followed, once. */
static void tuned_by_name(Tuned *t, Name name) {
  uint32_t at;
  const ModuleInfo *m = t->p->main;
  if (t->depth || !map_get(&m->index, name, &at)) return;
  t->depth++;
  for (const Binding *b = m->globals.data[at].first; b; b = b->next) {
    if (b->stmt->kind == ST_ASSIGN) tuned_in(t, b->stmt->value);
    if (b->stmt->kind != ST_FUNC) continue;
    const StmtList *body = &b->stmt->func->body;
    for (uint32_t i = 0; i < body->len; i++)
      if (body->data[i]->value) tuned_in(t, body->data[i]->value);
  }
  t->depth--;
}

/* Keys of dictionaries: Config({"BLOCK": 64}) and heuristics({"EVEN": lambda ...}). */
static void tuned_in(Tuned *t, const Expr *e) {
  if (!e) return;
  if (e->kind == EX_NAME) tuned_by_name(t, e->name);
  for (uint32_t i = 0; e->kind == EX_DICT && i < e->items.len; i += 2)
    if (e->items.data[i] && e->items.data[i]->kind == EX_STR)
      vec_push(t->p->arena, &t->names, e->items.data[i]->name);
  if (e->kind == EX_DICT || e->kind == EX_LAMBDA) return;
  tuned_in(t, e->a);
  tuned_in(t, e->b);
  tuned_in_list(t, &e->items);
  for (uint32_t i = 0; i < e->nargs; i++) tuned_in(t, e->args[i].value);
}

static void collect_tuned(Tuned *t, const FuncDef *def) {
  for (uint32_t i = 0; i < def->decorators.len; i++) {
    const Expr *d = def->decorators.data[i];
    if (d->kind != EX_CALL) continue;
    for (uint32_t k = 0; k < d->nargs; k++) tuned_in(t, d->args[k].value);
  }
}

/* jit(do_not_specialize=["n", 3]). */
static bool is_unspecialized(const FuncDef *def, Name name, uint32_t index) {
  for (uint32_t i = 0; i < def->decorators.len; i++) {
    const Expr *d = def->decorators.data[i];
    for (uint32_t k = 0; d->kind == EX_CALL && k < d->nargs; k++) {
      const CallArg *a = &d->args[k];
      if (!a->name || strcmp(a->name, "do_not_specialize")) continue;
      for (uint32_t j = 0; j < a->value->items.len; j++) {
        const Expr *e = a->value->items.data[j];
        if (e->kind == EX_STR ? e->name == name : e->kind == EX_INT && e->ival == index)
          return true;
      }
    }
  }
  return false;
}

/* ---- parameters ---- */

/* `tl.int64`, `"fp32"`, `tl.const`: what the annotation says of the type. */
static DType declared_dtype(const Expr *e) {
  if (!e || (e->kind != EX_NAME && e->kind != EX_ATTR && e->kind != EX_STR)) return DT_NONE;
  if (e->kind == EX_NAME &&
      (!strcmp(e->name, "int") || !strcmp(e->name, "float") || !strcmp(e->name, "bool")))
    return DT_NONE;
  return dtype_parse(e->name, strlen(e->name));
}

static const char *annotation_text(Program *p, const Expr *e) {
  if (!e) return "";
  Text t = text_new(p->arena);
  ast_print_expr(&t, e);
  return t.data;
}

static KernelParam param_of(Program *p, const FuncDef *def, uint32_t index, const Tuned *tuned) {
  const Param *param = &def->params.data[index];
  KernelParam k = {.name = param->name};
  const Expr *e = param->annotation;
  k.kind = is_constexpr_annotation(e) ? KP_CONSTEXPR : KP_RUNTIME;
  k.has_default = param->dflt != NULL;
  k.text = annotation_text(p, e);
  k.is_const = e && (e->kind == EX_ATTR || e->kind == EX_NAME) && !strcmp(e->name, "const");
  if (k.kind == KP_RUNTIME) k.declared = declared_dtype(e);
  for (size_t i = 0; i < tuned->names.len; i++) k.tuned |= tuned->names.data[i] == param->name;
  k.do_not_specialize = is_unspecialized(def, param->name, index);
  return k;
}

static void add_listed_kernel(Finder *f, const FuncDef *def, Name as) {
  Program *p = f->p;
  Kernel k = {.span = def->span, .def = def, .nparams = def->params.len};
  k.name = as ? as : def->name;
  if (def->owner && !as)
    k.name = pool_name(p->names, arena_printf(p->arena, "%s.%s", def->owner, def->name));
  Tuned tuned = {.p = p};
  collect_tuned(&tuned, def);
  k.decorated = as || def->decorators.len > 1 || tuned.names.len;
  k.params = ARENA_ARRAY(p->arena, KernelParam, k.nparams);
  for (uint32_t i = 0; i < k.nparams; i++) k.params[i] = param_of(p, def, i, &tuned);
  vec_push(p->arena, &f->list, k);
}

/* ---- the walk ---- */

static void find_kernels_in(Finder *f, const StmtList *list);

static const FuncDef *function_named(Finder *f, Name name) {
  uint32_t at;
  if (!map_get(&f->p->main->index, name, &at)) return NULL;
  for (const Binding *b = f->p->main->globals.data[at].first; b; b = b->next)
    if (b->stmt->kind == ST_FUNC) return b->stmt->func;
  return NULL;
}

/* The function inside triton.jit(g), or heuristics(...)(triton.jit(g)); NULL if there is none. */
static const FuncDef *jit_call(Finder *f, const Expr *e, bool inside) {
  if (!e) return NULL;
  if (e->kind == EX_NAME) return inside ? function_named(f, e->name) : NULL;
  if (e->kind != EX_CALL) return NULL;
  bool jit = (e->a->kind == EX_NAME || e->a->kind == EX_ATTR) && !strcmp(e->a->name, "jit");
  for (uint32_t i = 0; i < e->nargs; i++) {
    if (e->args[i].name) continue;
    const FuncDef *def = jit_call(f, e->args[i].value, inside || jit);
    if (def) return def;
  }
  return NULL;
}

static void find_assigned(Finder *f, const Stmt *s) {
  if (s->targets.len != 1 || s->targets.data[0]->kind != EX_NAME) return;
  const FuncDef *def = jit_call(f, s->value, false);
  if (def && !def->skipped && !ast_is_jit(def)) add_listed_kernel(f, def, s->targets.data[0]->name);
}

static void find_kernels_in(Finder *f, const StmtList *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Stmt *s = list->data[i];
    if (s->kind == ST_ASSIGN) find_assigned(f, s);
    else if (s->kind == ST_FUNC && ast_is_jit(s->func)) add_listed_kernel(f, s->func, NULL);
    else if (s->kind == ST_FUNC) find_kernels_in(f, &s->func->body);
    else {
      find_kernels_in(f, &s->body);
      find_kernels_in(f, &s->orelse);
    }
  }
}

/* ---- helpers and shadows ---- */

/* The names that a body mentions. */
typedef struct {
  Arena *arena;
  NameMap plain, attributes; /* f; x.f, where x is a class or an object */
} Used;

static void mark_names(Used *used, const Expr *e);

static void mark_list(Used *used, const ExprList *list) {
  for (uint32_t i = 0; i < list->len; i++)
    if (list->data[i]) mark_names(used, list->data[i]);
}

static void mark_names(Used *used, const Expr *e) {
  if (!e) return;
  if (e->kind == EX_NAME) map_set(used->arena, &used->plain, e->name, 1);
  if (e->kind == EX_ATTR) map_set(used->arena, &used->attributes, e->name, 1);
  mark_names(used, e->a);
  mark_names(used, e->b);
  mark_names(used, e->c);
  mark_list(used, &e->items);
  for (uint32_t i = 0; i < e->nargs; i++) mark_names(used, e->args[i].value);
}

static void mark_body(Used *used, const StmtList *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Stmt *s = list->data[i];
    mark_names(used, s->value);
    mark_body(used, &s->body);
    mark_body(used, &s->orelse);
  }
}

Name last_part_of(Program *p, Name name) {
  const char *dot = strrchr(name, '.');
  return dot ? pool_name(p->names, dot + 1) : name;
}

/* A function that returns something can't be launched. */
static bool returns_value(const StmtList *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Stmt *s = list->data[i];
    if (s->kind == ST_RETURN && s->value && s->value->kind != EX_NONE) return true;
    if (s->kind != ST_FUNC && (returns_value(&s->body) || returns_value(&s->orelse))) return true;
  }
  return false;
}

static int helpers_last(const void *a, const void *b) {
  const Kernel *x = a, *y = b;
  if (x->helper != y->helper) return x->helper - y->helper;
  return (x->span.line > y->span.line) - (x->span.line < y->span.line);
}

/* Whose bodies mention a name: one kernel, or several of different names. */
typedef struct {
  Name by;
  bool several;
} Mention;
typedef struct {
  NameMap index; /* of the name in `all` */
  VEC(Mention) all;
} Mentions;

static void mention(Arena *a, Mentions *m, Name name, Name by) {
  uint32_t i;
  if (map_get(&m->index, name, &i)) {
    m->all.data[i].several |= m->all.data[i].by != by;
    return;
  }
  map_set(a, &m->index, name, (uint32_t)m->all.len);
  vec_push(a, &m->all, ((Mention){by, false}));
}

static void mention_all(Arena *a, Mentions *m, const NameMap *names, Name by) {
  for (uint32_t i = 0; i < names->nslots; i++)
    if (names->slots[i].key) mention(a, m, names->slots[i].key, by);
}

/* Chooses among kernels of one name the one that the file's statements leave: the last one, except
 * where conditions around definitions are known to select another.  Among methods the last one is
 * chosen. */
static const Kernel *kernel_left(Program *p, const Kernel *list, uint32_t n, Name name,
                                 const char *target) {
  const Kernel *last = NULL, *found = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    if (list[i].name == name) {
      bool later = !last || list[i].span.line > last->span.line;
      if (later) last = &list[i];
      count++;
    }
  const FuncDef *def = count > 1 ? host_function_named(p, name, target) : NULL;
  for (uint32_t i = 0; def && i < n; i++)
    if (list[i].name == name && list[i].def == def) found = &list[i];
  return found ? found : last;
}

static void mark_shadowed(Finder *f) {
  NameMap seen = {0};
  for (uint32_t i = 0, before; i < f->list.len; i++) {
    Name name = f->list.data[i].name;
    if (!map_get(&seen, name, &before)) {
      map_set(f->p->arena, &seen, name, i);
      continue;
    }
    const Kernel *left = kernel_left(f->p, f->list.data, (uint32_t)f->list.len, name, NULL);
    for (uint32_t k = 0; k < f->list.len; k++)
      if (f->list.data[k].name == name) f->list.data[k].shadowed = &f->list.data[k] != left;
  }
}

/* A helper returns a value, or is called by a kernel of another name. */
static void mark_helpers(Finder *f) {
  Arena *a = f->p->arena;
  Mentions plain = {0}, attributes = {0};
  for (size_t i = 0; i < f->list.len; i++) {
    const Kernel *k = &f->list.data[i];
    Used used = {.arena = a};
    mark_body(&used, &k->def->body);
    mention_all(a, &plain, &used.plain, k->name);
    mention_all(a, &attributes, &used.attributes, k->name);
  }
  for (size_t i = 0; i < f->list.len; i++) {
    Kernel *k = &f->list.data[i];
    const Mentions *all = strchr(k->name, '.') ? &attributes : &plain;
    uint32_t at;
    if (map_get(&all->index, last_part_of(f->p, k->name), &at))
      k->helper |= all->all.data[at].several || all->all.data[at].by != k->name;
    k->helper |= returns_value(&k->def->body);
  }
}

uint32_t sema_kernels(Program *p, const Kernel **out) {
  if (!p->listed) {
    Finder f = {.p = p};
    find_kernels_in(&f, &p->main->ast->body);
    mark_shadowed(&f);
    mark_helpers(&f);
    if (f.list.len) qsort(f.list.data, f.list.len, sizeof(Kernel), helpers_last);
    p->kernels = f.list.data;
    p->nkernels = (uint32_t)f.list.len;
    p->listed = true;
  }
  *out = p->kernels;
  return p->nkernels;
}

/* ---- looking one up ---- */

static void list_kernels(Program *p) {
  for (uint32_t i = 0; i < p->nkernels; i++)
    if (!p->kernels[i].shadowed && !p->kernels[i].helper)
      diag_note(p->diags, p->kernels[i].span, N_SEMA_KERNEL, p->kernels[i].name);
}

static void report_none(Program *p) {
  diag_error(p->diags, (Span){0}, E_SEMA_NO_KERNELS, p->main->path);
  const Source *s = diag_file(p->diags, diag_source(p->diags, p->main->path, NULL, 0));
  if (s->text && memchr(s->text, 0, s->len)) diag_hint(p->diags, H_SEMA_BINARY);
}

static const Kernel *only_kernel(Program *p) {
  const Kernel *found = NULL;
  uint32_t entries = 0;
  for (uint32_t i = 0; i < p->nkernels; i++) {
    const Kernel *k = &p->kernels[i];
    if (k->shadowed || (k->helper && p->nkernels > 1)) continue;
    found = k;
    entries++;
  }
  if (entries == 1) return found;
  if (!p->nkernels) report_none(p);
  else diag_error(p->diags, (Span){0}, E_SEMA_SEVERAL_KERNELS, p->main->path);
  list_kernels(p);
  return NULL;
}

/* NAME, Class.NAME or NAME@LINE */
static const Kernel *find_named(Program *p, const char *which) {
  const char *at = strchr(which, '@');
  size_t len = at ? (size_t)(at - which) : strlen(which);
  unsigned long line = at ? strtoul(at + 1, NULL, 10) : 0;
  const Kernel *found = NULL;
  for (uint32_t i = 0; i < p->nkernels; i++) {
    const Kernel *k = &p->kernels[i];
    const Name bare = last_part_of(p, k->name);
    bool named = (strlen(k->name) == len && !memcmp(k->name, which, len)) ||
                 (strlen(bare) == len && !memcmp(bare, which, len));
    if (named && (!at || k->span.line == line) && (!found || !k->shadowed)) found = k;
  }
  return found;
}

/* The kernel that `which = autotune(...)(kernel)` puts decorators around: that is what programs
 * launch. */
static const Kernel *find_wrapped(Program *p, const char *which) {
  const StmtList *body = &p->main->ast->body;
  for (uint32_t i = 0; i < body->len; i++) {
    const Stmt *s = body->data[i];
    if (s->kind != ST_ASSIGN || !s->value || s->targets.data[0]->kind != EX_NAME ||
        strcmp(s->targets.data[0]->name, which))
      continue;
    const Expr *e = s->value;
    while (e->kind == EX_CALL && e->a->kind == EX_CALL && e->nargs == 1) e = e->args[0].value;
    const Kernel *k = e != s->value && e->kind == EX_NAME ? find_named(p, e->name) : NULL;
    if (!k) continue;
    Kernel *out = ARENA_NEW(p->arena, Kernel);
    *out = *k;
    out->alias = s->value;
    return out;
  }
  return NULL;
}

const Kernel *sema_find(Program *p, const char *which, const char *target) {
  const Kernel *list;
  uint32_t n = sema_kernels(p, &list);
  if (!which) which = "";
  const Kernel *found = *which ? find_named(p, which) : only_kernel(p);
  if (found && !strchr(which, '@')) return kernel_left(p, list, n, found->name, target);
  if (!*which) return NULL;
  if (!found) found = find_wrapped(p, which);
  if (found) return found;
  diag_error(p->diags, (Span){0}, E_SEMA_NO_KERNEL, p->main->path, which);
  Nearest near = {0};
  for (uint32_t i = 0; i < n; i++) nearest_offer(&near, which, list[i].name);
  if (near.best) diag_hint(p->diags, H_SEMA_NEAREST, near.best);
  else list_kernels(p);
  return NULL;
}
