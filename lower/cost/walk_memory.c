/* Accesses of memory in the model's walk: which sectors, lines and banks a warp touches. */
#include <math.h>
#include <string.h>

#include "lower/cost/walk.h"

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
  COPY_LATENCY = 1200,  /* of what runs ahead, where memory is busy all the time */
  SHARED_LATENCY = 28,
  ATOMIC_LATENCY = 900
};

/* ---- sectors ---- */

/* An open hash of (site, sector), emptied by taking a new number. */
struct WalkSeen {
  struct {
    uint64_t key;
    uint32_t program;
    int32_t warp; /* the last one that touched it */
  } slots[SEEN_MAX];
  uint32_t program, used;
};

WalkSeen *walk_seen_new(Arena *a) {
  WalkSeen *s = ARENA_NEW(a, WalkSeen);
  for (int i = 0; i < SEEN_MAX; i++) s->slots[i].program = 0;
  s->program = 1;
  s->used = 0;
  return s;
}

void walk_seen_clear(WalkSeen *s) {
  s->program++;
  s->used = 0;
}

static void touch(Walk *w, WalkSite *site, int which, int64_t sector) {
  site->touched_sectors += w->weight;
  WalkSeen *s = w->seen;
  uint64_t key = (uint64_t)sector * WALK_SITES + (uint64_t)which;
  uint64_t at = (key * 0x9e3779b97f4a7c15u) >> (64 - SEEN_BITS);
  while (s->slots[at].program == s->program && s->slots[at].key != key) at = (at + 1) % SEEN_MAX;
  bool here = s->slots[at].program == s->program;
  if (here && s->slots[at].warp == w->warp) return;
  site->warp_sectors += w->weight;
  if (!here) site->program_sectors += w->weight;
  if (!here && s->used > SEEN_MAX / 2) return; /* what does not fit counts as new each time */
  s->used += !here;
  s->slots[at].key = key;
  s->slots[at].program = s->program;
  s->slots[at].warp = w->warp;
}

/* ---- global memory ---- */

typedef struct {
  int64_t at[WALK_LANES];
  uint32_t lanes; /* that take part */
  bool known;
  int64_t bytes; /* of a lane */
} Access;

static uint32_t guarded(const Walk *w, const Ref *guard) {
  int64_t v[WALK_LANES];
  uint32_t lanes = 0;
  if (guard->kind == REF_NONE || !walk_operand(w, guard, w->lanes, v))
    return w->lanes >= WALK_LANES ? UINT32_MAX : (1u << w->lanes) - 1;
  for (int l = 0; l < w->lanes; l++) lanes |= (uint32_t)(v[l] != 0) << l;
  return lanes;
}

static int64_t sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

static Access access_of(const Walk *w, const Mem *m, const Ref *guard, int64_t bytes) {
  Access a = {.lanes = guarded(w, guard), .known = true, .bytes = bytes};
  int64_t more = walk_affine(w, &m->bytes);
  if (m->buffer && m->buffer->offset > 0) more += m->buffer->offset;
  if (m->base.kind == REF_NONE) memset(a.at, 0, sizeof a.at);
  else a.known = walk_operand(w, &m->base, w->lanes, a.at);
  for (int l = 0; l < w->lanes && a.known; l++) a.at[l] = sum(a.at[l], more);
  return a;
}

static int find_site(Walk *w, const NestStmt *s, bool store) {
  for (int i = 0; i < w->nsites; i++)
    if (w->sites[i].stmt == s) return i;
  if (w->nsites == WALK_SITES) return WALK_SITES - 1;
  w->sites[w->nsites] = (WalkSite){.stmt = s, .array = -1, .store = store};
  return w->nsites++;
}

static int array_of(const Walk *w, int64_t address) {
  int64_t i = (address >> WALK_ARRAY_SHIFT) - 1;
  return i >= 0 && i < w->narrays ? (int)i : -1;
}

static void extend(WalkSite *site, const Access *a) {
  for (int l = 0; l < WALK_LANES; l++) {
    if (!(a->lanes >> l & 1)) continue;
    if (!site->touched || a->at[l] < site->lo) site->lo = a->at[l];
    int64_t end = sum(a->at[l], a->bytes);
    if (!site->touched || end > site->hi) site->hi = end;
    site->touched = true;
  }
}

/* Sectors that a warp's access has touched so far. */
typedef struct {
  int64_t sectors[WALK_LANES * 2];
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
static int blocks_of(const Touched *t, int bytes) {
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
static double touch_all(Walk *w, WalkSite *site, int which, const Access *a) {
  Touched t = {.n = 0};
  for (int l = 0; l < WALK_LANES; l++) {
    if (!(a->lanes >> l & 1)) continue;
    int64_t end = sum(a->at[l], a->bytes - 1) / SECTOR;
    for (int64_t s = a->at[l] / SECTOR; s <= end; s++)
      if (add_sector(&t, s)) touch(w, site, which, s);
  }
  if (!site->store) site->pieces += blocks_of(&t, PIECE) * w->weight;
  return blocks_of(&t, LINE);
}

/* Returns the lines. */
static double walk_global(Walk *w, const NestStmt *s, const Mem *m, const Ref *guard, int64_t bytes,
                          bool store) {
  Access a = access_of(w, m, guard, bytes);
  int which = find_site(w, s, store), active = __builtin_popcount(a.lanes);
  WalkSite *site = &w->sites[which];
  if (a.known && a.lanes && !site->walked) {
    site->walked = true;
    site->array = array_of(w, a.at[0]);
    site->first = a.at[0];
  }
  if (!w->counting || !active) return 0;
  double least = ceil((double)active * (double)bytes / LINE), lines = active;
  if (a.known) {
    extend(site, &a);
    lines = touch_all(w, site, which, &a);
  } else {
    site->touched_sectors += active * w->weight;
    site->warp_sectors += active * w->weight;
    site->program_sectors += active * w->weight;
    site->pieces += active * w->weight * SECTOR / PIECE;
  }
  w->counts.lines += lines * w->weight;
  if (store) w->counts.sent += lines * w->weight;
  w->counts.lines_least += least * w->weight;
  return lines;
}

/* ---- shared memory ---- */

/* Turns that some lanes take: in one, a bank gives one word, to all that want it. */
static int turns_of(const Access *a, int from, int to) {
  int64_t words[BANKS][WALK_LANES];
  int n[BANKS] = {0}, most = 1;
  for (int l = from; l < to; l++) {
    if (!(a->lanes >> l & 1)) continue;
    for (int64_t b = 0; b < a->bytes; b += BANK) {
      int64_t word = sum(a->at[l], b) / BANK;
      int bank = (int)((uint64_t)word % BANKS), k = 0;
      while (k < n[bank] && words[bank][k] != word) k++;
      if (k < n[bank] || k == WALK_LANES) continue;
      words[bank][n[bank]++] = word;
      if (n[bank] > most) most = n[bank];
    }
  }
  return most;
}

static double walk_shared(Walk *w, const Mem *m, const Ref *guard, int64_t bytes) {
  if (!w->counting) return 0;
  Access a = access_of(w, m, guard, bytes < WIDEST ? bytes : WIDEST);
  int phases = bytes <= BANK ? 1 : bytes <= 2 * BANK ? 2 : 4, pieces = 1;
  if (bytes > WIDEST) pieces = (int)((bytes + WIDEST - 1) / WIDEST);
  double turns = phases, least = phases;
  if (a.known) turns = 0;
  for (int i = 0; i < phases && a.known; i++)
    turns += turns_of(&a, i * WALK_LANES / phases, (i + 1) * WALK_LANES / phases);
  w->counts.shared += turns * pieces * w->weight;
  w->counts.shared_least += least * pieces * w->weight;
  return turns * pieces;
}

/* ---- statements ---- */

static void issue(Walk *w, const NestStmt *s, double start, double turns, double latency) {
  uint32_t n = s->code == NEST_LDMATRIX ? 2 * (uint32_t)nest_int(s, NA_n, 1)
                                        : (uint32_t)nest_int(s, NA_n, 1);
  w->counts.issued += w->weight;
  w->time = start + walk_later(1, turns) * walk_sharers(w);
  walk_results(w, s, n, start + latency + turns);
}

/* Of values that are used up one by one the assembler has half under way at a time, if there are
 * many: the others wait for the first. */
static double after_flying(Walk *w, const NestStmt *s, double start) {
  enum { FEW = 16 };
  const NestVar *v = s->dsts[0].var;
  uint32_t bytes = (uint32_t)dtype_bytes(s->type), all = (v->count * bytes + 3) / 4;
  uint32_t window = all / 2 < FEW ? FEW : all / 2,
           n = ((uint32_t)nest_int(s, NA_n, 1) * bytes + 3) / 4;
  if (window > WALK_FLYING) window = WALK_FLYING;
  for (uint32_t i = 0; i < n && w->loaded + i >= window; i++)
    start = walk_later(start, w->flying[(w->loaded + i - window) % WALK_FLYING]);
  for (uint32_t i = 0; i < n; i++) w->flying[w->loaded++ % WALK_FLYING] = start + MEMORY_LATENCY;
  return start;
}

static void walk_copy(Walk *w, const NestStmt *s) {
  static const Ref always = {0};
  int64_t bytes = nest_int(s, NA_bytes, WIDEST);
  double turns = walk_shared(w, &s->mems[0], &always, bytes);
  double lines = walk_global(w, s, &s->mems[1], s->nsrcs ? &s->srcs[0] : &always, bytes, false);
  if (!w->counting) return;
  double start = walk_start(w, s);
  w->counts.issued += w->weight;
  w->time = start + walk_later(1, walk_later(turns, lines)) * walk_sharers(w);
  if (lines > 0) w->copies = walk_later(w->copies, start + COPY_LATENCY);
}

static double latency_of(const NestStmt *s, bool shared) {
  bool atomic = s->code == NEST_ATOM || s->code == NEST_ATOM_CAS || s->code == NEST_RED;
  return shared ? SHARED_LATENCY : atomic ? ATOMIC_LATENCY : MEMORY_LATENCY;
}

void walk_memory(Walk *w, const NestStmt *s) {
  if (s->code == NEST_CP_ASYNC) {
    walk_copy(w, s);
    return;
  }
  const Mem *m = &s->mems[0];
  bool matrix = s->code == NEST_LDMATRIX;
  int64_t bytes = matrix ? WIDEST : nest_int(s, NA_n, 1) * dtype_bytes(s->type);
  bool store = s->code != NEST_LD && !matrix;
  double turns = m->buffer ? walk_shared(w, m, &s->guard, bytes)
                           : walk_global(w, s, m, &s->guard, bytes, store);
  if (!w->counting) return;
  bool atomic = s->code != NEST_LD && s->code != NEST_ST && !matrix;
  if (atomic) w->counts.atomics += w->weight;
  double start = walk_start(w, s);
  bool streamed = s->code == NEST_LD && !m->buffer && s->dsts[0].kind == REF_VAR &&
                  w->streamed[s->dsts[0].var->id];
  if (streamed) start = after_flying(w, s, start);
  issue(w, s, start, turns, latency_of(s, m->buffer != NULL));
}
