/* Promotion of dtypes, broadcasting, and the ops that work element by element. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

/* ---- dtypes ---- */

DType infer_to_float(DType t) { return dtype_is_float(t) ? t : DT_F32; }

void infer_need_float(Infer *in, DType t) {
  if (!dtype_is_float(t)) infer_fail(in, E_GRAPH_NEEDS_FLOAT, dtype_name(t));
}

static void need_number(Infer *in, DType t) {
  if (t == DT_I1) infer_fail(in, E_GRAPH_NO_BOOL);
}

static void need_integer(Infer *in, DType t) {
  if (dtype_is_float(t)) infer_fail(in, E_GRAPH_NEEDS_INTEGER, dtype_name(t));
}

void infer_same_dtype(Infer *in, const ValueType *a, const ValueType *b) {
  if (a->dtype != b->dtype)
    infer_fail(in, E_GRAPH_SAME_DTYPE, dtype_name(a->dtype), dtype_name(b->dtype));
}

static DType wider(DType a, DType b) { return dtype_bits(a) >= dtype_bits(b) ? a : b; }

/* DT_NONE: PyTorch has no common dtype. */
static DType common_float(DType a, DType b) {
  if (dtype_bits(a) == 8 || dtype_bits(b) == 8) return DT_NONE;
  if (dtype_is_half(a) && dtype_is_half(b)) return DT_F32; /* f16 and bf16 */
  return wider(a, b);
}

static DType common_integer(DType a, DType b) {
  if (dtype_kind(a) == dtype_kind(b)) return wider(a, b);
  DType u = dtype_kind(a) == DK_UINT ? a : b, i = u == a ? b : a;
  if (u != DT_U8) return DT_NONE;
  return i == DT_I8 ? DT_I16 : i;
}

static DType common_input_dtype(Infer *in, DType a, DType b) {
  if (a == b || b == DT_NONE || b == DT_I1) return a == DT_NONE ? b : a;
  if (a == DT_NONE || a == DT_I1) return b;
  if (dtype_is_float(a) != dtype_is_float(b)) return dtype_is_float(a) ? a : b;
  DType t = dtype_is_float(a) ? common_float(a, b) : common_integer(a, b);
  if (t == DT_NONE) infer_fail(in, E_GRAPH_PROMOTE, dtype_name(a), dtype_name(b));
  return t;
}

/* `lower` counts only if it is of a higher category. */
static DType combine_dtypes(Infer *in, DType higher, DType lower) {
  if (dtype_is_float(higher)) return higher;
  if (higher == DT_I1 || dtype_is_float(lower)) return common_input_dtype(in, higher, lower);
  return higher == DT_NONE ? lower : higher;
}

DType infer_promote(Infer *in, const Operand *x, uint32_t n) {
  DType number = DT_NONE, no_axes = DT_NONE, axes = DT_NONE;
  for (uint32_t i = 0; i < n; i++) {
    DType *t = x[i].number ? &number : x[i].rank ? &axes : &no_axes;
    *t = common_input_dtype(in, *t, x[i].dtype);
  }
  return combine_dtypes(in, axes, combine_dtypes(in, no_axes, number));
}

/* ---- operands ---- */

static DType dtype_of_number(const Arg *a) {
  ValueKind v = a->kind == ARG_NODE ? a->node->type.kind : VALUE_NONE;
  if (a->kind == ARG_FLOAT || v == VALUE_FLOAT) return DT_F32;
  return a->kind == ARG_BOOL || v == VALUE_BOOL ? DT_I1 : DT_I64;
}

Operand infer_tensor_operand(const ValueType *x) {
  return (Operand){.dtype = x->dtype, .rank = x->rank, .shape = x->shape};
}

static DType dtype_of_category(const ValueType *x) {
  bool real = dtype_is_float(x->dtype) || x->is_complex;
  return real ? DT_F32 : x->dtype == DT_I1 ? DT_I1 : DT_I64;
}

/* A tensor in place of a Python number gives way as that does. */
static bool is_number_param(Infer *in, const char *param) {
  int at = ops_param(in->schema, param);
  ParamType t = at >= 0 ? in->schema->params[at].type : PARAM_OTHER;
  return t == PARAM_SCALAR || t == PARAM_FLOAT;
}

Operand infer_operand(Infer *in, const char *param) {
  Arg a = graph_arg(in->g, in->n, param);
  if (a.kind == ARG_NODE && a.node->type.kind == VALUE_TENSOR) {
    const ValueType *x = &a.node->type;
    if (x->rank || !is_number_param(in, param)) return infer_tensor_operand(x);
    return (Operand){.dtype = dtype_of_category(x), .number = true};
  }
  return (Operand){.dtype = dtype_of_number(&a), .number = true};
}

/* The operands that are not None, of the first `most` parameters that are tensors or numbers. */
static uint32_t pointwise_operands(Infer *in, uint32_t most, Operand *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < most && i < in->schema->nparams; i++) {
    const char *name = in->schema->params[i].name;
    if (infer_has(in, name)) out[n++] = infer_operand(in, name);
  }
  return n;
}

/* ---- broadcasting ---- */

static bool broadcast_size(Infer *in, Dim *size, Dim other) {
  if (dim_is(other, 1)) return true;
  if (!dim_is(*size, 1) && !infer_equal(in, *size, other)) return false;
  if (dim_is(*size, 1) || dim_is_int(other)) *size = other;
  return true;
}

static uint32_t broadcast_rank(const Operand *x, uint32_t n) {
  uint32_t rank = 0;
  for (uint32_t i = 0; i < n; i++)
    if (x[i].rank > rank) rank = x[i].rank;
  return rank;
}

uint32_t infer_broadcast(Infer *in, const Operand *x, uint32_t n, Dim *shape) {
  uint32_t rank = broadcast_rank(x, n);
  for (uint32_t k = 0; k < rank; k++) shape[k] = infer_const(in, 1);
  for (uint32_t i = 0; i < n; i++) {
    Dim *at = shape + rank - x[i].rank;
    for (uint32_t k = 0; k < x[i].rank; k++)
      if (!broadcast_size(in, &at[k], x[i].shape[k]))
        infer_fail(in, E_GRAPH_BROADCAST, infer_shape_text(in, x[i].shape, x[i].rank),
                   infer_shape_text(in, shape, rank), infer_dim_text(in, x[i].shape[k]),
                   infer_dim_text(in, at[k]));
  }
  return rank;
}

bool infer_expands(Infer *in, const Operand *x, const Dim *shape, uint32_t rank) {
  bool ok = x->rank <= rank;
  for (uint32_t k = 0; ok && k < x->rank; k++)
    ok = dim_is(x->shape[k], 1) || infer_equal(in, x->shape[k], shape[rank - x->rank + k]);
  return ok;
}

void infer_fits(Infer *in, const Operand *x, const Dim *shape, uint32_t rank) {
  if (!infer_expands(in, x, shape, rank))
    infer_fail(in, E_GRAPH_FITS, infer_shape_text(in, x->shape, x->rank),
               infer_shape_text(in, shape, rank));
}

static void set_broadcast(Infer *in, const Operand *x, uint32_t n, DType dtype) {
  Dim shape[GRAPH_RANK_MAX];
  infer_set(in, dtype, infer_broadcast(in, x, n, shape), shape);
}

/* ---- one operand ---- */

void infer_same(Infer *in) { in->result = *infer_self(in); }

/* There is a single weight, or one for each channel. */
void infer_prelu(Infer *in) {
  const ValueType *x = infer_self(in), *w = infer_tensor(in, "weight");
  Dim one = infer_const(in, 1), channels = x->rank > 1 ? x->shape[1] : one;
  infer_same_dtype(in, x, w);
  infer_rank(in, w, 0, 1);
  if (w->rank && !dim_is(w->shape[0], 1))
    infer_same_size(in, channels, w->shape[0], "the channels and weights");
  infer_same(in);
}

void infer_same_float(Infer *in) {
  infer_need_float(in, infer_self(in)->dtype);
  infer_same(in);
}

void infer_neg(Infer *in) {
  need_number(in, infer_self(in)->dtype);
  infer_same(in);
}

/* A product: of bools it is i64. */
void infer_square(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_set_like(in, x->dtype == DT_I1 ? DT_I64 : x->dtype, x);
}

void infer_bitwise_not(Infer *in) {
  need_integer(in, infer_self(in)->dtype);
  infer_same(in);
}

void infer_float_of(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_set_like(in, infer_to_float(x->dtype), x);
}

void infer_to_bool(Infer *in) { infer_set_like(in, DT_I1, infer_self(in)); }

/* ---- several ---- */

static void infer_two_operands(Infer *in, Operand *x) {
  uint32_t n = pointwise_operands(in, 2, x);
  set_broadcast(in, x, n, infer_promote(in, x, n));
}

void infer_binary(Infer *in) {
  Operand x[2];
  infer_two_operands(in, x);
}

void infer_subtract(Infer *in) {
  Operand x[2];
  infer_two_operands(in, x);
  if (x[0].dtype == DT_I1 || x[1].dtype == DT_I1) infer_fail(in, E_GRAPH_NO_BOOL);
}

void infer_bitwise(Infer *in) {
  Operand x[2];
  infer_two_operands(in, x);
  need_integer(in, in->result.dtype);
}

void infer_binary_float(Infer *in) {
  Operand x[2];
  infer_two_operands(in, x);
  in->result.dtype = infer_to_float(in->result.dtype);
}

/* Rounded division keeps integers. */
static bool is_rounded(Infer *in) {
  if (!infer_takes(in, "rounding_mode") || !infer_has(in, "rounding_mode")) return false;
  Name mode = infer_string(in, "rounding_mode");
  if (strcmp(mode, "floor") && strcmp(mode, "trunc")) infer_fail(in, E_GRAPH_ROUNDING, mode);
  return true;
}

void infer_divide(Infer *in) {
  if (is_rounded(in)) infer_binary(in);
  else infer_binary_float(in);
}

void infer_compare(Infer *in) {
  Operand x[2];
  infer_two_operands(in, x);
  in->result.dtype = DT_I1;
}

void infer_ternary(Infer *in) {
  Operand x[3];
  uint32_t n = pointwise_operands(in, 3, x);
  set_broadcast(in, x, n, infer_promote(in, x, n));
}

void infer_clamp(Infer *in) {
  Operand x[3];
  uint32_t n = pointwise_operands(in, 3, x);
  if (n < 2) infer_fail(in, E_GRAPH_CLAMP);
  set_broadcast(in, x, n, infer_promote(in, x, n));
}

/* All its tensors are of one dtype. */
static void check_lerp(Infer *in) {
  for (uint32_t i = 1; i < 3; i++)
    if (in->schema->params[i].type == PARAM_TENSOR)
      infer_same_dtype(in, infer_self(in), infer_tensor(in, in->schema->params[i].name));
}

void infer_lerp(Infer *in) {
  Operand x[3];
  uint32_t n = pointwise_operands(in, 3, x);
  check_lerp(in);
  set_broadcast(in, x, n, x[0].dtype);
}

void infer_where(Infer *in) {
  Operand x[3];
  pointwise_operands(in, 3, x);
  if (x[0].dtype != DT_I1 && x[0].dtype != DT_U8)
    infer_fail(in, E_GRAPH_CONDITION, dtype_name(x[0].dtype));
  set_broadcast(in, x, 3, infer_promote(in, x + 1, 2));
}

/* A tensor that fills another has no axes. */
static void check_scalar_value(Infer *in) {
  if (infer_takes(in, "value") && infer_operand(in, "value").rank)
    infer_rank(in, infer_tensor(in, "value"), 0, 0);
}

void infer_masked_fill(Infer *in) {
  Operand x[2];
  pointwise_operands(in, 2, x);
  if (x[1].dtype != DT_I1) infer_fail(in, E_GRAPH_CONDITION, dtype_name(x[1].dtype));
  check_scalar_value(in);
  set_broadcast(in, x, 2, x[0].dtype);
}

void infer_loss(Infer *in) {
  infer_binary(in);
  if (infer_reduces(in)) infer_set(in, in->result.dtype, 0, NULL);
}

void infer_glu(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_need_float(in, x->dtype);
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  infer_set_axis(in, x, axis, infer_exact_div(in, x->shape[axis], 2));
}

/* ---- in place: the first argument is written, and gives the type ---- */

static void check_fits_written(Infer *in, const ValueType *self) {
  for (uint32_t i = 1; i < in->schema->nparams; i++) {
    const OpParam *p = &in->schema->params[i];
    if (p->type != PARAM_TENSOR || !infer_has(in, p->name)) continue;
    Operand x = infer_operand(in, p->name);
    infer_fits(in, &x, self->shape, self->rank);
  }
}

static int category(DType t) { return dtype_is_float(t) ? 2 : t != DT_I1; }

static void write_as(Infer *in, DType dtype) {
  const ValueType *self = infer_self(in);
  if (category(dtype) > category(self->dtype))
    infer_fail(in, E_GRAPH_IN_PLACE, dtype_name(dtype), dtype_name(self->dtype));
  check_fits_written(in, self);
  check_scalar_value(in);
  in->result = *self;
}

void infer_in_place(Infer *in) { write_as(in, DT_I1); }
void infer_in_place_float(Infer *in) { write_as(in, DT_F32); }

/* The functional operator says what is written: other operands need not fit. */
void infer_written(Infer *in) {
  const ValueType self = *infer_self(in);
  const GraphOp *op = in->n->op;
  Infer inner = *in;
  inner.foreign = in->foreign ? in->foreign : op->target;
  inner.schema = ops_schema(in->g, op->functional);
  in->n->op = op->functional;
  bool failed = setjmp(inner.failed);
  if (!failed) op->functional->infer(&inner);
  in->n->op = op;
  if (failed) longjmp(in->failed, 1);
  if (category(inner.result.dtype) > category(self.dtype))
    infer_fail(in, E_GRAPH_IN_PLACE, dtype_name(inner.result.dtype), dtype_name(self.dtype));
  Operand written = infer_tensor_operand(&inner.result);
  infer_fits(in, &written, self.shape, self.rank);
  in->result = self;
}

static DType promoted_dtype(Infer *in) {
  Operand x[2];
  return infer_promote(in, x, pointwise_operands(in, 2, x));
}

void infer_binary_in_place(Infer *in) { write_as(in, promoted_dtype(in)); }

void infer_subtract_in_place(Infer *in) {
  infer_subtract(in);
  infer_binary_in_place(in);
}

void infer_neg_in_place(Infer *in) { infer_neg(in); }

void infer_ternary_in_place(Infer *in) {
  infer_ternary(in);
  write_as(in, in->result.dtype);
}

void infer_clamp_in_place(Infer *in) {
  infer_clamp(in);
  write_as(in, in->result.dtype);
}

void infer_divide_in_place(Infer *in) {
  write_as(in, is_rounded(in) ? promoted_dtype(in) : infer_to_float(promoted_dtype(in)));
}

/* ---- casts ---- */

void infer_to(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_set_like(in, infer_dtype(in, "dtype", x->dtype), x);
}

void infer_to_other(Infer *in) {
  infer_set_like(in, infer_tensor(in, "other")->dtype, infer_self(in));
}

void infer_nothing(Infer *in) { in->result = (ValueType){.kind = VALUE_NONE}; }
