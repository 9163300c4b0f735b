#include "lower/analysis/pointer_bounds.h"

#include <string.h>

#include "lower/analysis/values.h"

enum {
  MOST_ACCESSES = 24, /* different ones through one parameter */
  MOST_TEXT = 6000,   /* characters of an expression */
  MOST_STEPS = 1000,  /* values gone through for one access */
  MOST_WORK = 1 << 22 /* characters written for a kernel */
};

/* A comparison that holds at an access: value, without its shape, against the text's value. */
typedef struct Limit {
  const TileValue *value;
  const char *function; /* "below", "atmost", "above", "atleast" */
  const char *text;
  const struct Limit *next;
} Limit;

typedef struct {
  const TileFunc *f;
  Arena *arena;
  const char *const *names;
  const Limit *limits;
  int steps, work; /* that may be done yet */
} Bounds;

/* ---- values ---- */

/* Two operands of a function or an operator; NULL if one is unknown or the text grows too long. */
static const char *format_pair(Bounds *b, const char *fmt, const char *x, const char *y) {
  if (!x || !y) return NULL;
  size_t length = strlen(x) + strlen(y);
  if (length > MOST_TEXT || b->work < (int)length) return NULL;
  b->work -= (int)length;
  return arena_printf(b->arena, fmt, x, y);
}

static const char *interval_text(Bounds *b, const TileValue *v);
static const char *carried(Bounds *b, const TileValue *param, bool after);

static bool wraps(TileCode c) {
  return c == TILE_ADD || c == TILE_SUB || c == TILE_MUL || c == TILE_NEG;
}

static bool is_limited(const Bounds *b, const TileValue *root) {
  for (const Limit *l = b->limits; l; l = l->next)
    if (l->value == root) return true;
  return false;
}

/* An operand of a sum or a product: what wraps in the middle of these, and comes back, is right in
 * the end, so only the whole is held to its type. */
static const char *term_text(Bounds *b, const TileValue *v, DType type);

static const char *sum_text(Bounds *b, const TileOp *op, DType type) {
  const char *x = term_text(b, op->args[0], type);
  if (op->code == TILE_NEG) return format_pair(b, "(%s - %s)", "0", x);
  const char *y = term_text(b, op->args[1], type);
  if (op->code == TILE_MUL) return format_pair(b, "(%s) * (%s)", x, y);
  return format_pair(b, op->code == TILE_ADD ? "(%s + %s)" : "(%s - (%s))", x, y);
}

static const char *term_text(Bounds *b, const TileValue *v, DType type) {
  const TileValue *root = tile_root_value(v);
  const TileOp *op = root->def;
  bool whole = op && wraps(op->code) && (DType)root->type.dtype == type && !is_limited(b, root);
  if (!whole) return interval_text(b, v);
  return --b->steps < 0 ? NULL : sum_text(b, op, type);
}

static const char *held_to_type(Bounds *b, const char *text, DType type) {
  if (!text || dtype_bits(type) == 64) return text;
  return format_pair(b, dtype_is_signed(type) ? "signed(%s, %s)" : "unsigned(%s, %s)", text,
                     arena_printf(b->arena, "%u", dtype_bits(type)));
}

static const char *binary_text(Bounds *b, const TileOp *op, const char *fmt) {
  return format_pair(b, fmt, interval_text(b, op->args[0]), interval_text(b, op->args[1]));
}

/* x << n and x >> n by constants. */
static const char *shift_text(Bounds *b, const TileOp *op, DType type) {
  int64_t n;
  const TileValue *amount = tile_root_value(op->args[1]);
  if (!tile_const_value(amount, &n) || n < 0 || n >= 62 || n >= dtype_bits(type)) return NULL;
  const char *by = arena_printf(b->arena, "%lld", 1LL << n), *x = interval_text(b, op->args[0]);
  if (op->code == TILE_SHR) return format_pair(b, "(%s) // %s", x, by);
  return held_to_type(b, format_pair(b, "(%s) * %s", x, by), type);
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
  return format_pair(b, "hull(%s, %s)", interval_text(b, op->regions[0]->last->args[i]),
                     interval_text(b, op->regions[1]->last->args[i]));
}

static const char *loop_index_text(Bounds *b, const TileOp *loop) {
  int64_t step;
  const char *lo = interval_text(b, loop->args[0]), *hi = interval_text(b, loop->args[1]);
  if (!tile_const_value(tile_root_value(loop->args[2]), &step))
    return format_pair(b, "hull(%s, %s)", lo, hi);
  return step > 0 ? format_pair(b, "span(%s, %s)", lo, hi)
                  : format_pair(b, "span((%2$s) + 1, (%1$s) + 1)", lo, hi);
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
                 ? held_to_type(b, interval_text(b, op->args[0]), type)
                 : NULL;
    case TILE_SELECT:
      return format_pair(b, "hull(%s, %s)", interval_text(b, op->args[1]),
                         interval_text(b, op->args[2]));
    case TILE_IF: return region_hull(b, op, v->index);
    case TILE_FOR: return carried(b, op->regions[0]->params[v->index + 1], true);
    default: return NULL;
  }
}

static const char *limited_text(Bounds *b, const TileValue *root, const char *text) {
  for (const Limit *l = b->limits; l; l = l->next)
    if (l->value == root)
      text =
          text ? format_pair(b, arena_printf(b->arena, "%s(%%s, %%s)", l->function), text, l->text)
               : NULL;
  return text;
}

/* An integer's interval, whatever its shape. */
static const char *interval_text(Bounds *b, const TileValue *v) {
  v = tile_root_value(v);
  int64_t c;
  if (--b->steps < 0 || !dtype_is_int((DType)v->type.dtype)) return NULL;
  if (tile_const_value(v, &c))
    return arena_printf(b->arena, c < 0 ? "(%lld)" : "%lld", (long long)c);
  return limited_text(b, v, v->def ? computed_text(b, v) : block_param(b, v));
}

/* ---- carried values ---- */

/* How often a loop runs, as an interval that begins at 0. */
static const char *trip_count_text(Bounds *b, const TileOp *loop) {
  int64_t step;
  if (!tile_const_value(tile_root_value(loop->args[2]), &step) || step <= 0) return NULL;
  const char *span = format_pair(b, "((%s) - (%s))", interval_text(b, loop->args[1]),
                                 interval_text(b, loop->args[0]));
  return format_pair(b, "max(0, cdiv(%s, %s))", span,
                     arena_printf(b->arena, "%lld", (long long)step));
}

/* The increment of a carried value: the sum that an iteration adds to `param`, where the loop
 * yields v for it.  NULL if v is computed from `param` by anything but additions. */
static const char *step_of(Bounds *b, const TileValue *v, const TileValue *param) {
  const char *all = "0";
  for (v = tile_root_value(v); all && v != param;) {
    const TileOp *op = v->def;
    if (!op || (op->code != TILE_ADD && op->code != TILE_SUB && op->code != TILE_PTR_ADD))
      return NULL;
    const TileValue *x = op->args[0], *by = op->args[1];
    if (op->code == TILE_ADD && tile_root_value(by) == param) x = op->args[1], by = op->args[0];
    all = format_pair(b, op->code == TILE_SUB ? "(%s - (%s))" : "(%s + %s)", all,
                      interval_text(b, by));
    v = tile_root_value(x);
  }
  return all;
}

/* The sum of the steps of a carried value, in any iteration or after the last one. */
static const char *drift(Bounds *b, const TileValue *param, bool after) {
  const TileOp *loop = param->block->owner;
  const TileValue *end = loop->regions[0]->last->args[param->index - 1];
  const char *step = step_of(b, end, param), *trips = trip_count_text(b, loop);
  if (step && !strcmp(step, "0")) return step;
  return format_pair(b, after ? "repeat(%s, %s)" : "repeat(%s, max(0, %s - 1))", step, trips);
}

static const char *carried(Bounds *b, const TileValue *param, bool after) {
  const TileOp *loop = param->block->owner;
  const char *start = interval_text(b, loop->args[param->index + 2]);
  return held_to_type(b, format_pair(b, "(%s + %s)", start, drift(b, param, after)),
                      (DType)param->type.dtype);
}

/* ---- addresses ---- */

/* An address: its parameter, and the elements between that and it. */
typedef struct {
  const TileValue *base; /* NULL: unknown */
  const char *elements;
} Address;

static Address access_address(Bounds *b, const TileValue *v) {
  const char *elements = "0";
  for (v = tile_root_value(v); --b->steps >= 0 && elements; v = tile_root_value(v)) {
    if (v->def && v->def->code == TILE_PTR_ADD) {
      elements = format_pair(b, "%s + %s", elements, interval_text(b, v->def->args[1]));
      v = v->def->args[0];
      continue;
    }
    const TileOp *loop = v->block ? v->block->owner : NULL;
    bool after = v->def && v->def->code == TILE_FOR;
    const TileValue *param = after ? v->def->regions[0]->params[v->index + 1] : v;
    if (after) loop = v->def;
    if (!v->def && !loop) return (Address){v, elements};
    if (!loop || loop->code != TILE_FOR || !param->index) break;
    elements = format_pair(b, "%s + %s", elements, drift(b, param, after));
    v = loop->args[param->index + 2];
  }
  return (Address){NULL, NULL};
}

/* The offset of a view's elements from its base. */
static const char *view_elements(Bounds *b, const TileOp *op) {
  const Type *tile = op->code == TILE_VIEW_LOAD ? &op->results[0]->type : &op->args[1]->type;
  const char *all = "0";
  for (uint32_t x = 0; x < tile_view_rank(op); x++) {
    const char *at = format_pair(b, "(%s + span(0, %s))", interval_text(b, tile_view_offset(op, x)),
                                 arena_printf(b->arena, "%lld", (long long)tile->shape[x]));
    if (tile_view_checked(op, x))
      at = format_pair(b, "atleast(below(%s, %s), 0)", at, interval_text(b, tile_view_size(op, x)));
    all = format_pair(b, "%s + %s", all,
                      format_pair(b, "%s * (%s)", at, interval_text(b, tile_view_stride(op, x))));
  }
  return all;
}

/* ---- what guards an access ---- */

static void limit_value(Bounds *b, const TileValue *v, const char *function, const char *text) {
  if (!text || tile_const_value(tile_root_value(v), &(int64_t){0})) return;
  Limit *l = ARENA_NEW(b->arena, Limit);
  *l = (Limit){tile_root_value(v), function, text, b->limits};
  b->limits = l;
}

/* a < b or a <= b holds. */
static void limit_order(Bounds *b, const TileValue *x, const TileValue *y, bool equal) {
  const Limit *outer = b->limits;
  b->limits = NULL; /* bounds of the bounds are not needed */
  const char *low = interval_text(b, x), *high = interval_text(b, y);
  b->limits = outer;
  limit_value(b, x, equal ? "atmost" : "below", high);
  limit_value(b, y, equal ? "atleast" : "above", low);
}

static void limit_by(Bounds *b, const TileValue *condition, bool holds) {
  const TileOp *op = tile_root_value(condition)->def;
  if (!op || --b->steps < 0) return;
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
  limits_of(&c->b, op);
  Address a = access_address(&c->b, op->args[0]);
  bool view = op->code == TILE_VIEW_LOAD || op->code == TILE_VIEW_STORE;
  if (view && a.base)
    a.elements = format_pair(&c->b, "%s + %s", a.elements, view_elements(&c->b, op));
  unsigned size = dtype_bytes((DType)op->args[0]->type.elem);
  const char *width = arena_printf(c->b.arena, "%u", size);
  const char *bytes = a.base ? format_pair(&c->b, "(%s) * %s", a.elements, width) : NULL;
  bytes = bytes ? format_pair(&c->b, "%s + span(0, %s)", bytes, width) : NULL;
  extend_footprint(to, bytes);
}

static const char *hull_of(Arena *a, const Footprint *x) {
  if (x->unknown) return NULL;
  size_t length = 0;
  for (int i = 0; i < x->n; i++) length += strlen(x->text[i]);
  if (length > MOST_TEXT) return NULL;
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
