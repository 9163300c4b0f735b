/* Loops of several products whose operands in shared memory are boxes alone, as the gradients of
 * attention have.  For iteration i, D the ring's depth:
 *
 *   D-1 times: copy(ahead)                  the first iterations' operands
 *   for i { wait for slot i ; the first products, of slot i ; wait for all products ; arrive
 *           of one warpgroup and D > 2 copy(ahead) after all warps' arrival
 *           work, and other products of it
 *           start the last products, of slot i ; or else copy(ahead) after that }
 *   wait for all products
 *
 * No barrier holds the warps in step, so that the units work on products of one warpgroup while
 * another one computes.  The last products run on under the first ones of the next iteration where
 * registers hold the operands of both; then nothing in between touches theirs.  Elsewhere one runs
 * on under the next one, whose wait is for both.  Who arrives in iteration i has waited for the
 * products of iteration i-1, whose slot the copies then fill. */
#include "lower/nest/nest_access.h"
#include "lower/pipeline/pipe.h"
#include "lower/schedule/schedule.h"
#include "lower/target/atoms.h"

static bool is_group_dot(const NestStmt *st) {
  const Atom *atom = st->code == NEST_DOT ? atom_find(nest_str(st, NA_atom, "")) : NULL;
  return atom && atom->warps > 1 && !nest_attr(st, NA_max_imprecise);
}

/* ---- what the body accesses ---- */

static bool writes(const NestStmt *st, const NestBuffer *b) {
  for (uint32_t i = 0; i < st->nmems; i++)
    if (st->mems[i].buffer == b && nest_flags(st) & NEST_IS_WRITE) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (writes(x, b)) return true;
  return false;
}

static bool is_pair(const Pipe *p, const NestStmt *st) {
  for (size_t i = 0; i < p->pairs.len; i++)
    if (p->pairs.data[i].load == st || p->pairs.data[i].store == st) return true;
  return false;
}

/* Threads exchange nothing, which would take barriers: all warps hold whole reductions, and shared
 * memory is read by products alone. */
static bool is_of_threads_alone(const NestStmt *st) {
  if (st->code == NEST_DOT || !pipe_reduces_in_warps(st)) return false;
  if (st->code == NEST_FENCE) return true; /* after a store that becomes a copy */
  if (nest_flags(st) & NEST_IS_ORDERED) return false;
  for (uint32_t i = 0; i < st->nmems; i++)
    if (st->mems[i].buffer) return false;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (!is_of_threads_alone(x)) return false;
  return true;
}

/* A dot of rings, of what threads hold, and of what no iteration changes. */
static bool can_be_released(const Pipe *p, const NestStmt *dot) {
  if (!is_group_dot(dot)) return false;
  for (uint32_t i = 0; i < dot->nmems; i++) {
    const NestBuffer *b = dot->mems[i].buffer;
    if (b && !pipe_in_ring(p, b) && (dot->mems[i].base.kind || writes(p->loop, b))) return false;
  }
  return true;
}

/* ---- the first and the last products ---- */

static bool is_scalar_op(const NestStmt *st) {
  return (st->code == NEST_OP || st->code == NEST_MOV) && !st->dsts[0].var->tile.rank;
}

/* The last of the dots that are waited for together with this one (bind_group.c), without what
 * becomes copies. */
static NestStmt *last_of_group(const Pipe *p, NestStmt *dot) {
  for (NestStmt *st = dot->next; st; st = st->next) {
    if (st->code == NEST_DOT) {
      bool reads = st->srcs[0].kind == REF_VAR && st->srcs[0].var == dot->dsts[0].var;
      if (reads) break;
      dot = st;
    } else if (!is_scalar_op(st) && !is_pair(p, st) && st->code != NEST_FENCE) {
      break;
    }
  }
  return dot;
}

/* Does a statement before the wait, or after the dot, touch what the dot adds to or reads? */
static bool runs_on(const Pipe *p, const NestStmt *dot, const NestStmt *first) {
  const NestVar *sum = dot->dsts[0].var;
  const NestVar *operand = dot->srcs[0].kind == REF_VAR ? dot->srcs[0].var : NULL;
  bool between = false;
  if (dot->srcs[2].kind != REF_VAR || dot->srcs[2].var != sum) return false;
  for (const NestStmt *st = p->loop->regions[0]->first; st; st = st->next) {
    if (st == dot) between = false;
    else if (!between && nest_touches(st, sum)) return false;
    else if (!between && operand && nest_touches(st, operand)) return false;
    if (st == first) between = true;
  }
  return true;
}

static int registers_of(const NestVar *v) {
  enum { REGISTER_BITS = 32 };
  return (int)(layout_registers(v->layout) * (int64_t)dtype_bits(v->dtype) / REGISTER_BITS);
}

/* Tiles that the body loads to registers, from first to last. */
static int registers_of_loads(const Pipe *p, const NestStmt *first, const NestStmt *last) {
  int n = 0;
  for (const NestStmt *st = first; st != last; st = st->next) {
    if (st->code != NEST_NEST || is_pair(p, st)) continue;
    const NestStmt *ld = st->regions[0]->last;
    if (ld && ld->code == NEST_LD && ld->dsts[0].var->tile.rank)
      n += registers_of(ld->dsts[0].var);
  }
  return n;
}

/* Results and operands of all products at once, and what is loaded before the first ones. */
static int registers_of_all(const Pipe *p, const NestStmt *waits) {
  const NestStmt *first = p->loop->regions[0]->first;
  int n = registers_of_loads(p, first, waits);
  for (const NestStmt *st = first; st; st = st->next) {
    if (st->code != NEST_DOT) continue;
    n += registers_of(st->dsts[0].var);
    if (st->srcs[0].kind == REF_VAR) n += registers_of(st->srcs[0].var);
  }
  return n;
}

bool release_fits(const Pipe *p, int64_t before, int64_t shared) {
  enum { OTHERS = 30 };
  int n = registers_of_all(p, p->release.waits) + OTHERS, most = p->u->machine->regs;
  if (n > most) n = most;
  return pipe_programs(p, n, shared) >= pipe_programs(p, n, before);
}

/* The body's dots, if all of its statements allow it: the first and the last one. */
static bool find_dots(const Pipe *p, Release *r) {
  int dots = 0;
  for (NestStmt *st = p->loop->regions[0]->first; st; st = st->next) {
    bool dot = st->code == NEST_DOT;
    if (dot ? !can_be_released(p, st) : !is_pair(p, st) && !is_of_threads_alone(st)) return false;
    if (!dot) continue;
    if (!dots++) r->first = st;
    r->place = st;
  }
  return dots > 1;
}

void release_find(Pipe *p) {
  Release r = {0};
  p->release = r;
  if (!find_dots(p, &r)) return;
  r.waits = last_of_group(p, r.first);
  if (r.waits == r.place) return;
  bool hold = schedule_accumulators_fit(p->u->machine, p->n->warps, p->n->options.maxnreg,
                                        registers_of_all(p, r.waits));
  for (NestStmt *st = r.place; st != r.waits && hold; st = st->prev) {
    if (st->code != NEST_DOT) continue;
    if (!runs_on(p, st, r.waits)) break;
    r.open = st;
  }
  p->release = r;
}

/* Does a dot run on under the next one, whose wait is for both?  Nothing up to that one touches
 * the registers that the dot adds to or reads. */
static bool runs_to_next(const NestStmt *dot, const NestStmt *open) {
  const NestVar *sum = dot->dsts[0].var;
  const NestVar *operand = dot->srcs[0].kind == REF_VAR ? dot->srcs[0].var : NULL;
  for (const NestStmt *st = dot->next; st && st != open; st = st->next) {
    if (nest_touches(st, sum) || (operand && nest_touches(st, operand))) return false;
    if (st->code == NEST_DOT) return true;
  }
  return false;
}

/* ---- the first products apart ---- */

static void wait_before(Pipe *p, NestStmt *place, int groups) {
  NestBuilder at = {p->n, place->parent, place, p->loop->span};
  nest_set_int(p->n, nest_stmt(&at, NEST_MMA_WAIT, 0, 0), NA_groups, groups);
}

/* Two products that start together: threads of several warpgroups wait for the first one alone, and
 * do the work on its result under the other one.  They wait for that before they touch its result,
 * and before the next product, so that no wait leaves one of three to run.  A program of one
 * warpgroup is left as it is: others multiply meanwhile. */
static void split_first(Pipe *p) {
  NestStmt *first = p->release.first, *second = p->release.waits;
  const NestVar *result = second->dsts[0].var;
  bool works = false;
  for (NestStmt *st = first->next; first != second && st != second; st = st->next)
    if (st->code == NEST_DOT) return;
  NestStmt *use = second->next;
  for (; use && use->code != NEST_DOT && !nest_touches(use, result); use = use->next)
    works |= use->code == NEST_NEST;
  if (first == second || !use || !works || p->n->warps <= WARPGROUP) return;
  nest_set_int(p->n, first, NA_open, 1);
  nest_set_int(p->n, second, NA_open, 1);
  wait_before(p, use, 0);
  wait_before(p, second->next, 1);
}

/* ======== the loop ======== */

void release_body(Pipe *p, const Ahead *a) {
  Release *r = &p->release;
  NestBlock *body = p->loop->regions[0];
  NestBuilder at = {p->n, body, r->waits->next, p->loop->span};
  Ahead copies = *a;
  bulk_release(&p->ring[0], &at, a->slot_r);
  copies.freed = a->slot_r;
  copies.freed_phase = p->ring[0].phase;
  for (NestStmt *st = r->waits->next; st && st != r->open; st = st->next)
    if (st->code == NEST_DOT && runs_to_next(st, r->open)) nest_set_int(p->n, st, NA_open, 1);
  for (NestStmt *st = r->open; st; st = st->next)
    if (st->code == NEST_DOT) nest_set_int(p->n, st, NA_open, 1);
  /* Warps of one group arrive together, so that none waits long for others and the copies run under
   * the work: gradients of 64 columns take 7 to 10% less time on an H200.  Of several groups one
   * would wait for the others' first products, and with two slots, as in attention of 64 columns,
   * copies before the work made it 10% slower: there they are before the last products, or after
   * them. */
  if (p->n->warps > WARPGROUP || p->depth == 2)
    at.before = p->depth > 2 ? NULL : r->open ? r->open : r->place;
  pipe_issue_copies(p, &at, &copies);
  split_first(p);
}
