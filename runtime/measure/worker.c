#include "runtime/measure/worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "runtime/device/device.h"
#include "runtime/device/timing.h"
#include "runtime/launch/argument_value.h"
#include "runtime/measure/wire.h"
#include "runtime/messages.h"
#include "runtime/support/array.h"
#include "runtime/support/host_machine.h"

/* Kernels that all give other results have nothing to be compared with. */
enum { WORKER_RESULTS_MOST = 4 };

typedef struct {
  char *name;
  nereid_value *value;
  WorkerReset reset;
  int array;   /* the argument whose array it is: itself, another one, or -1 */
  void *data;  /* on the device */
  void *fresh; /* a copy of its initial contents; NULL until the array is written */
  void *results[WORKER_RESULTS_MOST]; /* its contents after kernels, in host memory */
} WorkerArg;

typedef struct {
  nereid_device *device;
  nereid_stream *stream;
  WorkerArg *list;
  int n, nresults;
} WorkerArgs;

/* ---- making them ---- */

static int read_worker_arg(WorkerArg *a, Message *in) {
  a->name = strdup(message_text(in));
  if (!a->name) return error_out_of_memory();
  const char *text = message_text(in), *dtype = message_text(in);
  a->reset = (WorkerReset)message_int(in);
  int code = value_repeat(&a->value, text, message_int(in));
  return !code && *dtype ? nereid_value_cast(a->value, dtype) : code;
}

static int find_worker_arg(const WorkerArgs *w, const char *name) {
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

static int allocate_array(const WorkerArgs *w, int i) {
  WorkerArg *a = &w->list[i];
  nereid_value_kind kind = nereid_value_get_kind(a->value);
  a->array = kind == NEREID_VALUE_ALIAS   ? find_worker_arg(w, nereid_value_alias(a->value))
             : kind == NEREID_VALUE_ARRAY ? i
                                          : -1;
  if (a->array != i) return 0;
  const Array *array = &a->value->array;
  int code = alloc_array(w, &a->data, array->bytes);
  return code ? code : nereid_copy_in(w->device, a->data, array->data, array->bytes, NULL);
}

/* Reads arguments in the format of WORKER_ARGS. */
static int worker_args_read(WorkerArgs *w, Message *in) {
  int64_t n = message_int(in);
  if (in->failed || n < 0 || (size_t)n > in->size) return NEREID_E_USAGE;
  w->list = calloc((size_t)n + 1, sizeof *w->list);
  if (!w->list) return error_out_of_memory();
  int code = 0;
  for (; w->n < n && !code; w->n++) code = read_worker_arg(&w->list[w->n], in);
  for (int i = 0; i < w->n && !code; i++) code = allocate_array(w, i);
  return code;
}

static void worker_args_free(WorkerArgs *w) {
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

static WorkerArg *array_of_arg(const WorkerArgs *w, int i) {
  int at = w->list[i].array;
  return at < 0 ? NULL : &w->list[at];
}

/* ---- equality of results ---- */

enum { BLOCK = 256, SAMPLES = 1 << 16 };

static double tolerance(DType t) {
  switch (t) {
    case DT_F64: return 1e-9;
    case DT_F32: return 1e-3;
    case DT_F16: return 4e-3;
    case DT_BF16: return 2e-2;
    default: return 0.25;
  }
}

typedef struct {
  DType dtype;
  const char *a, *b;
  double absolute; /* the part of the tolerance that is the same for all elements */
  bool differ;     /* atomic */
} Comparison;

/* Root mean square of finite elements, from evenly spaced ones if there are many. */
static double typical(DType t, const char *b, int64_t n) {
  int64_t step = n > SAMPLES ? n / SAMPLES : 1, used = 0;
  double sum = 0;
  for (int64_t i = 0; i < n; i += step) {
    double x = scalar_load(t, b + (size_t)i * dtype_bytes(t)).f;
    if (!isfinite(x)) continue;
    sum += x * x;
    used++;
  }
  return used ? sqrt(sum / (double)used) : 0;
}

static bool same_elements(const Comparison *c, int64_t begin, int64_t end) {
  size_t size = dtype_bytes(c->dtype);
  for (int64_t i = begin; i < end; i++) {
    double x = scalar_load(c->dtype, c->a + (size_t)i * size).f;
    double y = scalar_load(c->dtype, c->b + (size_t)i * size).f;
    if (x == y || (isnan(x) && isnan(y))) continue;
    if (!(fabs(x - y) <= c->absolute + tolerance(c->dtype) * fabs(y)) || isinf(y)) return false;
  }
  return true;
}

/* Most blocks are the same bit by bit. */
static void compare_range(void *context, int64_t begin, int64_t end) {
  Comparison *c = context;
  size_t size = dtype_bytes(c->dtype);
  for (int64_t i = begin; i < end; i += BLOCK) {
    int64_t stop = i + BLOCK < end ? i + BLOCK : end;
    size_t at = (size_t)i * size, bytes = (size_t)(stop - i) * size;
    if (__atomic_load_n(&c->differ, __ATOMIC_RELAXED)) return;
    if (memcmp(c->a + at, c->b + at, bytes) && !same_elements(c, i, stop))
      __atomic_store_n(&c->differ, true, __ATOMIC_RELAXED);
  }
}

bool results_same(DType t, const void *a, const void *b, int64_t n) {
  if (!dtype_is_float(t)) return !memcmp(a, b, (size_t)n * dtype_bytes(t));
  Comparison c = {t, a, b, tolerance(t) * typical(t, b, n), false};
  array_for(n, compare_range, &c);
  return !c.differ;
}

/* ---- results of kernels, compared with those of others ---- */

/* The array that a kernel writes through its i-th parameter; NULL: none. */
static WorkerArg *worker_args_written(const WorkerArgs *w, const nereid_image *image, int i) {
  int at = image->params[i].written ? find_worker_arg(w, image->params[i].name) : -1;
  return at < 0 ? NULL : array_of_arg(w, at);
}

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

static int keep_results(WorkerArgs *w, const nereid_image *image, int *number) {
  int code = 0;
  if (w->nresults == WORKER_RESULTS_MOST) return 0;
  for (int i = 0; i < image->nparams && !code; i++) {
    WorkerArg *a = worker_args_written(w, image, i);
    if (a && !a->results[w->nresults]) code = fetch(w, a, &a->results[w->nresults]);
  }
  if (!code) *number = w->nresults++;
  return code;
}

/* The number of the results that the kernel has just left, which are the same as those of kernels
 * with that number; -1: there are too many. */
static int worker_args_judge(WorkerArgs *w, const nereid_image *image, int *number) {
  unsigned same = (1u << w->nresults) - 1;
  int code = 0;
  *number = -1;
  for (int i = 0; i < image->nparams && !code && same; i++) {
    WorkerArg *a = worker_args_written(w, image, i);
    if (a) code = compare_array(w, a, &same);
  }
  if (code) return code;
  if (same) *number = __builtin_ctz(same);
  return same ? 0 : keep_results(w, image, number);
}

static int worker_args_set(const WorkerArgs *w, nereid_launch *l) {
  int code = 0;
  for (int i = 0; i < w->n && !code; i++) {
    int at = nereid_image_find_param(l->start.kernel->image, w->list[i].name);
    const WorkerArg *array = array_of_arg(w, i);
    const nereid_value *v = w->list[i].value;
    size_t skipped = v->kind == NEREID_VALUE_ALIAS && array
                         ? (size_t)v->i * dtype_bytes(array->value->array.dtype)
                         : 0;
    if (at >= 0)
      code = nereid_launch_set_value(l, at, v, array ? (char *)array->data + skipped : NULL);
  }
  return code;
}

static int restore_arg(const WorkerArgs *w, WorkerArg *a) {
  const Array *array = &a->value->array;
  if (a->fresh) return device_copy(w->device, a->data, a->fresh, array->bytes, w->stream);
  int code = nereid_alloc(&a->fresh, w->device, array->bytes);
  return code ? code : nereid_copy_in(w->device, a->fresh, array->data, array->bytes, NULL);
}

/* Restores the arrays that a kernel writes to their first contents. */
static int worker_args_restore(const WorkerArgs *w, const nereid_image *image) {
  int code = 0;
  for (int i = 0; i < image->nparams && !code; i++) {
    WorkerArg *a = worker_args_written(w, image, i);
    if (a) code = restore_arg(w, a);
  }
  return code;
}

/* Resets that the kernel's decorators request before each run. */
static int worker_args_reset(const WorkerArgs *w) {
  int code = 0;
  for (int i = 0; i < w->n && !code; i++) {
    WorkerArg *a = w->list[i].reset == WORKER_KEEP ? NULL : array_of_arg(w, i);
    if (!a) continue;
    code = w->list[i].reset == WORKER_RESTORE
               ? restore_arg(w, a)
               : nereid_fill(w->device, a->data, 0, a->value->array.bytes, w->stream);
  }
  return code;
}

typedef struct {
  nereid_kernel *kernel;
  nereid_launch *launch;
} Trial;

typedef struct {
  WorkerArgs args; /* with the device */
  Timer timer;
  Trial *trials;
  size_t ntrials;
  Message in, out;
} Worker;

/* ---- answers ---- */

typedef struct {
  int code, number;
  nereid_kernel_resources resources;
  double us[TIMER_RUNS_MOST];
  int n;
} Answer;

static bool answer(Worker *w, const Answer *a) {
  message_start(&w->out, WORKER_ANSWER);
  message_put_int(&w->out, a->code);
  message_put_text(&w->out, a->code ? nereid_error_message() : "");
  message_put_int(&w->out, a->number);
  message_put_int(&w->out, a->resources.registers);
  message_put_int(&w->out, a->resources.spill_bytes);
  message_put_int(&w->out, a->resources.shared_bytes);
  message_put_int(&w->out, a->n);
  for (int i = 0; i < a->n; i++) message_put_double(&w->out, a->us[i]);
  return !w->out.failed;
}

/* ---- opening ---- */

static int open_worker_device(Worker *w) {
  const char *build = message_text(&w->in);
  if (strcmp(build, nereid_build_id()))
    return error_set(NEREID_E_USAGE, E_TUNE_WORKER_BUILD, nereid_build_id());
  if (w->args.device) return NEREID_E_USAGE;
  int code = nereid_device_open(&w->args.device, message_text(&w->in));
  bool keep_l2 = message_int(&w->in) != 0;
  if (!code && w->in.failed) code = NEREID_E_USAGE;
  if (!code) code = nereid_stream_new(&w->args.stream, w->args.device);
  return code ? code : timer_open(&w->timer, w->args.device, !keep_l2);
}

static void drop_trial(Trial *t) {
  nereid_launch_free(t->launch);
  nereid_kernel_free(t->kernel);
  *t = (Trial){0};
}

static void drop_args(Worker *w) {
  for (size_t i = 0; i < w->ntrials; i++) drop_trial(&w->trials[i]);
  worker_args_free(&w->args);
}

/* ---- running ---- */

typedef struct {
  Worker *worker;
  const Trial *trial;
} Run;

static int run_trial(void *context) {
  const Run *r = context;
  return nereid_launch_run(r->trial->launch, r->worker->args.stream);
}

static int before_run(void *context) {
  return worker_args_reset(&((const Run *)context)->worker->args);
}

static int time_trial(Worker *w, const Trial *t, int64_t n, Answer *a) {
  Run r = {w, t};
  TimedRun timed = {run_trial, &r, w->args.device, w->args.stream, before_run};
  if (n > TIMER_RUNS_MOST - a->n) n = TIMER_RUNS_MOST - a->n;
  int code = n > 0 ? timer_run(&w->timer, &timed, (int)n, a->us + a->n) : 0;
  if (!code && n > 0) a->n += (int)n;
  return code;
}

static int load_trial(Worker *w, Trial *t) {
  size_t size;
  uint32_t grid[3];
  nereid_image *image = NULL;
  const void *bytes = message_bytes(&w->in, &size);
  for (int i = 0; i < 3; i++) grid[i] = (uint32_t)message_int(&w->in);
  int code = nereid_image_from_bytes(&image, bytes, size);
  if (!code) code = nereid_kernel_load(&t->kernel, w->args.device, image);
  if (!code) code = nereid_launch_new(&t->launch, t->kernel, grid);
  nereid_image_free(image);
  return code ? code : worker_args_set(&w->args, t->launch);
}

static int try_kernel(Worker *w, Trial *t, Answer *a) {
  Run run = {w, t};
  int code = load_trial(w, t);
  int64_t runs = message_int(&w->in);
  double limit = message_double(&w->in);
  if (!code) code = worker_args_restore(&w->args, t->kernel->image);
  if (!code) code = worker_args_reset(&w->args);
  if (!code) code = nereid_kernel_get_resources(&a->resources, t->kernel);
  if (!code) code = run_trial(&run);
  if (!code) code = nereid_device_sync(w->args.device);
  if (!code) code = worker_args_judge(&w->args, t->kernel->image, &a->number);
  if (!code) code = time_trial(w, t, 1, a);
  if (!code && a->us[0] <= limit) {
    a->n = 0; /* the first one warmed it up */
    code = time_trial(w, t, runs, a);
  }
  return code;
}

/* The place of a trial; NULL without memory. */
static Trial *trial_at(Worker *w, int64_t id) {
  enum { IDS_MOST = 1 << 20 };
  if (id < 0 || id >= IDS_MOST) return NULL;
  if ((size_t)id >= w->ntrials) {
    size_t n = (size_t)id + 64;
    Trial *trials = realloc(w->trials, n * sizeof *trials);
    if (!trials) return NULL;
    memset(trials + w->ntrials, 0, (n - w->ntrials) * sizeof *trials);
    w->trials = trials;
    w->ntrials = n;
  }
  return &w->trials[id];
}

/* ---- messages ---- */

static int obey(Worker *w, Answer *a) {
  if (w->in.kind == WORKER_OPEN) return open_worker_device(w);
  if (!w->args.device) return NEREID_E_USAGE;
  if (w->in.kind == WORKER_ARGS) {
    double begin = host_now();
    drop_args(w);
    int code = worker_args_read(&w->args, &w->in);
    a->us[a->n++] = 1e6 * (host_now() - begin);
    return code;
  }
  int64_t id = message_int(&w->in);
  Trial *t = w->in.failed ? NULL : trial_at(w, id);
  if (!t) return error_out_of_memory();
  int code = 0;
  if (w->in.kind == WORKER_TRY) code = try_kernel(w, t, a);
  else if (w->in.kind == WORKER_TIME && t->launch) code = time_trial(w, t, message_int(&w->in), a);
  if (w->in.kind == WORKER_DROP || (code && code != NEREID_E_LOST)) drop_trial(t);
  return code;
}

static void close_all(Worker *w) {
  if (w->args.device) drop_args(w);
  if (w->timer.device) timer_close(&w->timer);
  nereid_stream_free(w->args.stream);
  nereid_device_close(w->args.device);
  free(w->trials);
  message_free(&w->in);
  message_free(&w->out);
}

void worker_serve(int fd) {
  Worker w = {0};
  int code = 0;
  while (code != NEREID_E_LOST && wire_receive(fd, &w.in, -1) == WIRE_OK) {
    Answer a = {.number = -1};
    code = a.code = obey(&w, &a);
    if (!answer(&w, &a) || !wire_send(fd, &w.out)) break;
  }
  /* A lost context can't be cleaned up; the process ends. */
  if (code != NEREID_E_LOST) close_all(&w);
}
