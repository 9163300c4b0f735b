/* Dots by a warpgroup's instructions:
 *
 *   fence mma
 *   for 64 rows each { for each atom->k of K { wgmma } }
 *   mma.commit ; mma.wait
 *
 * Dots that follow each other have the last line once, after the last of them.
 *
 * With `max_imprecise` the sums of so many of K are made apart, in the units' own precision, and
 * then added to the accumulators in theirs:
 *
 *   for so many of K, for 64 rows, for columns that leave registers for another sum {
 *     fence mma ; wgmma from zero, then on ; mma.commit ; mma.wait
 *     accumulators += sum
 *   }
 */
#include "lower/bind/bind.h"
#include "lower/schedule/schedule.h"
#include "lower/target/wgmma_layout.h"

typedef struct {
  const NestStmt *st;
  const Atom *atom;
  int wm, wn;
  int reps_m, reps_n, reps_k;
  int columns;          /* of one instruction */
  int acc_regs;         /* of its result, a lane */
  NestIndex *im, *in;   /* rows, columns */
  Mem mems[2];
} GroupDot;

static NestIndex *new_group_index(Bind *s, const char *name, int extent) {
  return extent > 1 ? nest_index(s->nest, name, extent) : NULL;
}

/* Sums that are added to the accumulators later have registers of their own, if need be for fewer
 * columns at a time. */
static int columns_at_a_time(const Bind *s, const GroupDot *g, int columns) {
  enum { LEAST = 8 };
  const Options *o = &s->nest->options;
  int all = atom_registers(g->atom, 2) * (columns / g->atom->n) * g->reps_m, n = columns;
  while (n > LEAST && !schedule_accumulators_fit(s->u->machine, s->nest->warps, o->maxnreg,
                                                 all + n * all / (columns * g->reps_m)))
    n /= 2;
  return n;
}

static GroupDot plan_group(Bind *s, const NestStmt *st, const Atom *atom) {
  const Layout *acc = st->dsts[0].var->layout;
  GroupDot g = {.st = st, .atom = atom};
  schedule_warp_split(atom, acc, &g.wm, &g.wn);
  if (acc->rank != 2 || g.wm < 1) bind_refuse(s, "its warps are not those of the atom");
  int k = st->mems[0].buffer ? wgmma_operand(st, 0).tile.shape[1] : st->srcs[0].var->tile.shape[1];
  int columns = acc->shape[1] / g.wn;
  g.reps_m = acc->shape[0] / (atom->m * g.wm);
  g.reps_k = k / atom->k;
  g.columns = nest_attr(st, NA_max_imprecise) ? columns_at_a_time(s, &g, columns) : columns;
  g.reps_n = columns / g.columns;
  g.acc_regs = atom_registers(atom, 2) * (g.columns / atom->n);
  g.im = new_group_index(s, "m", g.reps_m);
  g.in = new_group_index(s, "n", g.reps_n);
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
  int64_t across = wgmma_step(&x, which, which ? g->columns * g->reps_n : g->atom->m);
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
  else bind_add_index(&bytes, g->in, wgmma_step(&x, 1, g->columns));
  return (Mem){m->buffer, base, bytes};
}

/* A's fragment of these rows and this step of K, as schedule_fragment lays them out. */
static Ref group_fragment(const GroupDot *g, int step) {
  int64_t regs = atom_registers(g->atom, 0);
  Affine sub = affine_const(regs * step);
  bind_add_index(&sub, g->im, regs * g->reps_k);
  return ref_sub(g->st->srcs[0].var, sub);
}

/* Adds a step of K to a sum, or begins it. */
static void emit_step(Bind *s, const GroupDot *g, int step, Ref sum, bool begins) {
  NestStmt *st = nest_stmt(&s->b, NEST_WGMMA, 1, 3);
  st->nmems = 2;
  for (int i = 0; i < 2; i++) {
    st->mems[i] = g->mems[i];
    if (!g->mems[i].buffer) continue;
    WgmmaOperand x = wgmma_operand(g->st, i);
    int64_t k = (int64_t)step * g->atom->k;
    Affine along = affine_const(i ? wgmma_offset(&x, k, 0) : wgmma_offset(&x, 0, k));
    affine_add(&st->mems[i].bytes, &along);
  }
  st->dsts[0] = sum;
  st->srcs[0] = g->mems[0].buffer ? ref_none() : group_fragment(g, step);
  st->srcs[1] = ref_none();
  st->srcs[2] = begins ? ref_none() : sum;
  nest_set_str(s->nest, st, NA_atom, g->atom->name);
  nest_set_int(s->nest, st, NA_columns, g->columns);
  int64_t turned = nest_int(g->st, NA_turned, 0);
  if (turned) nest_set_int(s->nest, st, NA_turned, turned);
}

static void emit_fence(Bind *s) {
  nest_set_str(s->nest, nest_stmt(&s->b, NEST_FENCE, 0, 0), NA_kind, "mma");
}

static void emit_wait(Bind *s, int64_t groups) {
  nest_stmt(&s->b, NEST_MMA_COMMIT, 0, 0);
  nest_set_int(s->nest, nest_stmt(&s->b, NEST_MMA_WAIT, 0, 0), NA_groups, groups);
}

/* The accumulators of the unrolled rows and columns. */
static Affine accumulator(const GroupDot *g) {
  Affine sub = affine_const(0);
  bind_add_index(&sub, g->im, (int64_t)g->acc_regs * g->reps_n);
  bind_add_index(&sub, g->in, g->acc_regs);
  return sub;
}

static bool is_scalar_op(const NestStmt *st) {
  return (st->code == NEST_OP || st->code == NEST_MOV) && !st->dsts[0].var->tile.rank;
}

/* Does a dot follow that doesn't read the result?  It commits and waits for both. */
static bool next_commits(const NestStmt *st) {
  const NestVar *result = st->dsts[0].var;
  do st = st->next;
  while (st && is_scalar_op(st));
  const Atom *atom = st && st->code == NEST_DOT ? atom_find(nest_str(st, NA_atom, "")) : NULL;
  bool reads = atom && st->srcs[0].kind == REF_VAR && st->srcs[0].var == result;
  return atom && atom->warps > 1 && !nest_attr(st, NA_max_imprecise) && !reads;
}

static void emit_in_place(Bind *s, const GroupDot *g) {
  bool begins = g->st->srcs[2].kind == REF_NONE;
  emit_fence(s);
  NestBuilder outer = s->b;
  bind_unroll(s, g->im);
  Ref sum = ref_sub(g->st->dsts[0].var, accumulator(g));
  for (int k = 0; k < g->reps_k; k++) emit_step(s, g, k, sum, begins && !k);
  s->b = outer;
  if (nest_attr(g->st, NA_open)) nest_stmt(&s->b, NEST_MMA_COMMIT, 0, 0);
  else if (!next_commits(g->st)) emit_wait(s, nest_int(g->st, NA_groups, 0));
}

/* Adds `count` steps of K from `first` on to the accumulators. */
static void emit_promoted(Bind *s, const GroupDot *g, int first, int count, NestVar *part) {
  NestBuilder outer = s->b;
  bool begins = !first && g->st->srcs[2].kind == REF_NONE;
  DType t = part->dtype;
  bind_unroll(s, g->im);
  bind_unroll(s, g->in);
  emit_fence(s);
  for (int k = 0; k < count; k++) emit_step(s, g, first + k, ref_var(part), !k);
  emit_wait(s, 0);
  NestIndex *r = nest_index(s->nest, "r", g->acc_regs);
  bind_unroll(s, r);
  Affine from = affine_const(0), to = accumulator(g);
  bind_add_index(&from, r, 1);
  bind_add_index(&to, r, 1);
  Ref acc = ref_sub(g->st->dsts[0].var, to), x = ref_sub(part, from);
  if (begins) nest_mov(&s->b, acc, x, t);
  else nest_op(&s->b, TILE_ADD, t, acc, acc, x, ref_none());
  s->b = outer;
}

void bind_group_dot(Bind *s, const NestStmt *st, const Atom *atom) {
  GroupDot g = plan_group(s, st, atom);
  for (int i = 0; i < 2; i++) g.mems[i] = operand_mem(s, &g, i);
  if (!nest_attr(st, NA_max_imprecise)) {
    emit_in_place(s, &g);
    return;
  }
  int64_t count = nest_int(st, NA_max_imprecise, 0) / atom->k;
  if (count < 1) count = 1;
  NestVar *part = bind_var(s, "part", atom->c, DT_NONE, (uint32_t)g.acc_regs, false);
  for (int k = 0; k < g.reps_k; k += (int)count)
    emit_promoted(s, &g, k, (int)(k + count < g.reps_k ? count : g.reps_k - k), part);
}
