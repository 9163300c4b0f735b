#include "graph/analysis/numbers.h"

#include <math.h>

static bool is_known_size(const Node *n) { return n->type.kind == VALUE_INT && n->type.value; }

/* An operator that tensors have, too. */
static bool is_computed(const Node *n) {
  return n->kind == NODE_CALL && (n->op->number || number_is_kept(n)) && !n->nnamed;
}

/* A literal, a number that a symbol of sizes has, or one that is made of these. */
static bool has_value(const Arg *a) {
  if (a->kind != ARG_NODE) return a->kind == ARG_INT || a->kind == ARG_FLOAT || a->kind == ARG_BOOL;
  if (is_known_size(a->node)) return true;
  if (!is_computed(a->node)) return false;
  for (uint32_t i = 0; i < a->node->nargs; i++)
    if (!has_value(&a->node->args[i])) return false;
  return true;
}

bool number_is_of_data(const Arg *a) {
  const Node *n = a->kind == ARG_NODE ? a->node : NULL;
  bool found = false;
  if (!n || n->kind != NODE_CALL) return false;
  if (number_is_item(n)) return n->args[0].kind == ARG_NODE;
  if (!is_computed(n)) return false;
  for (uint32_t i = 0; i < n->nargs; i++) {
    bool of_data = number_is_of_data(&n->args[i]);
    if (!of_data && !has_value(&n->args[i])) return false;
    found |= of_data;
  }
  return found;
}

/* An integer of data may have a symbol, which no size gives a value. */
bool number_is_of_sizes(const Arg *a) { return has_value(a) && !number_is_of_data(a); }

DType number_dtype(const Arg *a) {
  ValueKind kind = a->kind == ARG_NODE ? a->node->type.kind : VALUE_NONE;
  if (a->kind == ARG_FLOAT || kind == VALUE_FLOAT) return DT_F64;
  return a->kind == ARG_BOOL || kind == VALUE_BOOL ? DT_I1 : DT_I64;
}

DType number_computed_in(const Node *n) {
  DType t = n->type.kind == VALUE_FLOAT ? DT_F64 : DT_I1;
  for (uint32_t i = 0; i < n->nargs; i++) {
    DType x = number_dtype(&n->args[i]);
    if (x == DT_F64 || (x == DT_I64 && t == DT_I1)) t = x;
  }
  return t;
}

static bool is_one_or_more(const Arg *a) {
  if (a->kind == ARG_FLOAT) return fabs(a->number) >= 1 && isfinite(a->number);
  return a->kind == ARG_INT && dim_is_int(a->dim) && a->dim->value;
}

bool number_is_finite(const Arg *a) {
  const Node *n = a->kind == ARG_NODE ? a->node : NULL;
  return n && graph_is(n, OP__operator_truediv) && number_dtype(&n->args[0]) != DT_F64 &&
         is_one_or_more(&n->args[1]);
}

/* ---- as tensors ---- */

static Node *computed_tensor(Build *b, const Node *n) {
  DType t = number_computed_in(n);
  Arg *args = ARENA_ARRAY(b->in.g->arena, Arg, n->nargs + 1);
  for (uint32_t i = 0; i < n->nargs; i++) {
    bool condition = graph_is(n, OP_torch_sym_ite) && i == 0;
    args[i] = arg_node(build_to(b, number_tensor(b, &n->args[i]), condition ? DT_I1 : t));
  }
  return build(b, n->op->number->id, n->nargs, args);
}

Node *number_tensor(Build *b, const Arg *a) {
  DType t = number_dtype(a);
  if (!number_is_of_data(a)) return build_full(b, 0, NULL, *a, t);
  const Node *n = a->node;
  Node *x = number_is_item(n)   ? build_view(b, n->args[0].node, 0, NULL)
            : number_is_kept(n) ? number_tensor(b, &n->args[0])
                                : computed_tensor(b, n);
  return build_to(b, x, t);
}
