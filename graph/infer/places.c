#include "graph/infer/places.h"

#include "graph/messages.h"

void infer_places(Infer *in, const char *param, const ValueType *x, uint32_t n, const Dim *size) {
  Dims *d = in->g->dims;
  Dim at[GRAPH_RANK_MAX], count = infer_product(in, x->shape, x->rank);
  uint32_t given = infer_sizes(in, param, at);
  if (given != n + 1) infer_fail(in, E_GRAPH_TRANSFORM_SIZES, given, n + 1);
  Dim end = dim_add(d, at[0], infer_const(in, 1));
  for (uint32_t i = 0; i < n; i++) {
    if (dim_range(d, at[i + 1]).hi < 0)
      infer_fail(in, E_GRAPH_NEGATIVE, infer_dim_text(in, at[i + 1]));
    end = dim_add(d, end, dim_mul(d, at[i + 1], dim_sub(d, size[i], infer_const(in, 1))));
  }
  if (dim_range(d, at[0]).hi < 0) infer_fail(in, E_GRAPH_NEGATIVE, infer_dim_text(in, at[0]));
  if (!infer_at_least(in, count, end))
    infer_fail(in, E_GRAPH_NEGATIVE, infer_dim_text(in, dim_sub(d, count, end)));
}
