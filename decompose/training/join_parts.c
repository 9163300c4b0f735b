/* Pass join_parts: a sum of tensors of zeros that each have a part replaced is a concatenation.
 *
 *   add(select_scatter(zeros, a, 0, 1), select_scatter(zeros, b, 0, 0))  ->  stack([b, a])
 *
 * Such sums are gradients of a tensor that is read by parts, as the rows of a linear layer for
 * queries, keys and values are.  A concatenation takes no addition, and kernels write their slices
 * of it (pass concat_in_slices). */
#include <setjmp.h>

#include "decompose/decompose.h"
#include "graph/analysis/dce.h"

enum { PARTS_MOST = 32 };

/* Elements from start to end along the axis. */
typedef struct {
  int64_t start, end;
  Node *scatter;
} AddedPart;

typedef struct {
  Build *b;
  uint32_t axis;
  uint32_t n, seen; /* parts; nodes that were looked at */
  AddedPart parts[PARTS_MOST]; /* by their starts */
} AddedParts;

static bool is_zeros(Graph *g, const Node *n) {
  if (!graph_is(n, OP_aten_full_default)) return false;
  Arg fill = graph_arg(g, n, "fill_value");
  return (fill.kind == ARG_INT && dim_is(fill.dim, 0)) ||
         (fill.kind == ARG_FLOAT && fill.number == 0);
}

static bool is_scatter_of_zeros(Graph *g, const Node *n) {
  bool scatters = graph_is(n, OP_aten_select_scatter_default) ||
                  graph_is(n, OP_aten_slice_scatter_default);
  return scatters && n->args[0].kind == ARG_NODE && n->args[1].kind == ARG_NODE &&
         is_zeros(g, n->args[0].node);
}

/* Parts stay in order, and have no element in common. */
static bool insert_part(AddedParts *p, AddedPart part) {
  uint32_t i = p->n;
  if (i == PARTS_MOST) return false;
  for (; i && p->parts[i - 1].start >= part.start; i--) p->parts[i] = p->parts[i - 1];
  p->parts[i] = part;
  p->n++;
  bool after = !i || p->parts[i - 1].end <= part.start;
  return after && (i + 1 == p->n || part.end <= p->parts[i + 1].start);
}

/* The Build looks at n's arguments from now on. */
static void look_at(Build *b, Node *n) {
  b->in.n = n;
  b->in.schema = ops_schema(b->in.g, n->op);
}

static bool add_scatter(AddedParts *p, Node *n) {
  look_at(p->b, n);
  ReplacedPart r = decompose_replaced_part(p->b);
  bool known = dim_is_int(r.start) && dim_is_int(r.count) && r.step == 1 && r.count->value > 0;
  if (!known || (p->n && r.axis != p->axis)) return false;
  p->axis = r.axis;
  return insert_part(p, (AddedPart){r.start->value, r.start->value + r.count->value, n});
}

/* Both operands of an addition that neither scales nor casts nor broadcasts. */
static bool adds_alike(Graph *g, const Node *n) {
  if (!graph_is(n, OP_aten_add_Tensor) || n->type.dtype == DT_I1) return false;
  Arg alpha = graph_arg(g, n, "alpha");
  if (alpha.kind != ARG_INT || !dim_is(alpha.dim, 1)) return false;
  for (int i = 0; i < 2; i++)
    if (n->args[i].kind != ARG_NODE || !value_type_eq(&n->args[i].node->type, &n->type))
      return false;
  return true;
}

/* Has n as many parts as were added, and nothing else? */
static bool add_parts(AddedParts *p, Node *n) {
  Graph *g = p->b->in.g;
  if (p->seen++ > 2 * PARTS_MOST) return false;
  if (is_scatter_of_zeros(g, n)) return add_scatter(p, n);
  return adds_alike(g, n) && add_parts(p, n->args[0].node) && add_parts(p, n->args[1].node);
}

static Node *zeros_between(Build *b, const AddedParts *p, int64_t start, int64_t end) {
  const ValueType *t = &b->in.n->type;
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  shape[p->axis] = build_const(b, end - start);
  return build_full(b, t->rank, shape, build_int(b, 0), t->dtype);
}

/* The parts and zeros in their order. */
static Node *join_in_order(Build *b, const AddedParts *p, Node *sum) {
  Node *pieces[2 * PARTS_MOST + 1];
  uint32_t count = 0;
  int64_t at = 0, size = sum->type.shape[p->axis]->value;
  for (uint32_t i = 0; i < p->n; i++) {
    const AddedPart *part = &p->parts[i];
    look_at(b, part->scatter);
    if (at < part->start) pieces[count++] = zeros_between(b, p, at, part->start);
    ReplacedPart r = decompose_replaced_part(b);
    pieces[count++] = decompose_replacing_part(b, &r);
    at = part->end;
  }
  if (at < size) pieces[count++] = zeros_between(b, p, at, size);
  look_at(b, sum);
  return build_cat(b, count, pieces, p->axis);
}

/* Addition n as a concatenation; NULL: it is none. */
static Node *join_parts(Build *b, Node *n) {
  AddedParts p = {.b = b};
  look_at(b, n);
  b->before = n;
  bool are = adds_alike(b->in.g, n) && add_parts(&p, n) && dim_is_int(n->type.shape[p.axis]);
  return are ? join_in_order(b, &p, n) : NULL;
}

/* The last addition of a sum comes first, so that those before it are dead then. */
bool pass_join_parts(Graph *g) {
  if (!g->last) return true;
  Build b = build_at(g, g->last);
  if (setjmp(b.in.failed)) return false;
  for (Node *n = g->last, *before; n; n = before) {
    before = n->prev;
    Node *joined = graph_is(n, OP_aten_add_Tensor) ? join_parts(&b, n) : NULL;
    if (!joined) continue;
    graph_replace_later(n, joined, NULL);
    graph_remove(g, n);
  }
  return true;
}
