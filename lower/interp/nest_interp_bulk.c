/* mbarriers, and copies of boxes of tensors.
 *
 * A copy reads and writes as late as it may: when a thread waits for its phase, or somebody arrives
 * for the next one.  Until then its bytes are poison and in flight.  What is copied counts as
 * written where the bytes were expected: who waits for the phase knows that, nobody else does. */
#include <string.h>

#include "lower/interp/nest_interp_run.h"
#include "lower/messages.h"

enum { CHUNK = 16, CHUNK_BITS = 4, ROW_SHIFT = 7 };

/* ---- mbarriers ---- */

static Mbarrier *find_mbarrier(Warp *w, const Inst *in, const Spot *p, int64_t at) {
  Prog *prog = w->prog;
  for (size_t i = 0; i < prog->mbarriers.len; i++)
    if (prog->mbarriers.data[i].at == at) return &prog->mbarriers.data[i];
  if (nest_found(w, FOUND_MBARRIER, in->stmt->span, p->buffer))
    findings_text(prog->run->findings, E_NEST_NO_MBARRIER, (long long)(at - p->offset),
                  p->buffer->name);
  return NULL;
}

static void join_clock(const Run *r, uint32_t *into, const uint32_t *from) {
  for (uint32_t i = 0; i < r->warps; i++)
    if (from[i] > into[i]) into[i] = from[i];
}

/* A thread that has waited knows what came before the arrivals. */
static void acquire(Warp *w, const Mbarrier *m) {
  join_clock(w->prog->run, w->clock, m->ended);
  if (m->ended[w->id] > w->settled) w->settled = m->ended[w->id];
}

static bool has_ended(const Mbarrier *m, uint32_t parity) { return (m->phase & 1) != parity; }

/* The value that a launch gives. */
static int64_t launch_value(const Run *r, const LaunchValue *v) {
  for (uint32_t i = 0; v->param && i < r->nest->nparams; i++)
    if (r->nest->params[i] == v->param)
      return v->scale * scalar_load(v->param->dtype, &r->args[i].bits).i;
  return v->scale;
}

static int32_t map_argument(const Run *r, const TensorMap *m) {
  for (uint32_t i = 0; i < r->nest->nparams; i++)
    if (r->nest->params[i] == m->base) return (int32_t)i;
  return MEMORY_NO_ARG;
}

/* The element of the box with that number, in the order of memory; zero outside of the tensor. */
static void read_element(Warp *w, const Box *b, int64_t number, uint8_t *out) {
  Run *r = w->prog->run;
  const TensorMap *m = b->map;
  int32_t arg = map_argument(r, m);
  uint64_t address = (uint64_t)r->args[arg].bits;
  Access who = {w->prog->index, b->inst->stmt->span, arg, false, false, true};
  memset(out, 0, dtype_bytes(m->dtype));
  for (int i = 0; i < m->rank; i++) {
    int64_t at = b->at[i] + number % m->axes[i].box;
    number /= m->axes[i].box;
    if (at < 0 || at >= launch_value(r, &m->axes[i].extent)) return;
    address += (uint64_t)(at * launch_value(r, &m->axes[i].stride));
  }
  memory_read(r->memory, address, dtype_bytes(m->dtype), out, who);
}

/* Rows are swizzled by bits of their address. */
static int64_t swizzled(const TensorMap *m, int64_t at) {
  int64_t row = (int64_t)m->axes[0].box * dtype_bytes(m->dtype);
  return at ^ (at >> ROW_SHIFT & (row / CHUNK - 1)) << CHUNK_BITS;
}

static void deliver(Warp *w, const Mbarrier *m, const Box *b) {
  Prog *p = w->prog;
  uint32_t size = dtype_bytes(b->map->dtype);
  int64_t bytes = nest_map_bytes(b->map);
  for (int64_t i = 0; i < bytes / size; i++) {
    int64_t to = swizzled(b->map, b->to + i * size);
    read_element(w, b, i, p->shared + to);
    memset(p->bad_bytes + to, 0, size);
  }
  p->shared_changes++;
  race_arrived(p, b->inst, b->thread, m->clock[b->thread >> LANE_BITS] - 1, b->to, bytes);
}

/* Ends the phase if all have arrived, and all bytes have. */
static void try_end(Warp *w, Mbarrier *m) {
  Prog *p = w->prog;
  if (m->left || m->expected != m->started) return;
  for (size_t i = 0; i < m->boxes.len; i++) deliver(w, m, &m->boxes.data[i]);
  m->boxes.len = 0;
  memcpy(m->ended, m->clock, sizeof m->ended);
  m->phase++;
  m->left = m->count;
  m->expected = m->started = 0;
  for (uint32_t i = 0; i < p->run->warps; i++) {
    Warp *x = &p->warps[i];
    if (x->state != WARP_AT_MBARRIER || x->waits_at != m->at) continue;
    if (!has_ended(m, x->waits_parity)) continue;
    x->state = WARP_READY;
    acquire(x, m);
  }
}

static bool is_waited_for(const Prog *p, const Mbarrier *m) {
  for (uint32_t i = 0; i < p->run->warps; i++)
    if (p->warps[i].state == WARP_AT_MBARRIER && p->warps[i].waits_at == m->at) return true;
  return false;
}

/* ---- instructions ---- */

static uint32_t next_lane(uint32_t *lanes) {
  uint32_t lane = (uint32_t)__builtin_ctz(*lanes);
  *lanes &= *lanes - 1;
  return lane;
}

/* The mbarrier's address in shared memory; -1, and reported, if it is none. */
static int64_t mbarrier_address(Warp *w, const Inst *in, const Spot *p, uint32_t lane,
                                RaceVerb verb) {
  enum { BYTES = 8 };
  int64_t at = nest_shared_offset(w, in, p) + p->offset;
  if (!nest_shared_ok(w, in, p, at, BYTES)) return -1;
  if (verb != RACE_COPY) race_shared(w, in, p, verb, lane, at);
  return at;
}

void nest_exec_mbar_init(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  while (lanes) {
    uint32_t lane = next_lane(&lanes);
    int64_t at = mbarrier_address(w, in, &in->mems[0], lane, RACE_WRITE);
    uint32_t count = (uint32_t)in->a;
    Mbarrier m = {.at = at, .count = count, .left = count};
    if (at >= 0) vec_push(w->prog->run->arena, &w->prog->mbarriers, m);
  }
}

/* An arrival, which tells who waits what its thread did before. */
static void arrive(Warp *w, const Inst *in, uint32_t lane) {
  int64_t at = mbarrier_address(w, in, &in->mems[0], lane, RACE_ATOMIC);
  Mbarrier *m = at < 0 ? NULL : find_mbarrier(w, in, &in->mems[0], at);
  if (!m) return;
  if (!m->left) try_end(w, m);
  if (!m->left) {
    if (nest_found(w, FOUND_MBARRIER, in->stmt->span, in->stmt))
      findings_text(w->prog->run->findings, E_NEST_MBARRIER_FULL);
    return;
  }
  w->clock[w->id]++;
  join_clock(w->prog->run, m->clock, w->clock);
  m->expected += in->a;
  m->left--;
  if (is_waited_for(w->prog, m)) try_end(w, m);
}

void nest_exec_mbar_arrive(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  while (lanes) arrive(w, in, next_lane(&lanes));
}

void nest_exec_mbar_wait(Warp *w, const Inst *in) {
  if (!guard_lanes(w, in)) return;
  int64_t at = mbarrier_address(w, in, &in->mems[0], ANY_LANE, RACE_ATOMIC);
  Vec parity = operand_vec(w, &in->srcs[0], 0, 0);
  Mbarrier *m = at < 0 ? NULL : find_mbarrier(w, in, &in->mems[0], at);
  if (parity.bad & 1) nest_found_poison(w, in, parity.why, "the parity");
  if (!m) return;
  w->yields = true;
  w->waits_at = at;
  w->waits_parity = parity.x[0].i & 1;
  if (!has_ended(m, w->waits_parity)) try_end(w, m);
  if (has_ended(m, w->waits_parity)) acquire(w, m);
  else w->state = WARP_AT_MBARRIER;
}

/* ---- copies ---- */

/* The target is poison until the phase has ended; nobody may read or write it meanwhile. */
static void take_target(Warp *w, const Inst *in, const Box *b, uint32_t lane) {
  const Spot *p = &in->mems[0];
  int64_t bytes = nest_map_bytes(b->map);
  for (int64_t i = 0; i < bytes; i += CHUNK) {
    race_proxy(w, in, p, b->to + i, CHUNK);
    race_shared(w, in, p, RACE_COPY, lane, b->to + i);
  }
  memset(w->prog->bad_bytes + b->to, 1, (size_t)bytes);
}

static void start_copy(Warp *w, const Inst *in, uint32_t lane) {
  Run *r = w->prog->run;
  Box b = {.inst = in, .map = nest_map_of(r->nest, in->stmt)};
  int64_t row = (int64_t)b.map->axes[0].box * dtype_bytes(b.map->dtype);
  int64_t bar = mbarrier_address(w, in, &in->mems[1], lane, RACE_COPY);
  Mbarrier *m = bar < 0 ? NULL : find_mbarrier(w, in, &in->mems[1], bar);
  b.to = nest_shared_offset(w, in, &in->mems[0]) + in->mems[0].offset;
  b.thread = (uint16_t)(w->id << LANE_BITS | lane);
  int64_t bytes = nest_map_bytes(b.map);
  if (!m || !nest_shared_ok(w, in, &in->mems[0], b.to, (uint32_t)row)) return;
  if (!nest_shared_ok(w, in, &in->mems[0], b.to + bytes - row, (uint32_t)row)) return;
  race_proxy(w, in, &in->mems[1], bar, (uint32_t)sizeof(int64_t));
  for (int i = 0; i < b.map->rank; i++) {
    Vec v = operand_vec(w, &in->srcs[i], 0, 0);
    if (v.bad >> lane & 1) nest_found_poison(w, in, v.why, "the coordinate");
    b.at[i] = v.x[lane].i;
  }
  take_target(w, in, &b, lane);
  m->started += bytes;
  vec_push(r->arena, &m->boxes, b);
  if (is_waited_for(w->prog, m)) try_end(w, m);
}

void nest_exec_bulk_copy(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  while (lanes) start_copy(w, in, next_lane(&lanes));
}
