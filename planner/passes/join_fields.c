/* Pass join_fields: fields of one word that are taken apart and stacked become one expression, with
 * a shift that an index says.
 *
 *   stack([f(q & 15), f(q >> 4)], -1)  =  f((q[..., None] >> [0, 4]) & 15)
 *
 * A concatenation is read behind a condition for each of its parts, each of which loads the word
 * and computes f: of a word of eight fields that is eight times the work. */
#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"

enum { FIELDS_MOST = 32, DEPTH_MOST = 32 };

typedef struct {
  Build *b;
  uint32_t n;    /* parts */
  uint32_t back; /* axes after the new one */
  uint32_t depth;
} Join;

typedef Node *const *Parts;

static Node *join(Join *j, Parts x);

/* ---- one tensor ---- */

static bool all_same(const Join *j, Parts x) {
  for (uint32_t i = 1; i < j->n; i++)
    if (x[i] != x[0]) return false;
  return true;
}

/* With an axis of one element, unless it has no axes before that.  One without axes stays so: it
 * takes another part in the choice of a dtype. */
static Node *with_axis(const Join *j, Node *x) {
  return !rank_of(x) || rank_of(x) < j->back ? x : build_unsqueeze(j->b, x, rank_of(x) - j->back);
}

/* ---- fields ---- */

/* (word << left) >> right, then & mask, which is -1 where there is none. */
typedef struct {
  Node *word;
  int64_t left, right, mask;
} Field;

/* Its only number, where n is one of the two operators on a tensor and a number. */
static bool operates(const Node *n, OpId op, int64_t *number) {
  bool is = graph_is(n, op) && n->nargs == 2 && n->args[0].kind == ARG_NODE &&
            n->args[1].kind == ARG_INT && dim_is_int(n->args[1].dim);
  if (is) *number = n->args[1].dim->value;
  return is;
}

static Field field_of(Node *x) {
  Field f = {.mask = -1};
  DType t = x->type.dtype;
  int64_t bits = dtype_bits(t);
  if (operates(x, OP_aten_bitwise_and_Tensor, &f.mask)) x = x->args[0].node;
  bool negative = f.mask < -1; /* keeps upper bits, of which a word has as many as it may */
  if (operates(x, OP_aten_bitwise_right_shift_Tensor, &f.right)) x = x->args[0].node;
  if (operates(x, OP_aten_bitwise_left_shift_Tensor, &f.left)) x = x->args[0].node;
  bool good = !negative && dtype_is_int(t) && t != DT_I1 && x->type.dtype == t && f.right >= 0 &&
              f.right < bits && f.left >= 0 && f.left < bits;
  if (f.mask < 0 && !dtype_is_signed(t) && !f.left && bits < 64)
    f.mask = (1ll << (bits - f.right)) - 1;
  f.word = good ? x : NULL;
  return f;
}

/* first, first + step, ... along the new axis. */
static Node *shifts(const Join *j, int64_t first, int64_t step, DType t) {
  Node *at = build_to(j->b, build_arange(j->b, build_const(j->b, j->n)), t);
  if (step != 1) at = build_with(j->b, OP_aten_mul_Tensor, at, build_int(j->b, step));
  if (first) at = build_with(j->b, OP_aten_add_Tensor, at, build_int(j->b, first));
  return build_along(j->b, at, 0, j->back + 1);
}

/* Words of few bits are shifted as i32, which has all their values. */
static Node *join_fields(Join *j, Parts x) {
  Field f[FIELDS_MOST];
  for (uint32_t i = 0; i < j->n; i++) {
    f[i] = field_of(x[i]);
    bool same = f[i].word && f[i].word == f[0].word && f[i].mask == f[0].mask;
    if (!same) return NULL;
  }
  DType t = x[0]->type.dtype, wide = dtype_bits(t) < 32 ? DT_I32 : t;
  int64_t right = f[1].right - f[0].right, left = f[1].left - f[0].left;
  for (uint32_t i = 1; i < j->n; i++)
    if (f[i].right - f[i - 1].right != right || f[i].left - f[i - 1].left != left) return NULL;
  bool masked = f[0].mask >= 0, kept = !f[0].left && !left;
  if (masked ? !kept : right || !dtype_is_signed(t)) return NULL;
  Node *w = with_axis(j, f[0].word);
  if (masked) {
    w = build_op2(j->b, OP_aten_bitwise_right_shift_Tensor, build_to(j->b, w, wide),
                  shifts(j, f[0].right, right, wide));
    w = build_with(j->b, OP_aten_bitwise_and_Tensor, w, build_int(j->b, f[0].mask));
    return build_to(j->b, w, t);
  }
  w = build_op2(j->b, OP_aten_bitwise_left_shift_Tensor, w, shifts(j, f[0].left, left, t));
  return build_with(j->b, OP_aten_bitwise_right_shift_Tensor, w, build_int(j->b, f[0].right));
}

/* ---- what is computed of fields ---- */

static bool same_number(const Arg *a, const Arg *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case ARG_NONE: return true;
    case ARG_INT: return a->dim == b->dim;
    case ARG_FLOAT: return a->number == b->number;
    case ARG_BOOL: return a->flag == b->flag;
    case ARG_DTYPE: return a->dtype == b->dtype;
    default: return false;
  }
}

/* Argument `at` of the parts. */
static bool join_argument(Join *j, Parts x, uint32_t at, Arg *out) {
  Node *nodes[FIELDS_MOST];
  *out = x[0]->args[at];
  bool node = out->kind == ARG_NODE;
  for (uint32_t i = 0; i < j->n; i++) {
    const Arg *a = &x[i]->args[at];
    if (node ? a->kind != ARG_NODE || a->node->type.kind != VALUE_TENSOR : !same_number(a, out))
      return false;
    if (node) nodes[i] = a->node;
  }
  if (!node) return true;
  *out = arg_node(join(j, nodes));
  return out->node != NULL;
}

static Node *join_pointwise(Join *j, Parts x) {
  enum { ARGS_MOST = 4 };
  Arg args[ARGS_MOST];
  uint32_t nargs = x[0]->nargs;
  if (nargs > ARGS_MOST) return NULL;
  for (uint32_t i = 0; i < nargs; i++)
    if (!join_argument(j, x, i, &args[i])) return NULL;
  Node *y = build(j->b, x[0]->op->id, nargs, args);
  return y->type.dtype == x[0]->type.dtype ? y : NULL;
}

/* An element of one table for each field. */
static Node *join_choices(Join *j, Parts x) {
  Node *nodes[FIELDS_MOST];
  for (uint32_t i = 0; i < j->n; i++) {
    const Arg *list = &x[i]->args[1];
    bool one = x[i]->nargs == 2 && list->kind == ARG_LIST && list->n == 1 &&
               list->items[0].kind == ARG_NODE && x[i]->args[0].node == x[0]->args[0].node;
    if (!one || rank_of(x[i]->args[0].node) != 1) return NULL;
    nodes[i] = list->items[0].node;
  }
  Arg list = arg_list(j->b->in.g, 1);
  Node *index = join(j, nodes);
  if (!index) return NULL;
  list.items[0] = arg_node(index);
  return build(j->b, OP_aten_index_Tensor, ARGS(x[0]->args[0], list));
}

/* All parts with a new axis, or with one of one element; NULL: they differ in more than shifts. */
static Node *join(Join *j, Parts x) {
  if (all_same(j, x)) return with_axis(j, x[0]);
  if (++j->depth > DEPTH_MOST) return NULL;
  for (uint32_t i = 0; i < j->n; i++)
    if (x[i]->kind != NODE_CALL || !value_type_eq(&x[i]->type, &x[0]->type)) return NULL;
  Node *fields = join_fields(j, x);
  if (fields) return fields;
  for (uint32_t i = 0; i < j->n; i++)
    if (x[i]->op != x[0]->op || x[i]->nargs != x[0]->nargs || x[i]->nnamed) return NULL;
  if (graph_is(x[0], OP_aten_index_Tensor)) return join_choices(j, x);
  bool element = prim_kind(x[0]->op) == PRIM_POINTWISE && !prim_branches(x[0]);
  return element ? join_pointwise(j, x) : NULL;
}

/* ---- the pass ---- */

/* The part without the axis that it is stacked along. */
static Node *without_axis(Graph *g, Node *part, uint32_t axis) {
  if (!graph_is(part, OP_aten_unsqueeze_default)) return NULL;
  int64_t at = graph_arg(g, part, "dim").dim->value, rank = part->type.rank;
  return (at < 0 ? at + rank : at) == axis ? part->args[0].node : NULL;
}

static void join_stack(Graph *g, Node *n) {
  Node *parts[FIELDS_MOST];
  Arg list = graph_arg(g, n, "tensors");
  int64_t dim = graph_arg(g, n, "dim").dim->value, rank = n->type.rank;
  uint32_t axis = (uint32_t)(dim < 0 ? dim + rank : dim);
  if (list.n < 2 || list.n > FIELDS_MOST) return;
  for (uint32_t i = 0; i < list.n; i++) {
    parts[i] = without_axis(g, list.items[i].node, axis);
    if (!parts[i]) return;
  }
  Build b = build_at(g, n);
  Join j = {&b, list.n, n->type.rank - 1 - axis, 0};
  if (setjmp(b.in.failed)) return;
  Node *all = join(&j, parts);
  if (!all || !value_type_eq(&all->type, &n->type)) return;
  build_become(&b, OP_aten_view_default,
               ARGS(arg_node(all), arg_dims(g, n->type.rank, n->type.shape)));
}

bool pass_join_fields(Graph *g) {
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    if (graph_is(n, OP_aten_cat_default)) join_stack(g, n);
  }
  graph_dce(g);
  return diag_errors(g->diags) == 0;
}
