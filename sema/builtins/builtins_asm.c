/* inline_asm_elementwise. */
#include <string.h>

#include "lang/asm/asm_call.h"
#include "lang/messages.h"
#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

typedef struct {
  const char *text, *constraints;
  Value *args;
  DTypeValue *dtypes;
  AsmTypes types;
  bool pure, tuple;
} AsmRequest;

static bool want_text(Sema *S, const Call *c, uint32_t i, const char *what, const char **out) {
  Value v = c->args[i];
  if (v.kind == V_ERROR) return false;
  if (v.kind != V_STR) {
    refuse_argument(S, v, what, "a string", c->spans[i]);
    return false;
  }
  *out = v.u.s;
  return true;
}

/* Reads the argument that gives one dtype, or several. */
static bool asm_results(Sema *S, const Call *c, AsmRequest *r) {
  Value given = c->args[3];
  const Value *items = &given;
  uint32_t n = 1;
  r->tuple = given.kind == V_TUPLE;
  if (r->tuple && !iterate(S, given, c->spans[3], &items, &n)) return false;
  DType *t = ARENA_ARRAY(S->arena, DType, n);
  r->dtypes = ARENA_ARRAY(S->arena, DTypeValue, n);
  for (uint32_t i = 0; i < n; i++) {
    if (!want_dtype(S, items[i], c->spans[3], &r->dtypes[i])) return false;
    t[i] = (DType)r->dtypes[i].type.dtype;
    if (t[i] == DT_PTR) t[i] = DT_U64; /* the address, of which emit_asm() makes a pointer */
  }
  if (!n) refuse_argument(S, given, "dtype", "a dtype or several", c->spans[3]);
  r->types.results = t;
  r->types.nresults = n;
  return n > 0;
}

static bool asm_arguments(Sema *S, const Call *c, AsmRequest *r) {
  const Value *items;
  uint32_t n;
  if (!iterate(S, c->args[2], c->spans[2], &items, &n)) return false;
  r->args = ARENA_ARRAY(S->arena, Value, n + 1);
  DType *t = ARENA_ARRAY(S->arena, DType, n);
  for (uint32_t i = 0; i < n; i++) {
    r->args[i] = typed(S, items[i], c->spans[2]);
    if (r->args[i].kind == V_ERROR) return false;
    t[i] = (DType)value_type(r->args[i]).dtype;
  }
  r->types.args = t;
  r->types.nargs = n;
  return true;
}

/* The literal of a number that is known at compile time; NULL if it is not. */
static const char *asm_literal(Sema *S, Value v) {
  BigInt n;
  if (v.kind != V_CONST || !dtype_is_int(v.u.c.dtype) || !value_as_int(v, &n)) return NULL;
  return arena_printf(S->arena, "%lld", (long long)n);
}

/* Arguments that constraints ask to be constants become part of the text. */
static bool fold_constants(Sema *S, const Call *c, AsmRequest *r) {
  uint32_t n = r->types.nargs, kept = 0;
  bool *constant = ARENA_ARRAY(S->arena, bool, n), any = false;
  const char **literals = ARENA_ARRAY(S->arena, const char *, n);
  DType *types = ARENA_ARRAY(S->arena, DType, n);
  asm_find_constants(S->arena, r->constraints, &r->types, constant);
  for (uint32_t i = 0; i < n; i++) {
    any |= constant[i];
    if (constant[i] && !(literals[i] = asm_literal(S, r->args[i]))) {
      sema_error(S, c->spans[2], E_SEMA_NOT_CONSTEXPR, "an argument with constraint n or i",
                 value_describe(S->arena, r->args[i]));
      return false;
    }
  }
  if (!any) return true;
  const char *error = asm_fold_constants(S->arena, r->text, r->constraints, &r->types, literals,
                                         &r->text, &r->constraints);
  if (error) {
    sema_error(S, c->spans[0], E_ASM_RUN, error);
    return false;
  }
  for (uint32_t i = 0; i < n; i++)
    if (!constant[i]) types[kept] = r->types.args[i], r->args[kept++] = r->args[i];
  r->types.args = types;
  r->types.nargs = kept;
  return true;
}

static bool powers_of_two(Type t) {
  for (int i = 0; i < t.rank; i++)
    if (t.shape[i] & (t.shape[i] - 1)) return false;
  return true;
}

static Value emit_asm(Sema *S, const Call *c, const AsmRequest *r) {
  uint32_t n = r->types.nargs, count = r->types.nresults;
  if (n > 1 && !broadcast_all(S, r->args, n, c->at)) return value_error();
  Type shape = n ? value_type(r->args[0]) : type_scalar(DT_I32);
  if (!r->pure && !powers_of_two(shape)) {
    sema_error(S, c->at, E_SEMA_ASM_SHAPE, type_text(S->arena, shape));
    return value_error();
  }
  TileValue **args = ARENA_ARRAY(S->arena, TileValue *, n + 1);
  Type *types = ARENA_ARRAY(S->arena, Type, count);
  if (!can_emit(S)) return value_error();
  for (uint32_t i = 0; i < n; i++) args[i] = materialize(S, r->args[i], c->at);
  for (uint32_t i = 0; i < count; i++)
    types[i] = type_like(type_scalar(r->types.results[i]), shape);
  TileOp *op = emit(S, r->pure ? TILE_ASM : TILE_ASM_IMPURE, args, n, types, count, c->at);
  tile_set_str(S->fn, op, TA_asm, r->text);
  tile_set_str(S->fn, op, TA_constraints, r->constraints);
  if (r->types.pack > 1) tile_set_int(S->fn, op, TA_pack, r->types.pack);
  Value *results = ARENA_ARRAY(S->arena, Value, count);
  for (uint32_t i = 0; i < count; i++) {
    Type t = r->dtypes[i].type;
    results[i] = value_tile(op->results[i]);
    if (t.dtype == DT_PTR) results[i] = cast_to(S, results[i], t, false, c->at);
  }
  return r->tuple ? value_tuple(S->arena, results, count) : results[0];
}

Value builtin_inline_asm(Sema *S, Call *c) {
  AsmRequest r = {0};
  int64_t pack;
  if (!want_text(S, c, 0, "the text of inline assembly", &r.text) ||
      !want_text(S, c, 1, "the constraints of inline assembly", &r.constraints) ||
      !asm_arguments(S, c, &r) || !asm_results(S, c, &r) ||
      !want_bool(S, c->args[4], "is_pure", c->spans[4], &r.pure) ||
      !want_int(S, c->args[5], "pack", c->spans[5], &pack))
    return value_error();
  if (pack < 1 || pack > ASM_MAX_PACK) {
    const char *range = arena_printf(S->arena, "1 to %d", ASM_MAX_PACK);
    sema_error(S, c->spans[5], E_SEMA_WANTED, "pack", range, value_describe(S->arena, c->args[5]));
    return value_error();
  }
  r.types.pack = (uint32_t)pack;
  if (!fold_constants(S, c, &r)) return value_error();
  AsmCall call;
  const char *error = asm_parse(S->arena, r.text, r.constraints, &r.types, &call);
  if (!error) return emit_asm(S, c, &r);
  sema_error(S, c->spans[0], E_ASM_RUN, error);
  return value_error();
}
