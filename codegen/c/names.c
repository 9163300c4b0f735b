/* C names, constants and operands. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/c/c.h"
#include "lang/interp/interp.h"

const char *c_text(Gen *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *s = arena_vprintf(g->arena, fmt, ap);
  va_end(ap);
  return s;
}

/* ---- names ---- */

static bool reserve_name(Gen *g, const char *name) {
  return ir_map_put(&g->taken, pool_name(g->nest->names, name), g);
}

/* The names of the unit's functions: the entry's with each suffix of C_FUNCTIONS. */
static void name_functions(Gen *g) {
  static const char *const others[] = {C_FUNCTIONS};
  g->entry = c_function_name(g->arena, g->nest->name);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    reserve_name(g, c_text(g, "%s%s", g->entry, others[i]));
}

void c_name_all(Gen *g) {
  const Nest *n = g->nest;
  g->taken = ir_map_new(g->arena);
  g->first_free = ir_map_new(g->arena);
  g->names = ARENA_ARRAY(g->arena, const char *, n->nvars);
  g->indices = ARENA_ARRAY(g->arena, const char *, n->nindices + 1); /* and one of the printer */
  name_functions(g);
  for (uint32_t i = 0; i < n->nvars; i++) {
    const char *name = c_identifier(g->arena, n->vars[i]->name), *unique = name;
    for (int k = 2; !reserve_name(g, unique); k++) unique = c_text(g, "%s_%d", name, k);
    g->names[i] = unique;
  }
}

static const char *numbered_name(Gen *g, const char *name, int k) {
  return k < 2 ? name : c_text(g, "%s_%d", name, k);
}

/* The least number, from 1 on, with which no variable has the name: found once for each name. */
static int first_free(Gen *g, const char *name) {
  int *first = ir_map_get(&g->first_free, name);
  if (first) return *first;
  first = ARENA_NEW(g->arena, int);
  *first = 1;
  while (ir_map_get(&g->taken, pool_name(g->nest->names, numbered_name(g, name, *first)))) ++*first;
  ir_map_put(&g->first_free, name, first);
  return *first;
}

static bool is_used_name(const Gen *g, const char *name) {
  if (ir_map_get(&g->taken, pool_name(g->nest->names, name))) return true;
  for (size_t i = 0; i < g->open.len; i++)
    if (!strcmp(g->open.data[i], name)) return true;
  return false;
}

const char *c_open_name(Gen *g, const char *name) {
  const char *unique;
  name = pool_name(g->nest->names, name);
  int k = first_free(g, name);
  do unique = numbered_name(g, name, k++);
  while (is_used_name(g, unique));
  vec_push(g->arena, &g->open, unique);
  return unique;
}

void c_close_names(Gen *g, size_t n) { g->open.len -= n; }

const char *c_open_index(Gen *g, const NestIndex *index) {
  return g->indices[index->id] = c_open_name(g, c_identifier(g->arena, index->name));
}

void c_close_index(Gen *g, const NestIndex *index) {
  g->indices[index->id] = NULL;
  c_close_names(g, 1);
}

/* ---- constants ---- */

/* `int` holds all values of the form, else it is computed in 64 bits. */
static bool is_small(const Affine *a) {
  double most = fabs((double)a->c);
  for (int i = 0; i < a->n; i++) most += fabs((double)a->t[i].coef) * a->t[i].index->extent;
  return most < 2147483647.0;
}

/* C has no literal of the least integer. */
static const char *int_literal(Gen *g, int64_t v, const char *wide) {
  if (v == INT64_MIN) return "(-9223372036854775807ll - 1)";
  return c_text(g, "%lld%s", (long long)v, wide);
}

/* The sign before a term, whose value *v is then made positive where that can be. */
static const char *take_sign(int64_t *v, bool first) {
  bool minus = *v < 0 && *v != INT64_MIN;
  if (minus) *v = -*v;
  if (first) return minus ? "-" : "";
  return minus ? " - " : " + ";
}

const char *c_affine(Gen *g, const Affine *a) {
  Text t = text_new(g->arena);
  const char *wide = is_small(a) ? "" : "ll";
  for (int i = 0; i < a->n; i++) {
    int64_t k = a->t[i].coef;
    const char *name = g->indices[a->t[i].index->id], *sign = take_sign(&k, !i);
    if (k == 1 && !*wide) text_printf(&t, "%s%s", sign, name);
    else text_printf(&t, "%s%s*%s", sign, int_literal(g, k, wide), name);
  }
  int64_t c = a->c;
  if (!a->n) return int_literal(g, c, wide);
  const char *sign = take_sign(&c, false);
  if (c) text_printf(&t, "%s%s", sign, int_literal(g, c, wide));
  return t.data;
}

static const char *c_int(Gen *g, DType t, int64_t v) {
  if (t == DT_I1) return v & 1 ? "1" : "0";
  if (t == DT_PTR) return c_text(g, "(char *)%lld", (long long)v);
  Scalar x = {.i = v};
  v = scalar_op(TILE_CAST, DT_I64, t, &x, false).i;
  if (t == DT_I64 && v == INT64_MIN) return "(-9223372036854775807 - 1)";
  if (t == DT_I32 && v == INT32_MIN) return "(-2147483647 - 1)";
  const char *wide = dtype_bits(t) == 64 ? "ll" : ""; /* C computes in the literals' type */
  if (!dtype_is_signed(t) && dtype_bits(t) >= 32)
    return c_text(g, "%lluu%s", (unsigned long long)v, wide);
  return c_text(g, v < 0 ? "(%lld%s)" : "%lld%s", (long long)v, wide);
}

static const char *float_text(Gen *g, DType t, double v) {
  bool wide = t == DT_F64;
  v = scalar_round(t, v);
  if (isnan(v)) return wide ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
  if (isinf(v))
    return v < 0  ? wide ? "(-__builtin_inf())" : "(-__builtin_inff())"
           : wide ? "__builtin_inf()"
                  : "__builtin_inff()";
  Text out = text_new(g->arena);
  ir_print_float(&out, v, !wide);
  if (!wide) text_puts(&out, "f");
  return signbit(v) ? c_text(g, "(%s)", out.data) : out.data;
}

/* ---- operands ---- */

const char *c_ref_name(Gen *g, const Ref *r) {
  const char *name = g->names[r->var->id];
  const NestStmt *cast = g->renamed[r->var->id];
  if (cast)
    return c_text(g, "((%s)%s[%s])", c_vector_type(cast->to), g->names[cast->srcs[0].var->id],
                  c_affine(g, &r->sub));
  return r->var->count == 1 ? name : c_text(g, "%s[%s]", name, c_affine(g, &r->sub));
}

static const char *affine_value(Gen *g, const Affine *a, DType t) {
  if (!a->n) return c_int(g, t, a->c);
  const char *sum = c_affine(g, a);
  bool plain = t == DT_I32 && is_small(a);
  return plain ? c_text(g, "(%s)", sum) : c_text(g, "(%s)(%s)", c_scalar_type(t), sum);
}

const char *c_scalar(Gen *g, const Ref *r, DType t) {
  switch (r->kind) {
    case REF_VAR: return c_ref_name(g, r);
    case REF_AFFINE: return affine_value(g, &r->sub, t);
    case REF_FLOAT: return float_text(g, t, r->f);
    default: return "0";
  }
}

const char *c_convert(Gen *g, const char *text, DType t, Spread from, Spread to) {
  if (to.kind == SPREAD_FIRST && c_uniform(from)) return c_text(g, "(%s) ? LANES : 0", text);
  if (to.kind != SPREAD_VECTOR || from.kind == SPREAD_VECTOR) return text;
  if (from.kind == SPREAD_FIRST) return c_text(g, "vfirst(%s)", text);
  if (t == DT_I1) return c_text(g, "vsplat_i32(-(%s))", text);
  if (t == DT_PTR) text = c_text(g, "(uint64_t)(%s)", text);
  if (!from.step) return c_text(g, "vsplat_%s(%s)", c_compute_name(t), text);
  return c_text(g, "vramp_%s(%s, %lld)", c_compute_name(t), text, (long long)from.step);
}

const char *c_vector(Gen *g, const Ref *r, DType t) {
  static const Spread vector = {.kind = SPREAD_VECTOR};
  return c_convert(g, c_scalar(g, r, t), t, c_ref_spread(g, r), vector);
}

const char *c_address(Gen *g, const Mem *m, bool lanes) {
  Affine bytes = m->bytes;
  const char *at = "shared";
  if (m->buffer) {
    if (m->base.kind && !lanes) at = c_text(g, "shared + %s", c_scalar(g, &m->base, DT_I32));
    if (lanes) at = c_text(g, "(uint64_t)shared + vto_u64(%s)", c_vector(g, &m->base, DT_I32));
    bytes.c += m->buffer->offset > 0 ? m->buffer->offset : 0;
  } else {
    at = lanes ? c_vector(g, &m->base, DT_PTR) : c_scalar(g, &m->base, DT_PTR);
  }
  if (!bytes.c && !bytes.n) return at;
  const char *more = c_affine(g, &bytes);
  if (lanes) return c_text(g, "%s + (uint64_t)(%s)", at, more);
  return *more == '-' ? c_text(g, "%s - %s", at, more + 1) : c_text(g, "%s + %s", at, more);
}
