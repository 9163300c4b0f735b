/* Records of indices that were out of range (PLAN_RECORD in graph/plan/plan.h).
 *
 * All of an executable lie side by side in memory that the host and the device's kernels share, so
 * that a run neither clears nor copies them.  Who waits for the device looks at them (DeviceWatch),
 * and so does the next run. */
#include <stdlib.h>

#include "graph/execute/execute_state.h"
#include "graph/messages.h"

static uint32_t count_records(const Plan *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nbuffers; i++)
    if (p->buffers[i].kind == BUFFER_RECORDS) n += p->buffers[i].nchecks;
  return n;
}

static int check_watched(void *executable) { return execute_check_records(executable); }

static int allocate(Executable *e) {
  size_t n = (size_t)e->nrecords * PLAN_RECORD;
  int64_t *none = ARENA_ARRAY(e->arena, int64_t, n);
  for (size_t i = 0; i < n; i++) none[i] = PLAN_NO_RECORD;
  int code = device_alloc_shared(e->device, (void **)&e->records, none, n * sizeof *none);
  if (code) return code;
  e->watch = (DeviceWatch){.check = check_watched, .context = e};
  device_watch(e->device, &e->watch);
  return 0;
}

int execute_place_records(Executable *e) {
  e->nrecords = count_records(e->plan);
  int code = e->records || !e->nrecords ? 0 : allocate(e);
  int64_t *at = e->records;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    BufferState *b = &e->buffers[i];
    if (b->plan->kind != BUFFER_RECORDS) continue;
    b->data = (char *)at;
    at += PLAN_RECORD * b->plan->nchecks;
  }
  return code;
}

void execute_free_records(Executable *e) {
  if (!e->records) return;
  device_unwatch(e->device, &e->watch);
  device_free_shared(e->device, e->records);
}

/* ---- reports ---- */

/* [2, 3]: the place of element `linear`. */
static const char *place_text(const Executable *e, const PlanCheck *c, int64_t linear) {
  int64_t at[GRAPH_RANK_MAX];
  Text t = text_new(e->arena);
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

static int report(const Executable *e, const PlanCheck *c, const int64_t *record) {
  int64_t least = 0, size = 0;
  uint64_t index = (uint32_t)record[0] | (uint64_t)(uint32_t)record[1] << 32;
  sizes_eval(e->sizes, c->least, &least);
  sizes_eval(e->sizes, c->size, &size);
  return error_set(NEREID_E_INDEX, E_GRAPH_INDEX_RANGE, c->node, (long long)(int64_t)index,
                   place_text(e, c, record[0] >> 32), c->index, (long long)least,
                   (long long)size - 1, (long long)size);
}

static int report_first(const Executable *e) {
  const int64_t *at = e->records;
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    const PlanBuffer *b = e->buffers[i].plan;
    for (uint32_t j = 0; j < b->nchecks; j++, at += PLAN_RECORD)
      if (at[0] != PLAN_NO_RECORD) return report(e, &b->checks[j], at);
  }
  return 0;
}

static bool any_record(const Executable *e) {
  const volatile int64_t *at = e->records;
  for (uint32_t i = 0; e->records && i < e->nrecords; i++)
    if (at[PLAN_RECORD * i] != PLAN_NO_RECORD) return true;
  return false;
}

/* A kernel of another stream may be writing its second half. */
int execute_check_records(Executable *e) {
  if (!any_record(e)) return 0;
  int code = e->device->ops->sync(e->device, NULL, true);
  if (!code) code = report_first(e);
  for (size_t i = 0; i < (size_t)e->nrecords * PLAN_RECORD; i++) e->records[i] = PLAN_NO_RECORD;
  return code;
}
