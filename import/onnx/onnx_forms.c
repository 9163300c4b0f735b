/* Floats of dtypes that no kernel has, whose elements are bytes: what numbers they are, and the
 * elements that numbers round to.
 *
 * The package ml_dtypes calls them float4_e2m1fn, float8_e4m3fnuz, float8_e5m2fnuz and
 * float8_e8m0fnu. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_op.h"

enum { F32_MANTISSA = 23, F32_BIAS = 127, F32_INF = 0x7f800000, BYTES = 256 };

/* Elements are a sign, an exponent and a mantissa. */
typedef struct {
  unsigned bits, mantissa;
  int bias;
  unsigned nan;  /* the element that NaN becomes */
  bool has_nan;  /* is that one NaN? */
  bool has_zero; /* is there a negative zero? */
} FloatForm;

static FloatForm float_form(OnnxForm form) {
  switch (form) {
    case FORM_E2M1: return (FloatForm){4, 1, 1, 0x8, false, true};
    case FORM_E4M3FNUZ: return (FloatForm){8, 3, 8, 0x80, true, false};
    default: return (FloatForm){8, 2, 16, 0x80, true, false};
  }
}

/* ---- numbers of elements ---- */

static double number_of(OnnxForm form, unsigned element) {
  if (form == FORM_E8M0) return element == BYTES - 1 ? NAN : ldexp(1, (int)element - F32_BIAS);
  FloatForm f = float_form(form);
  if (f.has_nan && element == f.nan) return NAN;
  unsigned sign = 1u << (f.bits - 1), magnitude = element & (sign - 1);
  int exponent = (int)(magnitude >> f.mantissa);
  double digits = magnitude & ((1u << f.mantissa) - 1);
  if (exponent) digits += 1 << f.mantissa;
  double x = ldexp(digits, (exponent ? exponent : 1) - f.bias - (int)f.mantissa);
  return element & sign ? -x : x;
}

Node *onnx_decoded(OnnxCall *c, Node *x, OnnxForm form) {
  Build *b = &c->b;
  int64_t n = form == FORM_E2M1 ? 1 << float_form(form).bits : BYTES;
  float table[BYTES];
  for (int64_t i = 0; i < n; i++) table[i] = (float)number_of(form, (unsigned)i);
  Node *numbers = onnx_table(c, DT_F32, 1, &n, table);
  return build_op2(b, OP_aten_take_default, numbers, build_to(b, x, DT_I64));
}

/* ---- elements of numbers ---- */

static Node *f32_bits(Build *b, Node *x) {
  return build_with(b, OP_nereid_bits_default, x, arg_dtype(DT_I32));
}

static Node *with_int(Build *b, OpId op, Node *x, int64_t y) {
  return build_with(b, op, x, build_int(b, y));
}

/* The magnitude of an f32 as bits, and that with the mantissa rounded to nearest even. */
static Node *rounded_magnitude(Build *b, Node *bits, const FloatForm *f) {
  unsigned drop = F32_MANTISSA - f->mantissa;
  Node *odd = with_int(b, OP_aten_bitwise_right_shift_Tensor_Scalar, bits, drop);
  odd = with_int(b, OP_aten_bitwise_and_Scalar, odd, 1);
  Node *up = with_int(b, OP_aten_add_Tensor, build_add(b, bits, odd), (1 << (drop - 1)) - 1);
  up = with_int(b, OP_aten_bitwise_right_shift_Tensor_Scalar, up, drop);
  return with_int(b, OP_aten_sub_Tensor, up, (int64_t)(F32_BIAS - f->bias) << f->mantissa);
}

/* Numbers below the least that has a full mantissa round where they are added to one whose last bit
 * counts as the form's. */
static Node *small_magnitude(Build *b, Node *bits, const FloatForm *f) {
  float one = ldexpf(1, F32_MANTISSA + 1 - f->bias - (int)f->mantissa);
  int32_t at;
  memcpy(&at, &one, sizeof at);
  Node *x = build_with(b, OP_nereid_bits_default, bits, arg_dtype(DT_F32));
  x = build_with(b, OP_aten_add_Tensor, x, arg_float((double)one));
  return with_int(b, OP_aten_sub_Tensor, f32_bits(b, x), at);
}

/* Numbers too large become the largest element, or NaN where the attribute says so. */
static Node *encoded_magnitude(OnnxCall *c, Node *bits, const FloatForm *f) {
  Build *b = &c->b;
  bool saturates = onnx_flag(c, "saturate", true) || !f->has_nan;
  int64_t most = (1 << (f->bits - 1)) - 1;
  int64_t full = (int64_t)(F32_BIAS + 1 - f->bias) << F32_MANTISSA;
  Node *is_small = with_int(b, OP_aten_lt_Scalar, bits, full);
  Node *y = build_where(b, is_small, arg_node(small_magnitude(b, bits, f)),
                        arg_node(rounded_magnitude(b, bits, f)));
  Node *large = with_int(b, OP_aten_gt_Scalar, y, most);
  return build_where(b, large, build_int(b, saturates ? most : f->nan), arg_node(y));
}

static Node *encoded_float(OnnxCall *c, Node *x, OnnxForm form) {
  Build *b = &c->b;
  FloatForm f = float_form(form);
  Node *all = f32_bits(b, x), *bits = with_int(b, OP_aten_bitwise_and_Scalar, all, INT32_MAX);
  Node *y = encoded_magnitude(c, bits, &f);
  Node *negative = with_int(b, OP_aten_lt_Scalar, all, 0);
  if (!f.has_zero) negative = build_and(b, negative, with_int(b, OP_aten_gt_Scalar, y, 0));
  Node *sign = build_where(b, negative, build_int(b, 1 << (f.bits - 1)), build_int(b, 0));
  y = build_op2(b, OP_aten_bitwise_or_Tensor, y, build_to(b, sign, DT_I32));
  Node *nan = with_int(b, OP_aten_gt_Scalar, bits, F32_INF);
  return build_to(b, build_where(b, nan, build_int(b, f.nan), arg_node(y)), DT_U8);
}

typedef enum { ROUND_UP, ROUND_DOWN, ROUND_NEAREST } PowerRounding;

static PowerRounding power_rounding(OnnxCall *c) {
  static const char *const names[] = {"up", "down", "nearest"};
  Name mode = onnx_string(c, "round_mode", "up");
  for (int i = 0; i < 3; i++)
    if (!strcmp(mode, names[i])) return (PowerRounding)i;
  onnx_fail(c, E_ONNX_ATTR_VALUE, "round_mode", mode);
}

/* Powers of two: the exponent of an f32, rounded by its mantissa as the attribute says.  The least
 * one is the half of f32's least number with a full mantissa.  The sign does not count. */
static Node *encoded_power(OnnxCall *c, Node *x) {
  enum { HALF = 1 << (F32_MANTISSA - 1), ALL = (1 << F32_MANTISSA) - 1, NO_NUMBER = BYTES - 1 };
  Build *b = &c->b;
  bool saturates = onnx_flag(c, "saturate", true);
  PowerRounding how = power_rounding(c);
  Node *bits = with_int(b, OP_aten_bitwise_and_Scalar, f32_bits(b, x), INT32_MAX);
  int64_t more = how == ROUND_UP ? ALL : how == ROUND_NEAREST ? HALF : 0;
  Node *y = with_int(b, OP_aten_add_Tensor, bits, more);
  y = with_int(b, OP_aten_bitwise_right_shift_Tensor_Scalar, y, F32_MANTISSA);
  int64_t next = how == ROUND_UP ? HALF : how == ROUND_NEAREST ? HALF + HALF / 2 - 1 : ALL;
  Node *least = with_int(b, OP_aten_le_Scalar, bits, next);
  y = build_where(b, least, build_int(b, 0), arg_node(y));
  Node *large = with_int(b, OP_aten_ge_Scalar, y, NO_NUMBER);
  y = build_where(b, large, build_int(b, saturates ? NO_NUMBER - 1 : NO_NUMBER), arg_node(y));
  Node *out = with_int(b, OP_aten_gt_Scalar, bits, F32_INF);
  if (!saturates)
    out = build_op2(b, OP_aten_logical_or_default, out,
                    with_int(b, OP_aten_lt_Scalar, bits, HALF));
  return build_to(b, build_where(b, out, build_int(b, NO_NUMBER), arg_node(y)), DT_U8);
}

Node *onnx_encoded(OnnxCall *c, Node *x, OnnxForm form) {
  x = build_to(&c->b, x, DT_F32);
  return form == FORM_E8M0 ? encoded_power(c, x) : encoded_float(c, x, form);
}
