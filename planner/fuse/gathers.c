/* Gathers in the loads of products: rows that an index says, as those of tokens which experts get,
 * or matrices, as those of the experts which a token gets, are read where they are. */
#include "graph/analysis/gather.h"
#include "planner/fuse/fuse_state.h"

enum { LOADED = 16 }; /* bytes that a thread copies at once */

bool fuse_loads_operand(const Node *user, const Node *operand) {
  if (user->kind != NODE_CALL || prim_kind(user->op) != PRIM_MATMUL) return false;
  bool right = !prim_unpacks(user) && user->args[1].node == operand;
  for (uint32_t i = 2; i < user->nargs; i++)
    if (user->args[i].kind == ARG_NODE && user->args[i].node == operand) return false;
  return right || user->args[0].node == operand;
}

/* The symbols of a product's operand: b, m or k, k or n. */
static void operand_index(Graph *g, const Node *x, Dim *index) {
  static const char *const names[] = {"b", "row", "column"};
  for (uint32_t i = 0; i < x->type.rank; i++)
    index[i] = dim_shared_index(g->dims, names[3 - x->type.rank + i], x->type.shape[i]);
}

/* Goes through views and gathers from a product's operand; is n what they read?  `index`: of n. */
static bool find_index(Graph *g, Node *operand, const Node *n, Dim *index) {
  while (operand != n && operand->kind == NODE_CALL) {
    Gather x = {0};
    PrimKind kind = prim_kind(operand->op);
    if (kind == PRIM_GATHER) {
      gather_of(g, operand, index, &x);
    } else if (kind == PRIM_VIEW) {
      view_index(g, operand, index, x.element);
      x.data = view_operand(operand);
    } else {
      return false;
    }
    operand = x.data;
    for (uint32_t i = 0; i < operand->type.rank; i++) index[i] = x.element[i];
  }
  return operand == n;
}

static bool mentions(const Dim *index, uint32_t rank, Dim symbol) {
  bool found = false;
  for (uint32_t i = 0; i < rank; i++) found |= dim_mentions(index[i], symbol);
  return found;
}

/* Does the data have elements next to each other as the operand has? */
static bool has_whole_runs(const Node *data) {
  const ValueType *t = &data->type;
  if (t->rank < 2 || !dim_is_int(t->shape[t->rank - 1])) return false;
  return dtype_bits(t->dtype) <= 16 &&
         t->shape[t->rank - 1]->value * dtype_bytes(t->dtype) % LOADED == 0;
}

/* Does the index depend on what is the same in all steps of the product: its batch, and of a left
 * operand of groups of rows the row? */
static bool is_steady(Graph *g, const Node *product, bool left, const Gather *x) {
  const Node *operand = product->args[left ? 0 : 1].node;
  uint32_t rank = operand->type.rank;
  Dim at[GRAPH_RANK_MAX];
  operand_index(g, operand, at);
  bool rows = left && (prim_groups(product) == GROUPS_OF_ROWS || rank == 3);
  if (rank < 3 && !rows) return false;
  for (uint32_t i = 0; i < x->n; i++) {
    const Dim *element = x->by[i].element;
    uint32_t n = x->by[i].index->type.rank;
    if (!n || dim_range(g->dims, x->by[i].size).lo < 1) return false;
    if (mentions(element, n, at[left ? rank - 1 : rank - 2])) return false;
    if (mentions(element, n, at[left ? rank - 2 : rank - 1]) && !rows) return false;
  }
  return x->n > 0;
}

bool fuse_gathers_in_loads(const Fuser *s, const Node *product, const Node *n) {
  Graph *g = s->f->graph;
  if (!s->together || g->host || n->kind != NODE_CALL || prim_kind(n->op) != PRIM_GATHER)
    return false;
  for (int i = 0; i < 2; i++) {
    Dim index[GRAPH_RANK_MAX];
    Gather x;
    Node *operand = product->args[i].node;
    operand_index(g, operand, index);
    if (!find_index(g, operand, n, index)) continue;
    gather_of(g, n, index, &x);
    return has_whole_runs(x.data) && is_steady(g, product, i == 0, &x);
  }
  return false;
}
