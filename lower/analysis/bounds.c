#include "lower/analysis/bounds.h"

#include <string.h>

#include "lower/analysis/values.h"

bool bounds_parameter(const TileValue *v) {
  v = tile_root_value(v);
  return !v->def && v->block && !v->block->owner;
}

/* ---- values ---- */

const char *bounds_pair(Bounds *b, const char *fmt, const char *x, const char *y) {
  if (!x || !y) return NULL;
  size_t length = strlen(x) + strlen(y);
  if (length > BOUNDS_MOST_TEXT || b->work < (int)length) return NULL;
  b->work -= (int)length;
  return arena_printf(b->arena, fmt, x, y);
}

/* The axes of an operand of a result whose axes are `axes`. */
static uint32_t operand_axes(const TileOp *op, uint32_t axes) {
  const Type *type = &op->args[0]->type;
  uint32_t out = 0;
  if (!type->rank || op->code == TILE_CAST || op->code == TILE_HINT) return type->rank ? axes : 0;
  unsigned added = op->code == TILE_EXPAND_DIMS ? (unsigned)tile_int(op, TA_axis, 0) : MAX_RANK;
  for (unsigned i = 0; i < op->results[0]->type.rank; i++) {
    unsigned to = i - (i > added);
    if (op->code == TILE_TRANS) to = (unsigned)tile_attr(op, TA_perm)->list[i];
    if (i != added && type->shape[to] > 1) out |= (axes >> 4 * i & 15) << 4 * to;
  }
  return out;
}

const TileValue *bounds_root(Bounds *b, const TileValue *v) {
  const TileValue *root = tile_root_value(v);
  while (v != root && !(v->def->code == TILE_RESHAPE && v->def->args[0]->type.rank)) {
    b->axes = operand_axes(v->def, b->axes);
    v = v->def->args[0];
  }
  if (!v->type.rank) b->axes = 0;
  return v;
}

static const char *carried(Bounds *b, const TileValue *param, bool after);

static bool wraps(TileCode c) {
  return c == TILE_ADD || c == TILE_SUB || c == TILE_MUL || c == TILE_NEG;
}

static bool is_within(const TileBlock *in, const TileOp *loop) {
  while (in && in->owner != loop) in = in->owner ? in->owner->parent : NULL;
  return in != NULL;
}

/* A comparison tells nothing of what its value was in other iterations than the access's. */
static bool limits(const Bounds *b, const Limit *l, const TileValue *root) {
  const TileBlock *in = root->def ? root->def->parent : root->block;
  return l->value == root && l->axes == b->axes && !(b->earlier && is_within(in, b->earlier));
}

static bool is_limited(const Bounds *b, const TileValue *root) {
  for (const Limit *l = b->limits; l; l = l->next)
    if (limits(b, l, root)) return true;
  return false;
}

/* An operand of a sum or a product: what wraps in the middle of these, and comes back, is right in
 * the end, so only the whole is held to its type. */
static const char *term_text(Bounds *b, const TileValue *v, DType type);

static const char *sum_text(Bounds *b, const TileOp *op, DType type) {
  const char *x = term_text(b, op->args[0], type);
  if (op->code == TILE_NEG) return bounds_pair(b, "(%s - %s)", "0", x);
  const char *y = term_text(b, op->args[1], type);
  if (op->code == TILE_MUL) return bounds_pair(b, "(%s) * (%s)", x, y);
  return bounds_pair(b, op->code == TILE_ADD ? "(%s + %s)" : "(%s - (%s))", x, y);
}

static const char *term_text(Bounds *b, const TileValue *v, DType type) {
  uint32_t axes = b->axes;
  const TileValue *root = bounds_root(b, v);
  const TileOp *op = root->def;
  bool whole = op && wraps(op->code) && (DType)root->type.dtype == type && !is_limited(b, root);
  const char *text = NULL;
  if (!whole) text = bounds_interval(b, root);
  else if (--b->steps >= 0) text = sum_text(b, op, type);
  b->axes = axes;
  return text;
}

static const char *held_to_type(Bounds *b, const char *text, DType type) {
  if (!text || dtype_bits(type) == 64) return text;
  return bounds_pair(b, dtype_is_signed(type) ? "signed(%s, %s)" : "unsigned(%s, %s)", text,
                     arena_printf(b->arena, "%u", dtype_bits(type)));
}

static const char *binary_text(Bounds *b, const TileOp *op, const char *fmt) {
  return bounds_pair(b, fmt, bounds_interval(b, op->args[0]), bounds_interval(b, op->args[1]));
}

/* x << n and x >> n by constants. */
static const char *shift_text(Bounds *b, const TileOp *op, DType type) {
  int64_t n;
  const TileValue *amount = tile_root_value(op->args[1]);
  if (!tile_const_value(amount, &n) || n < 0 || n >= 62 || n >= dtype_bits(type)) return NULL;
  const char *by = arena_printf(b->arena, "%lld", 1LL << n), *x = bounds_interval(b, op->args[0]);
  if (op->code == TILE_SHR) return bounds_pair(b, "(%s) // %s", x, by);
  return held_to_type(b, bounds_pair(b, "(%s) * %s", x, by), type);
}

/* x & mask, of a constant that is not negative. */
static const char *and_text(Bounds *b, const TileOp *op) {
  for (int i = 0; i < 2; i++) {
    int64_t mask;
    if (tile_const_value(tile_root_value(op->args[i]), &mask) && mask >= 0)
      return arena_printf(b->arena, "span(0, %lld)", (long long)mask + 1);
  }
  return NULL;
}

static const char *axis_name(Bounds *b, const TileOp *op, const char *what) {
  return arena_printf(b->arena, "%s.%c", what, "xyz"[tile_int(op, TA_axis, 0) % 3]);
}

static const char *region_hull(Bounds *b, const TileOp *op, uint32_t i) {
  return bounds_pair(b, "hull(%s, %s)", bounds_interval(b, op->regions[0]->last->args[i]),
                     bounds_interval(b, op->regions[1]->last->args[i]));
}

static const char *loop_index_text(Bounds *b, const TileOp *loop) {
  int64_t step;
  const char *lo = bounds_interval(b, loop->args[0]), *hi = bounds_interval(b, loop->args[1]);
  if (!tile_const_value(tile_root_value(loop->args[2]), &step))
    return bounds_pair(b, "hull(%s, %s)", lo, hi);
  return step > 0 ? bounds_pair(b, "span(%s, %s)", lo, hi)
                  : bounds_pair(b, "span((%2$s) + 1, (%1$s) + 1)", lo, hi);
}

static const char *parameter_text(const Bounds *b, const TileValue *v) {
  for (uint32_t i = 0; i < b->f->nparams; i++)
    if (b->f->params[i].value == v) return b->names[i];
  return NULL;
}

static const char *block_param(Bounds *b, const TileValue *v) {
  const TileOp *owner = v->block ? v->block->owner : NULL;
  if (!owner) return parameter_text(b, v);
  if (owner->code != TILE_FOR) return NULL;
  return v->index ? carried(b, v, false) : loop_index_text(b, owner);
}

static const char *computed_text(Bounds *b, const TileValue *v) {
  const TileOp *op = v->def;
  DType type = (DType)v->type.dtype;
  switch (op->code) {
    case TILE_PROGRAM_ID: return axis_name(b, op, "pid");
    case TILE_NUM_PROGRAMS: return axis_name(b, op, "grid");
    case TILE_CLUSTER_RANK: return arena_printf(b->arena, "span(0, %d)", b->f->cluster);
    case TILE_ARANGE:
      return arena_printf(b->arena, "span(%lld, %lld)", (long long)tile_int(op, TA_start, 0),
                          (long long)tile_int(op, TA_end, 0));
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_NEG: return held_to_type(b, sum_text(b, op, type), type);
    case TILE_MIN: return binary_text(b, op, "min(%s, %s)");
    case TILE_MAX: return binary_text(b, op, "max(%s, %s)");
    case TILE_DIV: return binary_text(b, op, "quotient(%s, %s)");
    case TILE_REM: return binary_text(b, op, "remainder(%s, %s)");
    case TILE_SHL:
    case TILE_SHR: return shift_text(b, op, type);
    case TILE_AND: return and_text(b, op);
    case TILE_CAST:
      return dtype_is_int((DType)op->args[0]->type.dtype)
                 ? held_to_type(b, bounds_interval(b, op->args[0]), type)
                 : NULL;
    case TILE_SELECT:
      return bounds_pair(b, "hull(%s, %s)", bounds_interval(b, op->args[1]),
                         bounds_interval(b, op->args[2]));
    case TILE_IF: return region_hull(b, op, v->index);
    case TILE_RESHAPE: b->axes = BOUNDS_NO_AXES; return bounds_interval(b, op->args[0]);
    case TILE_FOR: return carried(b, op->regions[0]->params[v->index + 1], true);
    default: return NULL;
  }
}

static const char *limited_text(Bounds *b, const TileValue *root, const char *text) {
  for (Limit *l = b->limits; l; l = l->next) {
    if (!limits(b, l, root)) continue;
    const char *fmt = arena_printf(b->arena, "%s(%%s, %%s)", l->function);
    text = text ? bounds_pair(b, fmt, text, l->text) : NULL;
    l->used = true;
  }
  return text;
}

const char *bounds_interval(Bounds *b, const TileValue *v) {
  uint32_t axes = b->axes;
  const char *text = NULL;
  int64_t c;
  v = bounds_root(b, v);
  if (--b->steps >= 0 && dtype_is_int((DType)v->type.dtype)) {
    if (tile_const_value(v, &c))
      text = arena_printf(b->arena, c < 0 ? "(%lld)" : "%lld", (long long)c);
    else text = limited_text(b, v, v->def ? computed_text(b, v) : block_param(b, v));
  }
  b->axes = axes;
  return text;
}

/* ---- carried values ---- */

const char *bounds_trips(Bounds *b, const TileOp *loop) {
  const char *span = bounds_pair(b, "((%s) - (%s))", bounds_interval(b, loop->args[1]),
                                 bounds_interval(b, loop->args[0]));
  return bounds_pair(b, "max(0, cdiv(%s, %s))", span, bounds_interval(b, loop->args[2]));
}

/* The increment of a carried value: the sum that an iteration adds to `param`, where the loop
 * yields v for it.  NULL if v is computed from `param` by anything but additions, or from other
 * elements of it. */
static const char *step_of(Bounds *b, const TileValue *v, const TileValue *param) {
  const char *all = "0";
  uint32_t axes = b->axes;
  for (v = bounds_root(b, v); all && v != param;) {
    const TileOp *op = v->def;
    bool adds = op && (op->code == TILE_ADD || op->code == TILE_SUB || op->code == TILE_PTR_ADD);
    const TileValue *x = adds ? op->args[0] : NULL, *by = adds ? op->args[1] : NULL;
    if (adds && op->code == TILE_ADD && tile_root_value(by) == param) x = by, by = op->args[0];
    all = adds ? bounds_pair(b, op->code == TILE_SUB ? "(%s - (%s))" : "(%s + %s)", all,
                             bounds_interval(b, by))
               : NULL;
    if (adds) v = bounds_root(b, x);
  }
  if (b->axes != axes) all = NULL;
  b->axes = axes;
  return all;
}

static const char *step_of_any(Bounds *b, const TileOp *loop, const TileValue *param) {
  const TileOp *outer = b->earlier;
  if (!outer || !is_within(loop->parent, outer)) b->earlier = loop;
  const char *step = step_of(b, loop->regions[0]->last->args[param->index - 1], param);
  b->earlier = outer;
  return step;
}

const char *bounds_drift(Bounds *b, const TileValue *param, bool after) {
  const TileOp *loop = param->block->owner;
  const char *step = step_of_any(b, loop, param), *trips = bounds_trips(b, loop);
  if (step && !strcmp(step, "0")) return step;
  return bounds_pair(b, after ? "repeat(%s, %s)" : "repeat(%s, max(0, %s - 1))", step, trips);
}

static const char *carried(Bounds *b, const TileValue *param, bool after) {
  const TileOp *loop = param->block->owner;
  const char *start = bounds_interval(b, loop->args[param->index + 2]);
  return held_to_type(b, bounds_pair(b, "(%s + %s)", start, bounds_drift(b, param, after)),
                      (DType)param->type.dtype);
}
