#include "tiling/shared_operands.h"

#include "graph/ops/prims.h"

static const Node *memory_of(Node *n) {
  while (prim_is_view(n) && n->kind == NODE_CALL && !prim_reads_size(n)) n = view_operand(n);
  return n;
}

/* Which of two orders: are elements of a column next to each other in memory? */
static int order_of(Graph *g, const Node *product) {
  return view_stride(g, product->args[1].node, 0) == 1;
}

/* A product's rows if they are few, else 0.  Fewer are as fast with the matrix as it is, and more
 * with panels of the left operand (panels_turn); those of f16 are widened.  An open number counts
 * as few: any run may have few. */
static int64_t few_rows(const Graph *g, const Node *n) {
  enum { ROWS_LEAST = 4, ROWS_MOST = 15 };
  if (!graph_is(n, OP_aten_mm_default) || n->type.dtype == DT_F16) return 0;
  Dim rows = n->type.shape[0];
  int64_t likely = dim_likely(g->dims, rows);
  if (!dim_is_int(rows) && likely > ROWS_MOST) likely = ROWS_MOST;
  return likely >= ROWS_LEAST && likely <= ROWS_MOST ? likely : 0;
}

SharedOperands shared_operands_find(Graph *g, Arena *arena) {
  SharedOperands s = {ARENA_ARRAY(arena, SharedOperand, g->nids), g->nids};
  for (Node *n = g->first; n; n = n->next) {
    int64_t rows = few_rows(g, n);
    if (rows) s.of[memory_of(n->args[1].node)->id].rows[order_of(g, n)] += rows;
  }
  return s;
}

bool shared_operands_pack(const SharedOperands *s, Graph *g, const Node *product) {
  enum { ROWS_TOGETHER = 24 };
  if (!few_rows(g, product)) return false;
  const Node *memory = memory_of(product->args[1].node);
  return memory->id < s->nids && s->of[memory->id].rows[order_of(g, product)] >= ROWS_TOGETHER;
}
