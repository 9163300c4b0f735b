#include "planner/plan/buffer_pool.h"

Dim memory_bytes(Dims *d, const PlanBuffer *b) {
  Dim bytes = dim_int(d, dtype_bytes(b->dtype));
  for (uint32_t i = 0; i < b->rank; i++) bytes = dim_mul(d, bytes, b->shape[i]);
  return bytes;
}

int64_t memory_assign_offsets(Arena *scratch, MemoryItem *items, uint32_t n) {
  Arena *arena = arena_child(scratch);
  int64_t pool = memory_offsets(items, n, arena_alloc(arena, memory_scratch(n)));
  arena_free(arena);
  return pool;
}

static void use(PlanBuffer *b, bool *seen, uint32_t step) {
  if (!*seen) b->first = step;
  *seen = true;
  b->last = step;
}

static void live_until(PlanBuffer *b, uint32_t step) {
  if (b->last < step) b->last = step;
}

/* What a loop reads is there in its next iteration. */
static void extend_by_loop(Plan *p, const PlanLoop *loop) {
  uint32_t end = loop->past ? loop->past - 1 : 0;
  live_until(&p->buffers[loop->condition], loop->body);
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    PlanBuffer *b = &p->buffers[i];
    if (b->first < loop->first && b->last >= loop->first) live_until(b, end);
  }
  for (uint32_t i = 0; i < loop->ncopies; i++) {
    live_until(&p->buffers[loop->copies[i].from], end);
    live_until(&p->buffers[loop->copies[i].to], end);
  }
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
    live_until(b, p->reads[i].step);
  }
  for (uint32_t i = p->nloops; i-- > 0;) extend_by_loop(p, &p->loops[i]);
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
  int64_t size = fixed ? memory_assign_offsets(scratch, items, n) : 0;
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
