/* The rotation of loops of two products, the second of which takes what is made of the first one's
 * result (attention: scores, softmax, values).  For iteration i, D the ring's depth:
 *
 *   D-1 times: copy(ahead)                  the first iterations' operands
 *   wait for slot 0 ; first, of slot 0
 *   for i { what the second product takes, from the first one's result
 *           wait for slot i+1 of the first one's operand
 *           wait for the second product, of iteration i-1
 *           start the first one, of slot i+1 ; work on the second one's sum, as scaling
 *           bar ; wait for slot i of the second one's operand
 *           start the second one, of slot i ; copy(ahead) ; wait for the first one }
 *   wait for the second product
 *
 * So the units work on the second product of an iteration while threads compute the operand of the
 * next one.  Sums are added up in the same order as before.  The barrier tells that all are done
 * with slot i-1, which the copy then fills.  The first product after the last iteration takes what
 * a slot holds, and nobody reads its result.
 *
 * The wait for an mbarrier is a branch, before which ptxas leaves what the text has there: without
 * one it moved half of the softmax behind the wait for the product.  One wait an iteration must be
 * for all products: else ptxas finds that threads touch sums in flight, and lets products run one
 * after another. */
#include "lower/nest/nest_access.h"
#include "lower/pipeline/pipe.h"
#include "lower/schedule/schedule.h"
#include "lower/target/atoms.h"

static bool refers_to(const Ref *r, const NestVar *v) { return r->kind == REF_VAR && r->var == v; }

/* ---- what a statement does, with those inside it ---- */

static bool stores_to(const NestStmt *st, const NestBuffer *b) {
  bool writes = nest_flags(st) & NEST_IS_WRITE;
  for (uint32_t i = 0; writes && i < st->nmems; i++)
    if (st->mems[i].buffer == b) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (stores_to(x, b)) return true;
  return false;
}

static bool loads_ring(const Pipe *p, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nmems; i++)
    if (pipe_in_ring(p, st->mems[i].buffer) && !(nest_flags(st) & NEST_IS_WRITE)) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (loads_ring(p, x)) return true;
  return false;
}

static bool contains_dot(const NestStmt *st) {
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (x->code == NEST_DOT || contains_dot(x)) return true;
  return false;
}

/* ---- the two products ---- */

static bool is_group_dot(const NestStmt *st) {
  const Atom *atom = atom_find(nest_str(st, NA_atom, ""));
  return atom && atom->warps > 1 && !nest_attr(st, NA_max_imprecise);
}

/* An operand that no iteration changes. */
static bool is_invariant(const NestStmt *loop, const NestStmt *dot, int which) {
  const NestBuffer *b = dot->mems[which].buffer;
  if (b) return !dot->mems[which].base.kind && !stores_to(loop, b);
  return dot->srcs[which].kind == REF_VAR && !nest_sets(loop, dot->srcs[which].var);
}

/* From zero, of operands that are in rings or that no iteration changes. */
static bool can_be_first(const Pipe *p, const NestStmt *dot) {
  if (!is_group_dot(dot) || dot->srcs[2].kind) return false;
  bool ring = false;
  for (int i = 0; i < 2; i++) {
    bool has = pipe_in_ring(p, dot->mems[i].buffer);
    if (!has && !is_invariant(p->loop, dot, i)) return false;
    ring |= has;
  }
  return ring;
}

/* The statement of the body that turns a ring's tile for the dot alone; NULL: there is none. */
static NestStmt *turn_for(const Pipe *p, const NestStmt *dot) {
  const NestBuffer *made = dot->mems[1].buffer;
  NestStmt *st = dot->prev;
  while (st && !(st->code == NEST_TURN && st->mems[0].buffer == made)) st = st->prev;
  bool alone = st && pipe_in_ring(p, st->mems[1].buffer) &&
               pipe_count_uses(p->n->body, made) == 2 &&
               pipe_count_uses(p->loop->regions[0], st->mems[1].buffer) == 2;
  return alone ? st : NULL;
}

/* Adds to a carried tile, and takes one operand from registers and one from a ring, or turned. */
static bool can_be_second(const Pipe *p, Rotation *r) {
  const NestStmt *dot = r->second;
  r->turn = pipe_in_ring(p, dot->mems[1].buffer) ? NULL : turn_for(p, dot);
  r->ring = (r->turn ? r->turn : dot)->mems[1].buffer;
  return is_group_dot(dot) && refers_to(&dot->srcs[2], dot->dsts[0].var) &&
         dot->srcs[0].kind == REF_VAR && (r->turn || pipe_in_ring(p, dot->mems[1].buffer));
}

int64_t rotation_more_bytes(const Rotation *r) {
  return r->turn ? r->turn->mems[0].buffer->bytes : 0;
}

/* The dots of the loop's body, if they are two; other statements don't read rings. */
static bool find_dots(const Pipe *p, Rotation *r) {
  for (NestStmt *st = p->loop->regions[0]->first; st; st = st->next) {
    if (contains_dot(st) || (st->code == NEST_DOT && r->second)) return false;
    if (st->code != NEST_DOT && loads_ring(p, st)) return false;
    if (st->code != NEST_DOT) continue;
    if (r->first) r->second = st;
    else r->first = st;
  }
  return r->second != NULL;
}

/* Only what is between the dots touches the first one's result, and nothing after the second one
 * what that one still reads or writes. */
static bool is_used_between(Rotation *r, const NestStmt *loop) {
  const NestVar *scores = r->first->dsts[0].var;
  const NestVar *sum = r->second->dsts[0].var, *operand = r->second->srcs[0].var;
  bool between = false, after = false;
  for (NestStmt *st = loop->regions[0]->first; st; st = st->next) {
    if (st == r->first) between = true;
    if (st == r->second) between = false, after = true;
    if (!r->place && st != r->first && nest_touches(st, sum)) r->place = st;
    if (!r->needs && (r->place || nest_sets(st, operand))) r->needs = st;
    if (st == r->first || st == r->second) continue;
    if (!between && nest_touches(st, scores)) return false;
    if (r->needs && nest_touches(st, scores)) return false;
    if (after && (nest_touches(st, sum) || nest_touches(st, operand))) return false;
  }
  return scores != sum && scores != operand && !nest_reads(r->second, scores);
}

static bool is_read_outside(const NestBlock *b, const NestStmt *loop, const NestVar *v) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (st == loop) continue;
    for (uint32_t r = 0; r < st->nregions; r++)
      if (is_read_outside(st->regions[r], loop, v)) return true;
    NestStmt alone = *st;
    alone.nregions = 0;
    if (nest_reads(&alone, v)) return true;
  }
  return false;
}

void rotation_find(Pipe *p) {
  Rotation r = {0};
  bool can = p->depth >= ROTATION_DEPTH_OF_BOXES && find_dots(p, &r) &&
             can_be_first(p, r.first) &&
             can_be_second(p, &r) && is_used_between(&r, p->loop) &&
             !is_read_outside(p->n->body, p->loop, r.first->dsts[0].var);
  p->rotation = can ? r : (Rotation){0};
}

bool rotation_leads(const Pipe *p) { return p->nbulk && !pipe_has_groups(p); }

static int registers_of(const NestVar *v) {
  enum { REGISTER_BITS = 32 };
  int64_t bits = layout_registers(v->layout) * (int64_t)dtype_bits(v->dtype);
  return (int)(bits / REGISTER_BITS);
}

/* Elements of tiles of scores; not where a branch does that, nor of rows. */
static bool selects(const NestStmt *st) {
  if (st->code == NEST_NEST && st->layout->rank < 2) return false;
  if (st->code == NEST_OP && st->op == TILE_SELECT && !st->dsts[0].var->uniform) return true;
  for (uint32_t r = 0; r < st->nregions && st->code != NEST_IF; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (selects(x)) return true;
  return false;
}

/* While the second product runs, a thread has both sums, that product's operand, and what the next
 * one is made of.  Programs that share a multiprocessor overlap without that: a rotation that
 * leaves room for fewer of them costs more than it brings (bench/history.md). */
bool rotation_fits(const Pipe *p, int64_t shared_before, int64_t shared) {
  enum { OTHERS = 30, ROTATED = 14, COPY_ADDRESSES = 40, MASKS = 40 };
  int operand = registers_of(p->rotation.second->srcs[0].var), more = operand + ROTATED;
  int n = registers_of(p->rotation.first->dsts[0].var) + operand +
          registers_of(p->rotation.second->dsts[0].var);
  int before = pipe_programs(p, n + OTHERS, shared_before);
  if (pipe_programs(p, n + OTHERS + more, shared) < before) return false;
  if (pipe_has_groups(p)) more += COPY_ADDRESSES;
  if (selects(p->loop)) more += MASKS;
  return schedule_accumulators_fit(p->u->machine, p->n->warps, p->n->options.maxnreg, n + more);
}

/* ======== the rotated loop ======== */

static void products_wait(const Pipe *p, NestBuilder *b, int groups) {
  nest_set_int(p->n, nest_stmt(b, NEST_MMA_WAIT, 0, 0), NA_groups, groups);
}

/* Boxes come only for iterations that there are. */
static void wait_for_boxes(Pipe *p, const Ahead *a, NestBuilder *b, Ref index) {
  Ref more = pipe_scalar(p, NULL, DT_I1);
  pipe_op(b, TILE_LT, p->loop->type, more, index, p->loop->srcs[1]);
  NestStmt *branch = nest_stmt(b, NEST_IF, 0, 1);
  branch->srcs[0] = more;
  NestBuilder in = {p->n, nest_block(p->n, branch), NULL, b->span};
  nest_block(p->n, branch);
  bulk_wait(&p->ring[0], &in, a->slot_r);
}

/* Waits for the first dot's slot, of iteration `index`; `open` groups of copies are for later
 * ones. */
static void wait_for_first(Pipe *p, const Ahead *a, NestBuilder *b, Ref index, int open) {
  if (pipe_has_groups(p)) pipe_ring_wait(p, b, open);
  if (pipe_has_groups(p) && p->through_proxy) pipe_fence_proxy(p, b);
  if (pipe_has_groups(p)) nest_stmt(b, NEST_BAR, 0, 0);
  if (p->nbulk) wait_for_boxes(p, a, b, index);
}

/* A dot of a slot, as a group that is left open. */
static void open_dot(Pipe *p, NestBuilder *b, NestStmt *dot, NestVar *slot) {
  NestBuilder at = {p->n, b->block, dot, dot->span};
  pipe_read_slot(p, slot, &at, dot);
  nest_set_int(p->n, dot, NA_open, 1);
}

/* Does `x`, with those inside it, set what the statement reads or sets? */
static bool sets_for(const NestStmt *x, const NestStmt *st) {
  for (uint32_t i = 0; i < x->ndsts; i++)
    if (x->dsts[i].kind == REF_VAR && nest_touches(st, x->dsts[i].var)) return true;
  for (uint32_t r = 0; r < x->nregions; r++)
    for (const NestStmt *in = x->regions[r]->first; in; in = in->next)
      if (sets_for(in, st)) return true;
  return false;
}

/* Does the statement read what those from `first` to it have set? */
static bool depends_on(const NestStmt *st, const NestStmt *first) {
  for (const NestStmt *x = first; x != st; x = x->next)
    if (sets_for(x, st)) return true;
  return false;
}

/* The second product's operand is made before the first product, whose result takes the place of
 * what it is made of, starts. */
static void make_operand_first(Rotation *r) {
  const NestVar *sum = r->second->dsts[0].var, *operand = r->second->srcs[0].var;
  for (NestStmt *st = r->place, *next; st != r->second; st = next) {
    next = st->next;
    if (!nest_sets(st, operand) || nest_touches(st, sum) || depends_on(st, r->place)) continue;
    nest_move_before(st, r->place);
    if (r->needs == r->place) r->needs = st;
  }
}

/* ---- tiles that threads load for the next iteration ---- */

/* Does `st`, which is in `load`, read no more than the loop's index, what no iteration changes, and
 * what `load` sets? */
static bool reads_index_alone(const Pipe *p, const NestStmt *load, const NestStmt *st) {
  const Ref *refs[] = {st->srcs, &st->guard};
  uint32_t counts[] = {st->nsrcs, 1};
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; i < counts[k]; i++) {
      const NestVar *v = refs[k][i].kind == REF_VAR ? refs[k][i].var : NULL;
      if (v && v != p->loop->dsts[0].var && !nest_sets(load, v) && nest_sets(p->loop, v))
        return false;
    }
  for (uint32_t i = 0; i < st->nmems; i++) {
    const Ref *base = &st->mems[i].base;
    bool is_set = base->kind == REF_VAR && !nest_sets(load, base->var) &&
                  nest_sets(p->loop, base->var);
    if (st->mems[i].buffer || is_set) return false;
  }
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (!reads_index_alone(p, load, x)) return false;
  return true;
}

/* Does the block write to memory that is no buffer, or is an access of it in order with all? */
static bool writes_memory(const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    bool writes = nest_flags(st) & NEST_IS_WRITE, ordered = nest_flags(st) & NEST_IS_ORDERED;
    for (uint32_t i = 0; i < st->nmems; i++) writes &= !st->mems[i].buffer;
    if (writes || (ordered && st->code != NEST_FENCE)) return true;
    for (uint32_t r = 0; r < st->nregions; r++)
      if (writes_memory(st->regions[r])) return true;
  }
  return false;
}

/* A tile from memory of which nothing is needed from r->place on, in any iteration. */
static bool can_lead(const Pipe *p, const NestStmt *load) {
  const NestStmt *ld = load->code == NEST_NEST ? load->regions[0]->last : NULL;
  if (!ld || ld->code != NEST_LD || !ld->dsts[0].var->tile.rank) return false;
  if (nest_attr(ld, NA_pinned)) return false;
  for (size_t i = 0; i < p->pairs.len; i++)
    if (p->pairs.data[i].load == load) return false;
  const NestVar *tile = ld->dsts[0].var;
  if (!reads_index_alone(p, load, load)) return false;
  for (const NestStmt *st = p->loop->regions[0]->first; st && st != load; st = st->next)
    if (nest_touches(st, tile)) return false;
  for (const NestStmt *st = p->rotation.place; st; st = st->next)
    if (nest_touches(st, tile)) return false;
  for (const NestStmt *st = load->next; st; st = st->next)
    if (nest_sets(st, tile)) return false;
  return !is_read_outside(p->n->body, p->loop, tile);
}

/* The load of the iteration whose index is `index`. */
static void load_ahead(Pipe *p, NestBuilder *b, const NestStmt *load, NestVar *index) {
  NestVar **others = p->ahead;
  p->ahead = ARENA_ARRAY(p->scratch, NestVar *, p->nvars + 1);
  p->ahead[p->loop->dsts[0].var->id] = index;
  pipe_clone(p, b, load);
  p->ahead = others;
}

/* Another variable for the loop's index. */
static NestVar *new_index(Pipe *p) {
  const NestVar *index = p->loop->dsts[0].var;
  NestVar *v = nest_var(p->n, index->name, index->dtype, DT_NONE, 1, true);
  v->div = index->div;
  return v;
}

/* A loop may have no iterations. */
static void load_first(Pipe *p, NestBuilder *b, const NestStmt *load) {
  NestVar *first = new_index(p);
  nest_mov(b, ref_var(first), p->loop->srcs[0], first->dtype);
  Ref any = pipe_op(b, TILE_LT, p->loop->type, pipe_scalar(p, NULL, DT_I1), ref_var(first),
                    p->loop->srcs[1]);
  NestStmt *branch = nest_stmt(b, NEST_IF, 0, 1);
  branch->srcs[0] = any;
  NestBuilder in = {p->n, nest_block(p->n, branch), NULL, b->span};
  nest_block(p->n, branch);
  load_ahead(p, &in, load, first);
}

/* Loads that run under the products: each before the first product of its iteration starts.  The
 * last iteration loads its own tile once more. */
static void lead_loads(Pipe *p, NestBuilder *before, NestBuilder *at, Ref next) {
  NestVar *index = NULL;
  for (NestStmt *st = p->loop->regions[0]->first, *after; st != p->rotation.place; st = after) {
    after = st->next;
    if (!can_lead(p, st)) continue;
    if (!index) {
      index = new_index(p);
      Ref more = pipe_op(at, TILE_LT, p->loop->type, pipe_scalar(p, NULL, DT_I1), next,
                         p->loop->srcs[1]);
      nest_op(at, TILE_SELECT, index->dtype, ref_var(index), more, next,
              ref_var(p->loop->dsts[0].var));
    }
    load_first(p, before, st);
    load_ahead(p, at, st, index);
    nest_remove(st);
  }
}

/* The operand is turned while the second product of the iteration before still reads the other
 * slot.  A barrier tells all warps that it is there, and that each has waited for the products: the
 * copies after it need no other. */
static void turn_operand(Pipe *p, NestBuilder *before, NestBuilder *at, NestVar *slot) {
  enum { SLOTS = 2 };
  NestStmt *turn = p->rotation.turn, *fence = turn->next;
  NestBuffer *made = turn->mems[0].buffer;
  NestVar *side = nest_var(p->n, "side", DT_I32, DT_NONE, 1, true);
  NestVar *other = nest_var(p->n, "at", DT_I32, DT_NONE, 1, true);
  other->div = made->bytes & -made->bytes;
  nest_mov(before, ref_var(side), ref_int(0), DT_I32);
  pipe_op(at, TILE_MUL, DT_I32, ref_var(other), ref_var(side), ref_int(made->bytes));
  pipe_op(at, TILE_SUB, DT_I32, ref_var(side), ref_int(1), ref_var(side));
  turn->mems[0].base = p->rotation.second->mems[1].base = ref_var(other);
  pipe_read_slot(p, slot, at, turn);
  nest_move_before(turn, at->before);
  if (fence->code == NEST_FENCE) nest_move_before(fence, at->before);
  made->bytes *= SLOTS;
  made->slots = SLOTS;
}

void rotation_body(Pipe *p, const Ahead *a, const Ahead *lead, NestBuilder *before) {
  Rotation *r = &p->rotation;
  make_operand_first(r);
  bool leads = !writes_memory(p->loop->regions[0]);
  NestBlock *body = p->loop->regions[0];
  NestVar *index = p->loop->dsts[0].var;
  wait_for_first(p, a, before, p->loop->srcs[0], p->depth - 2);
  open_dot(p, before, nest_copy(before, r->first), a->slot_r);
  products_wait(p, before, 0);

  NestBuilder at = {p->n, body, r->needs, p->loop->span};
  NestVar *slot = nest_var(p->n, "slot", DT_I32, DT_NONE, 1, true);
  Ref next = pipe_scalar(p, index->name, index->dtype);
  BulkRing second = p->ring[1];
  nest_mov(&at, ref_var(slot), ref_var(a->slot_r), DT_I32);
  if (p->nbulk) {
    second.phase = nest_var(p->n, "phase", DT_I32, DT_NONE, 1, true);
    nest_mov(&at, ref_var(second.phase), ref_var(p->ring[0].phase), DT_I32);
  }
  Ahead copies = *a;
  if (p->nbulk) bulk_wait(&second, &at, slot);
  if (r->turn) turn_operand(p, before, &at, slot);
  products_wait(p, &at, 0);
  if (p->nbulk && !r->turn) {
    bulk_release(&second, &at, slot);
    copies.freed = slot;
    copies.freed_phase = second.phase;
  }
  at.before = r->place;
  Ref wraps = pipe_advance_slot(p, &at, a->slot_r);
  if (p->nbulk) bulk_next_phase(&p->ring[0], &at, wraps);
  pipe_op(&at, TILE_ADD, p->loop->type, next, ref_var(index), p->loop->srcs[2]);
  wait_for_first(p, a, &at, next, p->depth - 3);
  if (leads) lead_loads(p, before, &at, next);
  open_dot(p, &at, nest_copy(&at, r->first), a->slot_r);
  nest_remove(r->first);

  at.before = r->second;
  if (pipe_has_groups(p) || r->turn) nest_stmt(&at, NEST_BAR, 0, 0);
  open_dot(p, &at, r->second, slot);
  at.before = r->second->next;
  pipe_issue_copies(p, &at, &copies);
  if (lead->only) pipe_issue_copies(p, &at, lead);
  products_wait(p, &at, 1);
}

