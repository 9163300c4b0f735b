/* Ops that combine elements: reduce, scan, histogram.
 *
 * Both reduce and scan are trees over neighbours, so that operands keep their order and a sum of
 * many f16 does not stop growing, as it would one by one.
 *   reduce: (x0 x1) (x2 x3) x4, then the same on the results until one is left
 *   scan:   at step d = 1, 2, 4, ... each place k with bit d set takes in the result of the last
 *           place before its block of d (Sklansky's network) */
#include <string.h>

#include "lang/interp/interp_run.h"

/* The extent of an axis, and the products of the extents outside and inside of it. */
typedef struct {
  uint32_t outer, length, inner;
} Axis;

static Axis reduced_axis(const Inst *in) {
  Type t = in->op->args[0]->type;
  int axis = (int)tile_int(in->op, TA_axis, 0);
  Axis a = {1, 1, 1};
  for (int i = 0; i < t.rank; i++)
    *(i < axis ? &a.outer : i == axis ? &a.length : &a.inner) *= (uint32_t)t.shape[i];
  return a;
}

/* The elements of v at `count` places along the axis. */
static Val take_along_axis(Prog *p, const Val *v, Axis a, const uint32_t *place, uint32_t count) {
  Val r = interp_new(p->run, a.outer * count * a.inner);
  if (v->flags) interp_flags(p->run, &r);
  interp_blame(&r, v);
  uint32_t to = 0;
  for (uint32_t o = 0; o < a.outer; o++)
    for (uint32_t k = 0; k < count; k++) {
      uint32_t from = (o * a.length + place[k]) * a.inner;
      for (uint32_t i = 0; i < a.inner; i++, to++) {
        r.x[to] = v->x[from + i];
        if (v->flags) r.flags[to] = v->flags[from + i];
      }
    }
  return r;
}

/* The reverse: `from` goes to those places of v. */
static void give(Prog *p, Val *v, Axis a, const uint32_t *place, uint32_t count, const Val *from) {
  if (from->flags) interp_flags(p->run, v);
  interp_blame(v, from);
  uint32_t at = 0;
  for (uint32_t o = 0; o < a.outer; o++)
    for (uint32_t k = 0; k < count; k++) {
      uint32_t to = (o * a.length + place[k]) * a.inner;
      for (uint32_t i = 0; i < a.inner; i++, at++) {
        v->x[to + i] = from->x[at];
        if (v->flags) v->flags[to + i] = interp_flag(from, at);
      }
    }
}

/* Combines by a named op: `combine "add"` is short for a region of that op. */
static void combine_named(Prog *p, const Inst *in, const Val *ins, Val *out, uint32_t lanes) {
  Name name = tile_str(in->op, TA_combine, "add");
  TileCode code = TILE_OP_COUNT;
  for (TileCode c = TILE_ADD; c < TILE_OP_COUNT && code == TILE_OP_COUNT; c++)
    if (!strcmp(tile_op_name(c), name)) code = c;
  BUG_IF(code == TILE_OP_COUNT, "combine by `%s`", name);
  DType t = (DType)in->op->args[0]->type.dtype;
  *out = interp_new(p->run, lanes);
  scalar_ops(code, t, t, false, lanes, out->x, ins[0].x, ins[1].x, NULL);
  for (uint32_t k = 0; k < 2; k++) {
    interp_blame(out, &ins[k]);
    for (uint32_t i = 0; ins[k].flags && i < lanes; i++)
      interp_flags(p->run, out)[i] |= ins[k].flags[i] & FLAG_UNDEF;
  }
}

static void combine_lanes(Prog *p, const Inst *in, const Val *ins, Val *outs, uint32_t lanes) {
  if (in->op->nregions) interp_region(p, in, ins, outs, lanes);
  else combine_named(p, in, ins, outs, lanes);
}

/* A pair of lists of places: out[i] = combine(left[i], right[i]). */
typedef struct {
  uint32_t *left, *right, count;
} Pairs;

/* Combines the values at the pairs' places; `outs` are fresh. */
static void combine_pairs(Prog *p, const Inst *in, const Val *vals, Axis a, const Pairs *pairs,
                          Val *outs) {
  uint32_t n = in->op->nargs;
  Val *ins = interp_alloc(p->run, 2 * n * sizeof *ins);
  for (uint32_t k = 0; k < n; k++) {
    ins[k] = take_along_axis(p, &vals[k], a, pairs->left, pairs->count);
    ins[n + k] = take_along_axis(p, &vals[k], a, pairs->right, pairs->count);
  }
  combine_lanes(p, in, ins, outs, a.outer * pairs->count * a.inner);
  for (uint32_t k = 0; k < 2 * n; k++) interp_clear(p->run, &ins[k]);
  interp_drop(p->run, ins);
}

static Pairs new_pairs(Prog *p, uint32_t most) {
  uint32_t *place = interp_alloc(p->run, 2 * (most + 1) * sizeof *place);
  return (Pairs){place, place + most + 1, 0};
}

/* Reduces one level of the tree to half as many positions; an odd last one is copied. */
static uint32_t reduce_level(Prog *p, const Inst *in, Val *vals, Axis a, Val *outs) {
  uint32_t n = in->op->nargs, half = a.length / 2, rest = a.length % 2;
  Pairs pairs = new_pairs(p, half);
  for (uint32_t i = 0; i < half; i++) {
    pairs.left[i] = 2 * i;
    pairs.right[i] = 2 * i + 1;
  }
  pairs.count = half;
  combine_pairs(p, in, vals, a, &pairs, outs);
  Axis next = {a.outer, half + rest, a.inner};
  for (uint32_t k = 0; k < n && rest; k++) {
    Val whole = interp_new(p->run, next.outer * next.length * next.inner);
    for (uint32_t i = 0; i < half; i++) pairs.left[i] = i;
    give(p, &whole, next, pairs.left, half, &outs[k]);
    Val odd = take_along_axis(p, &vals[k], a, &(uint32_t){a.length - 1}, 1);
    give(p, &whole, next, &half, 1, &odd);
    interp_clear(p->run, &odd);
    interp_clear(p->run, &outs[k]);
    outs[k] = whole;
  }
  interp_drop(p->run, pairs.left);
  for (uint32_t k = 0; k < n; k++) {
    interp_clear(p->run, &vals[k]);
    vals[k] = outs[k];
  }
  return next.length;
}

static Val *operand_copies(Prog *p, const Inst *in) {
  Val *vals = interp_alloc(p->run, in->op->nargs * sizeof *vals);
  for (uint32_t k = 0; k < in->op->nargs; k++) vals[k] = interp_share(interp_arg(p, in, k));
  return vals;
}

static void set_reduced_results(Prog *p, const Inst *in, Val *vals) {
  for (uint32_t k = 0; k < in->op->nresults; k++) {
    vals[k].arg = MEMORY_NO_ARG;
    interp_set(p, in->op->results[k], vals[k]);
  }
  interp_drop(p->run, vals);
}

static void reduce_axis(Prog *p, const Inst *in, Val *vals, Axis a) {
  Val *outs = interp_alloc(p->run, in->op->nargs * sizeof *outs);
  while (a.length > 1) a.length = reduce_level(p, in, vals, a, outs);
  interp_drop(p->run, outs);
}

/* ---- reductions of several thread blocks ---- */

static Join *join_of(Prog *p, const Inst *in) {
  Run *r = p->run;
  uint64_t program = p->index / r->cluster;
  for (size_t i = 0; i < r->joins.len; i++) {
    Join *j = &r->joins.data[i];
    if (j->left && j->program == program && j->number == p->joins) return j;
  }
  Join fresh = {.program = program, .number = p->joins, .left = r->cluster};
  fresh.results = interp_alloc(r, in->op->nargs * r->cluster * sizeof *fresh.results);
  size_t at = 0;
  while (at < r->joins.len && r->joins.data[at].left) at++;
  if (at == r->joins.len) vec_push(r->arena, &r->joins, fresh);
  r->joins.data[at] = fresh;
  return &r->joins.data[at];
}

/* The results of all thread blocks, along an axis of their own. */
static Val results_of_all(Prog *p, const Join *j, uint32_t operand) {
  const Val *of = &j->results[operand * p->run->cluster];
  Axis a = {1, p->run->cluster, of[0].n};
  Val all = interp_new(p->run, a.length * a.inner);
  for (uint32_t i = 0; i < a.length; i++) give(p, &all, a, &i, 1, &of[i]);
  return all;
}

/* A block may come to its next join before others have left this one. */
static void leave_join(Prog *p, const Inst *in, Join *j) {
  p->joins++;
  if (--j->left) return;
  for (uint32_t i = 0; i < in->op->nargs * p->run->cluster; i++)
    interp_clear(p->run, &j->results[i]);
  interp_drop(p->run, j->results);
}

/* The block that arrives leaves its results, and executes the op again until all are there. */
static void join_results(Prog *p, const Inst *in) {
  Join *j = join_of(p, in);
  uint32_t n = in->op->nargs, blocks = p->run->cluster;
  if (!j->has[p->rank]) {
    Val *vals = operand_copies(p, in);
    reduce_axis(p, in, vals, reduced_axis(in));
    for (uint32_t k = 0; k < n; k++) j->results[k * blocks + (uint32_t)p->rank] = vals[k];
    interp_drop(p->run, vals);
    j->has[p->rank] = true;
    j->arrived++;
  }
  if (j->arrived < blocks) {
    vec_last(&p->frames).next--;
    p->yields = true;
    return;
  }
  Val *vals = interp_alloc(p->run, n * sizeof *vals);
  for (uint32_t k = 0; k < n; k++) vals[k] = results_of_all(p, j, k);
  Axis a = {1, blocks, vals[0].n / blocks};
  leave_join(p, in, j);
  reduce_axis(p, in, vals, a);
  set_reduced_results(p, in, vals);
}

void interp_reduce(Prog *p, const Inst *in) {
  if (tile_int(in->op, TA_joins, 0)) {
    join_results(p, in);
    return;
  }
  Val *vals = operand_copies(p, in);
  reduce_axis(p, in, vals, reduced_axis(in));
  set_reduced_results(p, in, vals);
}

/* Values that may be written: nobody else has a reference. */
static void own(Prog *p, Val *v, Axis a) {
  uint32_t *all = interp_alloc(p->run, a.length * sizeof *all);
  for (uint32_t i = 0; i < a.length; i++) all[i] = i;
  Val copy = take_along_axis(p, v, a, all, a.length);
  interp_clear(p->run, v);
  *v = copy;
  interp_drop(p->run, all);
}

static void scan_step(Prog *p, const Inst *in, Val *vals, Axis a, uint32_t d, bool reverse,
                      Pairs *pairs, Val *outs) {
  pairs->count = 0;
  for (uint32_t k = d; k < a.length; k++) {
    if (!(k & d)) continue;
    uint32_t last = (k & ~(d - 1)) - 1;
    pairs->left[pairs->count] = reverse ? a.length - 1 - last : last;
    pairs->right[pairs->count++] = reverse ? a.length - 1 - k : k;
  }
  combine_pairs(p, in, vals, a, pairs, outs);
  for (uint32_t i = 0; i < in->op->nargs; i++) {
    give(p, &vals[i], a, pairs->right, pairs->count, &outs[i]);
    interp_clear(p->run, &outs[i]);
  }
}

void interp_scan(Prog *p, const Inst *in) {
  Axis a = reduced_axis(in);
  bool reverse = tile_int(in->op, TA_reverse, 0) != 0;
  Val *vals = operand_copies(p, in);
  Val *outs = interp_alloc(p->run, in->op->nargs * sizeof *outs);
  Pairs pairs = new_pairs(p, a.length);
  for (uint32_t k = 0; k < in->op->nargs; k++) own(p, &vals[k], a);
  for (uint32_t d = 1; d < a.length; d *= 2) scan_step(p, in, vals, a, d, reverse, &pairs, outs);
  interp_drop(p->run, pairs.left);
  interp_drop(p->run, outs);
  set_reduced_results(p, in, vals);
}

void interp_histogram(Prog *p, const Inst *in) {
  const Val *v = interp_arg(p, in, 0), *mask = interp_arg(p, in, 1);
  bool is_signed = dtype_is_signed((DType)in->op->args[0]->type.dtype);
  Val *r = interp_result(p, in, 0, (uint32_t)type_numel(interp_type(in, 0)));
  for (uint32_t i = 0; i < r->n; i++) r->x[i].i = 0;
  for (uint32_t i = 0; i < v->n; i++) {
    int64_t bin = v->x[i].i;
    if (mask && (interp_is_undef(p, in, mask, i, "the mask") || !mask->x[i].i)) continue;
    if (interp_is_undef(p, in, v, i, "a value of the histogram")) continue;
    if ((is_signed && bin < 0) || (uint64_t)bin >= r->n) continue;
    r->x[bin].i++;
  }
}
