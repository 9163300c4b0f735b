/* The strip at hand of what a kernel computes of rows, of pass strip_rows. */
#include <string.h>

#include "lower/tile/strip_copy.h"


Type strip_type(const Strips *s, Type t) {
  for (int a = 0; a < t.rank; a++)
    if (t.shape[a] == s->row) t.shape[a] = (int32_t)s->strip;
  return t;
}

/* The op on other operands, at the builder's place. */
TileOp *strip_copy_op(StripBuilder *x, const TileOp *op, TileValue *const *args,
                      const Type *types) {
  Arena *a = x->s->f->arena;
  x->b.span = op->span;
  TileOp *made = tile_build(&x->b, op->code, args, op->nargs, types, op->nresults);
  made->nattrs = op->nattrs;
  made->attrs = ARENA_ARRAY(a, TileAttr, op->nattrs);
  if (op->nattrs) memcpy(made->attrs, op->attrs, op->nattrs * sizeof *made->attrs);
  for (uint32_t i = 0; i < op->nresults; i++) made->results[i]->name = op->results[i]->name;
  return made;
}

/* Elements from the strip's first one on, or from one before it. */
static TileValue *strip_range(StripBuilder *x, const TileOp *op, TileValue *before) {
  Type t = strip_type(x->s, op->results[0]->type);
  int64_t start = tile_int(op, TA_start, 0);
  TileOp *made = strip_copy_op(x, op, NULL, &t);
  tile_set_int(x->s->f, made, TA_end, start + x->s->strip);
  TileValue *begin = x->first ? x->first : x->part, *sum = made->results[0];
  if (x->first && x->part)
    begin = tile_build1(&x->b, TILE_ADD, begin->type, x->part, x->first, NULL);
  if (begin && before && !before->type.rank)
    begin = tile_build1(&x->b, TILE_SUB, begin->type, begin, before, NULL), before = NULL;
  if (begin) {
    TileValue *all = tile_build1(&x->b, TILE_SPLAT, type_like(begin->type, t), begin, NULL, NULL);
    sum = tile_build1(&x->b, TILE_ADD, t, sum, all, NULL);
  }
  if (!before) return sum;
  TileCode spread = before->type.rank ? TILE_BROADCAST : TILE_SPLAT;
  TileValue *less = tile_build1(&x->b, spread, type_like(before->type, t), before, NULL, NULL);
  return tile_build1(&x->b, TILE_SUB, t, sum, less, NULL);
}

/* The park that has the strip at hand of a load; NULL if none has. */
const StripPark *strip_park_of(const StripBuilder *x, const TileOp *load) {
  for (size_t i = 0; i < x->s->parks.len; i++)
    if (x->s->parks.data[i].load == load && x->from < x->s->parks.data[i].strips)
      return &x->s->parks.data[i];
  return NULL;
}

/* The strip at hand of a load, if registers keep it; else NULL. */
static TileValue *held_strip(const StripBuilder *x, const TileOp *load) {
  for (size_t i = 0; i < x->s->parks.len; i++) {
    const StripPark *park = &x->s->parks.data[i];
    int64_t k = x->from - park->strips;
    if (park->load == load && k >= 0 && k < park->held) return x->held[i][k];
  }
  return NULL;
}

static void set_slot(const StripBuilder *x, const StripPark *park, TileOp *op) {
  tile_set_int(x->s->f, op, TA_slot, park - x->s->parks.data);
  tile_set_int(x->s->f, op, TA_count, park->strips * x->s->strip);
}

static TileValue *first_element(StripBuilder *x) {
  return x->first ? x->first : tile_const_int(&x->b, type_scalar(DT_I32), 0);
}

/* Is the mask true in all columns of the strip at hand? */
static bool is_full(const StripBuilder *x, const TileValue *v) {
  return x->full && v && strip_limit(x->s, v) == x->limit;
}

/* Is the mask false in all columns of the strip at hand? */
static bool is_empty(const StripBuilder *x, const TileValue *v) {
  return x->empty && strip_has_limit(x->s, x->limit, v);
}

/* The parked strip, with what the load has where its mask is false. */
static TileValue *unpark_strip(StripBuilder *x, const StripPark *park) {
  TileValue *const *args = park->load->args;
  Type t = strip_type(x->s, park->load->results[0]->type);
  bool full = is_full(x, args[1]);
  TileValue *mask = full ? NULL : strip_of(x, args[1]);
  TileValue *other = full ? NULL : strip_of(x, args[2]);
  x->b.span = park->load->span;
  TileValue *v = tile_build1(&x->b, TILE_UNPARK, t, first_element(x), NULL, NULL);
  set_slot(x, park, v->def);
  v->name = park->load->results[0]->name;
  if (!mask || !other || strip_is_zero(args[2])) return v; /* parked elements are +0 there */
  return tile_build1(&x->b, TILE_SELECT, t, mask, v, other);
}

TileOp *strip_park(StripBuilder *x, const StripPark *park) {
  TileValue *args[3] = {first_element(x)};
  for (int i = 0; i < 2; i++) args[i + 1] = strip_of(x, park->load->args[i]);
  x->b.span = park->load->span;
  TileOp *op = tile_build(&x->b, TILE_PARK, args, args[2] ? 3 : 2, NULL, 0);
  set_slot(x, park, op);
  return op;
}

/* Notes where the strip at hand of a ragged row is.  The first one may begin before the row. */
void strip_set_place(StripBuilder *x) {
  x->full = x->s->ragged && x->from < x->s->full && !(x->s->shift && !x->from);
  x->empty = x->s->ragged && x->from >= x->s->live;
}

/* Could a thread take several elements at once, but for the mask? */
static bool has_vectors(const StripBuilder *x, const TileValue *pointer) {
  unsigned bytes = dtype_bytes((DType)pointer->type.elem);
  for (int a = 0; a < pointer->type.rank; a++)
    if (pointer->type.shape[a] == x->s->row)
      return axis_vector(x->s->axis, pointer, NULL, a, bytes, x->s->strip) > 1;
  return false;
}

/* An access to a strip that is full needs no mask.  The mask of a ragged row stays where there
 * would be vectors else: these would part the elements among threads so that other accesses would
 * not have neighbours in a warp. */
static bool is_unmasked(const StripBuilder *x, const TileValue *pointer, const TileValue *mask) {
  return is_full(x, mask) && !(x->s->by_elements && has_vectors(x, pointer));
}

/* The value of a load whose mask is false. */
static TileValue *unloaded_strip(StripBuilder *x, const TileOp *load) {
  if (load->args[2]) return strip_of(x, load->args[2]);
  Type t = strip_type(x->s, load->results[0]->type);
  return dtype_is_float((DType)t.dtype) ? tile_const_float(&x->b, t, 0)
                                        : tile_const_int(&x->b, t, 0);
}

/* Strips of an address to which shifted columns are added; NULL: it is no such address. */
static TileValue *shifted_strip(StripBuilder *x, const TileValue *v) {
  Type t = strip_type(x->s, v->type), index = type_like(type_scalar(DT_I32), t);
  const TileOp *columns;
  TileValue *row = strip_row_start(x->s, &x->b, v, t, &columns);
  if (!row) return NULL;
  bool spread = columns->code == TILE_EXPAND_DIMS;
  TileValue *at = strip_range(x, spread ? columns->args[0]->def : columns, NULL);
  if (spread) at = strip_copy_op(x, columns, &at, &index)->results[0];
  return tile_build1(&x->b, TILE_PTR_ADD, t, row, at, NULL);
}

/* The mask of the first strip of columns that are shifted: from the row's begin to its end. */
static TileValue *first_mask(StripBuilder *x, TileValue *v) {
  TileValue *columns = strip_of(x, v->def->args[0]), *limit = strip_of(x, v->def->args[1]);
  Type t = strip_type(x->s, v->type);
  TileValue *begin = tile_const_int(&x->b, columns->type, 0);
  TileValue *inside = tile_build1(&x->b, TILE_GE, t, columns, begin, NULL);
  if (x->s->full) return inside;
  TileValue *before = tile_build1(&x->b, TILE_LT, t, columns, limit, NULL);
  return tile_build1(&x->b, TILE_AND, t, inside, before, NULL);
}

/* Is the op a cast of 16 bits that rounds nowhere? */
static bool is_widening(const TileOp *op) {
  if (op->code != TILE_CAST) return false;
  DType from = (DType)op->args[0]->type.dtype, to = (DType)op->results[0]->type.dtype;
  return dtype_is_float(from) && dtype_bits(from) == 16 && to == DT_F32;
}

/* The op on strips.  A mask that is true, or false, in all columns is none. */
static TileValue *strip_of_op(StripBuilder *x, TileValue *v) {
  const TileOp *op = v->def;
  Type t = strip_type(x->s, v->type);
  TileValue *shifted = shifted_strip(x, v);
  if (shifted) return shifted;
  if (x->s->shift && !x->from && strip_limit(x->s, v) == x->limit) return first_mask(x, v);
  if (op->code == TILE_SELECT && is_empty(x, op->args[0])) return strip_of(x, op->args[2]);
  if (v->type.dtype == DT_I1 && is_empty(x, v)) return tile_const_int(&x->b, t, 0);
  bool picks = op->code == TILE_SELECT && is_full(x, op->args[0]);
  bool unmasked = op->code == TILE_LOAD && is_unmasked(x, op->args[0], op->args[1]);
  if (picks) return strip_of(x, op->args[1]);
  if (is_full(x, v) && !x->s->by_elements) return tile_const_int(&x->b, t, 1);
  for (int i = 0; op->code == TILE_AND && i < 2; i++)
    if (is_full(x, op->args[i])) return strip_of(x, op->args[1 - i]);
  TileValue **args = ARENA_ARRAY(x->s->scratch, TileValue *, op->nargs);
  for (uint32_t i = 0; i < op->nargs && !(unmasked && i); i++) args[i] = strip_of(x, op->args[i]);
  TileOp *made = strip_copy_op(x, op, args, &t);
  if (x->again && is_widening(op)) tile_set_str(x->s->f, made, TA_rounding, "rtz");
  return made->results[0];
}

/* The strip of a row; other values, and none, are what they are. */
TileValue *strip_of(StripBuilder *x, TileValue *v) {
  if (!strip_is_row(x->s, v)) return v;
  if (x->round[v->id] == x->rounds) return x->copy[v->id];
  const TileOp *op = v->def;
  TileValue *made;
  const StripPark *park = op->code == TILE_LOAD ? strip_park_of(x, op) : NULL;
  TileValue *held = op->code == TILE_LOAD ? held_strip(x, op) : NULL;
  if (op->code == TILE_ARANGE) {
    made = strip_range(x, op, x->s->odd);
  } else if (op->code == TILE_LOAD && is_empty(x, op->args[1])) {
    made = unloaded_strip(x, op);
  } else if (held) {
    made = held;
  } else if (park) {
    made = unpark_strip(x, park);
  } else {
    made = strip_of_op(x, v);
  }
  x->round[v->id] = x->rounds;
  return x->copy[v->id] = made;
}

void strip_store(StripBuilder *x, const TileOp *op, int64_t part) {
  if (is_empty(x, op->args[2])) return;
  TileValue **args = ARENA_ARRAY(x->s->scratch, TileValue *, op->nargs);
  bool unmasked = is_unmasked(x, op->args[0], op->args[2]);
  for (uint32_t k = 0; k < op->nargs; k++)
    args[k] = unmasked && k == 2 ? NULL : strip_of(x, op->args[k]);
  TileOp *store = strip_copy_op(x, op, args, NULL);
  if (strip_is_injective(x->s, x->s->axis, op->args[0]))
    tile_set_int(x->s->f, store, TA_part, part);
}

/* ---- accumulators ---- */

/* Combines accumulators with the elements of a strip, as the region combines two elements. */
static void combine_region(StripBuilder *x, const TileOp *reduce, TileValue **acc,
                           TileValue *const *with) {
  const TileBlock *region = reduce->regions[0];
  uint32_t n = reduce->nargs;
  for (uint32_t i = 0; i < n; i++) {
    x->copy[region->params[i]->id] = acc[i];
    x->copy[region->params[n + i]->id] = with[i];
  }
  for (const TileOp *op = region->first; op; op = op->next) {
    TileValue **args = ARENA_ARRAY(x->s->scratch, TileValue *, op->nargs);
    for (uint32_t i = 0; i < op->nargs; i++) {
      args[i] = x->copy[op->args[i]->id];
      if (op->code == TILE_YIELD) acc[i] = args[i];
    }
    if (op->code == TILE_YIELD) return;
    Type t = type_like(op->results[0]->type, acc[0]->type);
    x->copy[op->results[0]->id] = strip_copy_op(x, op, args, &t)->results[0];
  }
}

/* Strips after the row's end add nothing to what the first one of them has added. */
static bool adds_nothing(const StripBuilder *x, TileCode combine, const TileValue *with) {
  if (!x->empty || x->from == x->s->live) return false;
  if (combine == TILE_ADD) return strip_is_zero(with);
  bool extremum = combine == TILE_MAX || combine == TILE_MIN || combine == TILE_MAX_NAN ||
                  combine == TILE_MIN_NAN;
  return extremum && strip_is_constant(with);
}

void strip_combine(StripBuilder *x, const TileOp *reduce, TileValue **acc,
                          TileValue *const *with) {
  Name name = tile_str(reduce, TA_combine, NULL);
  x->b.span = reduce->span;
  if (!name) {
    combine_region(x, reduce, acc, with);
    return;
  }
  TileCode code = tile_op_parse(name, strlen(name));
  if (adds_nothing(x, code, with[0])) return;
  acc[0] = tile_build1(&x->b, code, acc[0]->type, acc[0], with[0], NULL);
}
