#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>

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

static int64_t take(Room *p, int64_t size) {
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

/* ---- placing ---- */

static int64_t rounded(int64_t size) {
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

int64_t memory_place(Arena *scratch, MemoryItem *items, uint32_t n) {
  Arena *arena = arena_child(scratch);
  MemoryItem **starts = sorted(arena, items, n, by_first);
  MemoryItem **ends = sorted(arena, items, n, by_last);
  Room pool = {.arena = arena};
  uint32_t ended = 0;
  for (uint32_t i = 0; i < n && pool.end <= MEMORY_LIMIT; i++) {
    MemoryItem *item = starts[i];
    for (; ends[ended]->last < item->first; ended++)
      if (ends[ended]->size) give_back(&pool, ends[ended]->offset, rounded(ends[ended]->size));
    item->offset = item->size ? take(&pool, rounded(item->size)) : 0;
  }
  arena_free(arena);
  return pool.end <= MEMORY_LIMIT ? pool.end : -1;
}

/* ---- plans ---- */

Dim memory_bytes(Dims *d, const PlanBuffer *b) {
  Dim bytes = dim_int(d, dtype_bytes(b->dtype));
  for (uint32_t i = 0; i < b->rank; i++) bytes = dim_mul(d, bytes, b->shape[i]);
  return bytes;
}

static void use(PlanBuffer *b, bool *seen, uint32_t step) {
  if (!*seen) b->first = step;
  *seen = true;
  b->last = step;
}

void memory_lifetimes(Plan *p) {
  Arena *scratch = arena_child(p->graph->arena);
  bool *seen = ARENA_ARRAY(scratch, bool, p->nbuffers);
  for (uint32_t i = 0; i < p->nbuffers; i++) p->buffers[i].first = p->buffers[i].last = 0;
  for (uint32_t i = 0; i < p->nsteps; i++)
    for (uint32_t j = 0; j < p->steps[i].nargs; j++) {
      const StepArg *a = &p->steps[i].args[j];
      if (a->kind == STEP_BUFFER) use(&p->buffers[a->buffer], &seen[a->buffer], i);
    }
  uint32_t end = p->nsteps ? p->nsteps - 1 : 0;
  for (uint32_t i = 0; i < p->noutputs; i++) p->buffers[p->outputs[i]].last = end;
  for (uint32_t i = 0; i < p->nupdates; i++) p->buffers[p->updates[i].from].last = end;
  for (uint32_t i = 0; i < p->nreads; i++) {
    PlanBuffer *b = &p->buffers[p->reads[i].buffer];
    if (b->last < p->reads[i].step) b->last = p->reads[i].step;
  }
  arena_free(scratch);
}

/* The plan's temporaries as items; false if a size depends on symbols. */
static bool fixed_items(const Plan *p, MemoryItem *items, uint32_t *n) {
  *n = 0;
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    const PlanBuffer *b = &p->buffers[i];
    if (b->kind != BUFFER_TEMPORARY) continue;
    Dim bytes = memory_bytes(p->graph->dims, b);
    if (!dim_is_int(bytes) && bytes->kind != DIM_HUGE) return false;
    bool fits = dim_is_int(bytes) && bytes->value <= MEMORY_LIMIT;
    items[(*n)++] = (MemoryItem){fits ? bytes->value : MEMORY_LIMIT + 1, b->first, b->last, 0};
  }
  return true;
}

bool memory_plan(Plan *p) {
  Arena *scratch = arena_child(p->graph->arena);
  MemoryItem *items = ARENA_ARRAY(scratch, MemoryItem, p->nbuffers);
  uint32_t n;
  memory_lifetimes(p);
  bool fixed = fixed_items(p, items, &n);
  int64_t size = fixed ? memory_place(scratch, items, n) : 0;
  p->pool = fixed && size >= 0 ? dim_int(p->graph->dims, size) : NULL;
  uint32_t at = 0;
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    PlanBuffer *b = &p->buffers[i];
    if (b->kind != BUFFER_TEMPORARY) continue;
    b->offset = p->pool ? dim_int(p->graph->dims, items[at++].offset) : NULL;
  }
  arena_free(scratch);
  return size >= 0;
}
