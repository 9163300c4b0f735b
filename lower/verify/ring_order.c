/* What has not ended yet: accesses, groups, phases, registers.  See ring.h. */
#include <string.h>

#include "lower/messages.h"
#include "lower/target/wgmma_layout.h"
#include "lower/verify/ring.h"

typedef struct {
  int32_t lo, hi;
} Bytes;

void ring_fault(Check *c, const char *fault, Span at, Span other) {
  if (c->fault) return;
  c->fault = fault;
  c->at = at;
  c->other = other;
}

static const Span nowhere;

static void fault_at(Check *c, const Step *step, const char *fault) {
  ring_fault(c, fault, step->st->span, nowhere);
}

static Who executed_by(const Check *c, const State *s, const NestStmt *st) {
  if (!st->guard.kind) return BY_ALL;
  Range r = range_of(c, s, &st->guard);
  if (range_is_const(&r, 0)) return BY_NONE;
  if (range_is_const(&r, 1)) return BY_ALL;
  return r.symbol == LEADER ? BY_LEADER : r.symbol == EACH_WARP ? BY_EACH_WARP : BY_UNKNOWN;
}

/* ---- what is pending ---- */

static void remove_pending(State *s, uint32_t i) {
  uint32_t after = --s->npending - i;
  memmove(&s->pending[i], &s->pending[i + 1], after * sizeof *s->pending);
  memset(&s->pending[s->npending], 0, sizeof *s->pending);
}

/* Reads by products of one slot become one: those that have ended are less than a new one of the
 * same bytes, and neighbours of one group end together. */
static void merge_products(State *s, Pending *p) {
  for (uint32_t i = 0; i < s->npending;) {
    const Pending *old = &s->pending[i];
    bool read = old->kind == RING_READ && old->of == p->of;
    bool inside = p->lo <= old->lo && old->hi <= p->hi;
    bool beside = old->kind == RING_PRODUCT && old->of == p->of && old->age == p->age &&
                  old->lo <= p->hi && p->lo <= old->hi;
    if (beside) {
      p->lo = old->lo < p->lo ? old->lo : p->lo;
      p->hi = old->hi > p->hi ? old->hi : p->hi;
    }
    if (!beside && !(read && inside)) {
      i++;
      continue;
    }
    remove_pending(s, i);
    if (beside) i = 0;
  }
}

static bool replaces(const Pending *a, const Pending *b) {
  bool same = a->lo == b->lo && a->hi == b->hi && a->of == b->of;
  if (!same) return false;
  if (a->kind == RING_RESULT || a->kind == RING_FRAGMENT) return a->kind == b->kind;
  bool writes = b->kind == RING_WRITTEN && a->kind != RING_READ && a->kind != RING_PRODUCT;
  return a->step == b->step && (a->kind == b->kind || writes);
}

static void add_pending(Check *c, State *s, const Step *step, Pending p) {
  p.step = step->id;
  if (p.kind == RING_PRODUCT) merge_products(s, &p);
  for (uint32_t i = 0; i < s->npending;)
    if (replaces(&p, &s->pending[i])) remove_pending(s, i);
    else i++;
  if (s->npending == MOST_PENDING) fault_at(c, step, W_RING_STATES);
  else s->pending[s->npending++] = p;
}

static bool is_write(PendingKind k) {
  return k != RING_READ && k != RING_PRODUCT && k != RING_SENT;
}

static bool through_proxy(PendingKind k) {
  return k == RING_BOX || k == RING_PRODUCT || k == RING_SENT;
}

/* Why an access may not follow what is pending; NULL: it may. */
static const char *conflict(const Check *c, const Pending *p, const Step *step, PendingKind kind,
                            bool leader) {
  const NestStmt *before = c->steps.data[p->step]->st, *st = step->st;
  bool proxy = through_proxy(kind), ordered = leader && (p->leader || p->known);
  switch ((PendingKind)p->kind) {
    case RING_COPYING: case RING_BOX: return W_RING_COPY;
    case RING_PRODUCT: return is_write(kind) ? W_RING_PRODUCT : NULL;
    case RING_SENT: return is_write(kind) ? W_RING_SENT : NULL;
    case RING_WRITTEN:
      if (!proxy || (p->fenced && ordered)) return NULL;
      return p->fenced ? W_RING_FENCE_BARRIER : W_RING_FENCE;
    case RING_READ: case RING_WRITE: case RING_ATOMIC: break;
    default: return NULL;
  }
  if (is_write(p->kind) && proxy && !p->fenced) return W_RING_FENCE;
  if (ordered) return NULL;
  bool one = before->nmems && st->nmems && before->mems[0].buffer == st->mems[0].buffer;
  if (one && st->mems[0].buffer && st->mems[0].buffer->own) return NULL;
  bool threads = kind == RING_READ || kind == RING_WRITE || kind == RING_ATOMIC;
  bool conflicts = threads ? nest_accesses_conflict(c->ndefs, before, st, one)
                           : is_write(kind) || is_write(p->kind);
  return conflicts ? W_RING_BARRIER : NULL;
}

static void check_bytes(Check *c, const State *s, const Step *step, PendingKind kind, Bytes b,
                        bool leader) {
  for (uint32_t i = 0; i < s->npending; i++) {
    const Pending *p = &s->pending[i];
    if (p->kind > RING_PRODUCT || p->hi <= b.lo || b.hi <= p->lo) continue;
    /* Iterations of an unrolled loop copy to different bytes. */
    if (c->again && p->step == step->id && p->kind == RING_COPYING && !p->age) continue;
    const char *why = conflict(c, p, step, kind, leader);
    if (why) ring_fault(c, why, step->st->span, c->steps.data[p->step]->st->span);
  }
}

static void take_bytes(Check *c, State *s, const Step *step, PendingKind kind, Bytes b,
                       bool leader) {
  check_bytes(c, s, step, kind, b, leader);
  add_pending(c, s, step, (Pending){.lo = b.lo, .hi = b.hi, .kind = (uint8_t)kind,
                                    .leader = leader});
}

/* A number for each slot of each buffer, above 0. */
static uint32_t slot_number(const Check *c, const NestBuffer *b, int32_t at) {
  enum { MOST_SLOTS = 4096 };
  int64_t slot = b->bytes / (b->slots > 1 ? b->slots : 1);
  return (b->id + 1) * MOST_SLOTS + (uint32_t)((at - c->offset[b->id]) / slot % MOST_SLOTS);
}

static void take_operand(Check *c, State *s, const Step *step, const NestBuffer *from, Bytes b) {
  check_bytes(c, s, step, RING_PRODUCT, b, false);
  add_pending(c, s, step, (Pending){.lo = b.lo, .hi = b.hi, .kind = RING_PRODUCT,
                                    .of = slot_number(c, from, b.lo)});
}

/* ---- addresses ---- */

/* Bytes of shared memory that accesses of `size` bytes may touch, whose addresses and sizes are
 * multiples of `align`. */
static Bytes bytes_of(const Check *c, const State *s, const Mem *m, int64_t size, int64_t align) {
  int64_t first = 0, last = m->buffer->bytes, start = c->offset[m->buffer->id];
  Range base = m->base.kind ? range_of(c, s, &m->base) : range_const(0);
  Range at = range_add(base, range_affine(c, &m->bytes));
  int64_t slot = last / (m->buffer->slots > 1 ? m->buffer->slots : 1);
  if (base.split && base.shift % slot == 0 && base.shift < last) {
    first = base.shift;
    last = first + slot;
  }
  if (at.symbol == NO_SYMBOL) {
    int64_t lo = at.lo / align * align, hi = at.hi / align * align + size;
    if (lo > first && lo < last) first = lo;
    if (hi > first && hi < last) last = hi;
  }
  return (Bytes){(int32_t)(start + first), (int32_t)(start + last)};
}

static int64_t access_bytes(const NestStmt *st) {
  enum { MATRIX_ROW = 16 };
  if (st->code == NEST_LDMATRIX) return MATRIX_ROW;
  if (st->code == NEST_CP_ASYNC) return nest_int(st, NA_bytes, MATRIX_ROW);
  int64_t n = st->code == NEST_LD || st->code == NEST_ST ? nest_int(st, NA_n, 1) : 1;
  return n * dtype_bytes(st->type);
}

/* An operand of a warpgroup's product: its rows are swizzled within themselves. */
static Bytes operand_bytes(const Check *c, const State *s, const NestStmt *st, int which) {
  enum { WARP_ROWS = 16 };
  const Atom *atom = atom_find(nest_str(st, NA_atom, ""));
  WgmmaOperand x = wgmma_operand(st, which);
  int64_t row = INT64_C(1) << (x.layout.xor_base + x.layout.xor_bits);
  int64_t rows = which ? atom->k : WARPGROUP * WARP_ROWS;
  int64_t columns = which ? nest_int(st, NA_columns, 8) : atom->k;
  const NestBuffer *buffer = st->mems[which].buffer;
  int64_t last = wgmma_offset(&x, rows - 1, columns - 1) + dtype_bytes(buffer->dtype);
  Bytes b = bytes_of(c, s, &st->mems[which], 1, row);
  b.hi = (int32_t)((b.hi - 1 + last + row - 1) / row * row);
  int64_t end = c->offset[buffer->id] + buffer->bytes;
  if (b.hi > end) b.hi = (int32_t)end;
  return b;
}

/* ---- barriers, fences, groups ---- */

static bool is_done(const Pending *p) {
  return p->kind == RING_READ || p->kind == RING_WRITE || p->kind == RING_ATOMIC ||
         p->kind == RING_WRITTEN;
}

/* All threads know that what is pending there was done; true if nothing of it is left. */
static bool known_to_all(const Check *c, State *s, uint32_t i) {
  Pending *p = &s->pending[i];
  if (p->kind == RING_READ || p->fenced || !c->proxies) {
    remove_pending(s, i);
    return true;
  }
  p->kind = RING_WRITTEN;
  return false;
}

static void at_barrier(Check *c, State *s) {
  for (uint32_t i = 0; i < s->npending;)
    if (!is_done(&s->pending[i]) || !known_to_all(c, s, i)) i++;
  for (uint32_t i = 0; i < c->nphases; i++) {
    Phase *ph = &s->phases[i];
    ph->waited = BY_NONE;
    ph->known = false;
    ph->told = 0;
    ph->ended |= ph->made && !ph->missing && !ph->expected && !ph->started;
  }
}

static void at_fence(Check *c, State *s, const NestStmt *st) {
  const char *kind = nest_str(st, NA_kind, "");
  Who who = executed_by(c, s, st);
  if (who == BY_NONE || who == BY_UNKNOWN) return;
  if (!strcmp(kind, "mma") && who == BY_ALL) s->dirty = 0;
  if (strcmp(kind, "proxy")) return;
  for (uint32_t i = 0; i < s->npending; i++) {
    Pending *p = &s->pending[i];
    bool written = p->kind == RING_WRITE || p->kind == RING_ATOMIC || p->kind == RING_WRITTEN;
    if (!written || (who != BY_ALL && !p->leader)) continue;
    p->fenced = true;
    p->known = false;
    p->told = 0;
  }
}

typedef enum { GROUP_COPIES, GROUP_PRODUCTS, GROUP_STORES } GroupKind;

static bool in_group(const Pending *p, GroupKind kind) {
  switch ((PendingKind)p->kind) {
    case RING_COPYING: return kind == GROUP_COPIES;
    case RING_SENT: return kind == GROUP_STORES;
    case RING_PRODUCT: case RING_RESULT: case RING_FRAGMENT: return kind == GROUP_PRODUCTS;
    default: return false;
  }
}

static void commit_group(State *s, GroupKind kind) {
  for (uint32_t i = 0; i < s->npending; i++)
    if (in_group(&s->pending[i], kind) && s->pending[i].age < UINT16_MAX) s->pending[i].age++;
}

/* What a group that has ended did counts as done by its threads; of stores that is the leader. */
static void wait_group(State *s, GroupKind kind, int64_t open) {
  for (uint32_t i = 0; i < s->npending;) {
    Pending *p = &s->pending[i];
    if (!in_group(p, kind) || !p->age || p->age <= open) {
      i++;
      continue;
    }
    if (p->kind == RING_RESULT || p->kind == RING_FRAGMENT) {
      remove_pending(s, i);
      continue;
    }
    p->kind = kind == GROUP_COPIES ? RING_WRITE : RING_READ;
    p->leader = kind == GROUP_STORES;
    p->age = 0;
    i++;
  }
}

/* ---- mbarriers ---- */

enum { MBARRIER_BYTES = 8 };

/* The number of the mbarrier, whose address must be known; -1, with a fault, if it is none. */
static int mbarrier_number(Check *c, const State *s, const Step *step, const Mem *m, bool make) {
  Bytes b = bytes_of(c, s, m, MBARRIER_BYTES, 1);
  uint32_t i = 0;
  while (i < c->nphases && c->phase_at[i] != b.lo) i++;
  if (b.hi - b.lo != MBARRIER_BYTES) fault_at(c, step, W_RING_UNKNOWN);
  else if (i == MOST_PHASES) fault_at(c, step, W_RING_STATES);
  else if (make && i == c->nphases) c->phase_at[c->nphases++] = b.lo;
  else if (make != !s->phases[i].made || i == c->nphases) fault_at(c, step, W_RING_NO_MBARRIER);
  return c->fault ? -1 : (int)i;
}

static Bytes phase_bytes(const Check *c, int number) {
  int32_t at = c->phase_at[number];
  return (Bytes){at, at + MBARRIER_BYTES};
}

static void make_mbarrier(Check *c, State *s, const Step *step, Who who) {
  int i = mbarrier_number(c, s, step, &step->st->mems[0], true);
  if (i < 0) return;
  take_bytes(c, s, step, RING_WRITE, phase_bytes(c, i), who == BY_LEADER);
  c->phase_buffer[i] = step->st->mems[0].buffer->id;
  uint16_t count = (uint16_t)nest_int(step->st, NA_count, 1);
  s->phases[i] = (Phase){.count = count, .missing = count, .made = true};
}

/* Threads that arrive tell who waits what they have done until now. */
static void tell(const Check *c, State *s, int number, Who who) {
  uint32_t bit = UINT32_C(1) << number;
  for (uint32_t i = 0; i < s->npending; i++) {
    Pending *p = &s->pending[i];
    if (is_done(p) && (p->leader || who != BY_LEADER)) p->told |= bit;
  }
  for (uint32_t i = 0; i < c->nphases; i++) {
    Phase *ph = &s->phases[i];
    if (ph->waited && (ph->waited == BY_LEADER || who != BY_LEADER)) ph->told |= bit;
  }
}

/* Threads that have waited know what they were told. */
static void hear(const Check *c, State *s, int number, Who who) {
  uint32_t bit = UINT32_C(1) << number;
  for (uint32_t i = 0; i < s->npending;) {
    Pending *p = &s->pending[i];
    bool told = p->told & bit;
    p->told &= ~bit;
    if (told && who == BY_ALL && known_to_all(c, s, i)) continue;
    p->known |= told;
    i++;
  }
  for (uint32_t i = 0; i < c->nphases; i++) {
    Phase *ph = &s->phases[i];
    if (ph->told & bit) {
      ph->known = who != BY_ALL;
      if (who == BY_ALL) ph->waited = BY_NONE;
    }
    ph->told &= ~bit;
    if (!ph->waited) ph->told = 0;
  }
}

static void begin_phase(Phase *ph, Who waited) {
  *ph = (Phase){.count = ph->count, .missing = ph->count, .parity = !ph->parity, .made = true,
                .waited = (uint8_t)waited};
}

static void arrive(Check *c, State *s, const Step *step, Who who) {
  int i = mbarrier_number(c, s, step, &step->st->mems[0], false);
  if (i < 0) return;
  Phase *ph = &s->phases[i];
  int64_t warps = c->n->warps, arrivals = who == BY_LEADER      ? 1
                                          : who == BY_EACH_WARP ? warps
                                                                : warps * c->n->lanes;
  check_bytes(c, s, step, RING_ATOMIC, phase_bytes(c, i), who == BY_LEADER);
  if (ph->ended) begin_phase(ph, BY_NONE);
  bool knows = !ph->waited || (who == BY_LEADER && (ph->waited == BY_LEADER || ph->known));
  if (!knows || ph->missing < arrivals) fault_at(c, step, W_RING_ARRIVAL);
  ph->missing = (uint16_t)(ph->missing - arrivals);
  ph->expected += (int32_t)nest_int(step->st, NA_tx, 0);
  tell(c, s, i, who);
}

static void end_phase(Check *c, State *s, int number, Who who) {
  begin_phase(&s->phases[number], who);
  for (uint32_t i = 0; i < s->npending;)
    if (s->pending[i].kind == RING_BOX && s->pending[i].of == (uint32_t)number)
      remove_pending(s, i);
    else i++;
  hear(c, s, number, who);
}

static bool awaits_boxes(const State *s, int number) {
  for (uint32_t i = 0; i < s->npending; i++)
    if (s->pending[i].kind == RING_BOX && s->pending[i].of == (uint32_t)number) return true;
  return false;
}

static void wait_phase(Check *c, State *s, const Step *step, Who who) {
  int i = mbarrier_number(c, s, step, &step->st->mems[0], false);
  Range parity = range_of(c, s, &step->st->srcs[0]);
  if (i < 0) return;
  check_bytes(c, s, step, RING_ATOMIC, phase_bytes(c, i), who == BY_LEADER);
  Phase *ph = &s->phases[i];
  bool fresh = ph->missing == ph->count && !ph->started;
  if (who != BY_ALL && (who != BY_LEADER || awaits_boxes(s, i))) {
    fault_at(c, step, W_RING_UNKNOWN);
  } else if (range_is_const(&parity, !ph->parity)) {
    if (!fresh) fault_at(c, step, W_RING_PARITY);
    if (ph->waited < who) *ph = (Phase){.count = ph->count, .missing = ph->missing,
                                        .parity = ph->parity, .made = true,
                                        .waited = (uint8_t)who};
  } else if (!range_is_const(&parity, ph->parity)) {
    fault_at(c, step, W_RING_UNKNOWN);
  } else if (ph->missing) {
    fault_at(c, step, W_RING_DEADLOCK);
  } else if (ph->started != ph->expected) {
    fault_at(c, step, W_RING_BYTES);
  } else {
    end_phase(c, s, i, who);
  }
}

/* A single thread copies: what it has done itself comes before, what others have done may not. */
static void copy_box(Check *c, State *s, const Step *step, Who who) {
  const NestStmt *st = step->st;
  int i = mbarrier_number(c, s, step, &st->mems[1], false);
  if (who != BY_LEADER) fault_at(c, step, W_RING_UNKNOWN);
  if (c->fault) return;
  int64_t bytes = nest_map_bytes(nest_map_of(c->n, st));
  Bytes b = bytes_of(c, s, &st->mems[0], bytes, 1);
  check_bytes(c, s, step, RING_BOX, phase_bytes(c, i), true);
  check_bytes(c, s, step, RING_BOX, b, true);
  if (b.hi - b.lo != bytes) fault_at(c, step, W_RING_UNKNOWN);
  add_pending(c, s, step, (Pending){.lo = b.lo, .hi = b.hi, .kind = RING_BOX, .of = (uint32_t)i});
  s->phases[i].started += (int32_t)bytes;
}

/* A single thread stores what all have written. */
static void store_box(Check *c, State *s, const Step *step, Who who) {
  const NestStmt *st = step->st;
  int64_t bytes = nest_map_bytes(nest_map_of(c->n, st));
  Bytes b = bytes_of(c, s, &st->mems[0], bytes, 1);
  if (who != BY_LEADER || b.hi - b.lo != bytes) fault_at(c, step, W_RING_UNKNOWN);
  take_bytes(c, s, step, RING_SENT, b, false);
}

/* ---- products and their registers ---- */

typedef struct {
  Pending p;
  bool reads, writes;
} Registers;

static Registers registers_of(const Check *c, const Ref *r, int64_t count) {
  Registers x = {.p = {.hi = (int32_t)r->var->count, .of = r->var->id}};
  Range at = range_affine(c, &r->sub);
  if (!count) return x;
  x.p.lo = (int32_t)at.lo;
  x.p.hi = (int32_t)(at.hi + count);
  return x;
}

static void check_registers(Check *c, const State *s, const Step *step, const Registers *x) {
  for (uint32_t i = 0; i < s->npending; i++) {
    const Pending *p = &s->pending[i];
    if (p->kind < RING_RESULT || p->of != x->p.of || p->hi <= x->p.lo || x->p.hi <= p->lo) continue;
    /* Products add to one accumulator in the order of the text. */
    if (x->p.kind == RING_RESULT && p->kind == RING_RESULT && p->lo == x->p.lo && p->hi == x->p.hi)
      continue;
    if (p->kind == RING_FRAGMENT && !x->writes) continue;
    ring_fault(c, W_RING_REGISTERS, step->st->span, c->steps.data[p->step]->st->span);
  }
}

static void use_ref(Check *c, State *s, const Step *step, const Ref *r, bool writes) {
  if (r->kind != REF_VAR || c->product[r->var->id] < 0) return;
  const NestStmt *st = step->st;
  bool run = st->code == NEST_MOV || st->code == NEST_LD || st->code == NEST_ST;
  Registers x = registers_of(c, r, run ? nest_int(st, NA_n, 1) : st->code == NEST_OP);
  x.writes = writes;
  check_registers(c, s, step, &x);
  s->dirty |= UINT64_C(1) << c->product[r->var->id];
}

void ring_use(Check *c, State *s, const Step *step) {
  const NestStmt *st = step->st;
  for (uint32_t i = 0; i < st->nsrcs; i++) use_ref(c, s, step, &st->srcs[i], false);
  for (uint32_t i = 0; i < st->ndsts; i++) use_ref(c, s, step, &st->dsts[i], true);
}

static void start_registers(Check *c, State *s, const Step *step, const Ref *r, int64_t count,
                            PendingKind kind) {
  Registers x = registers_of(c, r, count);
  x.p.kind = (uint8_t)kind;
  x.writes = kind == RING_RESULT;
  check_registers(c, s, step, &x);
  if (s->dirty >> c->product[r->var->id] & 1) fault_at(c, step, W_RING_REGISTER_FENCE);
  add_pending(c, s, step, x.p);
}

static void start_product(Check *c, State *s, const Step *step) {
  const NestStmt *st = step->st;
  const Atom *atom = atom_find(nest_str(st, NA_atom, ""));
  for (int which = 0; which < 2; which++)
    if (st->mems[which].buffer)
      take_operand(c, s, step, st->mems[which].buffer, operand_bytes(c, s, st, which));
  if (!st->mems[0].buffer)
    start_registers(c, s, step, &st->srcs[0], atom_registers(atom, 0), RING_FRAGMENT);
  start_registers(c, s, step, &st->dsts[0], nest_int(st, NA_columns, 8) / 2, RING_RESULT);
}

/* ---- steps ---- */

bool ring_is_ordering(const NestStmt *st) {
  switch (st->code) {
    case NEST_CP_COMMIT: case NEST_CP_WAIT: case NEST_MBAR_INIT: case NEST_MBAR_EXPECT:
    case NEST_MBAR_ARRIVE: case NEST_BULK_COPY: case NEST_MBAR_WAIT: case NEST_WGMMA:
    case NEST_MMA_COMMIT: case NEST_MMA_WAIT: case NEST_BULK_STORE: case NEST_BULK_COMMIT:
    case NEST_BULK_WAIT: case NEST_BAR: case NEST_FENCE: case NEST_CLUSTER_WAIT: return true;
    default: return false;
  }
}

static void access_shared(Check *c, State *s, const Step *step, Who who) {
  const NestStmt *st = step->st;
  if (!st->nmems || !st->mems[0].buffer) return;
  unsigned flags = nest_flags(st);
  PendingKind kind = st->code == NEST_CP_ASYNC ? RING_COPYING
                     : flags & NEST_IS_ATOMIC  ? RING_ATOMIC
                     : flags & NEST_IS_WRITE   ? RING_WRITE
                                               : RING_READ;
  int64_t size = access_bytes(st);
  take_bytes(c, s, step, kind, bytes_of(c, s, &st->mems[0], size, size & -size), who == BY_LEADER);
}

void ring_access(Check *c, State *s, const Step *step) {
  const NestStmt *st = step->st;
  Who who = executed_by(c, s, st);
  if (who == BY_NONE) return;
  if (who == BY_UNKNOWN && ring_is_ordering(st)) fault_at(c, step, W_RING_UNKNOWN);
  switch (st->code) {
    case NEST_CLUSTER_WAIT: if (nest_is_barrier(st)) at_barrier(c, s); return;
    case NEST_BAR: if (!nest_int(st, NA_warps, 0)) at_barrier(c, s); return;
    case NEST_FENCE: at_fence(c, s, st); return;
    case NEST_CP_COMMIT: commit_group(s, GROUP_COPIES); return;
    case NEST_CP_WAIT: wait_group(s, GROUP_COPIES, nest_int(st, NA_groups, 0)); return;
    case NEST_MMA_COMMIT: commit_group(s, GROUP_PRODUCTS); return;
    case NEST_MMA_WAIT: wait_group(s, GROUP_PRODUCTS, nest_int(st, NA_groups, 0)); return;
    case NEST_MBAR_INIT: make_mbarrier(c, s, step, who); return;
    case NEST_MBAR_EXPECT: case NEST_MBAR_ARRIVE: arrive(c, s, step, who); return;
    case NEST_MBAR_WAIT: wait_phase(c, s, step, who); return;
    case NEST_BULK_COPY: copy_box(c, s, step, who); return;
    case NEST_BULK_STORE: store_box(c, s, step, who); return;
    case NEST_BULK_COMMIT: commit_group(s, GROUP_STORES); return;
    case NEST_BULK_WAIT: wait_group(s, GROUP_STORES, nest_int(st, NA_groups, 0)); return;
    case NEST_WGMMA: start_product(c, s, step); return;
    default: access_shared(c, s, step, who); return;
  }
}

void ring_end(Check *c, State *s) {
  for (uint32_t i = 0; i < s->npending; i++)
    if (s->pending[i].kind == RING_BOX || s->pending[i].kind == RING_SENT)
      ring_fault(c, W_RING_END, c->steps.data[s->pending[i].step]->st->span, nowhere);
}
