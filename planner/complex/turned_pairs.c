/* Copies of complex numbers in another order of axes, pair by pair. */
#include "graph/analysis/strided.h"
#include "planner/complex/complex.h"
#include "tiling/tiling.h"

enum { PROGRAMS_MOST = 64 };

/* Are both parts in memory, next to each other, and no matter what else is computed? */
static bool is_in_pairs(Build *b, Parts x, Strided *re) {
  Strided im;
  Dims *d = build_dims(b);
  if (!x.im || !strided_of(b->in.g, x.re, re) || !strided_of(b->in.g, x.im, &im)) return false;
  bool kept = re->memory->kind == NODE_INPUT || graph_is_any(re->memory, OP_nereid_fourier_default,
                                                             OP_nereid_turned_pairs_default);
  if (!kept || re->memory != im.memory || re->memory->type.dtype != x.re->type.dtype) return false;
  if (im.offset != dim_add(d, re->offset, dim_int(d, 1)) || !dim_divisible(re->offset, 2))
    return false;
  for (uint32_t i = 0; i < rank_of(x.re); i++) {
    bool pairs = dim_divisible(re->stride[i], 2) && dim_range(d, re->stride[i]).lo >= 0;
    if (!pairs || re->stride[i] != im.stride[i]) return false;
  }
  return dim_range(d, re->offset).lo >= 0;
}

/* Is an axis that is in runs in memory, and long enough for a block, another one than the last? */
static bool is_turned(const Strided *s, const ValueType *t) {
  uint32_t last = t->rank - 1;
  while (last && dim_is(t->shape[last], 1)) last--;
  for (uint32_t i = 0; i < last; i++)
    if (dim_is(s->stride[i], 2)) return !dim_is(s->stride[last], 2);
  return false;
}

static Dim blocks_of(Build *b, const Strided *s, const ValueType *t) {
  Dims *d = build_dims(b);
  uint32_t last = t->rank - 1;
  while (last && dim_is(t->shape[last], 1)) last--;
  Dim lanes = build_const(b, TURNED_LANES), blocks = build_const(b, 1);
  for (uint32_t i = 0; i < t->rank; i++)
    if (i != last && !dim_is(s->stride[i], 2)) blocks = dim_mul(d, blocks, t->shape[i]);
  Dim more = dim_add(d, t->shape[last], build_const(b, TURNED_LANES - 1));
  return dim_mul(d, blocks, dim_floordiv(d, more, lanes));
}

static Node *memory_of(Build *b, uint32_t rank, const Dim *shape, DType t) {
  NamedArg named[] = {{pool_name(b->in.g->names, "dtype"), arg_dtype(t)},
                      {pool_name(b->in.g->names, "once"), arg_bool(false)}};
  return build_with_all(b, OP_nereid_empty_default, ARGS(arg_dims(b->in.g, rank, shape)), 2, named);
}

Parts complex_turned(Build *b, Parts x) {
  Strided s;
  Parts none = {0};
  const ValueType *t = &x.re->type;
  if (!b->in.g->host || !t->rank || t->rank >= GRAPH_RANK_MAX || !is_in_pairs(b, x, &s) ||
      !is_turned(&s, t))
    return none;
  Dim shape[GRAPH_RANK_MAX], at[GRAPH_RANK_MAX], blocks = blocks_of(b, &s, t);
  at[0] = s.offset;
  for (uint32_t i = 0; i < t->rank; i++) {
    shape[i] = t->shape[i];
    at[i + 1] = s.stride[i];
  }
  shape[t->rank] = build_const(b, 2);
  Dim programs = build_const(b, PROGRAMS_MOST);
  if (dim_is_int(blocks) && blocks->value < PROGRAMS_MOST) programs = blocks;
  Node *room = memory_of(b, t->rank + 1, shape, t->dtype);
  Node *y = build(b, OP_nereid_turned_pairs_default,
                  ARGS(arg_node(room), arg_node(build_arange(b, programs)), arg_node(s.memory),
                       arg_dims(b->in.g, t->rank + 1, at)));
  return (Parts){build_select(b, y, t->rank, build_const(b, 0)),
                 build_select(b, y, t->rank, build_const(b, 1))};
}
