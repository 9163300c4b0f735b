#include "planner/plan/memory_report.h"

#include "planner/plan/buffer_pool.h"

static bool count_buffer(const Plan *p, const Sizes *s, const PlanBuffer *b, MemoryUse *out,
                         MemoryItem *item) {
  int64_t bytes;
  if (!sizes_eval(s, memory_bytes(p->graph->dims, b), &bytes) || bytes < 0 || bytes > MEMORY_LIMIT)
    return false;
  *item = (MemoryItem){bytes, b->first, b->last, 0};
  int64_t *sum = b->kind == BUFFER_INPUT       ? &out->inputs
                 : b->kind == BUFFER_OUTPUT    ? &out->outputs
                 : b->kind == BUFFER_TEMPORARY ? &out->temporaries
                                               : &out->weights;
  return !__builtin_add_overflow(*sum, bytes, sum);
}

bool memory_use(const Plan *p, const Sizes *s, MemoryUse *out) {
  Arena *scratch = arena_child(p->graph->arena);
  MemoryItem *items = ARENA_ARRAY(scratch, MemoryItem, p->nbuffers);
  uint32_t n = 0;
  bool known = true;
  *out = (MemoryUse){0};
  for (uint32_t i = 0; i < p->nbuffers && known; i++) {
    known = count_buffer(p, s, &p->buffers[i], out, &items[n]);
    if (p->buffers[i].kind == BUFFER_TEMPORARY) n++;
  }
  /* A plan as text may give its temporaries any offsets. */
  if (known && (!p->pool || !sizes_eval(s, p->pool, &out->pool)))
    out->pool = memory_assign_offsets(scratch, items, n);
  arena_free(scratch);
  return known && out->pool >= 0;
}

/* ---- memory that is taken step by step ---- */

typedef struct {
  const MemoryTaking *taking;
  int64_t *change; /* of the bytes in use, from each step to the next */
  MemoryItem *pooled;
  uint32_t npooled;
} MemorySteps;

static void count_in_steps(MemorySteps *m, const PlanBuffer *b, int64_t bytes) {
  bool temporary = b->kind == BUFFER_TEMPORARY;
  if (temporary && bytes < LENT_BYTES) {
    m->pooled[m->npooled++] = (MemoryItem){bytes, b->first, b->last, 0};
    return;
  }
  bool input = b->kind == BUFFER_INPUT;
  bool ends = temporary || (input && m->taking->released && m->taking->released[b->number]);
  m->change[input ? 0 : b->first] += bytes;
  if (ends) m->change[b->last + 1] -= bytes;
}

static bool is_taken(const PlanBuffer *b) {
  return b->kind == BUFFER_INPUT || b->kind == BUFFER_OUTPUT || b->kind == BUFFER_TEMPORARY;
}

static bool peak_of_steps(const Plan *p, const Sizes *s, MemorySteps *m, int64_t *out) {
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    const PlanBuffer *b = &p->buffers[i];
    int64_t bytes;
    if (!is_taken(b)) continue;
    if (!sizes_eval(s, memory_bytes(p->graph->dims, b), &bytes) || bytes < 0 ||
        bytes > MEMORY_LIMIT)
      return false;
    count_in_steps(m, b, bytes);
  }
  int64_t alive = memory_assign_offsets(p->graph->arena, m->pooled, m->npooled);
  *out = 0;
  for (uint32_t i = 0; i <= p->nsteps; i++) {
    alive += m->change[i];
    if (alive > *out) *out = alive;
  }
  return true;
}

bool memory_peak(const Plan *p, const Sizes *s, const MemoryTaking *taking, int64_t *out) {
  MemoryUse use;
  if (!memory_use(p, s, &use)) return false;
  *out = use.inputs + use.outputs + use.pool;
  if (!taking->steps || p->nreads || p->nloops) return true;
  Arena *scratch = arena_child(p->graph->arena);
  MemorySteps m = {.taking = taking,
                   .change = ARENA_ARRAY(scratch, int64_t, p->nsteps + 2),
                   .pooled = ARENA_ARRAY(scratch, MemoryItem, p->nbuffers)};
  bool known = peak_of_steps(p, s, &m, out);
  arena_free(scratch);
  return known;
}
