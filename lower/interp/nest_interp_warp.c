/* Instructions of the lanes of a warp together. */
#include <math.h>
#include <string.h>

#include "lower/interp/nest_interp_run.h"
#include "lower/messages.h"
#include "lower/target/wgmma_layout.h"

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

/* The operand in row-major order, its fragment in registers from `first` on. */
static void gather_fragment(Warp *w, const Inst *in, int which, uint32_t first,
                            const uint32_t *poison, int count, Matrix *m) {
  const Fragment *f = &in->fragments[which];
  Tf32 tf32 = which < 2 ? in->atom->tf32 : TF32_NONE;
  for (int i = 0; i < count; i++) {
    uint32_t reg = first + f->reg[i];
    m->x[i] = reg_lanes(w, reg)[f->lane[i]];
    m->bad[i] = poison[reg] >> f->lane[i] & 1;
    if (tf32) m->x[i].f = scalar_tf32(tf32, (float)m->x[i].f);
  }
}

/* Computes one element of the result: k ascends, each sum is rounded to f32 (f64, i32). */
static Scalar dot_element(const Atom *atom, const Scalar *a, const Scalar *b, Scalar c) {
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

static void multiply_matrices(const Atom *atom, int rows, const Matrix *a, const Matrix *b,
                              Matrix *c) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < atom->n; j++) {
      int at = i * atom->n + j;
      c->x[at] = dot_element(atom, a->x + i * atom->k, b->x + j, c->x[at]);
      for (int k = 0; k < atom->k; k++)
        c->bad[at] |= a->bad[i * atom->k + k] | b->bad[k * atom->n + j];
    }
}

/* The reason that an operand is poison. */
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
  gather_fragment(w, in, 0, operand_reg(w, &in->srcs[0]), w->bad, atom->m * atom->k, &a);
  gather_fragment(w, in, 1, operand_reg(w, &in->srcs[1]), w->bad, atom->k * atom->n, &b);
  gather_fragment(w, in, 2, operand_reg(w, &in->srcs[2]), w->bad, atom->m * atom->n, &c);
  multiply_matrices(atom, atom->m, &a, &b, &c);
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

/* ---- a warpgroup's ----
 *
 * A warp computes its 16 rows when the group is waited for: so late its operands are read, though
 * they might as well be read at once.  Until then the result's registers are poison; what they held
 * of it before is kept in Warp.held. */

enum { WARP_ROWS = 16, BLOCK_COLUMNS = 8, CHUNK = 16 };

/* The swizzled offset of an element; `at` is the unswizzled offset of the operand's part. */
static int64_t element_offset(const WgmmaOperand *x, const Spot *p, int64_t at, int row, int col) {
  const Layout *l = &x->layout;
  int64_t off = at + wgmma_offset(x, row, col);
  int64_t bits = off >> l->xor_shift & (((INT64_C(1) << l->xor_bits) - 1) << l->xor_base);
  return p->offset + (off ^ bits);
}

/* A block of an operand in shared memory. */
typedef struct {
  int row, column, rows, columns;
} Block;

/* Every chunk of 16 bytes counts as read by all lanes; false, and reported, outside the buffer. */
static bool touch_chunks(Warp *w, const Inst *in, int which, int64_t at, Block b) {
  const Spot *p = &in->mems[which];
  WgmmaOperand x = wgmma_operand(in->stmt, which);
  for (int i = 0; i < b.rows; i++)
    for (int j = 0; j < b.columns; j++) {
      int64_t offset = element_offset(&x, p, at, b.row + i, b.column + j);
      if (offset % CHUNK) continue;
      if (!nest_shared_ok(w, in, p, offset, CHUNK)) return false;
      race_shared(w, in, p, RACE_READ, ANY_LANE, offset);
      race_proxy(w, in, p, offset, in->bytes);
    }
  return true;
}

static void read_operand_block(Warp *w, const Inst *in, int which, int64_t at, Block b, Matrix *m) {
  const Spot *p = &in->mems[which];
  WgmmaOperand x = wgmma_operand(in->stmt, which);
  DType t = p->buffer->dtype;
  bool ok = touch_chunks(w, in, which, at, b);
  for (int i = 0; i < b.rows; i++)
    for (int j = 0; j < b.columns; j++) {
      int64_t offset = element_offset(&x, p, at, b.row + i, b.column + j);
      int k = i * b.columns + j;
      m->bad[k] = !ok;
      for (unsigned byte = 0; byte < dtype_bytes(t); byte++)
        m->bad[k] |= w->prog->bad_bytes[offset + byte];
      m->x[k] = ok ? scalar_load(t, w->prog->shared + offset) : (Scalar){0};
      if (in->atom->tf32) m->x[k].f = scalar_tf32(in->atom->tf32, (float)m->x[k].f);
    }
}

static Block a_block(const Warp *w, const Atom *atom) {
  int row = (int)((w->id - w->role_first) % (uint32_t)atom->warps) * WARP_ROWS;
  return (Block){row, 0, WARP_ROWS, atom->k};
}

static Block b_block(const Atom *atom, int i) {
  return (Block){0, i * BLOCK_COLUMNS, atom->k, BLOCK_COLUMNS};
}

static int column_blocks(const Inst *in) { return (int)in->n / BLOCK_COLUMNS; }

static uint32_t acc_registers(const Inst *in) { return in->n / 2; }

/* Does one of the flights from `first` on compute these registers? */
static bool in_flight(const Warp *w, size_t first, uint32_t acc) {
  for (size_t i = first; i < w->flights.len; i++)
    if (w->flights.data[i].acc == acc) return true;
  return false;
}

void nest_exec_wgmma(Warp *w, const Inst *in) {
  Flight f = {.inst = in, .group = w->mma_groups, .acc = operand_reg(w, &in->dsts[0])};
  bool from_registers = !in->mems[0].buffer;
  if (from_registers) f.a = operand_reg(w, &in->srcs[0]);
  else f.at[0] = nest_shared_offset(w, in, &in->mems[0]);
  f.at[1] = nest_shared_offset(w, in, &in->mems[1]);
  if (!from_registers) touch_chunks(w, in, 0, f.at[0], a_block(w, in->atom));
  for (int i = 0; i < column_blocks(in); i++)
    if (!touch_chunks(w, in, 1, f.at[1], b_block(in->atom, i))) break;
  bool again = in_flight(w, 0, f.acc);
  for (uint32_t k = 0; k < acc_registers(in); k++) {
    uint32_t reg = f.acc + k;
    if (!again) w->held[reg] = w->bad[reg];
    w->bad[reg] = w->prog->run->full;
    w->why[reg] = in;
  }
  vec_push(w->prog->run->arena, &w->flights, f);
}

void nest_exec_mma_commit(Warp *w, const Inst *in) {
  (void)in;
  w->mma_groups++;
}

/* Nothing else may have written the result meanwhile. */
static void check_untouched(Warp *w, const Flight *f) {
  Run *r = w->prog->run;
  for (uint32_t k = 0; k < acc_registers(f->inst); k++) {
    uint32_t reg = f->acc + k;
    if (w->bad[reg] == r->full && w->why[reg] && w->why[reg]->exec == nest_exec_wgmma) continue;
    if (nest_found(w, FOUND_FLIGHT_WRITTEN, f->inst->stmt->span, f->inst->stmt))
      findings_text(r->findings, E_NEST_FLIGHT_WRITTEN, f->inst->stmt->dsts[0].var->name);
    return;
  }
}

static void compute_block(Warp *w, const Flight *f, const Matrix *a, int i) {
  const Inst *in = f->inst;
  const Fragment *lc = &in->fragments[2];
  Matrix b, c;
  uint32_t acc = f->acc + 4 * (uint32_t)i;
  read_operand_block(w, in, 1, f->at[1], b_block(in->atom, i), &b);
  if (in->stmt->srcs[2].kind == REF_NONE) memset(&c, 0, sizeof c);
  else gather_fragment(w, in, 2, acc, w->held, WARP_ROWS * BLOCK_COLUMNS, &c);
  multiply_matrices(in->atom, WARP_ROWS, a, &b, &c);
  for (int k = 0; k < WARP_ROWS * BLOCK_COLUMNS; k++) {
    uint32_t reg = acc + lc->reg[k], bit = UINT32_C(1) << lc->lane[k];
    reg_lanes(w, reg)[lc->lane[k]] = c.x[k];
    w->held[reg] = c.bad[k] ? w->held[reg] | bit : w->held[reg] & ~bit;
  }
}

static void land(Warp *w, const Flight *f) {
  const Inst *in = f->inst;
  Matrix a;
  check_untouched(w, f);
  if (in->mems[0].buffer) read_operand_block(w, in, 0, f->at[0], a_block(w, in->atom), &a);
  else gather_fragment(w, in, 0, f->a, w->bad, WARP_ROWS * in->atom->k, &a);
  for (int i = 0; i < column_blocks(in); i++) compute_block(w, f, &a, i);
}

/* Groups end in order, so those that stay are the last. */
void nest_exec_mma_wait(Warp *w, const Inst *in) {
  size_t done = 0;
  Flight *all = w->flights.data;
  for (; done < w->flights.len && all[done].group + (uint64_t)in->a < w->mma_groups; done++)
    land(w, &all[done]);
  for (size_t i = 0; i < done; i++)
    for (uint32_t k = 0; k < acc_registers(all[i].inst) && !in_flight(w, done, all[i].acc); k++)
      w->bad[all[i].acc + k] = w->held[all[i].acc + k];
  for (size_t i = done; i < w->flights.len; i++) all[i - done] = all[i];
  w->flights.len -= done;
  w->yields = true;
}
