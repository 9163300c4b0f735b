#include "runtime/measure/worker_args.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/launch/argument_value.h"

/* ---- making them ---- */

static int read_arg(WorkerArg *a, Message *in) {
  a->name = strdup(message_text(in));
  if (!a->name) return error_out_of_memory();
  const char *text = message_text(in), *dtype = message_text(in);
  a->reset = (WorkerReset)message_int(in);
  int code = value_repeat(&a->value, text, message_int(in));
  return !code && *dtype ? nereid_value_cast(a->value, dtype) : code;
}

static int find(const WorkerArgs *w, const char *name) {
  for (int i = 0; i < w->n; i++)
    if (!strcmp(w->list[i].name, name)) return i;
  return -1;
}

/* A CPU's arrays are fenced: what runs past one faults itself, and harms no later kernel. */
static bool is_fenced(const WorkerArgs *w) { return device_kind(w->device) == NEREID_C; }

static int alloc_array(const WorkerArgs *w, void **out, size_t bytes) {
  return is_fenced(w) ? host_alloc_fenced(out, bytes) : nereid_alloc(out, w->device, bytes);
}

static void free_array(const WorkerArgs *w, void *data, size_t bytes) {
  if (is_fenced(w)) host_free_fenced(data, bytes);
  else nereid_free(w->device, data);
}

static int place(const WorkerArgs *w, int i) {
  WorkerArg *a = &w->list[i];
  nereid_value_kind kind = nereid_value_get_kind(a->value);
  a->array = kind == NEREID_VALUE_ALIAS   ? find(w, nereid_value_alias(a->value))
             : kind == NEREID_VALUE_ARRAY ? i
                                          : -1;
  if (a->array != i) return 0;
  const Array *array = &a->value->array;
  int code = alloc_array(w, &a->data, array->bytes);
  return code ? code : nereid_copy_in(w->device, a->data, array->data, array->bytes, NULL);
}

int worker_args_read(WorkerArgs *w, Message *in) {
  int64_t n = message_int(in);
  if (in->failed || n < 0 || (size_t)n > in->size) return NEREID_E_USAGE;
  w->list = calloc((size_t)n + 1, sizeof *w->list);
  if (!w->list) return error_out_of_memory();
  int code = 0;
  for (; w->n < n && !code; w->n++) code = read_arg(&w->list[w->n], in);
  for (int i = 0; i < w->n && !code; i++) code = place(w, i);
  return code;
}

void worker_args_free(WorkerArgs *w) {
  for (int i = 0; i < w->n; i++) {
    WorkerArg *a = &w->list[i];
    nereid_free(w->device, a->fresh);
    if (a->data) free_array(w, a->data, a->value->array.bytes);
    nereid_value_free(a->value);
    free(a->name);
    for (int k = 0; k < WORKER_RESULTS_MOST; k++) free(a->results[k]);
  }
  free(w->list);
  w->list = NULL;
  w->n = w->nresults = 0;
}

/* ---- for a run ---- */

static WorkerArg *array_of(const WorkerArgs *w, int i) {
  int at = w->list[i].array;
  return at < 0 ? NULL : &w->list[at];
}

int worker_args_set(const WorkerArgs *w, nereid_launch *l) {
  int code = 0;
  for (int i = 0; i < w->n && !code; i++) {
    int at = nereid_image_find_param(l->kernel->image, w->list[i].name);
    const WorkerArg *array = array_of(w, i);
    const nereid_value *v = w->list[i].value;
    size_t skipped = v->kind == NEREID_VALUE_ALIAS && array
                         ? (size_t)v->i * dtype_bytes(array->value->array.dtype)
                         : 0;
    if (at >= 0)
      code = nereid_launch_set_value(l, at, v, array ? (char *)array->data + skipped : NULL);
  }
  return code;
}

WorkerArg *worker_args_written(const WorkerArgs *w, const nereid_image *image, int i) {
  int at = image->params[i].written ? find(w, image->params[i].name) : -1;
  return at < 0 ? NULL : array_of(w, at);
}

static int restore(const WorkerArgs *w, WorkerArg *a) {
  const Array *array = &a->value->array;
  if (a->fresh) return device_copy(w->device, a->data, a->fresh, array->bytes, w->stream);
  int code = nereid_alloc(&a->fresh, w->device, array->bytes);
  return code ? code : nereid_copy_in(w->device, a->fresh, array->data, array->bytes, NULL);
}

int worker_args_restore(const WorkerArgs *w, const nereid_image *image) {
  int code = 0;
  for (int i = 0; i < image->nparams && !code; i++) {
    WorkerArg *a = worker_args_written(w, image, i);
    if (a) code = restore(w, a);
  }
  return code;
}

int worker_args_reset(const WorkerArgs *w) {
  int code = 0;
  for (int i = 0; i < w->n && !code; i++) {
    WorkerArg *a = w->list[i].reset == WORKER_KEEP ? NULL : array_of(w, i);
    if (!a) continue;
    code = w->list[i].reset == WORKER_RESTORE
               ? restore(w, a)
               : nereid_fill(w->device, a->data, 0, a->value->array.bytes, w->stream);
  }
  return code;
}
