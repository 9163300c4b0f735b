#include "runtime/measure/measurer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lang/base/bug.h"
#include "runtime/measure/wire.h"
#include "runtime/messages.h"
#include "runtime/support/tool.h"

/* Opening a device, and making the arguments. */
static const double OPEN_SECONDS = 120;

/* The time of copying the arguments back and comparing them with others' results, at most, as a
 * multiple of the time of making them. */
static const double FRESH = 4;

/* The first trial that gave an answer gives it again where a new process has to know it. */
typedef struct {
  char *code;
  size_t size;
  uint32_t grid[3];
} Witness;

struct Measurer {
  const char *device;
  bool keep_l2;
  const MeasuredArg *args;
  int nargs;
  char program[TOOL_PATH]; /* "": a thread */
  pid_t pid;               /* 0: none */
  pthread_t thread;
  int fd;           /* of the socket; -1: nobody listens */
  int unanswered;   /* messages that open the device and make arguments */
  bool ready;       /* these were answered, and the process knows the witnesses */
  double args_us;   /* that making the arguments took */
  unsigned started; /* how many were started */
  Witness *witnesses;
  int nwitnesses;
  Message in, out;
};

/* ---- starting and ending ---- */

static void serve_body(void *fd) { worker_serve(*(int *)fd); }

/* An internal error ends the worker, as one in a process of its own does. */
static void *serve(void *fd) {
  bug_guard(serve_body, fd);
  close(*(int *)fd);
  free(fd);
  return NULL;
}

static int start_thread(Measurer *m, int fd) {
  int *copy = malloc(sizeof *copy);
  if (!copy) return error_out_of_memory();
  *copy = fd;
  int failed = pthread_create(&m->thread, NULL, serve, copy);
  if (!failed) return 0;
  free(copy);
  return error_set(NEREID_E_MEMORY, E_TUNE_WORKER_START, strerror(failed));
}

static int send_first(Measurer *m) {
  if (m->out.failed) return error_out_of_memory();
  wire_send(m->fd, &m->out);
  m->unanswered++;
  m->ready = false;
  return 0;
}

static int send_open(Measurer *m) {
  message_start(&m->out, WORKER_OPEN);
  message_put_text(&m->out, nereid_build_id());
  message_put_text(&m->out, m->device);
  message_put_int(&m->out, m->keep_l2);
  return send_first(m);
}

static int send_args(Measurer *m) {
  message_start(&m->out, WORKER_ARGS);
  message_put_int(&m->out, m->nargs);
  for (int i = 0; i < m->nargs; i++) {
    message_put_text(&m->out, m->args[i].name);
    message_put_text(&m->out, m->args[i].text);
    message_put_text(&m->out, m->args[i].dtype);
    message_put_int(&m->out, m->args[i].reset);
    message_put_int(&m->out, m->args[i].period);
  }
  return send_first(m);
}

static int start_process(Measurer *m) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return error_set(NEREID_E_MEMORY, E_TUNE_WORKER_START, strerror(errno));
  int code = *m->program ? program_start(&m->pid, m->program, pair[1]) : start_thread(m, pair[1]);
  if (*m->program || code) close(pair[1]);
  m->fd = pair[0];
  m->started++;
  m->unanswered = 0;
  if (!code) return send_open(m);
  close(m->fd);
  m->fd = -1;
  return code;
}

/* How a process ended that should not have: the message of the last failure. */
static int tell_end(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return error_set(NEREID_E_LOST, E_TUNE_WORKER_SIGNAL, strsignal(WTERMSIG(status)));
  return error_set(NEREID_E_LOST, E_TUNE_WORKER_EXIT, WEXITSTATUS(status));
}

static int end_process(Measurer *m, bool kill_it) {
  int code = 0;
  if (m->fd < 0) return 0;
  close(m->fd);
  m->fd = -1;
  if (*m->program) {
    if (kill_it) kill(m->pid, SIGKILL);
    code = tell_end(m->pid);
  } else if (kill_it) {
    pthread_detach(m->thread);
    code = error_set(NEREID_E_LOST, E_TUNE_HANG);
  } else {
    pthread_join(m->thread, NULL);
  }
  return code;
}

int measurer_open(Measurer **out, const char *device, bool keep_l2, nereid_message_fn note,
                  void *context) {
  Measurer *m = *out = calloc(1, sizeof *m);
  if (!m) return error_out_of_memory();
  *m = (Measurer){.device = device, .keep_l2 = keep_l2, .fd = -1};
  if (!program_find(m->program)) error_tell_note(note, context, N_TUNE_ALONE);
  int code = start_process(m);
  if (!code) return 0;
  measurer_close(m);
  *out = NULL;
  return code;
}

static void forget_witnesses(Measurer *m) {
  for (int i = 0; i < m->nwitnesses; i++) free(m->witnesses[i].code);
  m->nwitnesses = 0;
}

int measurer_take(Measurer *m, const MeasuredArg *args, int nargs) {
  m->args = args;
  m->nargs = nargs;
  forget_witnesses(m);
  return m->fd < 0 ? 0 : send_args(m);
}

void measurer_close(Measurer *m) {
  if (!m) return;
  end_process(m, false);
  forget_witnesses(m);
  free(m->witnesses);
  message_free(&m->in);
  message_free(&m->out);
  free(m);
}

/* ---- asking ---- */

static void read_answer(Measurer *m, Measured *out) {
  out->code = (int)message_int(&m->in);
  const char *text = message_text(&m->in);
  if (out->code) error_set(out->code, "%s", text);
  out->answer = (int)message_int(&m->in);
  out->resources.registers = (int)message_int(&m->in);
  out->resources.spill_bytes = (int)message_int(&m->in);
  out->resources.shared_bytes = message_int(&m->in);
  int64_t n = message_int(&m->in);
  out->n = n < 0 || n > TIMER_RUNS_MOST ? 0 : (int)n;
  for (int i = 0; i < out->n; i++) out->us[i] = message_double(&m->in);
  out->end = out->code == NEREID_E_LOST ? MEASURED_DIED : out->code ? MEASURED_FAILED : MEASURED;
}

/* Sets the error again that was saved before other calls; `told` is freed. */
static int tell_again(int code, char *told) {
  if (told && *told) error_again(code, told);
  free(told);
  return code;
}

/* Receives the answer to the last message; a process that gives none is ended. */
static int receive(Measurer *m, double seconds, Measured *out) {
  WireResult r = wire_receive(m->fd, &m->in, seconds);
  *out = (Measured){.answer = -1};
  if (r == WIRE_OK) read_answer(m, out);
  if (r == WIRE_OK && !m->in.failed && out->end != MEASURED_DIED) return 0;
  char *told = r == WIRE_OK ? error_keep() : NULL;
  out->code = NEREID_E_LOST;
  out->end = r == WIRE_TIMEOUT ? MEASURED_TIMEOUT : MEASURED_DIED;
  int code = end_process(m, r == WIRE_TIMEOUT);
  tell_again(NEREID_E_LOST, told);
  /* A thread can't be ended; what it does goes on. */
  return r == WIRE_TIMEOUT && !*m->program ? code : 0;
}

static void send_try(Measurer *m, int id, const void *code, size_t size, const uint32_t grid[3],
                     int runs, double limit_us) {
  message_start(&m->out, WORKER_TRY);
  message_put_int(&m->out, id);
  message_put_bytes(&m->out, code, size);
  for (int i = 0; i < 3; i++) message_put_int(&m->out, grid[i]);
  message_put_int(&m->out, runs);
  message_put_double(&m->out, limit_us);
}

/* An id that no trial has, for witnesses, of which only the results are asked. */
enum { WITNESS_ID = 0 };

/* The answer to a message that prepares a process; a process that ends instead is a failure. */
static int receive_ready(Measurer *m, Measured *answer) {
  int code = receive(m, OPEN_SECONDS, answer);
  if (code || answer->end == MEASURED) return code;
  return answer->end == MEASURED_FAILED ? answer->code : NEREID_E_TOOL;
}

/* If nobody listens, there is no answer either. */
static int show_witnesses(Measurer *m) {
  Measured answer;
  int code = 0;
  for (int i = 0; i < m->nwitnesses && !code; i++) {
    const Witness *w = &m->witnesses[i];
    send_try(m, WITNESS_ID, w->code, w->size, w->grid, 0, 0);
    wire_send(m->fd, &m->out);
    code = receive_ready(m, &answer);
    if (code) break;
    message_start(&m->out, WORKER_DROP);
    message_put_int(&m->out, WITNESS_ID);
    wire_send(m->fd, &m->out);
    code = receive_ready(m, &answer);
  }
  return code;
}

/* A process that has opened the device, made the arguments, and knows the answers of those before
 * it. */
static int get_ready(Measurer *m) {
  Measured answer;
  int code = 0;
  if (m->fd < 0) {
    code = start_process(m);
    if (!code) code = send_args(m);
  }
  if (code || m->ready) return code;
  for (; m->unanswered && !code; m->unanswered--) {
    code = receive_ready(m, &answer);
    if (answer.n) m->args_us = answer.us[0];
  }
  if (!code) code = show_witnesses(m);
  m->ready = !code;
  if (!code || m->fd < 0) return code;
  char *told = error_keep();
  end_process(m, true); /* further answers are of no use */
  return tell_again(code, told);
}

static int add_witness(Measurer *m, const Trial *t, int answer) {
  if (answer != m->nwitnesses) return 0;
  Witness *list = realloc(m->witnesses, (size_t)(m->nwitnesses + 1) * sizeof *list);
  if (!list) return error_out_of_memory();
  m->witnesses = list;
  Witness w = {malloc(t->size + 1), t->size, {t->grid[0], t->grid[1], t->grid[2]}};
  if (!w.code) return error_out_of_memory();
  memcpy(w.code, t->code, t->size);
  list[m->nwitnesses++] = w;
  return 0;
}

int measurer_run(Measurer *m, Trial *t, int runs, double limit_us, double seconds, Measured *out) {
  int code = get_ready(m);
  if (code) return code;
  bool loaded = t->loaded == m->started;
  if (loaded) {
    message_start(&m->out, WORKER_TIME);
    message_put_int(&m->out, t->id + 1);
    message_put_int(&m->out, runs);
  } else {
    send_try(m, t->id + 1, t->code, t->size, t->grid, runs, limit_us);
  }
  if (m->out.failed) return error_out_of_memory();
  wire_send(m->fd, &m->out);
  code = receive(m, loaded ? seconds : seconds + FRESH * 1e-6 * m->args_us, out);
  if (code || out->end != MEASURED) return code;
  t->loaded = m->started;
  return loaded ? 0 : add_witness(m, t, out->answer);
}

void measurer_drop(Measurer *m, Trial *t) {
  Measured done;
  if (m->fd < 0 || t->loaded != m->started) return;
  message_start(&m->out, WORKER_DROP);
  message_put_int(&m->out, t->id + 1);
  if (wire_send(m->fd, &m->out)) receive(m, OPEN_SECONDS, &done);
  t->loaded = 0;
}
