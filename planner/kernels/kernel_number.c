/* Python's numbers that are made of sizes, as `x.shape[0] / 2`: scalars of a kernel, in the dtypes
 * of Python's numbers.  The expression of each is that of an operator on tensors
 * (graph/ops/op_table.def). */
#include "planner/kernels/kernel.h"

static bool is_known_size(const Node *n) { return n->type.kind == VALUE_INT && n->type.value; }

bool kernel_has_number(const Node *n) {
  if (is_known_size(n)) return true;
  bool computed = n->kind == NODE_CALL &&
                  (n->op->number || graph_is_any(n, OP_torch_sym_float, OP__operator_pos));
  if (!computed || n->nnamed) return false;
  for (uint32_t i = 0; i < n->nargs; i++) {
    const Arg *a = &n->args[i];
    bool literal = a->kind == ARG_INT || a->kind == ARG_FLOAT || a->kind == ARG_BOOL;
    if (!literal && !(a->kind == ARG_NODE && kernel_has_number(a->node))) return false;
  }
  return true;
}

static DType dtype_of_kind(ValueKind kind) {
  return kind == VALUE_FLOAT ? DT_F64 : kind == VALUE_BOOL ? DT_I1 : DT_I64;
}

static DType dtype_of_arg(const Arg *a) {
  if (a->kind == ARG_NODE) return dtype_of_kind(a->node->type.kind);
  return a->kind == ARG_FLOAT ? DT_F64 : a->kind == ARG_BOOL ? DT_I1 : DT_I64;
}

/* The dtype in which the number is computed: Python divides integers as floats. */
static DType computed_in(const Node *n) {
  DType t = n->type.kind == VALUE_FLOAT ? DT_F64 : DT_I1;
  for (uint32_t i = 0; i < n->nargs; i++) {
    DType x = dtype_of_arg(&n->args[i]);
    if (x == DT_F64 || (x == DT_I64 && t == DT_I1)) t = x;
  }
  return t;
}

/* A literal or a size as a scalar, which has a dtype of its own. */
static Value scalar_of(Kernel *k, const Arg *a) {
  DType t = dtype_of_arg(a);
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
  DType t = computed_in(n), result = dtype_of_kind(n->type.kind);
  const char *text = number_text(k, n, t);
  Value v = {kernel_fresh_for(k, n), result};
  if (result != DT_I1 && result != t)
    text = kernel_cast(k, (Value){arena_printf(k->arena, "(%s)", text), t}, result);
  kernel_line(k, "%s = %s", v.text, text);
  kernel_remember(k, n, NULL, v);
  return v;
}
