/* Offsets of items with sizes and lifetimes in one pool.
 *
 * Two orders are tried, and the smaller pool is taken: by first step, which is best where sizes are
 * alike, and by size, the largest first, where small items would fragment the pool.
 *
 * All functions are static and include nothing of Nereid: projects that `nereid build` writes hold
 * this file, too, so that a run of theirs has the pool that Nereid's own run has. */
#ifndef NEREID_GRAPH_PLAN_BUFFER_OFFSETS_H
#define NEREID_GRAPH_PLAN_BUFFER_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_ALIGNMENT = 256 };
/* No pool is larger; sizes up to here can be added without overflow. */
#define MEMORY_LIMIT ((int64_t)1 << 48)

typedef struct {
  int64_t size;         /* bytes, 0 to MEMORY_LIMIT */
  uint32_t first, last; /* the steps between which it is alive, both of them included */
  int64_t offset;       /* by memory_offsets: a multiple of MEMORY_ALIGNMENT */
} MemoryItem;

/* ---- a pool in which gaps open and close ---- */

typedef struct {
  int64_t at, size;
} MemoryGap;

typedef struct {
  MemoryGap *gaps; /* by `at`; no two touch */
  size_t n;        /* never more than items that were given back */
  int64_t end;     /* of all items so far */
} MemoryRoom;

static inline void memory_remove_gap(MemoryRoom *p, size_t i) {
  memmove(&p->gaps[i], &p->gaps[i + 1], (p->n - i - 1) * sizeof *p->gaps);
  p->n--;
}

/* The smallest gap of at least `size` bytes, the first of equals; n if there is none. */
static inline size_t memory_best_gap(const MemoryRoom *p, int64_t size) {
  size_t best = p->n;
  for (size_t i = 0; i < p->n; i++) {
    if (p->gaps[i].size < size) continue;
    if (best == p->n || p->gaps[i].size < p->gaps[best].size) best = i;
  }
  return best;
}

static inline int64_t memory_take_gap(MemoryRoom *p, size_t i, int64_t size) {
  MemoryGap *g = &p->gaps[i];
  int64_t at = g->at;
  g->at += size;
  g->size -= size;
  if (g->size == 0) memory_remove_gap(p, i);
  return at;
}

/* Beyond the end, from where the gap there begins if there is one. */
static inline int64_t memory_grow(MemoryRoom *p, int64_t size) {
  int64_t at = p->end;
  if (p->n && p->gaps[p->n - 1].at + p->gaps[p->n - 1].size == p->end) at = p->gaps[--p->n].at;
  p->end = at + size;
  return at;
}

static inline int64_t memory_take(MemoryRoom *p, int64_t size) {
  size_t i = memory_best_gap(p, size);
  return i < p->n ? memory_take_gap(p, i, size) : memory_grow(p, size);
}

static inline void memory_give_back(MemoryRoom *p, int64_t at, int64_t size) {
  size_t i = p->n;
  while (i > 0 && p->gaps[i - 1].at > at) i--;
  MemoryGap *g = p->gaps;
  memmove(&g[i + 1], &g[i], (p->n++ - i) * sizeof *g);
  g[i] = (MemoryGap){at, size};
  if (i + 1 < p->n && g[i + 1].at == at + size) {
    g[i].size += g[i + 1].size;
    memory_remove_gap(p, i + 1);
  }
  if (i > 0 && g[i - 1].at + g[i - 1].size == at) {
    g[i - 1].size += g[i].size;
    memory_remove_gap(p, i);
  }
}

/* Rounded up to a multiple of MEMORY_ALIGNMENT. */
static inline int64_t memory_aligned(int64_t size) {
  return (size + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
}

/* Items that begin together: the largest first, so that gaps are left for the others. */
static inline int memory_by_first(const void *a, const void *b) {
  const MemoryItem *x = *(MemoryItem *const *)a, *y = *(MemoryItem *const *)b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return x < y ? -1 : x > y;
}

static inline int memory_by_last(const void *a, const void *b) {
  const MemoryItem *x = *(MemoryItem *const *)a, *y = *(MemoryItem *const *)b;
  if (x->last != y->last) return x->last < y->last ? -1 : 1;
  return x < y ? -1 : x > y;
}

static inline void memory_sort(MemoryItem **order, MemoryItem *items, uint32_t n,
                               int (*compare)(const void *, const void *)) {
  for (uint32_t i = 0; i < n; i++) order[i] = &items[i];
  if (n) qsort(order, n, sizeof *order, compare);
}

/* The memory that memory_offsets works in. */
typedef struct {
  MemoryItem *again;       /* n */
  MemoryGap *gaps;         /* n */
  MemoryItem **one, **two; /* n each */
} MemoryScratch;

/* In the order of their first steps, each into the smallest gap that holds it (best fit).  *least
 * is the most that is alive at one step: no pool is smaller. */
static inline int64_t memory_offsets_by_step(MemoryScratch *s, MemoryItem *items, uint32_t n,
                                             int64_t *least) {
  MemoryItem **starts = s->one, **ends = s->two;
  memory_sort(starts, items, n, memory_by_first);
  memory_sort(ends, items, n, memory_by_last);
  MemoryRoom pool = {.gaps = s->gaps};
  uint32_t ended = 0;
  int64_t alive = 0;
  *least = 0;
  for (uint32_t i = 0; i < n && pool.end <= MEMORY_LIMIT; i++) {
    MemoryItem *item = starts[i];
    for (; ends[ended]->last < item->first; ended++) {
      if (ends[ended]->size)
        memory_give_back(&pool, ends[ended]->offset, memory_aligned(ends[ended]->size));
      alive -= memory_aligned(ends[ended]->size);
    }
    item->offset = item->size ? memory_take(&pool, memory_aligned(item->size)) : 0;
    alive += memory_aligned(item->size);
    if (alive > *least) *least = alive;
  }
  return pool.end;
}

/* ---- the largest first ---- */

static inline int memory_by_size(const void *a, const void *b) {
  const MemoryItem *x = *(MemoryItem *const *)a, *y = *(MemoryItem *const *)b;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return memory_by_first(a, b);
}

/* Below all that is placed and alive with it, where that leaves room.  `placed` are sorted by
 * offset. */
static inline int64_t memory_lowest_offset(MemoryItem *const *placed, uint32_t n,
                                           const MemoryItem *item) {
  int64_t at = 0;
  for (uint32_t i = 0; i < n && placed[i]->offset < at + memory_aligned(item->size); i++) {
    const MemoryItem *other = placed[i];
    bool together = other->first <= item->last && item->first <= other->last;
    int64_t end = other->offset + memory_aligned(other->size);
    if (together && end > at) at = end;
  }
  return at;
}

static inline void memory_insert(MemoryItem **placed, uint32_t n, MemoryItem *item) {
  uint32_t i = n;
  for (; i > 0 && placed[i - 1]->offset > item->offset; i--) placed[i] = placed[i - 1];
  placed[i] = item;
}

static inline int64_t memory_offsets_by_size(MemoryScratch *s, MemoryItem *items, uint32_t n) {
  MemoryItem **order = s->one, **placed = s->two;
  memory_sort(order, items, n, memory_by_size);
  int64_t pool = 0;
  uint32_t used = 0;
  for (uint32_t i = 0; i < n; i++) {
    MemoryItem *item = order[i];
    item->offset = item->size ? memory_lowest_offset(placed, used, item) : 0;
    if (!item->size) continue;
    memory_insert(placed, used++, item);
    int64_t end = item->offset + memory_aligned(item->size);
    if (end > pool) pool = end;
  }
  return pool;
}

/* ---- both ---- */

/* The order by size takes quadratic time. */
enum { MEMORY_SECOND_MAX = 2048 };

/* The bytes of scratch that memory_offsets needs for n items. */
static inline size_t memory_scratch(uint32_t n) {
  return n * (sizeof(MemoryItem) + sizeof(MemoryGap) + 2 * sizeof(MemoryItem *)) + 1;
}

/* Gives each item its offset, so that items that are alive at one step share no byte.  Returns the
 * bytes of the pool, -1 if that exceeds MEMORY_LIMIT. */
static inline int64_t memory_offsets(MemoryItem *items, uint32_t n, void *scratch) {
  MemoryScratch s = {.again = (MemoryItem *)scratch};
  s.gaps = (MemoryGap *)(s.again + n);
  s.one = (MemoryItem **)(s.gaps + n);
  s.two = s.one + n;
  int64_t least, pool = memory_offsets_by_step(&s, items, n, &least);
  if (pool > least && pool <= MEMORY_LIMIT && n <= MEMORY_SECOND_MAX) {
    memcpy(s.again, items, n * sizeof *items);
    int64_t other = memory_offsets_by_size(&s, s.again, n);
    if (other < pool) {
      pool = other;
      memcpy(items, s.again, n * sizeof *items);
    }
  }
  return pool <= MEMORY_LIMIT ? pool : -1;
}

#endif
