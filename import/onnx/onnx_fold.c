/* Operators that work element by element, on elements that are known while a model is read. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx_op.h"
#include "lang/interp/interp.h"

/* ---- broadcasting ---- */

/* The element of k at index `i` of a tensor of that shape. */
static OnnxElement broadcast_element(const OnnxKnown *k, uint32_t i, uint32_t rank,
                                     const int64_t *shape) {
  uint32_t at = 0, step = 1;
  for (uint32_t axis = rank; axis--; i /= (uint32_t)shape[axis]) {
    if (axis + k->rank < rank) break;
    int64_t size = k->shape[axis + k->rank - rank];
    if (size != 1) at += step * (i % (uint32_t)shape[axis]);
    step *= (uint32_t)size;
  }
  return k->at[at];
}

/* Room for the elements of all operands broadcast; NULL if they don't fit, or are too many. */
static OnnxKnown *broadcast_new(OnnxCall *c, const OnnxKnown *const *x, uint32_t n, DType t) {
  int64_t shape[GRAPH_RANK_MAX];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < n; i++)
    if (x[i]->rank > rank) rank = x[i]->rank;
  for (uint32_t axis = 0; axis < rank; axis++) {
    shape[axis] = 1;
    for (uint32_t i = 0; i < n; i++) {
      if (axis + x[i]->rank < rank) continue;
      int64_t size = x[i]->shape[axis + x[i]->rank - rank];
      if (size != 1 && shape[axis] != 1 && size != shape[axis]) return NULL;
      if (size != 1) shape[axis] = size;
    }
  }
  return onnx_known_new(c, t, rank, shape);
}

enum { OPERANDS_MAX = 8 };

/* Files may mix integers and floats, whose elements are kept in other members.  A condition is of
 * bools. */
static bool of_one_dtype(const OnnxCall *c, const OnnxKnown *const *x) {
  for (uint32_t i = 0; i < c->nin; i++) {
    bool condition = i == 0 && c->op->id == ONNX_Where;
    if (x[i]->dtype != (condition ? DT_I1 : x[c->nin - 1]->dtype)) return false;
  }
  return true;
}

/* All inputs known, and fit for a rule? */
static bool known_operands(OnnxCall *c, const OnnxKnown **x) {
  if (!c->nin || c->nin > OPERANDS_MAX) return false;
  for (uint32_t i = 0; i < c->nin; i++)
    if (!(x[i] = onnx_known(c, i))) return false;
  return of_one_dtype(c, x);
}

/* An element of the result from those of the operands; false if it is not known. */
typedef bool ElementRule(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n, OnnxElement *out);

static bool fold_elements(OnnxCall *c, ElementRule *rule, DType result) {
  const OnnxKnown *x[OPERANDS_MAX];
  OnnxElement e[OPERANDS_MAX];
  if (c->opset < 7 || !known_operands(c, x)) return false;
  DType t = x[c->nin - 1]->dtype;
  OnnxKnown *out = broadcast_new(c, x, c->nin, result ? result : t);
  if (!out) return false;
  for (uint32_t i = 0; i < out->n; i++) {
    for (uint32_t k = 0; k < c->nin; k++) e[k] = broadcast_element(x[k], i, out->rank, out->shape);
    if (!rule(c, t, e, c->nin, &out->at[i])) return false;
  }
  onnx_set_known(c, 0, out);
  return true;
}

/* ---- arithmetic ---- */

/* Literal integers wrap in their dtype; a size that has symbols is taken to fit. */
static bool set_dim(OnnxCall *c, DType t, Dim d, OnnxElement *out) {
  if (d->kind == DIM_HUGE) return false;
  if (dim_is_int(d) && dtype_bits(t) < 64) {
    Scalar x = {.i = d->value};
    d = dim_int(onnx_dims(c), scalar_op(TILE_CAST, DT_I64, t, &x, false).i);
  }
  out->dim = d;
  return true;
}

/* Rounds toward zero as ONNX does, or down with the sign of the divisor. */
static bool fold_divide(OnnxCall *c, DType t, Dim a, Dim b, bool rest, OnnxElement *out) {
  Dims *d = onnx_dims(c);
  bool positive = dim_range(d, b).lo > 0;
  bool down = positive && dim_range(d, a).lo >= 0;
  bool of_divisor = rest && !onnx_flag(c, "fmod", false); /* the rest's sign */
  if (!positive || !(down || of_divisor)) {
    if (!dim_is_int(a) || !dim_is_int(b) || b->value == 0 || b->value == -1) return false;
    if (of_divisor) return set_dim(c, t, dim_mod(d, a, b), out);
    return set_dim(c, t, dim_int(d, rest ? a->value % b->value : a->value / b->value), out);
  }
  return set_dim(c, t, rest ? dim_mod(d, a, b) : dim_floordiv(d, a, b), out);
}

static bool float_arithmetic(const OnnxCall *c, DType t, double a, double b, OnnxElement *out) {
  double v = c->op->id == ONNX_Add   ? a + b
             : c->op->id == ONNX_Sub ? a - b
             : c->op->id == ONNX_Mul ? a * b
             : c->op->id == ONNX_Div ? a / b
                                     : NAN;
  out->number = scalar_round(t, v);
  return !isnan(v);
}

static bool fold_arithmetic(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n,
                            OnnxElement *out) {
  Dims *d = onnx_dims(c);
  if (n != 2) return false;
  if (dtype_is_float(t)) return float_arithmetic(c, t, x[0].number, x[1].number, out);
  Dim a = x[0].dim, b = x[1].dim;
  if (c->op->id == ONNX_Add) return set_dim(c, t, dim_add(d, a, b), out);
  if (c->op->id == ONNX_Sub) return set_dim(c, t, dim_sub(d, a, b), out);
  if (c->op->id == ONNX_Mul) return set_dim(c, t, dim_mul(d, a, b), out);
  return fold_divide(c, t, a, b, c->op->id == ONNX_Mod, out);
}

bool onnx_fold_arithmetic(OnnxCall *c) { return fold_elements(c, fold_arithmetic, DT_NONE); }

static bool fold_negation(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n,
                          OnnxElement *out) {
  if (n != 1) return false;
  if (dtype_is_float(t)) return out->number = -x->number, true;
  Dims *d = onnx_dims(c);
  return set_dim(c, t, dim_sub(d, dim_int(d, 0), x->dim), out);
}

bool onnx_fold_negative(OnnxCall *c) { return fold_elements(c, fold_negation, DT_NONE); }

static bool fold_extreme(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n, OnnxElement *out) {
  bool least = c->op->id == ONNX_Min;
  *out = x[0];
  for (uint32_t i = 1; i < n; i++)
    if (!dtype_is_float(t))
      out->dim = (least ? dim_min : dim_max)(onnx_dims(c), out->dim, x[i].dim);
    else if (isnan(x[i].number)) return false;
    else if (least ? x[i].number < out->number : x[i].number > out->number) *out = x[i];
  return dtype_is_float(t) || set_dim(c, t, out->dim, out);
}

bool onnx_fold_extreme(OnnxCall *c) { return fold_elements(c, fold_extreme, DT_NONE); }

static bool relu(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n, OnnxElement *out) {
  OnnxElement both[2] = {x[0], {.number = 0}};
  if (!dtype_is_float(t)) both[1].dim = dim_int(onnx_dims(c), 0);
  return n == 1 && fold_extreme(c, t, both, 2, out);
}

bool onnx_fold_relu(OnnxCall *c) { return fold_elements(c, relu, DT_NONE); }

static bool round_element(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n,
                          OnnxElement *out) {
  if (n != 1 || !dtype_is_float(t)) return false;
  out->number = c->op->id == ONNX_Ceil    ? ceil(x->number)
                : c->op->id == ONNX_Floor ? floor(x->number)
                                          : nearbyint(x->number);
  return true;
}

bool onnx_fold_rounded(OnnxCall *c) { return fold_elements(c, round_element, DT_NONE); }

/* ---- comparisons, logic ---- */

/* The sign of a - b where it is the same for all values of symbols; false if it is not. */
static bool sign_of(OnnxCall *c, Dim a, Dim b, int *sign) {
  Dims *d = onnx_dims(c);
  DimRange r = dim_range(d, dim_sub(d, a, b));
  *sign = r.lo > 0 ? 1 : r.hi < 0 ? -1 : 0;
  return *sign || a == b;
}

static bool comparison(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n, OnnxElement *out) {
  int sign;
  if (n != 2) return false;
  if (dtype_is_float(t)) {
    if (isnan(x[0].number) || isnan(x[1].number)) return false;
    sign = (x[0].number > x[1].number) - (x[0].number < x[1].number);
  } else if (!sign_of(c, x[0].dim, x[1].dim, &sign)) {
    return false;
  }
  bool yes = c->op->id == ONNX_Equal         ? sign == 0
             : c->op->id == ONNX_Less        ? sign < 0
             : c->op->id == ONNX_LessOrEqual ? sign <= 0
             : c->op->id == ONNX_Greater     ? sign > 0
                                             : sign >= 0;
  out->dim = dim_int(onnx_dims(c), yes);
  return true;
}

bool onnx_fold_comparison(OnnxCall *c) { return fold_elements(c, comparison, DT_I1); }

static bool fold_logic(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n, OnnxElement *out) {
  if (t != DT_I1) return false;
  int64_t a = x[0].dim->value, b = n > 1 ? x[1].dim->value : 0;
  bool yes = c->op->id == ONNX_And   ? a & b
             : c->op->id == ONNX_Or  ? a | b
             : c->op->id == ONNX_Xor ? a ^ b
                                     : !a;
  out->dim = dim_int(onnx_dims(c), yes);
  return true;
}

bool onnx_fold_logic(OnnxCall *c) { return fold_elements(c, fold_logic, DT_I1); }

static bool fold_where(OnnxCall *c, DType t, const OnnxElement *x, uint32_t n, OnnxElement *out) {
  (void)c, (void)t;
  if (n == 3) *out = x[0].dim->value ? x[1] : x[2];
  return n == 3;
}

bool onnx_fold_where(OnnxCall *c) { return fold_elements(c, fold_where, DT_NONE); }

/* ---- casts ---- */

static bool cast_element(OnnxCall *c, DType from, DType to, OnnxElement x, OnnxElement *out) {
  if (!dtype_is_float(from) && !dim_is_int(x.dim)) {
    *out = x;
    return to == DT_I64 || to == DT_I32;
  }
  Scalar s = {.f = x.number};
  bool wraps = dtype_is_float(from) && dtype_is_int(to) && dtype_bits(to) < 32 && to != DT_I1;
  if (dtype_is_float(to) && dtype_bits(to) == 8) return false;
  if (!dtype_is_float(from)) s.i = x.dim->value;
  if (dtype_is_float(from) && !(fabs(s.f) < 9e15) && !dtype_is_float(to)) return false;
  if (wraps) s = scalar_op(TILE_CAST, from, DT_I32, &s, false);
  s = scalar_op(TILE_CAST, wraps ? DT_I32 : from, to, &s, false);
  if (to == DT_U64 && s.i < 0) return false;
  if (dtype_is_float(to)) out->number = s.f;
  else out->dim = dim_int(onnx_dims(c), s.i);
  return true;
}

static bool fold_cast_to(OnnxCall *c, DType to) {
  bool number = onnx_has(c, 0) && !onnx_form_is_float(c->in[0]->form);
  const OnnxKnown *x = number ? onnx_known(c, 0) : NULL;
  OnnxKnown *out = x && to ? onnx_known_new(c, to, x->rank, x->shape) : NULL;
  if (!out) return false;
  onnx_ignore(c, "saturate");
  for (uint32_t i = 0; i < out->n; i++)
    if (!cast_element(c, x->dtype, to, x->at[i], &out->at[i])) return false;
  onnx_set_known(c, 0, out);
  onnx_set_form(c, 0, FORM_PLAIN);
  return true;
}

bool onnx_fold_cast(OnnxCall *c) {
  OnnxForm form;
  if (onnx_has(c, 0) && c->in[0]->is_text) return false;
  DType to = onnx_narrow_attr(c, "to", DT_NONE, &form);
  return !form && fold_cast_to(c, to);
}

bool onnx_fold_cast_like(OnnxCall *c) {
  return onnx_has(c, 1) && !c->in[1]->form && fold_cast_to(c, onnx_type(c, 1)->dtype);
}

bool onnx_fold_identity(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0);
  if (x) onnx_set_known(c, 0, x);
  return x;
}
