#include "graph/prims.h"

#include <string.h>

#include "graph/prim_rows.h"

/* Pointwise ops and views have tables of their own (graph/pointwise_table.h, graph/views.c). */
static const struct {
  const char *target;
  PrimKind kind;
} rows[] = {
    {"aten.all.dim", PRIM_REDUCE},
    {"aten.amax.default", PRIM_REDUCE},
    {"aten.amin.default", PRIM_REDUCE},
    {"aten.any.dim", PRIM_REDUCE},
    {"aten.prod.dim_int", PRIM_REDUCE},
    {"aten.sum.dim_IntList", PRIM_REDUCE},
    {"aten.arange.start_step", PRIM_CREATE},
    {"aten.full.default", PRIM_CREATE},
    {"aten.embedding.default", PRIM_GATHER},
    {"aten.gather.default", PRIM_GATHER},
    {"aten.index.Tensor", PRIM_GATHER},
    {"aten.index_select.default", PRIM_GATHER},
    {"aten.cat.default", PRIM_PIECES},
    {"aten.constant_pad_nd.default", PRIM_PIECES},
    {"aten.cumsum.default", PRIM_SCAN},
    {"aten.cumprod.default", PRIM_SCAN},
    {"aten.logcumsumexp.default", PRIM_SCAN},
    {"nereid.cummax_place.default", PRIM_SCAN},
    {"nereid.cummin_place.default", PRIM_SCAN},
    {"nereid.random.default", PRIM_CREATE},
    {"nereid.sort.default", PRIM_SCAN},
    {"nereid.merge.default", PRIM_SEARCH},
    {"nereid.search.default", PRIM_SEARCH},
    {"nereid.scatter.default", PRIM_SCATTER},
    {"nereid.conv.default", PRIM_CONVOLUTION},
    {"nereid.conv_depthwise.default", PRIM_WINDOW},
    {"nereid.pool_max.default", PRIM_WINDOW},
    {"nereid.pool_sum.default", PRIM_WINDOW},
    {"aten.bmm.default", PRIM_MATMUL},
    {"aten.bmm.dtype", PRIM_MATMUL},
    {"aten.mm.default", PRIM_MATMUL},
    {"nereid.attention.default", PRIM_ATTENTION},
};

uint32_t prim_rows_others(void) { return sizeof rows / sizeof *rows; }

PrimKind prim_kind(const GraphOp *op) {
  if (pointwise_row(op->target)) return PRIM_POINTWISE;
  if (view_row(op->target)) return PRIM_VIEW;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].target, op->target)) return rows[i].kind;
  return PRIM_NONE;
}

bool prim_reads_size(const Node *n) {
  return n->kind == NODE_CALL && !strcmp(n->op->target, "nereid.counted.default");
}

bool prim_is_product(PrimKind k) { return k == PRIM_MATMUL || k == PRIM_CONVOLUTION; }

bool prim_has_template(PrimKind k) { return prim_is_product(k) || k == PRIM_ATTENTION; }
