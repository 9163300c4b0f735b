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
