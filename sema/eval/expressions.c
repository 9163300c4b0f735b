/* Expressions, of containers too. */
#include <math.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* ---- containers as they are written, comprehensions, and what can be iterated ---- */

bool iterate(Sema *S, Value v, Span at, const Value **items, uint32_t *n) {
  if (v.kind == V_TUPLE && !is_aggregate(v)) {
    *items = v.u.tuple->data;
    *n = v.u.tuple->len;
    return count_items(S, *n, at);
  }
  Value list = value_list(S->arena, NULL, 0);
  BigInt lo, hi, step;
  if (v.kind == V_DICT) {
    for (uint32_t i = 0; i < v.u.dict->len; i++)
      value_append(S->arena, list.u.tuple, v.u.dict->data[2 * i]);
  } else if (v.kind == V_STR) {
    for (const char *s = v.u.s; *s; s++)
      value_append(S->arena, list.u.tuple, value_str(pool_namen(S->names, s, 1)));
  } else if (v.kind == V_RANGE && value_as_int(v.u.range->start, &lo) &&
             value_as_int(v.u.range->stop, &hi) && value_as_int(v.u.range->step, &step) && step) {
    for (BigInt i = lo; step > 0 ? i < hi : i > hi;) {
      if (list.u.tuple->len == TUPLE_MAX) {
        sema_error(S, at, E_SEMA_TUPLE_MAX, TUPLE_MAX);
        return false;
      }
      value_append(S->arena, list.u.tuple, value_int(i));
      if (__builtin_add_overflow(i, step, &i)) break;
    }
  } else {
    if (v.kind != V_ERROR) sema_error(S, at, E_SEMA_NOT_ITERABLE, value_describe(S->arena, v));
    if (value_is_pointer(v)) sema_hint(S, H_SEMA_POINTER_LENGTH);
    else if (value_is_block(v)) sema_hint(S, H_SEMA_TILE_ITEMS);
    else if (value_is_typed(v)) sema_hint(S, H_SEMA_RANGE);
    return false;
  }
  *items = list.u.tuple->data;
  *n = list.u.tuple->len;
  return count_items(S, *n, at);
}

const Value *dict_find(Sema *S, const Dict *d, Value key, Span at) {
  return count_items(S, d->len, at) ? value_dict_get(d, key) : NULL;
}

void dict_put(Sema *S, Dict *d, Value key, Value v, Span at) {
  if (count_items(S, d->len, at)) value_dict_set(S->arena, d, key, v);
}

static Value eval_items(Sema *S, const ExprList *list, bool is_list) {
  Value v = is_list ? value_list(S->arena, NULL, 0) : value_tuple(S->arena, NULL, 0);
  bool bad = false;
  for (uint32_t i = 0; i < list->len; i++) {
    const Expr *e = list->data[i];
    if (e->kind != EX_STARRED) {
      Value item = eval(S, e);
      bad |= item.kind == V_ERROR;
      value_append(S->arena, v.u.tuple, item);
      continue;
    }
    const Value *items;
    uint32_t n;
    if (!iterate(S, eval(S, e->a), e->span, &items, &n)) return value_error();
    for (uint32_t k = 0; k < n; k++) value_append(S->arena, v.u.tuple, items[k]);
  }
  return bad ? value_error() : v;
}

Value as_set(Sema *S, Value list, Span at) {
  if (list.kind != V_TUPLE) return list;
  Dict seen = {0};
  for (uint32_t i = 0; i < list.u.tuple->len; i++)
    dict_put(S, &seen, list.u.tuple->data[i], value_none(), at);
  Value out = value_list(S->arena, NULL, 0);
  for (uint32_t i = 0; i < seen.len; i++) value_append(S->arena, out.u.tuple, seen.data[2 * i]);
  return out;
}

static Value eval_dict(Sema *S, const Expr *e) {
  Dict *d = ARENA_NEW(S->arena, Dict);
  for (uint32_t i = 0; i + 1 < e->items.len; i += 2) {
    Value v = eval(S, e->items.data[i + 1]);
    if (e->items.data[i]) {
      dict_put(S, d, eval(S, e->items.data[i]), v, e->span);
    } else if (v.kind == V_DICT) {
      for (uint32_t k = 0; k < v.u.dict->len; k++)
        dict_put(S, d, v.u.dict->data[2 * k], v.u.dict->data[2 * k + 1], e->span);
    }
    if (v.kind == V_ERROR) return v;
  }
  return (Value){.kind = V_DICT, .u.dict = d};
}

static bool comprehend(Sema *S, const Expr *e, uint32_t level, Value out) {
  if (level == e->nfors) {
    Value item = eval(S, e->a);
    if (item.kind == V_ERROR) return false;
    if (out.kind == V_DICT) dict_put(S, out.u.dict, item, eval(S, e->b), e->span);
    else value_append(S->arena, out.u.tuple, item);
    return true;
  }
  const CompFor *f = &e->fors[level];
  const Value *items;
  uint32_t n;
  if (!iterate(S, eval(S, f->iter), f->iter->span, &items, &n)) return false;
  for (uint32_t i = 0; i < n; i++) {
    bool keep = true;
    assign(S, f->target, items[i], f->target->span);
    for (uint32_t k = 0; k < f->conds.len && keep; k++) {
      Value cond;
      if (eval_condition(S, f->conds.data[k], &cond, &keep)) continue;
      if (cond.kind != V_ERROR)
        sema_error(S, f->conds.data[k]->span, E_SEMA_NOT_CONSTEXPR,
                   "a condition of a comprehension", value_describe(S->arena, cond));
      return false;
    }
    if (keep && !comprehend(S, e, level + 1, out)) return false;
    if (unrolled_too_much(S, e->span)) return false;
  }
  return true;
}

/* a comprehension */
static Value eval_comp(Sema *S, const Expr *e) {
  Value out = value_list(S->arena, NULL, 0);
  if (e->bracket == '{' && e->b) out = (Value){.kind = V_DICT, .u.dict = ARENA_NEW(S->arena, Dict)};
  bool host = S->frame->host; /* its variables are compile-time values */
  S->frame->host = true;
  bool ok = comprehend(S, e, 0, out);
  S->frame->host = host;
  if (!ok) return value_error();
  return e->bracket == '{' ? as_set(S, out, e->span) : out;
}

/* ---- names ---- */

/* Says why the default of a parameter has no value; once. */
static void unknown_default(Sema *S, Frame *f, Var *v) {
  const Param *p = f->func->def->params.data;
  while (p->name != v->name) p++;
  eval_in_module(S, f->module, p->dflt);
  if (is_constexpr_annotation(p->annotation)) sema_hint(S, H_SEMA_MISSING_CONSTEXPR, p->name);
  else sema_hint(S, H_SEMA_MISSING_ARG, p->name, p->name);
  v->state = VAR_SET;
  v->value = value_error();
}

static void unset_variable(Sema *S, Frame *f, Var *v, Span at) {
  switch (v->state) {
    case VAR_DEFAULT: unknown_default(S, f, v); break;
    case VAR_CONFLICT:
      sema_error(S, at, E_SEMA_CONFLICT, v->name, v->types);
      sema_note(S, v->at, N_SEMA_SET_HERE, v->name);
      sema_note(S, v->other, N_SEMA_AND_HERE);
      break;
    case VAR_PARTIAL:
      sema_error(S, at, E_SEMA_PARTIAL, v->name);
      sema_note(S, v->at, N_SEMA_SET_HERE, v->name);
      sema_hint(S, H_SEMA_PARTIAL, v->name);
      break;
    default:
      sema_error(S, at, E_SEMA_LOOP_LOCAL, v->name);
      sema_note(S, v->at, N_SEMA_SET_HERE, v->name);
      sema_hint(S, H_SEMA_LOOP_LOCAL, v->name);
      break;
  }
}

/* The import that gives a name its usual meaning; NULL: it has none. */
static const char *usual_import(Name name) {
  static const struct {
    const char *name, *text;
  } imports[] = {{"tl", "import triton.language as tl"},
                 {"triton", "import triton"},
                 {"libdevice", "from triton.language.extra import libdevice"},
                 {"math", "import math"}};
  for (size_t i = 0; i < sizeof imports / sizeof *imports; i++)
    if (!strcmp(imports[i].name, name)) return imports[i].text;
  return NULL;
}

/* Told at its first use: the others have the same cause. */
static bool is_told_undefined(Sema *S, Name name, Span at) {
  const char *text = arena_printf(S->arena, E_SEMA_UNDEFINED, name);
  for (size_t i = 0; i < diag_count(S->diags); i++) {
    const Diag *d = diag_get(S->diags, i);
    if (d->severity == DIAG_ERROR && d->span.file == at.file && !strcmp(d->text, text)) return true;
  }
  return false;
}

static void undefined_name(Sema *S, Name name, Span at) {
  if (!S->quiet && is_told_undefined(S, name, at)) {
    S->failed = S->muted = true;
    return;
  }
  sema_error(S, at, E_SEMA_UNDEFINED, name);
  if (S->muted || diag_errors(S->diags) > DIAG_LIMIT) return; /* no one will read the hint */
  if (usual_import(name)) {
    sema_hint(S, H_SEMA_IMPORT, usual_import(name));
    return;
  }
  if (is_host_parameter(S->frame->module, name)) {
    sema_hint(S, H_SEMA_GLOBAL, name);
    return;
  }
  Nearest n = language_nearest(S, "triton.language", name);
  if (n.best && !n.distance) {
    sema_hint(S, H_SEMA_LANGUAGE, name);
    return;
  }
  n = (Nearest){0};
  for (size_t i = VAR_FIRST_NAMED; S->frame->func && i < S->frame->vars.len; i++)
    if (S->frame->vars.data[i].name != name && S->frame->vars.data[i].state == VAR_SET)
      nearest_offer(&n, name, S->frame->vars.data[i].name);
  const ModuleInfo *m = S->frame->module;
  for (size_t i = 0; m && i < m->globals.len; i++) nearest_offer(&n, name, m->globals.data[i].name);
  if (n.best) sema_hint(S, H_SEMA_NEAREST, n.best);
}

static Value eval_name(Sema *S, Name name, Span at) {
  Value v;
  /* A module's frame has the variables of its comprehensions alone. */
  for (Frame *f = S->frame; f; f = f->closure) {
    Var *var = frame_var(f, name);
    if (var && var->state == VAR_SET) return var->value;
    if (var && var->state != VAR_UNSET) {
      unset_variable(S, f, var, at);
      return value_error();
    }
  }
  if (S->frame->module && module_get(S, S->frame->module, name, at, &v)) return v;
  if (python_builtin(S, name, &v)) return v;
  undefined_name(S, name, at);
  return value_error();
}

/* ---- compile-time attempts ---- */

Value eval_quietly(Sema *S, const Expr *e) {
  bool failed = S->failed, muted = S->muted;
  S->quiet++;
  S->failed = false;
  Value v = eval(S, e);
  if (S->failed) v = value_error();
  S->quiet--;
  S->failed = failed;
  S->muted = muted;
  return v;
}

bool eval_condition(Sema *S, const Expr *e, Value *cond, bool *truth) {
  *cond = eval(S, e);
  if (cond->kind == V_CONDITION) *cond = *cond->u.condition;
  if (value_is_block(*cond) && !S->elementwise && type_numel(value_type(*cond)) == 1)
    *cond = reshape_value(S, *cond, (Type){0}, e->span); /* a tile of one element is its element */
  if (value_truth(*cond, truth)) return true;
  if (cond->kind != V_TILE && cond->kind != V_ERROR) {
    sema_error(S, e->span, E_SEMA_CONDITION, value_describe(S->arena, *cond));
    *cond = value_error();
  }
  return false;
}

/* ---- operators ---- */

static Value eval_compare(Sema *S, const Expr *e) {
  Value left = eval(S, e->items.data[0]), all = value_of(V_ABSENT);
  for (uint32_t i = 0; i + 1 < e->items.len; i++) {
    Value right = eval(S, e->items.data[i + 1]), one;
    AstOp op = e->ops[i];
    if (left.kind == V_ERROR || right.kind == V_ERROR) return value_error();
    if (op == OP_IS || op == OP_IS_NOT) one = value_bool(value_same(left, right) == (op == OP_IS));
    else one = compare(S, op, left, right, e->span);
    bool truth;
    if (one.kind == V_ERROR || (e->items.len > 2 && value_truth(one, &truth) && !truth)) return one;
    all = all.kind == V_ABSENT || (value_truth(all, &truth) && truth)
              ? one
              : logical(S, true, all, one, e->span);
    left = right;
  }
  return all;
}

/* Compile-time operands decide at once; run-time ones are all evaluated, and joined in pairs. */
static Value eval_bool(Sema *S, const Expr *e) {
  bool is_and = e->kind == EX_AND, truth;
  Value last = value_of(V_ABSENT), result = value_of(V_ABSENT);
  for (uint32_t i = 0; i < e->items.len; i++) {
    last = eval(S, e->items.data[i]);
    if (last.kind == V_ERROR) return last;
    if (value_truth(last, &truth)) {
      if (truth != is_and) return last;
    } else if (last.kind != V_TILE) {
      sema_error(S, e->items.data[i]->span, E_SEMA_CONDITION, value_describe(S->arena, last));
      return value_error();
    } else {
      result = result.kind == V_ABSENT ? last : logical(S, is_and, result, last, e->span);
      if (result.kind == V_ERROR) return result;
    }
  }
  return result.kind == V_ABSENT ? last : result;
}

/* ---- conditional expressions ---- */

static void choice_side(Sema *S, const Expr *e) {
  frame_set_slot(S, VAR_RESULT, eval(S, e), e->span);
}
static void choice_then(Sema *S, void *e) { choice_side(S, ((const Expr *)e)->items.data[0]); }
static void choice_else(Sema *S, void *e) { choice_side(S, ((const Expr *)e)->items.data[2]); }

static Value eval_ifexp(Sema *S, const Expr *e) {
  Value cond;
  bool truth;
  if (eval_condition(S, e->items.data[1], &cond, &truth))
    return eval(S, e->items.data[truth ? 0 : 2]);
  if (cond.kind == V_ERROR) return cond;
  frame_forget(S, VAR_RESULT, VAR_UNSET, e->span);
  branch(S, e->items.data[1]->span, cond, choice_then, choice_else, (void *)e);
  const Var *v = &S->frame->vars.data[VAR_RESULT];
  if (v->state == VAR_SET) return v->value;
  if (v->state == VAR_CONFLICT) sema_error(S, e->span, E_SEMA_IFEXP_TYPES, v->types);
  return value_error();
}

/* ---- strings ---- */

/* A format specification of an f-string: precision and width of numbers, as messages need. */
static void print_formatted(Sema *S, Text *out, Value v, const char *spec, bool repr) {
  enum { SPEC_MAX = 6 }; /* no text of more than 99999 characters */
  double f;
  BigInt i;
  size_t n = strlen(spec);
  char last = n && n <= SPEC_MAX ? spec[n - 1] : 0;
  if (last && strchr("efgEFG", last) && value_as_float(v, &f) &&
      strspn(spec, "0123456789.+- ") == n - 1)
    text_puts(out, arena_printf(S->arena, arena_printf(S->arena, "%%%s", spec), f));
  else if (last && strchr("xXd", last) && value_as_int(v, &i) && i == (long long)i &&
           strspn(spec, "0123456789") == n - 1)
    text_puts(out,
              arena_printf(S->arena, arena_printf(S->arena, "%%%.*sll%c", (int)n - 1, spec, last),
                           (long long)i));
  else value_print(out, v, repr);
}

static Value eval_fstring(Sema *S, const Expr *e) {
  Text t = text_new(S->arena);
  for (uint32_t i = 0; i < e->items.len && t.len <= STR_MAX; i++) {
    const Expr *part = e->items.data[i];
    if (part->kind != EX_FORMAT) {
      text_puts(&t, part->name);
      continue;
    }
    Value v = eval(S, part->a), spec = value_str("");
    if (part->b) spec = eval(S, part->b);
    if (v.kind == V_ERROR || spec.kind != V_STR) return value_error();
    if (v.kind == V_TILE) {
      sema_error(S, part->a->span, E_SEMA_FSTRING, value_describe(S->arena, v));
      sema_hint(S, H_SEMA_FSTRING);
      return value_error();
    }
    print_formatted(S, &t, v, spec.u.s, part->bracket == 'r');
  }
  return text_value(S, &t, e->span);
}

/* ---- subscripts ---- */

static Value eval_slice(Sema *S, const Expr *e) {
  Value *parts = ARENA_ARRAY(S->arena, Value, 3);
  const Expr *from[] = {e->a, e->b, e->c};
  for (int i = 0; i < 3; i++) {
    parts[i] = from[i] ? eval(S, from[i]) : value_none();
    if (parts[i].kind == V_ERROR) return value_error();
  }
  return (Value){.kind = V_SLICE, .u.slice = parts};
}

/* A lambda or a nested def keeps the frame that it was made in. */
static Value eval_lambda(Sema *S, const Expr *e) {
  Func *f = ARENA_NEW(S->arena, Func);
  f->lambda = e;
  f->module = S->frame->module;
  f->closure = S->frame;
  return (Value){.kind = V_FUNC, .u.func = f};
}

static Value eval_walrus(Sema *S, const Expr *e) {
  Value v = decay(S, eval(S, e->a), e->span);
  frame_set(S, e->name, v, e->span);
  return v;
}

static Value eval_int(Sema *S, const Expr *e) {
  if (!e->big) return value_int(e->ival);
  sema_error(S, e->span, E_SEMA_LITERAL_TOO_BIG);
  return value_error();
}

static Value eval_kind(Sema *S, const Expr *e) {
  switch (e->kind) {
    case EX_NAME: return eval_name(S, e->name, e->span);
    case EX_INT: return eval_int(S, e);
    case EX_FLOAT: return value_float(e->fval);
    case EX_STR: return value_str(e->name);
    case EX_FSTR: return eval_fstring(S, e);
    case EX_TRUE: return value_bool(true);
    case EX_FALSE: return value_bool(false);
    case EX_NONE: return value_none();
    case EX_ELLIPSIS: return value_of(V_ELLIPSIS);
    case EX_TUPLE: return eval_items(S, &e->items, false);
    case EX_LIST: return eval_items(S, &e->items, true);
    case EX_SET: return as_set(S, eval_items(S, &e->items, true), e->span);
    case EX_DICT: return eval_dict(S, e);
    case EX_COMP: return eval_comp(S, e);
    case EX_UNARY: return unary(S, e->op, eval(S, e->a), e->span);
    case EX_BINARY: {
      Value a = eval(S, e->a);
      return binary(S, e->op, a, eval(S, e->b), e->span);
    }
    case EX_COMPARE: return eval_compare(S, e);
    case EX_AND:
    case EX_OR: return eval_bool(S, e);
    case EX_IFEXP: return eval_ifexp(S, e);
    case EX_CALL: return eval_call(S, e);
    case EX_ATTR: {
      Value v;
      if (super_attribute(S, e, &v)) return v;
      return get_attribute(S, eval(S, e->a), e->name, e->span);
    }
    case EX_SUBSCRIPT: {
      Value v = eval(S, e->a);
      return v.kind == V_ERROR ? v : eval_subscript(S, v, eval(S, e->b), e->span);
    }
    case EX_SLICE: return eval_slice(S, e);
    case EX_LAMBDA: return eval_lambda(S, e);
    case EX_WALRUS: return eval_walrus(S, e);
    default: break;
  }
  if (S->host) sema_error(S, e->span, E_SEMA_HOST_STATEMENT, e->name ? e->name : "...");
  else sema_error(S, e->span, E_SEMA_NOT_EXPRESSION);
  return value_error();
}

Value eval(Sema *S, const Expr *e) {
  if (S->depth >= EVAL_DEPTH_MAX) {
    if (!S->out_of_depth) sema_error(S, e->span, E_SEMA_DEPTH, EVAL_DEPTH_MAX);
    S->out_of_depth = S->out_of_depth || !S->quiet;
    S->failed = true;
    return value_error();
  }
  if (memory_spent(S, e->span)) return value_error();
  S->depth++;
  Value v = eval_kind(S, e);
  S->depth--;
  return v;
}
