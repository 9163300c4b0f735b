/* dot: a[.., M, K] x b[.., K, N] + c[.., M, N].
 *
 * For each element k ascends from c.  Products are exact and each sum is rounded once, to f32 (to
 * f64 for f64 operands; integers wrap in c's dtype); a narrower c is rounded at the end.
 *   tf32, or left out       f32 operands are cut to 10 bits of mantissa, as matrix units do
 *   tf32_rounded            they are rounded to them, ties away from zero
 *   ieee, tf32x3, bf16x3/x6  f32 operands as they are: the split forms approximate this
 *   bytes                   i32 operands are four signed bytes an element
 * Products of operands up to 12 bits wide are exact in f32, so only ieee needs an fma. */
#include <math.h>
#include <string.h>

#include "lang/interp/interp_run.h"

typedef struct {
  uint32_t batch, m, n, k;
} Extents;

static Extents extents_of(const Inst *in) {
  Type a = in->op->args[0]->type, r = interp_type(in, 0);
  Extents e = {1, 1, 1, (uint32_t)a.shape[a.rank - 1]};
  e.m = (uint32_t)r.shape[r.rank - 2];
  e.n = (uint32_t)r.shape[r.rank - 1];
  for (int i = 0; i + 2 < r.rank; i++) e.batch *= (uint32_t)r.shape[i];
  return e;
}

static float *floats(Prog *p, const Val *v, Tf32 how) {
  float *x = interp_alloc(p->run, v->n * sizeof *x);
  for (uint32_t i = 0; i < v->n; i++) x[i] = (float)v->x[i].f;
  for (uint32_t i = 0; i < v->n && how; i++) x[i] = scalar_tf32(how, x[i]);
  return x;
}

/* Adds one row of the result: acc[n] += a[k] * b[k][n]. */
static void row_exact(Extents e, float *acc, const float *a, const float *b) {
  for (uint32_t k = 0; k < e.k; k++, b += e.n)
    for (uint32_t n = 0; n < e.n; n++) acc[n] += a[k] * b[n];
}

static inline __attribute__((always_inline)) void fma_loop(Extents e, float *acc, const float *a,
                                                           const float *b) {
  for (uint32_t k = 0; k < e.k; k++, b += e.n)
    for (uint32_t n = 0; n < e.n; n++) acc[n] = fmaf(a[k], b[n], acc[n]);
}

/* fmaf is an instruction where the processor has it, and else a function. */
#if defined(__x86_64__)
__attribute__((target("fma"))) static void row_fma_instruction(Extents e, float *acc,
                                                               const float *a, const float *b) {
  fma_loop(e, acc, a, b);
}

static void row_fma(Extents e, float *acc, const float *a, const float *b) {
  if (__builtin_cpu_supports("fma")) row_fma_instruction(e, acc, a, b);
  else fma_loop(e, acc, a, b);
}
#else
static void row_fma(Extents e, float *acc, const float *a, const float *b) {
  fma_loop(e, acc, a, b);
}
#endif

static void dot_f32(Prog *p, const Inst *in, Extents e, Val *r) {
  const Val *a = interp_arg(p, in, 0), *b = interp_arg(p, in, 1);
  bool wide = in->op->args[0]->type.dtype == DT_F32;
  Tf32 how = tile_dot_tf32(in->op);
  float *x = floats(p, a, how), *y = floats(p, b, how);
  float *acc = interp_alloc(p->run, e.n * sizeof *acc);
  for (uint32_t row = 0; row < e.batch * e.m; row++) {
    Scalar *out = r->x + (size_t)row * e.n;
    const float *ax = x + (size_t)row * e.k, *by = y + (size_t)(row / e.m) * e.k * e.n;
    for (uint32_t n = 0; n < e.n; n++) acc[n] = (float)out[n].f;
    if (wide && !how) row_fma(e, acc, ax, by);
    else row_exact(e, acc, ax, by);
    for (uint32_t n = 0; n < e.n; n++) out[n].f = acc[n];
  }
  interp_drop(p->run, x);
  interp_drop(p->run, y);
  interp_drop(p->run, acc);
  DType t = (DType)interp_type(in, 0).dtype;
  if (t != DT_F32)
    for (uint32_t i = 0; i < r->n; i++) r->x[i].f = scalar_round(t, r->x[i].f);
}

static void dot_f64(Prog *p, const Inst *in, Extents e, Val *r) {
  const Scalar *a = interp_arg(p, in, 0)->x, *b = interp_arg(p, in, 1)->x;
  for (uint32_t row = 0; row < e.batch * e.m; row++) {
    Scalar *out = r->x + (size_t)row * e.n;
    const Scalar *ax = a + (size_t)row * e.k, *by = b + (size_t)(row / e.m) * e.k * e.n;
    for (uint32_t k = 0; k < e.k; k++, by += e.n)
      for (uint32_t n = 0; n < e.n; n++) out[n].f = fma(ax[k].f, by[n].f, out[n].f);
  }
}

static void dot_int(Prog *p, const Inst *in, Extents e, Val *r) {
  const Scalar *a = interp_arg(p, in, 0)->x, *b = interp_arg(p, in, 1)->x;
  DType t = (DType)interp_type(in, 0).dtype;
  for (uint32_t row = 0; row < e.batch * e.m; row++) {
    Scalar *out = r->x + (size_t)row * e.n;
    const Scalar *ax = a + (size_t)row * e.k, *by = b + (size_t)(row / e.m) * e.k * e.n;
    for (uint32_t k = 0; k < e.k; k++, by += e.n)
      for (uint32_t n = 0; n < e.n; n++)
        out[n].i = (int64_t)((uint64_t)out[n].i + (uint64_t)ax[k].i * (uint64_t)by[n].i);
  }
  scalar_ops(TILE_CAST, DT_I64, t, false, r->n, r->x, r->x, NULL, NULL);
}

static void dot_words(Prog *p, const Inst *in, Extents e, Val *r) {
  TileCode each = tile_dot_of_words(tile_str(in->op, TA_precision, ""));
  const Scalar *a = interp_arg(p, in, 0)->x, *b = interp_arg(p, in, 1)->x;
  for (uint32_t row = 0; row < e.batch * e.m; row++) {
    Scalar *out = r->x + (size_t)row * e.n;
    const Scalar *ax = a + (size_t)row * e.k, *by = b + (size_t)(row / e.m) * e.k * e.n;
    for (uint32_t k = 0; k < e.k; k++, by += e.n)
      for (uint32_t n = 0; n < e.n; n++)
        out[n] = scalar_op(each, DT_I32, DT_I32, (Scalar[]){ax[k], by[n], out[n]}, false);
  }
}

/* An undefined element spoils its row or column. */
static void dot_flags(Prog *p, const Inst *in, Extents e, Val *r) {
  const Val *v[3] = {interp_arg(p, in, 0), interp_arg(p, in, 1), interp_arg(p, in, 2)};
  if (!v[0]->flags && !v[1]->flags && !v[2]->flags) return;
  uint8_t *flags = interp_flags(p->run, r);
  for (uint32_t i = 0; i < r->n; i++) {
    uint32_t row = i / e.n, col = i % e.n, batch = row / e.m;
    uint8_t f = interp_flag(v[2], i);
    for (uint32_t k = 0; k < e.k; k++)
      f |= interp_flag(v[0], row * e.k + k) | interp_flag(v[1], (batch * e.k + k) * e.n + col);
    flags[i] = f & FLAG_UNDEF;
  }
  for (uint32_t k = 0; k < 3; k++) interp_blame(r, v[k]);
}

void interp_dot(Prog *p, const Inst *in) {
  Extents e = extents_of(in);
  const Val *c = interp_arg(p, in, 2);
  Val *r = interp_result(p, in, 0, c->n);
  memcpy(r->x, c->x, c->n * sizeof *c->x);
  DType t = (DType)interp_type(in, 0).dtype;
  if (tile_dots_words(in->op)) dot_words(p, in, e, r);
  else if (!dtype_is_float(t)) dot_int(p, in, e, r);
  else if (t == DT_F64) dot_f64(p, in, e, r);
  else dot_f32(p, in, e, r);
  dot_flags(p, in, e, r);
}
