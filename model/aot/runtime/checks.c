/* Reports of indices that were out of range, and of data that an operator refuses, from the records
 * of kernels. */
#include <stdio.h>

#include "plan.h"

static void clear(model *m) {
  for (int i = 0; i < RECORD * model_plan.nchecks; i++) m->records[i] = NO_RECORD;
}

int model_records_open(model *m) {
  if (!model_plan.nchecks) return 0;
  const int64_t bytes = RECORD * (int64_t)model_plan.nchecks * (int64_t)sizeof *m->records;
  void *p = NULL;
  const int code = model_device_alloc_shared(m->device, &p, bytes);
  m->records = p;
  if (!code) clear(m);
  return code;
}

/* [2, 3]: the index of element `linear`. */
static void print_index(char *text, size_t size, const int64_t *shape, int ndim, int64_t linear) {
  int64_t at[CHECK_RANK];
  size_t used = 1;
  for (int i = ndim - 1; i >= 0; i--) {
    const int64_t n = shape[i] > 0 ? shape[i] : 1;
    at[i] = linear % n;
    linear /= n;
  }
  text[0] = '[';
  for (int i = 0; i < ndim && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "", (long long)at[i]);
  if (used < size) snprintf(text + used, size - used, "]");
}

static int report(const model *m, int i) {
  const int64_t *record = m->records + RECORD * i;
  const Check *c = &model_plan.checks[i];
  int64_t sizes[2 + CHECK_RANK] = {0};
  char at[24 * CHECK_RANK];
  const uint64_t index = (uint32_t)record[0] | (uint64_t)(uint32_t)record[1] << 32;
  model_plan.check_sizes(i, m->size, sizes);
  print_index(at, sizeof at, sizes + 2, c->ndim, record[0] >> 32);
  if (c->fault)
    return model_fail(MODEL_E_DATA, "%s refuses its data: %s%s%s", c->node, c->fault,
                      c->ndim ? ", at " : "", c->ndim ? at : "");
  return model_fail(
      MODEL_E_INDEX,
      "%s: index %lld at %s of %s is out of range: %lld to %lld, for an axis of %lld elements",
      c->node, (long long)(int64_t)index, at, c->index, (long long)sizes[0],
      (long long)sizes[1] - 1, (long long)sizes[1]);
}

int model_check(model *m, void *stream) {
  int i = 0;
  while (i < model_plan.nchecks && m->records[RECORD * i] == NO_RECORD) i++;
  if (i == model_plan.nchecks) return 0;
  int code = model_device_sync(m->device, stream);
  if (!code) code = report(m, i);
  clear(m);
  return code;
}
