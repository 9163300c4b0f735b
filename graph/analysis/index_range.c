#include "graph/analysis/index_range.h"

#include <string.h>

enum { STEPS_MAX = 500, DEPTH_MAX = 64 };

typedef struct {
  Graph *g;
  Dims *d;
  uint32_t steps, depth;
} Ranger;

static const IndexRange unknown = {NULL, NULL};

static IndexRange compute_range(Ranger *r, const Node *n);

static Dim constant_dim(Ranger *r, int64_t v) { return dim_int(r->d, v); }
static Dim one_less(Ranger *r, Dim size) { return dim_sub(r->d, size, constant_dim(r, 1)); }

static bool takes(Ranger *r, const Node *n, const char *param) {
  return ops_param(ops_schema(r->g, n->op), param) >= 0;
}

/* A size or an integer that is given; NULL: a tensor, a float, None, or no such parameter. */
static Dim integer_argument(Ranger *r, const Node *n, const char *param) {
  if (!takes(r, n, param)) return NULL;
  Arg a = graph_arg(r->g, n, param);
  if (a.kind == ARG_INT) return a.dim;
  if (a.kind == ARG_BOOL) return constant_dim(r, a.flag);
  return a.kind == ARG_NODE && a.node->type.kind == VALUE_INT ? a.node->type.value : NULL;
}

/* The range of a tensor, or of a number instead of it. */
static IndexRange operand_range(Ranger *r, const Node *n, const char *param) {
  Dim value = integer_argument(r, n, param);
  if (value) return (IndexRange){value, value};
  if (!takes(r, n, param)) return unknown;
  Arg a = graph_arg(r->g, n, param);
  return a.kind == ARG_NODE ? compute_range(r, a.node) : unknown;
}

static const Node *first_operand_tensor(Ranger *r, const Node *n) {
  Arg a = graph_arg(r->g, n, ops_schema(r->g, n->op)->params[0].name);
  return a.kind == ARG_NODE && a.node->type.kind == VALUE_TENSOR ? a.node : NULL;
}

/* ---- indices along an axis ---- */

/* 0 ... its size - 1, along the axis that `dim` names; without one of all elements. */
static IndexRange range_indices(Ranger *r, const Node *n) {
  const Node *x = first_operand_tensor(r, n);
  if (!x) return unknown;
  Dim axis = integer_argument(r, n, "dim"), size = value_numel(r->g, &x->type);
  int64_t rank = x->type.rank;
  if (axis && !dim_is_int(axis)) return unknown;
  if (axis && rank) {
    int64_t i = axis->value < 0 ? axis->value + rank : axis->value;
    if (i < 0 || i >= rank) return unknown;
    size = x->type.shape[i];
  }
  return (IndexRange){constant_dim(r, 0), one_less(r, size)};
}

/* Each drawn number is an index in its row. */
static IndexRange range_drawn(Ranger *r, const Node *n) {
  const Node *x = first_operand_tensor(r, n);
  if (!x || !x->type.rank) return unknown;
  return (IndexRange){constant_dim(r, 0), one_less(r, x->type.shape[x->type.rank - 1])};
}

/* A leaf is a node. */
static IndexRange range_tree_leaf(Ranger *r, const Node *n) {
  Node *nodes = graph_arg(r->g, n, "nodes").node;
  return (IndexRange){constant_dim(r, 0), one_less(r, nodes->type.shape[0])};
}

/* A vector's elements that are not 0. */
static IndexRange range_nonzero(Ranger *r, const Node *n) {
  const Node *x = first_operand_tensor(r, n);
  return x && x->type.rank == 1 ? (IndexRange){constant_dim(r, 0), one_less(r, x->type.shape[0])}
                                : unknown;
}

/* ---- creation ---- */

static IndexRange range_arange(Ranger *r, const Node *n) {
  Dim start = takes(r, n, "start") ? integer_argument(r, n, "start") : constant_dim(r, 0);
  Dim end = integer_argument(r, n, "end"),
      step = takes(r, n, "step") ? integer_argument(r, n, "step") : constant_dim(r, 1);
  if (!start || !end || !step || dim_range(r->d, step).lo < 1) return unknown;
  return (IndexRange){start, one_less(r, end)};
}

static IndexRange range_iota(Ranger *r, const Node *n) {
  Dim start = integer_argument(r, n, "start"), step = integer_argument(r, n, "step");
  Dim length = integer_argument(r, n, "length");
  if (!start || !step || !length || !dim_is_int(step)) return unknown;
  Dim last = dim_add(r->d, start, dim_mul(r->d, step, one_less(r, length)));
  return step->value < 0 ? (IndexRange){last, start} : (IndexRange){start, last};
}

static IndexRange range_full(Ranger *r, const Node *n) { return operand_range(r, n, "fill_value"); }
static IndexRange range_scalar(Ranger *r, const Node *n) { return operand_range(r, n, "s"); }

static IndexRange range_zeros(Ranger *r, const Node *n) {
  (void)n;
  return (IndexRange){constant_dim(r, 0), constant_dim(r, 0)};
}

static IndexRange range_ones(Ranger *r, const Node *n) {
  (void)n;
  return (IndexRange){constant_dim(r, 1), constant_dim(r, 1)};
}

static IndexRange range_randint(Ranger *r, const Node *n) {
  Dim low = takes(r, n, "low") ? integer_argument(r, n, "low") : constant_dim(r, 0),
      high = integer_argument(r, n, "high");
  return low && high ? (IndexRange){low, one_less(r, high)} : unknown;
}

/* ---- arithmetic ---- */

/* Elements of the operand. */
static IndexRange range_same(Ranger *r, const Node *n) {
  const Node *x = first_operand_tensor(r, n);
  return x ? compute_range(r, x) : unknown;
}

static Dim larger(Ranger *r, Dim a, Dim b) { return a && b ? dim_max(r->d, a, b) : NULL; }
static Dim smaller_dim(Ranger *r, Dim a, Dim b) { return a && b ? dim_min(r->d, a, b) : NULL; }

static IndexRange union_range(Ranger *r, IndexRange a, IndexRange b) {
  return (IndexRange){smaller_dim(r, a.lo, b.lo), larger(r, a.hi, b.hi)};
}

/* No less than `least`, no more than `most`, as far as these are known. */
static IndexRange clamp_range(Ranger *r, IndexRange x, Dim least, Dim most) {
  if (least) {
    x.lo = x.lo ? dim_max(r->d, x.lo, least) : least;
    if (x.hi) x.hi = dim_max(r->d, x.hi, least);
  }
  if (most) {
    x.hi = x.hi ? dim_min(r->d, x.hi, most) : most;
    if (x.lo) x.lo = dim_min(r->d, x.lo, most);
  }
  return x;
}

static IndexRange range_clamp(Ranger *r, const Node *n) {
  return clamp_range(r, operand_range(r, n, "self"), integer_argument(r, n, "min"),
                     integer_argument(r, n, "max"));
}

static IndexRange range_minimum(Ranger *r, const Node *n) {
  if (!takes(r, n, "other")) return range_same(r, n);
  IndexRange a = operand_range(r, n, "self"), b = operand_range(r, n, "other");
  Dim most = a.hi && b.hi ? dim_min(r->d, a.hi, b.hi) : a.hi ? a.hi : b.hi;
  return (IndexRange){smaller_dim(r, a.lo, b.lo), most};
}

static IndexRange range_maximum(Ranger *r, const Node *n) {
  if (!takes(r, n, "other")) return range_same(r, n); /* of an axis */
  IndexRange a = operand_range(r, n, "self"), b = operand_range(r, n, "other");
  Dim least = a.lo && b.lo ? dim_max(r->d, a.lo, b.lo) : a.lo ? a.lo : b.lo;
  return (IndexRange){least, larger(r, a.hi, b.hi)};
}

/* The magnitude of the least number of a dtype is that number. */
static IndexRange range_magnitude(Ranger *r, const Node *n) {
  IndexRange a = operand_range(r, n, "self");
  bool fits = a.lo && a.hi && dtype_bits(n->type.dtype) >= 32 &&
              dim_range(r->d, a.lo).lo > INT32_MIN;
  if (!fits) return unknown;
  Dim zero = constant_dim(r, 0), below = dim_sub(r->d, zero, a.lo);
  return (IndexRange){zero, dim_max(r->d, below, a.hi)};
}

static IndexRange range_sum(Ranger *r, const Node *n) {
  IndexRange a = operand_range(r, n, "self"), b = operand_range(r, n, "other");
  if (graph_scales_operand(r->g, n)) return unknown;
  return (IndexRange){a.lo && b.lo ? dim_add(r->d, a.lo, b.lo) : NULL,
                      a.hi && b.hi ? dim_add(r->d, a.hi, b.hi) : NULL};
}

static IndexRange range_difference(Ranger *r, const Node *n) {
  IndexRange a = operand_range(r, n, "self"), b = operand_range(r, n, "other");
  if (graph_scales_operand(r->g, n)) return unknown;
  return (IndexRange){a.lo && b.hi ? dim_sub(r->d, a.lo, b.hi) : NULL,
                      a.hi && b.lo ? dim_sub(r->d, a.hi, b.lo) : NULL};
}

/* The range of a product by a number that is not negative. */
static IndexRange range_product(Ranger *r, const Node *n) {
  IndexRange a = operand_range(r, n, "self"), b = operand_range(r, n, "other");
  Dim by = b.lo && b.lo == b.hi ? b.lo : a.lo && a.lo == a.hi ? a.lo : NULL;
  IndexRange x = by == b.lo ? a : b;
  if (!by || dim_range(r->d, by).lo < 0) return unknown;
  return (IndexRange){x.lo ? dim_mul(r->d, x.lo, by) : NULL, x.hi ? dim_mul(r->d, x.hi, by) : NULL};
}

static IndexRange range_remainder_of(Ranger *r, const Node *n) {
  IndexRange by = operand_range(r, n, "other");
  bool positive = by.lo && by.hi && dim_range(r->d, by.lo).lo >= 1;
  return positive ? (IndexRange){constant_dim(r, 0), one_less(r, by.hi)} : unknown;
}

static IndexRange range_quotient(Ranger *r, const Node *n) {
  IndexRange a = operand_range(r, n, "self"), b = operand_range(r, n, "other");
  if (!b.lo || b.lo != b.hi || dim_range(r->d, b.lo).lo < 1) return unknown;
  return (IndexRange){a.lo ? dim_floordiv(r->d, a.lo, b.lo) : NULL,
                      a.hi ? dim_floordiv(r->d, a.hi, b.lo) : NULL};
}

/* Bits of a number that is not negative. */
static IndexRange range_bits(Ranger *r, const Node *n) {
  IndexRange a = operand_range(r, n, "self"), b = operand_range(r, n, "other");
  bool some = b.lo && dim_range(r->d, b.lo).lo >= 0, other = a.lo && dim_range(r->d, a.lo).lo >= 0;
  if (!some && !other) return unknown;
  return (IndexRange){constant_dim(r, 0), some && b.hi ? b.hi : a.hi};
}

/* The remainder of a number that is not negative, by a constant. */
static IndexRange range_right_shift(Ranger *r, const Node *n) {
  IndexRange a = operand_range(r, n, "self"), b = operand_range(r, n, "other");
  bool known = a.lo && b.lo && dim_range(r->d, a.lo).lo >= 0 && dim_is_int(b.lo) &&
               b.lo == b.hi && b.lo->value >= 0 && b.lo->value < 63;
  if (!known) return unknown;
  Dim by = constant_dim(r, 1ll << b.lo->value);
  return (IndexRange){constant_dim(r, 0), a.hi ? dim_floordiv(r->d, a.hi, by) : NULL};
}

static IndexRange range_where(Ranger *r, const Node *n) {
  return union_range(r, operand_range(r, n, "self"), operand_range(r, n, "other"));
}

/* ---- of several tensors ---- */

static IndexRange range_all_of(Ranger *r, const Node *n) {
  Arg list = graph_arg(r->g, n, "tensors");
  if (list.kind != ARG_LIST || !list.n) return unknown;
  IndexRange x = unknown;
  for (uint32_t i = 0; i < list.n; i++) {
    if (list.items[i].kind != ARG_NODE) return unknown;
    IndexRange y = compute_range(r, list.items[i].node);
    x = i ? union_range(r, x, y) : y;
  }
  return x;
}

/* ---- all of them ---- */

typedef IndexRange Rule(Ranger *r, const Node *n);

static const struct {
  Rule *value;
  Rule *item; /* of a list that the op gives: its second item, or all of them (rule `same`) */
} rules[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define RANGE(rule) .value = range_##rule,
#define ITEM_RANGE(rule) .item = range_##rule,
#include "graph/ops/op_table.def"
};

static IndexRange item(Ranger *r, const Node *n) {
  const Node *list = n->args[0].node;
  if (list->kind != NODE_CALL) return unknown;
  Rule *rule = rules[list->op->id].item;
  bool right = rule == range_same || (n->args[1].kind == ARG_INT && dim_is(n->args[1].dim, 1));
  return rule && right ? rule(r, list) : unknown;
}

/* The one value that an input may have. */
static IndexRange input_value_range(Ranger *r, const InputValue *v) {
  if (!v || !v->ints || !v->n) return unknown;
  int64_t lo = v->ints[0], hi = lo;
  for (uint32_t i = 1; i < v->n; i++) {
    if (v->ints[i] < lo) lo = v->ints[i];
    if (v->ints[i] > hi) hi = v->ints[i];
  }
  return (IndexRange){constant_dim(r, lo), constant_dim(r, hi)};
}

/* An end that the dtype can't hold says nothing: what is computed wraps around. */
static IndexRange wrap_range(Ranger *r, DType t, IndexRange x) {
  if (dtype_is_float(t)) return unknown;
  int64_t lo = INT64_MIN, hi = INT64_MAX;
  if (t == DT_I1) lo = 0, hi = 1;
  else if (!dtype_is_signed(t)) lo = 0, hi = dtype_bits(t) < 64 ? (1ll << dtype_bits(t)) - 1 : hi;
  else if (dtype_bits(t) < 64) lo = -(1ll << (dtype_bits(t) - 1)), hi = -lo - 1;
  bool good = x.lo && x.hi && x.lo->kind != DIM_HUGE && x.hi->kind != DIM_HUGE;
  bool narrow = dtype_bits(t) < 64;
  if (good && narrow) good = dim_range(r->d, x.lo).lo >= lo && dim_range(r->d, x.hi).hi <= hi;
  if (good) return x;
  if (x.lo && x.lo->kind == DIM_HUGE) x.lo = NULL;
  if (x.hi && x.hi->kind == DIM_HUGE) x.hi = NULL;
  if (!narrow) return x;
  return dtype_bits(t) < 32 || !dtype_is_signed(t)
             ? (IndexRange){constant_dim(r, lo), constant_dim(r, hi)}
             : unknown;
}

/* The range of n's results, before they wrap around. */
static IndexRange computed_range(Ranger *r, const Node *n) {
  if (n->kind == NODE_INPUT) return input_value_range(r, n->input.fixed);
  if (n->kind == NODE_GETITEM) return item(r, n);
  Rule *rule = n->kind == NODE_CALL ? rules[n->op->id].value : NULL;
  return rule ? rule(r, n) : unknown;
}

static IndexRange compute_range(Ranger *r, const Node *n) {
  if (n->type.kind != VALUE_TENSOR) return unknown;
  DType t = n->type.dtype;
  if (++r->steps > STEPS_MAX || r->depth >= DEPTH_MAX) return wrap_range(r, t, unknown);
  r->depth++;
  IndexRange x = computed_range(r, n);
  r->depth--;
  return wrap_range(r, t, x);
}

/* n is a node as models have it, before pass decompose. */
static IndexRange index_range(Graph *g, const Node *n) {
  Ranger r = {.g = g, .d = g->dims};
  return compute_range(&r, n);
}

bool index_is_inside(Graph *g, const Node *n, Dim lo, Dim hi) {
  IndexRange x = index_range(g, n);
  return x.lo && x.hi && dim_range(g->dims, dim_sub(g->dims, x.lo, lo)).lo >= 0 &&
         dim_range(g->dims, dim_sub(g->dims, hi, x.hi)).lo > 0;
}

bool index_never_wraps(Graph *g, const Node *n) {
  Ranger r = {.g = g, .d = g->dims, .depth = 1};
  DType t = n->type.dtype;
  if (n->type.kind != VALUE_TENSOR || dtype_is_float(t) || dtype_bits(t) > 16) return false;
  IndexRange x = computed_range(&r, n);
  int64_t lo = dtype_is_signed(t) ? -(1ll << (dtype_bits(t) - 1)) : 0;
  int64_t hi = lo + (1ll << dtype_bits(t)) - 1;
  return x.lo && x.hi && x.lo->kind != DIM_HUGE && x.hi->kind != DIM_HUGE &&
         dim_range(r.d, x.lo).lo >= lo && dim_range(r.d, x.hi).hi <= hi;
}

bool index_is_not_zero(Graph *g, const Node *n) {
  IndexRange x = index_range(g, n);
  return (x.lo && dim_range(g->dims, x.lo).lo > 0) || (x.hi && dim_range(g->dims, x.hi).hi < 0);
}
