/* Rows that go where an index says one after the other (decompose/scatter.h): nereid.scatter_rows,
 * for CPUs, where a sort or an operation of atomics takes as long as many sums. */
#include "decompose/decompose.h"
#include "decompose/scatter.h"
#include "tiling/tiling.h"

Node *scatter_before_widening(Build *b, Node *x) {
  Node *from = x->kind == NODE_CALL && x->nargs ? x->args[0].node : NULL;
  if (graph_is(x, OP_aten_view_default)) {
    Node *narrow = scatter_before_widening(b, from);
    return narrow == from ? x : build_view(b, narrow, rank_of(x), x->type.shape);
  }
  if (!graph_is(x, OP_aten_to_dtype)) return x;
  DType t = x->type.dtype, u = from->type.dtype;
  return t == DT_F32 && dtype_is_float(u) && dtype_bits(u) < dtype_bits(t) ? from : x;
}

/* The tensor that x is another shape of: a kernel that reads elements by their numbers needs no
 * copy then. */
static Node *without_shape(Node *x) {
  while (graph_is_any(x, OP_aten_view_default, OP_aten_unsqueeze_default)) x = x->args[0].node;
  return x;
}

static Dim blocks_of(Build *b, Dim columns) {
  int block = tiling_scattered_columns(dim_is_int(columns) ? columns->value : 0);
  Dims *d = build_dims(b);
  return dim_floordiv(d, dim_add(d, columns, build_const(b, block - 1)), build_const(b, block));
}

Node *scatter_rows(Build *b, const ScatteredRows *r) {
  Dims *d = build_dims(b);
  Dim sizes[] = {r->outer, r->rows, r->columns, r->count};
  Node *program = build_arange(b, dim_mul(d, r->outer, blocks_of(b, r->columns)));
  Node *src = without_shape(scatter_before_widening(b, r->src));
  Arg how = {.kind = ARG_STRING, .name = r->reduce}, none = arg_none();
  return build(b, OP_nereid_scatter_rows_default,
               ARGS(arg_node(r->to), arg_node(program), arg_node(without_shape(r->index)),
                    arg_node(src), r->starts ? arg_node(r->starts) : none,
                    r->scale ? arg_node(without_shape(r->scale)) : none, how,
                    arg_dims(b->in.g, 4, sizes), arg_bool(r->each)));
}
