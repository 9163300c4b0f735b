/* Pass simplify: what changes nothing goes, equal nodes become one, unused ones go. */
#include <stdlib.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "planner/passes.h"
#include "planner/passes/node_equality.h"

typedef struct {
  Graph *g;
  ReplacementMap replacements;
  Node **table; /* of the nodes visited so far, by operator and arguments; open addressing */
  uint32_t mask;
} Simplify;

/* ---- ops that change nothing ---- */

/* The first argument by name or position. */
static Node *first_node_arg(Graph *g, const Node *n) {
  Arg a = graph_arg(g, n, ops_schema(g, n->op)->params[0].name);
  return a.kind == ARG_NODE && a.node->type.kind == VALUE_TENSOR ? a.node : NULL;
}

static bool fold_always(Graph *g, const Node *n, const Node *x) {
  (void)g, (void)n, (void)x;
  return true;
}

/* Folds views that keep the order of elements, and give the same shape. */
static bool fold_same_shape(Graph *g, const Node *n, const Node *x) {
  (void)g;
  return value_type_eq(&n->type, &x->type);
}

static bool fold_same_dtype(Graph *g, const Node *n, const Node *x) {
  (void)g;
  return n->type.dtype == x->type.dtype;
}

static bool fold_not_training(Graph *g, const Node *n, const Node *x) {
  (void)x;
  Arg train = graph_arg(g, n, "train");
  return train.kind == ARG_BOOL && !train.flag;
}

/* The numbers of a list, which count from the end where they are negative, are 0, 1, 2 ... */
static bool fold_in_order(Graph *g, const Node *n, const Node *x) {
  Arg dims = graph_arg(g, n, "dims");
  for (uint32_t i = 0; i < dims.n; i++) {
    const Arg *d = &dims.items[i];
    if (d->kind != ARG_INT || (!dim_is(d->dim, i) && !dim_is(d->dim, (int64_t)i - x->type.rank)))
      return false;
  }
  return dims.kind == ARG_LIST;
}

static bool fold_same_axis(Graph *g, const Node *n, const Node *x) {
  int64_t rank = x->type.rank;
  Arg a = graph_arg(g, n, "dim0"), b = graph_arg(g, n, "dim1");
  if (a.kind != ARG_INT || b.kind != ARG_INT || !dim_is_int(a.dim) || !dim_is_int(b.dim))
    return false;
  int64_t gap = a.dim->value - b.dim->value;
  return gap == 0 || gap == rank || gap == -rank;
}

static bool fold_all_zero(Graph *g, const Node *n, const Node *x) {
  (void)x;
  Arg pad = graph_arg(g, n, "pad");
  bool zero = pad.kind == ARG_LIST;
  for (uint32_t i = 0; zero && i < pad.n; i++)
    zero = pad.items[i].kind == ARG_INT && dim_is(pad.items[i].dim, 0);
  return zero;
}

/* Not for floats: -0.0 + 0 is 0.0. */
static bool fold_adds_zero(Graph *g, const Node *n, const Node *x) {
  Arg other = graph_arg(g, n, "other");
  return arg_is_number(&other, 0) && !graph_scales_operand(g, n) &&
         !dtype_is_float(n->type.dtype) && fold_same_shape(g, n, x);
}

static bool fold_by_one(Graph *g, const Node *n, const Node *x) {
  Arg other = graph_arg(g, n, "other");
  return arg_is_number(&other, 1) && fold_same_shape(g, n, x);
}

static bool fold_power_one(Graph *g, const Node *n, const Node *x) {
  Arg exponent = graph_arg(g, n, "exponent");
  return arg_is_number(&exponent, 1) && fold_same_shape(g, n, x);
}

static const struct {
  bool (*holds)(Graph *g, const Node *n, const Node *x);
} folds[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define FOLDS_IF(rule) fold_##rule
#include "graph/ops/op_table.def"
};

/* The node whose value n's is; NULL: n computes something. */
static Node *unchanged_operand(Graph *g, const Node *n) {
  bool may = n->kind == NODE_CALL && folds[n->op->id].holds;
  Node *x = may ? first_node_arg(g, n) : NULL;
  return x && folds[n->op->id].holds(g, n, x) ? x : NULL;
}

/* ---- what is made of views of views, and of known sizes ---- */

/* The view of a view is a view of the first. */
static void skip_view(Node *n) {
  if (!graph_is(n, OP_aten_view_default) || !n->nargs) return;
  const Node *of = n->args[0].kind == ARG_NODE ? n->args[0].node : NULL;
  if (of && graph_is(of, OP_aten_view_default) && of->nargs) n->args[0] = of->args[0];
}

/* The axes of a permutation of `rank` axes, which count from the end where they are negative. */
static bool read_axes(Graph *g, const Node *n, uint32_t rank, uint32_t *axes) {
  Arg dims = graph_arg(g, n, "dims");
  if (dims.kind != ARG_LIST || dims.n != rank) return false;
  for (uint32_t i = 0; i < rank; i++) {
    if (dims.items[i].kind != ARG_INT || !dim_is_int(dims.items[i].dim)) return false;
    int64_t axis = dims.items[i].dim->value;
    axes[i] = (uint32_t)(axis < 0 ? axis + rank : axis);
  }
  return true;
}

/* The permutation of a permutation is one of the first's operand. */
static void skip_permutation(Graph *g, Node *n) {
  uint32_t rank = n->type.rank, outer[GRAPH_RANK_MAX], inner[GRAPH_RANK_MAX];
  if (!graph_is(n, OP_aten_permute_default) || n->nargs != 2) return;
  const Node *of = n->args[0].kind == ARG_NODE ? n->args[0].node : NULL;
  if (!of || !graph_is(of, OP_aten_permute_default) || of->nargs != 2) return;
  if (!read_axes(g, n, rank, outer) || !read_axes(g, of, rank, inner)) return;
  Arg axes = arg_list(g, rank);
  for (uint32_t i = 0; i < rank; i++) axes.items[i] = arg_int(g, inner[outer[i]]);
  n->args[0] = of->args[0];
  n->args[1] = axes;
}

static void fold_size(Arg *a) {
  if (a->kind == ARG_LIST)
    for (uint32_t i = 0; i < a->n; i++) fold_size(&a->items[i]);
  if (a->kind != ARG_NODE || a->node->type.kind != VALUE_INT) return;
  Dim value = a->node->type.value;
  if (value && dim_is_int(value)) *a = arg_dim(value);
}

static void fold_sizes(Node *n) {
  for (uint32_t i = 0; i < n->nargs; i++) fold_size(&n->args[i]);
  for (uint32_t i = 0; i < n->nnamed; i++) fold_size(&n->named[i].value);
}

/* ---- parts of concatenations, stacks, and tensors of which one part is replaced ----
 *
 * Both parts of complex numbers are such: autograd reads them by view_as_real, and puts their
 * gradients into zeros. */

/* The number of an argument, which counts from the end of `size` where it is negative; -1: it is
 * not known. */
static int64_t known_place(const Arg *a, int64_t size) {
  if (a->kind != ARG_INT || !dim_is_int(a->dim)) return -1;
  int64_t i = a->dim->value;
  i += i < 0 ? size : 0;
  return i < size ? i : -1;
}

/* Element `index` along `axis`, whose size is known. */
typedef struct {
  int64_t axis, index;
} Place;

static bool read_place(Graph *g, const Node *n, const ValueType *of, Place *p) {
  Arg dim = graph_arg(g, n, "dim"), index = graph_arg(g, n, "index");
  p->axis = known_place(&dim, of->rank);
  if (p->axis < 0 || !dim_is_int(of->shape[p->axis])) return false;
  p->index = known_place(&index, of->shape[p->axis]->value);
  return p->index >= 0;
}

/* n selects this element of x from now on. */
static void select_of(Graph *g, Node *n, Node *x, Place p) {
  n->args[0] = arg_node(x);
  n->args[1] = arg_int(g, p.axis);
  n->args[2] = arg_int(g, p.index);
}

/* x, if n's value may be its. */
static Node *if_same_type(const Node *n, Node *x) {
  return x && value_type_eq(&x->type, &n->type) ? x : NULL;
}

/* The part of a list that has the element, which then has another number there. */
static Node *part_of_cat(Graph *g, const Node *x, Place *p) {
  Arg list = graph_arg(g, x, "tensors"), dim = graph_arg(g, x, "dim");
  if (list.kind != ARG_LIST || known_place(&dim, x->type.rank) != p->axis) return NULL;
  for (uint32_t i = 0; i < list.n; i++) {
    Node *part = list.items[i].kind == ARG_NODE ? list.items[i].node : NULL;
    if (!part || part->type.rank != x->type.rank || !dim_is_int(part->type.shape[p->axis]))
      return NULL;
    int64_t size = part->type.shape[p->axis]->value;
    if (p->index < size) return part->type.dtype == x->type.dtype ? part : NULL;
    p->index -= size;
  }
  return NULL;
}

static Node *item_of_stack(Graph *g, const Node *x, Place p) {
  Arg list = graph_arg(g, x, "tensors"), dim = graph_arg(g, x, "dim");
  if (list.kind != ARG_LIST || known_place(&dim, x->type.rank) != p.axis) return NULL;
  return p.index < list.n && list.items[p.index].kind == ARG_NODE ? list.items[p.index].node : NULL;
}

/* What is between the axes of an unsqueeze, whose new axis is p's. */
static Node *before_unsqueeze(Graph *g, const Node *x, Place p) {
  Arg self = graph_arg(g, x, "self"), dim = graph_arg(g, x, "dim");
  return known_place(&dim, x->type.rank) == p.axis ? self.node : NULL;
}

static Node *zeros(Graph *g, Node *n) {
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return NULL;
  return build_full(&b, n->type.rank, n->type.shape, build_int(&b, 0), n->type.dtype);
}

/* The part of x, a tensor whose element at another place or the same is `given`. */
static Node *part_of_replaced(Graph *g, Node *n, const Node *x, Place p, const char *given) {
  Place q;
  if (!read_place(g, x, &x->type, &q) || p.axis != q.axis) return NULL;
  if (p.index == q.index) return if_same_type(n, graph_arg(g, x, given).node);
  if (graph_is(x, OP_aten_select_backward_default)) return zeros(g, n);
  Node *self = graph_arg(g, x, "self").node;
  if (!self || !value_type_eq(&self->type, &x->type)) return NULL;
  select_of(g, n, self, p);
  return NULL;
}

/* n is a select: it may become one of another tensor, which gives the same.  Returns the node whose
 * value it gives; NULL: none has it. */
static Node *selected_part(Graph *g, Node *n) {
  Place p;
  Node *x = n->nargs == 3 && n->args[0].kind == ARG_NODE ? n->args[0].node : NULL;
  if (!x || x->kind != NODE_CALL || !read_place(g, n, &x->type, &p)) return NULL;
  if (graph_is(x, OP_aten_select_scatter_default))
    return part_of_replaced(g, n, x, p, "src");
  if (graph_is(x, OP_aten_select_backward_default))
    return part_of_replaced(g, n, x, p, "grad_output");
  if (graph_is(x, OP_aten_stack_default)) return if_same_type(n, item_of_stack(g, x, p));
  if (graph_is(x, OP_aten_unsqueeze_default)) return if_same_type(n, before_unsqueeze(g, x, p));
  if (!graph_is(x, OP_aten_cat_default)) return NULL;
  Node *part = part_of_cat(g, x, &p);
  if (!part) return NULL;
  select_of(g, n, part, p);
  return selected_part(g, n);
}

/* ---- equal nodes ---- */

/* The first node that computes what n does: n itself if it is new. */
static Node *first_equal(Simplify *s, Node *n) {
  for (uint64_t i = node_hash(n);; i++) {
    Node **slot = &s->table[i & s->mask];
    if (!*slot) *slot = n;
    if (node_equal(*slot, n)) return *slot;
  }
}

/* ---- the walk ---- */

static Node *simpler(Simplify *s, Node *n) {
  Node *same = graph_is(n, OP_aten_select_int) ? selected_part(s->g, n)
                                               : unchanged_operand(s->g, n);
  if (same) return same;
  return n->kind == NODE_CALL && n->op->random ? n : first_equal(s, n);
}

static void simplify_node(Simplify *s, Node *n) {
  replacements_apply(&s->replacements, n);
  fold_sizes(n);
  if (n->kind == NODE_CALL && n->op->asserts) {
    graph_forget_name(s->g, n);
    graph_remove(s->g, n);
    return;
  }
  if (n->kind != NODE_CALL && n->kind != NODE_GETITEM) return;
  skip_view(n);
  skip_permutation(s->g, n);
  Node *same = simpler(s, n);
  if (same != n) replacement_of(&s->replacements, n)->node = same;
}

static uint32_t table_size(const Graph *g) {
  uint32_t size = 16;
  while (size / 2 <= g->nids) size *= 2;
  return size;
}

bool pass_simplify(Graph *g) {
  if (!graph_functional(g, "simplify")) return false;
  Arena *scratch = arena_child(g->arena);
  Simplify s = {.g = g, .replacements = replacements_new(g, scratch), .mask = table_size(g) - 1};
  s.table = ARENA_ARRAY(scratch, Node *, s.mask + 1);
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    simplify_node(&s, n);
  }
  graph_dce(g);
  arena_free(scratch);
  return true;
}
