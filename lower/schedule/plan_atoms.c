/* The matrix instructions that compute dots. */
#include "lower/schedule/plan.h"

#include "lower/target/wgmma_layout.h"

/* Registers that the assembler can give a thread of so many warps. */
static int registers_of_thread(const Machine *m, int warps, int maxnreg) {
  int n = REGISTER_FILE / (warps * m->lanes) / REGISTER_STEP * REGISTER_STEP;
  if (m->regs && m->regs < n) n = m->regs;
  return maxnreg && maxnreg < n ? maxnreg : n;
}

bool schedule_accumulators_fit(const Machine *m, int warps, int maxnreg, int accumulators) {
  enum { OTHERS = 30 };
  return accumulators + OTHERS <= registers_of_thread(m, warps, maxnreg);
}

/* A warpgroup's instruction needs all of its accumulators in registers at once. */
static bool has_registers(const Unit *u, const Atom *atom, int columns) {
  int accumulators = atom->m * columns / (atom->warps * u->machine->lanes);
  return schedule_accumulators_fit(u->machine, schedule_warps(u), u->tile->options.maxnreg,
                                   accumulators);
}

void plan_split_warps(const Plan *p, const Atom *atom, const Type *t, int warps, int *wm, int *wn) {
  int m = schedule_repeats(t->shape[t->rank - 2], atom->m),
      n = schedule_repeats(t->shape[t->rank - 1], atom->n);
  *wm = *wn = 1;
  /* Warps that multiply different matrices of a batch share no operands' elements. */
  if (atom->warps == 1) warps /= schedule_batch_warps(t, warps);
  while (*wm * *wn * atom->warps < warps) {
    bool can_m = *wm < m, can_n = *wn < n;
    /* Groups have equal shares. */
    if (atom->warps > 1 && can_n) can_m = m % (2 * *wm) == 0;
    if (!can_m && !can_n) break;
    int64_t per_m = (int64_t)atom->m * m / *wm, per_n = (int64_t)atom->n * n / *wn;
    /* A warpgroup's instruction reads less of shared memory the more columns it has. */
    bool rows_first = p->chained || atom->warps > 1;
    if (can_m && (rows_first || !can_n || per_m >= per_n)) *wm *= 2;
    else *wn *= 2;
  }
  /* Fewer columns an instruction, where a thread has too few registers for as many. */
  while (atom->warps > 1 && *wm > 1 && !has_registers(p->u, atom, t->shape[1] / *wn)) {
    *wm /= 2;
    *wn *= 2;
  }
}

enum { PANEL_COLUMNS = 64, LEAST_SHARE = 16 };

bool schedule_has_panels(const Type *result, int wn) {
  return wn == 1 || result->shape[1] / wn % PANEL_COLUMNS == 0;
}

bool schedule_group_fits(const Unit *u, const Atom *atom, const TileOp *op, int wm, int wn) {
  enum { MOST_COLUMNS = 256, LEAST_COLUMNS = 16 };
  const Type *a = &op->args[0]->type, *b = &op->args[1]->type, *t = &op->results[0]->type;
  bool split = wm >= 1 && wm * wn * atom->warps == schedule_warps(u);
  if (!split || !wgmma_fits(a, 0) || !wgmma_fits(b, 1)) return false;
  int columns = t->shape[1] / wn;
  bool aligned = t->shape[1] % (atom->n * wn) == 0 && columns >= LEAST_COLUMNS;
  return t->shape[0] % (atom->m * wm) == 0 && a->shape[1] % atom->k == 0 && aligned &&
         columns <= MOST_COLUMNS && has_registers(u, atom, columns);
}

/* Groups' columns begin in the middle of a panel where memory's neighbors are along columns: the
 * second operand would be stored across.  What is computed is, in chained products, which share 64
 * columns alone. */
static bool has_columns(const Plan *p, const TileOp *op, int wn) {
  const TileValue *b = op->args[1];
  int columns = op->results[0]->type.shape[1];
  if (schedule_has_panels(&op->results[0]->type, wn)) return true;
  if (p->chained && (columns > PANEL_COLUMNS || columns / wn % LEAST_SHARE)) return false;
  return !wgmma_takes_any_axis((DType)b->type.dtype, 1) || plan_neighbor_axis(p, b) == 0;
}

static const Atom *group_atom(const Plan *p, const TileOp *op, Tf32 tf32, bool pairs) {
  const Type *t = &op->results[0]->type;
  int warps = schedule_warps(p->u), wm, wn;
  const Atom *atom =
      atom_choose_group((DType)op->args[0]->type.dtype, (DType)op->args[1]->type.dtype,
                        (DType)t->dtype, tf32, p->u->machine->sm, pairs);
  if (!atom) return NULL;
  plan_split_warps(p, atom, t, warps, &wm, &wn);
  return schedule_group_fits(p->u, atom, op, wm, wn) && has_columns(p, op, wn) ? atom : NULL;
}

const Atom *plan_atom_of(const Plan *p, const TileOp *op, bool across) {
  DType a = (DType)op->args[0]->type.dtype, b = (DType)op->args[1]->type.dtype;
  Tf32 tf32 = tile_dot_tf32(op);
  if (a == DT_F32 && tf32 == TF32_NONE) return NULL;
  const Atom *group = group_atom(p, op, tf32, across && dtype_bytes(a) == 1);
  if (group) return group;
  return atom_choose(a, b, (DType)op->results[0]->type.dtype, tf32, p->u->machine->sm);
}

const Atom *plan_dot_atom(const Plan *p, const TileOp *op) {
  return plan_atom_of(p, op, plan_neighbor_axis(p, op->args[0]) == 0);
}
