#include "graph/analysis/element_value.h"

#include <math.h>
#include <string.h>

#include "graph/analysis/gather.h"
#include "graph/ops/concat_sources.h"

enum { STEPS_MAX = 1000, DEPTH_MAX = 200 };

typedef struct {
  Graph *g;
  Dims *d;
  uint32_t steps, depth;
} Knower;

static Dim compute_value(Knower *k, Node *n, const Dim *index);
static bool is_cast(const Node *n);

static bool is_bool(const Node *n) { return n->type.dtype == DT_I1; }
static bool is_integer_node(const Node *n) { return dtype_is_int(n->type.dtype); }

/* The operand for that parameter of a pointwise op, where n is at `index`. */
static Dim operand_value(Knower *k, const Node *n, const Dim *index, const char *param) {
  Arg a = graph_arg(k->g, n, param);
  Dim at[GRAPH_RANK_MAX];
  if (a.kind == ARG_INT) return a.dim;
  if (a.kind == ARG_BOOL) return dim_int(k->d, a.flag);
  if (a.kind != ARG_NODE) return NULL;
  if (a.node->type.kind == VALUE_INT) return a.node->type.value;
  if (a.node->type.kind != VALUE_TENSOR || !is_integer_node(a.node)) return NULL;
  broadcast_index(k->g, n, index, a.node, at);
  return compute_value(k, a.node, at);
}

/* ---- arithmetic ---- */

/* `value`, if n's dtype holds it, whatever its symbols are; 64 bits hold all that indices are. */
static Dim value_in_dtype(Knower *k, const Node *n, Dim value) {
  DimRange r = dim_range(k->d, value);
  if (is_bool(n)) return r.lo >= 0 && r.hi <= 1 ? value : NULL;
  if (n->type.dtype == DT_I32) return r.lo >= INT32_MIN && r.hi <= INT32_MAX ? value : NULL;
  return n->type.dtype == DT_I64 ? value : NULL;
}

static Dim element_sum(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  return !a || !b || is_bool(n) || graph_scales_operand(k->g, n)
             ? NULL
             : value_in_dtype(k, n, dim_add(k->d, a, b));
}

static Dim element_difference(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  return !a || !b || is_bool(n) || graph_scales_operand(k->g, n)
             ? NULL
             : value_in_dtype(k, n, dim_sub(k->d, a, b));
}

static Dim element_product(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  return a && b ? value_in_dtype(k, n, dim_mul(k->d, a, b)) : NULL;
}

static Dim element_quotient(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  bool known = a && b && !is_bool(n) && dim_range(k->d, b).lo > 0;
  return known ? value_in_dtype(k, n, dim_floordiv(k->d, a, b)) : NULL;
}

static Dim element_clamp(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self");
  Dim least = operand_value(k, n, index, "min"), most = operand_value(k, n, index, "max");
  if (!a || !least || !most || is_bool(n)) return NULL;
  return value_in_dtype(k, n, dim_min(k->d, dim_max(k->d, a, least), most));
}

static Dim element_negation(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self");
  return a ? value_in_dtype(k, n, dim_sub(k->d, dim_int(k->d, 0), a)) : NULL;
}

/* Ranges, which take no operands together, know by the 0 that it is not negative. */
static Dim element_magnitude(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self"), zero = dim_int(k->d, 0);
  if (!a) return NULL;
  Dim larger = dim_max(k->d, a, dim_sub(k->d, zero, a));
  return value_in_dtype(k, n, dim_max(k->d, zero, larger));
}

static Dim element_larger(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  return a && b && !is_bool(n) ? value_in_dtype(k, n, dim_max(k->d, a, b)) : NULL;
}

static Dim element_smaller(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  return a && b && !is_bool(n) ? value_in_dtype(k, n, dim_min(k->d, a, b)) : NULL;
}

/* ---- floats that are exact ---- */

/* numerator / 2^shift, without rounding: indices that models scale, as those of the nearest pixel
 * of an image that is half as large. */
typedef struct {
  Dim numerator;
  uint32_t shift;
} Dyadic;

enum { SHIFT_MAX = 14 }; /* of the least normal number of f16 */

static bool dyadic_value(Knower *k, Node *n, const Dim *index, Dyadic *out);
static Dim element_cast(Knower *k, Node *n, const Dim *index);

static uint32_t significant_bits(DType t) {
  return t == DT_F64 ? 53 : t == DT_F32 ? 24 : t == DT_F16 ? 11 : t == DT_BF16 ? 8 : 0;
}

static bool dyadic_of_number(Knower *k, double value, Dyadic *out) {
  for (uint32_t shift = 0; shift <= SHIFT_MAX; shift++) {
    double numerator = ldexp(value, (int)shift);
    if (fabs(numerator) >= 0x1p53) return false;
    *out = (Dyadic){dim_int(k->d, (int64_t)numerator), shift};
    if ((double)(int64_t)numerator == numerator) return true;
  }
  return false;
}

static bool fits_dtype(Knower *k, const Dyadic *a, DType t) {
  uint32_t bits = significant_bits(t);
  if (a->shift > SHIFT_MAX || a->numerator->kind == DIM_HUGE) return false;
  DimRange r = dim_range(k->d, a->numerator);
  return r.lo >= -((int64_t)1 << bits) && r.hi <= (int64_t)1 << bits;
}

static bool read_dyadic(Knower *k, const Node *n, const Dim *index, const char *param,
                        Dyadic *out) {
  Arg a = graph_arg(k->g, n, param);
  Dim at[GRAPH_RANK_MAX];
  if (a.kind == ARG_FLOAT) return dyadic_of_number(k, a.number, out);
  if (a.kind == ARG_NODE && a.node->type.kind == VALUE_TENSOR && !is_integer_node(a.node)) {
    broadcast_index(k->g, n, index, a.node, at);
    return dyadic_value(k, a.node, at, out);
  }
  *out = (Dyadic){operand_value(k, n, index, param), 0};
  return out->numerator != NULL;
}

/* An operand, which n takes in its own dtype if that is one of floats. */
static bool dyadic_operand(Knower *k, const Node *n, const Dim *index, const char *param,
                           Dyadic *out) {
  return read_dyadic(k, n, index, param, out) &&
         (!significant_bits(n->type.dtype) || fits_dtype(k, out, n->type.dtype));
}

static void bring_to_shift(Knower *k, Dyadic *a, uint32_t shift) {
  a->numerator = dim_mul(k->d, a->numerator, dim_int(k->d, (int64_t)1 << (shift - a->shift)));
  a->shift = shift;
}

/* The nearest integer that is not larger. */
static Dim floor_of(Knower *k, const Dyadic *a) {
  return dim_floordiv(k->d, a->numerator, dim_int(k->d, (int64_t)1 << a->shift));
}

static bool dyadic_arithmetic(Knower *k, Node *n, const Dim *index, Dyadic *out) {
  bool add = graph_is_any(n, OP_aten_add_Tensor, OP_aten_add_Scalar);
  bool sub = graph_is_any(n, OP_aten_sub_Tensor, OP_aten_sub_Scalar);
  bool mul = graph_is_any(n, OP_aten_mul_Tensor, OP_aten_mul_Scalar);
  Dyadic a, b;
  if (!add && !sub && !mul) return false;
  if (!mul && graph_scales_operand(k->g, n)) return false;
  if (!dyadic_operand(k, n, index, "self", &a) || !dyadic_operand(k, n, index, "other", &b))
    return false;
  uint32_t shift = a.shift > b.shift ? a.shift : b.shift;
  if (!mul) bring_to_shift(k, &a, shift), bring_to_shift(k, &b, shift);
  Dim numerator = mul   ? dim_mul(k->d, a.numerator, b.numerator)
                  : add ? dim_add(k->d, a.numerator, b.numerator)
                        : dim_sub(k->d, a.numerator, b.numerator);
  *out = (Dyadic){numerator, mul ? a.shift + b.shift : shift};
  return true;
}

static bool dyadic_by_op(Knower *k, Node *n, const Dim *index, Dyadic *out) {
  const OpSchema *schema = ops_schema(k->g, n->op);
  const char *first = schema->nparams ? schema->params[0].name : "";
  Dim from[GRAPH_RANK_MAX];
  if (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_VIEW) {
    view_index(k->g, n, index, from);
    return dyadic_value(k, view_operand(n), from, out);
  }
  if (is_cast(n)) return dyadic_operand(k, n, index, first, out);
  if (graph_is(n, OP_aten_floor_default) && dyadic_operand(k, n, index, first, out)) {
    *out = (Dyadic){floor_of(k, out), 0};
    return true;
  }
  return dyadic_arithmetic(k, n, index, out);
}

/* The element of a float tensor, if its dtype holds it, whatever its symbols are. */
static bool dyadic_value(Knower *k, Node *n, const Dim *index, Dyadic *out) {
  DType t = n->type.dtype;
  if (n->kind != NODE_CALL || !significant_bits(t) || n->type.is_complex) return false;
  if (++k->steps > STEPS_MAX || k->depth >= DEPTH_MAX) return false;
  k->depth++;
  bool known = dyadic_by_op(k, n, index, out);
  k->depth--;
  return known && fits_dtype(k, out, t);
}

static Dim element_cast(Knower *k, Node *n, const Dim *index) {
  const char *param = ops_schema(k->g, n->op)->params[0].name;
  Arg x = graph_arg(k->g, n, param);
  Dyadic f;
  bool floats = x.kind == ARG_NODE && x.node->type.kind == VALUE_TENSOR && !is_integer_node(x.node);
  if (floats && (is_bool(n) || !dyadic_operand(k, n, index, param, &f))) return NULL;
  /* A cast rounds towards zero. */
  if (floats && f.shift && dim_range(k->d, f.numerator).lo < 0) return NULL;
  Dim a = floats ? floor_of(k, &f) : operand_value(k, n, index, param);
  return a ? value_in_dtype(k, n, a) : NULL;
}

/* ---- conditions ---- */

static Dim bool_dim(Knower *k, bool holds) { return dim_int(k->d, holds); }

static Dim slack(Knower *k, Node *n, const Dim *index) {
  bool less =
      graph_is_any(n, OP_aten_lt_Scalar, OP_aten_lt_Tensor, OP_aten_le_Scalar, OP_aten_le_Tensor);
  bool greater =
      graph_is_any(n, OP_aten_gt_Scalar, OP_aten_gt_Tensor, OP_aten_ge_Scalar, OP_aten_ge_Tensor);
  bool equal =
      graph_is_any(n, OP_aten_le_Scalar, OP_aten_le_Tensor, OP_aten_ge_Scalar, OP_aten_ge_Tensor);
  Dim a = less || greater ? operand_value(k, n, index, "self") : NULL;
  Dim b = a ? operand_value(k, n, index, "other") : NULL;
  if (!a || !b) return NULL;
  Dim gap = less ? dim_sub(k->d, b, a) : dim_sub(k->d, a, b);
  return equal ? gap : dim_sub(k->d, gap, dim_int(k->d, 1));
}

static Dim element_order(Knower *k, Node *n, const Dim *index) {
  Dim gap = slack(k, n, index);
  if (!gap) return NULL;
  DimRange r = dim_range(k->d, gap);
  return r.lo >= 0 ? bool_dim(k, true) : r.hi < 0 ? bool_dim(k, false) : NULL;
}

/* 1: equal, 0: not; -1: it depends. */
static int equal(Knower *k, Node *n, const Dim *index) {
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  if (!a || !b) return -1;
  if (a == b) return 1;
  DimRange r = dim_range(k->d, dim_sub(k->d, a, b));
  return r.lo > 0 || r.hi < 0 ? 0 : -1;
}

static Dim element_eq(Knower *k, Node *n, const Dim *index) {
  int e = equal(k, n, index);
  return e < 0 ? NULL : bool_dim(k, e);
}

static Dim element_ne(Knower *k, Node *n, const Dim *index) {
  int e = equal(k, n, index);
  return e < 0 ? NULL : bool_dim(k, !e);
}

static Dim join_conditions(Knower *k, Node *n, const Dim *index, int64_t decides) {
  if (!is_bool(n)) return NULL;
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  if ((a && dim_is(a, decides)) || (b && dim_is(b, decides))) return bool_dim(k, decides);
  return a && b && dim_is_int(a) && dim_is_int(b) ? bool_dim(k, !decides) : NULL;
}

static Dim element_and(Knower *k, Node *n, const Dim *index) {
  return join_conditions(k, n, index, 0);
}
static Dim element_or(Knower *k, Node *n, const Dim *index) {
  return join_conditions(k, n, index, 1);
}

static Dim element_not(Knower *k, Node *n, const Dim *index) {
  Dim a = is_bool(n) ? operand_value(k, n, index, "self") : NULL;
  return a && dim_is_int(a) ? bool_dim(k, !a->value) : NULL;
}

static Dim element_where(Knower *k, Node *n, const Dim *index) {
  Dim c = operand_value(k, n, index, "condition");
  Dim a = operand_value(k, n, index, "self"), b = operand_value(k, n, index, "other");
  if (c && dim_is_int(c)) return c->value ? a : b;
  return a == b ? a : NULL;
}

/* ---- values that follow from the index ---- */

static Dim element_arange(Knower *k, Node *n, const Dim *index) {
  Arg start = graph_arg(k->g, n, "start"), step = graph_arg(k->g, n, "step");
  if (start.kind != ARG_INT || step.kind != ARG_INT) return NULL;
  return value_in_dtype(k, n, dim_add(k->d, start.dim, dim_mul(k->d, step.dim, index[0])));
}

static Dim element_full(Knower *k, Node *n, const Dim *index) {
  Dim fill = operand_value(k, n, index, "fill_value");
  return fill ? value_in_dtype(k, n, fill) : NULL;
}

/* Sums of one number. */
static Dim element_cumsum(Knower *k, Node *n, const Dim *index) {
  Node *x = graph_arg(k->g, n, "self").node;
  int64_t axis = graph_arg(k->g, n, "dim").dim->value, rank = n->type.rank;
  Dim v = rank && is_integer_node(x) ? compute_value(k, x, index) : NULL;
  if (!v || !dim_is_int(v)) return NULL;
  Dim count = dim_add(k->d, index[axis < 0 ? axis + rank : axis], dim_int(k->d, 1));
  return value_in_dtype(k, n, dim_mul(k->d, v, count));
}

/* ---- pieces and gathers ---- */

/* The only value that a limited index may have; NULL: there are several, or it is no symbol. */
static Dim only_value(Knower *k, const ConcatSource *p) {
  if (p->nlimits != 1 || !dim_is_index(p->limits[0].x)) return NULL;
  Dim lo = p->limits[0].lo, hi = p->limits[0].hi;
  int64_t least = lo && dim_is_int(lo) ? lo->value : dim_range(k->d, p->limits[0].x).lo;
  return hi && dim_is(hi, least + 1) ? dim_int(k->d, least) : NULL;
}

static Dim apply_dim_kind(Dims *d, DimKind kind, Dim a, Dim b) {
  switch (kind) {
    case DIM_SUM: return dim_add(d, a, b);
    case DIM_PRODUCT: return dim_mul(d, a, b);
    case DIM_FLOORDIV: return dim_floordiv(d, a, b);
    case DIM_MOD: return dim_mod(d, a, b);
    case DIM_MAX: return dim_max(d, a, b);
    default: return dim_min(d, a, b);
  }
}

/* x with `value` for a symbol.  Divisors are sizes, so none becomes 0. */
static Dim substitute(Dims *d, Dim x, Dim symbol, Dim value) {
  if (x == symbol) return value;
  if (x->n == 0 || !x->indexed) return x;
  bool sum = x->kind == DIM_SUM, product = x->kind == DIM_PRODUCT;
  Dim out = sum || product ? dim_int(d, x->value) : substitute(d, x->args[0], symbol, value);
  for (uint32_t i = sum || product ? 0 : 1; i < x->n; i++)
    out = apply_dim_kind(d, x->kind, out, substitute(d, x->args[i], symbol, value));
  return out;
}

/* Is it what the pieces but `but` are, too?  A piece of one row is asked there. */
static bool holds_for_all(Knower *k, const ConcatSources *p, uint32_t but, Dim value) {
  for (uint32_t i = 0; i < p->n; i++) {
    if (i == but) continue;
    Dim mine = compute_value(k, p->items[i].operand, p->items[i].index);
    if (mine == value) continue;
    Dim at = mine ? only_value(k, &p->items[i]) : NULL;
    if (!at) return false;
    Dim x = p->items[i].limits[0].x;
    if (substitute(k->d, mine, x, at) != substitute(k->d, value, x, at)) return false;
  }
  return true;
}

static Dim source_value(Knower *k, Node *n, const Dim *index) {
  ConcatSources p = concat_sources(k->g, n, index);
  if (p.otherwise.kind != ARG_NONE) return NULL;
  for (uint32_t i = 0; i < p.n; i++) {
    Dim value = compute_value(k, p.items[i].operand, p.items[i].index);
    if (value && (!p.items[i].nlimits || holds_for_all(k, &p, i, value))) return value;
  }
  return NULL;
}

static Dim gathered_value(Knower *k, Node *n, const Dim *index) {
  Gather x;
  gather_of(k->g, n, index, &x);
  for (uint32_t i = 0; i < x.n; i++) {
    Dim at = compute_value(k, x.by[i].index, x.by[i].element);
    if (!at || dim_range(k->d, at).lo < 0) continue; /* any index along that axis */
    for (uint32_t a = 0; a < x.data->type.rank; a++)
      if (x.element[a] == x.by[i].symbol) x.element[a] = at;
  }
  return compute_value(k, x.data, x.element);
}

/* ---- all of them ---- */

static const struct {
  Dim (*rule)(Knower *k, Node *n, const Dim *index);
} rules[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define ELEMENT(rule) element_##rule
#include "graph/ops/op_table.def"
};

static bool is_cast(const Node *n) { return rules[n->op->id].rule == element_cast; }

static Dim value_by_row(Knower *k, Node *n, const Dim *index) {
  return rules[n->op->id].rule ? rules[n->op->id].rule(k, n, index) : NULL;
}

static Dim through(Knower *k, Node *n, const Dim *index) {
  Dim from[GRAPH_RANK_MAX];
  bool view = n->kind == NODE_GETITEM || prim_kind(n->op) == PRIM_VIEW;
  if (view) view_index(k->g, n, index, from);
  if (view) return compute_value(k, view_operand(n), from);
  switch (prim_kind(n->op)) {
    case PRIM_CONCAT: return source_value(k, n, index);
    case PRIM_GATHER: return gathered_value(k, n, index);
    default: return value_by_row(k, n, index);
  }
}

static Dim compute_value(Knower *k, Node *n, const Dim *index) {
  if (n->kind != NODE_CALL && n->kind != NODE_GETITEM) return NULL;
  if (n->type.kind != VALUE_TENSOR || !is_integer_node(n)) return NULL;
  if (++k->steps > STEPS_MAX || k->depth >= DEPTH_MAX) return NULL;
  k->depth++;
  Dim value = through(k, n, index);
  k->depth--;
  return value && value->kind == DIM_HUGE ? NULL : value;
}

Dim element_value(Graph *g, Node *n, const Dim *index) {
  Knower k = {.g = g, .d = g->dims};
  return compute_value(&k, n, index);
}

Dim element_slack(Graph *g, Node *n, const Dim *index) {
  Knower k = {.g = g, .d = g->dims};
  return n->kind == NODE_CALL ? slack(&k, n, index) : NULL;
}
