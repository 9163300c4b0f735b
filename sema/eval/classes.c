/* Classes of the kernel's file: named tuples and aggregates.
 *
 * An object of either is a Tuple whose items have names: the annotated names of the class's bases,
 * then its own.  A class under `aggregate` has methods as well, and may have an `__init__` that
 * assigns the fields; after that they don't change, since loops and branches carry them as values.
 */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

enum { BASES_DEPTH_MAX = 16 };

/* ---- classes, their bases and members ---- */

static Value eval_in_class(Sema *S, Value cls, const Expr *e, bool quietly) {
  Frame *outer = S->frame;
  Value v;
  if (!cls.u.cls.closure) {
    v = quietly ? eval_in_module_quietly(S, cls.u.cls.module, e)
                : eval_in_module(S, cls.u.cls.module, e);
    return v;
  }
  S->frame = cls.u.cls.closure;
  v = quietly ? eval_quietly(S, e) : eval(S, e);
  S->frame = outer;
  return v;
}

/* Base i; an error if it is none of the file's classes, as NamedTuple is not. */
static Value base_of(Sema *S, Value cls, uint32_t i) {
  Value base = eval_in_class(S, cls, cls.u.cls.def->bases.data[i], true);
  return base.kind == V_CLASS && base.u.cls.def != cls.u.cls.def ? base : value_error();
}

static bool binds(const Stmt *s, Name name) {
  if (s->kind == ST_FUNC) return s->func->name == name;
  if (s->kind == ST_CLASS) return s->name == name;
  bool assigns = s->kind == ST_ASSIGN || (s->kind == ST_ANNASSIGN && s->value);
  return assigns && s->targets.data[0]->kind == EX_NAME && s->targets.data[0]->name == name;
}

static const Stmt *own_member(Value cls, Name name) {
  const StmtList *body = &cls.u.cls.def->body;
  for (uint32_t i = body->len; i-- > 0;)
    if (binds(body->data[i], name)) return body->data[i];
  return NULL;
}

/* The statement that binds a name in a class or the nearest of its bases, whose class is *owner. */
static const Stmt *find_member(Sema *S, Value cls, Name name, int depth, Value *owner) {
  const Stmt *s = own_member(cls, name);
  *owner = cls;
  for (uint32_t i = 0; i < cls.u.cls.def->bases.len && !s && depth < BASES_DEPTH_MAX; i++) {
    Value base = base_of(S, cls, i);
    if (base.kind == V_CLASS) s = find_member(S, base, name, depth + 1, owner);
  }
  return s;
}

static bool is_decorated(const FuncDef *f, const char *name) {
  for (uint32_t i = 0; i < f->decorators.len; i++) {
    const Expr *e = f->decorators.data[i];
    if (e->kind == EX_NAME && !strcmp(e->name, name)) return true;
  }
  return false;
}

static Value member_value(Sema *S, Value owner, const Stmt *s) {
  if (s->kind == ST_FUNC) {
    Value f = func_of(S, s->func, owner.u.cls.module);
    f.u.func->closure = owner.u.cls.closure;
    Value *own = ARENA_NEW(S->arena, Value);
    *own = owner;
    f.u.func->owner = own;
    return f;
  }
  if (s->kind == ST_CLASS) return class_value(s, owner.u.cls.module, owner.u.cls.closure);
  return eval_in_class(S, owner, s->value, false);
}

Value class_value(const Stmt *def, ModuleInfo *m, Frame *closure) {
  return (Value){.kind = V_CLASS, .u.cls = {def, m, closure}};
}

bool class_attribute(Sema *S, Value cls, Name name, Value *out) {
  Value owner;
  const Stmt *s = find_member(S, cls, name, 0, &owner);
  if (!s) return false;
  *out = member_value(S, owner, s);
  if (s->kind == ST_FUNC && is_decorated(s->func, "classmethod")) *out = bind_self(S, *out, cls);
  return true;
}

bool is_subclass(Sema *S, Value cls, Value of) {
  for (int depth = 0; cls.kind == V_CLASS && depth < BASES_DEPTH_MAX; depth++) {
    if (cls.u.cls.def == of.u.cls.def) return true;
    cls = cls.u.cls.def->bases.len ? base_of(S, cls, 0) : value_error();
  }
  return false;
}

/* Is a base of it the NamedTuple of Python's library? */
static bool is_named_tuple(Sema *S, Value cls, int depth) {
  const ExprList *bases = &cls.u.cls.def->bases;
  for (uint32_t i = 0; i < bases->len && depth < BASES_DEPTH_MAX; i++) {
    Value base = eval_in_class(S, cls, bases->data[i], true);
    if (base.kind == V_EXTERN) return true;
    if (base.kind == V_CLASS && base.u.cls.def != cls.u.cls.def &&
        is_named_tuple(S, base, depth + 1))
      return true;
  }
  return false;
}

static bool is_aggregate_class(Sema *S, Value cls) {
  const ExprList *list = &cls.u.cls.def->decorators;
  for (uint32_t i = 0; i < list->len; i++) {
    Value d = eval_in_class(S, cls, list->data[i], true);
    if (d.kind == V_BUILTIN && !strcmp(d.u.builtin.fn->name, "aggregate")) return true;
    if (d.kind == V_BUILTIN && !strcmp(d.u.builtin.fn->name, "_aggregate")) return true;
  }
  return cls.u.cls.module->is_class && !list->len && !is_named_tuple(S, cls, 0);
}

/* ---- fields ---- */

typedef VEC(Param) Fields;

static void add_field(Sema *S, Fields *f, const Stmt *s) {
  Param field = {.name = s->targets.data[0]->name,
                 .annotation = s->annotation,
                 .dflt = s->value,
                 .span = s->span};
  for (size_t i = 0; i < f->len; i++)
    if (f->data[i].name == field.name) {
      f->data[i] = field;
      return;
    }
  vec_push(S->arena, f, field);
}

static void add_fields(Sema *S, Fields *f, Value cls, int depth) {
  const Stmt *def = cls.u.cls.def;
  for (uint32_t i = 0; i < def->bases.len && depth < BASES_DEPTH_MAX; i++) {
    Value base = base_of(S, cls, i);
    if (base.kind == V_CLASS) add_fields(S, f, base, depth + 1);
  }
  for (uint32_t i = 0; i < def->body.len; i++) {
    const Stmt *s = def->body.data[i];
    if (s->kind == ST_ANNASSIGN && s->targets.data[0]->kind == EX_NAME) add_field(S, f, s);
  }
}

static bool is_builtin(Value v, const char *name) {
  return v.kind == V_BUILTIN && !strcmp(v.u.builtin.fn->name, name);
}

/* The value as a field of that annotation holds it; V_ABSENT if it can't.  Annotations of other
 * kinds say nothing. */
static Value as_field(Sema *S, Value type, Value v, Span at) {
  bool object = v.kind == V_TUPLE && v.u.tuple->cls;
  bool fits = true;
  if (is_builtin(type, "tensor")) {
    if (value_is_number(v)) return typed(S, v, at);
    fits = value_is_typed(v);
  } else if (is_builtin(type, "constexpr")) {
    v = undecay(v);
    fits = v.kind != V_TILE && v.kind != V_BLOCKPTR && !object;
  } else if (is_builtin(type, "tuple")) {
    fits = v.kind == V_TUPLE && !(object && v.u.tuple->is_aggregate);
  } else if (type.kind == V_CLASS) {
    fits = object && is_subclass(S, *v.u.tuple->cls, type);
  }
  return fits ? v : value_of(V_ABSENT);
}

static bool set_field(Sema *S, Tuple *t, const Param *field, uint32_t i, Value v, Span at) {
  if (v.kind == V_ERROR) return false;
  Value type =
      field->annotation ? eval_in_class(S, *t->cls, field->annotation, true) : value_error();
  t->data[i] = as_field(S, type, v, at);
  if (t->data[i].kind != V_ABSENT) return true;
  Text text = text_new(S->arena);
  ast_print_expr(&text, field->annotation);
  sema_error(S, at, E_SEMA_FIELD_TYPE, field->name, t->cls->u.cls.def->name, text.data,
             value_describe(S->arena, v));
  t->data[i] = value_error();
  return false;
}

void assign_object_field(Sema *S, Value object, Name name, Value v, Span at) {
  Tuple *t = object.u.tuple;
  const char *cls = t->cls->u.cls.def->name;
  Fields fields = {0};
  add_fields(S, &fields, *t->cls, 0);
  for (uint32_t i = 0; i < fields.len; i++) {
    if (fields.data[i].name != name) continue;
    if (t->is_open && t->made_in == S->b.block && t->choice == S->choice) {
      set_field(S, t, &fields.data[i], i, v, at);
    } else {
      sema_error(S, at, E_SEMA_FIELD_FIXED, name, cls);
      sema_hint(S, t->is_open ? H_SEMA_FIELD_BRANCH : H_SEMA_FIELD_FIXED);
    }
    return;
  }
  sema_error(S, at, E_SEMA_FIELD_NONE, cls, name);
}

/* ---- objects ---- */

/* Calls the class's own `__init__`, which assigns all fields. */
static bool run_init(Sema *S, Value object, Value init, const CallArgs *args) {
  Tuple *t = object.u.tuple;
  t->is_open = true;
  t->made_in = S->b.block;
  t->choice = S->choice;
  size_t errors = diag_errors(S->diags);
  Value result = call_value(S, bind_self(S, init, object), args);
  t->is_open = false;
  if (result.kind == V_ERROR || diag_errors(S->diags) > errors) return false;
  for (uint32_t i = 0; i < t->len; i++)
    if (t->data[i].kind == V_ABSENT) {
      sema_error(S, args->at, E_SEMA_FIELD_UNSET, t->cls->u.cls.def->name, t->fields[i]);
      return false;
    }
  return true;
}

static bool fill_fields(Sema *S, Value object, const Fields *f, const CallArgs *args) {
  Tuple *t = object.u.tuple;
  ParamList params = {f->data, (uint32_t)f->len};
  if (!bind_call(S, &params, *t->cls, args, t->data)) return false;
  bool ok = true;
  for (uint32_t i = 0; i < t->len && t->is_aggregate; i++)
    ok &= set_field(S, t, &f->data[i], i, t->data[i], args->at);
  return ok;
}

Value construct(Sema *S, Value cls, const CallArgs *args) {
  const Stmt *def = cls.u.cls.def;
  Fields f = {0};
  add_fields(S, &f, cls, 0);
  bool aggregate = is_aggregate_class(S, cls);
  if (!f.len && !aggregate) {
    sema_error(S, args->at, S->host ? E_SEMA_HOST_EXTERN : E_SEMA_CLASS, def->name);
    return value_error();
  }
  Value v = value_tuple(S->arena, NULL, 0);
  Name *names = ARENA_ARRAY(S->arena, Name, f.len);
  for (uint32_t i = 0; i < f.len; i++) {
    names[i] = f.data[i].name;
    value_append(S->arena, v.u.tuple, value_of(V_ABSENT));
  }
  Value *own = ARENA_NEW(S->arena, Value);
  *own = cls;
  v.u.tuple->fields = names;
  v.u.tuple->cls = own;
  v.u.tuple->is_aggregate = aggregate;
  const Stmt *init = own_member(cls, pool_name(S->names, "__init__"));
  bool custom = aggregate && init && init->kind == ST_FUNC;
  bool ok = custom ? run_init(S, v, member_value(S, cls, init), args) : fill_fields(S, v, &f, args);
  return ok ? v : value_error();
}

bool object_attribute(Sema *S, Value object, Name name, Span at, Value *out) {
  Value owner;
  const Stmt *s = find_member(S, *object.u.tuple->cls, name, 0, &owner);
  if (!s) return false;
  *out = member_value(S, owner, s);
  if (s->kind != ST_FUNC || is_decorated(s->func, "staticmethod")) return true;
  bool of_class = is_decorated(s->func, "classmethod");
  *out = bind_self(S, *out, of_class ? *object.u.tuple->cls : object);
  if (is_decorated(s->func, "property")) *out = call_with(S, *out, NULL, 0, at);
  return true;
}

/* super().NAME, in a method: of the bases of the class that the method is written in. */
bool super_attribute(Sema *S, const Expr *e, Value *out) {
  const Expr *call = e->a;
  const Func *f = S->frame->func;
  bool is_super = call->kind == EX_CALL && call->a->kind == EX_NAME && !call->nargs &&
                  !strcmp(call->a->name, "super");
  if (!is_super || !f || !f->owner || !f->def->params.len) return false;
  const Var *self = frame_var(S->frame, f->def->params.data[0].name);
  const ExprList *bases = &f->owner->u.cls.def->bases;
  for (uint32_t i = 0; i < bases->len && self && is_aggregate(self->value); i++) {
    Value base = base_of(S, *f->owner, i), owner;
    const Stmt *s = base.kind == V_CLASS ? find_member(S, base, e->name, 0, &owner) : NULL;
    if (!s) continue;
    *out = bind_self(S, member_value(S, owner, s), self->value);
    return true;
  }
  return false;
}

/* ---- methods that operators call ---- */

bool is_aggregate(Value v) { return v.kind == V_TUPLE && v.u.tuple->is_aggregate; }

bool call_special(Sema *S, Value object, const char *name, const Value *args, uint32_t n, Span at,
                  Value *out) {
  Value method;
  if (!is_aggregate(object)) return false;
  if (!object_attribute(S, object, pool_name(S->names, name), at, &method)) return false;
  *out = call_with(S, method, args, n, at);
  return true;
}

/* ---- triton.language.aggregate_replace ---- */

Value builtin_aggregate_replace(Sema *S, Call *c) {
  Value object = c->args[0];
  if (!is_aggregate(object))
    return refuse_argument(S, object, "aggregate_replace()", "an aggregate", c->spans[0]);
  const Tuple *t = object.u.tuple;
  Value *values = ARENA_ARRAY(S->arena, Value, t->len);
  for (uint32_t i = 0; i < t->len; i++) values[i] = t->data[i];
  for (uint32_t k = 0; k < c->given->nnamed; k++) {
    uint32_t i = 0;
    while (i < t->len && t->fields[i] != c->given->names[k]) i++;
    if (i == t->len) {
      sema_error(S, c->at, E_SEMA_FIELD_NONE, t->cls->u.cls.def->name, c->given->names[k]);
      return value_error();
    }
    values[i] = c->given->named[k];
  }
  CallArgs args = {.names = (Name *)t->fields, .named = values, .nnamed = t->len, .at = c->at};
  return construct(S, *t->cls, &args);
}

/* aggregate(cls), as a decorator or called: see is_aggregate_class(). */
Value builtin_aggregate(Sema *S, Call *c) {
  (void)S;
  return c->args[0];
}

/* ---- collections.namedtuple("P", "x y"), typing.NamedTuple("P", [("x", int)]) ---- */

static bool add_name(Sema *S, StmtList *body, Value field, Span at) {
  if (field.kind == V_TUPLE && field.u.tuple->len) field = field.u.tuple->data[0];
  if (field.kind != V_STR) return false;
  Expr *target = ARENA_NEW(S->arena, Expr);
  *target = (Expr){.kind = EX_NAME, .span = at, .name = field.u.s};
  Stmt *s = ARENA_NEW(S->arena, Stmt);
  *s = (Stmt){.kind = ST_ANNASSIGN, .span = at};
  s->targets.data = ARENA_ARRAY(S->arena, Expr *, 1);
  s->targets.data[0] = target;
  s->targets.len = 1;
  body->data[body->len++] = s;
  return true;
}

/* "x y" or "x, y" as a list of names. */
static Value split_names(Sema *S, const char *text) {
  Value list = value_list(S->arena, NULL, 0);
  for (const char *p = text; *p;) {
    size_t gap = strspn(p, ", \t\n"), n = strcspn(p + gap, ", \t\n");
    if (n) value_append(S->arena, list.u.tuple, value_str(pool_namen(S->names, p + gap, n)));
    p += gap + n;
  }
  return list;
}

bool named_tuple_class(Sema *S, Name path, const CallArgs *args, Value *out) {
  bool known = !strcmp(path, "collections.namedtuple") || !strcmp(path, "typing.NamedTuple");
  if (!known || args->npos != 2 || args->nnamed || args->pos[0].kind != V_STR) return false;
  Value names = args->pos[1];
  if (names.kind == V_STR) names = split_names(S, names.u.s);
  if (names.kind != V_TUPLE) return false;
  Stmt *def = ARENA_NEW(S->arena, Stmt);
  *def = (Stmt){.kind = ST_CLASS, .span = args->at, .name = args->pos[0].u.s};
  def->body.data = ARENA_ARRAY(S->arena, Stmt *, names.u.tuple->len);
  for (uint32_t i = 0; i < names.u.tuple->len; i++)
    if (!add_name(S, &def->body, names.u.tuple->data[i], args->at)) return false;
  *out = class_value(def, S->frame->module, NULL);
  return true;
}
