#include "runtime/worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device.h"
#include "runtime/results.h"
#include "runtime/timing.h"
#include "runtime/value.h"
#include "runtime/wire.h"

/* Kernels that all give other results have nothing to be compared with. */
enum { ANSWERS_MOST = 4 };

typedef struct {
  char *name;
  nereid_value *value;
  WorkerReset reset;
  int array;   /* the argument whose array it is: itself, another one, or -1 */
  void *data;  /* on the device */
  void *fresh; /* a copy of what it held at first; NULL until the array is written */
  void *answers[ANSWERS_MOST]; /* what kernels left there, in host memory */
} Arg;

typedef struct {
  nereid_kernel *kernel;
  nereid_launch *launch;
} Trial;

typedef struct {
  nereid_device *device;
  nereid_stream *stream;
  Timer timer;
  Arg *args;
  int nargs, nanswers;
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

static int read_arg(Worker *w, Arg *a) {
  a->name = strdup(message_text(&w->in));
  if (!a->name) return error_out_of_memory();
  const char *text = message_text(&w->in), *dtype = message_text(&w->in);
  a->reset = (WorkerReset)message_int(&w->in);
  int code = value_repeat(&a->value, text, message_int(&w->in));
  return !code && *dtype ? nereid_value_cast(a->value, dtype) : code;
}

static int find_arg(const Worker *w, const char *name) {
  for (int i = 0; i < w->nargs; i++)
    if (!strcmp(w->args[i].name, name)) return i;
  return -1;
}

/* A CPU's arrays are fenced: what runs past one faults itself, and harms no later kernel. */
static bool is_fenced(const Worker *w) { return device_kind(w->device) == NEREID_C; }

static int alloc_array(Worker *w, void **out, size_t bytes) {
  return is_fenced(w) ? host_alloc_fenced(out, bytes) : nereid_alloc(out, w->device, bytes);
}

static void free_array(Worker *w, void *data, size_t bytes) {
  if (is_fenced(w)) host_free_fenced(data, bytes);
  else nereid_free(w->device, data);
}

static int place(Worker *w, int i) {
  Arg *a = &w->args[i];
  nereid_value_kind kind = nereid_value_get_kind(a->value);
  a->array = kind == NEREID_VALUE_ALIAS   ? find_arg(w, nereid_value_alias(a->value))
             : kind == NEREID_VALUE_ARRAY ? i
                                          : -1;
  if (a->array != i) return 0;
  const Array *array = &a->value->array;
  int code = alloc_array(w, &a->data, array->bytes);
  return code ? code : nereid_copy_in(w->device, a->data, array->data, array->bytes, NULL);
}

static int open_device(Worker *w) {
  const char *build = message_text(&w->in);
  if (strcmp(build, nereid_build_id()))
    return error_set(NEREID_E_USAGE, E_TUNE_WORKER_BUILD, nereid_build_id());
  if (w->device) return NEREID_E_USAGE;
  int code = nereid_device_open(&w->device, message_text(&w->in));
  bool keep_l2 = message_int(&w->in) != 0;
  if (!code && w->in.failed) code = NEREID_E_USAGE;
  if (!code) code = nereid_stream_new(&w->stream, w->device);
  return code ? code : timer_open(&w->timer, w->device, !keep_l2);
}

static int make_args(Worker *w) {
  int64_t n = message_int(&w->in);
  if (w->in.failed || n < 0 || (size_t)n > w->in.size) return NEREID_E_USAGE;
  w->args = calloc((size_t)n + 1, sizeof *w->args);
  if (!w->args) return error_out_of_memory();
  int code = 0;
  for (; w->nargs < n && !code; w->nargs++) code = read_arg(w, &w->args[w->nargs]);
  for (int i = 0; i < w->nargs && !code; i++) code = place(w, i);
  return code;
}

static void drop(Trial *t) {
  nereid_launch_free(t->launch);
  nereid_kernel_free(t->kernel);
  *t = (Trial){0};
}

static void drop_args(Worker *w) {
  for (size_t i = 0; i < w->ntrials; i++) drop(&w->trials[i]);
  for (int i = 0; i < w->nargs; i++) {
    Arg *a = &w->args[i];
    nereid_free(w->device, a->fresh);
    if (a->data) free_array(w, a->data, a->value->array.bytes);
    nereid_value_free(a->value);
    free(a->name);
    for (int k = 0; k < ANSWERS_MOST; k++) free(a->answers[k]);
  }
  free(w->args);
  w->args = NULL;
  w->nargs = w->nanswers = 0;
}

/* ---- arrays ---- */

static Arg *array_of(Worker *w, int i) {
  int at = w->args[i].array;
  return at < 0 ? NULL : &w->args[at];
}

/* The arguments of one run are what they were at first. */
static int restore(Worker *w, Arg *a) {
  const Array *array = &a->value->array;
  if (a->fresh) return device_copy(w->device, a->data, a->fresh, array->bytes, w->stream);
  int code = nereid_alloc(&a->fresh, w->device, array->bytes);
  return code ? code : nereid_copy_in(w->device, a->fresh, array->data, array->bytes, NULL);
}

/* The array that a kernel writes through its i-th parameter; NULL: none. */
static Arg *written_array(Worker *w, const nereid_image *image, int i) {
  int at = image->params[i].written ? find_arg(w, image->params[i].name) : -1;
  return at < 0 ? NULL : array_of(w, at);
}

static int restore_written(Worker *w, const nereid_image *image) {
  int code = 0;
  for (int i = 0; i < image->nparams && !code; i++) {
    Arg *a = written_array(w, image, i);
    if (a) code = restore(w, a);
  }
  return code;
}

/* What the decorators of the kernel ask for. */
static int reset_args(Worker *w) {
  int code = 0;
  for (int i = 0; i < w->nargs && !code; i++) {
    Arg *a = w->args[i].reset == WORKER_KEEP ? NULL : array_of(w, i);
    if (!a) continue;
    code = w->args[i].reset == WORKER_RESTORE
               ? restore(w, a)
               : nereid_fill(w->device, a->data, 0, a->value->array.bytes, w->stream);
  }
  return code;
}

/* ---- what a kernel left behind ---- */

static int fetch(Worker *w, const Arg *a, void **out) {
  const Array *array = &a->value->array;
  *out = malloc(array->bytes + 1);
  if (!*out) return error_out_of_memory();
  return nereid_copy_out(w->device, *out, a->data, array->bytes, NULL);
}

/* Takes off the answers that differ; `same` is a set of their numbers. */
static int compare_array(Worker *w, const Arg *a, unsigned *same) {
  const Array *array = &a->value->array;
  void *now;
  int code = fetch(w, a, &now);
  for (int k = 0; k < w->nanswers && !code; k++)
    if (a->answers[k] && *same >> k & 1 &&
        !results_same(array->dtype, now, a->answers[k], array->count))
      *same &= ~(1u << k);
  free(now);
  return code;
}

static int keep_answer(Worker *w, const nereid_image *image, int *number) {
  int code = 0;
  if (w->nanswers == ANSWERS_MOST) return 0;
  for (int i = 0; i < image->nparams && !code; i++) {
    Arg *a = written_array(w, image, i);
    if (a && !a->answers[w->nanswers]) code = fetch(w, a, &a->answers[w->nanswers]);
  }
  if (!code) *number = w->nanswers++;
  return code;
}

static int judge(Worker *w, const nereid_image *image, int *number) {
  unsigned same = (1u << w->nanswers) - 1;
  int code = 0;
  *number = -1;
  for (int i = 0; i < image->nparams && !code && same; i++) {
    Arg *a = written_array(w, image, i);
    if (a) code = compare_array(w, a, &same);
  }
  if (code) return code;
  if (same) *number = __builtin_ctz(same);
  return same ? 0 : keep_answer(w, image, number);
}

/* ---- running ---- */

typedef struct {
  Worker *worker;
  const Trial *trial;
} Run;

static int run_once(void *context) {
  const Run *r = context;
  return nereid_launch_run(r->trial->launch, r->worker->stream);
}

static int before_run(void *context) { return reset_args(((const Run *)context)->worker); }

static int time_trial(Worker *w, const Trial *t, int64_t n, Answer *a) {
  Run r = {w, t};
  TimedRun timed = {run_once, &r, w->device, w->stream, before_run};
  if (n > TIMER_RUNS_MOST - a->n) n = TIMER_RUNS_MOST - a->n;
  int code = n > 0 ? timer_run(&w->timer, &timed, (int)n, a->us + a->n) : 0;
  if (!code && n > 0) a->n += (int)n;
  return code;
}

static int set_args(Worker *w, const Trial *t) {
  int code = 0;
  for (int i = 0; i < w->nargs && !code; i++) {
    int at = nereid_image_find_param(t->kernel->image, w->args[i].name);
    const Arg *array = array_of(w, i);
    if (at >= 0)
      code = nereid_launch_set_value(t->launch, at, w->args[i].value, array ? array->data : NULL);
  }
  return code;
}

static int load(Worker *w, Trial *t) {
  size_t size;
  uint32_t grid[3];
  nereid_image *image = NULL;
  const void *bytes = message_bytes(&w->in, &size);
  for (int i = 0; i < 3; i++) grid[i] = (uint32_t)message_int(&w->in);
  int code = nereid_image_from_bytes(&image, bytes, size);
  if (!code) code = nereid_kernel_load(&t->kernel, w->device, image);
  if (!code) code = nereid_launch_new(&t->launch, t->kernel, grid);
  nereid_image_free(image);
  return code ? code : set_args(w, t);
}

static int try_kernel(Worker *w, Trial *t, Answer *a) {
  Run run = {w, t};
  int code = load(w, t);
  int64_t runs = message_int(&w->in);
  double limit = message_double(&w->in);
  if (!code) code = restore_written(w, t->kernel->image);
  if (!code) code = reset_args(w);
  if (!code) code = nereid_kernel_get_resources(&a->resources, t->kernel);
  if (!code) code = run_once(&run);
  if (!code) code = nereid_device_sync(w->device);
  if (!code) code = judge(w, t->kernel->image, &a->number);
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
  if (w->in.kind == WORKER_OPEN) return open_device(w);
  if (!w->device) return NEREID_E_USAGE;
  if (w->in.kind == WORKER_ARGS) {
    double begin = timing_now();
    drop_args(w);
    int code = make_args(w);
    a->us[a->n++] = 1e6 * (timing_now() - begin);
    return code;
  }
  int64_t id = message_int(&w->in);
  Trial *t = w->in.failed ? NULL : trial_at(w, id);
  if (!t) return error_out_of_memory();
  int code = 0;
  if (w->in.kind == WORKER_TRY) code = try_kernel(w, t, a);
  else if (w->in.kind == WORKER_TIME && t->launch) code = time_trial(w, t, message_int(&w->in), a);
  if (w->in.kind == WORKER_DROP || (code && code != NEREID_E_LOST)) drop(t);
  return code;
}

static void close_all(Worker *w) {
  if (w->device) drop_args(w);
  if (w->timer.device) timer_close(&w->timer);
  nereid_stream_free(w->stream);
  nereid_device_close(w->device);
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
