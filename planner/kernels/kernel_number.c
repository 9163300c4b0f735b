/* Python's numbers that are made of sizes, as `x.shape[0] / 2`: scalars of a kernel, in the dtypes
 * of Python's numbers.  The expression of each is that of an operator on tensors
 * (graph/ops/op_table.def). */
#include "graph/analysis/numbers.h"
#include "planner/kernels/kernel.h"

static bool is_known_size(const Node *n) { return n->type.kind == VALUE_INT && n->type.value; }

/* A literal or a size as a scalar, which has a dtype of its own. */
static Value scalar_of(Kernel *k, const Arg *a) {
  DType t = number_dtype(a);
  const char *text = kernel_literal(k, a, t);
  return (Value){arena_printf(k->arena, "tl.full([], %s, tl.%s)", text, dtype_lang_name(t)), t};
}

static Value operand(Kernel *k, const Arg *a) {
  bool computed = a->kind == ARG_NODE && !is_known_size(a->node);
  return computed ? kernel_value(k, a->node, NULL) : scalar_of(k, a);
}

/* The operator on tensors without axes whose expression is that of the number. */
static Pointwise expression_of(Kernel *k, Node *n, DType t) {
  Node of_tensors = *n;
  of_tensors.op = n->op->number;
  of_tensors.type = value_tensor(k->graph, n->type.kind == VALUE_BOOL ? DT_I1 : t, 0, NULL);
  return pointwise_of(k->graph, &of_tensors);
}

static const char *number_text(Kernel *k, Node *n, DType t) {
  const char *operands[8];
  if (!n->op->number) return kernel_cast(k, operand(k, &n->args[0]), t);
  Pointwise p = expression_of(k, n, t);
  for (uint32_t i = 0; i < p.noperands; i++) {
    DType takes = p.dtypes[i] == DT_I1 ? DT_I1 : t;
    operands[i] = kernel_cast(k, operand(k, &p.operands[i]), takes);
  }
  return kernel_fill(k, p.text, operands);
}

Value kernel_number(Kernel *k, Node *n) {
  Arg itself = arg_node(n);
  DType t = number_computed_in(n), result = number_dtype(&itself);
  const char *text = number_text(k, n, t);
  Value v = {kernel_fresh_for(k, n), result};
  if (result != DT_I1 && result != t)
    text = kernel_cast(k, (Value){arena_printf(k->arena, "(%s)", text), t}, result);
  kernel_line(k, "%s = %s", v.text, text);
  kernel_remember(k, n, NULL, v);
  return v;
}
