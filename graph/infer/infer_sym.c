/* Python's numbers in graphs: sizes, what is computed from them, and items of tensors. */
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"
#include "lang/messages.h"

static void set_sym_int(Infer *in, Dim value) {
  in->result = (ValueType){.kind = VALUE_INT, .value = value};
}

static void set_kind(Infer *in, ValueKind kind) { in->result = (ValueType){.kind = kind}; }

/* ---- from tensors ---- */

void infer_sym_size(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  set_sym_int(in, x->shape[infer_axis_arg(in, "dim", x->rank)]);
}

void infer_sym_numel(Infer *in) { set_sym_int(in, value_numel(in->g, infer_self(in))); }

/* Values have no place in memory before they are computed; exported programs check it to be one. */
void infer_sym_storage_offset(Infer *in) { set_sym_int(in, NULL); }

void infer_item(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim n = value_numel(in->g, x);
  if (!infer_equal(in, n, infer_const(in, 1)))
    infer_fail(in, E_GRAPH_ITEM_OF, infer_type_text(in, x));
  if (dtype_is_float(x->dtype)) set_kind(in, VALUE_FLOAT);
  else if (x->dtype == DT_I1) set_kind(in, VALUE_BOOL);
  else set_sym_int(in, NULL);
}

/* ---- arithmetic ---- */

static bool is_float_operand(Infer *in, const char *param) {
  return dtype_is_float(infer_operand(in, param).dtype);
}

/* The value of an integer; NULL if only data knows. */
static Dim known_dim(Infer *in, const char *param) {
  Arg a = graph_arg(in->g, in->n, param);
  bool item = a.kind == ARG_NODE && (a.node->type.kind != VALUE_INT || !a.node->type.value);
  return item ? NULL : infer_size(in, param);
}

typedef Dim Operation(Dims *d, Dim a, Dim b);

static void infer_arithmetic(Infer *in, Operation *f) {
  if (is_float_operand(in, "a") || is_float_operand(in, "b")) {
    set_kind(in, VALUE_FLOAT);
    return;
  }
  Dim a = known_dim(in, "a"), b = known_dim(in, "b");
  set_sym_int(in, a && b ? f(in->g->dims, a, b) : NULL);
}

static void division(Infer *in, Operation *f) {
  if (!is_float_operand(in, "b") && known_dim(in, "b") && dim_is(known_dim(in, "b"), 0))
    infer_fail(in, E_LANG_DIVISION_BY_ZERO);
  infer_arithmetic(in, f);
}

void infer_sym_add(Infer *in) { infer_arithmetic(in, dim_add); }
void infer_sym_sub(Infer *in) { infer_arithmetic(in, dim_sub); }
void infer_sym_mul(Infer *in) { infer_arithmetic(in, dim_mul); }
void infer_sym_max(Infer *in) { infer_arithmetic(in, dim_max); }
void infer_sym_min(Infer *in) { infer_arithmetic(in, dim_min); }
void infer_sym_floordiv(Infer *in) { division(in, dim_floordiv); }
void infer_sym_mod(Infer *in) { division(in, dim_mod); }
void infer_sym_truediv(Infer *in) { set_kind(in, VALUE_FLOAT); }
void infer_sym_float(Infer *in) { set_kind(in, VALUE_FLOAT); }
void infer_sym_compare(Infer *in) { set_kind(in, VALUE_BOOL); }

/* The bits of integers; truth values have one. */
void infer_sym_bits(Infer *in) {
  bool truth = infer_operand(in, "a").dtype == DT_I1 && infer_operand(in, "b").dtype == DT_I1;
  if (truth) set_kind(in, VALUE_BOOL);
  else set_sym_int(in, NULL);
}

/* Python shifts integers alone. */
static void need_integers(Infer *in) {
  static const char *const params[] = {"a", "b"};
  for (int i = 0; i < 2; i++)
    if (is_float_operand(in, params[i]))
      infer_fail(in, E_GRAPH_NEEDS_INTEGER, dtype_name(infer_operand(in, params[i]).dtype));
}

/* Shifts by literals are products and quotients. */
void infer_sym_shift(Infer *in) {
  enum { MOST = 62 };
  need_integers(in);
  Dim a = known_dim(in, "a"), b = known_dim(in, "b");
  bool known = a && b && dim_is_int(b) && b->value >= 0 && b->value <= MOST;
  Dim by = known ? infer_const(in, INT64_C(1) << b->value) : NULL;
  bool left = in->n->op->id == OP__operator_lshift;
  if (known) set_sym_int(in, (left ? dim_mul : dim_floordiv)(in->g->dims, a, by));
  else set_sym_int(in, NULL);
}

void infer_sym_pos(Infer *in) {
  if (is_float_operand(in, "a")) set_kind(in, VALUE_FLOAT);
  else set_sym_int(in, known_dim(in, "a"));
}

/* The result is one of two numbers; which of them is not known. */
void infer_sym_ite(Infer *in) {
  DType t = infer_operand(in, "t").dtype, f = infer_operand(in, "f").dtype;
  if (dtype_is_float(t) || dtype_is_float(f)) set_kind(in, VALUE_FLOAT);
  else if (t == DT_I1 && f == DT_I1) set_kind(in, VALUE_BOOL);
  else set_sym_int(in, NULL);
}

void infer_sym_neg(Infer *in) {
  Dim a = is_float_operand(in, "a") ? NULL : known_dim(in, "a");
  if (is_float_operand(in, "a")) set_kind(in, VALUE_FLOAT);
  else set_sym_int(in, a ? dim_sub(in->g->dims, infer_const(in, 0), a) : NULL);
}

/* Powers by small literals are products. */
void infer_sym_pow(Infer *in) {
  enum { MOST = 16 };
  if (is_float_operand(in, "a") || is_float_operand(in, "b")) {
    set_kind(in, VALUE_FLOAT);
    return;
  }
  Dim a = known_dim(in, "a"), b = known_dim(in, "b"), p = NULL;
  if (a && b && dim_is_int(b) && b->value >= 0 && b->value <= MOST) {
    p = infer_const(in, 1);
    for (int64_t i = 0; i < b->value; i++) p = dim_mul(in->g->dims, p, a);
  }
  set_sym_int(in, p);
}

void infer_sym_sum(Infer *in) {
  Arg list = graph_arg(in->g, in->n, "args");
  Dim sum = infer_const(in, 0);
  for (uint32_t i = 0; i < list.n; i++)
    sum = dim_add(in->g->dims, sum, infer_dim_of(in, &list.items[i]));
  set_sym_int(in, sum);
}

/* ---- rounding ---- */

typedef enum { DOWN, UP, TO_ZERO } Rounding;

/* a / b of two integers, rounded; NULL if it isn't an expression of ours. */
static Dim rounded_quotient(Infer *in, const Node *division, Rounding way) {
  Arg a = graph_arg(in->g, division, "a"), b = graph_arg(in->g, division, "b");
  if (a.kind == ARG_FLOAT || b.kind != ARG_INT || !dim_is_int(b.dim) || b.dim->value <= 0)
    return NULL;
  if (a.kind == ARG_NODE && (a.node->type.kind != VALUE_INT || !a.node->type.value)) return NULL;
  Dim n = infer_dim_of(in, &a);
  if (way == TO_ZERO && dim_range(in->g->dims, n).lo < 0) return NULL;
  return way == UP ? infer_ceil_div(in, n, b.dim) : dim_floordiv(in->g->dims, n, b.dim);
}

static void round_to(Infer *in, Rounding way) {
  const char *param = in->schema->params[0].name;
  Arg a = graph_arg(in->g, in->n, param);
  const Node *from = a.kind == ARG_NODE ? a.node : NULL;
  if (!is_float_operand(in, param)) set_sym_int(in, known_dim(in, param));
  else if (from && from->op == ops_at(OP__operator_truediv))
    set_sym_int(in, rounded_quotient(in, from, way));
  else set_sym_int(in, NULL);
}

void infer_sym_floor(Infer *in) { round_to(in, DOWN); }
void infer_sym_ceil(Infer *in) { round_to(in, UP); }
void infer_sym_trunc(Infer *in) { round_to(in, TO_ZERO); }

/* ---- assertions ---- */

/* The value of an operand of a comparison; NULL if only data knows it. */
static Dim compared_dim(Infer *in, const Node *test, const char *param) {
  Arg a = graph_arg(in->g, test, param);
  bool of_data = a.kind == ARG_NODE && (a.node->type.kind != VALUE_INT || !a.node->type.value);
  bool whole = a.kind == ARG_INT || (a.kind == ARG_NODE && !of_data);
  return whole ? infer_dim_of(in, &a) : NULL;
}

/* Every run is held to a test of sizes.  Tests of other numbers are data's
 * (planner/passes/checks/data.c). */
static bool hold(Infer *in, const Node *test) {
  if (test->kind != NODE_CALL) return true;
  OpId op = test->op->id;
  if (op == OP__operator_and_) {
    Arg a = graph_arg(in->g, test, "a"), b = graph_arg(in->g, test, "b");
    return (a.kind != ARG_NODE || hold(in, a.node)) && (b.kind != ARG_NODE || hold(in, b.node));
  }
  bool compares = op == OP__operator_ge || op == OP__operator_le || op == OP__operator_gt ||
                  op == OP__operator_lt || op == OP__operator_eq || op == OP__operator_ne;
  Dim a = compares ? compared_dim(in, test, "a") : NULL;
  Dim b = compares ? compared_dim(in, test, "b") : NULL;
  if (!a || !b) return true;
  Dim one = infer_const(in, 1);
  switch (op) {
    case OP__operator_ge: return infer_at_least(in, a, b);
    case OP__operator_le: return infer_at_least(in, b, a);
    case OP__operator_gt: return infer_at_least(in, a, dim_add(in->g->dims, b, one));
    case OP__operator_lt: return infer_at_least(in, b, dim_add(in->g->dims, a, one));
    case OP__operator_eq: return infer_equal(in, a, b);
    default: return infer_differs(in, a, b);
  }
}

void infer_assert_scalar(Infer *in) {
  Arg test = graph_arg(in->g, in->n, "self");
  bool fails = test.kind == ARG_BOOL ? !test.flag
             : test.kind == ARG_INT  ? dim_is(test.dim, 0)
             : test.kind == ARG_NODE ? !hold(in, test.node)
                                     : test.kind == ARG_FLOAT && test.number == 0;
  if (fails) infer_fail(in, E_GRAPH_ASSERTION, infer_string(in, "assert_msg"));
  infer_nothing(in);
}
