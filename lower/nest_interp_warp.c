/* Instructions of the lanes of a warp together. */
#include <math.h>
#include <string.h>

#include "lower/nest_interp_run.h"

/* ---- shuffles ---- */

typedef enum { SHFL_XOR, SHFL_UP, SHFL_DOWN, SHFL_IDX } ShflMode;

static ShflMode mode_of(const Inst *in) {
  static const char *const names[] = {"xor", "up", "down", "idx"};
  Name mode = nest_str(in->stmt, NA_mode, "");
  int m = 0;
  while (m < SHFL_IDX && strcmp(mode, names[m])) m++;
  return (ShflMode)m;
}

/* The lane that a lane reads; outside of the warp, its own. */
static uint32_t shfl_source(const Inst *in, ShflMode mode, uint32_t lane, uint32_t lanes,
                            const Vec *index) {
  int64_t from = lane;
  if (mode == SHFL_XOR) from = lane ^ in->a;
  else if (mode == SHFL_UP) from = (int64_t)lane - in->a;
  else if (mode == SHFL_DOWN) from = lane + in->a;
  else return (uint32_t)index->x[lane].i & (lanes - 1);
  return from >= 0 && from < (int64_t)lanes ? (uint32_t)from : lane;
}

void nest_exec_shfl(Warp *w, const Inst *in) {
  Run *r = w->prog->run;
  ShflMode mode = mode_of(in);
  uint32_t lanes = guard_lanes(w, in), bad = 0;
  if (!lanes) return;
  Vec v = operand_vec(w, &in->srcs[0], 0, 0), index = {0};
  if (mode == SHFL_IDX) index = operand_vec(w, &in->srcs[1], 0, 1);
  for (uint32_t i = 0; i < r->lanes; i++) {
    uint32_t from = shfl_source(in, mode, i, r->lanes, &index);
    r->scratch[3][i] = v.x[from];
    bad |= (v.bad >> from & 1) << i;
  }
  set_reg(w, in, 0, r->scratch[3], lanes, bad | index.bad, v.bad ? v.why : index.why);
}

/* ---- mma ---- */

/* The largest operand, A of m16n8k32, and the registers a lane has of it. */
enum { MOST_ELEMENTS = 512, MOST_FRAGMENT = 16 };

typedef struct {
  Scalar x[MOST_ELEMENTS];
  bool bad[MOST_ELEMENTS];
} Matrix;

static float upper_19_bits(double v) {
  float f = (float)v;
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  u &= ~UINT32_C(0x1fff);
  memcpy(&f, &u, sizeof f);
  return f;
}

/* The operand in row-major order. */
static void gather(Warp *w, const Inst *in, int which, int count, Matrix *m) {
  const Fragment *f = &in->fragments[which];
  uint32_t first = operand_reg(w, &in->srcs[which]);
  bool tf32 = in->atom->tf32 && which < 2;
  for (int i = 0; i < count; i++) {
    uint32_t reg = first + f->reg[i];
    m->x[i] = reg_lanes(w, reg)[f->lane[i]];
    m->bad[i] = w->bad[reg] >> f->lane[i] & 1;
    if (tf32) m->x[i].f = upper_19_bits(m->x[i].f);
  }
}

/* One element of the result: k ascends, each sum is rounded to f32 (f64, i32). */
static Scalar dot(const Atom *atom, const Scalar *a, const Scalar *b, Scalar c) {
  DType t = atom->c;
  int n = atom->n;
  if (t == DT_I32) {
    uint64_t sum = (uint64_t)c.i;
    for (int k = 0; k < atom->k; k++) sum += (uint64_t)(a[k].i * b[k * n].i);
    return (Scalar){.i = (int32_t)(uint32_t)sum};
  }
  double sum = c.f;
  for (int k = 0; k < atom->k; k++) {
    if (t == DT_F64) sum = fma(a[k].f, b[k * n].f, sum);
    else sum = (float)sum + (float)a[k].f * (float)b[k * n].f;
  }
  return (Scalar){.f = scalar_round(t, sum)};
}

static void multiply(const Atom *atom, const Matrix *a, const Matrix *b, Matrix *c) {
  for (int i = 0; i < atom->m; i++)
    for (int j = 0; j < atom->n; j++) {
      int at = i * atom->n + j;
      c->x[at] = dot(atom, a->x + i * atom->k, b->x + j, c->x[at]);
      for (int k = 0; k < atom->k; k++)
        c->bad[at] |= a->bad[i * atom->k + k] | b->bad[k * atom->n + j];
    }
}

/* What made an operand poison. */
static const Inst *poisoner(Warp *w, const Inst *in) {
  for (int which = 0; which < 3; which++) {
    uint32_t first = operand_reg(w, &in->srcs[which]);
    for (uint32_t k = 0; k < MOST_FRAGMENT && first + k < w->prog->run->registers; k++)
      if (w->bad[first + k]) return w->why[first + k];
  }
  return NULL;
}

void nest_exec_mma(Warp *w, const Inst *in) {
  const Atom *atom = in->atom;
  const Fragment *f = &in->fragments[2];
  uint32_t lanes = guard_lanes(w, in), bad[MOST_FRAGMENT] = {0}, count = 0;
  static const Matrix none;
  Matrix a = none, b = none, c = none;
  Scalar out[MOST_FRAGMENT][MOST_LANES];
  if (!lanes) return;
  gather(w, in, 0, atom->m * atom->k, &a);
  gather(w, in, 1, atom->k * atom->n, &b);
  gather(w, in, 2, atom->m * atom->n, &c);
  multiply(atom, &a, &b, &c);
  bool any = false;
  for (int i = 0; i < atom->m * atom->n; i++) {
    out[f->reg[i]][f->lane[i]] = c.x[i];
    bad[f->reg[i]] |= (uint32_t)c.bad[i] << f->lane[i];
    any |= c.bad[i];
    if (f->reg[i] >= count) count = f->reg[i] + 1u;
  }
  const Inst *why = any ? poisoner(w, in) : NULL;
  for (uint32_t k = 0; k < count; k++) set_reg(w, in, k, out[k], lanes, bad[k], why);
}
