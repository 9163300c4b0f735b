#include "lang/interp/shadow.h"

#include <string.h>

/* ---- maps from pairs of numbers to numbers from 1 ---- */

typedef struct {
  uint64_t a, b;
  uint32_t value; /* 0: an empty slot */
} Slot;

typedef struct {
  Slot *slots;
  size_t nslots, count; /* nslots: 0 or a power of two */
} Map;

static size_t mix_hash(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 29 ^ b) * 0x94d049bb133111ebu;
  return (size_t)(h ^ h >> 32);
}

static Slot *map_slot(const Map *m, uint64_t a, uint64_t b) {
  size_t i = mix_hash(a, b) & (m->nslots - 1);
  while (m->slots[i].value && (m->slots[i].a != a || m->slots[i].b != b))
    i = (i + 1) & (m->nslots - 1);
  return &m->slots[i];
}

static uint32_t pair_map_get(const Map *m, uint64_t a, uint64_t b) {
  return m->nslots ? map_slot(m, a, b)->value : 0;
}

static void map_grow(Arena *arena, Map *m) {
  Map bigger = {.nslots = m->nslots ? 2 * m->nslots : 64, .count = m->count};
  bigger.slots = ARENA_ARRAY(arena, Slot, bigger.nslots);
  for (size_t i = 0; i < m->nslots; i++) {
    const Slot *s = &m->slots[i];
    if (s->value) *map_slot(&bigger, s->a, s->b) = *s;
  }
  *m = bigger;
}

static void map_put(Arena *arena, Map *m, uint64_t a, uint64_t b, uint32_t value) {
  if (2 * m->count >= m->nslots) map_grow(arena, m);
  *map_slot(m, a, b) = (Slot){a, b, value};
  m->count++;
}

/* ---- the structure ---- */

enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT, COARSEST = 2, CACHE = 256 };

typedef struct {
  uint64_t number;
  unsigned shift; /* a cell covers 1 << shift bytes */
  Cell *cells;
} Page;

/* A vector clock: the latest known clock of each program, by slot.  `all`: it covers the programs
 * without a slot as well. */
typedef struct {
  uint32_t *at;
  uint32_t len, cap;
  bool all;
} Clock;

typedef struct {
  uint64_t program;
  uint32_t clock;
  uint32_t slot; /* from 1, given at the first release; 0: none yet, SHADOW_CLOCKS: too many */
  bool touched;  /* it accessed memory since its clock advanced */
  Clock knows;
} Program;

/* A set of readers: an event and the set it was added to; event 0: more than are kept. */
typedef struct {
  uint32_t event, rest, depth;
} ReaderSet;

struct Shadow {
  Arena *arena;
  Map page_map, site_map, event_map, set_map, program_map, lock_map;
  VEC(Page *) pages;
  VEC(Site) sites;
  VEC(Event) events;
  VEC(ReaderSet) sets;
  VEC(Program) programs;
  VEC(Clock) locks;
  VEC(Clock) spare; /* arrays of programs that ended */
  uint32_t nclocks;
  Page *cache[CACHE];
  Access last; /* and its event, or 0 */
  uint32_t last_event;
  uint32_t last_from, last_added, last_set; /* last_from with last_added in it is last_set */
};

Shadow *shadow_new(Arena *a) {
  Shadow *s = ARENA_NEW(a, Shadow);
  s->arena = a;
  vec_push(a, &s->pages, NULL);
  vec_push(a, &s->sites, (Site){0});
  vec_push(a, &s->events, (Event){0});
  vec_push(a, &s->sets, (ReaderSet){0});
  vec_push(a, &s->programs, (Program){0});
  vec_push(a, &s->locks, (Clock){0});
  return s;
}

/* ---- cells ---- */

static Page *new_page(Shadow *s, uint64_t number, unsigned shift) {
  Page *p = ARENA_NEW(s->arena, Page);
  p->number = number;
  p->shift = shift;
  p->cells = ARENA_ARRAY(s->arena, Cell, PAGE_BYTES >> shift);
  map_put(s->arena, &s->page_map, number, 0, (uint32_t)s->pages.len);
  vec_push(s->arena, &s->pages, p);
  return p;
}

/* Finer cells for a page whose accesses became smaller. */
static void split_page(Shadow *s, Page *p, unsigned shift) {
  size_t n = PAGE_BYTES >> p->shift, parts = (size_t)1 << (p->shift - shift);
  Cell *cells = ARENA_ARRAY(s->arena, Cell, PAGE_BYTES >> shift);
  for (size_t i = 0; i < n * parts; i++) cells[i] = p->cells[i / parts];
  p->cells = cells;
  p->shift = shift;
}

static Page *find_page(Shadow *s, uint64_t number, unsigned shift) {
  Page **cached = &s->cache[number % CACHE];
  if (*cached && (*cached)->number == number) return *cached;
  uint32_t i = pair_map_get(&s->page_map, number, 0);
  return *cached = i ? s->pages.data[i] : new_page(s, number, shift);
}

Cell *shadow_cells(Shadow *s, uint64_t addr, unsigned bytes, unsigned *ncells) {
  unsigned shift = (unsigned)__builtin_ctz(bytes);
  if (shift > COARSEST) shift = COARSEST;
  Page *p = find_page(s, addr >> PAGE_SHIFT, shift);
  if (p->shift > shift) split_page(s, p, shift);
  *ncells = bytes >> p->shift;
  return &p->cells[(addr & (PAGE_BYTES - 1)) >> p->shift];
}

Cell *shadow_cells_run(Shadow *s, uint64_t addr, unsigned bytes, uint32_t n, unsigned *ncells,
                       uint32_t *nelems) {
  uint32_t fit = (uint32_t)((PAGE_BYTES - (addr & (PAGE_BYTES - 1))) / bytes);
  *nelems = n < fit ? n : fit;
  return shadow_cells(s, addr, bytes, ncells);
}

/* The bytes up to `end` that have the same history as that at `addr`; *written: were they? */
static uint64_t same_history(const Shadow *s, uint64_t addr, uint64_t end, bool *written) {
  uint32_t i = pair_map_get(&s->page_map, addr >> PAGE_SHIFT, 0);
  const Page *p = i ? s->pages.data[i] : NULL;
  uint64_t size = UINT64_C(1) << (p ? p->shift : PAGE_SHIFT);
  uint64_t to = (addr / size + 1) * size;
  *written = p && p->cells[(addr & (PAGE_BYTES - 1)) >> p->shift].writer;
  return (to < end ? to : end) - addr;
}

uint64_t shadow_unwritten(const Shadow *s, uint64_t addr, uint64_t size, uint64_t *first) {
  uint64_t count = 0, end = addr + size;
  while (addr < end) {
    bool written;
    uint64_t n = same_history(s, addr, end, &written);
    if (!written && !count) *first = addr;
    if (!written) count += n;
    addr += n;
  }
  return count;
}

/* ---- programs and their clocks ---- */

static Program *find_program(const Shadow *s, uint64_t program) {
  uint32_t i = pair_map_get(&s->program_map, program, 1);
  return i ? &s->programs.data[i] : NULL;
}

/* Only programs that acquire or release need a clock. */
static Program *need_program(Shadow *s, uint64_t program) {
  Program *p = find_program(s, program);
  if (p) return p;
  Program fresh = {.program = program, .touched = true};
  if (s->spare.len) fresh.knows = s->spare.data[--s->spare.len];
  map_put(s->arena, &s->program_map, program, 1, (uint32_t)s->programs.len);
  vec_push(s->arena, &s->programs, fresh);
  return &vec_last(&s->programs);
}

static uint32_t *clock_at(Shadow *s, Clock *c, uint32_t slot) {
  if (slot >= c->cap) {
    uint32_t cap = c->cap ? c->cap : 8;
    while (cap <= slot) cap *= 2;
    c->at = arena_grow(s->arena, c->at, c->len * sizeof *c->at, cap * sizeof *c->at);
    c->cap = cap;
  }
  while (c->len <= slot) c->at[c->len++] = 0;
  return &c->at[slot];
}

static void clock_join(Shadow *s, Clock *to, const Clock *from) {
  if (from->len) clock_at(s, to, from->len - 1);
  for (uint32_t i = 0; i < from->len; i++)
    to->at[i] = to->at[i] > from->at[i] ? to->at[i] : from->at[i];
  to->all |= from->all;
}

static void advance(Shadow *s, Program *p) {
  if (!p->slot) p->slot = s->nclocks < SHADOW_CLOCKS - 1 ? ++s->nclocks : SHADOW_CLOCKS;
  if (p->touched) p->clock++, p->touched = false;
  if (p->slot == SHADOW_CLOCKS) p->knows.all = true;
  else *clock_at(s, &p->knows, p->slot) = p->clock;
}

static Clock *lock_at(Shadow *s, uint64_t addr) {
  uint32_t i = pair_map_get(&s->lock_map, addr, 2);
  if (i) return &s->locks.data[i];
  map_put(s->arena, &s->lock_map, addr, 2, (uint32_t)s->locks.len);
  vec_push(s->arena, &s->locks, (Clock){0});
  return &vec_last(&s->locks);
}

void shadow_sync(Shadow *s, uint64_t program, uint64_t addr, bool acquire, bool release) {
  if (!acquire && !release) return;
  Program *p = need_program(s, program);
  Clock *lock = lock_at(s, addr);
  if (acquire) clock_join(s, &p->knows, lock);
  if (release) {
    advance(s, p);
    clock_join(s, lock, &p->knows);
  }
  s->last_event = 0;
}

bool shadow_ordered(Shadow *s, uint32_t event, uint64_t program) {
  const Event *e = &s->events.data[event];
  if (e->program == program) return true;
  const Program *before = find_program(s, e->program), *after = find_program(s, program);
  if (!before || !after || !before->slot) return false;
  if (before->slot == SHADOW_CLOCKS) return after->knows.all;
  return before->slot < after->knows.len && after->knows.at[before->slot] > e->clock;
}

void shadow_finished(Shadow *s, uint64_t program) {
  Program *p = find_program(s, program);
  if (!p) return;
  Clock empty = {.at = p->knows.at, .cap = p->knows.cap};
  vec_push(s->arena, &s->spare, empty);
  p->knows = (Clock){0};
}

/* ---- events ---- */

const Event *shadow_get(const Shadow *s, uint32_t event) { return &s->events.data[event]; }

const Site *shadow_site(const Shadow *s, uint32_t event) {
  return &s->sites.data[s->events.data[event].site];
}

static uint32_t intern_site(Shadow *s, const Access *w) {
  uint64_t a = (uint64_t)w->span.file << 32 | w->span.line;
  uint64_t b =
      (uint64_t)w->span.col << 32 | (uint32_t)(w->arg + 1) << 2 | w->atomic << 1 | w->updates;
  uint32_t i = pair_map_get(&s->site_map, a, b);
  if (i) return i;
  i = (uint32_t)s->sites.len;
  map_put(s->arena, &s->site_map, a, b, i);
  vec_push(s->arena, &s->sites, ((Site){w->span, w->arg, w->atomic, w->updates}));
  return i;
}

static bool same_access(const Access *x, const Access *y) {
  return x->program == y->program && x->span.line == y->span.line && x->arg == y->arg &&
         x->span.col == y->span.col && x->span.file == y->span.file && x->atomic == y->atomic &&
         x->updates == y->updates;
}

uint32_t shadow_event(Shadow *s, const Access *w) {
  if (s->last_event && same_access(&s->last, w)) return s->last_event;
  Program *p = find_program(s, w->program);
  if (p) p->touched = true;
  uint32_t site = intern_site(s, w), clock = p ? p->clock : 0;
  uint64_t b = (uint64_t)clock << 32 | site;
  uint32_t i = pair_map_get(&s->event_map, w->program, b);
  if (!i) {
    i = (uint32_t)s->events.len;
    map_put(s->arena, &s->event_map, w->program, b, i);
    vec_push(s->arena, &s->events, ((Event){w->program, clock, site, 0}));
  }
  s->last = *w;
  return s->last_event = i;
}

/* ---- readers ---- */

static uint32_t intern_set(Shadow *s, uint32_t rest, uint32_t event) {
  if (!rest && event && s->events.data[event].alone) return s->events.data[event].alone;
  uint32_t i = rest ? pair_map_get(&s->set_map, rest, event) : 0;
  if (i) return i;
  i = (uint32_t)s->sets.len;
  if (rest) map_put(s->arena, &s->set_map, rest, event, i);
  else s->events.data[event].alone = i;
  vec_push(s->arena, &s->sets, ((ReaderSet){event, rest, s->sets.data[rest].depth + 1}));
  return i;
}

/* The set without the earlier reads of event's program by the same argument, if it has any. */
static uint32_t drop_earlier(Shadow *s, uint32_t readers, uint32_t event) {
  const Event *e = &s->events.data[event];
  const Site *site = shadow_site(s, event);
  uint32_t kept[SHADOW_READERS + 1], n = 0, all = 0;
  for (uint32_t at = readers; at; at = s->sets.data[at].rest, all++) {
    uint32_t x = s->sets.data[at].event;
    if (x && s->events.data[x].program == e->program && shadow_site(s, x)->arg == site->arg)
      continue;
    kept[n++] = x;
  }
  if (n == all) return readers;
  uint32_t set = 0;
  while (n) set = intern_set(s, set, kept[--n]);
  return set;
}

/* Is there a read of the same program, clock and argument?  Its line does not matter. */
static bool has_reader(const Shadow *s, uint32_t readers, uint32_t event) {
  const Event *e = &s->events.data[event];
  for (uint32_t at = readers; at; at = s->sets.data[at].rest) {
    uint32_t x = s->sets.data[at].event;
    const Event *o = &s->events.data[x];
    if (x == event) return true;
    if (x && o->program == e->program && o->clock == e->clock &&
        shadow_site(s, x)->arg == shadow_site(s, event)->arg)
      return true;
  }
  return false;
}

static uint32_t add_reader_event(Shadow *s, uint32_t readers, uint32_t event) {
  if (!readers) return intern_set(s, 0, event);
  if (has_reader(s, readers, event)) return readers;
  readers = drop_earlier(s, readers, event);
  uint32_t depth = s->sets.data[readers].depth;
  if (depth > SHADOW_READERS) return readers;
  return intern_set(s, readers, depth == SHADOW_READERS ? 0 : event);
}

uint32_t shadow_read(Shadow *s, uint32_t readers, uint32_t event) {
  if (readers == s->last_from && event == s->last_added && s->last_set) return s->last_set;
  s->last_from = readers;
  s->last_added = event;
  return s->last_set = add_reader_event(s, readers, event);
}

uint32_t shadow_next_reader(const Shadow *s, uint32_t *readers) {
  uint32_t at = *readers;
  if (at && !s->sets.data[at].event) at = s->sets.data[at].rest; /* the mark for "more" */
  *readers = at ? s->sets.data[at].rest : 0;
  return at ? s->sets.data[at].event : 0;
}
