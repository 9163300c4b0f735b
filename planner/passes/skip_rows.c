/* Pass skip_rows: for GPUs, products of batches leave out rows that nothing reads.
 *
 * Experts with room for a fixed number of rows write their tokens to some rows of a box, multiply
 * all of it, and read these rows again:
 *
 *   y = bmm(bmm(box, up), down), z = view(y)[at]   ->   nereid.ended_bmm(box, up, ends), ...
 *
 * A node is read by rows if every use of it leads to one gather of rows of the leading axes,
 * through operators that compute a row of the result of the same row of their operand.  `ends` has
 * for each batch the number behind its last row in `at`.  A box that is written by the gather's own
 * index has nothing else that is read, so it is a gather too, which a product does in its loads:
 *
 *   index_put(zeros, [at], values)   ->   index_select(values, 0, writers of rows, of others 0) */
#include <setjmp.h>

#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "decompose/scatter.h"
#include "planner/passes.h"

/* A tile of 128 rows is left out if none of them is read.  At least a quarter of all rows is not,
 * so that what libraries are faster by, up to a tenth, is less. */
enum { ROWS_LEAST = 128, READ_OF_4 = 3 };

/* How a node is used. */
typedef struct {
  Node *gather;  /* that all uses lead to; NULL: none was seen */
  uint32_t lead; /* the axes whose elements, in order, are its rows */
  bool whole;    /* another use may read all */
  bool visited;
} Reads;

typedef struct {
  Graph *g;
  Arena *scratch;
  Reads *reads; /* by node id */
  VEC(Node *) products, puts; /* from the last */
} SkipRows;

static void read_whole(Node **operand, void *ctx) {
  SkipRows *s = ctx;
  s->reads[(*operand)->id].whole = true;
}

static void read_rows(SkipRows *s, Node *operand, Node *gather, uint32_t lead) {
  Reads *r = &s->reads[operand->id];
  if (r->gather && (r->gather != gather || r->lead != lead)) r->whole = true;
  r->gather = gather;
  r->lead = lead;
}

/* The number of elements of the axes from `first` to before `end`. */
static Dim count_of(Graph *g, const ValueType *t, uint32_t first, uint32_t end) {
  Dim n = dim_int(g->dims, 1);
  for (uint32_t i = first; i < end; i++) n = dim_mul(g->dims, n, t->shape[i]);
  return n;
}

/* The index of rows of the first axis that n gathers; NULL: it is no such gather. */
static Node *gathered_by(Graph *g, const Node *n) {
  if (n->kind != NODE_CALL || !graph_is(n, OP_aten_index_Tensor)) return NULL;
  Arg at = graph_arg(g, n, "indices");
  if (at.kind != ARG_LIST || at.n != 1 || at.items[0].kind != ARG_NODE) return NULL;
  return dtype_is_int(at.items[0].node->type.dtype) && n->args[0].node->type.rank > 1 &&
                 dtype_bits(at.items[0].node->type.dtype) > 8
             ? at.items[0].node
             : NULL;
}

/* An axis that is an argument, of the operand or, where that has fewer, of the result. */
static int64_t axis_of(Graph *g, const Node *n, const char *param) {
  int64_t axis = graph_arg(g, n, param).dim->value;
  uint32_t own = n->args[0].node->type.rank, made = n->type.rank;
  bool list = n->type.kind != VALUE_TENSOR;
  return axis < 0 ? axis + (list || own > made ? own : made) : axis;
}

/* Do the first axes stay where they are? */
static bool keeps_first_axes(Graph *g, const Node *n, uint32_t count) {
  Arg axes = graph_arg(g, n, "dims");
  for (uint32_t i = 0; i < count; i++) {
    int64_t axis = axes.items[i].dim->value;
    if (axis != i && axis + n->type.rank != i) return false;
  }
  return true;
}

/* The operand of a view of the same elements in the same order, whose rows are that many of its
 * leading axes; 0: rows are no such axes. */
static uint32_t lead_before_view(Graph *g, const Node *n, uint32_t lead) {
  const ValueType *t = &n->type, *from = &n->args[0].node->type;
  Dim rows = count_of(g, t, 0, lead), row = count_of(g, t, lead, t->rank);
  for (uint32_t i = 1; i < from->rank; i++)
    if (count_of(g, from, 0, i) == rows && count_of(g, from, i, from->rank) == row) return i;
  return 0;
}

static bool is_elementwise(const Node *n) {
  bool casts = graph_is_any(n, OP_prims_convert_element_type_default, OP_aten_to_dtype,
                            OP_aten__to_copy_default);
  return casts || (prim_kind(n->op) == PRIM_POINTWISE && !n->op->random && !prim_checks(n));
}

/* Operands of n's own shape are read by rows as n is, others whole. */
static void read_elementwise(SkipRows *s, Node *n, const Reads *r) {
  for (uint32_t i = 0; i < n->nargs; i++) {
    if (n->args[i].kind != ARG_NODE) continue;
    Node *x = n->args[i].node;
    bool same = x->type.kind == VALUE_TENSOR && x->type.rank == n->type.rank;
    for (uint32_t k = 0; same && k < x->type.rank; k++)
      same = x->type.shape[k] == n->type.shape[k];
    if (same) read_rows(s, x, r->gather, r->lead);
    else read_whole(&x, s);
  }
  for (uint32_t i = 0; i < n->nnamed; i++)
    if (n->named[i].value.kind == ARG_NODE) read_whole(&n->named[i].value.node, s);
}

/* A concatenation behind the first tensor's rows, or along the elements of rows. */
static void read_sources(SkipRows *s, Node *n, const Reads *r) {
  Arg all = n->args[0];
  int64_t axis = graph_arg(s->g, n, "dim").dim->value;
  if (axis < 0) axis += n->type.rank;
  for (uint32_t i = 0; i < all.n; i++) {
    Node *x = all.items[i].node;
    bool rows = axis >= r->lead || (axis == 0 && r->lead == 1 && i == 0);
    if (rows && x->type.rank == n->type.rank) read_rows(s, x, r->gather, r->lead);
    else read_whole(&x, s);
  }
}

static bool is_slice_from_start(Graph *g, const Node *n) {
  Arg start = graph_arg(g, n, "start"), step = graph_arg(g, n, "step");
  return (start.kind == ARG_NONE || dim_is(start.dim, 0)) && dim_is(step.dim, 1);
}

/* The axes of rows of the only operand that n reads by rows; 0: it reads all of its operands. */
static uint32_t lead_of_operand(Graph *g, const Node *n, uint32_t lead) {
  if (n->kind == NODE_GETITEM) return lead;
  switch (n->op->id) {
    case OP_aten_chunk_default:
    case OP_aten_split_Tensor:
    case OP_aten_split_sizes:
    case OP_aten_split_with_sizes_default:
    case OP_aten_unsqueeze_default:
    case OP_aten_squeeze_dim: return axis_of(g, n, "dim") >= lead ? lead : 0;
    case OP_aten_transpose_int:
      return axis_of(g, n, "dim0") >= lead && axis_of(g, n, "dim1") >= lead ? lead : 0;
    case OP_aten_permute_default: return keeps_first_axes(g, n, lead) ? lead : 0;
    case OP_aten_slice_Tensor:
      if (axis_of(g, n, "dim") >= lead) return lead;
      return lead == 1 && is_slice_from_start(g, n) ? 1 : 0;
    case OP_aten_view_default:
    case OP_aten__unsafe_view_default:
    case OP_aten_reshape_default: return lead_before_view(g, n, lead);
    case OP_aten_bmm_default: return lead == 2 ? 2 : 0;
    case OP_aten_mm_default: return lead == 1 ? 1 : 0;
    default: return 0;
  }
}

/* Are so many of the product's rows not read that it shall leave them out? */
static bool is_worth(Graph *g, const Node *n, const Node *gather) {
  const ValueType *t = &n->type;
  Dim rows = count_of(g, t, 0, 2), read = value_numel(g, &gathered_by(g, gather)->type);
  Dim all = gather->args[0].node->type.shape[0];
  if (!dim_is_int(rows) || !dim_is_int(read) || !dim_is_int(all)) return false;
  return dtype_is_half(t->dtype) && all->value >= rows->value &&
         dim_is_int(t->shape[1]) && t->shape[1]->value >= ROWS_LEAST &&
         read->value <= rows->value / 4 * READ_OF_4;
}

/* Does n read no element of its first operand, but its dtype or a size? */
static bool reads_type(const Node *n) {
  return n->kind == NODE_CALL &&
         graph_is_any(n, OP_aten_new_zeros_default, OP_aten_new_ones_default,
                      OP_aten_new_full_default, OP_aten_new_empty_default,
                      OP_aten_sym_size_int);
}

/* Does index_put write rows of a tensor by the index that they are gathered by? */
static bool puts_read_rows(Graph *g, const Node *n, const Reads *r) {
  if (!graph_is(n, OP_aten_index_put_default) || r->lead != 1) return false;
  Arg at = graph_arg(g, n, "indices"), values = graph_arg(g, n, "values");
  const ValueType *t = &n->type, *v = &values.node->type, *from = &r->gather->args[0].node->type;
  if (at.n != 1 || at.items[0].kind != ARG_NODE) return false;
  bool whole = v->rank == t->rank && at.items[0].node->type.rank == 1 &&
               dim_is_int(v->shape[0]) && v->shape[0]->value > 0;
  for (uint32_t i = 1; whole && i < t->rank; i++) whole = v->shape[i] == t->shape[i];
  return whole && at.items[0].node == gathered_by(g, r->gather) &&
         v->shape[0] == at.items[0].node->type.shape[0] && t->shape[0] == from->shape[0] &&
         !graph_arg(g, n, "accumulate").flag;
}

/* n reads rows of its first operand, and all of the others. */
typedef struct {
  SkipRows *s;
  const Reads *rows; /* of the first use; NULL: all */
  bool type;         /* the first use reads no element */
  uint32_t lead;
} Uses;

static void read_uses(Node **operand, void *ctx) {
  Uses *u = ctx;
  if (u->type) u->type = false;
  else if (u->rows) read_rows(u->s, *operand, u->rows->gather, u->lead);
  else read_whole(operand, u->s);
  u->rows = NULL;
}

/* All uses of n were visited. */
static void visit(SkipRows *s, Node *n) {
  Graph *g = s->g;
  Reads *r = &s->reads[n->id], own = {n, 1, false, true};
  bool call = n->kind == NODE_CALL, gathers = gathered_by(g, n) != NULL;
  bool rows = r->gather && !r->whole && (call || n->kind == NODE_GETITEM);
  uint32_t lead = rows && !gathers ? lead_of_operand(g, n, r->lead) : 1;
  Uses u = {s, gathers ? &own : rows && lead ? r : NULL, reads_type(n), lead};
  r->visited = true;
  if (rows && call && graph_is(n, OP_aten_cat_default)) read_sources(s, n, r);
  else if (rows && call && is_elementwise(n)) read_elementwise(s, n, r);
  else graph_each_use(n, read_uses, &u);
  bool product = rows && call && lead && graph_is(n, OP_aten_bmm_default);
  /* A gather whose index is computed of the product has to wait for it. */
  if (product && !s->reads[gathered_by(g, r->gather)->id].visited && is_worth(g, n, r->gather))
    vec_push(s->scratch, &s->products, n);
  if (rows && call && puts_read_rows(g, n, r)) vec_push(s->scratch, &s->puts, n);
}

/* ---- products of fewer rows ---- */

/* The number behind the last row of each batch that the gather reads: flags of rows, then the
 * largest place that has one. */
static Node *build_ends(Build *b, const Node *n, Node *gather) {
  Dim count = gather->args[0].node->type.shape[0], batches = n->type.shape[0];
  Dim rows = n->type.shape[1], all = dim_mul(build_dims(b), batches, rows), none[1];
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(build_flat(b, gathered_by(b->in.g, gather)));
  Node *yes = build_full(b, 0, none, arg_bool(true), DT_I1);
  Node *flags = build_full(b, 1, &count, arg_bool(false), DT_I1);
  flags = build(b, OP_aten_index_put_default, ARGS(arg_node(flags), list, arg_node(yes)));
  flags = build_slice(b, flags, 0, build_const(b, 0), all, 1);
  flags = build_view(b, flags, 2, (Dim[]){batches, rows});
  Node *place = build_to(b, build_add_dim(b, build_arange(b, rows), build_const(b, 1)), DT_I32);
  Node *zero = build_full(b, 0, none, build_int(b, 0), DT_I32);
  place = build_where(b, flags, arg_node(place), arg_node(zero));
  return build_reduce(b, OP_aten_amax_default, place, 2, false);
}

/* Has the product the batches and rows of the one before? */
static bool has_same_rows(const SkipRows *s, const Node *n, const Node *before) {
  return before && s->reads[n->id].gather == s->reads[before->id].gather &&
         n->type.shape[0] == before->type.shape[0] && n->type.shape[1] == before->type.shape[1];
}

/* `before`: the product before, whose ends n may take; NULL: none.  False after an error. */
static bool leave_out(SkipRows *s, Node *n, const Node *before) {
  Build b = build_at(s->g, n);
  if (setjmp(b.in.failed)) return false;
  Node *ends = has_same_rows(s, n, before) ? before->args[2].node
                                           : build_ends(&b, n, s->reads[n->id].gather);
  build_become(&b, OP_nereid_ended_bmm_default, ARGS(n->args[0], n->args[1], arg_node(ends)));
  return true;
}

/* False after an error. */
static bool gather_instead(Graph *g, Node *n) {
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return false;
  Dim rows = n->type.shape[0];
  Node *at = scatter_from_start(&b, graph_arg(g, n, "indices").items[0].node, rows);
  Node *writer = build_to(&b, scatter_writers(&b, rows, at), DT_I64);
  writer = build_with(&b, OP_aten_clamp_min_default, writer, build_int(&b, 0));
  build_become(&b, OP_aten_index_select_default,
               ARGS(graph_arg(g, n, "values"), build_int(&b, 0), arg_node(writer)));
  return true;
}

bool pass_skip_rows(Graph *g) {
  if (!graph_functional(g, "skip_rows")) return false;
  if (g->has_loops) return true;
  Arena *scratch = arena_child(g->arena);
  SkipRows s = {.g = g, .scratch = scratch, .reads = ARENA_ARRAY(scratch, Reads, g->nids)};
  for (Node *n = g->last; n; n = n->prev) visit(&s, n);
  bool ok = true;
  for (size_t i = s.products.len; ok && i-- > 0;)
    ok = leave_out(&s, s.products.data[i],
                   i + 1 < s.products.len ? s.products.data[i + 1] : NULL);
  for (size_t i = 0; ok && s.products.len && i < s.puts.len; i++)
    ok = gather_instead(g, s.puts.data[i]);
  arena_free(scratch);
  return ok;
}
