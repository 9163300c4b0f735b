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
 *
 * A first operand whose layout no descriptor knows is read from shared memory to registers, some
 * steps of K at a time, while the steps before multiply:
 *
 *   for some steps of K, in two sets of registers in turn {
 *     mma.wait until one group is open ; fragments of these steps
 *     fence mma ; wgmma for 64 rows each and these steps ; mma.commit
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
  NestVar *a;           /* fragments of steps of K from `first` on, so many, if any are there */
  int first, steps;
} GroupDot;

static NestIndex *new_group_index(Bind *s, const char *name, int extent) {
  return extent > 1 ? nest_index(s->nest, name, extent) : NULL;
}

/* Sums that are added to the accumulators later have registers of their own, if need be for fewer
 * columns at a time. */
static int columns_at_a_time(const Bind *s, const GroupDot *g, int columns) {
  const Options *o = &s->nest->options;
  int tiles = columns / g->atom->n, each = atom_registers(g->atom, 2) * g->reps_m;
  for (int parts = 1; parts < tiles; parts++) {
    int regs = each * tiles + atom_registers(g->atom, 2) * (tiles / parts);
    if (tiles % parts == 0 &&
        schedule_accumulators_fit(s->u->machine, s->nest->warps, o->maxnreg, regs))
      return columns / parts;
  }
  return g->atom->n;
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
  g.a = st->mems[0].buffer ? NULL : st->srcs[0].var;
  g.steps = g.reps_k;
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
  Affine sub = affine_const(regs * (step - g->first));
  bind_add_index(&sub, g->im, regs * g->steps);
  return ref_sub(g->a, sub);
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

static void wait_for_products(Bind *s, int64_t groups) {
  nest_set_int(s->nest, nest_stmt(&s->b, NEST_MMA_WAIT, 0, 0), NA_groups, groups);
}

static void emit_wait(Bind *s, int64_t groups) {
  nest_stmt(&s->b, NEST_MMA_COMMIT, 0, 0);
  wait_for_products(s, groups);
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

/* Does it belong to the group of a dot before it, whose fence is for both? */
static bool is_in_group(const NestStmt *st) {
  const NestStmt *before = st->prev;
  while (before && is_scalar_op(before)) before = before->prev;
  if (!before || before->code != NEST_DOT) return false;
  const Atom *atom = atom_find(nest_str(before, NA_atom, ""));
  bool in_place = atom && atom->warps > 1 && !nest_attr(before, NA_max_imprecise);
  return in_place && !nest_attr(before, NA_open) && next_commits(before);
}

static void emit_in_place(Bind *s, const GroupDot *g) {
  bool begins = g->st->srcs[2].kind == REF_NONE;
  if (!is_in_group(g->st)) emit_fence(s);
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

/* ---- a first operand that threads read ---- */

/* Loads of fragments: the base depends on indices of dims. */
typedef struct {
  Ref base;
  Affine bytes, sub;
  DimMask dims; /* but for rows and steps */
  NestIndex *ik;
  bool matrices; /* by ldmatrix: of bytes, of two rows that are next to each other */
  NestIndex *in_panel, *panels; /* of the unrolled rows */
} FragmentLoad;

static bool is_read_by_threads(const NestStmt *st) {
  WgmmaForm form;
  if (!st->mems[0].buffer) return false;
  WgmmaOperand x = wgmma_operand(st, 0);
  return wgmma_takes_any_axis((DType)x.tile.dtype, 0) && !wgmma_form(&x, 0, &form);
}

static void push_digit(Bind *s, Form *f, Dim d, int64_t bytes) {
  if (d.extent == 1) return;
  if (s->ndims == MAX_DIMS) bind_refuse(s, bind_too_many_digits);
  f->g[0].coef[s->ndims] = bytes;
  s->dims[s->ndims++] = d;
}

/* How many of `count` steps of so many rows stay within a panel. */
static int steps_in_panel(const WgmmaOperand *x, int64_t rows, int count) {
  int64_t n = wgmma_panel(x, 0) / rows;
  return n < 1 ? 1 : n < count ? (int)n : count;
}

/* A warp has 16 of each 64 rows: its bits are apart, since they may be in two panels. */
static void push_warps(Bind *s, Form *f, const GroupDot *g, const WgmmaOperand *x) {
  int rows = g->atom->m / g->atom->warps, group = g->atom->warps;
  int first = steps_in_panel(x, g->atom->m, g->wm);
  for (int w = 1; w < group; w *= 2)
    push_digit(s, f, (Dim){0, 0, 2, HW_WARP, w, NULL}, wgmma_step(x, 0, (int64_t)w * rows));
  push_digit(s, f, (Dim){0, 0, first, HW_WARP, group, NULL}, wgmma_step(x, 0, g->atom->m));
  push_digit(s, f, (Dim){0, 0, g->wm / first, HW_WARP, group * first, NULL},
             wgmma_step(x, 0, (int64_t)g->atom->m * first));
}

/* The rows that a warpgroup repeats, and their registers. */
static void push_rows(Bind *s, Form *f, const GroupDot *g, const WgmmaOperand *x, int64_t regs,
                      FragmentLoad *load) {
  int64_t rows = (int64_t)g->atom->m * g->wm;
  int first = steps_in_panel(x, rows, g->reps_m);
  load->in_panel = new_group_index(s, "m", first);
  load->panels = new_group_index(s, "m", g->reps_m / first);
  push_digit(s, f, (Dim){0, 0, first, HW_REG, 1, load->in_panel}, wgmma_step(x, 0, rows));
  push_digit(s, f, (Dim){0, 0, g->reps_m / first, HW_REG, 1, load->panels},
             wgmma_step(x, 0, rows * first));
  bind_add_index(&load->sub, load->in_panel, regs);
  bind_add_index(&load->sub, load->panels, regs * first);
}

/* Has a thread two rows of bytes that are next to each other, as ldmatrix gives it? */
static bool has_pairs(const Layout *atom, DType t) {
  for (int i = 0; i < atom->ndigits; i++) {
    const Digit *d = &atom->d[i];
    if (d->hw == HW_REG && !d->axis && d->extent == 2 && layout_weight(atom, i) == 1)
      return dtype_bytes(t) == 1;
  }
  return false;
}

/* The digits of the rows and columns that a thread's own elements have in one step. */
static void push_elements(Bind *s, Form *f, const Layout *one, const WgmmaOperand *x,
                          FragmentLoad *load) {
  for (int i = 0; i < one->ndigits; i++) {
    const Digit *d = &one->d[i];
    int64_t step = wgmma_step(x, d->axis, layout_weight(one, i));
    NestIndex *index = d->hw == HW_REG ? nest_index(s->nest, "r", d->extent) : NULL;
    if (index) load->dims |= (DimMask)1 << s->ndims;
    bind_add_index(&load->sub, index, d->stride);
    push_digit(s, f, (Dim){0, 0, d->extent, (HwDim)d->hw, d->stride, index}, step);
  }
}

/* The address of a thread's elements of the operand, and the registers that they go to. */
static FragmentLoad fragment_load(Bind *s, const GroupDot *g, int steps) {
  const Mem *m = &g->st->mems[0];
  WgmmaOperand x = wgmma_operand(g->st, 0);
  Layout one = atom_layout(g->atom, 0);
  int64_t regs = atom_registers(g->atom, 0);
  FragmentLoad load = {.sub = affine_const(0), .ik = new_group_index(s, "k", steps)};
  Form f = form_const(0);
  Ref row = ref_none();
  s->ndims = 0;
  s->stmt = NULL;
  s->id++;
  load.matrices = has_pairs(&one, g->atom->a);
  if (load.matrices) row = bind_matrix_row(s, wgmma_step(&x, 1, 1));
  else push_elements(s, &f, &one, &x, &load);
  push_warps(s, &f, g, &x);
  push_rows(s, &f, g, &x, regs * steps, &load);
  push_digit(s, &f, (Dim){0, 0, steps, HW_REG, 1, load.ik}, wgmma_step(&x, 1, g->atom->k));
  bind_add_index(&load.sub, load.ik, regs);
  if (m->base.kind) {
    Form slot = form_var(m->base.var);
    if (!form_add(&f, &slot, 1)) bind_refuse(s, "an address has too many terms");
  }
  DimMask mask;
  load.base = bind_swizzle_with(s, &f, row, &m->buffer->layout, &load.bytes, &mask);
  affine_add(&load.bytes, &m->bytes);
  return load;
}

/* The fragments of steps of K from g->first on, to g->a. */
static void emit_fragments(Bind *s, const GroupDot *g, const FragmentLoad *load) {
  WgmmaOperand x = wgmma_operand(g->st, 0);
  Affine bytes = load->bytes, further = affine_const(wgmma_offset(&x, 0, g->first * g->atom->k));
  affine_add(&bytes, &further);
  NestBuilder outer = s->b;
  bind_unroll(s, load->panels);
  bind_unroll(s, load->in_panel);
  bind_unroll(s, load->ik);
  bind_open(s, load->dims);
  NestBuffer *from = g->st->mems[0].buffer;
  Ref to = ref_sub(g->a, load->sub);
  if (load->matrices) {
    enum { MATRICES = 4 };
    NestStmt *ld = nest_stmt(&s->b, NEST_LDMATRIX, 1, 0);
    ld->dsts[0] = to;
    ld->type = g->atom->a;
    ld->mems[0] = (Mem){from, load->base, bytes};
    nest_set_int(s->nest, ld, NA_n, MATRICES);
    nest_set_int(s->nest, ld, NA_trans, 1);
  } else {
    bind_ld_shared(s, to, g->atom->a, from, load->base, bytes, 1);
  }
  s->b = outer;
}

/* How many steps of K at a time: an even number of such parts, where that is possible, so that a
 * dot that still runs in the next iteration has not the registers that are loaded first there. */
static int steps_at_a_time(const GroupDot *g) {
  enum { FEW = 2 };
  int n = g->reps_k % (2 * FEW) == 0 ? FEW : g->reps_k % 2 == 0 ? g->reps_k / 2 : g->reps_k;
  return n;
}

static void emit_by_threads(Bind *s, GroupDot *g) {
  int steps = steps_at_a_time(g), parts = g->reps_k / steps;
  int sets = parts > 1 ? 2 : 1;
  bool begins = g->st->srcs[2].kind == REF_NONE, runs_on = nest_int(g->st, NA_groups, 0) > 0;
  NestVar *set[2];
  int64_t count = (int64_t)atom_registers(g->atom, 0) * steps * g->reps_m;
  for (int i = 0; i < sets; i++)
    set[i] = bind_var(s, "fa", g->atom->a, DT_NONE, (uint32_t)count, false);
  FragmentLoad load = fragment_load(s, g, steps);
  g->steps = steps;
  for (int part = 0; part < parts; part++) {
    g->first = part * steps;
    g->a = set[part % sets];
    if (runs_on || part >= sets) wait_for_products(s, sets - 1);
    emit_fragments(s, g, &load);
    emit_fence(s);
    NestBuilder outer = s->b;
    bind_unroll(s, g->im);
    Ref sum = ref_sub(g->st->dsts[0].var, accumulator(g));
    for (int k = g->first; k < g->first + steps; k++) emit_step(s, g, k, sum, begins && !k);
    s->b = outer;
    bool waited_for = runs_on || parts > sets || part + 1 == parts;
    if (waited_for) nest_stmt(&s->b, NEST_MMA_COMMIT, 0, 0);
  }
  if (!nest_attr(g->st, NA_open) && !runs_on) wait_for_products(s, 0);
}

void bind_group_dot(Bind *s, const NestStmt *st, const Atom *atom) {
  GroupDot g = plan_group(s, st, atom);
  bool by_threads = is_read_by_threads(st);
  for (int i = by_threads; i < 2; i++) g.mems[i] = operand_mem(s, &g, i);
  if (by_threads) {
    emit_by_threads(s, &g);
    return;
  }
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
