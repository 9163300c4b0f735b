#include "planner/plan/cpu_rows.h"

#include "graph/ops/prims.h"

/* On one core of a Zen 4, layer norm of 8,192 rows, us, by tiles of 2,048 elements and by rows: of
 * 16 elements 178 and 181, of 49 312 and 294, of 128 636 and 288, of 197 2,018 and 642. */
enum { VECTOR = 16 };

/* Loops of 128 elements take 102, 130, 167 and 590 us for 1,024 rows of 384, 768, 1,024 and 2,048
 * there, and tiles of a row 141, 242, 236 and 1,250. */
enum { BLOCK = 128, BLOCK_LEAST = 2 * VECTOR, VALUES_MOST = 16, REDUCTIONS_MOST = 3 };

static bool is_reduction(const Node *n) { return prim_kind(n->op) == PRIM_REDUCE; }

static bool has_columns(const Group *g) {
  return g->rank && g->columns && !(g->columns >> (g->rank - 1) & 1);
}

bool cpu_rows_are_single(const Group *g) {
  bool reduces = false;
  if (g->crossed || g->plane || g->strip > 1 || has_columns(g)) return false;
  if (!dim_is_int(g->r) || g->r->value < VECTOR) return false;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    if (!is_reduction(n) && prim_kind(n->op) != PRIM_POINTWISE) return false;
    reduces |= is_reduction(n);
  }
  return reduces;
}

/* Does it take an instruction or two of a vector? */
static bool is_brief(const Node *n) {
  PrimKind k = prim_kind(n->op);
  return k == PRIM_VIEW || k == PRIM_CREATE ||
         graph_is_any(n, OP_aten_add_Tensor, OP_aten_sub_Tensor, OP_aten_mul_Tensor,
                      OP_aten_neg_default, OP_aten_relu_default, OP_aten_to_dtype,
                      OP_aten__to_copy_default);
}

/* Has it a value for each element of a row, rather than one for the row?  An open size counts as
 * many. */
static bool is_whole(const Group *g, const Node *n) {
  int64_t elements = 1;
  for (uint32_t i = 0; i < n->type.rank; i++) {
    if (!dim_is_int(n->type.shape[i])) return true;
    elements *= n->type.shape[i]->value;
  }
  return !dim_is_int(g->x) || elements > g->x->value;
}

int64_t cpu_rows_block(const Group *g, const StepCost *cost) {
  int reductions = 0, values = 0;
  if (!cpu_rows_are_single(g)) return 0;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    reductions += is_reduction(n);
    if (is_reduction(n) || !is_whole(g, n)) continue;
    if (!is_brief(n)) return 0;
    values++;
  }
  for (uint32_t i = 0; i < cost->ninlined; i++) {
    if (is_whole(g, cost->inlined[i]) && !is_brief(cost->inlined[i])) return 0;
    values++;
  }
  int64_t block = BLOCK;
  while (g->r->value % block) block /= 2;
  bool few = reductions <= REDUCTIONS_MOST && values <= VALUES_MOST;
  return few && block >= BLOCK_LEAST && g->r->value >= 2 * block ? block : 0;
}
