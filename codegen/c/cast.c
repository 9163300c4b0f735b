/* Conversions between dtypes. */
#include "codegen/c/c.h"

/* Rounds text, a float or a double, to a narrow float type. */
static const char *to_narrow(Gen *g, const char *text, DType from, DType to, bool rtz,
                             const char *v) {
  const char *name = dtype_name(to);
  if (from == DT_F64) text = c_text(g, rtz ? "%schop_f32(%s)" : "%sodd_f32(%s)", v, text);
  return c_text(g, rtz ? "%schop_%s(%s)" : "%sround_%s(%s)", v, name, text);
}

static const char *float_to_float(Gen *g, const char *x, const NestStmt *s, const char *v) {
  DType from = s->type, to = s->to;
  if (c_is_narrow(to)) return from == to ? x : to_narrow(g, x, from, to, s->rtz, v);
  if (to == DT_F64 && from != DT_F64) return c_text(g, *v ? "vto_f64(%s)" : "(double)%s", x);
  if (to == from || from != DT_F64) return x;
  if (s->rtz) return c_text(g, "%schop_f32(%s)", v, x);
  return c_text(g, *v ? "vto_f32(%s)" : "(float)%s", x);
}

/* From 32 and more bits, f32 loses bits that decide how bf16 is rounded. */
static const char *int_to_float(Gen *g, const char *x, const NestStmt *s, const char *v) {
  DType to = s->to;
  if (to == DT_F64) return c_text(g, *v ? "vto_f64(%s)" : "(double)%s", x);
  if (to == DT_BF16 && dtype_bits(s->type) >= 32)
    return c_text(g, "%sround_bf16(%sodd_f32_%s(%s))", v, v, dtype_name(s->type), x);
  x = c_text(g, *v ? "vto_f32(%s)" : "(float)%s", x);
  return c_is_narrow(to) ? c_text(g, "%sround_%s(%s)", v, dtype_name(to), x) : x;
}

static const char *scalar_cast(Gen *g, const NestStmt *s, const char *x) {
  bool from_float = dtype_is_float(s->type), to_float = dtype_is_float(s->to);
  if (s->to == DT_I1) return c_text(g, "%s != 0", x);
  if (to_float) return from_float ? float_to_float(g, x, s, "") : int_to_float(g, x, s, "");
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
                           : c_text(g, "vto_%s(%s & 1)", c_compute_name(s->to), x);
  if (to_float) return from_float ? float_to_float(g, x, s, "v") : int_to_float(g, x, s, "v");
  if (from_float)
    return c_text(g, "vtruncate_%s_%s(%s)", dtype_name(s->to), c_compute_name(s->type), x);
  return c_text(g, "vto_%s(%s)", dtype_name(s->to), x);
}

const char *c_cast(Gen *g, const NestStmt *s, bool vector) {
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

const char *c_bitcast(Gen *g, const NestStmt *s, bool vector) {
  const char *x = vector ? c_vector(g, &s->srcs[0], s->type) : c_scalar(g, &s->srcs[0], s->type);
  if (s->type == s->to) return x;
  return vector ? vector_bits(g, x, s->type, s->to) : scalar_bits(g, x, s->type, s->to);
}
