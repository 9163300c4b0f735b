/* Hints, checks, iterators, types, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* ---- hints ---- */

Value builtin_hint(Sema *S, Call *c) {
  Value v;
  int64_t values[MAX_RANK];
  uint32_t n;
  if (!tile_arg(S, c, 0, &v) ||
      !want_ints(S, c->args[1], c->fn->name, c->spans[1], values, MAX_RANK, &n))
    return value_error();
  Type t = value_type(v);
  uint32_t want = t.rank ? t.rank : 1;
  if (n != want) {
    sema_error(S, c->at, E_SEMA_HINT, c->fn->name, n, type_text(S->arena, t), want);
    return value_error();
  }
  for (uint32_t i = 0; i < n; i++)
    if (values[i] < 1) {
      sema_error(S, c->spans[1], E_SEMA_HINT_VALUE, c->fn->name, (long long)values[i]);
      return value_error();
    }
  if (v.kind == V_CONST || (!dtype_is_int((DType)t.dtype) && t.dtype != DT_PTR)) return v;
  v = emit1(S, TILE_HINT, t, v.u.tile, NULL, NULL, c->at);
  if (v.kind != V_TILE) return v;
  tile_set_ints(S->fn, v.u.tile->def, (TileAttrKey)c->fn->code, values, n);
  return v;
}

Value builtin_assume(Sema *S, Call *c) {
  bool truth;
  if (value_truth(c->args[0], &truth)) return value_none();
  Value cond = as_condition(S, c->args[0], c->at);
  if (cond.kind == V_ERROR || !can_emit(S)) return value_error();
  if (value_type(cond).rank) {
    sema_error(S, c->at, E_SEMA_SCALAR, "assume", type_text(S->arena, value_type(cond)));
    return value_error();
  }
  emit(S, TILE_ASSUME, &cond.u.tile, 1, NULL, 0, c->at);
  return value_none();
}

/* ---- checks ---- */

Value builtin_static_assert(Sema *S, Call *c) {
  bool truth;
  if (!value_truth(c->args[0], &truth)) {
    if (c->args[0].kind != V_ERROR)
      sema_error(S, c->spans[0], E_SEMA_NOT_CONSTEXPR, "the condition of static_assert",
                 value_describe(S->arena, c->args[0]));
    return value_error();
  }
  if (truth) return value_none();
  const char *text = value_text(S->arena, c->args[1]);
  sema_error(S, c->at, E_SEMA_STATIC_ASSERT, *text ? ": " : "", text);
  return value_error();
}

bool assert_condition(Sema *S, Value cond, Value mask, const char *message, Span at) {
  Value both[2] = {cond, mask};
  if (cond.kind == V_ERROR || mask.kind == V_ERROR || !can_emit(S)) return false;
  if (S->choice) both[1] = choice_mask(S, mask, at);
  bool masked = both[1].kind != V_ABSENT;
  if (masked && (both[1].kind == V_ERROR || !broadcast_all(S, both, 2, at))) return false;
  TileValue *args[2] = {materialize(S, both[0], at)};
  if (masked) args[1] = materialize(S, both[1], at);
  TileOp *op = emit(S, TILE_ASSERT, args, 2, NULL, 0, at);
  if (*message) tile_set_str(S->fn, op, TA_message, message);
  return true;
}

Value builtin_device_assert(Sema *S, Call *c) {
  Value mask = value_of(V_ABSENT);
  bool truth;
  if (value_truth(c->args[0], &truth) && truth) return value_none();
  Value cond = as_condition(S, c->args[0], c->spans[0]);
  if (cond.kind == V_ERROR) return value_error();
  if (c->args[2].kind != V_NONE) {
    if (!tile_arg(S, c, 2, &mask)) return value_error();
    mask = as_condition(S, mask, c->spans[2]);
  }
  const char *message = c->args[1].kind == V_STR ? c->args[1].u.s : "";
  return assert_condition(S, cond, mask, message, c->at) ? value_none() : value_error();
}

/* ---- iterators ---- */

static bool range_bound(Sema *S, const Call *c, uint32_t i, bool is_static) {
  Value v = c->args[i];
  BigInt n;
  if (v.kind == V_ERROR) return false;
  if (value_as_int(v, &n) || (!is_static && v.kind == V_TILE)) return true;
  if (is_static && v.kind == V_TILE)
    sema_error(S, c->spans[i], E_SEMA_NOT_CONSTEXPR, "a bound of static_range",
               value_describe(S->arena, v));
  else
    sema_error(S, c->spans[i], E_SEMA_WANTED, c->fn->name, "an integer",
               value_describe(S->arena, v));
  return false;
}

Value builtin_range(Sema *S, Call *c) {
  Range *r = ARENA_NEW(S->arena, Range);
  r->is_static = c->fn->code == 1;
  bool one = c->args[1].kind == V_NONE;
  for (uint32_t i = 0; i < 3; i++)
    if (c->args[i].kind != V_NONE && !range_bound(S, c, i, r->is_static)) return value_error();
  r->start = one ? value_int(0) : c->args[0];
  r->stop = one ? c->args[0] : c->args[1];
  r->step = c->args[2].kind == V_NONE ? value_int(1) : c->args[2];
  BigInt step;
  if (value_as_int(r->step, &step) && step == 0) {
    sema_error(S, c->spans[2], E_SEMA_RANGE_STEP);
    return value_error();
  }
  r->num_stages = r->unroll = -1;
  if (!r->is_static) {
    int64_t *numbers[] = {&r->num_stages, &r->unroll};
    for (uint32_t i = 0; i < 2; i++)
      if (c->args[3 + i].kind != V_NONE &&
          !want_int(S, c->args[3 + i], i ? "loop_unroll_factor" : "num_stages", c->spans[3 + i],
                    numbers[i]))
        return value_error();
    bool *flags[] = {&r->disallow_acc_multi_buffer, &r->flatten, &r->warp_specialize,
                     &r->disable_licm};
    for (uint32_t i = 0; i < 4; i++)
      if (!want_bool(S, c->args[5 + i], "an option of range", c->spans[5 + i], flags[i]))
        return value_error();
  }
  return (Value){.kind = V_RANGE, .u.range = r};
}

Value builtin_condition(Sema *S, Call *c) {
  Value *v = ARENA_NEW(S->arena, Value);
  *v = c->args[0];
  return (Value){.kind = V_CONDITION, .u.condition = v};
}

/* ---- types ---- */

Value builtin_constexpr(Sema *S, Call *c) {
  if (c->args[0].kind == V_TILE) {
    sema_error(S, c->spans[0], E_SEMA_NOT_CONSTEXPR, "the value of tl.constexpr",
               value_describe(S->arena, c->args[0]));
    return value_error();
  }
  return undecay(c->args[0]);
}

Value builtin_pointer_type(Sema *S, Call *c) {
  DTypeValue d;
  bool is_const;
  if (!want_dtype(S, c->args[0], c->spans[0], &d) ||
      !want_bool(S, c->args[2], "const", c->spans[2], &is_const))
    return value_error();
  Value v = value_dtype(type_ptr((DType)d.type.dtype));
  v.u.dtype.is_const = is_const;
  return v;
}

Value builtin_block_type(Sema *S, Call *c) {
  DTypeValue d;
  Type shape;
  if (!want_dtype(S, c->args[0], c->spans[0], &d) ||
      !want_shape(S, c->args[1], c->spans[1], &shape))
    return value_error();
  return value_dtype(type_like(d.type, shape));
}

Value builtin_constexpr_type(Sema *S, Call *c) {
  return constexpr_type(S, undecay(c->args[0]), c->at);
}

Value builtin_dtype(Sema *S, Call *c) {
  DTypeValue d;
  return want_dtype(S, c->args[0], c->spans[0], &d) ? value_dtype(d.type) : value_error();
}

Value builtin_int_dtype(Sema *S, Call *c) {
  int64_t bits;
  bool is_signed;
  if (!want_int(S, c->args[0], "bitwidth", c->spans[0], &bits) ||
      !want_bool(S, c->args[1], "signed", c->spans[1], &is_signed))
    return value_error();
  DType t = bits > 0 && bits <= 64 ? dtype_int((unsigned)bits, is_signed) : DT_NONE;
  if (t != DT_NONE) return value_dtype(type_scalar(t));
  sema_error(S, c->at, E_SEMA_INT_DTYPE, (long long)bits);
  return value_error();
}

Value builtin_log2(Sema *S, Call *c) {
  int64_t n;
  if (!want_int(S, c->args[0], "the operand", c->spans[0], &n)) return value_error();
  if (c->fn->code) return value_bool(n > 0 && !(n & (n - 1)));
  int64_t log = 0;
  for (; n > 1; n >>= 1) log++;
  return value_int(log);
}

/* tl.tensor and tl.const are names in annotations and isinstance(), not functions. */
Value builtin_type_name(Sema *S, Call *c) {
  sema_error(S, c->at, E_SEMA_NOT_CALLABLE, arena_printf(S->arena, "the type tl.%s", c->fn->name));
  return value_error();
}

Value builtin_tuple(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[0], c->spans[0], &items, &n)) return value_error();
  return c->fn->code ? value_list(S->arena, items, n) : value_tuple(S->arena, items, n);
}

/* ---- decorators ---- */

/* jit(f), jit(...)(f), constexpr_function(f). */
Value builtin_jit(Sema *S, Call *c) {
  if (c->args[0].kind == V_NONE) return (Value){.kind = V_BUILTIN, .u.builtin = {c->fn, NULL}};
  if (c->args[0].kind != V_FUNC) return c->args[0];
  Func *f = ARENA_NEW(S->arena, Func);
  *f = *c->args[0].u.func;
  f->jit = c->fn->code == 0;
  return (Value){.kind = V_FUNC, .u.func = f};
}

/* autotune(...)(f) and heuristics(...)(f) are f; autotune(...) keeps what it is given, for who
 * evaluates decorators: its positional arguments and a dict of the named ones. */
Value builtin_decorator(Sema *S, Call *c) {
  const Tuple *t = c->rest.u.tuple;
  if (t->len && t->data[t->len - 1].kind == V_FUNC) return t->data[t->len - 1];
  Dict *named = ARENA_NEW(S->arena, Dict);
  for (uint32_t i = 0; i < c->given->nnamed; i++)
    value_dict_set(S->arena, named, value_str(c->given->names[i]), c->given->named[i]);
  Value parts[] = {c->rest, {.kind = V_DICT, .u.dict = named}};
  Value *self = ARENA_NEW(S->arena, Value);
  *self = value_tuple(S->arena, parts, 2);
  return (Value){.kind = V_BUILTIN, .u.builtin = {c->fn, self}};
}

Value builtin_next_power_of_2(Sema *S, Call *c) {
  int64_t n, p = 1;
  if (!want_int(S, c->args[0], "the operand", c->spans[0], &n)) return value_error();
  while (p < n && p < (INT64_C(1) << 62)) p *= 2;
  return value_int(p);
}

Value builtin_cdiv(Sema *S, Call *c) {
  Value one = value_int(1), b = c->args[1];
  return binary(S, OP_FLOORDIV,
                binary(S, OP_ADD, c->args[0], binary(S, OP_SUB, b, one, c->at), c->at), b, c->at);
}

/* ---- the machine, and grids that depend on one another ---- */

Value builtin_special(Sema *S, Call *c) {
  Value v =
      emit1(S, TILE_SPECIAL, type_scalar(c->fn->code ? DT_I32 : DT_I64), NULL, NULL, NULL, c->at);
  if (v.kind == V_TILE) tile_set_str(S->fn, v.u.tile->def, TA_kind, c->fn->name);
  return v;
}

Value builtin_grid_dependency(Sema *S, Call *c) {
  if (!can_emit(S)) return value_error();
  TileOp *op = emit(S, TILE_GRID_DEPENDENCY, NULL, 0, NULL, 0, c->at);
  tile_set_str(S->fn, op, TA_kind, c->fn->code ? "launch" : "wait");
  return value_none();
}

Value builtin_num_warps(Sema *S, Call *c) {
  if (!can_emit(S)) return value_error();
  return value_int((int64_t)S->fn->options.num_warps * c->fn->code);
}

Value builtin_num_ctas(Sema *S, Call *c) {
  (void)c;
  return can_emit(S) ? value_int(S->fn->options.num_ctas) : value_error();
}

/* ---- the target, by its name ---- */

static long target_capability(const Sema *S) {
  const char *t = S->fn ? S->fn->options.target : NULL;
  return t && !strncmp(t, "sm_", 3) ? strtol(t + 3, NULL, 10) : 0;
}

Value builtin_is_target(Sema *S, Call *c) {
  return value_bool(c->fn->code && target_capability(S) > 0);
}

/* None where Triton has no GPU either. */
Value builtin_current_target(Sema *S, Call *c) {
  (void)c;
  long capability = target_capability(S);
  if (!capability) return value_none();
  Name *fields = ARENA_ARRAY(S->arena, Name, 3);
  fields[0] = pool_name(S->names, "backend");
  fields[1] = pool_name(S->names, "arch");
  fields[2] = pool_name(S->names, "warp_size");
  Value values[] = {value_str(pool_name(S->names, "cuda")), value_int(capability), value_int(32)};
  Value out = value_tuple(S->arena, values, 3);
  out.u.tuple->fields = fields;
  return out;
}

Value builtin_capability(Sema *S, Call *c) {
  int64_t major, minor;
  if (!want_int(S, c->args[0], "major", c->spans[0], &major) ||
      !want_int(S, c->args[1], "minor", c->spans[1], &minor))
    return value_error();
  return value_bool(target_capability(S) >= major * 10 + minor);
}
