#include "graph/analysis/gather.h"

#include <string.h>

static void gather_add_index(Graph *g, Gather *out, Node *index, uint32_t axis,
                             const Dim *element) {
  uint32_t k = out->n++;
  out->by[k].index = index;
  if (index->type.rank) memcpy(out->by[k].element, element, index->type.rank * sizeof *element);
  out->by[k].size = out->data->type.shape[axis];
  out->by[k].symbol = dim_index(g->dims, "at", out->by[k].size);
  out->element[axis] = out->by[k].symbol;
}

static void gather_embedding(Graph *g, const Node *n, const Dim *element, Gather *out) {
  Node *index = graph_arg(g, n, "indices").node;
  out->data = graph_arg(g, n, "weight").node;
  out->element[1] = element[index->type.rank];
  gather_add_index(g, out, index, 0, element);
}

static uint32_t gather_axis(Graph *g, const Node *n, uint32_t rank) {
  int64_t axis = graph_arg(g, n, "dim").dim->value;
  return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

static void gather_index_select(Graph *g, const Node *n, const Dim *element, Gather *out) {
  out->data = graph_arg(g, n, "self").node;
  uint32_t axis = gather_axis(g, n, out->data->type.rank);
  memcpy(out->element, element, out->data->type.rank * sizeof *element);
  gather_add_index(g, out, graph_arg(g, n, "index").node, axis, &element[axis]);
}

static void gather_gather(Graph *g, const Node *n, const Dim *element, Gather *out) {
  out->data = graph_arg(g, n, "self").node;
  uint32_t rank = out->data->type.rank;
  /* The index in a scalar has no axis, even if it is of an axis of x. */
  if (n->type.rank) memcpy(out->element, element, rank * sizeof *element);
  if (rank)
    gather_add_index(g, out, graph_arg(g, n, "index").node, gather_axis(g, n, rank), element);
}

/* index.Tensor: the axes of the indices, broadcast together, are at the position of the first
 * index, or in front if an axis without index separates indices. */
typedef struct {
  uint32_t first, count, rank; /* of the indices; rank is that of all, broadcast */
  bool apart;
} Indices;

static Indices find_index_axes(const Arg *list) {
  Indices x = {0};
  bool ended = false;
  for (uint32_t i = 0; i < list->n; i++) {
    if (list->items[i].kind != ARG_NODE) {
      ended = x.count > 0;
      continue;
    }
    if (x.count++ == 0) x.first = i;
    x.apart |= ended;
    uint32_t rank = list->items[i].node->type.rank;
    if (rank > x.rank) x.rank = rank;
  }
  return x;
}

static void gather_index_tensor(Graph *g, const Node *n, const Dim *element, Gather *out) {
  Arg list = graph_arg(g, n, "indices");
  Indices x = find_index_axes(&list);
  out->data = graph_arg(g, n, "self").node;
  uint32_t begin = x.apart ? 0 : x.first, from = begin ? 0 : x.rank;
  for (uint32_t axis = 0; axis < out->data->type.rank; axis++) {
    if (from == begin && begin) from += x.rank; /* past the indices' axes */
    Node *index = axis < list.n && list.items[axis].kind == ARG_NODE ? list.items[axis].node : NULL;
    if (!index) {
      out->element[axis] = element[from++];
      continue;
    }
    Dim at[GRAPH_RANK_MAX];
    uint32_t skip = begin + x.rank - index->type.rank;
    for (uint32_t i = 0; i < index->type.rank; i++)
      at[i] = dim_is(index->type.shape[i], 1) ? dim_int(g->dims, 0) : element[skip + i];
    gather_add_index(g, out, index, axis, at);
  }
}

static const struct {
  void (*rule)(Graph *g, const Node *n, const Dim *element, Gather *out);
} rules[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define GATHER(rule) gather_##rule
#include "graph/ops/op_table.def"
};

void gather_of(Graph *g, const Node *n, const Dim *element, Gather *out) {
  memset(out, 0, sizeof *out);
  BUG_IF(!rules[n->op->id].rule, "no gather: %s", n->op->target);
  rules[n->op->id].rule(g, n, element, out);
}
