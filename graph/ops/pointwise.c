/* Pointwise ops: the expression of an element, by the table in graph/ops/op_table.def. */
#include <math.h>
#include <string.h>

#include "graph/ops/prim_rows.h"

typedef enum {
  ARITH,
  BRANCH,
  BITS,
  TEST,
  LOGIC,
  CAST,
  ALPHA,
  CLAMP,
  DRAW,
  EXP,
  GELU,
  ISCLOSE,
  KEY,
  LERP,
  LOOP,
  NAN_TO_NUM,
  POWER,
  REINTERPRET,
  REMAINDER,
  ROUNDED,
  SELECT
} Rule;

typedef struct {
  Rule rule;
  const char *floats, *integers; /* NULL: the operator is not pointwise */
} PointwiseRow;

static const PointwiseRow rows[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define POINTWISE(rule, floats, integers) rule, floats, integers
#include "graph/ops/op_table.def"
};

/* ---- operands ---- */

typedef struct {
  Infer in;
  const PointwiseRow *row;
  Pointwise *p;
} Context;

static bool is_operand(const OpParam *p) {
  return p->type == PARAM_TENSOR || p->type == PARAM_SCALAR || p->type == PARAM_FLOAT;
}

/* The parameter that is cast, though others may determine the dtype. */
static const char *cast_param(const OpSchema *s) {
  if (ops_param(s, "src") >= 0) return "src";
  return ops_param(s, "value") >= 0 ? "value" : s->params[0].name;
}

static void add_operand(Context *c, const OpParam *param) {
  Arg a = graph_arg(c->in.g, c->in.n, param->name);
  if (a.kind == ARG_NONE) return;
  bool condition = !strcmp(param->name, "condition") || !strcmp(param->name, "mask");
  c->p->dtypes[c->p->noperands] = condition ? DT_I1 : c->p->compute;
  c->p->operands[c->p->noperands++] = a;
}

static void set_expression_operands(Context *c) {
  const OpSchema *s = c->in.schema;
  const char *cast = c->row->rule == CAST ? cast_param(s) : NULL;
  for (uint32_t i = 0; i < s->nparams; i++)
    if (is_operand(&s->params[i]) && (!cast || !strcmp(s->params[i].name, cast)))
      add_operand(c, &s->params[i]);
}

static bool is_number_arg(const Arg *a) {
  return a->kind == ARG_INT || a->kind == ARG_FLOAT || a->kind == ARG_BOOL;
}

/* The value of operand i, a literal; NaN if it is none. */
static double operand_number(const Context *c, uint32_t i) {
  const Arg *a = &c->p->operands[i];
  if (a->kind == ARG_FLOAT) return a->number;
  if (a->kind == ARG_BOOL) return a->flag;
  return a->kind == ARG_INT && dim_is_int(a->dim) ? (double)a->dim->value : NAN;
}

/* ---- dtypes ---- */

static DType widened_dtype(DType t) { return dtype_is_float(t) && dtype_bits(t) < 32 ? DT_F32 : t; }

/* Bools compute in i32, where 1 + 1 is not 0 and the order is that of numbers. */
static DType computed_dtype(DType t) { return t == DT_I1 ? DT_I32 : widened_dtype(t); }

static DType operand_dtype(Context *c) {
  Operand x[8];
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->in.schema->nparams; i++) {
    const OpParam *p = &c->in.schema->params[i];
    bool counts = p->type == PARAM_TENSOR || p->type == PARAM_SCALAR;
    if (counts && infer_has(&c->in, p->name)) x[n++] = infer_operand(&c->in, p->name);
  }
  return infer_promote(&c->in, x, n);
}

static DType compute_dtype(Context *c) {
  DType t = c->in.n->type.dtype;
  switch (c->row->rule) {
    case BITS: return t;
    case DRAW: return DT_I64;
    case LOGIC: t = operand_dtype(c); return t == DT_I1 ? t : computed_dtype(t);
    case TEST: return computed_dtype(operand_dtype(c));
    case ISCLOSE: t = operand_dtype(c); return dtype_is_float(t) ? widened_dtype(t) : DT_F64;
    case REINTERPRET: return infer_self(&c->in)->dtype;
    case KEY:
    case CAST: return computed_dtype(infer_tensor(&c->in, cast_param(c->in.schema))->dtype);
    default: return computed_dtype(t);
  }
}

/* ---- expressions that arguments decide ---- */

static const char *row_expression(const Context *c) {
  return dtype_is_int(c->p->compute) && *c->row->integers ? c->row->integers : c->row->floats;
}

/* LOGIC has its second column for bools, not for integers. */
static const char *logic_expression(const Context *c) {
  return c->p->compute == DT_I1 ? c->row->integers : c->row->floats;
}

/* The second tensor of a sum times alpha; rsub's is the first. */
static const char *alpha(const Context *c) {
  if (operand_number(c, 2) == 1) return c->row->floats;
  if (c->in.n->type.dtype == DT_I1) return "tl.where({2} != 0, {0} + {1}, {0})"; /* a truth value */
  switch (c->in.n->op->id) {
    case OP_aten_rsub_Scalar:
    case OP_aten_rsub_Tensor: return "{1} - {2} * {0}";
    case OP_aten_sub_Scalar:
    case OP_aten_sub_Tensor: return "{0} - {2} * {1}";
    default: return "{0} + {2} * {1}";
  }
}

/* May it be NaN, of which only the kernel or its reader knows? */
static bool may_be_nan(const Arg *a) {
  if (a->kind == ARG_FLOAT) return isnan(a->number);
  return a->kind == ARG_NODE && dtype_is_float(a->node->type.dtype);
}

/* A lone number that is NaN bounds nothing.  Two of which one is NaN, a bound that is a tensor, and
 * clamp_min's give NaN. */
static const char *clamp_expression(Context *c) {
  if (c->p->noperands == 3) return c->row->floats;
  bool min = infer_has(&c->in, "min"), number = c->in.schema->params[1].type == PARAM_SCALAR;
  if (number && dtype_is_float(c->p->compute) && may_be_nan(&c->p->operands[1]))
    return min ? "tl.where({0} < {1}, {1}, {0})" : "tl.where({0} > {1}, {1}, {0})";
  return rows[min ? OP_aten_maximum_default : OP_aten_minimum_default].floats;
}

/* Is it a row less its maximum, as in softmax? */
static bool is_below_maximum(const Node *n) {
  if (!graph_is(n, OP_aten_sub_Tensor)) return false;
  const Node *most = n->args[1].kind == ARG_NODE ? n->args[1].node : NULL;
  return most && graph_is(most, OP_aten_amax_default) && n->args[0].kind == ARG_NODE &&
         most->args[0].node == n->args[0].node;
}

static Node *operand_node(const Node *n, uint32_t i) {
  return i < n->nargs && n->args[i].kind == ARG_NODE ? n->args[i].node : NULL;
}

static bool is_cast_from_16_bits(const Node *n) {
  if (!graph_is_any(n, OP_aten_to_dtype, OP_aten__to_copy_default)) return false;
  const Node *x = operand_node(n, 0);
  return x && dtype_is_float(x->type.dtype) && dtype_bytes(x->type.dtype) == 2;
}

/* Is it -c y^2 with y of 16 bits, as in a normal distribution, and the gradient of GELU? */
static bool is_negative_square(const Node *n) {
  if (!n || !graph_is(n, OP_aten_mul_Tensor) || n->nargs < 2) return false;
  const Node *square = operand_node(n, 0);
  double by = n->args[1].kind == ARG_FLOAT ? n->args[1].number : 0;
  if (!square || by >= 0 || !graph_is(square, OP_aten_mul_Tensor)) return false;
  const Node *y = operand_node(square, 0);
  return y && operand_node(square, 1) == y && is_cast_from_16_bits(y);
}

/* For operands not above 0 the short form's error, some ulps of x e^x, is negligible beside the
 * largest value; and less than the error of an operand that is computed from 16 bits. */
static const char *exponential(const Context *c) {
  const Node *x = c->p->operands[0].node;
  return is_below_maximum(x) || is_negative_square(x) ? "tl.exp({0})" : c->row->floats;
}

/* The tanh form is 0.5 x (1 + tanh u), u = sqrt(2 / pi) (x + 0.044715 x^3), and that is x times the
 * logistic function of 2 u. */
static const char *gelu(Context *c) {
  if (!strcmp(infer_string(&c->in, "approximate"), "tanh"))
    return "{0} * tl.sigmoid({0} * (1.5957691216057308 + 0.07135481627260025 * {0} * {0}))";
  return "exact_gelu({0})";
}

#define CLOSE                                               \
  "({0} == {1}) | ((tl.abs({0} - {1}) < float(\"inf\")) & " \
  "(tl.abs({0} - {1}) <= {3} + tl.abs({2} * {1})))"

static const char *isclose(Context *c) {
  return infer_bool(&c->in, "equal_nan") ? CLOSE " | (({0} != {0}) & ({1} != {1}))" : CLOSE;
}

/* A float's bits in the order of integers: of negative ones all but the sign are flipped.  -0.0
 * is 0.0, and NaN comes last. */
#define KEY_BITS(t) "tl.where({0} == 0, 0.0, {0}).to(tl." t ", bitcast=True)"
#define KEY_OF(t, shift, most) \
  "tl.where({0} != {0}, " most ", " KEY_BITS(t) " ^ ((" KEY_BITS(t) " >> " shift ") & " most "))"

#define OF_KEY(t, shift, most) "({0} ^ (({0} >> " shift ") & " most ")).to(tl." t ", bitcast=True)"

static const char *key(const Context *c) {
  if (c->p->compute == DT_I64) return OF_KEY("float64", "63", "9223372036854775807");
  if (c->p->compute == DT_I32) return OF_KEY("float32", "31", "2147483647");
  return c->p->compute == DT_F64 ? KEY_OF("int64", "63", "9223372036854775807")
                                 : KEY_OF("int32", "31", "2147483647");
}

/* Counters have 32 bits, as those of the language's generator do. */
static const char *draw(const Context *c) {
  Name kind = graph_arg(c->in.g, c->in.n, "kind").name;
  bool bits = !strcmp(kind, "bits");
  if (!strcmp(kind, "bits64")) return "bits64({0}, ({1}).to(tl.int32))";
  const char *function = bits ? "randint" : !strcmp(kind, "normal") ? "randn" : "rand";
  return arena_printf(c->in.g->arena, "tl.%s({0}, ({1}).to(tl.int32))%s", function,
                      bits ? ".to(tl.int32, bitcast=True)" : "");
}

/* From the end that is nearer. */
#define LERP_LOW "{0} + {2} * ({1} - {0})"
#define LERP_HIGH "{1} - ({1} - {0}) * (1.0 - {2})"

static const char *lerp(const Context *c) {
  if (!is_number_arg(&c->p->operands[2]))
    return "tl.where(tl.abs({2}) < 0.5, " LERP_LOW ", " LERP_HIGH ")";
  return fabs(operand_number(c, 2)) < 0.5 ? LERP_LOW : LERP_HIGH;
}

/* The operands replace NaN, inf and -inf, as far as they are given. */
static const char *nan_to_num(Context *c) {
  if (dtype_is_int(c->p->compute)) return c->row->integers;
  double max = dtype_largest_finite(c->in.n->type.dtype);
  double otherwise[] = {0, max, -max};
  static const char *const names[] = {"nan", "posinf", "neginf"};
  const char *by[3];
  for (int i = 0, k = 1; i < 3; i++)
    by[i] = infer_has(&c->in, names[i]) ? arena_printf(c->in.g->arena, "{%d}", k++)
                                        : arena_printf(c->in.g->arena, "%.17g", otherwise[i]);
  return arena_printf(c->in.g->arena,
                      "tl.where({0} != {0}, %s, tl.where({0} == float(\"inf\"), %s, "
                      "tl.where({0} == float(\"-inf\"), %s, {0})))",
                      by[0], by[1], by[2]);
}

static const char *reinterpret(const Context *c) {
  return arena_printf(c->in.g->arena, "{0}.to(tl.%s, bitcast=True)",
                      dtype_lang_name(c->in.n->type.dtype));
}

/* ---- powers ---- */

static const struct {
  double exponent;
  const char *text;
} powers[] = {
    {2, "{0} * {0}"},          {3, "{0} * {0} * {0}"},         {0.5, "libdevice.sqrt_rn({0})"},
    {-2, "1.0 / ({0} * {0})"}, {-0.5, "libdevice.rsqrt({0})"}, {-1, "1.0 / {0}"},
};

/* The product has as many factors as the exponent says. */
static const char *product_expression(const Context *c, int n) {
  Text t = text_new(c->in.g->arena);
  text_puts(&t, "{0}");
  for (int i = 1; i < n; i++) text_puts(&t, " * {0}");
  return t.data;
}

/* Powers of integers are products, which wrap as eager mode's do; a known exponent takes as many as
 * it has bits. */
static const char *integer_power(const Context *c) {
  enum { FACTORS_MAX = 8 };
  double n = c->p->operands[1].kind == ARG_NODE ? NAN : operand_number(c, 1);
  if (n >= 1 && n <= FACTORS_MAX) return product_expression(c, (int)n);
  if (n >= 0) return "constant_power({0}, {1})";
  return "integer_power(tl.cast({0}, tl.{t}), tl.cast({1}, tl.{t}))";
}

/* A cast of a number would round it to f32 first. */
static const char *power_operand(const Context *c, uint32_t i) {
  bool wide = is_number_arg(&c->p->operands[i]) && c->p->compute == DT_F64;
  return arena_printf(c->in.g->arena, wide ? "tl.full([], {%u}, tl.{t})" : "tl.cast({%u}, tl.{t})",
                      i);
}

/* Is it 2.0 to the power of integers of at most 32 bits, in f32? */
static bool is_power_of_2(const Context *c) {
  const Arg *base = &c->p->operands[0], *n = &c->p->operands[1];
  bool integer = n->kind == ARG_NODE && n->node->type.kind == VALUE_TENSOR &&
                 dtype_is_int(n->node->type.dtype) && dtype_bits(n->node->type.dtype) <= 32;
  return integer && n->node->type.dtype != DT_U32 && c->p->compute == DT_F32 &&
         is_number_arg(base) && operand_number(c, 0) == 2;
}

static const char *power_expression(const Context *c) {
  if (dtype_is_int(c->p->compute)) return integer_power(c);
  if (is_power_of_2(c)) {
    c->p->dtypes[1] = DT_I32;
    return "power_of_2({1})";
  }
  if (is_number_arg(&c->p->operands[1]))
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
      if (operand_number(c, 1) == powers[i].exponent) return powers[i].text;
  return arena_printf(c->in.g->arena, "libdevice.pow(%s, %s)", power_operand(c, 0),
                      power_operand(c, 1));
}

/* ---- rounded quotients and remainders ----
 *
 * In the kernel language // and % of integers round towards zero, and fmod does: what a floor
 * changes is a remainder of the sign that the divisor hasn't. */

#define WRONG_SIGN(r) "(" r " != 0) & ((" r " < 0) != ({1} < 0))"
#define FLOOR_MOD(r) "tl.where(" WRONG_SIGN(r) ", " r " + {1}, " r ")"
#define FMOD "libdevice.fmod({0}, {1})"

static const char *remainder_text(const Context *c) {
  return dtype_is_int(c->p->compute) ? FLOOR_MOD("({0} % {1})") : FLOOR_MOD(FMOD);
}

/* Quotients of floats: the dividend without the remainder is a multiple, up to rounding; 0 has the
 * sign of the quotient, and a division by 0 is the plain one without rounding. */
#define EXACT "libdevice.div_rn({0}, {1})"
#define FLOORED \
  "libdevice.rint(libdevice.div_rn({0} - " FMOD ", {1})) - (" WRONG_SIGN(FMOD) ").to(tl.{t})"

static const char *floor_text(const Context *c) {
  if (dtype_is_int(c->p->compute))
    return "({0} // {1}) - (" WRONG_SIGN("({0} % {1})") ").to(tl.{t})";
  return "tl.where({1} == 0, " EXACT ", libdevice.copysign(" FLOORED ", " EXACT "))";
}

static const char *rounded_quotient_expression(Context *c) {
  bool takes = infer_takes(&c->in, "rounding_mode");
  const char *mode = takes ? infer_string(&c->in, "rounding_mode") : "floor";
  if (!strcmp(mode, "floor")) return floor_text(c);
  if (strcmp(mode, "trunc")) return c->row->floats;
  return dtype_is_int(c->p->compute) ? "{0} // {1}" : "libdevice.trunc(" EXACT ")";
}

/* ---- the interface ---- */

bool prim_branches(const Node *n) {
  if (prim_kind(n->op) != PRIM_POINTWISE) return false;
  Rule rule = rows[n->op->id].rule;
  if (rule == LOOP) return true;
  if (rule == POWER) return dtype_is_int(n->type.dtype) && n->args[1].kind == ARG_NODE;
  bool may = rule == BRANCH || rule == REMAINDER || rule == ROUNDED;
  return may && dtype_is_float(n->type.dtype);
}

static const char *expression_by_rule(Context *c) {
  switch (c->row->rule) {
    case ALPHA: return alpha(c);
    case CLAMP: return clamp_expression(c);
    case DRAW: return draw(c);
    case EXP: return exponential(c);
    case GELU: return gelu(c);
    case ISCLOSE: return isclose(c);
    case KEY: return key(c);
    case LERP: return lerp(c);
    case LOGIC: return logic_expression(c);
    case NAN_TO_NUM: return nan_to_num(c);
    case POWER: return power_expression(c);
    case REINTERPRET: return reinterpret(c);
    case REMAINDER: return remainder_text(c);
    case ROUNDED: return rounded_quotient_expression(c);
    default: return row_expression(c);
  }
}

/* Does the rule give a bool of itself? */
static bool is_test(Rule rule) {
  return rule == TEST || rule == LOGIC || rule == ISCLOSE || rule == BITS;
}

/* {t} becomes the dtype's name. */
static const char *with_dtype(Arena *a, const char *text, DType t) {
  Text out = text_new(a);
  for (const char *s; (s = strstr(text, "{t}")); text = s + 3) {
    text_putn(&out, text, (size_t)(s - text));
    text_puts(&out, dtype_lang_name(t));
  }
  text_puts(&out, text);
  return out.data;
}

/* The dtype that a cast narrows its operand to. */
static DType narrowed(Context *c) {
  DType to = c->in.n->type.dtype;
  bool cast = c->row->rule == CAST && to != DT_I1;
  const ValueType *from = cast ? infer_tensor(&c->in, cast_param(c->in.schema)) : NULL;
  return from && !dtype_represents(to, from->dtype) ? to : DT_NONE;
}

Pointwise pointwise_of(Graph *g, const Node *n) {
  Pointwise p = {0};
  Context c = {.in = prim_arguments(g, n), .row = &rows[n->op->id], .p = &p};
  BUG_IF(!c.row->floats, "not pointwise: %s", n->op->target);
  p.compute = compute_dtype(&c);
  p.narrow = narrowed(&c);
  p.selects = c.row->rule == SELECT;
  set_expression_operands(&c);
  p.text = with_dtype(g->arena, expression_by_rule(&c), p.compute);
  if (n->type.dtype == DT_I1 && !is_test(c.row->rule))
    p.text = arena_printf(g->arena, "(%s) != 0", p.text);
  return p;
}
