/* Gluon's layouts of tiles.
 *
 * A layout is a constant of the program (lang/std/layouts.py) and says nothing about what a kernel
 * computes.  A tile value has the one that the program gave it, or that follows from its operands';
 * others have none, which is Gluon's AutoLayout, and go with any.  Operands whose layouts differ
 * are an error, as in Gluon; the tile IR has no layouts, and lower/schedule chooses its own.
 */
#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* ---- the layouts of tile values ---- */

uint16_t given_layout(const Sema *S, const TileValue *v) {
  return v->id < S->layout_numbers.len ? S->layout_numbers.data[v->id] : 0;
}

static void set_number(Sema *S, const TileValue *v, uint16_t number) {
  if (!v->type.rank) return;
  while (S->layout_numbers.len <= v->id) vec_push(S->arena, &S->layout_numbers, 0);
  S->layout_numbers.data[v->id] = number;
}

static bool same_layout(Value a, Value b) {
  bool known;
  if (a.kind != V_TUPLE || b.kind != V_TUPLE || !same_class(a.u.tuple, b.u.tuple)) return false;
  for (uint32_t i = 0; i < a.u.tuple->len; i++) {
    Value x = a.u.tuple->data[i], y = b.u.tuple->data[i];
    bool same = is_aggregate(x) ? same_layout(x, y) : value_equal(x, y, &known) && known;
    if (!same) return false;
  }
  return true;
}

/* Past the last number a tile has none, and goes with any. */
static void set_layout(Sema *S, const TileValue *v, Value layout) {
  size_t i = 0;
  while (i < S->layouts.len && !same_layout(S->layouts.data[i], layout)) i++;
  if (i == UINT16_MAX) return;
  if (i == S->layouts.len) vec_push(S->arena, &S->layouts, layout);
  set_number(S, v, (uint16_t)(i + 1));
}

void given_layout_copy(Sema *S, const TileValue *from, TileValue *to) {
  uint16_t number = given_layout(S, from);
  if (number) set_number(S, to, number);
}

Value gluon_value(Sema *S, const char *name) {
  Value v = value_error();
  Name space = pool_name(S->names, "triton.experimental.gluon.language");
  language_get(S, space, pool_name(S->names, name), &v);
  return v;
}

static bool is_class_of(Sema *S, Value v, const char *name) {
  Value cls = gluon_value(S, name);
  return is_aggregate(v) && cls.kind == V_CLASS && is_subclass(S, *v.u.tuple->cls, cls);
}

bool given_layout_agree(Sema *S, const TileValue *a, const TileValue *b, const char *where,
                        Span at) {
  uint16_t x = given_layout(S, a), y = given_layout(S, b);
  if (!x || !y || x == y) return true;
  sema_error(S, at, E_SEMA_LAYOUTS, where, value_text(S->arena, layout_numbered(S, x)),
             value_text(S->arena, layout_numbered(S, y)));
  sema_hint(S, H_SEMA_LAYOUTS);
  return false;
}

/* ---- from operands to results ---- */

/* Do the results have the elements of the operands, each where it was? */
static bool keeps_axes(TileCode code) {
  switch (code) {
    case TILE_BROADCAST:
    case TILE_SCAN:
    case TILE_LOAD:
    case TILE_STORE:
    case TILE_ATOMIC_RMW:
    case TILE_ATOMIC_CAS:
    case TILE_ASM:
    case TILE_ASM_IMPURE: return true;
    default: return tile_op_flags(code) & TILE_ELEM;
  }
}

void given_layout_flow(Sema *S, TileOp *op, Span at) {
  if (!keeps_axes(op->code)) return;
  const TileValue *first = NULL;
  for (uint32_t i = 0; i < op->nargs; i++) {
    const TileValue *v = op->args[i];
    if (!v || !given_layout(S, v)) continue;
    if (first && !given_layout_agree(S, first, v, tile_op_name(op->code), at)) return;
    if (!first) first = v;
  }
  for (uint32_t i = 0; first && i < op->nresults; i++) given_layout_copy(S, first, op->results[i]);
}

void given_layout_expand(Sema *S, const TileValue *from, TileValue *to, int axis, Span at) {
  if (!given_layout(S, from)) return;
  Value layout = layout_numbered(S, given_layout(S, from));
  if (is_class_of(S, layout, "CoalescedLayout")) {
    given_layout_copy(S, from, to);
    return;
  }
  BigInt dim;
  bool slice = is_class_of(S, layout, "SliceLayout");
  if (!slice || !value_as_int(layout.u.tuple->data[0], &dim) || dim != axis) {
    sema_error(S, at, E_SEMA_LAYOUT_SLICE, axis, value_text(S->arena, layout));
    sema_hint(S, H_SEMA_LAYOUTS);
    return;
  }
  set_layout(S, to, layout.u.tuple->data[1]);
}

void given_layout_reduce(Sema *S, const TileValue *from, TileValue *to, int axis, Span at) {
  uint16_t number = given_layout(S, from);
  if (!number || !to->type.rank) return;
  Value args[] = {value_int(axis), layout_numbered(S, number)};
  Value slice = call_with(S, gluon_value(S, "SliceLayout"), args, 2, at);
  if (slice.kind != V_ERROR) set_layout(S, to, slice);
}

void given_layout_permute(Sema *S, const TileValue *from, TileValue *to, const int64_t *dims,
                          Span at) {
  uint16_t number = given_layout(S, from);
  if (!number) return;
  Value axes = value_list(S->arena, NULL, 0);
  for (int i = 0; i < from->type.rank; i++)
    value_append(S->arena, axes.u.tuple, value_int(dims[i]));
  Value args[] = {layout_numbered(S, number), axes};
  Value made = call_with(S, gluon_value(S, "permuted"), args, 2, at);
  if (made.kind != V_ERROR && !is_class_of(S, made, "AutoLayout")) set_layout(S, to, made);
}

/* ---- layouts that the program gives ---- */

static bool number_of(Sema *S, Value layout, const char *name, Span at, int64_t *out) {
  Value v = get_attribute(S, layout, pool_name(S->names, name), at);
  return v.kind != V_ERROR && want_int(S, v, name, at, out);
}

/* Does it fit the tile's rank and the kernel's warps?  False after an error. */
static bool fits_tile(Sema *S, Value layout, Type t, Span at) {
  int64_t rank, lanes, warps;
  if (!number_of(S, layout, "rank", at, &rank) || !number_of(S, layout, "lanes", at, &lanes) ||
      !number_of(S, layout, "warps", at, &warps))
    return false;
  const char *text = value_text(S->arena, layout);
  int have = S->fn->options.num_warps;
  bool ok = rank < 0 || rank == t.rank, ok_lanes = !lanes || lanes == 32,
       ok_warps = !warps || warps == have, ok_ctas = S->fn->options.num_ctas == 1;
  if (!ok) sema_error(S, at, E_SEMA_LAYOUT_RANK, type_text(S->arena, t), text, (long long)rank);
  else if (!ok_lanes) sema_error(S, at, E_SEMA_LAYOUT_LANES, text, (long long)lanes);
  else if (!ok_ctas) sema_error(S, at, E_SEMA_LAYOUT_CTAS, text, S->fn->options.num_ctas);
  else if (!ok_warps) {
    sema_error(S, at, E_SEMA_LAYOUT_WARPS, text, (long long)warps, have);
    sema_hint(S, H_SEMA_LAYOUT_WARPS, (long long)warps, (long long)warps);
  }
  return ok && ok_lanes && ok_ctas && ok_warps;
}

/* An alias of the value: a parameter of a block that is never part of the function.  The value
 * replaces it at the end. */
static Value alias_of(Sema *S, Value v) {
  TileBlock *nowhere = tile_block_new(S->fn, NULL);
  TileValue *alias = tile_block_param(S->fn, nowhere, v.u.tile->type, v.u.tile->name);
  Replacement r = {alias, v.u.tile};
  vec_push(S->arena, &S->replaced, r);
  return value_tile(alias);
}

/* set_layout, of a tile that was made here, and convert_layout. */
Value builtin_layout(Sema *S, Call *c) {
  Value v, layout = c->args[1];
  if (!tile_arg(S, c, 0, &v)) return value_error();
  bool chosen = layout.kind == V_NONE || is_class_of(S, layout, "AutoLayout");
  if (!chosen && !is_class_of(S, layout, "DistributedLayout")) {
    sema_error(S, c->spans[1], E_SEMA_LAYOUT_KIND, value_text(S->arena, layout));
    return value_error();
  }
  if (!value_is_block(v) || !can_emit(S)) return v;
  if (!chosen && !fits_tile(S, layout, value_type(v), c->at)) return value_error();
  if (c->fn->code) v = alias_of(S, v);
  if (!chosen) set_layout(S, v.u.tile, layout);
  return v;
}
