/* The names of a module, evaluated when a kernel asks for them.
 *
 * Every statement that binds a name is a candidate for it.  They are kept in the order in which
 * they count: the last in the file first, but of a `try` its body before its handlers.  A candidate
 * under an `if` whose condition is known to be otherwise is passed over; so is one that can't be
 * evaluated, or only a placeholder, while another is left.  A condition on a name for
 * which two constants are left is not known.  While a candidate is being evaluated, its own name
 * means the next one, so that `f = triton.jit(f)` and `X = X + 1` read as they do in Python.
 */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* ---- the index ---- */

static void add_binding(Program *p, ModuleInfo *m, Name name, const Stmt *s, uint32_t index,
                        const Guard *guard) {
  uint32_t at;
  if (!map_get(&m->index, name, &at)) {
    Global fresh = {.name = name};
    at = (uint32_t)m->globals.len;
    map_set(p->arena, &m->index, name, at);
    vec_push(p->arena, &m->globals, fresh);
  }
  Binding *b = ARENA_NEW(p->arena, Binding);
  *b = (Binding){.stmt = s, .index = index, .guard = guard};
  Global *g = &m->globals.data[at];
  if (g->last) g->last->next = b;
  else g->first = b;
  g->last = b;
}

static void index_target(Program *p, ModuleInfo *m, const Expr *e, const Stmt *s, const Guard *g) {
  if (e->kind == EX_NAME) add_binding(p, m, e->name, s, 0, g);
  else if (e->kind == EX_STARRED) index_target(p, m, e->a, s, g);
  else if (e->kind == EX_TUPLE || e->kind == EX_LIST)
    for (uint32_t i = 0; i < e->items.len; i++) index_target(p, m, e->items.data[i], s, g);
}

static void index_statements(Program *p, ModuleInfo *m, const StmtList *list, const Guard *guard);

static void index_stmt(Program *p, ModuleInfo *m, const Stmt *s, const Guard *guard) {
  switch (s->kind) {
    case ST_ASSIGN:
    case ST_AUGASSIGN:
      for (uint32_t i = 0; i < s->targets.len; i++)
        index_target(p, m, s->targets.data[i], s, guard);
      break;
    case ST_ANNASSIGN:
      if (s->value) index_target(p, m, s->targets.data[0], s, guard);
      break;
    case ST_FUNC: add_binding(p, m, s->func->name, s, 0, guard); break;
    case ST_CLASS: add_binding(p, m, s->name, s, 0, guard); break;
    case ST_IMPORT:
    case ST_FROM:
      for (uint32_t i = s->nimports; i-- > 0;) {
        const Import *im = &s->imports[i];
        if (im->name && !strcmp(im->name, "*")) vec_push(p->arena, &m->stars, s);
        else add_binding(p, m, im->as, s, i, guard);
      }
      break;
    case ST_IF: {
      Guard *in = ARENA_ARRAY(p->arena, Guard, 2);
      for (int orelse = 1; orelse >= 0; orelse--) {
        in[orelse] = (Guard){guard, s, orelse};
        index_statements(p, m, orelse ? &s->orelse : &s->body, &in[orelse]);
      }
      break;
    }
    case ST_TRY:
    case ST_WITH:
    case ST_SKIPPED:
    case ST_FOR:
    case ST_WHILE:
      index_statements(p, m, &s->body, guard);
      index_statements(p, m, &s->orelse, guard);
      break;
    default: break;
  }
}

static void index_statements(Program *p, ModuleInfo *m, const StmtList *list, const Guard *guard) {
  for (uint32_t i = list->len; i-- > 0;) index_stmt(p, m, list->data[i], guard);
}

void module_index(Program *p, ModuleInfo *m, const StmtList *body) {
  index_statements(p, m, body, NULL);
}

/* ---- evaluating ---- */

typedef enum { TAKEN, UNKNOWN, RULED_OUT } Outcome;

static Outcome outcome(Sema *S, ModuleInfo *m, const Guard *g) {
  Outcome all = TAKEN;
  for (; g; g = g->outer) {
    bool truth, outer = S->unsure;
    S->unsure = false;
    Value v = eval_in_module_quietly(S, m, g->stmt->value);
    bool unsure = S->unsure;
    S->unsure = outer;
    if (unsure || !value_truth(v, &truth)) all = UNKNOWN;
    else if (truth == g->orelse) return RULED_OUT;
  }
  return all;
}

/* The item of an unpacked value that goes to `name`. */
static bool unpack(const Expr *target, Value v, Name name, Value *out) {
  if (target->kind == EX_NAME) {
    *out = v;
    return target->name == name;
  }
  if ((target->kind != EX_TUPLE && target->kind != EX_LIST) || v.kind != V_TUPLE ||
      v.u.tuple->len != target->items.len)
    return false;
  for (uint32_t i = 0; i < target->items.len; i++)
    if (unpack(target->items.data[i], v.u.tuple->data[i], name, out)) return true;
  return false;
}

static Value assigned_value(Sema *S, ModuleInfo *m, const Stmt *s, Name name) {
  Value v = eval_in_module_quietly(S, m, s->value), out = value_error();
  if (v.kind == V_ERROR) return v;
  if (s->kind == ST_AUGASSIGN) {
    Value old = eval_in_module_quietly(S, m, s->targets.data[0]);
    if (old.kind == V_ERROR) return old;
    S->quiet++;
    v = const_binary(S, s->op, old, v, s->span);
    S->quiet--;
    return v;
  }
  for (uint32_t i = 0; i < s->targets.len; i++)
    if (unpack(s->targets.data[i], v, name, &out)) return out;
  return value_error();
}

static Value binding_value(Sema *S, ModuleInfo *m, const Binding *b, Name name) {
  const Stmt *s = b->stmt;
  switch (s->kind) {
    case ST_FUNC: return func_of(S, s->func, m);
    case ST_CLASS: return class_value(s, m, NULL);
    case ST_IMPORT:
    case ST_FROM: return module_import(S, m, s, &s->imports[b->index]);
    default: return assigned_value(S, m, s, name);
  }
}

/* `def f(): raise ...`, as host code has it for machines without Triton. */
static bool is_stub(const Stmt *s) {
  const StmtList *body = s->kind == ST_FUNC ? &s->func->body : NULL;
  return body && body->len && body->data[body->len - 1]->kind == ST_RAISE &&
         (body->len == 1 || (body->len == 2 && body->data[0]->kind == ST_EXPR));
}

/* A placeholder for a value: a host name, or, under a condition that is not known, None or a
 * function that raises. */
static bool is_placeholder(const Binding *b, Value v, Outcome guard) {
  return v.kind == V_EXTERN || (guard == UNKNOWN && (v.kind == V_NONE || is_stub(b->stmt)));
}

/* Is there another constant for a name after one under an unknown condition? */
static bool has_other_constant(Sema *S, ModuleInfo *m, Name name, Binding *b, Value v) {
  bool constant = value_is_number(v) || v.kind == V_NONE || v.kind == V_STR;
  for (b = b->next; b && constant; b = b->next) {
    if (b->busy || !host_sees(S, m, b->stmt) || memory_spent(S, b->stmt->span)) continue;
    b->busy = true;
    Value other =
        outcome(S, m, b->guard) == RULED_OUT ? value_error() : binding_value(S, m, b, name);
    b->busy = false;
    bool known;
    if (other.kind != V_ERROR && (!value_equal(v, other, &known) || !known)) return true;
  }
  return false;
}

/* The first candidate that has a value; else the first placeholder; else an error. */
static Value resolve_binding(Sema *S, ModuleInfo *m, Name name, Binding *b, const Stmt **unknown,
                             bool *unsure) {
  Value fallback = value_error();
  for (; b; b = b->next) {
    if (b->busy || !host_sees(S, m, b->stmt)) continue;
    if (memory_spent(S, b->stmt->span)) break;
    b->busy = true;
    Outcome guard = outcome(S, m, b->guard);
    Value v = guard == RULED_OUT ? value_error() : binding_value(S, m, b, name);
    b->busy = false;
    if (v.kind != V_ERROR && !is_placeholder(b, v, guard)) {
      *unsure = guard == UNKNOWN && has_other_constant(S, m, name, b, v);
      return v;
    }
    if (fallback.kind == V_ERROR) fallback = v;
    if (!*unknown) *unknown = b->stmt;
  }
  return fallback;
}

static bool any_busy(const Binding *b) {
  while (b && !b->busy) b = b->next;
  return b != NULL;
}

/* `nereid` in the standard library means that library's own files. */
static Name import_path(Sema *S, const ModuleInfo *m, Name path) {
  return m->is_std ? path : language_path(S->names, path);
}

static bool star_get(Sema *S, ModuleInfo *m, Name name, Span at, Value *out) {
  for (size_t i = 0; i < m->stars.len; i++) {
    const Stmt *s = m->stars.data[i];
    Name path = s->imports[0].module;
    path = path ? import_path(S, m, path) : pool_name(S->names, "");
    if (!s->level && language_is_space(path)) {
      if (language_get(S, path, name, out)) return true;
      continue;
    }
    ModuleInfo *from = program_import(S->p, m, s->level, path);
    if (!from || from == m || from->busy) continue;
    from->busy = true;
    bool found = module_get(S, from, name, at, out);
    from->busy = false;
    if (found) return true;
  }
  return false;
}

/* `from X import *` of a module that is not at hand. */
static bool missing_star_get(Sema *S, ModuleInfo *m, Name name, Value *out) {
  for (size_t i = 0; i < m->stars.len; i++) {
    const Stmt *s = m->stars.data[i];
    Name parent = pool_name(S->names, s->imports[0].module ? s->imports[0].module : "");
    Name space = language_passed_on(S->names, parent, name);
    if (!space || program_import(S->p, m, s->level, parent)) continue;
    *out = (Value){.kind = V_SPACE, .u.s = space};
    return true;
  }
  return false;
}

/* From around the module. */
static bool outer_get(Sema *S, ModuleInfo *m, Name name, Span at, Value *out) {
  if (m->outer) return module_get(S, m->outer, name, at, out);
  return outside_get(S, m, name, at, out);
}

/* A name that no statement of `m` binds. */
static bool get_elsewhere(Sema *S, ModuleInfo *m, Name name, Span at, Value *out) {
  return star_get(S, m, name, at, out) || outer_get(S, m, name, at, out) ||
         missing_star_get(S, m, name, out);
}

static void no_value(Sema *S, Name name, const Stmt *unknown, Span at) {
  if (S->unsettled >= UNSETTLED_MAX) {
    sema_error(S, at, E_SEMA_GLOBAL_MAX, name, UNSETTLED_MAX);
    sema_hint(S, H_SEMA_GLOBAL_MAX);
    return;
  }
  sema_error(S, at, E_SEMA_GLOBAL, name);
  if (unknown) sema_note(S, unknown->span, N_SEMA_GLOBAL);
  bool in_kernel = S->frame->func && S->frame->func->def;
  if (unknown && in_kernel && !S->p->outside) sema_hint(S, H_SEMA_GLOBAL, name);
}

/* A result is cached only if it is a value and none of the name's candidates is being evaluated: an
 * outer evaluation could find a better one.  So names that refer to each other are evaluated once
 * for each path between them; UNSETTLED_MAX limits the paths. */
bool module_get(Sema *S, ModuleInfo *m, Name name, Span at, Value *out) {
  uint32_t i;
  if (m->is_std) std_need(S->p, m, name);
  if (given_get(S, m, name, at, out)) return true;
  if (!map_get(&m->index, name, &i)) return get_elsewhere(S, m, name, at, out);
  Global *g = &m->globals.data[i];
  if (g->done) {
    S->unsure |= g->unsure;
    *out = g->value;
    return true;
  }
  const Stmt *unknown = NULL;
  bool cyclic = any_busy(g->first);
  bool spent = S->unsettled >= UNSETTLED_MAX;
  bool unsure = false, unsure_before = S->unsure;
  S->unsure = false;
  *out = spent ? value_error() : resolve_binding(S, m, name, g->first, &unknown, &unsure);
  unsure |= S->unsure;
  S->unsure = unsure_before || unsure;
  S->unsettled += cyclic || out->kind == V_ERROR;
  g = &m->globals.data[i];
  if (out->kind == V_ERROR) {
    if (cyclic && !spent) return outer_get(S, m, name, at, out);
    no_value(S, name, unknown, at);
    return true;
  }
  if (!cyclic) {
    if (S->host) *out = host_settle(S, m, name, *out);
    g = &m->globals.data[i];
    g->value = *out;
    g->unsure = unsure;
    g->done = !S->host || !g->first->next; /* of several, which one counts depends on the place */
  }
  return true;
}

void forget_values(Program *p) {
  for (size_t i = 0; i < p->modules.len; i++) {
    ModuleInfo *m = p->modules.data[i];
    for (size_t k = 0; k < m->globals.len; k++) m->globals.data[k].done = false;
  }
}

/* ---- imports ---- */

static Value path_value(Sema *S, ModuleInfo *m, Name path) {
  path = import_path(S, m, path);
  if (language_is_space(path)) return (Value){.kind = V_SPACE, .u.s = path};
  ModuleInfo *found = program_import(S->p, m, 0, path);
  if (found) return (Value){.kind = V_MODULE, .u.module = found};
  Name space = language_vendored(S->names, path);
  return (Value){.kind = space ? V_SPACE : V_EXTERN, .u.s = space ? space : path};
}

/* A name of the language, by a module that is a namespace of it; V_ABSENT if that is none. */
static Value import_of_language(Sema *S, ModuleInfo *m, const Stmt *s, Name path, Name name) {
  Name space = !s->level && language_is_space(path) ? path : NULL;
  if (!space && *path && !program_import(S->p, m, s->level, path))
    space = language_vendored(S->names, path);
  if (!space) return value_of(V_ABSENT);
  Value v;
  if (language_get(S, space, name, &v)) return v;
  return (Value){.kind = V_EXTERN,
                 .u.s = pool_name(S->names, arena_printf(S->arena, "%s.%s", space, name))};
}

Value module_import(Sema *S, ModuleInfo *m, const Stmt *s, const Import *im) {
  Name path = im->module ? import_path(S, m, im->module) : pool_name(S->names, "");
  if (s->kind == ST_IMPORT) {
    if (!im->renamed) path = pool_namen(S->names, path, strcspn(path, "."));
    return path_value(S, m, path);
  }
  Value v = import_of_language(S, m, s, path, im->name);
  if (v.kind != V_ABSENT) return v;
  Name whole =
      pool_name(S->names, *path ? arena_printf(S->arena, "%s.%s", path, im->name) : im->name);
  ModuleInfo *from = program_import(S->p, m, s->level, path);
  bool quiet_ok = false;
  if (from && from != m) {
    S->quiet++;
    quiet_ok = module_get(S, from, im->name, im->span, &v);
    S->quiet--;
  }
  if (quiet_ok && v.kind != V_ERROR) return v;
  ModuleInfo *sub = program_import(S->p, m, s->level, whole);
  if (sub) return (Value){.kind = V_MODULE, .u.module = sub};
  if (quiet_ok) return v;
  return extern_attribute(S, path, im->name);
}
