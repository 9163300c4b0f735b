/* Elementwise ops: the table of (op, types, templates), and the few that are special. */
#include <math.h>
#include <string.h>

#include "codegen/c/c.h"

/* ======== conversions ======== */

/* A vector of another type; short integers have helpers of their own. */
static const char *to_vector(Gen *g, const char *x, DType from, DType to) {
  const char *named = c_text(g, "vto_%s_%s", c_compute_name(to), c_compute_name(from));
  return c_is_helper(named) ? c_text(g, "%s(%s)", named, x)
                            : c_text(g, "vto_%s(%s)", c_compute_name(to), x);
}

/* Rounds text, a float or a double, to a narrow float type. */
static const char *to_narrow(Gen *g, const char *text, DType from, DType to, bool rtz,
                             const char *v) {
  const char *name = dtype_name(to);
  if (from == DT_F64) text = c_text(g, rtz ? "%schop_f32(%s)" : "%sodd_f32(%s)", v, text);
  return c_text(g, rtz ? "%schop_%s(%s)" : "%sround_%s(%s)", v, name, text);
}

static const char *c_float_to_float(Gen *g, const char *x, const NestStmt *s, const char *v) {
  DType from = s->type, to = s->to;
  if (c_is_narrow(to)) return from == to ? x : to_narrow(g, x, from, to, s->rtz, v);
  if (to == DT_F64 && from != DT_F64) return c_text(g, *v ? "vto_f64(%s)" : "(double)%s", x);
  if (to == from || from != DT_F64) return x;
  if (s->rtz) return c_text(g, "%schop_f32(%s)", v, x);
  return c_text(g, *v ? "vto_f32(%s)" : "(float)%s", x);
}

/* From 32 and more bits, f32 loses bits that decide how bf16 is rounded. */
static const char *c_int_to_float(Gen *g, const char *x, const NestStmt *s, const char *v) {
  DType to = s->to;
  if (to == DT_F64)
    return *v ? to_vector(g, x, s->type, to) : c_text(g, "(double)%s", x);
  if (to == DT_BF16 && dtype_bits(s->type) >= 32)
    return c_text(g, "%sround_bf16(%sodd_f32_%s(%s))", v, v, dtype_name(s->type), x);
  x = *v ? to_vector(g, x, s->type, DT_F32) : c_text(g, "(float)%s", x);
  return c_is_narrow(to) ? c_text(g, "%sround_%s(%s)", v, dtype_name(to), x) : x;
}

static const char *scalar_cast(Gen *g, const NestStmt *s, const char *x) {
  bool from_float = dtype_is_float(s->type), to_float = dtype_is_float(s->to);
  if (s->to == DT_I1) return c_text(g, "%s != 0", x);
  if (to_float) return from_float ? c_float_to_float(g, x, s, "") : c_int_to_float(g, x, s, "");
  if (from_float)
    return c_text(g, "truncate_%s_%s(%s)", dtype_name(s->to), c_compute_name(s->type), x);
  return s->to == s->type ? x : c_text(g, "(%s)%s", c_scalar_type(s->to), x);
}

static const char *vector_cast(Gen *g, const NestStmt *s, const char *x) {
  bool from_float = dtype_is_float(s->type), to_float = dtype_is_float(s->to);
  if (s->type == s->to) return x;
  if (s->to == DT_I1)
    return c_text(g, "vne_%s(%s, vsplat_%s(0))", c_compute_name(s->type), x,
                  c_compute_name(s->type));
  if (s->type == DT_I1)
    return s->to == DT_I32 ? c_text(g, "%s & 1", x)
                           : to_vector(g, c_text(g, "%s & 1", x), DT_I32, s->to);
  if (to_float) return from_float ? c_float_to_float(g, x, s, "v") : c_int_to_float(g, x, s, "v");
  if (from_float)
    return c_text(g, "vtruncate_%s_%s(%s)", dtype_name(s->to), c_compute_name(s->type), x);
  return to_vector(g, x, s->type, s->to);
}

static const char *c_cast(Gen *g, const NestStmt *s, bool vector) {
  if (vector) return vector_cast(g, s, c_vector(g, &s->srcs[0], s->type));
  return scalar_cast(g, s, c_scalar(g, &s->srcs[0], s->type));
}

/* ---- the same bits ---- */

static const char *vector_bits(Gen *g, const char *x, DType from, DType to) {
  if (c_is_narrow(from)) x = c_text(g, "vencode_%s(%s)", dtype_name(from), x);
  DType unsigned_type = dtype_int(dtype_bits(to), false);
  if (c_is_narrow(to))
    return c_text(g, "vdecode_%s((%s)%s)", dtype_name(to), c_vector_type(unsigned_type), x);
  return c_text(g, "(%s)%s", c_vector_type(to), x);
}

static const char *scalar_bits(Gen *g, const char *x, DType from, DType to) {
  if (to == DT_PTR) return c_text(g, "(char *)%s", x);
  if (from == DT_PTR) return c_text(g, "(%s)%s", c_scalar_type(to), x);
  if (dtype_is_int(from) && dtype_is_int(to)) return c_text(g, "(%s)%s", c_scalar_type(to), x);
  if (c_is_narrow(from)) x = c_text(g, "encode_%s(%s)", dtype_name(from), x);
  else if (dtype_is_float(from)) x = c_text(g, "bits_%s(%s)", dtype_name(from), x);
  if (c_is_narrow(to)) return c_text(g, "decode_%s(%s)", dtype_name(to), x);
  if (dtype_is_float(to)) return c_text(g, "from_bits_%s(%s)", dtype_name(to), x);
  return c_text(g, "(%s)%s", c_scalar_type(to), x);
}

static const char *c_bitcast(Gen *g, const NestStmt *s, bool vector) {
  const char *x = vector ? c_vector(g, &s->srcs[0], s->type) : c_scalar(g, &s->srcs[0], s->type);
  if (s->type == s->to) return x;
  return vector ? vector_bits(g, x, s->type, s->to) : scalar_bits(g, x, s->type, s->to);
}

/* ======== elementwise ops ======== */

/* Types by letter: S signed integers, U unsigned integers and pointers, B i1, F f32 and narrower
 * floats (in f32, then rounded), D f64. */
typedef struct {
  TileCode op;
  const char *types;
  const char *scalar; /* NULL: lane 0 of the vector form */
  const char *vector; /* NULL: as scalar.  Without `(` its operands may be scalars */
  bool rounds;        /* a result of a narrow float type may not be a number of it */
} Row;

static const Row rows[] = {
    {TILE_ADD, "SUFD", "$a + $b", NULL, true},
    {TILE_ADD, "B", "$a ^ $b", NULL, false},
    {TILE_SUB, "SUFD", "$a - $b", NULL, true},
    {TILE_SUB, "B", "$a ^ $b", NULL, false},
    {TILE_MUL, "SUFD", "$a * $b", NULL, true},
    {TILE_MUL, "B", "$a & $b", NULL, false},
    {TILE_DIV, "SU", "div_$t($a, $b)", "vdiv_$t($a, $b)", false},
    {TILE_DIV, "FD", "$a / $b", NULL, true},
    {TILE_DIV, "B", "$a | !$b", "$a | ~$b", false},
    {TILE_DIV_RN, "FD", "$a / $b", NULL, true},
    {TILE_REM, "SU", "rem_$t($a, $b)", "vrem_$t($a, $b)", false},
    {TILE_REM, "FD", NULL, "vrem_$t($a, $b)", true},
    {TILE_REM, "B", "$a & !$b", "$a & ~$b", false},
    {TILE_MULHI, "SU", "mulhi_$t($a, $b)", "vmulhi_$t($a, $b)", false},
    {TILE_MULHI, "B", "$a & !$a", "$a & ~$a", false},
    {TILE_FMA, "FD", "fma_$t($a, $b, $c)", "vfma_$t($a, $b, $c)", true},
    {TILE_DOT2, "S", "dot2_$t($a, $b, $c)", "vdot2_$t($a, $b, $c)", false},
    {TILE_DOT4, "S", "dot4_$t($a, $b, $c)", "vdot4_$t($a, $b, $c)", false},
    {TILE_NEG, "SUFD", "-$a", NULL, false},
    {TILE_NEG, "B", "$a", NULL, false},
    {TILE_ABS, "SFD", "abs_$t($a)", "vabs_$t($a)", false},
    {TILE_ABS, "UB", "$a", NULL, false},
    {TILE_MIN, "SUFD", "min_$t($a, $b)", "vmin_$t($a, $b)", false},
    {TILE_MIN, "B", "$a & $b", NULL, false},
    {TILE_MAX, "SUFD", "max_$t($a, $b)", "vmax_$t($a, $b)", false},
    {TILE_MAX, "B", "$a | $b", NULL, false},
    {TILE_MIN_NAN, "FD", NULL, "vmin_nan_$t($a, $b)", false},
    {TILE_MAX_NAN, "FD", NULL, "vmax_nan_$t($a, $b)", false},
    {TILE_AND, "SUB", "$a & $b", NULL, false},
    {TILE_OR, "SUB", "$a | $b", NULL, false},
    {TILE_XOR, "SUB", "$a ^ $b", NULL, false},
    {TILE_NOT, "SU", "~$a", NULL, false},
    {TILE_NOT, "B", "!$a", "~$a", false},
    {TILE_SHL, "SU", "shl_$t($a, $b)", "vshl_$t($a, $b)", false},
    {TILE_SHL, "B", "$a & !$b", "$a & ~$b", false},
    {TILE_SHR, "SU", "shr_$t($a, $b)", "vshr_$t($a, $b)", false},
    {TILE_SHR, "B", "$a & !$b", "$a & ~$b", false},
    {TILE_RCP, "FD", "1 / $a", NULL, true},
    {TILE_SQRT, "FD", "sqrt_$t($a)", "vsqrt_$t($a)", true},
    {TILE_SQRT_RN, "FD", "sqrt_$t($a)", "vsqrt_$t($a)", true},
    {TILE_RSQRT, "FD", "1 / sqrt_$t($a)", "1 / vsqrt_$t($a)", true},
    {TILE_EXP2, "FD", NULL, "vexp2_$t($a)", true},
    {TILE_LOG2, "FD", NULL, "vlog2_$t($a)", true},
    {TILE_SIN, "FD", NULL, "vsin_$t($a)", true},
    {TILE_COS, "FD", NULL, "vcos_$t($a)", true},
    {TILE_TANH, "FD", NULL, "vtanh_$t($a)", true},
    {TILE_FLOOR, "FD", "floor_$t($a)", "vfloor_$t($a)", true},
    {TILE_CEIL, "FD", "ceil_$t($a)", "vceil_$t($a)", true},
    {TILE_TRUNC, "FD", "trunc_$t($a)", "vtrunc_$t($a)", true},
    {TILE_RINT, "FD", "rint_$t($a)", "vrint_$t($a)", true},
    {TILE_POPC, "SU", "popc_$t($a)", "vpopc_$t($a)", false},
    {TILE_POPC, "B", "$a", NULL, false},
    {TILE_CLZ, "SU", "clz_$t($a)", "vclz_$t($a)", false},
    {TILE_CLZ, "B", "!$a", "~$a", false},
    {TILE_BREV, "SU", "brev_$t($a)", "vbrev_$t($a)", false},
    {TILE_BREV, "B", "$a", NULL, false},
    {TILE_LT, "SUFD", "$a < $b", "vlt_$t($a, $b)", false},
    {TILE_LT, "B", "$a < $b", "~$a & $b", false},
    {TILE_LE, "SUFD", "$a <= $b", "vle_$t($a, $b)", false},
    {TILE_LE, "B", "$a <= $b", "~$a | $b", false},
    {TILE_GT, "SUFD", "$a > $b", "vgt_$t($a, $b)", false},
    {TILE_GT, "B", "$a > $b", "$a & ~$b", false},
    {TILE_GE, "SUFD", "$a >= $b", "vge_$t($a, $b)", false},
    {TILE_GE, "B", "$a >= $b", "$a | ~$b", false},
    {TILE_EQ, "SUFD", "$a == $b", "veq_$t($a, $b)", false},
    {TILE_EQ, "B", "$a == $b", "~($a ^ $b)", false},
    {TILE_NE, "SUFD", "$a != $b", "vne_$t($a, $b)", false},
    {TILE_NE, "B", "$a != $b", "$a ^ $b", false},
};
enum { ROWS = sizeof rows / sizeof *rows };

static char class_letter(DType t) {
  switch (dtype_kind(t)) {
    case DK_BOOL: return 'B';
    case DK_INT: return 'S';
    case DK_FLOAT: return t == DT_F64 ? 'D' : 'F';
    default: return 'U';
  }
}

static const Row *op_template_row(TileCode op, DType t) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].op == op && strchr(rows[i].types, class_letter(t))) return &rows[i];
  return NULL;
}

/* ---- templates ---- */

/* $a $b $c: operands; $t: the name of dtype t; $T, $V: its C types; $u: unsigned of its width. */
static const char *c_fill(Gen *g, const char *template, DType t, const char *const operands[3]) {
  Text out = text_new(g->arena);
  for (const char *p = template; *p; p++) {
    if (*p != '$') {
      text_putn(&out, p, 1);
      continue;
    }
    p++;
    if (*p == 't') text_puts(&out, c_compute_name(t));
    else if (*p == 'T') text_puts(&out, c_scalar_type(t));
    else if (*p == 'V') text_puts(&out, c_vector_type(t));
    else text_puts(&out, operands[*p - 'a']);
  }
  return out.data;
}

/* Comparing 32-bit elements gives a mask of the right width at once. */
static const char *direct_compare(TileCode op, DType t) {
  if (op < TILE_LT || op > TILE_NE || dtype_bits(c_is_narrow(t) ? DT_F32 : t) != 32) return NULL;
  return op_template_row(op, t)->scalar;
}

/* A shift by a constant that is less than the width. */
static const char *direct_shift(const NestStmt *s) {
  const Ref *by = &s->srcs[1];
  if (s->op != TILE_SHL && s->op != TILE_SHR) return NULL;
  bool within = by->kind == REF_AFFINE && !by->sub.n && by->sub.c >= 0 &&
                by->sub.c < (int64_t)dtype_bits(s->type) && s->type != DT_I1;
  return !within ? NULL : s->op == TILE_SHL ? "$a << $b" : "$a >> $b";
}

/* A division of a vector by a positive constant: the compiler shifts or multiplies, where the
 * helper divides lane by lane. */
static const char *direct_division(const NestStmt *s) {
  const Ref *by = &s->srcs[1];
  if (s->op != TILE_DIV && s->op != TILE_REM) return NULL;
  int64_t by_what = by->kind == REF_AFFINE && !by->sub.n ? by->sub.c : 0;
  bool constant = by_what > 0 && by_what <= INT32_MAX;
  if (!constant || !dtype_is_int(s->type) || dtype_bits(s->type) != 32) return NULL;
  return s->op == TILE_DIV ? "$a / $b" : "$a % $b";
}

/* A limit that is a number other than 0 takes one instruction, which gives its second operand where
 * one is NaN; so does +0 for a maximum, up to the sign of a result that may be -0. */
static const char *direct_limit(const NestStmt *s) {
  const Ref *by = &s->srcs[1];
  bool most = s->op == TILE_MAX || s->op == TILE_MAX_NAN;
  if (!most && s->op != TILE_MIN && s->op != TILE_MIN_NAN) return NULL;
  if (s->type != DT_F32 || by->kind != REF_FLOAT || by->f != by->f) return NULL;
  bool zero = by->f == 0, nan = s->op == TILE_MAX_NAN || s->op == TILE_MIN_NAN;
  if (zero && (!most || signbit(by->f))) return NULL;
  if (zero && nan) return "vhigher_f32($b, $a) + 0.0f";
  if (most) return nan ? "vhigher_f32($b, $a)" : "vhigher_f32($a, $b)";
  return nan ? "vlower_f32($b, $a)" : "vlower_f32($a, $b)";
}

static const char *template_of(const NestStmt *s, const Row *r, bool vector) {
  const char *direct = direct_shift(s);
  if (direct) return direct;
  if (!vector) return r->scalar;
  direct = direct_limit(s);
  if (direct) return direct;
  direct = direct_compare(s->op, s->type);
  if (!direct) direct = direct_division(s);
  return direct ? direct : r->vector ? r->vector : r->scalar;
}

/* A vector, or a scalar that an operator on vectors takes as well: the compiler splats it, if its
 * type is that of the elements.  Constants of small types are `int` without a cast. */
static const char *splat_operand(Gen *g, const Ref *r, DType t) {
  if (!c_uniform(c_ref_spread(g, r)) || t == DT_I1 || t == DT_PTR) return c_vector(g, r, t);
  const char *text = c_scalar(g, r, t);
  bool cast = r->kind == REF_AFFINE && dtype_bits(t) != 32;
  return cast ? c_text(g, "(%s)%s", c_scalar_type(t), text) : text;
}

static const char *vector_op(Gen *g, const NestStmt *s, const Row *r) {
  const char *template = template_of(s, r, true), *x[3] = {"", "", ""};
  bool infix = !strchr(template, '(');
  for (uint32_t i = 0; i < s->nsrcs; i++)
    x[i] = infix ? splat_operand(g, &s->srcs[i], s->type) : c_vector(g, &s->srcs[i], s->type);
  const char *text = c_fill(g, template, s->type, x);
  if (r->rounds && c_is_narrow(s->type))
    text = c_text(g, "vround_%s(%s)", dtype_name(s->type), text);
  return text;
}

/* Lane 0 of the vector form. */
static const char *from_vector(Gen *g, const NestStmt *s, const Row *r) {
  const char *x[3] = {"", "", ""};
  for (uint32_t i = 0; i < s->nsrcs; i++)
    x[i] = c_text(g, "vsplat_%s(%s)", c_compute_name(s->type), c_scalar(g, &s->srcs[i], s->type));
  return c_text(g, "(%s)[0]", c_fill(g, r->vector, s->type, x));
}

static const char *scalar_op_text(Gen *g, const NestStmt *s, const Row *r) {
  const char *template = template_of(s, r, false), *x[3] = {"", "", ""}, *text;
  for (uint32_t i = 0; i < s->nsrcs; i++) x[i] = c_scalar(g, &s->srcs[i], s->type);
  text = template ? c_fill(g, template, s->type, x) : from_vector(g, s, r);
  if (r->rounds && c_is_narrow(s->type))
    text = c_text(g, "round_%s(%s)", dtype_name(s->type), text);
  return text;
}

/* ---- special ops ---- */

static const char *as_count(Gen *g, const Ref *r) {
  static const Spread count = {.kind = SPREAD_FIRST};
  const char *text = c_convert(g, c_scalar(g, r, DT_I1), DT_I1, c_ref_spread(g, r), count);
  return c_uniform(c_ref_spread(g, r)) ? c_text(g, "(%s)", text) : text;
}

/* The number of lanes in which an i1 holds, see spread.c. */
static const char *count_op(Gen *g, const NestStmt *s) {
  const char *a, *b;
  if (s->op == TILE_AND || s->op == TILE_OR) {
    a = as_count(g, &s->srcs[0]), b = as_count(g, &s->srcs[1]);
    return c_text(g, "%s_i32(%s, %s)", s->op == TILE_AND ? "min" : "max", a, b);
  }
  if (s->op == TILE_EQ) return "1";
  bool up = s->op == TILE_LT || s->op == TILE_LE;
  a = c_scalar(g, &s->srcs[up ? 0 : 1], s->type);
  b = c_scalar(g, &s->srcs[up ? 1 : 0], s->type);
  bool with = s->op == TILE_LE || s->op == TILE_GE;
  return c_text(g, "lanes_below%s(%s, %s)", with ? "_or_at" : "", a, b);
}

static bool same_variable(const Ref *a, const Ref *b) {
  bool variables = a->kind == REF_VAR && b->kind == REF_VAR;
  return variables && a->var == b->var && affine_eq(&a->sub, &b->sub);
}

/* Does the statement choose the larger of two numbers, by the comparison before it?  One
 * instruction gives its second operand, too, where they are equal or one is no number. */
static bool is_larger(const NestStmt *s) {
  const NestStmt *is = s->prev;
  return s->type == DT_F32 && is && is->code == NEST_OP && is->op == TILE_GT &&
         is->type == DT_F32 && !is->guard.kind && same_variable(&s->srcs[0], &is->dsts[0]) &&
         same_variable(&s->srcs[1], &is->srcs[0]) && same_variable(&s->srcs[2], &is->srcs[1]);
}

static const char *c_select(Gen *g, const NestStmt *s, Spread to) {
  if (to.kind != SPREAD_VECTOR || c_uniform(c_ref_spread(g, &s->srcs[0]))) {
    const char *x[2];
    for (int i = 0; i < 2; i++) {
      const Ref *r = &s->srcs[i + 1];
      x[i] = c_convert(g, c_scalar(g, r, s->type), s->type, c_ref_spread(g, r), to);
    }
    return c_text(g, "%s ? %s : %s", c_scalar(g, &s->srcs[0], DT_I1), x[0], x[1]);
  }
  if (is_larger(s))
    return c_text(g, "vhigher_f32(%s, %s)", c_vector(g, &s->srcs[1], s->type),
                  c_vector(g, &s->srcs[2], s->type));
  const char *name = s->type == DT_I1 ? "i32" : c_compute_name(s->type);
  return c_text(g, "vselect_%s(%s, %s, %s)", name, c_vector(g, &s->srcs[0], DT_I1),
                c_vector(g, &s->srcs[1], s->type), c_vector(g, &s->srcs[2], s->type));
}

/* Offsets of other integer types are widened first. */
static const char *pointer_op(Gen *g, const NestStmt *s, bool vector) {
  const Ref *by = &s->srcs[1];
  DType t = by->kind == REF_VAR ? by->var->dtype : DT_I64;
  long long size = dtype_bytes(s->elem) ? dtype_bytes(s->elem) : 1;
  if (!vector) {
    const char *p = c_scalar(g, &s->srcs[0], DT_PTR), *n = c_scalar(g, by, t);
    if (size == 1) return c_text(g, "%s + %s", p, n);
    return c_text(g, "%s + %lld%s * %s", p, size, dtype_bits(t) < 64 ? "ll" : "", n);
  }
  const char *p = c_vector(g, &s->srcs[0], DT_PTR), *n = c_vector(g, by, t);
  if (t == DT_I1) n = c_text(g, "(%s & 1)", n);
  n = to_vector(g, n, t == DT_I1 ? DT_I32 : t, DT_U64);
  return size == 1 ? c_text(g, "%s + %s", p, n) : c_text(g, "%s + %s * %lld", p, n, size);
}

static const char *undefined(Gen *g, const NestStmt *s) {
  (void)g;
  return s->type == DT_PTR ? "NULL" : "0";
}

const char *c_op(Gen *g, const NestStmt *s) {
  Spread to = c_stmt_spread(g, s);
  bool vector = to.kind == SPREAD_VECTOR;
  switch (s->op) {
    case TILE_UNDEF: return undefined(g, s);
    case TILE_HINT:
      return vector ? c_vector(g, &s->srcs[0], s->type) : c_scalar(g, &s->srcs[0], s->type);
    case TILE_SELECT: return c_select(g, s, to);
    case TILE_PTR_ADD: return pointer_op(g, s, vector);
    case TILE_CAST: return c_cast(g, s, vector);
    case TILE_BITCAST: return c_bitcast(g, s, vector);
    default: break;
  }
  if (to.kind == SPREAD_FIRST) return count_op(g, s);
  const Row *r = op_template_row(s->op, s->type);
  BUG_IF(!r, "no C for %s on %s", tile_op_name(s->op), dtype_name(s->type));
  return vector ? vector_op(g, s, r) : scalar_op_text(g, s, r);
}
