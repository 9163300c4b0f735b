/* x.name, of every kind of value. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* ---- tiles ---- */

Value shape_value(Sema *S, Type t) {
  Value items[MAX_RANK];
  for (int i = 0; i < t.rank; i++) items[i] = value_int(t.shape[i]);
  Value v = value_tuple(S->arena, items, t.rank);
  v.u.tuple->is_list = true; /* x.shape[:1] + [2] and (2,) + x.shape are both written */
  return v;
}

static Value bind_self(Sema *S, Value fn, Value self) {
  Value *first = ARENA_NEW(S->arena, Value);
  *first = self;
  if (fn.kind == V_BUILTIN) {
    fn.u.builtin.self = first;
    return fn;
  }
  Func *f = ARENA_NEW(S->arena, Func);
  *f = *fn.u.func;
  f->self = first;
  return (Value){.kind = V_FUNC, .u.func = f};
}

static bool tile_method(Sema *S, Value v, Name name, Value *out) {
  Value fn;
  if (!language_method(S, name, &fn) || (fn.kind != V_BUILTIN && fn.kind != V_FUNC)) return false;
  *out = bind_self(S, fn, v);
  return true;
}

static bool tile_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  Type t = value_type(v);
  if (!strcmp(name, "dtype")) *out = value_dtype(type_element(t));
  else if (!strcmp(name, "type")) *out = value_dtype(t);
  else if (!strcmp(name, "shape")) *out = shape_value(S, t);
  else if (!strcmp(name, "numel")) *out = value_int(type_numel(t));
  else if (!strcmp(name, "value") && v.kind == V_CONST) *out = undecay(v);
  else if (!strcmp(name, "T")) {
    Value trans;
    language_method(S, pool_name(S->names, "trans"), &trans);
    *out = call_with(S, trans, &v, 1, at);
  } else {
    return tile_method(S, v, name, out);
  }
  return true;
}

/* ---- classes and tuples ---- */

static bool is_classmethod(const FuncDef *f) {
  for (uint32_t i = 0; i < f->decorators.len; i++) {
    const Expr *e = f->decorators.data[i];
    if (e->kind == EX_NAME && !strcmp(e->name, "classmethod")) return true;
  }
  return false;
}

static bool class_attribute(Sema *S, Value v, Name name, Value *out) {
  const StmtList *body = &v.u.cls.def->body;
  for (uint32_t i = body->len; i-- > 0;) {
    const Stmt *s = body->data[i];
    if (s->kind == ST_FUNC && s->func->name == name) {
      *out = func_of(S, s->func, v.u.cls.module);
      if (is_classmethod(s->func)) *out = bind_self(S, *out, v);
      return true;
    }
    bool assigns = (s->kind == ST_ASSIGN || (s->kind == ST_ANNASSIGN && s->value)) &&
                   s->targets.data[0]->kind == EX_NAME && s->targets.data[0]->name == name;
    if (assigns) {
      *out = eval_in_module(S, v.u.cls.module, s->value);
      return true;
    }
    if (s->kind == ST_CLASS && s->name == name) {
      *out = (Value){.kind = V_CLASS, .u.cls = {s, v.u.cls.module}};
      return true;
    }
  }
  return false;
}

static bool tuple_attribute(Sema *S, Value v, Name name, Value *out) {
  const Tuple *t = v.u.tuple;
  for (uint32_t i = 0; t->fields && i < t->len; i++)
    if (t->fields[i] == name) {
      *out = t->data[i];
      return true;
    }
  static const char *const methods[] = {"append", "index", "count", "values", "value"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    if (!strcmp(methods[i], name)) {
      *out = i >= 3 ? v : method_value(S, v, name);
      return true;
    }
  return false;
}

static bool block_attribute(Sema *S, Value v, Name name, Value *out) {
  if (v.u.block->descriptor) return descriptor_attribute(S, v, name, out);
  Type t = v.u.block->type;
  if (!strcmp(name, "dtype") || !strcmp(name, "type")) *out = value_dtype(type_ptr((DType)t.dtype));
  else if (!strcmp(name, "block_shape") || !strcmp(name, "shape")) *out = shape_value(S, t);
  else return tile_method(S, v, name, out);
  return true;
}

/* ---- anything ---- */

static bool text_or_dict_method(Value v, Name name) {
  static const char *const str[] = {"startswith", "endswith", "lower",  "upper", "strip",
                                    "split",      "replace",  "format", "join"};
  static const char *const dict[] = {"get", "keys", "values", "items", "pop", "update"};
  for (size_t i = 0; v.kind == V_STR && i < sizeof str / sizeof *str; i++)
    if (!strcmp(str[i], name)) return true;
  for (size_t i = 0; v.kind == V_DICT && i < sizeof dict / sizeof *dict; i++)
    if (!strcmp(dict[i], name)) return true;
  return v.kind == V_INT && !strcmp(name, "bit_length");
}

static bool is_constexpr_kind(Value v) {
  return value_is_number(v) || v.kind == V_STR || v.kind == V_NONE || v.kind == V_FUNC;
}

static bool number_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  if (!strcmp(name, "dtype") || !strcmp(name, "type") || !strcmp(name, "shape") ||
      (S->frame->is_std && strcmp(name, "value")) || !strcmp(name, "to"))
    return tile_attribute(S, typed(S, v, at), name, at, out);
  return false;
}

bool find_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  if (is_constexpr_kind(v) && (!strcmp(name, "value") || !strcmp(name, "fn"))) {
    *out = v;
    return true;
  }
  if (text_or_dict_method(v, name) || (S->host && host_method_known(S, v, name))) {
    *out = method_value(S, v, name);
    return true;
  }
  switch (v.kind) {
    case V_TILE:
    case V_CONST: return tile_attribute(S, v, name, at, out);
    case V_INT:
    case V_BOOL:
    case V_FLOAT: return number_attribute(S, v, name, at, out);
    case V_DTYPE: return dtype_attribute(S, v, name, out);
    case V_BLOCKPTR: return block_attribute(S, v, name, out);
    case V_TUPLE: return tuple_attribute(S, v, name, out);
    case V_SPACE: return language_get(S, v.u.s, name, out);
    case V_CLASS: return class_attribute(S, v, name, out);
    case V_EXTERN: *out = extern_attribute(S, v.u.s, name); return true;
    case V_MODULE: {
      if (module_get(S, v.u.module, name, at, out)) return true;
      ModuleInfo *sub = v.u.module->is_package ? program_import(S->p, v.u.module, 1, name) : NULL;
      if (sub) *out = (Value){.kind = V_MODULE, .u.module = sub};
      return sub != NULL;
    }
    default: return false;
  }
}

/* Attributes of a pointer where the host passes a tensor descriptor. */
static bool descriptor_method(Value v, Name name) {
  if (v.kind != V_TILE) return false;
  return !strcmp(name, "load") || !strcmp(name, "store") || !strcmp(name, "scatter");
}

static void no_attribute(Sema *S, Value v, Name name, Span at) {
  static const char *const casts[] = {"astype", "type", "float", "half", "bfloat16",
                                      "double", "int",  "long",  "bool", NULL};
  sema_error(S, at, E_SEMA_NO_ATTRIBUTE, value_describe(S->arena, v), name);
  for (const char *const *c = casts; v.kind == V_TILE && *c; c++)
    if (!strcmp(*c, name)) sema_hint(S, H_SEMA_TO);
}

Value get_attribute(Sema *S, Value v, Name name, Span at) {
  Value out;
  if (v.kind == V_ERROR || find_attribute(S, v, name, at, &out)) return v.kind == V_ERROR ? v : out;
  if (descriptor_method(v, name))
    sema_error(S, at, E_SEMA_UNSUPPORTED,
               arena_printf(S->arena, "the method %s of tensor descriptors from the host", name));
  else if (v.kind == V_SPACE) language_unknown(S, v.u.s, name, at);
  else if (v.kind == V_MODULE)
    sema_error(S, at, E_SEMA_NO_ATTRIBUTE, arena_printf(S->arena, "module %s", v.u.module->path),
               name);
  else no_attribute(S, v, name, at);
  return value_error();
}
