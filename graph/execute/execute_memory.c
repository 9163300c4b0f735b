#include <stdlib.h>

#include "graph/compile/buffer_weight.h"
#include "graph/execute/execute_state.h"
#include "graph/messages.h"
#include "graph/plan/memory_report.h"

enum { POINTER_ALIGNMENT = 16 }; /* what kernels are specialized on */

int execute_own(Executable *e, BufferState *b) {
  bool fits = e->interprets ? b->own_bytes == b->bytes : b->own_bytes >= b->bytes;
  if (b->own && fits) return 0;
  nereid_free(e->device, b->own);
  b->own = NULL;
  int code = nereid_alloc((void **)&b->own, e->device, (size_t)(b->bytes ? b->bytes : 1));
  b->own_bytes = b->bytes;
  return code;
}

static void drop(Executable *e, BufferState *b) {
  nereid_free(e->device, b->own);
  b->own = b->data = NULL;
}

void execute_free_memory(Executable *e) {
  for (uint32_t i = 0; e->buffers && i < e->plan->nbuffers; i++)
    nereid_free(e->device, e->buffers[i].own);
  nereid_free(e->device, e->pool);
  execute_free_records(e);
}

/* ---- weights ---- */

int execute_find_weights(Executable *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    BufferState *b = &e->buffers[i];
    if (b->plan->kind == BUFFER_WEIGHT)
      code = buffer_weight(&b->weight, e->weights, b->plan, e->arena);
  }
  return code;
}

static bool goes_as_it_is(const BufferState *b) {
  return b->weight->dtype == b->plan->dtype && weight_is_dense(b->weight);
}

static int upload_changed(Executable *e, BufferState *b) {
  void *packed = malloc((size_t)b->bytes);
  if (!packed || !weight_convert(packed, b->plan->dtype, b->weight)) {
    free(packed);
    return error_out_of_memory();
  }
  int code = nereid_copy_in(e->device, b->own, packed, (size_t)b->bytes, NULL);
  free(packed);
  return code;
}

/* The mapping is read-only and lies where the file has it. */
static bool usable_in_place(const Executable *e, const BufferState *b) {
  return e->on_host && !b->written && b->bytes && goes_as_it_is(b) &&
         (uintptr_t)b->weight->data % POINTER_ALIGNMENT == 0;
}

typedef VEC(BufferState *) BufferStates;

/* What can go with others, in one upload, is left to them. */
static int place_weight(Executable *e, BufferState *b, BufferStates *later) {
  if (b->own || b->released) return 0;
  if (usable_in_place(e, b)) {
    b->data = (char *)(uintptr_t)b->weight->data;
    return device_borrow(e->device, b->data, (size_t)b->bytes);
  }
  int code = execute_own(e, b);
  b->data = b->own;
  if (code || b->bytes == 0) return code;
  if (!goes_as_it_is(b)) {
    code = upload_changed(e, b);
    if (code) drop(e, b);
    return code;
  }
  vec_push(e->arena, later, b);
  return 0;
}

static int upload_all(Executable *e, const BufferStates *of) {
  Upload *uploads = ARENA_ARRAY(e->arena, Upload, of->len);
  for (size_t i = 0; i < of->len; i++) {
    const BufferState *b = of->data[i];
    uploads[i] = (Upload){b->own, b->weight->data, (size_t)b->bytes};
  }
  return device_upload(e->device, uploads, (int)of->len);
}

/* After a failure no weight has memory without its elements. */
static int place_weights(Executable *e) {
  BufferStates later = {0};
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++)
    if (e->buffers[i].weight) code = place_weight(e, &e->buffers[i], &later);
  if (!code) code = upload_all(e, &later);
  for (size_t i = 0; i < later.len && code; i++) drop(e, later.data[i]);
  return code;
}

void execute_release(Executable *e) {
  const Plan *p = e->plan;
  bool *needed = ARENA_ARRAY(e->arena, bool, p->nbuffers);
  for (uint32_t i = plan_once(p); i < p->nsteps; i++)
    for (uint32_t j = 0; j < p->steps[i].nargs; j++)
      if (p->steps[i].args[j].kind == STEP_BUFFER) needed[p->steps[i].args[j].buffer] = true;
  for (uint32_t i = 0; i < p->noutputs; i++) needed[p->outputs[i]] = true;
  for (uint32_t i = 0; i < p->nupdates; i++)
    needed[p->updates[i].from] = needed[p->updates[i].to] = true;
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    BufferState *b = &e->buffers[i];
    b->released = b->plan->kind == BUFFER_WEIGHT && !needed[i];
    if (b->released) drop(e, b);
  }
}

static int place_constants(Executable *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    BufferState *b = &e->buffers[i];
    if (b->plan->kind != BUFFER_CONSTANT) continue;
    code = execute_own(e, b);
    b->data = b->own;
  }
  return code;
}

/* ---- temporaries ---- */

/* The offsets that the plan has; they must lie in its pool. */
static int take_offsets(Executable *e, MemoryItem *items) {
  uint32_t n = 0;
  int64_t pool;
  if (!sizes_eval(e->sizes, e->plan->pool, &pool)) pool = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    const PlanBuffer *b = &e->plan->buffers[i];
    if (b->kind != BUFFER_TEMPORARY) continue;
    MemoryItem *item = &items[n++];
    bool good = b->offset && sizes_eval(e->sizes, b->offset, &item->offset) && item->offset >= 0 &&
                item->offset % POINTER_ALIGNMENT == 0 && item->size <= pool &&
                item->offset <= pool - item->size;
    if (!good) return error_set(NEREID_E_FILE, E_GRAPH_POOL, b->name);
  }
  e->pool_used = pool;
  return 0;
}

static int find_offsets(Executable *e, MemoryItem *items, uint32_t n) {
  e->pool_used = memory_place(e->arena, items, n);
  return e->pool_used < 0 ? error_set(NEREID_E_MEMORY, E_GRAPH_TEMPORARIES) : 0;
}

static int grow_pool(Executable *e) {
  if (e->pool && e->pool_used <= e->pool_bytes) return 0;
  nereid_free(e->device, e->pool);
  e->pool = NULL;
  e->pool_bytes = e->pool_used;
  return nereid_alloc((void **)&e->pool, e->device, (size_t)(e->pool_used ? e->pool_used : 1));
}

static int place_in_pool(Executable *e) {
  uint32_t n = 0, at = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    const BufferState *b = &e->buffers[i];
    if (b->plan->kind == BUFFER_TEMPORARY)
      e->items[n++] = (MemoryItem){b->bytes, b->plan->first, b->plan->last, 0};
  }
  int code = e->plan->pool ? take_offsets(e, e->items) : find_offsets(e, e->items, n);
  if (!code) code = grow_pool(e);
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++)
    if (e->buffers[i].plan->kind == BUFFER_TEMPORARY)
      e->buffers[i].data = e->pool + e->items[at++].offset;
  return code;
}

static int place_apart(Executable *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    BufferState *b = &e->buffers[i];
    if (b->plan->kind != BUFFER_TEMPORARY) continue;
    code = execute_own(e, b);
    b->data = b->own;
  }
  return code;
}

/* ---- all ---- */

static int find_bytes(Executable *e, BufferState *b) {
  int code = sizes_shape(e->sizes, b->plan, b->shape);
  if (code) return code;
  int64_t bytes = dtype_bytes(b->plan->dtype);
  bool zero = false, over = false;
  for (uint32_t i = 0; i < b->plan->rank; i++) {
    zero |= b->shape[i] == 0;
    over |= !zero && __builtin_mul_overflow(bytes, b->shape[i], &bytes);
  }
  b->bytes = zero ? 0 : bytes;
  if (!zero && (over || bytes > MEMORY_LIMIT))
    return error_set(NEREID_E_MEMORY, E_GRAPH_TOO_LARGE, b->plan->name, b->plan->rank);
  return 0;
}

int execute_measure(Executable *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) code = find_bytes(e, &e->buffers[i]);
  return code;
}

static int place_all(Executable *e) {
  int code = execute_measure(e);
  if (!code) code = place_weights(e);
  if (!code) code = place_constants(e);
  if (!code) code = execute_place_records(e);
  if (code) return code;
  return e->interprets ? place_apart(e) : place_in_pool(e);
}

/* What did not fit is one piece; what the model takes is all of them. */
static int explain_memory(const Executable *e, int code) {
  MemoryUse m;
  if (!memory_use(e->plan, e->sizes, &m)) return code;
  long long weights = m.weights >> 20, pool = m.pool >> 20;
  return error_set(code, E_GRAPH_DEVICE_MEMORY, nereid_error_message(), weights + pool,
                   e->device->name, weights, pool, (long long)(m.inputs + m.outputs) >> 20);
}

int execute_measure_again(Executable *e) {
  int code = execute_measure(e);
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    BufferState *b = &e->buffers[i];
    if (b->bytes <= b->room) continue;
    code = execute_own(e, b);
    b->data = b->own;
    b->room = b->bytes;
  }
  return code;
}

int execute_place(Executable *e) {
  int code = place_all(e);
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) e->buffers[i].room = e->buffers[i].bytes;
  return code == NEREID_E_MEMORY ? explain_memory(e, code) : code;
}
