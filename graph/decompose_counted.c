/* As many elements as data says: the places where a mask holds.  Their tensor has room for all of
 * them; nereid.counted says that the first `count` rows are what is meant, a size that is read
 * when the count is there. */
#include <string.h>

#include "graph/decompose.h"
#include "graph/scatter.h"

static Node *self_of(Build *b) { return build_input(b, b->in.schema->params[0].name); }

static Node *truth(Build *b, Node *x) {
  return x->type.dtype == DT_I1 ? x : build_with(b, "aten.ne.Tensor", x, build_int(b, 0));
}

/* The numbers of the places where the mask (of one axis) holds, in order. */
static Node *places_of(Build *b, Node *mask, Dim size) {
  Dims *d = b->in.g->dims;
  Dim all = mask->type.shape[0];
  if (size->kind == DIM_SYMBOL) dim_limit(d, size, (DimRange){0, dim_range(d, all).hi});
  Node *place = build_where(b, mask, arg_node(scatter_number(b, mask)), build_int(b, -1));
  Node *places = scatter_writers(b, all, place);
  Node *count = build_sum(b, build_to(b, mask, DT_I64), 1, false);
  return build(b, "nereid.counted.default", ARGS(arg_node(places), arg_node(count), arg_dim(size)));
}

/* Coordinates, a row for each place. */
Node *decompose_nonzero(Build *b) {
  Node *x = self_of(b);
  const ValueType *t = &b->in.n->type;
  if (!rank_of(x) || scatter_empty(b, x)) return NULL;
  Node *place = places_of(b, truth(b, scatter_flat(b, x)), t->shape[0]);
  place = build_to(b, place, DT_I64);
  Node *columns[GRAPH_RANK_MAX];
  for (uint32_t i = rank_of(x); i-- > 0;) {
    Dim size = x->type.shape[i];
    columns[i] = i ? build_with(b, "aten.remainder.Tensor", place, arg_dim(size)) : place;
    columns[i] = build_unsqueeze(b, columns[i], 1);
    if (i) place = build_with(b, "aten.floor_divide.default", place, arg_dim(size));
  }
  return build_cat(b, rank_of(x), columns, 1);
}

static Node *take_rows(Build *b, Node *rows, Node *mask, Dim size) {
  Node *place = build_to(b, places_of(b, mask, size), DT_I64);
  return build(b, "aten.index_select.default",
               ARGS(arg_node(rows), build_int(b, 0), arg_node(place)));
}

Node *decompose_masked_select(Build *b) {
  Operand both[] = {infer_operand(&b->in, "self"), infer_operand(&b->in, "mask")};
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_broadcast(&b->in, both, 2, shape);
  Node *x = build_expand(b, build_input(b, "self"), rank, shape);
  Node *mask = build_expand(b, build_input(b, "mask"), rank, shape);
  if (scatter_empty(b, x)) return NULL;
  return take_rows(b, scatter_flat(b, x), scatter_flat(b, mask), b->in.n->type.shape[0]);
}

/* One mask, with all of the other axes: slices of what lies where it holds. */
Node *decompose_index(Build *b) {
  uint32_t n, first = 0;
  Node *x = self_of(b), **index = build_inputs(b, "indices", &n), *mask = NULL;
  for (uint32_t i = 0; i < n; i++) {
    if (!index[i]) continue;
    bool is_mask = index[i]->type.dtype == DT_I1 || index[i]->type.dtype == DT_U8;
    if (mask || !is_mask || !rank_of(index[i])) return NULL;
    mask = index[i];
    first = i;
  }
  if (!mask || scatter_empty(b, x)) return NULL;
  uint32_t span = rank_of(mask), axes[GRAPH_RANK_MAX], next = 0;
  Dim rows[GRAPH_RANK_MAX + 1];
  for (uint32_t i = 0; i < span; i++) axes[next++] = first + i;
  rows[0] = value_numel(b->in.g, &mask->type);
  for (uint32_t i = 0; i < rank_of(x); i++) {
    if (i >= first && i < first + span) continue;
    rows[next - span + 1] = x->type.shape[i];
    axes[next++] = i;
  }
  Node *y = build_view(b, build_permute(b, x, axes), next - span + 1, rows);
  y = take_rows(b, y, truth(b, scatter_flat(b, mask)), b->in.n->type.shape[first]);
  uint32_t back[GRAPH_RANK_MAX]; /* the chosen axis from the front to where the mask was */
  for (uint32_t i = 0; i < rank_of(y); i++) back[i] = i < first ? i + 1 : i == first ? 0 : i;
  return build_permute(b, y, back);
}
