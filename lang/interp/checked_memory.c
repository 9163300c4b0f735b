#include "lang/interp/checked_memory.h"

#include <string.h>

#include "lang/interp/findings.h"
#include "lang/interp/shadow.h"
#include "lang/messages.h"

typedef unsigned long long Big; /* for printf */

typedef enum { F_BOUNDS, F_NULL, F_ALIGN, F_UNWRITTEN, F_CONFLICT, F_TWICE, F_FOREIGN } Kind;
typedef enum { LOAD, STORE, ATOMIC } Verb;

static const char *const nouns[] = {"load", "store", "atomic"};
static const char *const verbs[] = {"reads", "writes", "updates"};

/* Stores of one value by several programs. */
typedef struct {
  uint64_t bytes, addr; /* how many, and where the first was */
  uint64_t programs[2];
  Span span;
} Repeat;

typedef struct {
  Name name;
  uint32_t arg;
  uint64_t base, size;
  bool written; /* when it was added */
  bool dirty;   /* by the kernel */
  Repeat repeat;
} Buffer;

typedef struct {
  Name name;
  uint32_t arg;
} Foreign;

struct Memory {
  Arena *arena;
  Findings *findings;
  Shadow *shadow;
  VEC(Buffer) buffers;
  VEC(uint32_t) by_arg; /* index of a buffer + 1, 0 for none */
  VEC(Foreign) foreign;
  uint32_t latest; /* where the last search ended */
  uint64_t changes;
};

/* An access, as the checks see it. */
typedef struct {
  uint64_t addr;
  unsigned bytes;
  Verb verb;
  const Access *who;
  Buffer *buffer;
  const void *value; /* what a store writes, or NULL */
} Touch;

Memory *memory_new(Arena *a, Diags *findings) {
  Memory *m = ARENA_NEW(a, Memory);
  m->arena = a;
  m->findings = findings_new(a, findings);
  m->shadow = shadow_new(a);
  return m;
}

static bool buffers_overlap(const Buffer *x, const Buffer *y) {
  return x->base < y->base + y->size && y->base < x->base + x->size;
}

void memory_add(Memory *m, Name name, uint32_t arg, void *data, size_t bytes, bool written) {
  Buffer b = {.name = name, .arg = arg, .base = (uint64_t)(uintptr_t)data, .size = bytes};
  b.written = written;
  vec_push(m->arena, &m->buffers, b);
  if (arg == (uint32_t)MEMORY_NO_ARG) return;
  while (m->by_arg.len <= arg) vec_push(m->arena, &m->by_arg, 0);
  m->by_arg.data[arg] = (uint32_t)m->buffers.len;
}

void memory_add_foreign(Memory *m, Name name, uint32_t arg) {
  vec_push(m->arena, &m->foreign, ((Foreign){name, arg}));
}

/* ---- finding the buffer ---- */

static Buffer *buffer_of_arg(const Memory *m, int32_t arg) {
  if (arg < 0 || (size_t)arg >= m->by_arg.len || !m->by_arg.data[arg]) return NULL;
  return &m->buffers.data[m->by_arg.data[arg] - 1];
}

static bool buffer_holds(const Buffer *b, uint64_t addr, unsigned bytes) {
  return addr >= b->base && addr - b->base < b->size && b->size - (addr - b->base) >= bytes;
}

static Buffer *buffer_at(Memory *m, uint64_t addr, unsigned bytes) {
  size_t n = m->buffers.len;
  for (size_t k = 0; k < n; k++) {
    size_t i = (m->latest + k) % n;
    if (!buffer_holds(&m->buffers.data[i], addr, bytes)) continue;
    m->latest = (uint32_t)i;
    return &m->buffers.data[i];
  }
  return NULL;
}

/* How far the access reaches past the buffer's nearer end. */
static uint64_t distance_to_buffer(const Buffer *b, uint64_t addr, unsigned bytes) {
  if (addr < b->base) return b->base - addr;
  uint64_t end = b->base + b->size;
  return addr >= end ? addr - end : addr + bytes - end;
}

static Buffer *nearest_buffer(const Memory *m, uint64_t addr, unsigned bytes) {
  Buffer *best = NULL;
  for (size_t i = 0; i < m->buffers.len; i++) {
    Buffer *b = &m->buffers.data[i];
    if (!best || distance_to_buffer(b, addr, bytes) < distance_to_buffer(best, addr, bytes))
      best = b;
  }
  return best;
}

/* ---- messages ---- */

/* `x_ptr[12]`, counted in elements of the access's size where that comes out even. */
static const char *element_text(const Memory *m, const Buffer *b, uint64_t addr, unsigned bytes) {
  int64_t off = (int64_t)(addr - b->base);
  if (off % bytes) return arena_printf(m->arena, "%s + %lld bytes", b->name, (long long)off);
  return arena_printf(m->arena, "%s[%lld]", b->name, (long long)(off / bytes));
}

static const char *bytes_text(const Memory *m, uint64_t n) {
  return arena_printf(m->arena, "%llu byte%s", (Big)n, n == 1 ? "" : "s");
}

/* An access that is outside of the buffer, and its distance from the nearer end. */
static const char *side_text(const Memory *m, const Buffer *b, uint64_t addr, uint64_t away) {
  const char *side = addr < b->base ? "before the start of" : "past the end of";
  if (!away) return arena_printf(m->arena, "right %s", side);
  return arena_printf(m->arena, "%s %s", bytes_text(m, away), side);
}

static bool is_new(const Memory *m, Kind kind, const Touch *t, const void *subject) {
  return findings_add(m->findings, kind, t->who->span, subject, t->who->program);
}

/* Past this, an address is not thought to be meant for the nearest buffer. */
#define FAR (UINT64_C(1) << 40)
enum { NULL_PAGE = 4096 };

static Name foreign_name(const Memory *m, int32_t arg) {
  for (size_t i = 0; i < m->foreign.len; i++)
    if (m->foreign.data[i].arg == (uint32_t)arg) return m->foreign.data[i].name;
  return NULL;
}

static void report_foreign(const Memory *m, const Touch *t, Name name) {
  if (!is_new(m, F_FOREIGN, t, name)) return;
  findings_text(m->findings, E_INTERP_FOREIGN, nouns[t->verb], t->bytes, name);
  findings_hint(m->findings, H_INTERP_FOREIGN);
}

static void report_bounds(const Memory *m, const Touch *t, const Buffer *b) {
  const char *noun = nouns[t->verb];
  Name foreign = foreign_name(m, t->who->arg);
  if (foreign) {
    report_foreign(m, t, foreign);
    return;
  }
  uint64_t off = b ? distance_to_buffer(b, t->addr, t->bytes) : FAR;
  if (t->addr < NULL_PAGE || off >= FAR) {
    if (!is_new(m, F_NULL, t, NULL)) return;
    if (t->addr < NULL_PAGE)
      findings_text(m->findings, E_INTERP_NULL, noun, t->bytes, (Big)t->addr);
    else findings_text(m->findings, E_INTERP_NOWHERE, noun, t->bytes, (Big)t->addr);
    return;
  }
  if (!is_new(m, F_BOUNDS, t, b->name)) return;
  findings_text(m->findings, E_INTERP_BOUNDS, noun, bytes_text(m, t->bytes),
                element_text(m, b, t->addr, t->bytes), side_text(m, b, t->addr, off), b->name,
                (Big)(b->size / t->bytes), bytes_text(m, t->bytes));
  bool before = t->addr < b->base;
  findings_hint(m->findings, before             ? H_INTERP_BEFORE
                             : t->who->masked ? H_INTERP_MASKED
                                              : H_INTERP_BOUNDS);
}

static void report_unwritten(const Memory *m, const Touch *t) {
  if (!is_new(m, F_UNWRITTEN, t, t->buffer->name)) return;
  findings_text(m->findings, E_INTERP_UNWRITTEN, nouns[t->verb],
                element_text(m, t->buffer, t->addr, t->bytes));
  findings_hint(m->findings, H_INTERP_UNWRITTEN);
}

static void report_conflict(const Memory *m, const Touch *t, uint32_t other, bool wrote) {
  if (!is_new(m, F_CONFLICT, t, t->buffer->name)) return;
  const Event *e = shadow_get(m->shadow, other);
  const Site *site = shadow_site(m->shadow, other);
  Verb verb = site->updates ? ATOMIC : wrote ? STORE : LOAD;
  findings_text(m->findings, E_INTERP_CONFLICT, (Big)t->who->program, verbs[t->verb],
                element_text(m, t->buffer, t->addr, t->bytes), (Big)e->program, verbs[verb]);
  findings_note(m->findings, site->span, N_INTERP_OTHER);
  findings_hint(m->findings, H_INTERP_CONFLICT);
}

/* ---- the checks ---- */

static bool check_buffer_bounds(Memory *m, Touch *t) {
  Buffer *own = buffer_of_arg(m, t->who->arg);
  t->buffer = own && buffer_holds(own, t->addr, t->bytes) ? own : NULL;
  if (!own) t->buffer = buffer_at(m, t->addr, t->bytes);
  if (!t->buffer) {
    report_bounds(m, t, own ? own : nearest_buffer(m, t->addr, t->bytes));
    return false;
  }
  unsigned align = t->bytes & -t->bytes;
  if (t->addr % align == 0) return true;
  if (is_new(m, F_ALIGN, t, t->buffer->name))
    findings_text(m->findings, E_INTERP_ALIGN, nouns[t->verb], t->bytes,
                  element_text(m, t->buffer, t->addr, t->bytes), align);
  return false;
}

static bool is_conflict(const Memory *m, const Touch *t, uint32_t event) {
  if (shadow_get(m->shadow, event)->program == t->who->program) return false;
  if (t->who->atomic && shadow_site(m->shadow, event)->atomic) return false;
  return !shadow_ordered(m->shadow, event, t->who->program);
}

/* True if this is a store of the value that another program's store has left, in no order. */
static bool check_writer(const Memory *m, const Touch *t, uint32_t writer) {
  if (!writer) return false;
  if (!is_conflict(m, t, writer)) return false;
  bool plain = !shadow_site(m->shadow, writer)->updates;
  bool same = t->value && plain && !memcmp((const void *)(uintptr_t)t->addr, t->value, t->bytes);
  if (!same) report_conflict(m, t, writer, true);
  return same;
}

static void note_repeat(const Memory *m, const Touch *t, uint64_t addr, unsigned bytes,
                        uint32_t writer) {
  Repeat *r = &t->buffer->repeat;
  if (!r->bytes) {
    uint64_t other = shadow_get(m->shadow, writer)->program;
    *r = (Repeat){.addr = addr, .programs = {other, t->who->program}, .span = t->who->span};
  }
  r->bytes += bytes;
}

static void check_readers(const Memory *m, const Touch *t, uint32_t readers) {
  while (readers) {
    uint32_t e = shadow_next_reader(m->shadow, &readers);
    if (!e) break;
    if (is_conflict(m, t, e)) report_conflict(m, t, e, false);
  }
}

/* The atomics that a store leaves known: a later store of the same value conflicts with them, and
 * not with this one. */
static uint32_t updates_before(const Memory *m, const Cell *c) {
  uint32_t kept = 0, readers = c->readers;
  while (readers) {
    uint32_t e = shadow_next_reader(m->shadow, &readers);
    if (e && shadow_site(m->shadow, e)->updates) kept = shadow_read(m->shadow, kept, e);
  }
  bool updated = c->writer && shadow_site(m->shadow, c->writer)->updates;
  return updated ? shadow_read(m->shadow, kept, c->writer) : kept;
}

/* Checks one aligned piece of an access and marks it; false if it reads what nothing wrote. */
static bool touch_piece(Memory *m, const Touch *t, uint64_t addr, unsigned bytes) {
  unsigned n;
  bool ok = true;
  Cell *c = shadow_cells(m->shadow, addr, bytes, &n);
  uint32_t event = shadow_event(m->shadow, t->who);
  for (unsigned i = 0; i < n; i++, c++) {
    if (t->verb != STORE && !c->writer && !t->buffer->written) ok = false;
    bool again = c->writer != event && check_writer(m, t, c->writer);
    if (again && !c->shared)
      note_repeat(m, t, addr + i * (uint64_t)(bytes / n), bytes / n, c->writer);
    if (t->verb == LOAD) {
      c->readers = shadow_read(m->shadow, c->readers, event);
      continue;
    }
    if (c->readers) check_readers(m, t, c->readers);
    uint32_t updates = t->verb == STORE ? updates_before(m, c) : 0;
    *c = (Cell){event, updates, c->shared || again};
  }
  return ok;
}

static bool record_access(Memory *m, Touch *t) {
  if (!check_buffer_bounds(m, t)) return false;
  unsigned piece = t->bytes & -t->bytes;
  bool ok = true;
  for (unsigned done = 0; done < t->bytes; done += piece)
    ok &= touch_piece(m, t, t->addr + done, piece);
  if (t->verb != LOAD) t->buffer->dirty = true;
  if (!ok) report_unwritten(m, t);
  return ok;
}

/* ---- accesses ---- */

bool memory_read(Memory *m, uint64_t addr, unsigned bytes, void *value, Access who) {
  Touch t = {addr, bytes, LOAD, &who, NULL, NULL};
  bool ok = record_access(m, &t);
  if (ok) memcpy(value, (const void *)(uintptr_t)addr, bytes);
  else memset(value, 0, bytes);
  return ok;
}

bool memory_write(Memory *m, uint64_t addr, unsigned bytes, const void *value, Access who) {
  Touch t = {addr, bytes, STORE, &who, NULL, value};
  if (!record_access(m, &t)) return false;
  void *place = (void *)(uintptr_t)addr;
  if (!memcmp(place, value, bytes)) return true;
  memcpy(place, value, bytes);
  m->changes++;
  return true;
}

/* The buffer of a run, if all of it is where it may be; else element by element is the way. */
static Buffer *buffer_of_run(const Memory *m, uint64_t addr, unsigned bytes, uint32_t n,
                             int32_t arg) {
  Buffer *b = buffer_of_arg(m, arg);
  bool power = (bytes & (bytes - 1)) == 0 && addr % bytes == 0;
  if (!b || !power || addr < b->base || addr - b->base >= b->size) return NULL;
  return (b->size - (addr - b->base)) / bytes >= n ? b : NULL;
}

/* A part of a run whose cells are in one page. */
typedef struct {
  Cell *cells;
  unsigned each; /* cells an element */
  uint32_t nelems;
  uint32_t event;
  uint32_t from, to; /* the last set of readers met, and what it became */
} Stretch;

static Stretch stretch_at(Memory *m, uint64_t addr, unsigned bytes, uint32_t n, const Access *who) {
  Stretch st = {.event = shadow_event(m->shadow, who)};
  st.cells = shadow_cells_run(m->shadow, addr, bytes, n, &st.each, &st.nelems);
  return st;
}

/* Most cells are as the last program left them, and need no look at their history. */
static bool plain_read(const Memory *m, Stretch *st, uint32_t elem, const Buffer *b) {
  Cell *c = &st->cells[elem * st->each];
  for (unsigned i = 0; i < st->each; i++, c++) {
    if (c->writer ? c->writer != st->event : !b->written) return false;
    if (c->readers != st->from || !st->to) {
      st->from = c->readers;
      st->to = shadow_read(m->shadow, c->readers, st->event);
    }
    c->readers = st->to;
  }
  return true;
}

static bool plain_write(Stretch *st, uint32_t elem) {
  Cell *c = &st->cells[elem * st->each];
  for (unsigned i = 0; i < st->each; i++)
    if (c[i].readers || (c[i].writer && c[i].writer != st->event)) return false;
  for (unsigned i = 0; i < st->each; i++) c[i].writer = st->event;
  return true;
}

static void read_stretch(Memory *m, Stretch *st, const Buffer *b, uint64_t addr, unsigned bytes,
                         uint8_t *to, Access who) {
  memcpy(to, (const void *)(uintptr_t)addr, (size_t)st->nelems * bytes);
  for (uint32_t i = 0; i < st->nelems; i++)
    if (!plain_read(m, st, i, b))
      memory_read(m, addr + (uint64_t)i * bytes, bytes, to + (size_t)i * bytes, who);
}

void memory_read_run(Memory *m, uint64_t addr, unsigned bytes, uint32_t n, void *values,
                     Access who) {
  Buffer *b = buffer_of_run(m, addr, bytes, n, who.arg);
  uint8_t *to = values;
  while (n) {
    Stretch st = {.nelems = 1};
    if (b) {
      st = stretch_at(m, addr, bytes, n, &who);
      read_stretch(m, &st, b, addr, bytes, to, who);
    } else {
      memory_read(m, addr, bytes, to, who);
    }
    n -= st.nelems;
    addr += (uint64_t)st.nelems * bytes;
    to += (size_t)st.nelems * bytes;
  }
}

/* Writes elements one by one where their history matters: memory_write compares old and new
 * values. */
static void write_stretch(Memory *m, Stretch *st, uint64_t addr, unsigned bytes,
                          const uint8_t *from, Access who) {
  for (uint32_t i = 0; i < st->nelems; i++)
    if (!plain_write(st, i))
      memory_write(m, addr + (uint64_t)i * bytes, bytes, from + (size_t)i * bytes, who);
  void *place = (void *)(uintptr_t)addr;
  size_t size = (size_t)st->nelems * bytes;
  if (!memcmp(place, from, size)) return;
  memcpy(place, from, size);
  m->changes++;
}

void memory_write_run(Memory *m, uint64_t addr, unsigned bytes, uint32_t n, const void *values,
                      Access who) {
  Buffer *b = buffer_of_run(m, addr, bytes, n, who.arg);
  const uint8_t *from = values;
  if (b) b->dirty = true;
  while (n) {
    Stretch st = {.nelems = 1};
    if (b) {
      st = stretch_at(m, addr, bytes, n, &who);
      write_stretch(m, &st, addr, bytes, from, who);
    } else {
      memory_write(m, addr, bytes, from, who);
    }
    n -= st.nelems;
    addr += (uint64_t)st.nelems * bytes;
    from += (size_t)st.nelems * bytes;
  }
}

void memory_stored(Memory *m, uint64_t addr, unsigned bytes, const void *value, Access who) {
  Touch t = {addr, bytes, STORE, &who, buffer_of_arg(m, who.arg), value};
  if (!t.buffer) t.buffer = buffer_at(m, addr, bytes);
  if (!t.buffer || !buffer_holds(t.buffer, addr, bytes) || addr % (bytes & -bytes)) return;
  if (!memcmp((const void *)(uintptr_t)addr, value, bytes)) return;
  if (!is_new(m, F_TWICE, &t, t.buffer->name)) return;
  findings_text(m->findings, E_INTERP_TWICE, element_text(m, t.buffer, addr, bytes));
  findings_hint(m->findings, H_INTERP_TWICE);
}

void *memory_atomic(Memory *m, uint64_t addr, unsigned bytes, const char *kind, Access who) {
  Verb verb = !strcmp(kind, "load") ? LOAD : !strcmp(kind, "store") ? STORE : ATOMIC;
  who.updates = verb == ATOMIC;
  Touch t = {addr, bytes, verb, &who, NULL, NULL};
  return record_access(m, &t) ? (void *)(uintptr_t)addr : NULL;
}

void memory_changed(Memory *m) { m->changes++; }

void memory_sync(Memory *m, uint64_t program, uint64_t addr, bool acquire, bool release) {
  shadow_sync(m->shadow, program, addr, acquire, release);
}

void memory_finished(Memory *m, uint64_t program) { shadow_finished(m->shadow, program); }

uint64_t memory_changes(const Memory *m) { return m->changes; }

bool memory_was_written(const Memory *m, uint32_t arg) {
  const Buffer *b = buffer_of_arg(m, (int32_t)arg);
  for (size_t i = 0; b && i < m->buffers.len; i++)
    if (m->buffers.data[i].dirty && buffers_overlap(b, &m->buffers.data[i])) return true;
  return false;
}

/* ---- remarks ---- */

static uint64_t element_count(uint64_t bytes, unsigned element) {
  return (bytes + element - 1) / element;
}

/* Under another name, the same buffer was looked at before. */
static bool is_another_name(const Memory *m, const Buffer *b) {
  for (const Buffer *x = m->buffers.data; x < b; x++)
    if (x->base == b->base && x->dirty) return true;
  return false;
}

static void remark_unwritten(const Memory *m, Diags *d, const Buffer *b, unsigned element,
                             Span kernel) {
  uint64_t first = 0;
  if (b->written || !b->dirty || is_another_name(m, b)) return;
  uint64_t bytes = shadow_unwritten(m->shadow, b->base, b->size, &first);
  if (!bytes) return;
  diag_warning(d, kernel, W_INTERP_UNWRITTEN, (Big)element_count(bytes, element),
               (Big)element_count(b->size, element), b->name,
               element_text(m, b, first - (first - b->base) % element, element));
  diag_hint(d, H_INTERP_NOT_ALL);
}

void memory_remarks(Memory *m, Diags *d, uint32_t arg, unsigned element, Span kernel) {
  const Buffer *b = buffer_of_arg(m, (int32_t)arg);
  if (!b || !element) return;
  const Repeat *r = &b->repeat;
  if (r->bytes) {
    uint64_t at = r->addr - (r->addr - b->base) % element;
    diag_warning(d, r->span, W_INTERP_REPEAT, (Big)element_count(r->bytes, element), b->name,
                 element_text(m, b, at, element), (Big)r->programs[0], (Big)r->programs[1]);
    diag_hint(d, H_INTERP_REPEAT);
  }
  remark_unwritten(m, d, b, element, kernel);
}

size_t memory_findings(const Memory *m) { return findings_count(m->findings); }
void memory_report(Memory *m) { findings_report(m->findings); }
