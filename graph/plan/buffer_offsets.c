/* Places of items with sizes and lifetimes.
 *
 * Two ways are tried, and the smaller pool is taken: in the order of the steps, which is best where
 * sizes are alike, and the largest first, where small ones would come to lie between them. */
#include <stdlib.h>
#include <string.h>

#include "graph/plan/buffer_pool.h"

/* ---- a pool in which gaps open and close ---- */

typedef struct {
  int64_t at, size;
} Gap;

typedef struct {
  Arena *arena;
  VEC(Gap) gaps; /* by `at`; no two touch */
  int64_t end;   /* of all that was ever placed */
} Room;

static void remove_gap(Room *p, size_t i) {
  memmove(&p->gaps.data[i], &p->gaps.data[i + 1], (p->gaps.len - i - 1) * sizeof(Gap));
  p->gaps.len--;
}

/* The smallest gap of at least `size` bytes, the first of equals; gaps.len if there is none. */
static size_t best_gap(const Room *p, int64_t size) {
  size_t best = p->gaps.len;
  for (size_t i = 0; i < p->gaps.len; i++) {
    if (p->gaps.data[i].size < size) continue;
    if (best == p->gaps.len || p->gaps.data[i].size < p->gaps.data[best].size) best = i;
  }
  return best;
}

static int64_t take_gap(Room *p, size_t i, int64_t size) {
  Gap *g = &p->gaps.data[i];
  int64_t at = g->at;
  g->at += size;
  g->size -= size;
  if (g->size == 0) remove_gap(p, i);
  return at;
}

/* Beyond the end, from where the gap there begins if there is one. */
static int64_t grow(Room *p, int64_t size) {
  int64_t at = p->end;
  if (p->gaps.len && vec_last(&p->gaps).at + vec_last(&p->gaps).size == p->end)
    at = p->gaps.data[--p->gaps.len].at;
  p->end = at + size;
  return at;
}

static int64_t take_room(Room *p, int64_t size) {
  size_t i = best_gap(p, size);
  return i < p->gaps.len ? take_gap(p, i, size) : grow(p, size);
}

static void give_back(Room *p, int64_t at, int64_t size) {
  size_t i = p->gaps.len;
  while (i > 0 && p->gaps.data[i - 1].at > at) i--;
  vec_push(p->arena, &p->gaps, ((Gap){0, 0}));
  Gap *g = p->gaps.data;
  memmove(&g[i + 1], &g[i], (p->gaps.len - 1 - i) * sizeof(Gap));
  g[i] = (Gap){at, size};
  if (i + 1 < p->gaps.len && g[i + 1].at == at + size) {
    g[i].size += g[i + 1].size;
    remove_gap(p, i + 1);
  }
  if (i > 0 && g[i - 1].at + g[i - 1].size == at) {
    g[i - 1].size += g[i].size;
    remove_gap(p, i);
  }
}

static int64_t aligned_size(int64_t size) {
  return (size + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
}

/* Items that begin together: the largest first, so that gaps are left for the others. */
static int by_first(const void *a, const void *b) {
  const MemoryItem *x = *(MemoryItem *const *)a, *y = *(MemoryItem *const *)b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return x < y ? -1 : x > y;
}

static int by_last(const void *a, const void *b) {
  const MemoryItem *x = *(MemoryItem *const *)a, *y = *(MemoryItem *const *)b;
  if (x->last != y->last) return x->last < y->last ? -1 : 1;
  return x < y ? -1 : x > y;
}

static MemoryItem **sorted(Arena *a, MemoryItem *items, uint32_t n,
                           int (*compare)(const void *, const void *)) {
  MemoryItem **order = ARENA_ARRAY(a, MemoryItem *, n);
  for (uint32_t i = 0; i < n; i++) order[i] = &items[i];
  if (n) qsort(order, n, sizeof *order, compare);
  return order;
}

/* In the order of their first steps, each into the smallest gap that holds it.  *least is what is
 * alive at one step, at most: no pool is smaller. */
static int64_t place_by_step(Arena *arena, MemoryItem *items, uint32_t n, int64_t *least) {
  MemoryItem **starts = sorted(arena, items, n, by_first);
  MemoryItem **ends = sorted(arena, items, n, by_last);
  Room pool = {.arena = arena};
  uint32_t ended = 0;
  int64_t alive = 0;
  *least = 0;
  for (uint32_t i = 0; i < n && pool.end <= MEMORY_LIMIT; i++) {
    MemoryItem *item = starts[i];
    for (; ends[ended]->last < item->first; ended++) {
      if (ends[ended]->size) give_back(&pool, ends[ended]->offset, aligned_size(ends[ended]->size));
      alive -= aligned_size(ends[ended]->size);
    }
    item->offset = item->size ? take_room(&pool, aligned_size(item->size)) : 0;
    alive += aligned_size(item->size);
    if (alive > *least) *least = alive;
  }
  return pool.end;
}

/* ---- the largest first ---- */

static int by_size(const void *a, const void *b) {
  const MemoryItem *x = *(MemoryItem *const *)a, *y = *(MemoryItem *const *)b;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return by_first(a, b);
}

/* Below all that is placed and alive with it, where that leaves room.  `placed` are sorted by
 * offset. */
static int64_t lowest_place(MemoryItem *const *placed, uint32_t n, const MemoryItem *item) {
  int64_t at = 0;
  for (uint32_t i = 0; i < n && placed[i]->offset < at + aligned_size(item->size); i++) {
    const MemoryItem *other = placed[i];
    bool together = other->first <= item->last && item->first <= other->last;
    int64_t end = other->offset + aligned_size(other->size);
    if (together && end > at) at = end;
  }
  return at;
}

static void insert(MemoryItem **placed, uint32_t n, MemoryItem *item) {
  uint32_t i = n;
  for (; i > 0 && placed[i - 1]->offset > item->offset; i--) placed[i] = placed[i - 1];
  placed[i] = item;
}

static int64_t place_by_size(Arena *arena, MemoryItem *items, uint32_t n) {
  MemoryItem **order = sorted(arena, items, n, by_size);
  MemoryItem **placed = ARENA_ARRAY(arena, MemoryItem *, n);
  int64_t pool = 0;
  uint32_t used = 0;
  for (uint32_t i = 0; i < n; i++) {
    MemoryItem *item = order[i];
    item->offset = item->size ? lowest_place(placed, used, item) : 0;
    if (!item->size) continue;
    insert(placed, used++, item);
    int64_t end = item->offset + aligned_size(item->size);
    if (end > pool) pool = end;
  }
  return pool;
}

/* ---- both ---- */

/* The second way takes time by the square. */
enum { SECOND_MAX = 2048 };

int64_t memory_place(Arena *scratch, MemoryItem *items, uint32_t n) {
  Arena *arena = arena_child(scratch);
  int64_t least, pool = place_by_step(arena, items, n, &least);
  if (pool > least && pool <= MEMORY_LIMIT && n <= SECOND_MAX) {
    MemoryItem *again = ARENA_ARRAY(arena, MemoryItem, n);
    memcpy(again, items, n * sizeof *items);
    int64_t other = place_by_size(arena, again, n);
    if (other < pool) {
      pool = other;
      memcpy(items, again, n * sizeof *items);
    }
  }
  arena_free(arena);
  return pool <= MEMORY_LIMIT ? pool : -1;
}
