/* Pass number_tensors: numbers that data decides, which .item() reads, become tensors without axes
 * where operators on elements take them, as kernels have only literals and sizes as numbers.
 *
 *   mul.Tensor(x, item(s) * 2)  =  mul.Scalar(x, t)     t = to(s, f64) * 2
 *   full([n], item(s))          =  expand(to(s), [n])
 *   arange(item(i), item(i) + n) =  arange(n) + i           and prims.iota
 *   pad(x, [1, 0], item(s))     =  where(pad(true, [1, 0]), pad(x, [1, 0]), to(s))
 *   select(x, 1, item(i))       =  index(x, [None, i])
 *   narrow(x, 1, item(i), 3)    =  index_select(x, 1, i + arange(3))     and slices of a known size
 *
 * A tensor in the place of a number gives way to other operands' dtypes as a number does
 * (infer_operand()).  It has the dtype of the number in Python, and is computed by the operators by
 * which a kernel computes numbers of sizes (planner/kernels/kernel_number.c). */
#include <string.h>

#include "graph/analysis/numbers.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"

/* ---- where numbers are used ---- */

/* The form of the operator that takes a number where this takes a tensor; NULL: there is none. */
static const GraphOp *form_of_numbers(Arena *a, const GraphOp *op) {
  const char *overload = strrchr(op->target, '.');
  if (!overload || strncmp(overload, ".Tensor", 7)) return NULL;
  int stem = (int)(overload - op->target);
  return ops_find(arena_printf(a, "%.*s.Scalar%s", stem, op->target, overload + 7));
}

/* The form, if it takes a number as argument `at`. */
static const GraphOp *form_for(Graph *g, const GraphOp *op, uint32_t at) {
  const GraphOp *form = form_of_numbers(g->arena, op);
  const OpSchema *s = form ? ops_schema(g, form) : NULL;
  return s && at < s->nparams && s->params[at].type == PARAM_SCALAR ? form : NULL;
}

/* The dtype of a number of dtype t beside n's tensors, as promotion has it. */
static DType dtype_beside(const Node *n, DType t) {
  for (uint32_t i = 0; i < n->nargs; i++) {
    if (n->args[i].kind != ARG_NODE || n->args[i].node->type.kind != VALUE_TENSOR) continue;
    DType x = n->args[i].node->type.dtype;
    if (dtype_is_float(x)) return x;
    return t == DT_F64 ? DT_F32 : x == DT_I1 ? t : x;
  }
  return t;
}

/* The number as a tensor in the place of a tensor of n, whose part in the result's dtype it keeps,
 * or as one of the elements that n selects. */
static Node *cast_number(Build *b, const Node *n, Node *x, bool selects) {
  bool test = n->type.dtype == DT_I1 && !selects;
  return build_to(b, x, test ? dtype_beside(n, x->type.dtype) : n->type.dtype);
}

static void give_tensor(Build *b, Node *n, uint32_t at, Arg *a, ParamType type) {
  bool selects = pointwise_of(b->in.g, n).selects;
  const GraphOp *form = type == PARAM_TENSOR && !selects ? form_for(b->in.g, n->op, at) : NULL;
  Node *x = number_tensor(b, a);
  if (form) n->op = form;
  if (selects || (type == PARAM_TENSOR && !form)) x = cast_number(b, n, x, selects);
  *a = arg_node(x);
}

static void fill_with_tensor(Build *b, Node *n) {
  Node *x = build_to(b, number_tensor(b, &n->args[1]), n->type.dtype);
  build_become(b, OP_aten_expand_default,
               ARGS(arg_node(x), arg_dims(b->in.g, n->type.rank, n->type.shape)));
}

static void pad_with_tensor(Build *b, Node *n) {
  Node *x = build_self(b), *value = number_tensor(b, &n->args[2]);
  Node *inside = build_full(b, x->type.rank, x->type.shape, arg_bool(true), DT_I1);
  Arg pads = n->args[1];
  inside = build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(inside), pads, arg_bool(false)));
  Node *y = build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), pads, build_int(b, 0)));
  build_become(b, OP_aten_where_ScalarOther, ARGS(arg_node(inside), arg_node(y), arg_node(value)));
}

static Node *number_or(Build *b, const char *param, int64_t otherwise, DType t) {
  Arg a = infer_takes(&b->in, param) ? build_arg(b, param) : build_int(b, otherwise);
  return build_to(b, number_tensor(b, &a), t);
}

/* Integers are counted in 64 bits, and floats in doubles, as PyTorch does. */
static void count_by_tensors(Build *b, Node *n) {
  DType t = dtype_is_float(n->type.dtype) ? DT_F64 : DT_I64;
  Node *start = number_or(b, "start", 0, t), *step = number_or(b, "step", 1, t);
  Node *i = build_to(b, build_arange(b, n->type.shape[0]), t);
  Node *x = build_add(b, build_mul(b, i, step), start);
  build_become(b, OP_aten_to_dtype, ARGS(arg_node(x), arg_dtype(n->type.dtype)));
}

/* The indices are checked as those of other calls (planner/passes/checks/indices.c). */
static void select_by_tensor(Build *b, Node *n) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", x->type.rank);
  Arg indices = arg_list(b->in.g, axis + 1);
  for (uint32_t k = 0; k < axis; k++) indices.items[k] = arg_none();
  indices.items[axis] = arg_node(number_tensor(b, &n->args[2]));
  build_become(b, OP_aten_index_Tensor, ARGS(arg_node(x), indices));
}

/* A start counts from the end if it is negative, and no element beyond the start does. */
static void narrow_by_tensor(Build *b, Node *n) {
  Node *x = build_self(b), *start = number_tensor(b, &n->args[2]);
  uint32_t axis = infer_axis_arg(&b->in, "dim", x->type.rank);
  Node *negative = build_with(b, OP_aten_lt_Scalar, start, build_int(b, 0));
  Node *wrapped = build_with(b, OP_aten_add_Tensor, start, arg_dim(x->type.shape[axis]));
  start = build_where(b, negative, arg_node(wrapped), arg_node(start));
  Node *indices = build_add(b, build_arange(b, n->type.shape[axis]), start);
  build_become(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, axis), arg_node(indices)));
}

/* A slice of a known size has as many elements, or the model's own checks fail. */
static void slice_by_tensor(Build *b, Node *n) {
  uint32_t axis = infer_axis_arg(&b->in, "dim", build_self(b)->type.rank);
  bool strided = n->nargs > 4 && !arg_is_number(&n->args[4], 1);
  if (dim_is_int(n->type.shape[axis]) && !strided) narrow_by_tensor(b, n);
}

/* What takes numbers in ways of its own. */
static const struct {
  OpId op;
  const char *param; /* the number; NULL: any */
  void (*replace)(Build *b, Node *n);
} forms[] = {
    {OP_aten_full_default, "fill_value", fill_with_tensor},
    {OP_aten_arange_start, NULL, count_by_tensors},
    {OP_aten_arange_start_step, NULL, count_by_tensors},
    {OP_prims_iota_default, NULL, count_by_tensors},
    {OP_aten_constant_pad_nd_default, "value", pad_with_tensor},
    {OP_aten_select_int, "index", select_by_tensor},
    {OP_aten_narrow_default, "start", narrow_by_tensor},
    {OP_aten_slice_Tensor, "start", slice_by_tensor},
};

static bool replace_in_form(Build *b, Node *n) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (!graph_is(n, forms[i].op)) continue;
    Arg a = forms[i].param ? build_arg(b, forms[i].param) : arg_none();
    if (!forms[i].param || number_is_of_data(&a)) forms[i].replace(b, n);
    return true;
  }
  return false;
}

static void replace_operands(Build *b, Node *n) {
  const OpSchema *s = ops_schema(b->in.g, n->op);
  for (uint32_t i = 0; i < n->nargs; i++)
    if (number_is_of_data(&n->args[i])) give_tensor(b, n, i, &n->args[i], s->params[i].type);
  for (uint32_t i = 0; i < n->nnamed; i++)
    if (number_is_of_data(&n->named[i].value))
      give_tensor(b, n, n->nargs, &n->named[i].value, PARAM_SCALAR);
}

static bool has_number_of_data(const Node *n) {
  bool found = false;
  for (uint32_t i = 0; i < n->nargs; i++) found |= number_is_of_data(&n->args[i]);
  for (uint32_t i = 0; i < n->nnamed; i++) found |= number_is_of_data(&n->named[i].value);
  return found;
}

static bool replace_numbers(Graph *g, Node *n) {
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return false;
  if (!replace_in_form(&b, n) && prim_kind(n->op) == PRIM_POINTWISE) replace_operands(&b, n);
  return true;
}

bool pass_number_tensors(Graph *g) {
  bool ok = true;
  for (Node *n = g->first; n && ok; n = n->next)
    if (n->kind == NODE_CALL && n->type.kind == VALUE_TENSOR && has_number_of_data(n))
      ok = replace_numbers(g, n);
  return ok;
}
