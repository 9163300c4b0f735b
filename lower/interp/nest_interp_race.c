/* The order of accesses by one program's threads (vector clocks).  See
 * lower/interp/nest_interp_run.h. */
#include <string.h>

#include "lang/messages.h"
#include "lower/interp/nest_interp_run.h"
#include "lower/messages.h"

/* ---- marks ---- */

static uint16_t thread_of(const Warp *w, uint32_t lane) {
  return (uint16_t)(w->id << LANE_BITS | lane);
}

static Mark mark_of(const Warp *w, uint32_t lane, const Inst *in) {
  uint32_t inst = (uint32_t)(in - w->prog->run->insts);
  return (Mark){thread_of(w, lane), w->clock[w->id], inst};
}

/* Does what the mark says come before what the thread does now? */
static bool is_ordered_after(const Warp *w, uint32_t lane, const Mark *m) {
  uint32_t warp = m->thread >> LANE_BITS;
  if (m->thread == NO_THREAD) return true;
  if (m->epoch < (warp == w->id ? w->settled : w->clock[warp])) return true;
  return lane != ANY_LANE && m->thread == thread_of(w, lane);
}

static Mark *group_marks(Prog *p, uint32_t group) { return &p->marks.data[group * p->run->warps]; }

static uint32_t new_group(Prog *p) {
  uint32_t group = (uint32_t)(p->marks.len / p->run->warps);
  Mark none = {.thread = NO_THREAD};
  for (uint32_t i = 0; i < p->run->warps; i++) vec_push(p->run->arena, &p->marks, none);
  return group;
}

/* A warp's later epoch represents its earlier ones: who knows it knows those. */
static void add_to_group(Prog *p, uint32_t group, Mark m) {
  Mark *old = &group_marks(p, group)[m.thread >> LANE_BITS];
  bool again = old->thread != NO_THREAD && old->epoch == m.epoch && old->thread != m.thread;
  *old = m;
  if (again) old->thread = (uint16_t)((m.thread >> LANE_BITS) << LANE_BITS | ANY_LANE);
}

static void add_cell_reader(Warp *w, Cell *c, uint32_t lane, Mark m) {
  if (!c->readers && is_ordered_after(w, lane, &c->read)) {
    c->read = m;
    return;
  }
  if (!c->readers) {
    c->readers = new_group(w->prog);
    add_to_group(w->prog, c->readers, c->read);
  }
  add_to_group(w->prog, c->readers, m);
}

static const Mark *unordered_in(const Warp *w, uint32_t lane, uint32_t group) {
  if (!group) return NULL;
  const Mark *marks = group_marks(w->prog, group);
  for (uint32_t i = 0; i < w->prog->run->warps; i++)
    if (!is_ordered_after(w, lane, &marks[i])) return &marks[i];
  return NULL;
}

static const Mark *unordered_reader(const Warp *w, uint32_t lane, const Cell *c) {
  if (c->readers) return unordered_in(w, lane, c->readers);
  return is_ordered_after(w, lane, &c->read) ? NULL : &c->read;
}

/* An access that is not ordered and that `verb` conflicts with, or NULL. */
static const Mark *conflicting(const Warp *w, const Cell *c, RaceVerb verb, uint32_t lane) {
  bool writes = verb == RACE_WRITE || verb == RACE_COPY;
  const Mark *bad = is_ordered_after(w, lane, &c->write) ? NULL : &c->write;
  if (!bad && (writes || verb == RACE_READ)) bad = unordered_in(w, lane, c->atomics);
  if (!bad && (writes || verb == RACE_ATOMIC)) bad = unordered_reader(w, lane, c);
  if (!bad && writes) bad = unordered_in(w, lane, c->polls);
  return bad;
}

static void add_mark(Warp *w, uint32_t *group, Mark m) {
  if (!*group) *group = new_group(w->prog);
  add_to_group(w->prog, *group, m);
}

/* True if the access conflicts with *other; the cell then knows this one too. */
static bool touch_cell(Warp *w, Cell *c, RaceVerb verb, uint32_t lane, const Inst *in,
                       Mark *other) {
  const Mark *bad = conflicting(w, c, verb, lane);
  if (bad) *other = *bad;
  bool conflict = bad != NULL;
  Mark m = mark_of(w, lane, in);
  switch (verb) {
    case RACE_READ: add_cell_reader(w, c, lane, m); break;
    case RACE_ATOMIC: add_mark(w, &c->atomics, m); break;
    case RACE_POLL: add_mark(w, &c->polls, m); break;
    case RACE_WRITE:
    case RACE_COPY:
      *c = (Cell){.write = m,
                  .read = {.thread = NO_THREAD},
                  .in_flight = verb == RACE_COPY,
                  .fences = w->fences};
      break;
  }
  return conflict;
}

/* ---- reports ---- */

static const char *thread_text(const Run *r, uint16_t thread) {
  uint32_t lane = thread & ((1 << LANE_BITS) - 1), warp = thread >> LANE_BITS;
  if (lane == ANY_LANE) return arena_printf(r->arena, "warp %u", warp);
  return arena_printf(r->arena, "lane %u of warp %u", lane, warp);
}

static const char *const verbs[] = {[RACE_READ] = "reads",
                                    [RACE_WRITE] = "writes",
                                    [RACE_ATOMIC] = "updates",
                                    [RACE_POLL] = "reads",
                                    [RACE_COPY] = "copies to"};

static const char *verb_of(const Inst *in) {
  unsigned flags = nest_flags(in->stmt);
  if (in->stmt->code == NEST_CP_ASYNC || in->stmt->code == NEST_BULK_COPY) return verbs[RACE_COPY];
  if (flags & NEST_IS_ATOMIC) return verbs[RACE_ATOMIC];
  return verbs[flags & NEST_IS_WRITE ? RACE_WRITE : RACE_READ];
}

static const char *shared_text(const Run *r, const Spot *p, int64_t at) {
  long long byte = at % (r->block_bytes ? r->block_bytes : 1) - p->offset;
  return arena_printf(r->arena, "byte %lld of `@%s`", byte, p->buffer->name);
}

/* Describes the finding that nest_found has just counted. */
static void report_race(Warp *w, RaceVerb verb, uint32_t lane, const char *where, Mark other) {
  Run *r = w->prog->run;
  const Inst *by = &r->insts[other.inst];
  findings_text(r->findings, E_RACE, thread_text(r, thread_of(w, lane)), verbs[verb], where,
                thread_text(r, other.thread), verb_of(by));
  findings_note(r->findings, by->stmt->span, N_INTERP_OTHER);
  findings_hint(r->findings, H_RACE);
}

static void report_in_flight(Warp *w, const Inst *in, RaceVerb verb, const char *where,
                             const Cell *c) {
  Run *r = w->prog->run;
  const Inst *by = &r->insts[c->write.inst];
  if (!nest_found(w, FOUND_IN_FLIGHT, in->stmt->span, by->stmt)) return;
  findings_text(r->findings, E_RACE_IN_FLIGHT, verbs[verb], where);
  findings_note(r->findings, by->stmt->span, N_RACE_COPY);
}

/* ---- accesses of a byte ---- */

void race_shared(Warp *w, const Inst *in, const Spot *p, RaceVerb verb, uint32_t lane, int64_t at) {
  Run *r = w->prog->run;
  uint32_t granule = r->shared_granule;
  uint32_t bytes = in->bytes < granule ? granule : in->bytes;
  Cell *c = &w->prog->cells[at / granule];
  for (uint32_t done = 0; done < bytes; done += granule, c++) {
    Mark other;
    if (c->in_flight) report_in_flight(w, in, verb, shared_text(r, p, at + done), c);
    if (!touch_cell(w, c, verb, lane, in, &other)) continue;
    if (nest_found(w, FOUND_RACE, in->stmt->span, r->insts[other.inst].stmt))
      report_race(w, verb, lane, shared_text(r, p, at + done), other);
  }
}

void race_copy_source(Warp *w, const Inst *in) {
  if (nest_found(w, FOUND_COPY_SOURCE, in->stmt->span, in->stmt))
    findings_text(w->prog->run->findings, E_RACE_SOURCE);
}

void race_copied(Warp *w, const Inst *in, uint32_t lane, int64_t at) {
  uint32_t granule = w->prog->run->shared_granule;
  Cell *c = &w->prog->cells[at / granule];
  for (uint32_t done = 0; done < in->bytes; done += granule, c++) {
    c->write = mark_of(w, lane, in);
    c->in_flight = false;
    c->fences = w->fences;
  }
}

/* Through the asynchronous proxy, so that any fence before is late enough. */
void race_arrived(Prog *p, const Inst *in, uint16_t thread, uint32_t epoch, int64_t at,
                  int64_t bytes) {
  uint32_t granule = p->run->shared_granule;
  Mark m = {thread, epoch, (uint32_t)(in - p->run->insts)};
  Cell *c = &p->cells[at / granule];
  for (int64_t done = 0; done < bytes; done += granule, c++) {
    c->write = m;
    c->in_flight = false;
    c->fences = 0;
  }
}

/* Writes of a thread since its last fence must not be read through the asynchronous proxy. */
void race_proxy(Warp *w, const Inst *in, const Spot *p, int64_t at, uint32_t bytes) {
  Run *r = w->prog->run;
  const Cell *c = &w->prog->cells[at / r->shared_granule];
  for (uint32_t done = 0; done < bytes; done += r->shared_granule, c++) {
    if (c->write.thread == NO_THREAD) continue;
    const Warp *writer = &w->prog->warps[c->write.thread >> LANE_BITS];
    if (c->fences < writer->fences) continue;
    const Inst *by = &r->insts[c->write.inst];
    if (!nest_found(w, FOUND_PROXY, in->stmt->span, by->stmt)) return;
    findings_text(r->findings, E_RACE_PROXY, shared_text(r, p, at + done));
    findings_note(r->findings, by->stmt->span, N_INTERP_OTHER);
    findings_hint(r->findings, H_RACE_PROXY);
    return;
  }
}

static void grow_map(Run *r, CellMap *m) {
  CellMap old = *m;
  m->size = old.size ? old.size * 2 : 1024;
  m->keys = ARENA_ARRAY(r->arena, uint64_t, m->size);
  m->cells = ARENA_ARRAY(r->arena, Cell, m->size);
  for (uint32_t i = 0; i < old.size; i++) {
    if (!old.keys[i]) continue;
    uint32_t k = (uint32_t)(old.keys[i] * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->size - 1);
    while (m->keys[k]) k = (k + 1) & (m->size - 1);
    m->keys[k] = old.keys[i];
    m->cells[k] = old.cells[i];
  }
}

static const Cell fresh = {.write = {.thread = NO_THREAD}, .read = {.thread = NO_THREAD}};

static Cell *global_cell(Prog *p, uint64_t granule) {
  CellMap *m = &p->global;
  if (m->count * 2 >= m->size) grow_map(p->run, m);
  uint64_t key = granule + 1;
  uint32_t k = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->size - 1);
  while (m->keys[k] && m->keys[k] != key) k = (k + 1) & (m->size - 1);
  if (m->keys[k]) return &m->cells[k];
  m->keys[k] = key;
  m->cells[k] = fresh;
  m->count++;
  return &m->cells[k];
}

static const char *global_text(const Run *r, const Spot *p) {
  if (p->arg >= 0)
    return arena_printf(r->arena, "an element of `%%%s`", r->nest->params[p->arg]->name);
  return "an element of global memory";
}

void race_stored(Warp *w, const Inst *in, uint32_t lane, uint64_t addr, uint32_t bytes) {
  uint32_t granule = w->prog->run->global_granule;
  for (uint32_t done = 0; done < bytes; done += granule) {
    Cell *c = global_cell(w->prog, (addr + done) / granule);
    c->write = mark_of(w, lane, in);
    c->in_flight = false;
  }
}

void race_global(Warp *w, const Inst *in, const Spot *p, RaceVerb verb, uint32_t lane,
                 uint64_t addr, bool same) {
  Run *r = w->prog->run;
  uint32_t granule = r->global_granule;
  if (!p->tracked) return;
  for (uint32_t done = 0; done < in->bytes; done += granule) {
    Mark other;
    Cell *c = global_cell(w->prog, (addr + done) / granule);
    if (c->in_flight) report_in_flight(w, in, verb, global_text(r, p), c);
    Cell before = *c;
    if (!touch_cell(w, c, verb, lane, in, &other)) continue;
    /* All threads may store one value, if nobody reads it in between. */
    bool harmless = same && !unordered_reader(w, lane, &before) &&
                    !unordered_in(w, lane, before.atomics) && !unordered_in(w, lane, before.polls);
    if (!harmless && nest_found(w, FOUND_GLOBAL_RACE, in->stmt->span, r->insts[other.inst].stmt))
      report_race(w, verb, lane, global_text(r, p), other);
  }
}

/* ---- accesses and the program's atomics ---- */

static uint32_t only_lane(uint32_t lanes) {
  return lanes & (lanes - 1) ? ANY_LANE : (uint32_t)__builtin_ctz(lanes);
}

static void report_order(Warp *w, const Inst *in, uint32_t lane, const Mark *other,
                         const char *relation, bool at_access) {
  Run *r = w->prog->run;
  const Inst *by = &r->insts[other->inst];
  uint16_t now = thread_of(w, lane);
  if (!nest_found(w, FOUND_ORDER, in->stmt->span, by->stmt)) return;
  findings_text(r->findings, E_RACE_ORDER, thread_text(r, at_access ? now : other->thread),
                relation, thread_text(r, at_access ? other->thread : now));
  findings_note(r->findings, by->stmt->span, N_INTERP_OTHER);
  findings_hint(r->findings, H_RACE);
}

static bool same_role(const Warp *v, const Warp *w) { return v->role == w->role; }

void race_access(Warp *w, const Inst *in, uint32_t lanes) {
  Prog *p = w->prog;
  if (!lanes || p->run->lockstep) return;
  uint32_t lane = only_lane(lanes);
  for (uint32_t i = 0; i < p->run->warps; i++) {
    const Warp *v = &p->warps[i];
    if (!same_role(v, w)) continue;
    if (v != w && v->release.at > w->at)
      report_order(w, in, lane, &v->release.mark, "before", true);
    if (v->acquire.at && v->acquire.at < w->at && !is_ordered_after(w, lane, &v->acquire.mark))
      report_order(w, in, lane, &v->acquire.mark, "after", true);
  }
  Accesses *a = &w->accesses;
  Mark m = mark_of(w, lane, in);
  if (!a->first || a->mark.epoch != m.epoch) *a = (Accesses){w->at, w->at, m};
  else if (a->mark.thread != m.thread) a->mark.thread = thread_of(w, ANY_LANE);
  a->last = w->at;
}

void race_sync(Warp *w, const Inst *in, uint32_t lanes, bool acquire, bool release) {
  Prog *p = w->prog;
  if (!lanes || p->run->lockstep) return;
  uint32_t lane = only_lane(lanes);
  for (uint32_t i = 0; i < p->run->warps; i++) {
    const Warp *v = &p->warps[i];
    const Accesses *a = &v->accesses;
    if (!same_role(v, w) || !a->first) continue;
    if (release && a->first < w->at && !is_ordered_after(w, lane, &a->mark))
      report_order(w, in, lane, &a->mark, "before", false);
    if (acquire && v != w && a->last > w->at) report_order(w, in, lane, &a->mark, "after", false);
  }
  Sync now = {w->at, mark_of(w, lane, in)};
  if (release) w->release = now;
  if (acquire) w->acquire = now;
}

void race_reset(Prog *p) {
  Run *r = p->run;
  int64_t cells = r->block_bytes * nest_blocks(r) / r->shared_granule + 1;
  for (int64_t i = 0; i < cells; i++) p->cells[i] = fresh;
  if (p->global.count) memset(p->global.keys, 0, p->global.size * sizeof *p->global.keys);
  p->global.count = 0;
  p->marks.len = 0;
  new_group(p);
}
