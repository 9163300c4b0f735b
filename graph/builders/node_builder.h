/* The builder of nodes, for passes.
 *
 * graph/infer owns the type rules of operators and this builder.  It takes operators and arguments,
 * and gives types, and nodes that have them.
 *
 * A Build has a current node, whose arguments the functions of graph/ops/infer_rules.h get, and an
 * insertion point.  Each call is typed by inference as it is made, and gets its location, its
 * origin, its rounding and the stem of its name from the current node.
 *
 * Nothing here returns on an error: it is reported, and jumps to b->in.failed. */
#ifndef NEREID_GRAPH_BUILDERS_NODE_BUILDER_H
#define NEREID_GRAPH_BUILDERS_NODE_BUILDER_H

#include "graph/ops/infer_rules.h"

typedef struct {
  Infer in;     /* of the Build's node */
  Node *before; /* where new nodes go */
  ProductRounding rounds; /* of new nodes */
  Node **items; /* what a rule leaves in place of a node whose value is a list */
  uint32_t nitems;
} Build;

Build build_at(Graph *g, Node *n);

/* ---- arguments ---- */

#define ARGS(...) sizeof((Arg[]){__VA_ARGS__}) / sizeof(Arg), (Arg[]){__VA_ARGS__}

static inline Arg arg_float(double v) { return (Arg){.kind = ARG_FLOAT, .number = v}; }
static inline Arg arg_bool(bool v) { return (Arg){.kind = ARG_BOOL, .flag = v}; }
Arg arg_dtype(DType t);
Arg arg_dims(Graph *g, uint32_t n, const Dim *dims);
Arg arg_axes(Graph *g, uint32_t set);

/* The tensor that is given for that parameter; NULL for None. */
Node *build_input(Build *b, const char *param);
/* The input for the first parameter. */
Node *build_self(Build *b);
/* The argument that is given: a tensor or a number. */
Arg build_arg(Build *b, const char *param);
/* The argument that is given, a number or a tensor without axes, as a tensor of that dtype. */
Node *build_scalar_arg(Build *b, const char *param, DType t);
/* Item i of a list of truth values. */
bool build_flag(Build *b, const char *param, uint32_t i);
/* The tensors of a list. */
Node **build_inputs(Build *b, const char *param, uint32_t *n);
static inline Dims *build_dims(const Build *b) { return b->in.g->dims; }
static inline Dim build_const(Build *b, int64_t v) { return dim_int(b->in.g->dims, v); }
static inline Arg build_int(Build *b, int64_t v) { return arg_int(b->in.g, v); }
static inline uint32_t rank_of(const Node *x) { return x->type.rank; }
/* The size of the last axis for back = 1, of the one before it for 2. */
static inline Dim size_from_end(const Node *x, uint32_t back) {
  return x->type.shape[x->type.rank - back];
}
static inline uint32_t all_axes(const Node *x) { return (1u << x->type.rank) - 1; }

/* ---- calls ---- */

Node *build(Build *b, OpId op, uint32_t nargs, const Arg *args);
Node *build_with_all(Build *b, OpId op, uint32_t nargs, const Arg *args, uint32_t nnamed,
                  const NamedArg *named);
Node *build_with_named(Build *b, OpId op, uint32_t nargs, const Arg *args,
                       const char *name, Arg value);
Node *build_op1(Build *b, OpId op, Node *x);
Node *build_op2(Build *b, OpId op, Node *x, Node *y);
/* Builds an mm, bmm or matmul with this rounding. */
Node *build_product(Build *b, OpId op, Node *x, Node *y, ProductRounding rounds);
/* The second operand is a number. */
Node *build_with(Build *b, OpId op, Node *x, Arg y);
Node *build_add(Build *b, Node *x, Node *y);
/* x itself for 0, and for 1. */
Node *build_add_dim(Build *b, Node *x, Dim y);
Node *build_mul_dim(Build *b, Node *x, Dim y);
Node *build_sub(Build *b, Node *x, Node *y);
Node *build_mul(Build *b, Node *x, Node *y);
Node *build_div(Build *b, Node *x, Node *y);
Node *build_where(Build *b, Node *condition, Arg x, Arg y);
/* Both conditions; NULL is one that always holds. */
Node *build_and(Build *b, Node *x, Node *y);
/* `list`, a call with several results, at i. */
Node *build_item(Build *b, Node *list, uint32_t i);
/* x and y become the items of the Build's node.  Returns NULL, as a rule does whose node has
 * several results. */
Node *build_pair(Build *b, Node *x, Node *y);
/* Builds a list of three. */
Node *build_triple(Build *b, Node *x, Node *y, Node *z);
/* The items of the Build's node, in the shapes and dtypes that it has; zeros where one is NULL. */
Node *build_results(Build *b, uint32_t n, Node *const *results);
/* The Build's node becomes another call, of the same type.  Returns NULL, as a rule does that keeps
 * its node. */
Node *build_become(Build *b, OpId op, uint32_t nargs, const Arg *args);
Node *build_become_typed(Build *b, OpId op, uint32_t nargs, const Arg *args, DType t);

/* ---- dtypes ---- */

/* The dtype in which PyTorch computes: f32 for 16-bit floats. */
DType build_wide(DType t);
Node *build_to(Build *b, Node *x, DType t); /* x itself if it is of that dtype */
/* The dtype of the Build's node, of its first item if that is a list; and x in that dtype. */
DType build_result_dtype(Build *b);
Node *build_to_result(Build *b, Node *x);
static inline Node *build_widen(Build *b, Node *x) {
  return build_to(b, x, build_wide(x->type.dtype));
}

/* The tensor that is given for that parameter, widened; NULL for None. */
Node *build_wide_input(Build *b, const char *param);

/* The least or the largest number of a dtype, without axes. */
Node *build_limit(Build *b, DType t, bool least);

/* ---- views: x itself where nothing would change ---- */

/* Gives x the shape of the Build's node. */
Node *build_finished(Build *b, Node *x);

Node *build_view(Build *b, Node *x, uint32_t rank, const Dim *shape);
Node *build_flat(Build *b, Node *x); /* x as one axis */
Node *build_expand(Build *b, Node *x, uint32_t rank, const Dim *shape);
Node *build_permute(Build *b, Node *x, const uint32_t *axes);
Node *build_transpose(Build *b, Node *x, uint32_t a, uint32_t c);
Node *build_slice(Build *b, Node *x, uint32_t axis, Dim start, Dim end, int64_t step);
Node *build_select(Build *b, Node *x, uint32_t axis, Dim index);
Node *build_unsqueeze(Build *b, Node *x, uint32_t axis);
Node *build_squeeze(Build *b, Node *x, uint32_t set);
/* A vector as it broadcasts along `axis` of a tensor of that rank: [n, 1, 1]. */
Node *build_along(Build *b, Node *v, uint32_t axis, uint32_t rank);
/* Axes of size 1 in front of x until it has that rank. */
Node *build_lead(Build *b, Node *x, uint32_t rank);
Node *build_cat(Build *b, uint32_t n, Node *const *x, uint32_t axis);

/* ---- checks ---- */

/* A node at the end of the graph: the run fails, naming `node`, if an element of `index` is none of
 * 0 ... size - 1, or where they may count from the end, of -size ... size - 1.  An index equal to
 * `ignore`, an integer or None, is skipped. */
Node *build_check_index(Build *b, Node *index, Dim size, bool negative, Arg ignore, Name node);
/* The same for data: the run fails with the text `fault` where a truth value of `bad` holds. */
Node *build_check_data(Build *b, Node *bad, const char *fault, Name node);

/* ---- reductions, creation ---- */

/* sum.dim_IntList, amax, amin over the axes of `set`. */
Node *build_reduce(Build *b, OpId op, Node *x, uint32_t set, bool keepdim);
Node *build_sum(Build *b, Node *x, uint32_t set, bool keepdim);
Node *build_mean(Build *b, Node *x, uint32_t set, bool keepdim);
/* The number of elements along those axes. */
Dim build_count(Build *b, const Node *x, uint32_t set);
Node *build_full(Build *b, uint32_t rank, const Dim *shape, Arg value, DType t);
Node *build_arange(Build *b, Dim n); /* 0, 1, ... n-1 in i64 */

#endif
