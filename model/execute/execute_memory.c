#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/archives/map.h"
#include "lang/interp/interp.h"
#include "model/execute/execute_state.h"
#include "model/messages.h"
#include "planner/compile/buffer_weight.h"
#include "planner/messages.h"
#include "planner/plan/memory_report.h"
#include "runtime/launch/pools.h"
#include "runtime/support/array.h"

/* ---- records of indices that were out of range (PLAN_RECORD in planner/plan/plan.h) ----
 *
 * All of an executable are adjacent in memory that the host and the device's kernels share, so
 * that a run neither clears nor copies them.  Who waits for the device looks at them (DeviceWatch),
 * and so does the next run. */

static uint32_t count_records(const Plan *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nbuffers; i++)
    if (p->buffers[i].kind == BUFFER_RECORDS) n += p->buffers[i].nchecks;
  return n;
}

static int check_watched(void *executable) { return execute_check_records(executable); }

static int allocate_records(Execution *e) {
  size_t n = (size_t)e->nrecords * PLAN_RECORD;
  int64_t *none = ARENA_ARRAY(e->arena, int64_t, n);
  for (size_t i = 0; i < n; i++) none[i] = PLAN_NO_RECORD;
  int code = device_alloc_shared(e->device, (void **)&e->records, none, n * sizeof *none);
  if (code) return code;
  if (e->on_host) return 0; /* the run itself reports */
  e->watch = (DeviceWatch){.check = check_watched, .context = e};
  device_watch(e->device, &e->watch);
  return 0;
}

/* Memory for the records of all checks, which says that there are none. */
static int execute_allocate_records(Execution *e) {
  e->nrecords = count_records(e->plan);
  int code = e->records || !e->nrecords ? 0 : allocate_records(e);
  int64_t *at = e->records;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    BufferState *b = &e->buffers[i];
    if (b->plan->kind != BUFFER_RECORDS) continue;
    b->data = (char *)at;
    at += PLAN_RECORD * b->plan->nchecks;
  }
  return code;
}

static void execute_free_records(Execution *e) {
  if (!e->records) return;
  if (!e->on_host) device_unwatch(e->device, &e->watch);
  device_free_shared(e->device, e->records);
}

/* ---- reports ---- */

/* [2, 3]: the index of element `linear`. */
static const char *index_text(Arena *a, const Execution *e, const PlanCheck *c, int64_t linear) {
  int64_t at[GRAPH_RANK_MAX];
  Text t = text_new(a);
  for (uint32_t i = c->rank; i-- > 0;) {
    int64_t size = 1;
    if (!sizes_eval(e->sizes, c->shape[i], &size) || size < 1) size = 1;
    at[i] = linear % size;
    linear /= size;
  }
  text_puts(&t, "[");
  for (uint32_t i = 0; i < c->rank; i++) text_printf(&t, "%s%lld", i ? ", " : "", (long long)at[i]);
  text_puts(&t, "]");
  return t.data;
}

typedef struct {
  Arena *arena;
  const Execution *e;
  const PlanCheck *check;
  const int64_t *record;
} IndexReport;

static int report_index_body(void *arg) {
  const IndexReport *r = arg;
  const PlanCheck *c = r->check;
  int64_t least = 0, size = 0;
  uint64_t index = (uint32_t)r->record[0] | (uint64_t)(uint32_t)r->record[1] << 32;
  const char *at = index_text(r->arena, r->e, c, r->record[0] >> 32);
  if (c->fault)
    return error_set(NEREID_E_DATA, E_GRAPH_DATA, c->node, c->fault, c->rank ? ", at " : "",
                     c->rank ? at : "");
  sizes_eval(r->e->sizes, c->least, &least);
  sizes_eval(r->e->sizes, c->size, &size);
  return error_set(NEREID_E_INDEX, E_GRAPH_INDEX_RANGE, c->node, (long long)(int64_t)index, at,
                   c->index, (long long)least, (long long)size - 1, (long long)size);
}

/* Whoever waits for the device reports, in any thread: the execution's arena is another's. */
static int report_index(const Execution *e, const PlanCheck *c, const int64_t *record) {
  IndexReport r = {arena_new(), e, c, record};
  if (!r.arena) return error_out_of_memory();
  int code = error_guard(r.arena, report_index_body, &r);
  arena_free(r.arena);
  return code;
}

static int report_first(const Execution *e) {
  const int64_t *at = e->records;
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    const PlanBuffer *b = e->buffers[i].plan;
    for (uint32_t j = 0; j < b->nchecks; j++, at += PLAN_RECORD)
      if (at[0] != PLAN_NO_RECORD) return report_index(e, &b->checks[j], at);
  }
  return 0;
}

static bool any_record(const Execution *e) {
  const volatile int64_t *at = e->records;
  for (uint32_t i = 0; e->records && i < e->nrecords; i++)
    if (at[PLAN_RECORD * i] != PLAN_NO_RECORD) return true;
  return false;
}

/* A kernel of another stream may be writing its second half.  An assertion may have ended the
 * kernel, and then the wait fails: the record says why. */
int execute_check_records(Execution *e) {
  if (!any_record(e)) return 0;
  int lost = e->device->ops->sync(e->device, NULL, true), code = report_first(e);
  if (!code) code = lost;
  for (size_t i = 0; i < (size_t)e->nrecords * PLAN_RECORD; i++) e->records[i] = PLAN_NO_RECORD;
  return code;
}

void execute_note_captured(Execution *e) {
  if (e->captured || !e->nrecords) return;
  e->captured = true;
  pthread_mutex_lock(&e->of->lock);
  e->next_captured = e->of->captured;
  __atomic_store_n(&e->of->captured, e, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&e->of->lock);
}

static void forget_captured(Execution *e) {
  if (!e->captured) return;
  pthread_mutex_lock(&e->of->lock);
  Execution **link = &e->of->captured;
  while (*link && *link != e) link = &(*link)->next_captured;
  if (*link) __atomic_store_n(link, e->next_captured, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&e->of->lock);
}

int execute_check_captured(Execution *e) {
  int code = 0;
  if (__builtin_expect(!__atomic_load_n(&e->of->captured, __ATOMIC_ACQUIRE), 1)) return 0;
  pthread_mutex_lock(&e->of->lock);
  for (Execution *x = e->of->captured; x && !code; x = x->next_captured)
    code = execute_check_records(x);
  pthread_mutex_unlock(&e->of->lock);
  return code;
}

enum { POINTER_ALIGNMENT = 16 }; /* what kernels are specialized on */

/* Memory of the buffer's own, of b->bytes. */
static int execute_own(Execution *e, BufferState *b) {
  bool fits = e->interprets ? b->own_bytes == b->bytes : b->own_bytes >= b->bytes;
  if (b->own && fits) return 0;
  nereid_free(e->device, b->own);
  b->own = NULL;
  int code = nereid_alloc((void **)&b->own, e->device, (size_t)(b->bytes ? b->bytes : 1));
  b->own_bytes = b->bytes;
  return code;
}

static void free_own_buffer(Execution *e, BufferState *b) {
  nereid_free(e->device, b->own);
  b->own = b->data = NULL;
}

void execute_free_memory(Execution *e) {
  forget_captured(e);
  for (uint32_t i = 0; e->buffers && i < e->plan->nbuffers; i++)
    nereid_free(e->device, e->buffers[i].own);
  execute_leave_pool(e);
  if (e->on_host) pools_leave(e->device);
  else nereid_free(e->device, e->pool);
  execute_free_records(e);
}

/* ---- weights ---- */

int execute_find_weights(Execution *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    BufferState *b = &e->buffers[i];
    if (b->plan->kind == BUFFER_WEIGHT)
      code = buffer_weight(&b->weight, e->of->weights, b->plan, e->arena);
  }
  return code;
}

static bool goes_as_it_is(const BufferState *b) {
  return b->weight->dtype == b->plan->dtype && weight_is_dense(b->weight);
}

static int upload_changed(Execution *e, BufferState *b) {
  void *packed = malloc((size_t)b->bytes);
  if (!packed || !weight_convert(packed, b->plan->dtype, b->weight)) {
    free(packed);
    return error_out_of_memory();
  }
  int code = nereid_copy_in(e->device, b->own, packed, (size_t)b->bytes, NULL);
  free(packed);
  return code;
}

/* Weights can be used in the file's mapping if nothing writes to them and they are aligned
 * there. */
static bool usable_in_place(const Execution *e, const BufferState *b) {
  return e->on_host && !b->written && b->bytes && goes_as_it_is(b) &&
         (uintptr_t)b->weight->data % POINTER_ALIGNMENT == 0;
}

typedef VEC(BufferState *) BufferStates;

/* Once, whoever loads the weights again. */
static int borrow_file(Execution *e, const BufferState *b) {
  const void **borrowed = &e->of->borrowed[b - e->buffers];
  int code = *borrowed ? 0 : device_borrow_lasting(e->device, b->data, (size_t)b->bytes);
  if (!code) *borrowed = b->data;
  return code;
}

/* Weights that can be uploaded together with others are appended to `later`. */
static int load_weight(Execution *e, BufferState *b, BufferStates *later) {
  if (b->own || b->released) return 0;
  if (usable_in_place(e, b)) {
    b->data = (char *)(uintptr_t)b->weight->data;
    b->mapped = true;
    return borrow_file(e, b);
  }
  int code = execute_own(e, b);
  b->data = b->own;
  if (code || b->bytes == 0) return code;
  if (!goes_as_it_is(b)) {
    code = upload_changed(e, b);
    if (code) free_own_buffer(e, b);
    return code;
  }
  vec_push(e->arena, later, b);
  return 0;
}

static int upload_all(Execution *e, const BufferStates *of) {
  Upload *uploads = ARENA_ARRAY(e->arena, Upload, of->len);
  for (size_t i = 0; i < of->len; i++) {
    const BufferState *b = of->data[i];
    uploads[i] = (Upload){b->own, b->weight->data, (size_t)b->bytes};
  }
  return device_upload(e->device, uploads, (int)of->len);
}

/* After a failure no weight has memory without its elements. */
static int load_weights(Execution *e) {
  BufferStates later = {0};
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++)
    if (e->buffers[i].weight) code = load_weight(e, &e->buffers[i], &later);
  if (!code) code = upload_all(e, &later);
  for (size_t i = 0; i < later.len && code; i++) free_own_buffer(e, later.data[i]);
  return code;
}

void execute_release(Execution *e) {
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
    if (!b->released) continue;
    if (b->mapped && b->weight->mapped) map_give_back(b->data, (size_t)b->bytes);
    free_own_buffer(e, b);
  }
}

static int allocate_constants(Execution *e) {
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

/* The plan's offsets; each buffer must be within the pool. */
static int take_offsets(Execution *e, MemoryItem *items) {
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

static int find_offsets(Execution *e, MemoryItem *items, uint32_t n) {
  e->pool_used = memory_assign_offsets(e->arena, items, n);
  return e->pool_used < 0 ? error_set(NEREID_E_MEMORY, E_GRAPH_TEMPORARIES) : 0;
}

/* Runs on the host have memory in turn, from their first step to their last one. */
void execute_leave_pool(Execution *e) {
  if (!e->on_host || !e->pool) return;
  pools_give_back(e->device, e->pool, e->pool_bytes);
  e->pool = NULL;
}

static int grow_pool(Execution *e) {
  if (e->pool && e->pool_used <= e->pool_bytes) return 0;
  execute_leave_pool(e);
  if (e->on_host) return pools_take(e->device, e->pool_used, &e->pool, &e->pool_bytes);
  nereid_free(e->device, e->pool);
  e->pool = NULL;
  e->pool_bytes = e->pool_used;
  return nereid_alloc((void **)&e->pool, e->device, (size_t)(e->pool_used ? e->pool_used : 1));
}

static bool is_in_pool(const BufferState *b) {
  return b->plan->kind == BUFFER_TEMPORARY && !b->lent;
}

/* Is that temporary one that the caller lends, whose bytes are known?  The constant part runs
 * before there is a run. */
static bool execute_is_lent(const Execution *e, const BufferState *b) {
  bool in_steps = !b->nuses || b->uses[0].step >= plan_once(e->plan);
  return e->lends && e->memory.take && b->bytes >= LENT_BYTES && in_steps;
}

/* Their offsets; the memory itself is a run's. */
static int place_in_pool(Execution *e) {
  uint32_t n = 0, at = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    BufferState *b = &e->buffers[i];
    if (b->plan->kind != BUFFER_TEMPORARY) continue;
    b->lent = execute_is_lent(e, b);
    if (!b->lent) e->items[n++] = (MemoryItem){b->bytes, b->plan->first, b->plan->last, 0};
  }
  bool planned = e->plan->pool && !(e->lends && e->memory.take);
  int code = planned ? take_offsets(e, e->items) : find_offsets(e, e->items, n);
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++)
    if (is_in_pool(&e->buffers[i])) e->buffers[i].offset = e->items[at++].offset;
  e->pool_at = NULL;
  return code;
}

static int allocate_apart(Execution *e) {
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

static int find_bytes(Execution *e, BufferState *b) {
  bool is_output = b->plan->kind == BUFFER_OUTPUT;
  int code = is_output ? sizes_shape_with_room(e->sizes, b->plan, b->shape)
                       : sizes_shape(e->sizes, b->plan, b->shape);
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

int execute_measure(Execution *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) code = find_bytes(e, &e->buffers[i]);
  return code;
}

static int allocate_all(Execution *e) {
  int code = execute_measure(e);
  if (!code && !e->settled) code = load_weights(e);
  if (!code && !e->settled) code = allocate_constants(e);
  if (!code) code = execute_allocate_records(e);
  if (code) return code;
  return e->interprets ? allocate_apart(e) : place_in_pool(e);
}

/* The message has the total that the model needs: a failed allocation is only a part of it. */
static int explain_memory(const Execution *e, int code) {
  MemoryUse m;
  if (!memory_use(e->plan, e->sizes, &m)) return code;
  long long weights = m.weights >> 20, pool = m.pool >> 20;
  return error_set(code, E_GRAPH_DEVICE_MEMORY, nereid_error_message(), weights + pool,
                   e->device->name, weights, pool, (long long)(m.inputs + m.outputs) >> 20);
}

static bool has_room(const Execution *e, ExecutionMemory given) {
  return given.pool && given.pool_bytes >= e->pool_used;
}

int execute_place_temporaries(Execution *e, ExecutionMemory given) {
  if (e->interprets) return 0;
  int code = has_room(e, given) ? 0 : grow_pool(e);
  if (code) return code == NEREID_E_MEMORY ? explain_memory(e, code) : code;
  char *pool = has_room(e, given) ? given.pool : e->pool;
  if (pool == e->pool_at) return 0;
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    BufferState *b = &e->buffers[i];
    if (is_in_pool(b)) b->data = pool + b->offset;
  }
  e->pool_at = pool;
  e->pool_moved = true;
  return 0;
}

/* ---- what executions share ---- */

static bool is_kept(const BufferState *b) {
  return b->plan->kind == BUFFER_WEIGHT || b->plan->kind == BUFFER_CONSTANT;
}

void execute_keep(Execution *e) {
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    BufferState *b = &e->buffers[i];
    if (!is_kept(b)) continue;
    e->of->kept[i] = (KeptMemory){b->data, b->own, b->released};
    b->own = NULL;
  }
  e->settled = e->of->settled = true;
}

void execute_take_kept(Execution *e) {
  for (uint32_t i = 0; !e->settled && e->of->settled && i < e->plan->nbuffers; i++) {
    BufferState *b = &e->buffers[i];
    const KeptMemory *kept = &e->of->kept[i];
    if (!is_kept(b)) continue;
    nereid_free(e->device, b->own); /* of a preparation that failed */
    b->own = NULL;
    b->data = kept->data;
    b->released = kept->released;
    b->mapped = kept->data && !kept->own;
  }
  e->settled = e->of->settled;
}

int execute_measure_again(Execution *e) {
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

int execute_allocate_buffers(Execution *e) {
  int code = allocate_all(e);
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) e->buffers[i].room = e->buffers[i].bytes;
  return code == NEREID_E_MEMORY ? explain_memory(e, code) : code;
}

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };

/* ---- tensors that the caller passes ---- */

bool execute_is_on_host(const nereid_tensor *t) {
  return t->device.device_type == DL_CPU || t->device.device_type == DL_CUDA_HOST;
}

/* Can the device's kernels reach it? */
static bool is_on_device(const Execution *e, const nereid_tensor *t) {
  if (e->on_host) return execute_is_on_host(t);
  return t->device.device_type == DL_CUDA || t->device.device_type == DL_CUDA_MANAGED;
}

static char *first_element(const nereid_tensor *t) { return (char *)t->data + t->byte_offset; }

/* The elements are in the order of their indices, without gaps; if there are none, they are. */
static bool is_compact(const nereid_tensor *t) {
  int64_t stride = 1;
  for (int32_t i = 0; i < t->ndim; i++)
    if (t->shape[i] == 0) return true;
  for (int32_t i = t->ndim - 1; i >= 0 && t->strides; i--) {
    if (t->shape[i] > 1 && t->strides[i] != stride) return false;
    stride *= t->shape[i];
  }
  return true;
}

static bool is_aligned(const void *p) { return (uintptr_t)p % POINTER_ALIGNMENT == 0; }

/* The elements in the order of their indices; none of the sizes is 0. */
static void pack_elements(char *to, const nereid_tensor *t, size_t size) {
  int64_t index[GRAPH_RANK_MAX] = {0};
  const char *from = first_element(t);
  for (;;) {
    memcpy(to, from, size);
    to += size;
    int32_t axis = t->ndim - 1;
    for (; axis >= 0; axis--) {
      from += t->strides[axis] * (int64_t)size;
      if (++index[axis] < t->shape[axis]) break;
      from -= t->strides[axis] * t->shape[axis] * (int64_t)size;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/* ---- memory that the caller passes twice ---- */

/* Kernels take distinct buffers for disjoint memory (NEREID_ALIAS_DISJOINT), so a tensor that
 * overlaps another one, and of which one is written, gets memory of its own for the run. */
static bool overlaps(const BufferState *b, const char *data, int64_t bytes) {
  bool here = b->data && b->data != b->own && b->bytes > 0;
  return here && data < b->data + b->bytes && b->data < data + bytes;
}

static bool overlaps_inputs(const Execution *e, uint32_t n, const BufferState *self,
                            const char *data, bool written) {
  if (!written && !e->writes_inputs) return false;
  for (uint32_t i = 0; i < n; i++) {
    const PlanBuffer *input = e->sizes->inputs[i];
    const BufferState *b = input ? &e->buffers[input - e->plan->buffers] : NULL;
    if (b && b != self && (written || b->written) && overlaps(b, data, self->bytes)) return true;
  }
  return false;
}

static bool overlaps_outputs(const Execution *e, const BufferState *self, const char *data) {
  for (uint32_t i = 0; i < e->plan->noutputs; i++) {
    const BufferState *b = &e->buffers[e->plan->outputs[i]];
    if (b != self && b->aimed && overlaps(b, data, self->bytes)) return true;
  }
  return false;
}

/* ---- inputs ---- */

static int copy_input(Execution *e, BufferState *b, const nereid_tensor *t, nereid_stream *s) {
  int code = execute_own(e, b);
  b->data = b->own;
  if (code || b->bytes == 0) return code;
  size_t bytes = (size_t)b->bytes;
  if (is_on_device(e, t) && !e->on_host)
    return nereid_copy(e->device, b->own, first_element(t), bytes, s);
  if (is_compact(t)) return nereid_copy_in(e->device, b->own, first_element(t), bytes, s);
  char *packed = malloc(bytes);
  if (!packed) return error_out_of_memory();
  pack_elements(packed, t, dtype_bytes(b->plan->dtype) << b->plan->is_complex);
  /* Complete on return: the packed elements go. */
  code = nereid_copy_in(e->device, b->own, packed, bytes, NULL);
  free(packed);
  return code;
}

static BufferState *state_of_input(const Execution *e, uint32_t i) {
  const PlanBuffer *b = e->sizes->inputs[i];
  return b ? &e->buffers[b - e->plan->buffers] : NULL;
}

/* Does element i have the value that the plan is for? */
static bool is_fixed_element(const InputValue *v, DType t, const char *element, uint32_t i) {
  Scalar x = scalar_load(t, element);
  if (dtype_is_float(t)) return x.f == v->floats[i] || (isnan(x.f) && isnan(v->floats[i]));
  return (t == DT_I1 ? x.i != 0 : x.i) == v->ints[i];
}

/* An input that decided shapes when the model was read must have that value still. */
static int check_fixed_value(const Execution *e, uint32_t i, const PlanBuffer *b,
                             const nereid_tensor *t) {
  const InputValue *v = b->fixed;
  size_t size = dtype_bytes(b->dtype);
  int64_t n = 1;
  for (int32_t k = 0; k < t->ndim; k++) n *= t->shape[k];
  e->sizes->refused = n != v->n;
  if (n != v->n) return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_VALUE, i, plan_passed_name(b));
  char *elements = malloc((size_t)n * size + 1);
  if (!elements) return error_out_of_memory();
  int code = 0;
  if (n && !execute_is_on_host(t))
    code = nereid_copy_out(e->device, elements, first_element(t), (size_t)n * size, NULL);
  else if (n && is_compact(t)) memcpy(elements, first_element(t), (size_t)n * size);
  else if (n) pack_elements(elements, t, size);
  for (uint32_t k = 0; k < v->n && !code; k++) {
    e->sizes->refused = !is_fixed_element(v, b->dtype, elements + k * size, k);
    if (e->sizes->refused)
      code = error_set(NEREID_E_USAGE, E_GRAPH_INPUT_VALUE, i, plan_passed_name(b));
  }
  free(elements);
  return code;
}

int execute_check_values(const Execution *e, const nereid_tensor *inputs) {
  int code = 0;
  for (uint32_t i = 0; i < e->sizes->ninputs && !code; i++) {
    const PlanBuffer *b = e->sizes->inputs[i];
    bool readable = inputs[i].data && execute_is_on_host(&inputs[i]);
    if (b && b->fixed && readable) code = check_fixed_value(e, i, b, &inputs[i]);
  }
  return code;
}

/* A number that no kernel takes has decided sizes already. */
static bool needs_buffer(const BufferState *b) { return b && (!b->plan->value || b->nuses); }

/* Would a graph that is captured need the host, to copy an input or to look at it?  Numbers, and
 * values that the plan is for, are the same in all of its runs. */
static bool is_read_again(const Execution *e, const BufferState *b, const nereid_tensor *t) {
  bool same = b->plan->value || b->plan->fixed;
  if (e->on_host) return false;
  return execute_is_on_host(t) ? !same : b->plan->fixed != NULL;
}

int execute_check_input(const Execution *e, uint32_t i, const nereid_tensor *t) {
  const BufferState *b = state_of_input(e, i);
  if (!needs_buffer(b)) return 0;
  const char *name = plan_passed_name(b->plan);
  bool compact = is_compact(t);
  if (b->bytes && !t->data) return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_DATA, i, name);
  if (!is_on_device(e, t) && !execute_is_on_host(t))
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_DEVICE, i, name);
  if (!compact && b->written) return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_WRITTEN, i, name);
  if (!compact && !execute_is_on_host(t))
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_STRIDES, i, name);
  if (e->capturing && is_read_again(e, b, t))
    return error_set(NEREID_E_USAGE, b->plan->fixed ? E_GRAPH_CAPTURE_FIXED : E_GRAPH_CAPTURE_INPUT,
                     i, name);
  return b->plan->fixed ? check_fixed_value(e, i, b->plan, t) : 0;
}

int execute_take_input(Execution *e, uint32_t i, const nereid_tensor *t, nereid_stream *s) {
  BufferState *b = state_of_input(e, i);
  if (!needs_buffer(b)) return 0;
  bool compact = is_compact(t), here = is_on_device(e, t);
  int code = execute_check_input(e, i, t);
  if (code) return code;
  bool in_place = here && compact && b->bytes && is_aligned(first_element(t)) &&
                  !overlaps_inputs(e, i, b, first_element(t), b->written);
  /* Memory of the host may be gone when a captured graph runs. */
  bool now = e->capturing && execute_is_on_host(t);
  if (!in_place) return copy_input(e, b, t, now ? NULL : s);
  b->data = first_element(t);
  return device_borrow_whole(e->device, b->data, (size_t)b->bytes);
}

int execute_write_back(Execution *e, uint32_t i, const nereid_tensor *t, nereid_stream *s) {
  const BufferState *b = state_of_input(e, i);
  if (!b || !b->written || b->bytes == 0 || b->data == first_element(t)) return 0;
  if (b->plan->overwritten) return 0; /* nobody looks at it */
  if (is_on_device(e, t))
    return nereid_copy(e->device, first_element(t), b->data, (size_t)b->bytes, s);
  return nereid_copy_out(e->device, first_element(t), b->data, (size_t)b->bytes, s);
}

/* ---- outputs ---- */

static const char *tensor_type(Execution *e, const BufferState *b) {
  Text t = text_new(e->arena);
  text_printf(&t, "%s[", plan_dtype_name(b->plan));
  for (uint32_t i = 0; i < plan_rank(b->plan); i++)
    text_printf(&t, "%s%lld", i ? ", " : "", (long long)b->shape[i]);
  text_puts(&t, "]");
  return t.data;
}

static int wrong_output(Execution *e, uint32_t i) {
  const BufferState *b = execute_output(e, i);
  return error_set(NEREID_E_USAGE, E_GRAPH_OUTPUT_TENSOR, i, b->plan->name, tensor_type(e, b));
}

static bool buffer_has_shape(const BufferState *b, const nereid_tensor *t) {
  bool same = t->ndim == (int32_t)plan_rank(b->plan);
  for (uint32_t j = 0; j < plan_rank(b->plan) && same; j++) same = t->shape[j] == b->shape[j];
  return same;
}

/* If data decides sizes, they are compared after the run. */
static int check_output_tensor(Execution *e, uint32_t i, const nereid_tensor *t) {
  const BufferState *b = execute_output(e, i);
  bool fits = e->plan->nreads ? t->ndim == (int32_t)plan_rank(b->plan) : buffer_has_shape(b, t);
  if (!fits || !plan_takes_dtype(b->plan, t->dtype)) return wrong_output(e, i);
  if (!is_compact(t)) return error_set(NEREID_E_USAGE, E_GRAPH_OUTPUT_STRIDES, i, b->plan->name);
  return 0;
}

int execute_aim_output(Execution *e, uint32_t i, const nereid_tensor *t) {
  BufferState *b = execute_output(e, i);
  int code = t->data ? check_output_tensor(e, i, t) : 0;
  if (code || b->aimed || b->plan->kind != BUFFER_OUTPUT) return code;
  b->aimed = true;
  bool usable = t->data && !execute_is_number(b) && is_on_device(e, t) && buffer_has_shape(b, t);
  usable = usable && b->bytes && is_aligned(first_element(t)) &&
           !overlaps_inputs(e, e->sizes->ninputs, b, first_element(t), true) &&
           !overlaps_outputs(e, b, first_element(t));
  if (usable) {
    b->data = first_element(t);
    return device_borrow_whole(e->device, b->data, (size_t)b->bytes);
  }
  code = execute_own(e, b);
  b->data = b->own;
  return code;
}

bool execute_is_number(const BufferState *b) { return b->plan->number_of != NULL; }

static int give_number(Execution *e, BufferState *b, nereid_tensor *t, nereid_stream *s) {
  sizes_eval(e->sizes, b->plan->number_of, &b->number);
  if (!t->data) t->data = &b->number;
  else if (execute_is_on_host(t)) memcpy(first_element(t), &b->number, sizeof b->number);
  else return nereid_copy_in(e->device, first_element(t), &b->number, sizeof b->number, s);
  return 0;
}

/* The tensor has room for the elements that there are; its shape says how many that is. */
static int fit_output(Execution *e, uint32_t i, nereid_tensor *t) {
  const BufferState *b = execute_output(e, i);
  int64_t room = (int64_t)dtype_bytes(b->plan->dtype) << b->plan->is_complex;
  for (uint32_t j = 0; j < plan_rank(b->plan); j++) room *= t->shape[j];
  if (b->bytes > room) return wrong_output(e, i);
  for (uint32_t j = 0; j < plan_rank(b->plan); j++) t->shape[j] = b->shape[j];
  return 0;
}

/* The N of "cuda:N". */
static int32_t ordinal(const nereid_device *d) {
  const char *colon = strchr(d->name, ':');
  return colon ? (int32_t)strtol(colon + 1, NULL, 10) : 0;
}

void execution_describe(const Execution *e, uint32_t i, nereid_tensor *out) {
  const BufferState *b = execute_output(e, i);
  *out = (nereid_tensor){.device = {e->on_host ? 1 : 2, e->on_host ? 0 : ordinal(e->device)},
                         .ndim = (int32_t)plan_rank(b->plan),
                         .dtype = plan_dl_dtype(b->plan),
                         .shape = b->shape};
  if (execute_is_number(b)) out->device = (nereid_dl_device){1, 0};
}

int execute_give_output(Execution *e, uint32_t i, nereid_tensor *t, nereid_stream *s) {
  BufferState *b = execute_output(e, i);
  bool given = t->data;
  if (!given) execution_describe(e, i, t);
  if (execute_is_number(b)) return give_number(e, b, t, s);
  if (!given) {
    t->data = b->data;
    return 0;
  }
  int code = e->plan->nreads ? fit_output(e, i, t) : 0;
  if (code || b->bytes == 0 || first_element(t) == b->data) return code;
  if (is_on_device(e, t))
    return nereid_copy(e->device, first_element(t), b->data, (size_t)b->bytes, s);
  return nereid_copy_out(e->device, first_element(t), b->data, (size_t)b->bytes, s);
}
