#include "runtime/measure/worker.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/timing.h"
#include "runtime/measure/wire.h"
#include "runtime/measure/worker_args.h"
#include "runtime/messages.h"
#include "runtime/support/host_machine.h"

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

static int open_device(Worker *w) {
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

static void drop(Trial *t) {
  nereid_launch_free(t->launch);
  nereid_kernel_free(t->kernel);
  *t = (Trial){0};
}

static void drop_args(Worker *w) {
  for (size_t i = 0; i < w->ntrials; i++) drop(&w->trials[i]);
  worker_args_free(&w->args);
}

/* ---- running ---- */

typedef struct {
  Worker *worker;
  const Trial *trial;
} Run;

static int run_once(void *context) {
  const Run *r = context;
  return nereid_launch_run(r->trial->launch, r->worker->args.stream);
}

static int before_run(void *context) {
  return worker_args_reset(&((const Run *)context)->worker->args);
}

static int time_trial(Worker *w, const Trial *t, int64_t n, Answer *a) {
  Run r = {w, t};
  TimedRun timed = {run_once, &r, w->args.device, w->args.stream, before_run};
  if (n > TIMER_RUNS_MOST - a->n) n = TIMER_RUNS_MOST - a->n;
  int code = n > 0 ? timer_run(&w->timer, &timed, (int)n, a->us + a->n) : 0;
  if (!code && n > 0) a->n += (int)n;
  return code;
}

static int load(Worker *w, Trial *t) {
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
  int code = load(w, t);
  int64_t runs = message_int(&w->in);
  double limit = message_double(&w->in);
  if (!code) code = worker_args_restore(&w->args, t->kernel->image);
  if (!code) code = worker_args_reset(&w->args);
  if (!code) code = nereid_kernel_get_resources(&a->resources, t->kernel);
  if (!code) code = run_once(&run);
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
  if (w->in.kind == WORKER_OPEN) return open_device(w);
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
  if (w->in.kind == WORKER_DROP || (code && code != NEREID_E_LOST)) drop(t);
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
