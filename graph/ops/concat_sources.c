#include "graph/ops/concat_sources.h"

#include <string.h>

void source_limit(Graph *g, ConcatSource *p, Dim x, Dim lo, Dim hi) {
  Dims *d = g->dims;
  Dim last = hi ? dim_sub(d, hi, dim_int(d, 1)) : NULL;
  if (lo && dim_at_most(d, lo, x)) lo = NULL;
  if (hi && dim_at_most(d, x, last)) hi = NULL;
  if (!lo && !hi) return;
  p->limits[p->nlimits].x = x;
  p->limits[p->nlimits].lo = lo;
  p->limits[p->nlimits++].hi = hi;
}

/* Empty tensors of rank 1 may stand in a cat of others; they are nowhere. */
static bool is_piece(const Node *part, uint32_t rank, uint32_t axis) {
  return part->type.rank == rank && !dim_is(part->type.shape[axis], 0);
}

static ConcatSources cat_sources(Graph *g, const Node *n, const Dim *index) {
  Arg list = graph_arg(g, n, "tensors");
  uint32_t rank = n->type.rank;
  int64_t dim = graph_arg(g, n, "dim").dim->value;
  uint32_t axis = (uint32_t)(dim < 0 ? dim + (int64_t)rank : dim);
  ConcatSources p = {.items = ARENA_ARRAY(g->arena, ConcatSource, list.n)};
  Dim start = dim_int(g->dims, 0);
  for (uint32_t i = 0; i < list.n; i++) {
    Node *part = list.items[i].node;
    if (!is_piece(part, rank, axis)) continue;
    ConcatSource *piece = &p.items[p.n++];
    Dim end = dim_add(g->dims, start, part->type.shape[axis]);
    piece->operand = part;
    memcpy(piece->index, index, rank * sizeof *index);
    piece->index[axis] = dim_sub(g->dims, index[axis], start);
    source_limit(g, piece, index[axis], start, end);
    start = end;
  }
  return p;
}

static ConcatSources pad_sources(Graph *g, const Node *n, const Dim *index) {
  Arg amounts = graph_arg(g, n, "pad");
  uint32_t rank = n->type.rank;
  ConcatSources p = {.items = ARENA_NEW(g->arena, ConcatSource), .n = 1};
  p.otherwise = graph_arg(g, n, "value");
  ConcatSource *piece = p.items;
  piece->operand = graph_arg(g, n, "self").node;
  if (rank) memcpy(piece->index, index, rank * sizeof *index);
  for (uint32_t i = 0; i < amounts.n / 2; i++) {
    uint32_t axis = rank - 1 - i;
    const Arg *before = &amounts.items[2 * i];
    Dim by = before->kind == ARG_NODE ? before->node->type.value : before->dim;
    Dim x = dim_sub(g->dims, index[axis], by);
    piece->index[axis] = x;
    source_limit(g, piece, x, dim_int(g->dims, 0), piece->operand->type.shape[axis]);
  }
  return p;
}

ConcatSources concat_sources(Graph *g, const Node *n, const Dim *index) {
  return n->op->id != OP_aten_cat_default ? pad_sources(g, n, index) : cat_sources(g, n, index);
}
