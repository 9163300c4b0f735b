#include "graph/builders/node_builder.h"

#include <math.h>
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/graph_text.h"

Build build_at(Graph *g, Node *n) {
  Build b = {.in = {.g = g, .n = n}, .before = n, .rounds = n->rounds};
  if (n->kind == NODE_CALL) b.in.schema = ops_schema(g, n->op);
  return b;
}

/* ---- arguments ---- */

Arg arg_dtype(DType t) { return (Arg){.kind = ARG_DTYPE, .dtype = t, .name = dtype_torch_name(t)}; }

Arg arg_dims(Graph *g, uint32_t n, const Dim *dims) {
  Arg a = arg_list(g, n);
  for (uint32_t i = 0; i < n; i++) a.items[i] = arg_dim(dims[i]);
  return a;
}

Arg arg_axes(Graph *g, uint32_t set) {
  Arg a = arg_list(g, (uint32_t)__builtin_popcount(set));
  for (uint32_t i = 0, n = 0; n < a.n; i++)
    if (set >> i & 1) a.items[n++] = arg_int(g, i);
  return a;
}

Arg build_arg(Build *b, const char *param) { return graph_arg(b->in.g, b->in.n, param); }

Node *build_scalar_arg(Build *b, const char *param, DType t) {
  Arg a = build_arg(b, param);
  bool tensor = a.kind == ARG_NODE && a.node->type.kind == VALUE_TENSOR;
  return tensor ? build_to(b, a.node, t) : build_full(b, 0, NULL, a, t);
}

Node *build_input(Build *b, const char *param) {
  return infer_optional_tensor(&b->in, param) ? build_arg(b, param).node : NULL;
}

bool build_flag(Build *b, const char *param, uint32_t i) {
  Arg a = build_arg(b, param);
  if (a.kind != ARG_LIST) return a.kind == ARG_BOOL && a.flag;
  if (i >= a.n) infer_fail(&b->in, E_GRAPH_PER_AXIS, param, a.n, i + 1);
  return a.items[i].flag;
}

Node *build_self(Build *b) { return build_input(b, b->in.schema->params[0].name); }

static Node **build_list_items(Build *b, Node *list, uint32_t n) {
  Node **out = ARENA_ARRAY(b->in.g->arena, Node *, n);
  for (uint32_t i = 0; i < n; i++) out[i] = build_item(b, list, i);
  return out;
}

Node **build_inputs(Build *b, const char *param, uint32_t *n) {
  infer_tensors(&b->in, param, n); /* reports what is no tensor */
  Arg a = build_arg(b, param);
  if (a.kind == ARG_NODE) return build_list_items(b, a.node, *n);
  Node **out = ARENA_ARRAY(b->in.g->arena, Node *, a.n);
  for (uint32_t i = 0; i < a.n; i++)
    if (a.items[i].kind == ARG_NODE) out[i] = a.items[i].node;
  return out;
}

/* ---- calls ---- */

/* The name of layer_norm_1's part aten.mean.dim is layer_norm_1_mean. */
static void name_part(Build *b, Node *n, const char *part, size_t len) {
  const char *whole = b->in.n->name ? b->in.n->name : "node";
  graph_fresh_name(b->in.g, n, arena_printf(b->in.g->arena, "%s_%.*s", whole, (int)len, part));
}

/* The origin of the current node, or of an operand if it has none, such as the graph's output. */
static Name origin_of(const Build *b, const Node *n) {
  Name origin = b->in.n->origin;
  for (uint32_t i = 0; i < n->nargs && !origin; i++) {
    const Arg *a = &n->args[i];
    const Arg *items = a->kind == ARG_LIST ? a->items : a;
    for (uint32_t k = 0; k < (a->kind == ARG_LIST ? a->n : 1) && !origin; k++)
      if (items[k].kind == ARG_NODE) origin = items[k].node->origin;
  }
  return origin;
}

static Node *finish_node(Build *b, Node *n, const char *part, size_t len) {
  n->location = b->in.n->location;
  n->origin = origin_of(b, n);
  n->rounds = b->rounds;
  name_part(b, n, part, len);
  if (!infer_node(b->in.g, n, &n->type)) longjmp(b->in.failed, 1);
  return n;
}

static Node *start_call(Build *b, OpId op, uint32_t nargs, const Arg *args, uint32_t named) {
  Node *n = graph_node(b->in.g, NODE_CALL, b->before, nargs, named);
  n->op = ops_at(op);
  memcpy(n->args, args, nargs * sizeof *args);
  return n;
}

static Node *finish_call(Build *b, Node *n) {
  const char *part = strchr(n->op->target, '.') + 1;
  return finish_node(b, n, part, strcspn(part, "."));
}

Node *build(Build *b, OpId op, uint32_t nargs, const Arg *args) {
  return finish_call(b, start_call(b, op, nargs, args, 0));
}

Node *build_with_all(Build *b, OpId op, uint32_t nargs, const Arg *args, uint32_t nnamed,
                     const NamedArg *named) {
  Node *n = start_call(b, op, nargs, args, nnamed);
  memcpy(n->named, named, nnamed * sizeof *named);
  return finish_call(b, n);
}

Node *build_with_named(Build *b, OpId op, uint32_t nargs, const Arg *args, const char *name,
                       Arg value) {
  NamedArg named = {pool_name(b->in.g->names, name), value};
  return build_with_all(b, op, nargs, args, 1, &named);
}

Node *build_and(Build *b, Node *x, Node *y) {
  return x && y ? build_op2(b, OP_aten_logical_and_default, x, y) : x ? x : y;
}

Node *build_item(Build *b, Node *list, uint32_t i) {
  Node *n = graph_node(b->in.g, NODE_GETITEM, b->before, 2, 0);
  n->args[0] = arg_node(list);
  n->args[1] = build_int(b, i);
  return finish_node(b, n, "getitem", strlen("getitem"));
}

Node *build_op1(Build *b, OpId op, Node *x) { return build(b, op, ARGS(arg_node(x))); }

Node *build_op2(Build *b, OpId op, Node *x, Node *y) {
  return build(b, op, ARGS(arg_node(x), arg_node(y)));
}

Node *build_product(Build *b, OpId op, Node *x, Node *y, ProductRounding rounds) {
  ProductRounding before = b->rounds;
  b->rounds = rounds;
  Node *product = build_op2(b, op, x, y);
  b->rounds = before;
  return product;
}

Node *build_with(Build *b, OpId op, Node *x, Arg y) { return build(b, op, ARGS(arg_node(x), y)); }

Node *build_add(Build *b, Node *x, Node *y) { return build_op2(b, OP_aten_add_Tensor, x, y); }
Node *build_add_dim(Build *b, Node *x, Dim y) {
  return dim_is(y, 0) ? x : build_with(b, OP_aten_add_Tensor, x, arg_dim(y));
}

Node *build_mul_dim(Build *b, Node *x, Dim y) {
  return dim_is(y, 1) ? x : build_with(b, OP_aten_mul_Tensor, x, arg_dim(y));
}

Node *build_sub(Build *b, Node *x, Node *y) { return build_op2(b, OP_aten_sub_Tensor, x, y); }
Node *build_mul(Build *b, Node *x, Node *y) { return build_op2(b, OP_aten_mul_Tensor, x, y); }
Node *build_div(Build *b, Node *x, Node *y) { return build_op2(b, OP_aten_div_Tensor, x, y); }

Node *build_where(Build *b, Node *condition, Arg x, Arg y) {
  return build(b, OP_aten_where_self, ARGS(arg_node(condition), x, y));
}

Node *build_pair(Build *b, Node *x, Node *y) {
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 2);
  b->items[0] = x;
  b->items[1] = y;
  b->nitems = 2;
  return NULL;
}

Node *build_triple(Build *b, Node *x, Node *y, Node *z) {
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 3);
  b->items[0] = x;
  b->items[1] = y;
  b->items[2] = z;
  b->nitems = 3;
  return NULL;
}

Node *build_results(Build *b, uint32_t n, Node *const *results) {
  const ValueType *t = b->in.n->type.items;
  Node **out = ARENA_ARRAY(b->in.g->arena, Node *, n);
  for (uint32_t i = 0; i < n; i++)
    out[i] = results[i] ? build_to(b, build_view(b, results[i], t[i].rank, t[i].shape), t[i].dtype)
                        : build_full(b, t[i].rank, t[i].shape, build_int(b, 0), t[i].dtype);
  b->items = out;
  b->nitems = n;
  return NULL;
}

Node *build_become(Build *b, OpId op, uint32_t nargs, const Arg *args) {
  Node *n = b->in.n;
  n->op = ops_at(op);
  n->args = ARENA_ARRAY(b->in.g->arena, Arg, nargs);
  memcpy(n->args, args, nargs * sizeof *args);
  n->nargs = nargs;
  n->nnamed = 0;
  return NULL;
}

Node *build_become_typed(Build *b, OpId op, uint32_t nargs, const Arg *args, DType t) {
  build_become(b, op, nargs, args);
  Node *n = b->in.n;
  n->named = ARENA_ARRAY(b->in.g->arena, NamedArg, 1);
  n->named[0] = (NamedArg){pool_name(b->in.g->names, "dtype"), arg_dtype(t)};
  n->nnamed = 1;
  return NULL;
}

/* ---- checks ---- */

/* There fusion knows the kernels that it may join. */
/* The end of the innermost loop that contains n (graph/analysis/loops.h); NULL: there is none. */
static Node *end_of_loop(const Graph *g, const Node *n) {
  Arena *scratch = arena_child(g->arena);
  bool *later = g->has_loops ? ARENA_ARRAY(scratch, bool, g->nids) : NULL;
  Node *end = NULL;
  for (Node *x = later ? n->next : NULL; x && !end; x = x->next) {
    later[x->id] = true;
    if (!graph_is(x, OP_nereid_loop_end_default)) continue;
    bool inside = true;
    for (uint32_t i = 0; i < x->args[1].n; i++) inside &= !later[x->args[1].items[i].node->id];
    if (inside) end = x;
  }
  arena_free(scratch);
  return end;
}

static Arg arg_text(Name text) { return (Arg){.kind = ARG_STRING, .name = text}; }

static Node *build_check(Build *b, uint32_t nargs, const Arg *args, Arg fault) {
  Node *before = b->before, *last = b->in.g->last;
  if (last && last->kind == NODE_OUTPUT) {
    Node *end = end_of_loop(b->in.g, b->in.n);
    b->before = end ? end : last;
  }
  OpId check = OP_nereid_check_index_default;
  Node *n = fault.kind == ARG_NONE ? build(b, check, nargs, args)
                                   : build_with_named(b, check, nargs, args, "fault", fault);
  b->before = before;
  return n;
}

Node *build_check_index(Build *b, Node *index, Dim size, bool negative, Arg ignore, Name node) {
  Arg args[] = {arg_node(index), arg_dim(size), arg_text(node), arg_bool(negative), ignore};
  return build_check(b, ignore.kind != ARG_NONE ? 5 : negative ? 4 : 3, args, arg_none());
}

Node *build_check_data(Build *b, Node *bad, const char *fault, Name node) {
  Arg args[] = {arg_node(bad), build_int(b, 1), arg_text(node)};
  return build_check(b, 3, args, arg_text(pool_name(b->in.g->names, fault)));
}

/* ---- dtypes ---- */

DType build_wide(DType t) { return dtype_is_float(t) && dtype_bits(t) <= 16 ? DT_F32 : t; }

Node *build_to(Build *b, Node *x, DType t) {
  return x->type.dtype == t ? x : build_with(b, OP_aten_to_dtype, x, arg_dtype(t));
}

Node *build_limit(Build *b, DType t, bool least) {
  Arg value;
  if (dtype_is_float(t)) {
    value = arg_float(least ? -INFINITY : INFINITY);
  } else if (t == DT_I1) {
    value = arg_bool(!least);
  } else {
    int64_t most = (int64_t)(UINT64_MAX >> (64 - dtype_bits(t) + dtype_is_signed(t)));
    value = build_int(b, !least ? most : dtype_is_signed(t) ? -most - 1 : 0);
  }
  return build_full(b, 0, NULL, value, t);
}

DType build_result_dtype(Build *b) {
  const ValueType *t = &b->in.n->type;
  return t->kind == VALUE_LIST ? t->items[0].dtype : t->dtype;
}

Node *build_wide_input(Build *b, const char *param) {
  Node *x = build_input(b, param);
  return x ? build_widen(b, x) : NULL;
}

Node *build_to_result(Build *b, Node *x) { return build_to(b, x, build_result_dtype(b)); }

/* ---- views ---- */

static bool has_shape(const Node *x, uint32_t rank, const Dim *shape) {
  return x->type.rank == rank && (rank == 0 || !memcmp(x->type.shape, shape, rank * sizeof *shape));
}

Node *build_view(Build *b, Node *x, uint32_t rank, const Dim *shape) {
  if (has_shape(x, rank, shape)) return x;
  return build_with(b, OP_aten_view_default, x, arg_dims(b->in.g, rank, shape));
}

Node *build_finished(Build *b, Node *x) {
  return build_view(b, x, b->in.n->type.rank, b->in.n->type.shape);
}

Node *build_flat(Build *b, Node *x) {
  Dim all = value_numel(b->in.g, &x->type);
  return build_view(b, x, 1, &all);
}

Node *build_expand(Build *b, Node *x, uint32_t rank, const Dim *shape) {
  if (has_shape(x, rank, shape)) return x;
  return build_with(b, OP_aten_expand_default, x, arg_dims(b->in.g, rank, shape));
}

Node *build_permute(Build *b, Node *x, const uint32_t *axes) {
  Dim dims[GRAPH_RANK_MAX];
  bool moves = false;
  for (uint32_t i = 0; i < rank_of(x); i++) {
    moves |= axes[i] != i;
    dims[i] = build_const(b, axes[i]);
  }
  if (!moves) return x;
  return build_with(b, OP_aten_permute_default, x, arg_dims(b->in.g, rank_of(x), dims));
}

Node *build_transpose(Build *b, Node *x, uint32_t a, uint32_t c) {
  uint32_t axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++) axes[i] = i == a ? c : i == c ? a : i;
  return build_permute(b, x, axes);
}

Node *build_slice(Build *b, Node *x, uint32_t axis, Dim start, Dim end, int64_t step) {
  if (dim_is(start, 0) && end == x->type.shape[axis] && step == 1) return x;
  Arg args[] = {arg_node(x), build_int(b, axis), arg_dim(start), arg_dim(end), build_int(b, step)};
  return build(b, OP_aten_slice_Tensor, step == 1 ? 4 : 5, args);
}

Node *build_select(Build *b, Node *x, uint32_t axis, Dim index) {
  return build(b, OP_aten_select_int, ARGS(arg_node(x), build_int(b, axis), arg_dim(index)));
}

Node *build_unsqueeze(Build *b, Node *x, uint32_t axis) {
  return build_with(b, OP_aten_unsqueeze_default, x, build_int(b, axis));
}

Node *build_squeeze(Build *b, Node *x, uint32_t set) {
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (!dim_is(x->type.shape[i], 1)) set &= ~(1u << i);
  return set ? build_with(b, OP_aten_squeeze_dims, x, arg_axes(b->in.g, set)) : x;
}

Node *build_along(Build *b, Node *v, uint32_t axis, uint32_t rank) {
  Dim shape[GRAPH_RANK_MAX];
  infer_rank(&b->in, &v->type, 1, 1);
  for (uint32_t i = 0; i < rank - axis; i++) shape[i] = build_const(b, 1);
  shape[0] = v->type.shape[0];
  return build_view(b, v, rank - axis, shape);
}

Node *build_lead(Build *b, Node *x, uint32_t rank) {
  Dim shape[GRAPH_RANK_MAX];
  if (rank_of(x) >= rank) return x;
  uint32_t more = rank - rank_of(x);
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = i < more ? build_const(b, 1) : x->type.shape[i - more];
  return build_view(b, x, rank, shape);
}

Node *build_cat(Build *b, uint32_t n, Node *const *x, uint32_t axis) {
  if (n == 1) return x[0];
  Arg list = arg_list(b->in.g, n);
  for (uint32_t i = 0; i < n; i++) list.items[i] = arg_node(x[i]);
  return build(b, OP_aten_cat_default, ARGS(list, build_int(b, axis)));
}

/* ---- reductions, creation ---- */

Node *build_reduce(Build *b, OpId op, Node *x, uint32_t set, bool keepdim) {
  if (!set) return x;
  Arg args[] = {arg_node(x), arg_axes(b->in.g, set), arg_bool(true)};
  return build(b, op, keepdim ? 3 : 2, args);
}

Node *build_sum(Build *b, Node *x, uint32_t set, bool keepdim) {
  return build_reduce(b, OP_aten_sum_dim_IntList, x, set, keepdim);
}

Dim build_count(Build *b, const Node *x, uint32_t set) {
  Dim n = build_const(b, 1);
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (set >> i & 1) n = dim_mul(b->in.g->dims, n, x->type.shape[i]);
  return n;
}

Node *build_mean(Build *b, Node *x, uint32_t set, bool keepdim) {
  Node *sum = build_sum(b, x, set, keepdim);
  return build_with(b, OP_aten_div_Tensor, sum, arg_dim(build_count(b, x, set)));
}

Node *build_full(Build *b, uint32_t rank, const Dim *shape, Arg value, DType t) {
  Arg args[] = {arg_dims(b->in.g, rank, shape), value};
  return build_with_named(b, OP_aten_full_default, 2, args, "dtype", arg_dtype(t));
}

Node *build_arange(Build *b, Dim n) {
  Arg args[] = {build_int(b, 0), arg_dim(n), build_int(b, 1)};
  return build_with_named(b, OP_aten_arange_start_step, 3, args, "dtype", arg_dtype(DT_I64));
}
