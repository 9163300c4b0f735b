#include "lower/analysis/pointer_bounds.h"

#include <string.h>

#include "lower/analysis/bounds.h"
#include "lower/analysis/values.h"

enum {
  MOST_ACCESSES = 24, /* different ones through one parameter */
  MOST_STEPS = 1000,  /* values gone through for one access */
  MOST_WORK = 1 << 22 /* characters written for a kernel */
};

static const uint32_t ALL_AXES = 0x87654321;

/* ---- addresses ---- */

/* An address: its parameter, and the elements between that and it. */
typedef struct {
  const TileValue *base; /* NULL: unknown */
  const char *elements;
} Address;

static Address access_address(Bounds *b, const TileValue *v) {
  const char *elements = "0";
  for (v = bounds_root(b, v); --b->steps >= 0 && elements; v = bounds_root(b, v)) {
    if (v->def && v->def->code == TILE_PTR_ADD) {
      elements = bounds_pair(b, "%s + %s", elements, bounds_interval(b, v->def->args[1]));
      v = v->def->args[0];
      continue;
    }
    if (v->def && v->def->code == TILE_RESHAPE) {
      b->axes = BOUNDS_NO_AXES;
      v = v->def->args[0];
      continue;
    }
    const TileOp *loop = v->block ? v->block->owner : NULL;
    bool after = v->def && v->def->code == TILE_FOR;
    const TileValue *param = after ? v->def->regions[0]->params[v->index + 1] : v;
    if (after) loop = v->def;
    if (!v->def && !loop) return (Address){v, elements};
    if (!loop || loop->code != TILE_FOR || !param->index) break;
    elements = bounds_pair(b, "%s + %s", elements, bounds_drift(b, param, after));
    v = loop->args[param->index + 2];
  }
  return (Address){NULL, NULL};
}

/* The offset of a view's elements from its base. */
static const char *view_elements(Bounds *b, const TileOp *op) {
  const Type *tile = op->code == TILE_VIEW_LOAD ? &op->results[0]->type : &op->args[1]->type;
  const char *all = "0";
  for (uint32_t x = 0; x < tile_view_rank(op); x++) {
    const char *at =
        bounds_pair(b, "(%s + span(0, %s))", bounds_interval(b, tile_view_offset(op, x)),
                    arena_printf(b->arena, "%lld", (long long)tile->shape[x]));
    if (tile_view_checked(op, x))
      at = bounds_pair(b, "atleast(below(%s, %s), 0)", at,
                       bounds_interval(b, tile_view_size(op, x)));
    all = bounds_pair(b, "%s + %s", all,
                      bounds_pair(b, "%s * (%s)", at, bounds_interval(b, tile_view_stride(op, x))));
  }
  return all;
}

/* ---- what guards an access ---- */

static const Limit *limit_value(Bounds *b, const TileValue *v, const char *function,
                                const char *text) {
  if (!text || bounds_parameter(v) || tile_const_value(tile_root_value(v), &(int64_t){0}))
    return NULL;
  Limit *l = ARENA_NEW(b->arena, Limit);
  uint32_t axes = b->axes;
  v = bounds_root(b, v);
  *l = (Limit){v, b->axes, function, text, false, b->limits};
  b->limits = l;
  b->axes = axes;
  return l;
}

/* a < b or a <= b holds. */
static void limit_order(Bounds *b, const TileValue *x, const TileValue *y, bool equal) {
  Limit *outer = b->limits;
  b->limits = NULL; /* bounds of the bounds are not needed */
  const char *low = bounds_interval(b, x), *high = bounds_interval(b, y);
  b->limits = outer;
  Order *order = ARENA_NEW(b->arena, Order);
  *order = (Order){.less = x, .more = y, .axes = b->axes, .equal = equal, .next = b->orders};
  order->limits[0] = limit_value(b, x, equal ? "atmost" : "below", high);
  order->limits[1] = limit_value(b, y, equal ? "atleast" : "above", low);
  b->orders = order;
}

static void limit_by_op(Bounds *b, const TileOp *op, bool holds);

static void limit_by(Bounds *b, const TileValue *condition, bool holds) {
  uint32_t axes = b->axes;
  const TileOp *op = bounds_root(b, condition)->def;
  if (op && --b->steps >= 0) limit_by_op(b, op, holds);
  b->axes = axes;
}

static void limit_by_op(Bounds *b, const TileOp *op, bool holds) {
  const TileValue *x = op->nargs > 0 ? op->args[0] : NULL, *y = op->nargs > 1 ? op->args[1] : NULL;
  switch (op->code) {
    case TILE_NOT: limit_by(b, x, !holds); return;
    case TILE_AND:
      if (holds) limit_by(b, x, true), limit_by(b, y, true);
      return;
    case TILE_OR:
      if (!holds) limit_by(b, x, false), limit_by(b, y, false);
      return;
    case TILE_LT:
    case TILE_LE:
    case TILE_GT:
    case TILE_GE: break;
    default: return;
  }
  if (!dtype_is_int((DType)x->type.dtype)) return;
  bool less = op->code == TILE_LT || op->code == TILE_LE;
  bool equal = op->code == TILE_LE || op->code == TILE_GE;
  if (!holds) less = !less, equal = !equal;
  limit_order(b, less ? x : y, less ? y : x, equal);
}

static const TileValue *access_mask(const TileOp *op) {
  switch (op->code) {
    case TILE_LOAD:
    case TILE_VIEW_LOAD: return op->args[1];
    case TILE_STORE:
    case TILE_VIEW_STORE:
    case TILE_ATOMIC_RMW: return op->args[2];
    default: return NULL;
  }
}

static void limits_of(Bounds *b, const TileOp *op) {
  b->limits = NULL;
  b->orders = NULL;
  if (access_mask(op)) limit_by(b, access_mask(op), true);
  for (const TileBlock *in = op->parent; in && in->owner; in = in->owner->parent)
    if (in->owner->code == TILE_IF) limit_by(b, in->owner->args[0], in == in->owner->regions[0]);
}

/* ---- the accesses of a kernel ---- */

/* The accesses through one parameter. */
typedef struct {
  const char *text[MOST_ACCESSES];
  int n;
  bool unknown;
} Footprint;

typedef struct {
  Bounds b;
  Footprint *of; /* by parameter */
} Collection;

static void extend_footprint(Footprint *to, const char *bytes) {
  for (int k = 0; bytes && k < to->n; k++)
    if (!strcmp(to->text[k], bytes)) return;
  if (!bytes || to->n == MOST_ACCESSES) to->unknown = true;
  else to->text[to->n++] = bytes;
}

static Footprint *footprint_of(Collection *c, const TileValue *base) {
  for (uint32_t i = 0; i < c->b.f->nparams; i++)
    if (c->b.f->params[i].value == base) return &c->of[i];
  return NULL;
}

/* The parameter of an address whose distance is unknown: any that it may come from. */
static const TileValue *base_alone(Bounds *b, const TileValue *v) {
  for (v = tile_root_value(v); --b->steps >= 0;) {
    if (v->def && v->def->code == TILE_PTR_ADD) v = tile_root_value(v->def->args[0]);
    else if (!v->def && v->block && v->block->owner && v->block->owner->code == TILE_FOR &&
             v->index)
      v = tile_root_value(v->block->owner->args[v->index + 2]);
    else if (v->def && v->def->code == TILE_FOR) v = tile_root_value(v->def->args[v->index + 3]);
    else return v;
  }
  return NULL;
}

static void note_op_accesses(TileOp *op, void *ctx) {
  Collection *c = ctx;
  bool memory = tile_op_flags(op->code) & (TILE_READ | TILE_WRITE);
  if (!memory || !op->nargs || !op->args[0] || op->args[0]->type.dtype != DT_PTR) return;
  c->b.steps = MOST_STEPS;
  Footprint *to = footprint_of(c, base_alone(&c->b, op->args[0]));
  if (!to || to->unknown) return;
  c->b.steps = MOST_STEPS;
  c->b.axes = ALL_AXES;
  limits_of(&c->b, op);
  c->b.axes = ALL_AXES;
  Address a = access_address(&c->b, op->args[0]);
  c->b.axes = ALL_AXES;
  bool view = op->code == TILE_VIEW_LOAD || op->code == TILE_VIEW_STORE;
  if (view && a.base)
    a.elements = bounds_pair(&c->b, "%s + %s", a.elements, view_elements(&c->b, op));
  const char *sum = view || !a.base || !a.elements ? NULL : bounds_sum(&c->b, op->args[0]);
  if (sum) a.elements = bounds_pair(&c->b, "both(%s, %s)", a.elements, sum);
  unsigned size = dtype_bytes((DType)op->args[0]->type.elem);
  const char *width = arena_printf(c->b.arena, "%u", size);
  const char *bytes = a.base ? bounds_pair(&c->b, "(%s) * %s", a.elements, width) : NULL;
  bytes = bytes ? bounds_pair(&c->b, "%s + span(0, %s)", bytes, width) : NULL;
  extend_footprint(to, bytes);
}

static const char *hull_of(Arena *a, const Footprint *x) {
  if (x->unknown) return NULL;
  size_t length = 0;
  for (int i = 0; i < x->n; i++) length += strlen(x->text[i]);
  if (length > BOUNDS_MOST_TEXT) return NULL;
  Text t = text_new(a);
  if (x->n > 1) text_puts(&t, "hull(");
  for (int i = 0; i < x->n; i++) text_printf(&t, "%s%s", i ? ", " : "", x->text[i]);
  text_puts(&t, x->n > 1 ? ")" : x->n ? "" : "span(0, 0)");
  return t.data;
}

void pointer_bounds(const char **out, const TileFunc *f, const char *const *names, Arena *a) {
  Arena *scratch = arena_child(a);
  Collection c = {.b = {.f = f, .arena = scratch, .names = names, .work = MOST_WORK}};
  c.of = ARENA_ARRAY(scratch, Footprint, f->nparams);
  tile_walk(f->body, note_op_accesses, &c);
  for (uint32_t i = 0; i < f->nparams; i++)
    out[i] = f->params[i].value->type.dtype == DT_PTR ? hull_of(a, &c.of[i]) : NULL;
  arena_free(scratch);
}

/* ---- products ---- */

typedef struct {
  Bounds b;
  const char *turns;
  const TileOp *loop; /* of the product before */
} Turns;

/* A loop in another one begins again while the next tile's operands come, and one of two products
 * multiplies while they come: these need no more. */
static void note_turns(TileOp *op, void *ctx) {
  Turns *t = ctx;
  const TileOp *loop = op->parent ? op->parent->owner : NULL;
  if (op->code != TILE_DOT || !loop || loop->code != TILE_FOR) return;
  t->b.steps = MOST_STEPS;
  bool alone = !loop->parent->owner && loop != t->loop;
  const char *turns = alone ? bounds_trips(&t->b, loop) : NULL;
  t->turns = t->loop ? bounds_pair(&t->b, "hull(%s, %s)", t->turns, turns) : turns;
  t->loop = loop;
}

const char *product_turns(const TileFunc *f, const char *const *names, Arena *a) {
  Turns t = {.b = {.f = f, .arena = a, .names = names, .work = MOST_WORK}};
  tile_walk(f->body, note_turns, &t);
  return t.turns;
}
