/* Accesses of memory in a simulation: which sectors, lines and banks a warp touches. */
#include <math.h>
#include <string.h>

#include "lower/cost/simulate.h"

enum {
  SECTOR = 32,
  LINE = 128,
  PIECE = 256, /* memory is slower for less */
  BANKS = 32,
  BANK = 4,
  WIDEST = 16,
  SEEN_BITS = 14,
  SEEN_MAX = 1 << SEEN_BITS,
  MEMORY_LATENCY = 700, /* clocks */
  COPY_LATENCY = 1200,  /* of asynchronous copies, which keep memory busy all the time */
  BOX_LATENCY = 1050,   /* of a box's first bytes, if one multiprocessor has work */
  BOX_BYTES = 86,       /* of boxes that arrive in a clock */
  BOX_ISSUE = 60,       /* clocks of the thread that copies a box */
  OUTSIDE_ROW = 4,      /* clocks of a box's row outside of the tensor: zeros */
  SHARED_LATENCY = 28,
  ATOMIC_LATENCY = 900
};

/* ---- sectors ---- */

/* An open hash of (site, sector), emptied by taking a new number. */
struct SimSeen {
  struct {
    uint64_t key;
    uint32_t program;
    int32_t warp; /* the last one that touched it */
  } slots[SEEN_MAX];
  uint32_t program, used;
};

SimSeen *sim_seen_new(Arena *a) {
  SimSeen *s = ARENA_NEW(a, SimSeen);
  for (int i = 0; i < SEEN_MAX; i++) s->slots[i].program = 0;
  s->program = 1;
  s->used = 0;
  return s;
}

void sim_seen_clear(SimSeen *s) {
  s->program++;
  s->used = 0;
}

static void note_sector(Simulation *sim, SimSite *site, int which, int64_t sector) {
  site->touched_sectors += sim->weight;
  SimSeen *s = sim->seen;
  uint64_t key = (uint64_t)sector * SIM_SITES + (uint64_t)which;
  uint64_t at = (key * 0x9e3779b97f4a7c15u) >> (64 - SEEN_BITS);
  while (s->slots[at].program == s->program && s->slots[at].key != key) at = (at + 1) % SEEN_MAX;
  bool here = s->slots[at].program == s->program;
  if (here && s->slots[at].warp == sim->warp) return;
  site->warp_sectors += sim->weight;
  if (!here) site->program_sectors += sim->weight;
  if (!here && s->used > SEEN_MAX / 2) return; /* what does not fit counts as new each time */
  s->used += !here;
  s->slots[at].key = key;
  s->slots[at].program = s->program;
  s->slots[at].warp = sim->warp;
}

/* ---- global memory ---- */

typedef struct {
  int64_t at[SIM_LANES];
  uint32_t lanes; /* that take part */
  bool known;
  int64_t bytes; /* of a lane */
} Access;

static uint32_t guarded(const Simulation *sim, const Ref *guard) {
  int64_t v[SIM_LANES];
  uint32_t lanes = 0;
  if (guard->kind == REF_NONE || !sim_operand(sim, guard, sim->lanes, v))
    return sim->lanes >= SIM_LANES ? UINT32_MAX : (1u << sim->lanes) - 1;
  for (int l = 0; l < sim->lanes; l++) lanes |= (uint32_t)(v[l] != 0) << l;
  return lanes;
}

static int64_t wrapping_sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

static Access simulated_access(const Simulation *sim, const Mem *m, const Ref *guard,
                               int64_t bytes) {
  Access a = {.lanes = guarded(sim, guard), .known = true, .bytes = bytes};
  int64_t more = sim_affine(sim, &m->bytes);
  if (m->buffer && m->buffer->offset > 0) more += m->buffer->offset;
  if (m->base.kind == REF_NONE) memset(a.at, 0, sizeof a.at);
  else a.known = sim_operand(sim, &m->base, sim->lanes, a.at);
  for (int l = 0; l < sim->lanes && a.known; l++) a.at[l] = wrapping_sum(a.at[l], more);
  return a;
}

static int find_sim_site(Simulation *sim, const NestStmt *s, bool store) {
  for (int i = 0; i < sim->nsites; i++)
    if (sim->sites[i].stmt == s) return i;
  if (sim->nsites == SIM_SITES) return SIM_SITES - 1;
  sim->sites[sim->nsites] = (SimSite){.stmt = s, .array = -1, .store = store};
  return sim->nsites++;
}

static int array_of_address(const Simulation *sim, int64_t address) {
  int64_t i = (address >> SIM_ARRAY_SHIFT) - 1;
  return i >= 0 && i < sim->narrays ? (int)i : -1;
}

static void extend_site(SimSite *site, const Access *a) {
  for (int l = 0; l < SIM_LANES; l++) {
    if (!(a->lanes >> l & 1)) continue;
    if (!site->touched || a->at[l] < site->lo) site->lo = a->at[l];
    int64_t end = wrapping_sum(a->at[l], a->bytes);
    if (!site->touched || end > site->hi) site->hi = end;
    site->touched = true;
  }
}

/* Sectors that a warp's access has touched so far. */
typedef struct {
  int64_t sectors[SIM_LANES * 2];
  int n;
} Touched;

/* False: it is there already.  Most accesses come in order. */
static bool add_sector(Touched *t, int64_t sector) {
  if (t->n && sector == t->sectors[t->n - 1]) return false;
  if (t->n && sector < t->sectors[t->n - 1])
    for (int i = 0; i < t->n; i++)
      if (t->sectors[i] == sector) return false;
  if (t->n < (int)(sizeof t->sectors / sizeof *t->sectors)) t->sectors[t->n++] = sector;
  return true;
}

/* How many aligned blocks of so many bytes. */
static int count_blocks_touched(const Touched *t, int bytes) {
  int blocks = 0, sectors = bytes / SECTOR;
  for (int i = 0; i < t->n; i++) {
    int64_t block = t->sectors[i] / sectors;
    int k = i;
    while (k > 0 && t->sectors[k - 1] / sectors != block) k--;
    blocks += k == 0;
  }
  return blocks;
}

/* Lines of a warp's access; its sectors are counted where they are new. */
static double touch_all(Simulation *sim, SimSite *site, int which, const Access *a) {
  Touched t = {.n = 0};
  for (int l = 0; l < SIM_LANES; l++) {
    if (!(a->lanes >> l & 1)) continue;
    int64_t end = wrapping_sum(a->at[l], a->bytes - 1) / SECTOR;
    for (int64_t s = a->at[l] / SECTOR; s <= end; s++)
      if (add_sector(&t, s)) note_sector(sim, site, which, s);
  }
  if (!site->store) site->pieces += count_blocks_touched(&t, PIECE) * sim->weight;
  return count_blocks_touched(&t, LINE);
}

/* Sectors whose addresses are not known. */
static void note_unknown(const Simulation *sim, SimSite *site, double sectors) {
  site->touched_sectors += sectors * sim->weight;
  site->warp_sectors += sectors * sim->weight;
  site->program_sectors += sectors * sim->weight;
  site->pieces += sectors * sim->weight * SECTOR / PIECE;
}

/* Returns the lines. */
static double sim_global(Simulation *sim, const NestStmt *s, const Mem *m, const Ref *guard,
                         int64_t bytes, bool store) {
  Access a = simulated_access(sim, m, guard, bytes);
  int which = find_sim_site(sim, s, store), active = __builtin_popcount(a.lanes);
  SimSite *site = &sim->sites[which];
  if (a.known && a.lanes && !site->simulated) {
    site->simulated = true;
    site->array = array_of_address(sim, a.at[0]);
    site->first = a.at[0];
  }
  if (!sim->counting || !active) return 0;
  double least = ceil((double)active * (double)bytes / LINE), lines = active;
  if (a.known) {
    extend_site(site, &a);
    lines = touch_all(sim, site, which, &a);
  } else {
    note_unknown(sim, site, active);
  }
  sim->counts.lines += lines * sim->weight;
  if (store) sim->counts.sent += lines * sim->weight;
  sim->counts.lines_least += least * sim->weight;
  return lines;
}

/* ---- shared memory ---- */

/* Turns that some lanes take: in one, a bank gives one word, to all that want it. */
static int count_turns(const Access *a, int from, int to) {
  int64_t words[BANKS][SIM_LANES];
  int n[BANKS] = {0}, most = 1;
  for (int l = from; l < to; l++) {
    if (!(a->lanes >> l & 1)) continue;
    for (int64_t b = 0; b < a->bytes; b += BANK) {
      int64_t word = wrapping_sum(a->at[l], b) / BANK;
      int bank = (int)((uint64_t)word % BANKS), k = 0;
      while (k < n[bank] && words[bank][k] != word) k++;
      if (k < n[bank] || k == SIM_LANES) continue;
      words[bank][n[bank]++] = word;
      if (n[bank] > most) most = n[bank];
    }
  }
  return most;
}

static double sim_shared(Simulation *sim, const Mem *m, const Ref *guard, int64_t bytes) {
  if (!sim->counting) return 0;
  Access a = simulated_access(sim, m, guard, bytes < WIDEST ? bytes : WIDEST);
  int phases = bytes <= BANK ? 1 : bytes <= 2 * BANK ? 2 : 4, pieces = 1;
  if (bytes > WIDEST) pieces = (int)((bytes + WIDEST - 1) / WIDEST);
  double turns = phases, least = phases;
  if (a.known) turns = 0;
  for (int i = 0; i < phases && a.known; i++)
    turns += count_turns(&a, i * SIM_LANES / phases, (i + 1) * SIM_LANES / phases);
  sim->counts.shared += turns * pieces * sim->weight;
  sim->counts.shared_least += least * pieces * sim->weight;
  return turns * pieces;
}

/* ---- statements ---- */

static void issue_access(Simulation *sim, const NestStmt *s, double start, double turns,
                         double latency) {
  uint32_t n = s->code == NEST_LDMATRIX ? nest_matrix_elements(s)
                                        : (uint32_t)nest_int(s, NA_n, 1);
  sim->counts.issued += sim->weight;
  sim->time = start + sim_later(1, turns) * sim_sharers(sim);
  sim_results(sim, s, n, start + latency + turns);
}

/* The assembler keeps half of many values that are consumed one by one in flight at a time: the
 * others wait for the first. */
static double after_flying(Simulation *sim, const NestStmt *s, double start) {
  enum { FEW = 16 };
  const NestVar *v = s->dsts[0].var;
  uint32_t bytes = (uint32_t)dtype_bytes(s->type), all = (v->count * bytes + 3) / 4;
  uint32_t window = all / 2 < FEW ? FEW : all / 2,
           n = ((uint32_t)nest_int(s, NA_n, 1) * bytes + 3) / 4;
  if (window > SIM_FLYING) window = SIM_FLYING;
  for (uint32_t i = 0; i < n && sim->loaded + i >= window; i++)
    start = sim_later(start, sim->flying[(sim->loaded + i - window) % SIM_FLYING]);
  for (uint32_t i = 0; i < n; i++) sim->flying[sim->loaded++ % SIM_FLYING] = start + MEMORY_LATENCY;
  return start;
}

static void sim_copy(Simulation *sim, const NestStmt *s) {
  static const Ref always = {0};
  int64_t bytes = nest_int(s, NA_bytes, WIDEST);
  double turns = sim_shared(sim, &s->mems[0], &always, bytes);
  double lines = sim_global(sim, s, &s->mems[1], s->nsrcs ? &s->srcs[0] : &always, bytes, false);
  if (!sim->counting) return;
  double start = sim_start(sim, s);
  sim->counts.issued += sim->weight;
  bool narrow = bytes < WIDEST; /* those pass the first cache */
  if (narrow) sim->counts.narrow_copies += sim->weight;
  sim->time = start + sim_later(1, sim_later(turns, lines)) * sim_sharers(sim);
  sim->free_copies = sim_later(sim->free_copies, start);
  if (narrow) sim->free_copies += SIM_COPY_BUSY * sim->nest->warps;
  if (lines > 0) sim->copies = sim_later(sim->copies, sim->free_copies + COPY_LATENCY);
}

/* ---- boxes of tensors ---- */

/* A launch's number; false: unknown. */
static bool launch_number(const Simulation *sim, const LaunchValue *v, int64_t *out) {
  int64_t x[SIM_LANES] = {1};
  Ref param = {.kind = REF_VAR, .var = v->param};
  bool known = !v->param || sim_operand(sim, &param, 1, x);
  *out = v->scale * x[0];
  return known;
}

/* Where a row of the box begins, and its bytes inside of the tensor; false: unknown. */
static bool box_row(const Simulation *sim, const NestStmt *s, const TensorMap *m, int64_t row,
                    int64_t *at, int64_t *bytes) {
  int64_t place[SIM_LANES], extent, stride, size = dtype_bytes(m->dtype);
  Ref base = {.kind = REF_VAR, .var = m->base};
  if (!sim_operand(sim, &base, 1, place)) return false;
  *at = place[0];
  *bytes = m->axes[0].box * size;
  for (int i = 0; i < m->rank; i++) {
    if (!launch_number(sim, &m->axes[i].extent, &extent)) return false;
    if (!launch_number(sim, &m->axes[i].stride, &stride)) return false;
    if (s->srcs[i].kind == REF_AFFINE) place[0] = sim_affine(sim, &s->srcs[i].sub);
    else if (!sim_operand(sim, &s->srcs[i], 1, place)) return false;
    int64_t x = place[0] + (i ? row % m->axes[i].box : 0);
    if (i) row /= m->axes[i].box;
    *at = wrapping_sum(*at, x * stride);
    if (x < 0 || x >= extent) *bytes = 0;
    else if (!i && (extent - x) * size < *bytes) *bytes = (extent - x) * size;
  }
  return true;
}

/* A row's sectors are read once, by no warp's instructions. */
static void note_row(Simulation *sim, int which, int64_t at, int64_t bytes) {
  SimSite *site = &sim->sites[which];
  Access a = {.at = {at}, .lanes = 1, .known = true, .bytes = bytes};
  if (!bytes) return;
  if (!site->simulated) {
    site->simulated = true;
    site->array = array_of_address(sim, at);
    site->first = at;
  }
  if (!sim->counting) return;
  extend_site(site, &a);
  for (int64_t x = at / SECTOR; x <= (at + bytes - 1) / SECTOR; x++)
    note_sector(sim, site, which, x);
  int64_t lines = (at + bytes - 1) / LINE - at / LINE + 1;
  int64_t sectors = (at + bytes - 1) / SECTOR - at / SECTOR + 1;
  if (!site->store) sim->counts.unwanted += (double)(lines * LINE - sectors * SECTOR) * sim->weight;
  if (!site->store) site->pieces += (double)bytes / PIECE * sim->weight;
}

/* The more multiprocessors have work, the longer a box waits. */
static double box_latency(const DevicePeaks *r, double programs) {
  static const double OF_OTHERS = 0.3;
  return BOX_LATENCY * (1 + OF_OTHERS * sqrt(fmin(1, programs / r->processors)));
}

double sim_copy_clocks(const DevicePeaks *r, double programs, double bytes, bool boxes) {
  return (boxes ? box_latency(r, programs) : COPY_LATENCY) + bytes / BOX_BYTES;
}

static void sim_box(Simulation *sim, const NestStmt *s) {
  const TensorMap *m = nest_map_of(sim->nest, s);
  int64_t row = m->axes[0].box * (int64_t)dtype_bytes(m->dtype), at, bytes;
  if (!guarded(sim, &s->guard)) return;
  bool store = s->code == NEST_BULK_STORE;
  int which = find_sim_site(sim, s, store);
  sim->sites[which].once = true;
  double clocks = 0;
  for (int64_t i = 0; i < nest_map_bytes(m) / row; i++) {
    bool known = box_row(sim, s, m, i, &at, &bytes);
    if (known) note_row(sim, which, at, bytes);
    else if (sim->counting)
      note_unknown(sim, &sim->sites[which], (double)row / SECTOR);
    clocks += known && !bytes ? OUTSIDE_ROW : (double)row / BOX_BYTES;
  }
  if (!sim->counting) return;
  sim->counts.issued += sim->weight;
  double start = sim_start(sim, s), box = (double)nest_map_bytes(m);
  sim->time = start + BOX_ISSUE;
  if (store) {
    sim->counts.sent += box / LINE * sim->weight;
    return;
  }
  sim->free_boxes = sim_later(sim->free_boxes, start) + clocks;
  double programs = (double)sim->grid[0] * (double)sim->grid[1] * (double)sim->grid[2];
  double latency = box_latency(sim->peaks, programs);
  sim->copies = sim_later(sim->copies, sim->free_boxes + latency);
}

static double latency_of(const NestStmt *s, bool shared) {
  bool atomic = nest_flags(s) & NEST_IS_ATOMIC;
  return shared ? SHARED_LATENCY : atomic ? ATOMIC_LATENCY : MEMORY_LATENCY;
}

void simulate_memory(Simulation *sim, const NestStmt *s) {
  if (s->code == NEST_CP_ASYNC || s->code == NEST_BULK_COPY || s->code == NEST_BULK_STORE) {
    (s->code == NEST_CP_ASYNC ? sim_copy : sim_box)(sim, s);
    return;
  }
  const Mem *m = &s->mems[0];
  bool matrix = s->code == NEST_LDMATRIX;
  int64_t bytes = matrix ? WIDEST : nest_int(s, NA_n, 1) * dtype_bytes(s->type);
  unsigned flags = nest_flags(s);
  bool store = flags & NEST_IS_WRITE;
  double turns = m->buffer ? sim_shared(sim, m, &s->guard, bytes)
                           : sim_global(sim, s, m, &s->guard, bytes, store);
  if (!sim->counting) return;
  if (flags & NEST_IS_ATOMIC) sim->counts.atomics += sim->weight;
  double start = sim_start(sim, s);
  bool only_accumulated = s->code == NEST_LD && !m->buffer && s->dsts[0].kind == REF_VAR &&
                          sim->only_accumulated[s->dsts[0].var->id];
  if (only_accumulated) start = after_flying(sim, s, start);
  issue_access(sim, s, start, turns, latency_of(s, m->buffer != NULL));
}
