/* Blocks, loops, branches and roles.
 *
 * Conditions are uniform in a program (in its role), so branches are too.  At every label all
 * packed words are put together, and shared addresses stay known only if what they were computed
 * from has one writer, which then is before. */
#include "codegen/messages.h"
#include "codegen/ptx/ptx.h"

enum { NOUNROLL_STATEMENTS = 48 }; /* longer bodies gain nothing from ptxas unrolling them */

/* ---- what is known at labels ---- */

/* Before a region: returns how many shared addresses hold in it and after it. */
static size_t enter_region(Ptx *p) {
  ptx_flush_words(p);
  p->descriptors.len = 0;
  size_t n = 0;
  for (size_t i = 0; i < p->bases.len; i++)
    if (ptx_reg(p, p->bases.data[i].var)->writers <= 1) p->bases.data[n++] = p->bases.data[i];
  return p->bases.len = n;
}

static void leave_region(Ptx *p, size_t bases) {
  ptx_flush_words(p);
  p->descriptors.len = 0;
  if (p->bases.len > bases) p->bases.len = bases;
}

/* ---- branches ---- */

static void nounroll(Ptx *p) { ptx_puts(p, "\t.pragma \"nounroll\";\n"); }

static int count_stmts(const NestBlock *b, int limit) {
  int n = 0;
  for (const NestStmt *s = b->first; s && n <= limit; s = s->next) {
    int times = s->code == NEST_UNROLL ? s->index->extent : 1, inside = 0;
    if (nest_flags(s) & NEST_IS_PRODUCT) return limit + 1;
    for (uint32_t i = 0; i < s->nregions; i++) inside += count_stmts(s->regions[i], limit);
    n += inside > limit / times ? limit + 1 : 1 + inside * times;
  }
  return n;
}

static bool keep_rolled(const NestStmt *s) {
  return nest_int(s, NA_unroll, 0) == 1 ||
         count_stmts(s->regions[0], NOUNROLL_STATEMENTS) > NOUNROLL_STATEMENTS;
}

/* Back at the loop's own statement: the body has used the temporaries. */
static void after_body(Ptx *p, const NestStmt *s) {
  p->span = s->span;
  memset(p->temps, 0, sizeof p->temps);
}

/* ---- loops over constants ---- */

static void note_size(Ptx *p, const NestStmt *s, int before) {
  int n = p->instructions - before;
  if (p->depth || n <= p->most) return;
  p->most = n;
  p->most_span = s->span;
}

/* How many elements of r, one after the other, the loop's index counts that are whole words: a
 * word's, or 0. */
static int word_of_run(Ptx *p, const Ref *r, const NestIndex *index) {
  if (r->kind != REF_VAR) return 0;
  int per = ptx_reg(p, r->var)->per;
  for (int i = 0; i < r->sub.n; i++)
    if (r->sub.t[i].index == index)
      return r->sub.t[i].coef == 1 && ptx_subscript(p, r) % per == 0 ? per : 0;
  return 0;
}

/* How many elements a word has, in a loop that copies words element by element; 0: it does more. */
static int copied_words(Ptx *p, const NestStmt *s) {
  int per = 0;
  p->index[s->index->id] = 0;
  for (const NestStmt *b = s->regions[0]->first; b; b = b->next) {
    bool copies = b->code == NEST_MOV && !b->guard.kind && nest_int(b, NA_n, 1) == 1;
    int to = copies ? word_of_run(p, &b->dsts[0], s->index) : 0;
    if (to < 2 || word_of_run(p, &b->srcs[0], s->index) != to || (per && to != per)) return 0;
    per = to;
  }
  return per && s->index->extent % per == 0 ? per : 0;
}

static void copy_words(Ptx *p, const NestStmt *s, int per) {
  for (int64_t i = 0; i < s->index->extent; i += per) {
    p->index[s->index->id] = i;
    for (const NestStmt *b = s->regions[0]->first; b; b = b->next) ptx_mov_run(p, b, per);
  }
}

/* ---- sums that are scaled ---- */

/* Elements of one variable, by which others are multiplied. */
typedef struct {
  int32_t at[4];
  int n, times;
} Factors;

/* %acc[...] = mul %acc[...], %factor[...] */
static bool is_scaling(const NestStmt *s) {
  if (!s || s->code != NEST_OP || s->op != TILE_MUL || s->type != DT_F32 || s->guard.kind)
    return false;
  const Ref *d = &s->dsts[0], *x = &s->srcs[0], *factor = &s->srcs[1];
  return x->kind == REF_VAR && x->var == d->var && affine_eq(&x->sub, &d->sub) &&
         factor->kind == REF_VAR && factor->var != d->var;
}

/* False: they are more than a few. */
static bool find_factors(Ptx *p, const NestStmt *s, Factors *f) {
  enum { FEW = 4 };
  if (s->code != NEST_UNROLL) {
    int32_t at = ptx_subscript(p, &s->srcs[1]);
    int i = 0;
    f->times++;
    while (i < f->n && f->at[i] != at) i++;
    if (i < f->n) return true;
    if (f->n == FEW) return false;
    f->at[f->n++] = at;
    return true;
  }
  for (int64_t i = 0; i < s->index->extent; i++) {
    p->index[s->index->id] = i;
    if (!find_factors(p, s->regions[0]->first, f)) return false;
  }
  return true;
}

static bool is_in_loop(const NestStmt *s) {
  for (s = s->parent->owner; s; s = s->parent->owner)
    if (s->code == NEST_FOR || s->code == NEST_WHILE) return true;
  return false;
}

/* Many sums of a loop that a few factors scale, as in attention where a row's maximum moves: a warp
 * all of whose factors are one goes on to the label.  -1: it is something else. */
static int32_t skip_if_ones(Ptx *p, const NestStmt *s) {
  enum { MANY = 32 };
  const NestStmt *leaf = ptx_only_statement(s);
  Factors f = {.n = 0};
  if (p->depth || !p->multiplies || !is_scaling(leaf) || !is_in_loop(s)) return -1;
  if (!find_factors(p, s, &f) || f.times < MANY) return -1;
  Operand differ = ptx_temp(p, RC_PRED);
  for (int i = 0; i < f.n; i++) {
    Operand x = ptx_element(p, leaf->srcs[1].var, f.at[i]);
    ptx_emit(p, i ? "setp.neu.or.f32 $d, $a, 0f3F800000, $d" : "setp.neu.f32 $d, $a, 0f3F800000",
             differ, x, x, x);
  }
  ptx_emit2(p, "vote.sync.any.pred $d, $a, 0xffffffff", differ, differ);
  int32_t label = ptx_label(p);
  ptx_jump_if(p, &differ, false, label);
  return label;
}

static void expand(Ptx *p, const NestStmt *s) {
  p->depth++;
  for (int64_t i = 0; i < s->index->extent; i++) {
    p->index[s->index->id] = i;
    ptx_block(p, s->regions[0]);
  }
  p->depth--;
}

static void unroll(Ptx *p, const NestStmt *s) {
  int before = p->instructions, per = copied_words(p, s);
  PtxVote vote;
  if (s == p->printed) return;
  if (per) {
    copy_words(p, s, per);
    return;
  }
  if (ptx_runs(p, s)) {
    note_size(p, s, before);
    return;
  }
  if (ptx_vote_on_tangents(p, s, &vote)) {
    expand(p, vote.before);
    expand(p, s);
    if (vote.after) expand(p, vote.after);
    p->printed = vote.after;
    ptx_place_label(p, vote.end);
    note_size(p, s, before);
    return;
  }
  int32_t ones = skip_if_ones(p, s);
  expand(p, s);
  if (ones >= 0) ptx_place_label(p, ones);
  note_size(p, s, before);
}

static void serial(Ptx *p, const NestStmt *s) {
  if (s->nsrcs) {
    ptx_fail(p, E_GEN_BOUNDS);
    return;
  }
  if (p->expand[s->index->id]) {
    unroll(p, s);
    return;
  }
  int32_t number = p->nindices++, top = ptx_label(p);
  Operand i = {PO_REG, RC_B32, 3, number, "%$i", 0};
  ptx_emit2(p, "mov.b32 $d, $a", i, ptx_int(0));
  size_t bases = enter_region(p);
  p->index_reg[s->index->id] = number + 1;
  ptx_place_label(p, top);
  nounroll(p);
  ptx_block(p, s->regions[0]);
  after_body(p, s);
  ptx_flush_words(p);
  Operand more = ptx_temp(p, RC_PRED);
  ptx_emit2(p, "add.s32 $d, $a, 1", i, i);
  ptx_emit(p, "setp.lt.s32 $d, $a, $b", more, i, ptx_int(s->index->extent), i);
  ptx_jump_if(p, &more, true, top);
  leave_region(p, bases);
  p->index_reg[s->index->id] = 0;
}

/* ---- for ---- */

static const char *const type_names[DT_COUNT] = {
    [DT_I8] = "s32", [DT_I16] = "s32", [DT_I32] = "s32", [DT_I64] = "s64",
    [DT_U8] = "u32", [DT_U16] = "u32", [DT_U32] = "u32", [DT_U64] = "u64",
};

/* "setp.lt.s32 $d, $a, $b" */
static void set_predicate(Ptx *p, const char *how, DType t, Operand d, Operand a, Operand b) {
  ptx_emit(p, arena_printf(p->arena, "setp.%s.%s $d, $a, $b", how, type_names[t]), d, a, b, b);
}

/* d: index `how` limit, for a step whose sign is known or (step not constant) found out. */
static void test_loop_end(Ptx *p, DType t, Operand d, Operand i, Operand to, Operand step) {
  if (step.kind == PO_INT || !dtype_is_signed(t)) {
    bool up = step.kind == PO_REG || step.bits > 0 || !dtype_is_signed(t);
    set_predicate(p, up ? "lt" : "gt", t, d, i, to);
    return;
  }
  Operand up = ptx_temp(p, RC_PRED), above = ptx_temp(p, RC_PRED);
  set_predicate(p, "gt", t, up, step, ptx_int(0));
  set_predicate(p, "gt", t, above, i, to);
  set_predicate(p, "lt", t, d, i, to);
  ptx_emit(p, "and.pred $d, $d, $a; not.pred $a, $a; and.pred $b, $b, $a; or.pred $d, $d, $b", d,
           up, above, up);
}

/* 1: enters always, 0: never, -1: not known here. */
static int enters(DType t, Operand lo, Operand to, Operand step) {
  if (lo.kind != PO_INT || to.kind != PO_INT || step.kind != PO_INT) return -1;
  if (!dtype_is_signed(t)) return (uint64_t)lo.bits < (uint64_t)to.bits;
  return step.bits > 0 ? lo.bits < to.bits : lo.bits > to.bits;
}

static void count_on(Ptx *p, DType t, Operand i, Operand step) {
  bool wide = dtype_bits(t) == 64;
  ptx_emit(p, wide ? "add.s64 $d, $a, $b" : "add.s32 $d, $a, $b", i, i, step, step);
  if (dtype_bits(t) < 32) ptx_emit2(p, ptx_extend(t), i, i);
}

/* Tests the index and branches to `label` if the loop goes on (when), or does not. */
static void test_index(Ptx *p, const NestStmt *s, Operand i, bool when, int32_t label) {
  DType t = s->dsts[0].var->dtype;
  Operand more = ptx_temp(p, RC_PRED);
  test_loop_end(p, t, more, i, ptx_source(p, &s->srcs[1], t), ptx_source(p, &s->srcs[2], t));
  ptx_jump_if(p, &more, when, label);
}

static void ptx_for(Ptx *p, const NestStmt *s) {
  DType t = s->dsts[0].var->dtype;
  int known = enters(t, ptx_source(p, &s->srcs[0], t), ptx_source(p, &s->srcs[1], t),
                     ptx_source(p, &s->srcs[2], t));
  Operand lo = ptx_source(p, &s->srcs[0], t), i = ptx_dest(p, &s->dsts[0], 0);
  ptx_emit2(p, dtype_bits(t) == 64 ? "mov.b64 $d, $a" : "mov.b32 $d, $a", i, lo);
  if (known == 0) return;
  int32_t top = ptx_label(p), end = ptx_label(p);
  size_t bases = enter_region(p);
  if (known < 0) test_index(p, s, i, false, end);
  ptx_place_label(p, top);
  if (keep_rolled(s)) nounroll(p);
  int depth = p->depth;
  p->depth = 0;
  ptx_block(p, s->regions[0]);
  p->depth = depth;
  after_body(p, s);
  count_on(p, t, i, ptx_source(p, &s->srcs[2], t));
  ptx_flush_words(p);
  test_index(p, s, i, true, top);
  leave_region(p, bases);
  if (known < 0) ptx_place_label(p, end);
}

/* ---- while, if ---- */

static void ptx_while(Ptx *p, const NestStmt *s) {
  int32_t top = ptx_label(p), end = ptx_label(p);
  size_t bases = enter_region(p);
  ptx_place_label(p, top);
  ptx_block(p, s->regions[0]);
  after_body(p, s);
  Operand go = ptx_source(p, &s->srcs[0], DT_I1);
  ptx_flush_words(p);
  ptx_jump_if(p, &go, false, end);
  ptx_block(p, s->regions[1]);
  ptx_flush_words(p);
  ptx_jump_if(p, NULL, true, top);
  leave_region(p, bases);
  ptx_place_label(p, end);
}

static void ptx_if(Ptx *p, const NestStmt *s) {
  bool has_else = s->nregions > 1 && s->regions[1]->first;
  int32_t other = ptx_label(p), end = has_else ? ptx_label(p) : other;
  Operand condition = ptx_source(p, &s->srcs[0], DT_I1);
  size_t bases = enter_region(p);
  ptx_jump_if(p, &condition, false, other);
  ptx_block(p, s->regions[0]);
  leave_region(p, bases);
  if (has_else) {
    ptx_jump_if(p, NULL, true, end);
    ptx_place_label(p, other);
    ptx_block(p, s->regions[1]);
    leave_region(p, bases);
  }
  ptx_place_label(p, end);
}

/* ---- roles ---- */

/* Registers a thread that all warps start with. */
static int64_t launch_registers(const Ptx *p) {
  enum { FILE_REGISTERS = 65536, STEP = 8 };
  if (p->nest->options.maxnreg) return p->nest->options.maxnreg;
  int64_t n = FILE_REGISTERS / (p->nest->warps * p->nest->lanes) / STEP * STEP;
  return n < p->machine->regs ? n : p->machine->regs / STEP * STEP;
}

static void set_registers(Ptx *p, const NestStmt *s) {
  int64_t regs = nest_int(s, NA_regs, 0);
  if (!regs || !machine_has(p->machine, HAS_REGISTER_SHIFTS) || nest_int(s, NA_warps, 0) % 4)
    return;
  ptx_needs(p, 80);
  bool more = regs > launch_registers(p);
  ptx_emit2(p, more ? "setmaxnreg.inc.sync.aligned.u32 $a" : "setmaxnreg.dec.sync.aligned.u32 $a",
            ptx_int(regs), ptx_int(regs));
}

static void ptx_role(Ptx *p, const NestStmt *s) {
  int warps = (int)nest_int(s, NA_warps, 1), lanes = p->nest->lanes;
  int32_t end = ptx_label(p);
  Operand other = ptx_temp(p, RC_PRED);
  size_t bases = enter_region(p);
  ptx_emit(p, "mov.u32 $0r, %tid.x; sub.u32 $0r, $0r, $a; setp.ge.u32 $d, $0r, $b", other,
           ptx_int((int64_t)p->first_warp * lanes), ptx_int((int64_t)warps * lanes), other);
  ptx_jump_if(p, &other, true, end);
  p->role++;
  p->role_warps = warps;
  p->in_role = true;
  set_registers(p, s);
  ptx_block(p, s->regions[0]);
  leave_region(p, bases);
  ptx_place_label(p, end);
  p->in_role = false;
  p->first_warp += warps;
  p->role_warps = p->nest->warps;
}

static void ptx_no_code(Ptx *p, const NestStmt *s) { (void)p, (void)s; }

/* ---- statements ---- */

static void (*const by_code[NEST_OP_COUNT])(Ptx *p, const NestStmt *s) = {
    [NEST_OP] = ptx_op,
    [NEST_MOV] = ptx_mov,
    [NEST_PID] = ptx_pid,
    [NEST_NPROG] = ptx_nprog,
    [NEST_CLUSTER_RANK] = ptx_cluster_rank,
    [NEST_CLUSTER_ARRIVE] = ptx_cluster_arrive,
    [NEST_CLUSTER_WAIT] = ptx_cluster_wait,
    [NEST_EXCHANGE] = ptx_exchange,
    [NEST_SPECIAL] = ptx_special,
    [NEST_LANE] = ptx_lane,
    [NEST_WARP] = ptx_warp,
    [NEST_LD] = ptx_ld,
    [NEST_ST] = ptx_st,
    [NEST_PREFETCH] = ptx_no_code,
    [NEST_ATOM] = ptx_atom,
    [NEST_ATOM_CAS] = ptx_atom_cas,
    [NEST_RED] = ptx_red,
    [NEST_CP_ASYNC] = ptx_cp_async,
    [NEST_CP_COMMIT] = ptx_cp_commit,
    [NEST_CP_WAIT] = ptx_cp_wait,
    [NEST_MBAR_INIT] = ptx_mbar_init,
    [NEST_MBAR_EXPECT] = ptx_mbar_expect,
    [NEST_MBAR_ARRIVE] = ptx_mbar_arrive,
    [NEST_MBAR_WAIT] = ptx_mbar_wait,
    [NEST_BULK_COPY] = ptx_bulk_copy,
    [NEST_BULK_STORE] = ptx_bulk_store,
    [NEST_BULK_COMMIT] = ptx_bulk_commit,
    [NEST_BULK_WAIT] = ptx_bulk_wait,
    [NEST_LDMATRIX] = ptx_ldmatrix,
    [NEST_SHFL] = ptx_shfl,
    [NEST_MMA] = ptx_mma,
    [NEST_WGMMA] = ptx_wgmma,
    [NEST_MMA_COMMIT] = ptx_mma_commit,
    [NEST_MMA_WAIT] = ptx_mma_wait,
    [NEST_BAR] = ptx_bar,
    [NEST_FENCE] = ptx_fence,
    [NEST_GRID_DEPENDENCY] = ptx_grid_dependency,
    [NEST_ASSERT] = ptx_assert,
    [NEST_PRINT] = ptx_print_line,
    [NEST_ASM] = ptx_inline_asm,
    [NEST_UNROLL] = unroll,
    [NEST_SERIAL] = serial,
    [NEST_FOR] = ptx_for,
    [NEST_WHILE] = ptx_while,
    [NEST_IF] = ptx_if,
    [NEST_ROLE] = ptx_role,
};

static void put_stmt(Ptx *p, const NestStmt *s) {
  BUG_IF(!by_code[s->code], "%s at level thread", nest_op_name(s->code));
  p->span = s->span;
  memset(p->temps, 0, sizeof p->temps);
  by_code[s->code](p, s);
}

static void put_run(Ptx *p, const NestStmt *first, const NestStmt *last, bool bulk) {
  for (const NestStmt *s = first; s != last->next && !p->failed; s = s->next)
    if (ptx_is_bulk(s) == bulk) put_stmt(p, s);
}

/* Does one lane of a warp wait in the run, and the warp not meet in the rest of the loop's body? */
static bool leaves_lanes_apart(const NestStmt *first, const NestStmt *last) {
  bool waits = false;
  for (const NestStmt *s = first; s != last->next; s = s->next)
    waits |= s->code == NEST_MBAR_WAIT;
  for (const NestStmt *s = last->next; s; s = s->next)
    if (s->code == NEST_WGMMA || s->code == NEST_BAR) return false;
  return waits && is_in_loop(first);
}

/* Other threads than the one that copies skip the copies: ptxas makes a loop of each of them.
 * After a wait, which is a loop of one lane, it takes the lanes for apart until they meet, and has
 * what they compute by then, such as a ring's counters, in vector registers, from which it moves
 * each product's descriptor. */
static void bulk_run(Ptx *p, const NestStmt *first, const NestStmt *last) {
  int32_t end = ptx_label(p);
  put_run(p, first, last, false);
  Operand here = ptx_guard(p, first);
  size_t bases = enter_region(p);
  bool differ = p->threads_differ;
  p->threads_differ = true;
  ptx_jump_if(p, &here, false, end);
  p->threads_differ = differ;
  put_run(p, first, last, true);
  leave_region(p, bases);
  ptx_place_label(p, end);
  if (leaves_lanes_apart(first, last))
    ptx_emit2(p, "bar.warp.sync -1", ptx_int(0), ptx_int(0));
}

/* The statements up to `last`, which warps skip that have voted so. */
static void skipped_run(Ptx *p, const NestStmt *first, const NestStmt *last, int32_t end) {
  put_run(p, first, last, false);
  ptx_flush_words(p);
  ptx_place_label(p, end);
}

void ptx_block(Ptx *p, const NestBlock *b) {
  for (const NestStmt *s = b->first; s && !p->failed; s = s->next) {
    int32_t end = 0;
    const NestStmt *bulk = ptx_bulk_run(s), *last = bulk ? bulk : ptx_vote_on_maxima(p, s, &end);
    if (bulk) bulk_run(p, s, last);
    else if (last) skipped_run(p, s, last, end);
    else put_stmt(p, s);
    if (last) s = last;
  }
}
