/* Passes check_expanded and check_data: data that PyTorch refuses when an operator runs gets a
 * check, as indices do (planner/passes/checks/indices.c), and so does an assertion on data.
 *
 * A check is a nereid.check_index of truth values: one that holds is a fault, and the check has the
 * text of it.  The passes run before operators are rewritten and unused ones removed, because eager
 * mode runs these, too; check_expanded before operators are expanded, for those that are. */
#include <math.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/analysis/index_range.h"
#include "graph/analysis/numbers.h"
#include "graph/builders/node_builder.h"
#include "graph/expand/expansion.h"
#include "graph/messages.h"
#include "lang/messages.h"
#include "planner/messages.h"
#include "planner/passes.h"

/* What a node is checked for; each node is checked once for each. */
typedef enum {
  ZERO = 1, PROBABILITY = 2, RATE = 4, UNIT = 8, FALLING = 16, SINGULAR = 32, INDEFINITE = 64,
  EVENTS = 128, UNEVEN = 256
} Fault;

typedef struct {
  Graph *g;
  uint16_t *of; /* by id: a bit for each Fault that the node is checked for */
  uint32_t nids;
} DataChecks;

typedef void Rule(DataChecks *c, Build *b);

/* ---- checks ---- */

/* A loop may not run, so that a check in one is none of what comes after it. */
static bool is_new(DataChecks *c, const Node *x, Fault fault) {
  if (x->id >= c->nids || c->g->has_loops) return true;
  bool known = c->of[x->id] & fault;
  c->of[x->id] |= fault;
  return !known;
}

static Node *compare(Build *b, OpId op, Node *x, double with) {
  return build_with(b, op, x, arg_float(with));
}

static Node *negated(Build *b, Node *x) { return build_op1(b, OP_aten_logical_not_default, x); }

/* May the Build's node have no elements, so that those of x, which broadcasts to it, are unused? */
static bool may_be_unused(Build *b, const Node *x) {
  const ValueType *result = &b->in.n->type;
  return !value_type_eq(&x->type, result) &&
         dim_range(build_dims(b), value_numel(b->in.g, result)).lo <= 0 &&
         dim_range(build_dims(b), value_numel(b->in.g, &x->type)).hi > 0;
}

static void fail_where(Build *b, Node *bad, Node *x, const char *what) {
  if (may_be_unused(b, x))
    bad = build_expand(b, bad, b->in.n->type.rank, b->in.n->type.shape);
  build_check_data(b, bad, arena_printf(b->in.g->arena, what, x->name), b->in.n->name);
}

/* ---- rules ---- */

/* A GPU divides integers by anything. */
static void data_divisor(DataChecks *c, Build *b) {
  if (!c->g->host || !dtype_is_int(b->in.n->type.dtype)) return;
  Arg other = build_arg(b, "other");
  if (arg_is_number(&other, 0) || (other.kind == ARG_BOOL && !other.flag))
    infer_fail(&b->in, E_LANG_DIVISION_BY_ZERO);
  Node *y = other.kind == ARG_NODE ? other.node : NULL;
  if (!y || y->type.kind != VALUE_TENSOR || index_is_not_zero(c->g, y)) return;
  if (!is_new(c, y, ZERO)) return;
  Node *divisor = build_to(b, y, b->in.n->type.dtype); /* one of 2**32 is 0 in 32 bits */
  fail_where(b, build_with(b, OP_aten_eq_Scalar, divisor, build_int(b, 0)), y, M_GRAPH_ZERO);
}

/* Python divides no number by 0. */
static void data_number_divisor(DataChecks *c, Build *b) {
  (void)c;
  Arg y = build_arg(b, "b");
  if (!number_is_of_data(&y)) return;
  Node *zero = build_with(b, OP_aten_eq_Scalar, number_tensor(b, &y), build_int(b, 0));
  build_check_data(b, zero, arena_printf(b->in.g->arena, M_GRAPH_ZERO, y.node->name),
                   b->in.n->name);
}

/* Python makes no integer of NaN and infinity, and PyTorch none of more than 64 bits. */
static void data_whole_number(DataChecks *c, Build *b) {
  (void)c;
  const Arg *x = &b->in.n->args[0];
  if (!number_is_of_data(x) || number_dtype(x) != DT_F64 || number_is_finite(x)) return;
  Node *of = number_tensor(b, x);
  Node *fits = build_and(b, compare(b, OP_aten_ge_Scalar, of, -0x1p63),
                         compare(b, OP_aten_lt_Scalar, of, 0x1p63));
  build_check_data(b, negated(b, fits),
                   arena_printf(b->in.g->arena, M_GRAPH_FITS, x->node->name, dtype_name(DT_I64)),
                   b->in.n->name);
}

/* ---- numbers of Python, which don't overflow ---- */

/* What an integer of data can't exceed, as far as its dtype and literals say. */
static double number_bound(const Arg *a) {
  if (a->kind == ARG_BOOL) return 1;
  if (a->kind == ARG_INT) return dim_is_int(a->dim) ? fabs((double)a->dim->value) : 0x1p48;
  const Node *n = a->kind == ARG_NODE ? a->node : NULL;
  if (!n || n->kind != NODE_CALL || n->type.kind == VALUE_BOOL) return n && n->kind == NODE_CALL;
  if (number_is_item(n)) {
    DType t = n->args[0].node->type.dtype;
    return exp2(dtype_bits(t) - dtype_is_signed(t));
  }
  if (graph_is(n, OP__operator_neg)) return number_bound(&n->args[0]);
  if (n->nargs != 2) return 0x1p63;
  double x = number_bound(&n->args[0]), y = number_bound(&n->args[1]);
  if (graph_is_any(n, OP__operator_add, OP__operator_sub)) return fmin(x + y, 0x1p63);
  if (graph_is(n, OP__operator_mul)) return fmin(x * y, 0x1p63);
  if (graph_is(n, OP__operator_mod)) return y;
  if (graph_is(n, OP__operator_floordiv)) return x;
  return graph_is_any(n, OP_torch_sym_max, OP_torch_sym_min) ? fmax(x, y) : 0x1p63;
}

/* Is it an integer of data that may not be one of 64 bits? */
static bool may_overflow(Build *b) {
  Arg own = arg_node(b->in.n);
  return b->in.n->type.kind == VALUE_INT && number_is_of_data(&own) && number_bound(&own) >= 0x1p62;
}

static Node *whole_operand(Build *b, uint32_t i) {
  return build_to(b, number_tensor(b, &b->in.n->args[i]), DT_I64);
}

static void fail_if_beyond(Build *b, Node *bad) {
  const char *fault = arena_printf(b->in.g->arena, M_GRAPH_FITS, b->in.n->name, dtype_name(DT_I64));
  build_check_data(b, bad, fault, b->in.n->name);
}

/* A sum of 64 bits goes the other way than what is added says. */
static void data_number_sum(DataChecks *c, Build *b) {
  (void)c;
  if (!may_overflow(b)) return;
  bool sum = graph_is(b->in.n, OP__operator_add);
  Node *x = whole_operand(b, 0), *y = whole_operand(b, 1);
  Node *r = build_op2(b, sum ? OP_aten_add_Tensor : OP_aten_sub_Tensor, x, y);
  Node *moved = build_op2(b, sum ? OP_aten_lt_Tensor : OP_aten_gt_Tensor, r, x);
  Node *down = build_with(b, OP_aten_lt_Scalar, y, build_int(b, 0));
  fail_if_beyond(b, build_op2(b, OP_aten_logical_xor_default, moved, down));
}

static void data_number_negative(DataChecks *c, Build *b) {
  (void)c;
  if (!may_overflow(b)) return;
  Node *x = whole_operand(b, 0), *r = build_op1(b, OP_aten_neg_default, x);
  fail_if_beyond(b, build_and(b, build_with(b, OP_aten_lt_Scalar, x, build_int(b, 0)),
                              build_with(b, OP_aten_lt_Scalar, r, build_int(b, 0))));
}

/* The double is too large; one next to 2^63 may be of an integer that fits, whose sign is right. */
static void fail_if_product_is_beyond(Build *b, OpId op) {
  Node *x = whole_operand(b, 0), *y = whole_operand(b, 1);
  Node *r = build_op2(b, op, x, y), *d = build_op2(b, op, build_to(b, x, DT_F64),
                                                    build_to(b, y, DT_F64));
  Node *over = compare(b, OP_aten_gt_Scalar, build_op1(b, OP_aten_abs_default, d), 0x1.00001p63);
  Node *flips = build_op2(b, OP_aten_logical_xor_default, compare(b, OP_aten_lt_Scalar, d, 0),
                          build_with(b, OP_aten_lt_Scalar, r, build_int(b, 0)));
  fail_if_beyond(b, build_op2(b, OP_aten_logical_or_default, over, flips));
}

static void data_number_product(DataChecks *c, Build *b) {
  (void)c;
  if (may_overflow(b)) fail_if_product_is_beyond(b, OP_aten_mul_Tensor);
}

/* Python's power of a negative float by a fraction is a complex number. */
static void data_number_power(DataChecks *c, Build *b) {
  (void)c;
  Arg own = arg_node(b->in.n);
  if (may_overflow(b)) fail_if_product_is_beyond(b, OP_aten_pow_Tensor_Tensor);
  if (b->in.n->type.kind != VALUE_FLOAT || !number_is_of_data(&own)) return;
  Node *x = build_to(b, number_tensor(b, &b->in.n->args[0]), DT_F64);
  Node *y = build_to(b, number_tensor(b, &b->in.n->args[1]), DT_F64);
  Node *part = build_op2(b, OP_aten_ne_Tensor, build_op1(b, OP_aten_trunc_default, y), y);
  Node *bad = build_and(b, compare(b, OP_aten_lt_Scalar, x, 0), part);
  Node *finite = build_and(b, build_op1(b, OP_aten_isfinite_default, x),
                           build_op1(b, OP_aten_isfinite_default, y));
  build_check_data(b, build_and(b, bad, finite),
                   arena_printf(b->in.g->arena, M_GRAPH_COMPLEX, b->in.n->name), b->in.n->name);
}

/* ---- data of operators ---- */

/* Outside of 0 to 1, or NaN. */
static Node *outside_unit(Build *b, Node *x) {
  return negated(b, build_and(b, compare(b, OP_aten_ge_Scalar, x, 0),
                              compare(b, OP_aten_le_Scalar, x, 1)));
}

static void data_probabilities(DataChecks *c, Build *b) {
  Node *p = build_self(b);
  if (dtype_is_float(p->type.dtype) && is_new(c, p, PROBABILITY))
    fail_where(b, outside_unit(b, p), p, M_GRAPH_PROBABILITY);
}

static void data_unit_interval(DataChecks *c, Build *b) {
  Node *x = build_self(b);
  if (!is_new(c, x, UNIT)) return;
  const char *fault = arena_printf(c->g->arena, M_GRAPH_PROBABILITY, x->name);
  build_check_data(b, outside_unit(b, x), fault, b->in.n->name);
}

/* The rows of multinomial, which need not add up to 1. */
static void data_rates(DataChecks *c, Build *b) {
  Node *x = build_self(b);
  if (!dtype_is_float(x->type.dtype) || !x->type.rank || !is_new(c, x, RATE)) return;
  Node *right = build_and(b, compare(b, OP_aten_ge_Scalar, x, 0),
                          build_op1(b, OP_aten_isfinite_default, x));
  Node *sum = build_sum(b, x, 1u << (x->type.rank - 1), false);
  Arena *a = c->g->arena;
  build_check_data(b, negated(b, right), arena_printf(a, M_GRAPH_RATE, x->name), b->in.n->name);
  build_check_data(b, negated(b, compare(b, OP_aten_gt_Scalar, sum, 0)),
                   arena_printf(a, M_GRAPH_RATES, x->name), b->in.n->name);
}

static void data_events(DataChecks *c, Build *b) {
  Node *x = build_self(b);
  if (!is_new(c, x, EVENTS)) return;
  build_check_data(b, negated(b, compare(b, OP_aten_ge_Scalar, x, 0)),
                   arena_printf(c->g->arena, M_GRAPH_EVENTS, x->name), b->in.n->name);
}

/* An assertion of the model, which none of its other nodes depends on. */
static void data_asserted(DataChecks *c, Build *b) {
  Node *x = build_self(b);
  (void)c;
  const char *text = M_GRAPH_ASSERTED;
  if (infer_takes(&b->in, "assert_msg")) text = infer_string(&b->in, "assert_msg");
  Node *bad = x->type.dtype == DT_I1 ? negated(b, x)
                                     : build_with(b, OP_aten_eq_Scalar, x, build_int(b, 0));
  build_check_data(b, bad, text, b->in.n->name);
}

/* Is the sum of a product of 8-bit floats in groups?  They begin at multiples of 16 bytes. */
static bool parts_sum_of_bytes(Build *b) {
  return graph_is(b->in.n, OP_aten__scaled_grouped_mm_default) && rank_of(build_self(b)) == 2 &&
         rank_of(build_input(b, "mat2")) == 2;
}

/* Each group ends where the next one begins; check_indices sees that they end within the axis. */
static void data_group_ends(DataChecks *c, Build *b) {
  Node *ends = build_input(b, "offs");
  if (!ends) return;
  bool falling = is_new(c, ends, FALLING);
  bool uneven = parts_sum_of_bytes(b) && is_new(c, ends, UNEVEN);
  if (!falling && !uneven) return;
  Dim back[] = {build_const(b, 1), build_const(b, -1)};
  Node *begins = build(b, OP_aten_constant_pad_nd_default,
                       ARGS(arg_node(ends), arg_dims(b->in.g, 2, back), build_int(b, INT32_MIN)));
  Arena *a = c->g->arena;
  if (falling)
    build_check_data(b, build_op2(b, OP_aten_lt_Tensor, ends, begins),
                     arena_printf(a, M_GRAPH_FALLING, ends->name), b->in.n->name);
  if (!uneven) return;
  Node *rest = build_with(b, OP_aten_bitwise_and_Scalar, begins, build_int(b, 15));
  build_check_data(b, build_with(b, OP_aten_ne_Scalar, rest, build_int(b, 0)),
                   arena_printf(a, M_GRAPH_UNEVEN, ends->name), b->in.n->name);
}

/* The tensor whose only element is the number. */
static Node *tensor_of_item(Arg a) {
  bool item = a.kind == ARG_NODE && a.node->kind == NODE_CALL &&
              (a.node->op->id == OP_aten_item_default ||
               a.node->op->id == OP_aten__local_scalar_dense_default);
  return item && a.node->args[0].kind == ARG_NODE ? a.node->args[0].node : NULL;
}

static const struct {
  OpId of_numbers, of_tensors, turned; /* turned: a number compared with a tensor */
} comparisons[] = {
    {OP__operator_ge, OP_aten_ge_Scalar, OP_aten_le_Scalar},
    {OP__operator_le, OP_aten_le_Scalar, OP_aten_ge_Scalar},
    {OP__operator_gt, OP_aten_gt_Scalar, OP_aten_lt_Scalar},
    {OP__operator_lt, OP_aten_lt_Scalar, OP_aten_gt_Scalar},
    {OP__operator_eq, OP_aten_eq_Scalar, OP_aten_eq_Scalar},
    {OP__operator_ne, OP_aten_ne_Scalar, OP_aten_ne_Scalar},
};

/* The test of a number that data has, as a tensor; NULL: it is no such test. */
static Node *test_of_item(Build *b, const Node *test) {
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
    if (!graph_is(test, comparisons[i].of_numbers)) continue;
    Arg x = graph_arg(b->in.g, test, "a"), y = graph_arg(b->in.g, test, "b");
    Node *one = tensor_of_item(x), *other = tensor_of_item(y);
    if (one && !other && y.kind != ARG_NODE)
      return build_with(b, comparisons[i].of_tensors, one, y);
    if (other && !one && x.kind != ARG_NODE)
      return build_with(b, comparisons[i].turned, other, x);
  }
  return NULL;
}

/* Tests of sizes are relations of the graph (graph/infer/infer_sym.c). */
static void data_asserted_scalar(DataChecks *c, Build *b) {
  (void)c;
  Arg a = build_arg(b, "self");
  Node *item = tensor_of_item(a);
  Node *holds = item               ? build_with(b, OP_aten_ne_Scalar, item, build_int(b, 0))
                : a.kind == ARG_NODE ? test_of_item(b, a.node)
                                     : NULL;
  if (holds)
    build_check_data(b, negated(b, holds), infer_string(&b->in, "assert_msg"), b->in.n->name);
}

/* The factors that are checked are those that the operator uses: equal nodes become one. */
static void check_factors(DataChecks *c, Build *b, OpId factor, Fault fault, const char *text) {
  Node *a = build_input(b, infer_takes(&b->in, "A") ? "A" : "self");
  if (!is_new(c, a, fault)) return;
  const char *way = fault == SINGULAR ? "pivot" : "upper";
  bool set = infer_takes(&b->in, way) ? infer_bool(&b->in, way) : fault == SINGULAR;
  Node *factors = build_with_named(b, factor, 1, (Arg[]){arg_node(a)}, way, arg_bool(set));
  Node *info = build_item(b, factors, factors->type.nitems - 1);
  build_check_data(b, build_with(b, OP_aten_ne_Scalar, info, build_int(b, 0)),
                   arena_printf(c->g->arena, text, a->name), b->in.n->name);
}

static void data_regular(DataChecks *c, Build *b) {
  check_factors(c, b, OP_aten_linalg_lu_factor_ex_default, SINGULAR, M_GRAPH_SINGULAR);
}

static void data_definite(DataChecks *c, Build *b) {
  check_factors(c, b, OP_aten_linalg_cholesky_ex_default, INDEFINITE, M_GRAPH_NOT_DEFINITE);
}

/* Rows count from 1. */
static void data_pivots(DataChecks *c, Build *b) {
  if (infer_takes(&b->in, "unpack_pivots") && !infer_bool(&b->in, "unpack_pivots")) return;
  Node *pivots = build_input(b, infer_takes(&b->in, "pivots") ? "pivots" : "LU_pivots");
  Dim rows = size_from_end(build_self(b), 2);
  Node *right = build_and(b, build_with(b, OP_aten_ge_Scalar, pivots, build_int(b, 1)),
                          build_with(b, OP_aten_le_Scalar, pivots, arg_dim(rows)));
  build_check_data(b, negated(b, right), arena_printf(c->g->arena, M_GRAPH_PIVOTS, pivots->name),
                   b->in.n->name);
}

static void check_lengths(DataChecks *c, Build *b, Node *x, Dim most) {
  Node *bad = build_with(b, OP_aten_lt_Scalar, x, build_int(b, 0));
  Node *over = most ? build_with(b, OP_aten_gt_Scalar, x, arg_dim(most)) : NULL;
  if (over) bad = build_op2(b, OP_aten_logical_or_default, bad, over);
  build_check_data(b, bad, arena_printf(c->g->arena, M_GRAPH_LENGTHS, x->name), b->in.n->name);
}

/* Lengths of steps and of targets, which are rows, or end where the next one begins. */
static void data_alignment(DataChecks *c, Build *b) {
  Node *x = build_input(b, "log_probs"), *targets = build_input(b, "targets");
  Node *steps = build_input(b, "input_lengths"), *lengths = build_input(b, "target_lengths");
  bool rows = targets->type.rank == 2;
  check_lengths(c, b, steps, x->type.shape[0]);
  check_lengths(c, b, lengths, rows ? targets->type.shape[1] : NULL);
  if (rows) return;
  Node *sum = build_sum(b, build_to(b, lengths, DT_I64), ~0u >> (32 - lengths->type.rank), false);
  Node *bad = build_with(b, OP_aten_ne_Scalar, sum, arg_dim(targets->type.shape[0]));
  build_check_data(b, bad, arena_printf(c->g->arena, M_GRAPH_LENGTHS, lengths->name),
                   b->in.n->name);
}

static const struct {
  Rule *rule;
} rules[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define FUNCTION(library, name, rule, schema, ...) [OP_##library##_##name] = {__VA_ARGS__},
#define NEEDS(rule) data_##rule
#include "graph/ops/op_table.def"
};

static Rule *rule_of(const Node *n) {
  if (n->kind != NODE_CALL) return NULL;
  Rule *own = rules[n->op->id].rule;
  return own ? own : rules[ops_renamed(n->op)->id].rule;
}

static bool check_node(DataChecks *c, Node *n, Rule *rule) {
  Build b = build_at(c->g, n);
  if (setjmp(b.in.failed)) return false;
  rule(c, &b);
  return true;
}

static bool check_nodes(Graph *g, bool expanded) {
  Arena *scratch = arena_child(g->arena);
  DataChecks c = {.g = g, .nids = g->nids};
  c.of = ARENA_ARRAY(scratch, uint16_t, g->nids);
  bool ok = true;
  Node *end = g->last->prev; /* before the checks that are added */
  for (Node *n = g->first; n && ok; n = n == end ? NULL : n->next) {
    Rule *rule = rule_of(n);
    if (rule && (expansion_rule(n->op) != NULL) == expanded) ok = check_node(&c, n, rule);
  }
  arena_free(scratch);
  return ok;
}

bool pass_check_expanded(Graph *g) { return g->unchecked || check_nodes(g, true); }

bool pass_check_data(Graph *g) {
  if (g->unchecked) return true;
  return graph_functional(g, "check_data") && check_nodes(g, false);
}
