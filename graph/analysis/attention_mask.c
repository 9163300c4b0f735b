#include "graph/analysis/attention_mask.h"

#include <math.h>
#include <string.h>

#include "graph/analysis/attention.h"
#include "graph/analysis/element_value.h"

enum { DEPTH_MAX = 64 };

typedef struct {
  Build *b;
  Graph *g;
  Dims *d;
  Dim rows, keys; /* sizes */
  Dim row, key;   /* index symbols */
  Dim low, high;  /* found so far */
  uint32_t depth;
} Reader;

/* ---- conditions on row and key ---- */

/* `left - right` plus what, if that has no index; else NULL. */
static Dim limit_of_slack(Reader *r, Dim slack, Dim left, Dim right) {
  Dim rest = dim_sub(r->d, slack, dim_sub(r->d, left, right));
  return rest->indexed || rest->kind == DIM_HUGE ? NULL : rest;
}

/* Is the condition slack >= 0 a limit?  Then it is noted. */
static bool note_limit(Reader *r, Dim slack) {
  Dim high = limit_of_slack(r, slack, r->row, r->key),
      low = limit_of_slack(r, slack, r->key, r->row);
  if (high) r->high = r->high ? dim_min(r->d, r->high, high) : high;
  else if (low) {
    low = dim_sub(r->d, dim_int(r->d, 0), low);
    r->low = r->low ? dim_max(r->d, r->low, low) : low;
  }
  return high || low;
}

/* Does `n`, or if negated its opposite, say no more than a limit, or nothing? */
static bool is_limit(Reader *r, Node *n, const Dim *index, bool negated) {
  Dim value = element_value(r->g, n, index), one = dim_int(r->d, 1);
  if (value && dim_is(value, !negated)) return true;
  Dim slack = element_slack(r->g, n, index);
  if (slack && negated) slack = dim_sub(r->d, dim_sub(r->d, dim_int(r->d, 0), slack), one);
  return slack && note_limit(r, slack);
}

/* ---- what is left of a condition ---- */

static Node *rest(Reader *r, Node *n, const Dim *index, bool negated);

static bool is_plain_view(const Node *n) {
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_VIEW && n->nargs;
}

static Node *rest_of_view(Reader *r, Node *n, const Dim *index, bool negated) {
  Dim from[GRAPH_RANK_MAX];
  Node *of = view_operand(n);
  view_index(r->g, n, index, from);
  Node *left = rest(r, of, from, negated);
  if (left == of || !left) return left ? n : NULL;
  Arg *args = ARENA_ARRAY(r->g->arena, Arg, n->nargs);
  memcpy(args, n->args, n->nargs * sizeof *args);
  args[0] = arg_node(left);
  return build_with_all(r->b, n->op->id, n->nargs, args, n->nnamed, n->named);
}

static Node *rest_of_and(Reader *r, Node *n, const Dim *index) {
  Node *of[2], *left[2];
  for (int i = 0; i < 2; i++) {
    Dim at[GRAPH_RANK_MAX];
    of[i] = graph_arg(r->g, n, i ? "other" : "self").node;
    broadcast_index(r->g, n, index, of[i], at);
    left[i] = rest(r, of[i], at, false);
  }
  if (left[0] == of[0] && left[1] == of[1]) return n;
  if (left[0] && left[1]) return build_op2(r->b, OP_aten_bitwise_and_Tensor, left[0], left[1]);
  Node *one = left[0] ? left[0] : left[1];
  return one ? build_expand(r->b, one, n->type.rank, n->type.shape) : NULL;
}

static bool has_two_conditions(Reader *r, const Node *n) {
  Arg a = graph_arg(r->g, n, "self"), c = graph_arg(r->g, n, "other");
  return a.kind == ARG_NODE && c.kind == ARG_NODE && a.node->type.dtype == DT_I1 &&
         c.node->type.dtype == DT_I1;
}

/* n itself if all of it is left; NULL if nothing is: its limits have been noted.  A negated mask
 * leaves all or nothing. */
static Node *rest(Reader *r, Node *n, const Dim *index, bool negated) {
  if (n->type.dtype != DT_I1 || n->kind != NODE_CALL || r->depth >= DEPTH_MAX) return n;
  if (is_limit(r, n, index, negated)) return NULL;
  r->depth++;
  Node *left = n;
  if (is_plain_view(n)) left = rest_of_view(r, n, index, negated);
  else if (graph_is_any(n, OP_aten_bitwise_not_default, OP_aten_logical_not_default)) {
    Dim at[GRAPH_RANK_MAX];
    Node *of = n->args[0].node;
    broadcast_index(r->g, n, index, of, at);
    left = rest(r, of, at, !negated) ? n : NULL;
  } else if (!negated &&
             graph_is_any(n, OP_aten_bitwise_and_Scalar, OP_aten_bitwise_and_Tensor,
                          OP_aten_logical_and_default) &&
             has_two_conditions(r, n)) {
    left = rest_of_and(r, n, index);
  }
  r->depth--;
  return left;
}

/* ---- masks of floats: where(condition, 0, -inf) ---- */

/* The number that all elements are; NAN: none is known. */
static double constant_number(Graph *g, const Arg *a) {
  if (a->kind == ARG_FLOAT) return a->number;
  if (a->kind == ARG_INT && dim_is_int(a->dim)) return (double)a->dim->value;
  if (a->kind != ARG_NODE || a->node->kind != NODE_CALL) return NAN;
  Node *n = a->node;
  while (is_plain_view(n)) n = view_operand(n);
  if (!graph_is(n, OP_aten_full_default)) return NAN;
  Arg fill = graph_arg(g, n, "fill_value");
  return fill.kind == ARG_NODE ? NAN : constant_number(g, &fill);
}

typedef struct {
  Node *condition;
  bool negated;
  double hidden; /* what is added where a key is not seen */
} Choice;

static bool read_choice(Reader *r, const Node *n, Choice *out) {
  if (!graph_is_any(n, OP_aten_where_Scalar, OP_aten_where_ScalarOther, OP_aten_where_ScalarSelf,
                    OP_aten_where_self))
    return false;
  Arg c = graph_arg(r->g, n, "condition"), a = graph_arg(r->g, n, "self");
  Arg b = graph_arg(r->g, n, "other");
  double x = constant_number(r->g, &a), y = constant_number(r->g, &b);
  *out = (Choice){c.node, x != 0, x == 0 ? y : x};
  return (x == 0 || y == 0) && out->hidden < -1e4;
}

static Node *read_floats(Reader *r, Node *mask, const Dim *index) {
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  Choice c;
  Node *n = mask;
  memcpy(at, index, n->type.rank * sizeof *at);
  for (uint32_t i = 0; is_plain_view(n) && i < DEPTH_MAX; i++) {
    view_index(r->g, n, at, from);
    n = view_operand(n);
    memcpy(at, from, n->type.rank * sizeof *at);
  }
  if (!read_choice(r, n, &c)) return mask;
  broadcast_index(r->g, n, at, c.condition, from);
  Node *left = rest(r, c.condition, from, c.negated);
  /* Numbers that are not infinite hide nothing in a row in which they are all there is. */
  bool hides = isinf(c.hidden) || attention_limits_leave(r->d, r->low, r->high, r->rows, r->keys);
  if (!left && hides) return NULL;
  r->low = r->high = NULL;
  return mask;
}

/* ---- both ---- */

static Dim shared_index(Reader *r, const char *name, Dim size) {
  return dim_is(size, 1) ? dim_int(r->d, 0) : dim_index(r->d, name, size);
}

SeenKeys attention_seen(Build *b, Node *mask, Dim rows, Dim keys) {
  Graph *g = b->in.g;
  Reader r = {.b = b, .g = g, .d = g->dims, .rows = rows, .keys = keys};
  Dim index[GRAPH_RANK_MAX];
  uint32_t rank = mask->type.rank;
  r.row = shared_index(&r, "row", rows);
  r.key = shared_index(&r, "key", keys);
  for (uint32_t i = 0; i < rank; i++) {
    Dim full = i + 1 == rank ? r.key : i + 2 == rank ? r.row : NULL;
    bool one = dim_is(mask->type.shape[i], 1);
    index[i] = one    ? dim_int(g->dims, 0)
               : full ? full
                      : dim_index(g->dims, "b", mask->type.shape[i]);
  }
  bool floats = mask->type.dtype != DT_I1;
  Node *left = floats ? read_floats(&r, mask, index) : rest(&r, mask, index, false);
  return (SeenKeys){left, r.low, r.high};
}
