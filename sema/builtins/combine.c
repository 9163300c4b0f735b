/* How reductions and scans combine elements: see combine.h. */
#include "sema/builtins/combine.h"

#include "sema/messages.h"

bool combine_operands(Sema *S, const Call *c, Operands *o) {
  Value one[] = {c->args[0]};
  const Value *items = one;
  o->n = 1;
  o->tuple = c->args[0].kind == V_TUPLE;
  if (o->tuple) {
    items = c->args[0].u.tuple->data;
    o->n = c->args[0].u.tuple->len;
  }
  if (!o->n || o->n > OPERANDS_MAX) {
    sema_error(S, c->spans[0], E_SEMA_TOO_MANY, "operands", OPERANDS_MAX, o->n);
    return false;
  }
  for (uint32_t i = 0; i < o->n; i++) {
    if (!value_is_operand(items[i])) {
      sema_error(S, c->spans[0], E_SEMA_WANTED, c->fn->name, "a tile or a tuple of tiles",
                 value_describe(S->arena, items[i]));
      return false;
    }
    o->v[i] = typed(S, items[i], c->spans[0]);
    if (o->v[i].kind == V_ERROR) return false;
    if (i && !type_same_shape(value_type(o->v[0]), value_type(o->v[i]))) {
      sema_error(S, c->spans[0], E_SEMA_SAME_SHAPE, c->fn->name,
                 type_text(S->arena, value_type(o->v[0])),
                 type_text(S->arena, value_type(o->v[i])));
      return false;
    }
  }
  o->shape = value_type(o->v[0]);
  return true;
}

/* A region that is one op on the two elements is named by it. */
static const char *single_op(const TileBlock *b, const TileValue *result) {
  static const TileCode codes[] = {TILE_ADD,     TILE_MUL, TILE_MIN, TILE_MAX, TILE_MIN_NAN,
                                   TILE_MAX_NAN, TILE_AND, TILE_OR,  TILE_XOR};
  const TileOp *op = b->first;
  if (b->nparams != 2 || !op || op->next || result->def != op || op->nargs != 2) return NULL;
  bool forth = op->args[0] == b->params[0] && op->args[1] == b->params[1];
  bool back = op->args[0] == b->params[1] && op->args[1] == b->params[0];
  for (size_t i = 0; (forth || back) && i < sizeof codes / sizeof *codes; i++)
    if (op->code == codes[i]) return tile_op_name(op->code);
  return NULL;
}

static bool used_below(const TileOp *op) {
  for (const TileOp *user = op->next; user; user = user->next)
    for (uint32_t i = 0; i < user->nargs; i++)
      if (user->args[i] && user->args[i]->def == op) return true;
  return false;
}

/* What the function computes only to ask for its type, perhaps as a tile, is no part of it. */
static void drop_unused(TileBlock *b, TileValue *const *results, uint32_t n) {
  for (TileOp *op = b->last, *before; op; op = before) {
    before = op->prev;
    bool used = (tile_op_flags(op->code) & (TILE_READ | TILE_WRITE)) || op->nregions;
    for (uint32_t i = 0; i < n; i++) used |= results[i]->def == op;
    if (!used && !used_below(op)) tile_remove(op);
  }
}

/* Calls `fn` on scalars in a block of its own.  NULL after an error. */
static TileBlock *combine_block(Sema *S, const Call *c, Value fn, const Operands *o,
                                const char **name) {
  TileBlock *b = tile_block_new(S->fn, NULL);
  Value args[2 * OPERANDS_MAX];
  for (uint32_t i = 0; i < 2 * o->n; i++)
    args[i] =
        value_tile(tile_block_param(S->fn, b, type_element(value_type(o->v[i % o->n])), NULL));
  TileBuilder outer = S->b;
  S->b.block = b;
  S->b.before = NULL;
  Value v = call_with(S, fn, args, 2 * o->n, c->at);
  TileValue *results[OPERANDS_MAX];
  bool ok = v.kind != V_ERROR;
  uint32_t n = v.kind == V_TUPLE ? v.u.tuple->len : 1;
  if (ok && n != o->n) {
    sema_error(S, c->at, E_SEMA_COMBINE_COUNT, n, o->n);
    ok = false;
  }
  for (uint32_t i = 0; i < n && ok; i++) {
    Value item = v.kind == V_TUPLE ? v.u.tuple->data[i] : v;
    Type want = type_element(value_type(o->v[i]));
    if (value_is_number(item)) item = cast_to(S, item, want, false, c->at);
    ok = value_is_typed(item) && type_eq(value_type(item), want);
    if (ok) results[i] = materialize(S, item, c->at);
    else if (item.kind != V_ERROR)
      sema_error(S, c->at, E_SEMA_COMBINE_TYPE, value_describe(S->arena, item),
                 type_text(S->arena, want));
  }
  if (ok) drop_unused(b, results, n);
  *name = ok ? single_op(b, results[0]) : NULL;
  if (ok && !*name) emit(S, TILE_YIELD, results, n, NULL, 0, c->at);
  S->b = outer;
  return ok ? b : NULL;
}

/* Of two (value, index) pairs the one to keep: of equal values the smaller index (left), or the
 * second pair. */
static TileBlock *extreme_block(Sema *S, const Call *c, const Operands *o, const Combine *how) {
  TileBlock *b = tile_block_new(S->fn, NULL);
  Value p[4];
  for (int i = 0; i < 4; i++)
    p[i] = value_tile(tile_block_param(S->fn, b, type_element(value_type(o->v[i % 2])), NULL));
  TileBuilder outer = S->b;
  S->b.block = b;
  S->b.before = NULL;
  Value first = compare(S, how->is_max ? OP_GT : OP_LT, p[0], p[2], c->at);
  if (how->left) {
    Value equal = compare(S, OP_EQ, p[0], p[2], c->at);
    Value tie = logical(S, true, equal, compare(S, OP_LT, p[1], p[3], c->at), c->at);
    first = logical(S, false, first, tie, c->at);
  }
  TileValue *results[2];
  for (int i = 0; i < 2; i++) {
    Value args[] = {first, p[i], p[i + 2]};
    results[i] =
        emit_elementwise(S, TILE_SELECT, args, 3, (DType)value_type(p[i]).dtype, c->at).u.tile;
  }
  emit(S, TILE_YIELD, results, 2, NULL, 0, c->at);
  S->b = outer;
  return b;
}

bool combine_op(Sema *S, const Call *c, TileCode code, const Combine *how, Operands *o, int axis,
                bool reverse, Type result) {
  const char *name = how->name;
  if (!can_emit(S)) return false;
  TileBlock *b = NULL;
  if (how->arg) b = extreme_block(S, c, o, how);
  else if (!name && !(b = combine_block(S, c, how->fn, o, &name))) return false;
  TileValue *args[OPERANDS_MAX];
  Type types[OPERANDS_MAX];
  for (uint32_t i = 0; i < o->n; i++) {
    args[i] = materialize(S, o->v[i], c->at);
    types[i] = type_like(value_type(o->v[i]), result);
  }
  TileOp *op = emit(S, code, args, o->n, types, o->n, c->at);
  tile_set_int(S->fn, op, TA_axis, axis);
  if (code == TILE_SCAN) tile_set_int(S->fn, op, TA_reverse, reverse);
  if (name) {
    tile_set_str(S->fn, op, TA_combine, name);
  } else {
    op->regions = ARENA_ARRAY(S->arena, TileBlock *, 1);
    op->regions[0] = b;
    op->nregions = 1;
    b->owner = op;
  }
  for (uint32_t i = 0; i < o->n; i++) o->v[i] = value_tile(op->results[i]);
  return true;
}

Value combine_results(Sema *S, const Operands *o) {
  return o->tuple ? value_tuple(S->arena, o->v, o->n) : o->v[0];
}
