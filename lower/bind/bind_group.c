/* Dots by a warpgroup's instructions:
 *
 *   fence mma
 *   for 64 rows each { for each atom->k of K { wgmma } }
 *   mma.commit ; mma.wait
 */
#include "lower/bind/bind.h"
#include "lower/schedule/schedule.h"
#include "lower/target/wgmma_layout.h"

typedef struct {
  const NestStmt *st;
  const Atom *atom;
  int wm, wn;
  int reps_m, reps_k;
  int columns;             /* of one instruction */
  int acc_regs;            /* of its result, a lane */
  int per_panel;           /* steps of K in a panel */
  NestIndex *im, *ip, *ik; /* rows; panels of K, and steps within one */
} GroupDot;

static NestIndex *new_group_index(Bind *s, const char *name, int extent) {
  return extent > 1 ? nest_index(s->nest, name, extent) : NULL;
}

/* K's part within a panel of the operand, in steps; `all` if it has one panel or no buffer. */
static int steps_in_panel(const NestStmt *dot, int which, int step, int all) {
  int n = all, axis = 1 - which;
  if (!dot->mems[which].buffer) return n;
  WgmmaOperand x = wgmma_operand(dot, which);
  while (n > 1 && wgmma_step(&x, axis, (int64_t)step * n / 2) != n / 2 * wgmma_step(&x, axis, step))
    n /= 2;
  return n;
}

static GroupDot plan_group(Bind *s, const NestStmt *st, const Atom *atom) {
  const Layout *acc = st->dsts[0].var->layout;
  GroupDot g = {.st = st, .atom = atom};
  schedule_warp_split(atom, acc, &g.wm, &g.wn);
  if (acc->rank != 2 || g.wm < 1) bind_refuse(s, "its warps are not those of the atom");
  int k = st->mems[0].buffer ? wgmma_operand(st, 0).tile.shape[1] : st->srcs[0].var->tile.shape[1];
  g.reps_m = acc->shape[0] / (atom->m * g.wm);
  g.reps_k = k / atom->k;
  g.columns = acc->shape[1] / g.wn;
  g.acc_regs = atom_registers(atom, 2) * (g.columns / atom->n);
  g.per_panel = g.reps_k;
  for (int i = 0; i < 2; i++) {
    int n = steps_in_panel(st, i, atom->k, g.reps_k);
    if (n < g.per_panel) g.per_panel = n;
  }
  g.im = new_group_index(s, "m", g.reps_m);
  g.ip = new_group_index(s, "p", g.reps_k / g.per_panel);
  g.ik = new_group_index(s, "k", g.per_panel);
  return g;
}

/* The address of the warpgroup's part of an operand: its slot, the group's index along M or N, and
 * the unrolled indices. */
static Mem operand_mem(Bind *s, const GroupDot *g, int which) {
  const Mem *m = &g->st->mems[which];
  WgmmaForm form;
  if (!m->buffer) return (Mem){0};
  WgmmaOperand x = wgmma_operand(g->st, which);
  if (!wgmma_form(&x, which, &form)) bind_refuse(s, "no descriptor knows its layout");
  int64_t across = wgmma_step(&x, which, which ? g->columns : g->atom->m);
  Dim dim = {.hw = HW_WARP,
             .extent = which ? g->wn : g->wm,
             .stride = which ? g->atom->warps * g->wm : g->atom->warps};
  Ref base = m->base;
  if (dim.extent > 1) {
    ThreadForm f = {.n = 0};
    thread_form_add(&f, &dim, across);
    Ref part = bind_thread_const(s, &f);
    base = base.kind ? bind_add_scalar(s, part, base, 0) : part;
  }
  Affine bytes = m->bytes;
  if (!which) bind_add_index(&bytes, g->im, wgmma_step(&x, 0, (int64_t)g->atom->m * g->wm));
  bind_add_index(&bytes, g->ip, wgmma_step(&x, 1 - which, (int64_t)g->atom->k * g->per_panel));
  bind_add_index(&bytes, g->ik, wgmma_step(&x, 1 - which, g->atom->k));
  return (Mem){m->buffer, base, bytes};
}

/* A's fragment of these rows and this step, as schedule_fragment lays them out. */
static Ref group_fragment(const GroupDot *g) {
  int64_t regs = atom_registers(g->atom, 0);
  Affine sub = affine_const(0);
  bind_add_index(&sub, g->im, regs * g->reps_k);
  bind_add_index(&sub, g->ip, regs * g->per_panel);
  bind_add_index(&sub, g->ik, regs);
  return ref_sub(g->st->srcs[0].var, sub);
}

static void emit_group_mma(Bind *s, const GroupDot *g, const Mem mems[2]) {
  NestBuilder outer = s->b;
  bind_unroll(s, g->im);
  bind_unroll(s, g->ip);
  bind_unroll(s, g->ik);
  Affine sub = affine_const(0);
  bind_add_index(&sub, g->im, g->acc_regs);
  NestStmt *st = nest_stmt(&s->b, NEST_WGMMA, 1, 3);
  st->nmems = 2;
  st->mems[0] = mems[0];
  st->mems[1] = mems[1];
  st->dsts[0] = st->srcs[2] = ref_sub(g->st->dsts[0].var, sub);
  st->srcs[0] = mems[0].buffer ? ref_none() : group_fragment(g);
  st->srcs[1] = ref_none();
  nest_set_str(s->nest, st, NA_atom, g->atom->name);
  nest_set_int(s->nest, st, NA_columns, g->columns);
  int64_t turned = nest_int(g->st, NA_turned, 0);
  if (turned) nest_set_int(s->nest, st, NA_turned, turned);
  s->b = outer;
}

void bind_group_dot(Bind *s, const NestStmt *st, const Atom *atom) {
  GroupDot g = plan_group(s, st, atom);
  Mem mems[2] = {operand_mem(s, &g, 0), operand_mem(s, &g, 1)};
  nest_set_str(s->nest, nest_stmt(&s->b, NEST_FENCE, 0, 0), NA_kind, "mma");
  emit_group_mma(s, &g, mems);
  nest_stmt(&s->b, NEST_MMA_COMMIT, 0, 0);
  NestStmt *wait = nest_stmt(&s->b, NEST_MMA_WAIT, 0, 0);
  nest_set_int(s->nest, wait, NA_groups, nest_int(st, NA_groups, 0));
}
