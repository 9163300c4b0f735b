/* mbarriers, and copies of boxes of tensors.
 *
 * A copy reads and writes as late as it may: when a thread waits for its phase, or somebody arrives
 * for the next one.  Until then its bytes are poison and in flight.  What is copied counts as
 * written where the bytes were expected: who waits for the phase knows that, nobody else does.
 *
 * A store of a box reads as late as it may, when its thread waits for its group, and writes when
 * that thread waits for this, or the program ends; until then nobody may access what it writes. */
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

/* The address of the box's element with that number, in the order of memory; false: it is outside
 * of the tensor. */
static bool element_address(const Run *r, const Box *b, int64_t number, uint64_t *address) {
  const TensorMap *m = b->map;
  *address = (uint64_t)r->args[map_argument(r, m)].bits;
  for (int i = 0; i < m->rank; i++) {
    int64_t at = b->at[i] + number % m->axes[i].box;
    number /= m->axes[i].box;
    if (at < 0 || at >= launch_value(r, &m->axes[i].extent)) return false;
    *address += (uint64_t)(at * launch_value(r, &m->axes[i].stride));
  }
  return true;
}

static Access access_of_box(const Prog *p, const Box *b) {
  return (Access){p->index, b->inst->stmt->span, map_argument(p->run, b->map), false, false, true};
}

/* Zero outside of the tensor. */
static void read_element(Warp *w, const Box *b, int64_t number, uint8_t *out) {
  Run *r = w->prog->run;
  uint32_t size = dtype_bytes(b->map->dtype);
  uint64_t address;
  memset(out, 0, size);
  if (element_address(r, b, number, &address))
    memory_read(r->memory, address, size, out, access_of_box(w->prog, b));
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

/* Reports. */
static bool box_fits(Warp *w, const Inst *in, const Box *b) {
  uint32_t row = (uint32_t)b->map->axes[0].box * dtype_bytes(b->map->dtype);
  return nest_shared_ok(w, in, &in->mems[0], b->to, row) &&
         nest_shared_ok(w, in, &in->mems[0], b->to + nest_map_bytes(b->map) - row, row);
}

static void take_coordinates(Warp *w, const Inst *in, uint32_t lane, Box *b) {
  for (int i = 0; i < b->map->rank; i++) {
    Vec v = operand_vec(w, &in->srcs[i], 0, 0);
    if (v.bad >> lane & 1) nest_found_poison(w, in, v.why, "the coordinate");
    b->at[i] = v.x[lane].i;
  }
}

static void start_copy(Warp *w, const Inst *in, uint32_t lane) {
  Run *r = w->prog->run;
  Box b = {.inst = in, .map = nest_map_of(r->nest, in->stmt)};
  int64_t bar = mbarrier_address(w, in, &in->mems[1], lane, RACE_COPY);
  Mbarrier *m = bar < 0 ? NULL : find_mbarrier(w, in, &in->mems[1], bar);
  b.to = nest_shared_offset(w, in, &in->mems[0]) + in->mems[0].offset;
  b.thread = (uint16_t)(w->id << LANE_BITS | lane);
  int64_t bytes = nest_map_bytes(b.map);
  if (!m || !box_fits(w, in, &b)) return;
  race_proxy(w, in, &in->mems[1], bar, (uint32_t)sizeof(int64_t));
  take_coordinates(w, in, lane, &b);
  take_target(w, in, &b, lane);
  m->started += bytes;
  vec_push(r->arena, &m->boxes, b);
  if (is_waited_for(w->prog, m)) try_end(w, m);
}

void nest_exec_bulk_copy(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  while (lanes) start_copy(w, in, next_lane(&lanes));
}

/* ---- stores ---- */

static int64_t box_elements(const Box *b) {
  return nest_map_bytes(b->map) / dtype_bytes(b->map->dtype);
}

/* From now on nobody may write what it reads, or access what it writes. */
static void start_store(Warp *w, const Inst *in, uint32_t lane) {
  Run *r = w->prog->run;
  const Spot *p = &in->mems[0];
  BoxStore s = {.box = {.inst = in, .map = nest_map_of(r->nest, in->stmt)},
                .lane = lane,
                .group = w->store_groups};
  Box *b = &s.box;
  b->to = nest_shared_offset(w, in, p) + p->offset;
  b->thread = (uint16_t)(w->id << LANE_BITS | lane);
  if (!box_fits(w, in, b)) return;
  take_coordinates(w, in, lane, b);
  s.bytes = ARENA_ARRAY(r->arena, uint8_t, (size_t)nest_map_bytes(b->map));
  Spot target = {.arg = map_argument(r, b->map), .tracked = true};
  for (int64_t i = 0; i < box_elements(b); i++) {
    int64_t at = swizzled(b->map, b->to + i * in->bytes);
    uint64_t address;
    memcpy(s.bytes + i * in->bytes, w->prog->shared + at, in->bytes);
    race_proxy(w, in, p, at, in->bytes);
    race_shared(w, in, p, RACE_READ, lane, at);
    if (!element_address(r, b, i, &address)) continue;
    race_global(w, in, &target, RACE_COPY, lane, address, false);
    if (w->prog->bad_bytes[at]) nest_found_poison(w, in, NULL, "the stored value");
  }
  race_access(w, in, UINT32_C(1) << lane);
  vec_push(r->arena, &w->prog->stores, s);
}

void nest_exec_bulk_store(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  while (lanes) start_store(w, in, next_lane(&lanes));
}

/* Groups are counted by warp: at most one thread of it stores boxes. */
void nest_exec_bulk_commit(Warp *w, const Inst *in) { w->store_groups += guard_lanes(w, in) != 0; }

/* Its bytes are as they were when it began, or a writer has not waited. */
static void end_read(Warp *w, BoxStore *s) {
  const Box *b = &s->box;
  const Inst *in = b->inst;
  const Spot *p = &in->mems[0];
  bool same = true;
  for (int64_t i = 0; i < box_elements(b); i++) {
    int64_t at = swizzled(b->map, b->to + i * in->bytes);
    race_shared(w, in, p, RACE_READ, s->lane, at);
    same &= !memcmp(s->bytes + i * in->bytes, w->prog->shared + at, in->bytes);
    memcpy(s->bytes + i * in->bytes, w->prog->shared + at, in->bytes);
  }
  s->has_read = true;
  if (!same && nest_found(w, FOUND_STORE_SOURCE, in->stmt->span, in->stmt))
    findings_text(w->prog->run->findings, E_NEST_STORE_SOURCE, p->buffer->name);
}

static void write_box(const Prog *p, BoxStore *s) {
  const Box *b = &s->box;
  uint32_t size = dtype_bytes(b->map->dtype);
  for (int64_t i = 0; i < box_elements(b) && !s->has_written; i++) {
    uint64_t address;
    if (element_address(p->run, b, i, &address))
      memory_write(p->run->memory, address, size, s->bytes + i * size, access_of_box(p, b));
  }
  s->has_written = true;
}

/* The thread knows that the box is in global memory. */
static void end_write(Warp *w, BoxStore *s) {
  const Box *b = &s->box;
  write_box(w->prog, s);
  for (int64_t i = 0; i < box_elements(b); i++) {
    uint64_t address;
    if (element_address(w->prog->run, b, i, &address))
      race_stored(w, b->inst, s->lane, address, b->inst->bytes);
  }
}

void nest_exec_bulk_wait(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  w->yields = true;
  for (size_t i = 0; i < w->prog->stores.len; i++) {
    BoxStore *s = &w->prog->stores.data[i];
    bool own = s->box.thread >> LANE_BITS == w->id && lanes >> s->lane & 1;
    if (!own || s->group + (uint64_t)in->a >= w->store_groups) continue;
    if (!s->has_read) end_read(w, s);
    if (in->b && !s->has_written) end_write(w, s);
  }
}

void nest_end_stores(Prog *p) {
  for (size_t i = 0; i < p->stores.len; i++) {
    BoxStore *s = &p->stores.data[i];
    const Inst *in = s->box.inst;
    if (!s->has_read && nest_found(&p->warps[0], FOUND_STORE_OPEN, in->stmt->span, in))
      findings_text(p->run->findings, E_NEST_STORE_OPEN, in->mems[0].buffer->name);
    write_box(p, s);
  }
}
