/* Results of kernels, compared with those of others. */
#include <stdlib.h>

#include "runtime/launch/argument_value.h"
#include "runtime/measure/results.h"
#include "runtime/measure/worker_args.h"

static int fetch(const WorkerArgs *w, const WorkerArg *a, void **out) {
  const Array *array = &a->value->array;
  *out = malloc(array->bytes + 1);
  if (!*out) return error_out_of_memory();
  return nereid_copy_out(w->device, *out, a->data, array->bytes, NULL);
}

/* Takes off the results that differ; `same` is a set of their numbers. */
static int compare_array(const WorkerArgs *w, const WorkerArg *a, unsigned *same) {
  const Array *array = &a->value->array;
  void *now;
  int code = fetch(w, a, &now);
  for (int k = 0; k < w->nresults && !code; k++)
    if (a->results[k] && *same >> k & 1 &&
        !results_same(array->dtype, now, a->results[k], array->count))
      *same &= ~(1u << k);
  free(now);
  return code;
}

static int keep(WorkerArgs *w, const nereid_image *image, int *number) {
  int code = 0;
  if (w->nresults == WORKER_RESULTS_MOST) return 0;
  for (int i = 0; i < image->nparams && !code; i++) {
    WorkerArg *a = worker_args_written(w, image, i);
    if (a && !a->results[w->nresults]) code = fetch(w, a, &a->results[w->nresults]);
  }
  if (!code) *number = w->nresults++;
  return code;
}

int worker_args_judge(WorkerArgs *w, const nereid_image *image, int *number) {
  unsigned same = (1u << w->nresults) - 1;
  int code = 0;
  *number = -1;
  for (int i = 0; i < image->nparams && !code && same; i++) {
    WorkerArg *a = worker_args_written(w, image, i);
    if (a) code = compare_array(w, a, &same);
  }
  if (code) return code;
  if (same) *number = __builtin_ctz(same);
  return same ? 0 : keep(w, image, number);
}
