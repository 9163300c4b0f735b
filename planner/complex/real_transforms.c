/* Pass real_transforms: the real part of the inverse transform of half a spectrum, filled up with
 * zeros, is a transform to real elements.
 *
 *   Re sum over k < m of x[k] w^(t k)  =  x[0] + x[n / 2] (-1)^t + sum over 0 < k < n / 2 of
 *                                         x[k] / 2 w^(t k) + conj(x[k] / 2) w^(-t k)
 *
 * with m = n // 2 + 1, where of x[0] and, for even n, of x[n / 2] the real part counts.  It is the
 * gradient of a transform of real elements, which autograd computes over the whole length. */
#include "decompose/decompose.h"
#include "graph/analysis/dce.h"
#include "planner/complex/complex.h"
#include "planner/passes.h"

/* The complex value whose real part n is, if nothing else reads it; else NULL. */
static Node *only_real_part(Graph *g, const Node *n, const uint32_t *uses) {
  bool reads = n->kind == NODE_CALL && n->nargs && n->args[0].kind == ARG_NODE;
  Node *x = reads ? n->args[0].node : NULL;
  if (!x || uses[x->id] != 1) return NULL;
  if (graph_is(n, OP_aten_real_default)) return x;
  if (!graph_is(n, OP_aten_select_int) || !graph_is(x, OP_aten_view_as_real_default)) return NULL;
  Arg dim = graph_arg(g, n, "dim"), index = graph_arg(g, n, "index");
  int64_t last = x->type.rank - 1;
  bool real = (dim_is(dim.dim, last) || dim_is(dim.dim, -1)) &&
              (dim_is(index.dim, 0) || dim_is(index.dim, -2));
  return real && uses[x->args[0].node->id] == 1 ? x->args[0].node : NULL;
}

static bool is_zeros(Graph *g, const Node *n) {
  if (graph_is_any(n, OP_aten_new_zeros_default, OP_aten_zeros_default,
                   OP_aten_zeros_like_default))
    return true;
  Arg fill = graph_is(n, OP_aten_full_default) ? graph_arg(g, n, "fill_value") : arg_none();
  return arg_is_number(&fill, 0);
}

/* What is at the front of zeros along an axis of n. */
typedef struct {
  Node *part;
  uint32_t axis;
} Filled;

static bool is_filled(Graph *g, Node *n, Filled *f) {
  if (!graph_is(n, OP_aten_slice_scatter_default) || !is_zeros(g, n->args[0].node)) return false;
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return false;
  ReplacedPart p = decompose_replaced_part(&b);
  Node *src = build_input(&b, "src");
  if (graph_is(src, OP_aten_copy_default) && src->args[1].kind == ARG_NODE &&
      value_type_eq(&src->type, &src->args[1].node->type))
    src = src->args[1].node;
  *f = (Filled){src, p.axis};
  return dim_is(p.start, 0) && p.step == 1 && src->type.is_complex &&
         src->type.rank == n->type.rank && src->type.dtype == n->type.dtype &&
         src->type.shape[p.axis] == p.count &&
         p.count == infer_half_size(&b.in, n->type.shape[p.axis]);
}

/* 1 for elements of half a spectrum that are their own conjugates, 1/2 for others. */
static Node *shares(Build *b, Dim half, Dim n, DType t) {
  Node *k = build_arange(b, half);
  Node *first = build_with(b, OP_aten_eq_Scalar, k, build_int(b, 0));
  Node *twice = build_with(b, OP_aten_mul_Tensor, k, build_int(b, 2));
  Node *alone = build_op2(b, OP_aten_logical_or_default, first,
                          build_with(b, OP_aten_eq_Scalar, twice, arg_dim(n)));
  return build_to(b, build_where(b, alone, arg_float(1), arg_float(0.5)), t);
}

/* The transform, of which `axis` comes last. */
static Node *to_real(Build *b, const Filled *f, Dim n, Arg normalization, const TransformAxes *t) {
  Arg dims = arg_list(b->in.g, t->n);
  uint32_t i = 0;
  for (uint32_t j = 0; j < t->n; j++)
    if (t->axes[j] != f->axis) dims.items[i++] = build_int(b, t->axes[j]);
  dims.items[i] = build_int(b, f->axis);
  Dim half = f->part->type.shape[f->axis];
  Node *by = build_along(b, shares(b, half, n, f->part->type.dtype), f->axis, rank_of(f->part));
  return build(b, OP_aten__fft_c2r_default,
               ARGS(arg_node(build_mul(b, f->part, by)), dims, normalization, arg_dim(n)));
}

static bool has_axis(const TransformAxes *t, uint32_t axis) {
  for (uint32_t i = 0; i < t->n; i++)
    if (t->axes[i] == axis) return true;
  return false;
}

/* What gives n's value by a transform to real elements; NULL: nothing does. */
static Node *real_transform(Graph *g, Node *n, const uint32_t *uses) {
  Filled f;
  Node *x = only_real_part(g, n, uses);
  if (!x || !graph_is(x, OP_aten__fft_c2c_default) || x->args[0].kind != ARG_NODE) return NULL;
  Arg forward = graph_arg(g, x, "forward");
  if (forward.kind != ARG_BOOL || forward.flag || !is_filled(g, x->args[0].node, &f)) return NULL;
  Build b = build_at(g, x);
  if (setjmp(b.in.failed)) return NULL;
  TransformAxes t = infer_transform_axes(&b.in);
  if (!has_axis(&t, f.axis)) return NULL;
  Node *y = to_real(&b, &f, x->type.shape[f.axis], graph_arg(g, x, "normalization"), &t);
  return value_type_eq(&y->type, &n->type) ? y : NULL;
}

bool pass_real_transforms(Graph *g) {
  if (!graph_functional(g, "real_transforms")) return false;
  Arena *scratch = arena_child(g->arena);
  const uint32_t *uses = graph_use_counts(g, scratch);
  uint32_t known = g->nids;
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    Node *y = n->id < known ? real_transform(g, n, uses) : NULL;
    if (!y) continue;
    graph_replace_later(n, y, NULL);
    graph_forget_name(g, n);
    graph_forget_name(g, y);
    graph_set_name(g, y, n->name);
    graph_remove(g, n);
  }
  graph_dce(g);
  arena_free(scratch);
  return true;
}
