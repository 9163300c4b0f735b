/* Ops that move elements without changing them. */
#include <string.h>

#include "lang/interp/interp_run.h"
#include "lang/messages.h"

/* A walk over a box of elements in a row-major array, which gives the index of each. */
typedef struct {
  uint32_t rank;
  int64_t shape[MAX_RANK], stride[MAX_RANK], start;
} Walk;

static void row_major(Type t, int64_t *stride) {
  int64_t s = 1;
  for (int i = t.rank; i-- > 0; s *= t.shape[i]) stride[i] = s;
}

/* All elements of `t` in order. */
static Walk walk_of(Type t) {
  Walk w = {.rank = t.rank};
  for (int i = 0; i < t.rank; i++) w.shape[i] = t.shape[i];
  row_major(t, w.stride);
  return w;
}

/* The places of a walk's elements, in order. */
static void walk_places(const Walk *w, int64_t *place) {
  int64_t index[MAX_RANK] = {0}, at = w->start;
  uint32_t last = w->rank ? w->rank - 1 : 0;
  int64_t n = w->rank ? w->shape[last] : 1, step = w->rank ? w->stride[last] : 0;
  for (;; place += n) {
    for (int64_t i = 0; i < n; i++) place[i] = at + i * step;
    uint32_t axis = last;
    while (axis-- > 0) {
      at += w->stride[axis];
      if (++index[axis] < w->shape[axis]) break;
      at -= w->stride[axis] * index[axis];
      index[axis] = 0;
    }
    if (axis == UINT32_MAX) return;
  }
}

static int64_t *walk_indices(Prog *p, const Walk *w) {
  int64_t n = 1;
  for (uint32_t i = 0; i < w->rank; i++) n *= w->shape[i];
  int64_t *place = interp_alloc(p->run, (size_t)n * sizeof *place);
  walk_places(w, place);
  return place;
}

static void take_source(Val *r, const Val *v) {
  interp_blame(r, v);
  r->arg = v->arg;
}

/* Result element i is the operand's element at place i of the walk. */
static void gather_elements(Prog *p, const Inst *in, uint32_t result, const Walk *w) {
  const Val *v = interp_arg(p, in, 0);
  Val *r = interp_result(p, in, result, (uint32_t)type_numel(interp_type(in, result)));
  int64_t *place = walk_indices(p, w);
  for (uint32_t i = 0; i < r->n; i++) r->x[i] = v->x[place[i]];
  take_source(r, v);
  if (v->flags) {
    interp_flags(p->run, r);
    for (uint32_t i = 0; i < r->n; i++) r->flags[i] = v->flags[place[i]];
  }
  interp_drop(p->run, place);
}

/* The operand's elements go to the walk's places of result 0, which is there already. */
static void scatter_elements(Prog *p, const Inst *in, uint32_t arg, const Walk *w) {
  const Val *v = interp_arg(p, in, arg);
  Val *r = interp_val(p, in->op->results[0]);
  int64_t *place = walk_indices(p, w);
  for (uint32_t i = 0; i < v->n; i++) r->x[place[i]] = v->x[i];
  if (v->flags) {
    interp_flags(p->run, r);
    for (uint32_t i = 0; i < v->n; i++) r->flags[place[i]] = v->flags[i];
  }
  interp_drop(p->run, place);
}

/* Result 0 of two operands: pointers of one argument stay that argument's. */
static void merge_sources(Prog *p, const Inst *in) {
  Val *a = interp_arg(p, in, 0), *b = interp_arg(p, in, 1);
  Val *r = interp_result(p, in, 0, a->n + b->n);
  interp_blame(r, a);
  interp_blame(r, b);
  if (a->arg == b->arg) r->arg = a->arg;
}

void interp_splat(Prog *p, const Inst *in) {
  const Val *v = interp_arg(p, in, 0);
  Val *r = interp_result(p, in, 0, (uint32_t)type_numel(interp_type(in, 0)));
  for (uint32_t i = 0; i < r->n; i++) r->x[i] = v->x[0];
  take_source(r, v);
  if (v->flags) memset(interp_flags(p->run, r), v->flags[0], r->n);
}

/* The function serves expand_dims too: the elements keep their order. */
void interp_reshape(Prog *p, const Inst *in) {
  interp_set(p, in->op->results[0], interp_share(interp_arg(p, in, 0)));
}

void interp_broadcast(Prog *p, const Inst *in) {
  Type from = in->op->args[0]->type, to = interp_type(in, 0);
  Walk w = walk_of(to);
  row_major(from, w.stride);
  for (int i = 0; i < to.rank; i++)
    if (from.shape[i] == 1) w.stride[i] = 0;
  gather_elements(p, in, 0, &w);
}

void interp_trans(Prog *p, const Inst *in) {
  const TileAttr *perm = tile_attr(in->op, TA_perm);
  int64_t stride[MAX_RANK];
  row_major(in->op->args[0]->type, stride);
  Walk w = walk_of(interp_type(in, 0));
  for (uint32_t i = 0; i < w.rank; i++)
    w.stride[i] = stride[perm && i < perm->len ? perm->list[i] : w.rank - 1 - i];
  gather_elements(p, in, 0, &w);
}

void interp_join(Prog *p, const Inst *in) {
  merge_sources(p, in);
  for (uint32_t k = 0; k < 2; k++) {
    Walk w = {.rank = 1, .shape = {interp_arg(p, in, k)->n}, .stride = {2}, .start = k};
    scatter_elements(p, in, k, &w);
  }
}

void interp_split(Prog *p, const Inst *in) {
  for (uint32_t k = 0; k < 2; k++) {
    Walk w = {.rank = 1, .stride = {2}, .start = k};
    w.shape[0] = type_numel(interp_type(in, k));
    gather_elements(p, in, k, &w);
  }
}

void interp_cat(Prog *p, const Inst *in) {
  merge_sources(p, in);
  for (uint32_t k = 0; k < 2; k++) {
    Walk w = {.rank = 1, .shape = {interp_arg(p, in, k)->n}, .stride = {1}};
    w.start = k ? interp_arg(p, in, 0)->n : 0;
    scatter_elements(p, in, k, &w);
  }
}

void interp_slice(Prog *p, const Inst *in) {
  const TileAttr *starts = tile_attr(in->op, TA_starts), *steps = tile_attr(in->op, TA_strides);
  Walk w = walk_of(interp_type(in, 0));
  row_major(in->op->args[0]->type, w.stride);
  for (uint32_t i = 0; i < w.rank; i++) {
    w.start += w.stride[i] * (starts ? starts->list[i] : 0);
    w.stride[i] *= steps ? steps->list[i] : 1;
  }
  gather_elements(p, in, 0, &w);
}

static void gather_outside(Prog *p, const Inst *in, Val *r, uint32_t i, int64_t index, int extent) {
  if (interp_found(p, FOUND_GATHER, in->op->span, NULL))
    findings_text(p->run->findings, E_INTERP_GATHER, (long long)index, extent);
  interp_undef(p->run, r, i, (DType)interp_type(in, 0).dtype, in->op);
}

void interp_gather(Prog *p, const Inst *in) {
  const Val *v = interp_arg(p, in, 0), *index = interp_arg(p, in, 1);
  Type from = in->op->args[0]->type;
  uint32_t axis = (uint32_t)tile_int(in->op, TA_axis, 0);
  int64_t stride[MAX_RANK], extent = from.shape[axis];
  row_major(from, stride);
  Walk w = walk_of(interp_type(in, 0));
  memcpy(w.stride, stride, sizeof stride);
  w.stride[axis] = 0;
  Val *r = interp_result(p, in, 0, index->n);
  int64_t *place = walk_indices(p, &w);
  take_source(r, v);
  for (uint32_t i = 0; i < r->n; i++) {
    int64_t k = index->x[i].i;
    if (interp_is_undef(p, in, index, i, "an index of the gather")) k = 0;
    if (k < 0 || k >= extent) {
      gather_outside(p, in, r, i, k, (int)extent);
      continue;
    }
    int64_t from_place = place[i] + k * stride[axis];
    r->x[i] = v->x[from_place];
    if (v->flags) interp_flags(p->run, r)[i] = v->flags[from_place];
  }
  interp_drop(p->run, place);
}
