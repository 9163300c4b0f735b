/* Passes narrow_operands and narrow_sums: operands have the dtype of the operator, as eager mode
 * has them, where kernels compute 16-bit floats in f32.
 *
 *   eq.Scalar(x, 0.1)       =  eq.Scalar(x, 0.0999755859375)        x in f16
 *   fmod.Tensor(x, y)       =  fmod.Tensor(x, to(y, f16))           y in f32, without axes
 *   mul.Tensor(x, i)        =  mul.Tensor(x, to(i, f16))            i in i64
 *
 * NARROWS in the operator table says of which operands that holds.  Of sums and products a number
 * stays as it is: eager mode computes those in f32, too.  The CPU's sums are an exception, and the
 * GPU's softshrink.
 * Only a model's own nodes are changed: the passes run before operators are decomposed. */
#include <string.h>

#include "graph/builders/node_builder.h"
#include "lang/tile/scalar.h"
#include "planner/passes.h"

typedef enum {
  NARROW_NONE,
  NARROW_ALL,      /* operands of any kind: the operator takes elements as they are */
  NARROW_ON_GPUS,  /* the same, where eager mode's kernels for GPUs do that alone */
  NARROW_SUMS,     /* tensors that have axes; on CPUs all */
  NARROW_PRODUCTS, /* tensors that have axes */
} Narrowing;

static const struct {
  Narrowing kind;
} rows[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define NARROWS(kind) NARROW_##kind
#include "graph/ops/op_table.def"
};

/* The dtype of the operands, which are compared if the result is a bool. */
static DType common_dtype(Build *b, const Node *n) {
  if (n->type.dtype != DT_I1 || !infer_takes(&b->in, "other")) return n->type.dtype;
  Operand x[2] = {infer_operand(&b->in, "self"), infer_operand(&b->in, "other")};
  return infer_promote(&b->in, x, 2);
}

static bool is_condition(const OpParam *p) {
  return !strcmp(p->name, "condition") || !strcmp(p->name, "mask");
}

static void narrow_number(Arg *a, DType t) {
  bool whole = a->kind == ARG_INT && dim_is_int(a->dim);
  if (!whole && a->kind != ARG_FLOAT) return;
  double v = whole ? (double)a->dim->value : a->number, rounded = scalar_round(t, v);
  if (rounded != v && v == v) *a = arg_float(rounded);
}

static void narrow(Build *b, const OpParam *p, Arg *a, DType t, bool all) {
  if (p->type != PARAM_TENSOR && p->type != PARAM_SCALAR && p->type != PARAM_FLOAT) return;
  if (is_condition(p)) return;
  const ValueType *of = a->kind == ARG_NODE ? &a->node->type : NULL;
  if (of && of->kind == VALUE_TENSOR && (all || of->rank) && !dtype_represents(t, of->dtype))
    *a = arg_node(build_to(b, a->node, t));
  if (!of && all) narrow_number(a, t);
}

static bool narrow_node(Graph *g, Node *n, bool all) {
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return false;
  DType t = common_dtype(&b, n);
  if (!dtype_is_float(t) || dtype_bits(t) >= 32) return true;
  const OpSchema *s = b.in.schema;
  for (uint32_t i = 0; i < n->nargs; i++) narrow(&b, &s->params[i], &n->args[i], t, all);
  for (uint32_t i = 0; i < n->nnamed; i++) {
    int p = ops_param(s, n->named[i].name);
    if (p >= 0) narrow(&b, &s->params[p], &n->named[i].value, t, all);
  }
  return true;
}

static Narrowing narrowing(const Node *n) {
  bool is = n->kind == NODE_CALL && n->type.kind == VALUE_TENSOR && !n->type.is_complex;
  const GraphOp *op = is ? n->op : NULL;
  while (op && op->same_as) op = op->same_as;
  return op ? rows[op->id].kind : NARROW_NONE;
}

bool pass_narrow_operands(Graph *g) {
  bool ok = true;
  for (Node *n = g->first; n && ok; n = n->next) {
    Narrowing kind = narrowing(n);
    bool all = kind == NARROW_ALL || kind == NARROW_ON_GPUS;
    if (kind && (kind != NARROW_ON_GPUS || !g->host)) ok = narrow_node(g, n, all);
  }
  return ok;
}

bool pass_narrow_sums(Graph *g) {
  bool ok = true;
  for (Node *n = g->first; n && ok; n = n->next)
    if (narrowing(n) == NARROW_SUMS) ok = narrow_node(g, n, true);
  return ok;
}
