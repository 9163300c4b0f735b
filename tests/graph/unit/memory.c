/* Placing buffers in a pool: nothing that is alive together overlaps, gaps are reused, and the
 * pool's size is the end of what lies farthest. */
#include <stdio.h>
#include <string.h>

#include "planner/plan/buffer_pool.h"
#include "tests/support/tally.h"

static void check_number(bool ok, const char *what, long long got) {
  if (ok) passed++;
  else failed++, printf("FAIL %s: %lld\n", what, got);
}

static uint64_t state = 88172645463325252ULL;
static uint32_t draw(uint32_t n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (uint32_t)(state >> 20) % n;
}

static bool alive_together(const MemoryItem *a, const MemoryItem *b) {
  return a->first <= b->last && b->first <= a->last && a->size && b->size;
}

static bool overlap(const MemoryItem *a, const MemoryItem *b) {
  return a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

static int64_t rounded(int64_t size) { return (size + 255) / 256 * 256; }

/* The end of all items, the most that is alive at one step, or -1 if the placing is wrong. */
static int64_t examine(const MemoryItem *items, uint32_t n, uint32_t steps, int64_t *least) {
  int64_t end = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (items[i].offset % MEMORY_ALIGNMENT || items[i].offset < 0) return -1;
    for (uint32_t j = 0; j < i; j++)
      if (alive_together(&items[i], &items[j]) && overlap(&items[i], &items[j])) return -1;
    if (items[i].size && items[i].offset + rounded(items[i].size) > end)
      end = items[i].offset + rounded(items[i].size);
  }
  *least = 0;
  for (uint32_t s = 0; s < steps; s++) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
      if (items[i].first <= s && s <= items[i].last) sum += rounded(items[i].size);
    if (sum > *least) *least = sum;
  }
  return end;
}

static void random_lifetimes(Arena *a) {
  enum { MOST = 120, STEPS = 60 };
  MemoryItem items[MOST];
  double waste = 0;
  int rounds = 400;
  for (int r = 0; r < rounds; r++) {
    uint32_t n = draw(MOST);
    for (uint32_t i = 0; i < n; i++) {
      uint32_t first = draw(STEPS), length = draw(4) ? draw(4) : draw(STEPS);
      uint32_t last = first + length < STEPS ? first + length : STEPS - 1;
      items[i] = (MemoryItem){draw(8) ? draw(100000) : 0, first, last, -1};
    }
    int64_t least = 0, pool = memory_assign_offsets(a, items, n),
            end = examine(items, n, STEPS, &least);
    if (end < 0) check_number(false, "two items overlap in round", r);
    else if (pool != end) check_number(false, "the pool is not the end of its items in round", r);
    else passed++;
    waste += least ? (double)pool / (double)least - 1 : 0;
  }
  check_number(waste / rounds < 0.07, "average percent above what is alive",
               (long long)(100 * waste / rounds));
}

/* A chain x -> t0 -> t1 -> ...: two buffers take turns. */
static void chain(Arena *a) {
  MemoryItem items[10];
  for (uint32_t i = 0; i < 10; i++) items[i] = (MemoryItem){1000, i, i + 1, 0};
  check_number(memory_assign_offsets(a, items, 10) == 2048, "a chain takes two buffers",
               items[9].offset);
  MemoryItem none;
  check_number(memory_assign_offsets(a, &none, 0) == 0, "an empty pool", 0);
}

static void gaps_join(Arena *a) {
  MemoryItem items[] = {{256, 0, 1, 0}, {256, 0, 1, 0}, {256, 0, 9, 0}, {512, 2, 3, 0}};
  check_number(memory_assign_offsets(a, items, 4) == 768 || items[3].offset == 0,
               "neighbouring gaps join", items[3].offset);
}

/* Blocks of a network with a large sum each, which the next block reads at its end: a small buffer
 * that was put between two large ones would push the third one out. */
static void blocks(Arena *a) {
  MemoryItem items[] = {{4096, 0, 1, 0}, {1024, 1, 5, 0}, {1024, 2, 3, 0},
                        {1024, 3, 4, 0}, {4096, 4, 5, 0}, {4096, 5, 8, 0},
                        {1024, 6, 7, 0}, {1024, 7, 8, 0}, {4096, 8, 11, 0}};
  uint32_t n = sizeof items / sizeof *items;
  int64_t least, pool = memory_assign_offsets(a, items, n);
  check_number(examine(items, n, 12, &least) == pool && pool == least, "no more than what is alive",
               pool);
}

static void too_large(Arena *a) {
  MemoryItem items[] = {{MEMORY_LIMIT, 0, 1, 0}, {256, 0, 1, 0}};
  check_number(memory_assign_offsets(a, items, 2) == -1, "a pool past the limit", items[1].offset);
  check_number(memory_assign_offsets(a, items, 1) == MEMORY_LIMIT, "a pool at the limit",
               items[0].offset);
}

/* ---- plans ---- */

typedef struct {
  Plan plan;
  PlanBuffer buffers[4];
  PlanStep steps[2];
  StepArg args[4];
  uint32_t output;
} Example;

static PlanBuffer buffer(BufferKind kind, DType t, const Dim *shape) {
  return (PlanBuffer){.kind = kind, .name = "b", .dtype = t, .rank = 2, .shape = shape};
}

/* step 0 reads 0 and writes 1, step 1 reads 1 and writes 2; 3 is named by none. */
static Plan *example(Example *e, Graph *g, Dim rows) {
  Dim *shape = ARENA_ARRAY(g->arena, Dim, 2);
  shape[0] = rows;
  shape[1] = dim_int(g->dims, 100);
  memset(e, 0, sizeof *e);
  e->buffers[0] = buffer(BUFFER_INPUT, DT_F32, shape);
  for (int i = 1; i < 4; i++) e->buffers[i] = buffer(BUFFER_TEMPORARY, DT_F32, shape);
  for (uint32_t i = 0; i < 4; i++) e->args[i] = (StepArg){.buffer = (i + 1) / 2};
  for (uint32_t i = 0; i < 2; i++) e->steps[i] = (PlanStep){.args = &e->args[2 * i], .nargs = 2};
  e->output = 2;
  e->plan = (Plan){.graph = g,
                   .buffers = e->buffers,
                   .nbuffers = 4,
                   .steps = e->steps,
                   .nsteps = 2,
                   .outputs = &e->output,
                   .noutputs = 1};
  return &e->plan;
}

static void plans(Arena *a) {
  Pool *names = pool_new(a);
  Graph *g = graph_new(a, names, diags_new(a));
  Example e;
  Plan *p = example(&e, g, dim_int(g->dims, 2));
  check_number(memory_plan(p) && dim_is(p->pool, 2048), "the pool of a plan", 0);
  check_number(e.buffers[1].first == 0 && e.buffers[1].last == 1, "a lifetime", e.buffers[1].last);
  check_number(e.buffers[1].offset != e.buffers[2].offset, "what is alive together lies apart", 0);
  p = example(&e, g, dim_symbol(g->dims, pool_name(names, "s0")));
  check_number(memory_plan(p) && !p->pool && !e.buffers[1].offset, "symbolic sizes wait", 0);
  p = example(&e, g, dim_int(g->dims, INT64_MAX / 2));
  check_number(!memory_plan(p), "a plan that is too large", 0);
}

int main(void) {
  Arena *a = arena_new();
  random_lifetimes(a);
  chain(a);
  gaps_join(a);
  blocks(a);
  too_large(a);
  plans(a);
  arena_free(a);
  return report();
}
