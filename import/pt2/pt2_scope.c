/* What a region says of each of its nodes: casts of torch.autocast, and indices under a condition.
 *
 * Under autocast PyTorch casts the operands of some operators as it calls them, and the file has
 * none of these casts.  Which operators these are depends on the device; the dtype of the result,
 * which the file has, says whether the operands were cast. */
#include <string.h>

#include "graph/ops/graph_text.h"
#include "import/messages.h"
#include "import/pt2/pt2_read.h"

/* ---- casts ---- */

/* Operators that compute in autocast's dtype; their results are of that, unless they are of f64. */
static const OpId lowered[] = {OP_aten_conv1d_default,
                               OP_aten_conv1d_padding,
                               OP_aten_conv2d_default,
                               OP_aten_conv2d_padding,
                               OP_aten_conv3d_default,
                               OP_aten_conv3d_padding,
                               OP_aten_conv_transpose1d_default,
                               OP_aten_conv_transpose2d_input,
                               OP_aten_conv_transpose3d_input,
                               OP_aten_convolution_default,
                               OP_aten_linear_default,
                               OP_aten_matmul_default,
                               OP_aten_linalg_matmul_default,
                               OP_aten_mm_default,
                               OP_aten_mv_default,
                               OP_aten_bmm_default,
                               OP_aten_addmm_default,
                               OP_aten_addmv_default,
                               OP_aten_baddbmm_default,
                               OP_aten_prelu_default,
                               OP_aten_einsum_default,
                               OP_aten_lstm_cell_default,
                               OP_aten_gru_cell_default,
                               OP_aten_rnn_tanh_cell_default,
                               OP_aten_rnn_relu_cell_default,
                               OP_aten_scaled_dot_product_attention_default,
                               OP_UNKNOWN};

/* Composites whose products autocast casts, and no other of their values. */
static const OpId mixed[] = {OP_aten_bilinear_default,      OP_aten__trilinear_default,
                             OP_aten_gru_input,             OP_aten_lstm_input,
                             OP_aten_rnn_tanh_input,        OP_aten_rnn_relu_input,
                             OP_aten_gru_cell_default,      OP_aten_lstm_cell_default,
                             OP_aten_rnn_tanh_cell_default, OP_aten_rnn_relu_cell_default,
                             OP_UNKNOWN};

static bool is_float_value(const Node *n) {
  return n->type.kind == VALUE_TENSOR && dtype_is_float(n->type.dtype) && !n->type.is_complex;
}

static const ValueType *first_result(const Node *n) {
  const ValueType *t = &n->type;
  return t->kind == VALUE_LIST && t->nitems ? &t->items[0] : t;
}

typedef struct {
  Pt2 *r;
  Node *user;
  DType to;
  uint32_t narrow; /* operands of 16 bits */
  uint32_t wide;   /* of f32 */
} Operands;

static void count_operand(Node **use, void *ctx) {
  Operands *o = ctx;
  o->narrow += is_float_value(*use) && dtype_bits((*use)->type.dtype) == 16;
  o->wide += is_float_value(*use) && (*use)->type.dtype == DT_F32;
}

static void cast_operand(Node **use, void *ctx) {
  Operands *o = ctx;
  Node *x = *use;
  if (!is_float_value(x) || x->type.dtype == o->to || x->type.dtype == DT_F64) return;
  Graph *g = o->r->graph;
  Node *n = graph_node(g, NODE_CALL, o->user, 2, 0);
  n->op = ops_at(OP_aten_to_dtype);
  n->args[0] = arg_node(x);
  n->args[1] = (Arg){.kind = ARG_DTYPE, .dtype = o->to, .name = dtype_torch_name(o->to)};
  n->location = o->user->location;
  n->origin = o->user->origin;
  n->type = x->type;
  n->type.dtype = o->to;
  graph_fresh_name(g, n, "cast");
  *use = n;
}

static bool takes_dtype(Pt2 *r, const Node *n) {
  return ops_param(ops_schema(r->graph, n->op), "dtype") >= 0 &&
         graph_arg(r->graph, n, "dtype").kind == ARG_DTYPE;
}

/* Has one of the results another dtype than t?  Of f64 autocast casts nothing. */
static bool has_other_result(const Node *n, DType t) {
  const ValueType *all = &n->type;
  if (all->kind != VALUE_LIST) return all->dtype != t && all->dtype != DT_F64;
  for (uint32_t i = 0; i < all->nitems; i++)
    if (all->items[i].dtype != t && all->items[i].dtype != DT_F64) return true;
  return false;
}

/* Casts of operands say what a composite computes in if all its values are of autocast's dtype. */
static bool is_mixed(Pt2 *r, Node *n, DType t) {
  if (!graph_is_among(n, mixed) || !has_other_result(n, t)) return false;
  Operands o = {.r = r, .user = n};
  graph_each_use(n, count_operand, &o);
  return o.wide > 0;
}

static void cast_operands(Pt2 *r, Node *n, DType t) {
  const ValueType *result = first_result(n);
  Operands o = {.r = r, .user = n};
  if (result->kind != VALUE_TENSOR) return;
  graph_each_use(n, count_operand, &o);
  /* A result in autocast's dtype of operands none of which has it: they were cast, if only those of
   * products within the operator. */
  bool lower = result->dtype == t && !takes_dtype(r, n) &&
               (graph_is_among(n, lowered) || !o.narrow);
  /* Results in f32 of a narrower operand: it was cast, or promotion casts it. */
  bool wide = result->dtype == DT_F32 && o.narrow && !takes_dtype(r, n);
  o.to = lower ? t : DT_F32;
  if (lower || wide) graph_each_use(n, cast_operand, &o);
}

/* ---- indices ---- */

/* The parameters that are indices. */
static const struct {
  const char *names[4]; /* the last is NULL */
} rows[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {{__VA_ARGS__}},
#define INDICES(name, size, negative) name,
#define INDEX_LIST "indices",
#include "graph/ops/op_table.def"
};

static bool is_index(const Arg *a) {
  return a->kind == ARG_NODE && a->node->type.kind == VALUE_TENSOR &&
         dtype_is_int(a->node->type.dtype) && dtype_bits(a->node->type.dtype) >= 32;
}

static void guard_index(Pt2 *r, Node *user, Arg *a) {
  if (!is_index(a)) return;
  Node *n = graph_node(r->graph, NODE_CALL, user, 3, 0);
  n->op = ops_at(OP_aten_where_ScalarOther);
  n->args[0] = arg_node(r->scope.guard);
  n->args[1] = *a;
  n->args[2] = arg_int(r->graph, 0);
  n->location = user->location;
  n->origin = user->origin;
  n->type = a->node->type;
  graph_fresh_name(r->graph, n, "index");
  *a = arg_node(n);
}

static Arg *find_arg(Pt2 *r, Node *n, const char *param) {
  const OpSchema *s = ops_schema(r->graph, n->op);
  int at = ops_param(s, param);
  if (at >= 0 && (uint32_t)at < n->nargs) return &n->args[at];
  for (uint32_t i = 0; i < n->nnamed; i++)
    if (!strcmp(n->named[i].name, param)) return &n->named[i].value;
  return NULL;
}

static void guard_indices(Pt2 *r, Node *n) {
  for (const char *const *name = rows[n->op->id].names; *name; name++) {
    Arg *a = find_arg(r, n, *name);
    if (a && a->kind == ARG_NODE) guard_index(r, n, a);
    for (uint32_t i = 0; a && a->kind == ARG_LIST && i < a->n; i++) guard_index(r, n, &a->items[i]);
  }
}

bool pt2_apply_scope(Pt2 *r, Node *n) {
  if (!n->op->schema) return true;
  DType t = r->scope.autocast;
  if (t && is_mixed(r, n, t)) {
    diag_error(r->diags, r->location, E_GRAPH_PT2_AUTOCAST, n->name, n->op->target, dtype_name(t));
    return false;
  }
  if (t) cast_operands(r, n, t);
  if (r->scope.guard) guard_indices(r, n);
  return true;
}
