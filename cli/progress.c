#include "cli/progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/messages.h"
#include "runtime/log.h"

/* ---- the line ---- */

static int columns(void) {
  struct winsize w;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 20 ? 80 : w.ws_col;
}

/* Objects of JSON and lines of the log are not to be written over. */
static bool is_shown(void) { return isatty(STDERR_FILENO) && !message_is_json() && !log_read(); }

void progress_show(const char *line) {
  if (!is_shown()) return;
  fprintf(stderr, "\r\033[K%.*s", columns() - 1, line);
  fflush(stderr);
}

void progress_end(void) { progress_show(""); }

/* ---- seconds ---- */

struct Progress {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool stop;
  char what[256];
};

/* False once it is over. */
static bool wait_until(Progress *p, const struct timespec *time) {
  pthread_mutex_lock(&p->lock);
  int code = 0;
  while (!p->stop && !code) code = pthread_cond_timedwait(&p->ended, &p->lock, time);
  bool stop = p->stop;
  pthread_mutex_unlock(&p->lock);
  return !stop;
}

static void *count_seconds(void *arg) {
  Progress *p = arg;
  char line[300];
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  for (int seconds = 1;; seconds++) {
    time.tv_sec++;
    if (!wait_until(p, &time)) break;
    snprintf(line, sizeof line, "%s  %d s", p->what, seconds);
    progress_show(line);
  }
  return NULL;
}

Progress *progress_start(const char *what, const char *of) {
  if (!is_shown()) return NULL;
  Progress *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  snprintf(p->what, sizeof p->what, "%s %s", what, of);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->ended, NULL);
  if (!pthread_create(&p->thread, NULL, count_seconds, p)) return p;
  free(p);
  return NULL;
}

void progress_stop(Progress *p) {
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  p->stop = true;
  pthread_cond_signal(&p->ended);
  pthread_mutex_unlock(&p->lock);
  pthread_join(p->thread, NULL);
  pthread_cond_destroy(&p->ended);
  pthread_mutex_destroy(&p->lock);
  free(p);
  progress_end();
}

/* ---- a tuner's ---- */

enum { LINE_SIZE = 512 };

typedef struct {
  char text[LINE_SIZE];
  size_t len;
} Line;

/* What does not fit is left out. */
static void add(Line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(Line *l, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(l->text + l->len, sizeof l->text - l->len, fmt, args);
  va_end(args);
  l->len = n < 0 || (size_t)n >= sizeof l->text - l->len ? sizeof l->text - 1 : l->len + (size_t)n;
}

/* As the candidates so far took, at most until the budget is spent; 0: nobody knows. */
static double seconds_left(const nereid_tune_progress *p) {
  double left = p->done ? p->seconds / p->done * (p->candidates - p->done) : 0;
  bool bounded = p->budget_s > 0 && (!p->done || p->seconds + left > p->budget_s);
  return bounded ? p->budget_s - p->seconds : left;
}

static void show_tuner(void *context, const nereid_tune_progress *p) {
  Line l = {0};
  (void)context;
  if (p->kernels > 1) add(&l, "kernel %d of %d  ", p->kernels_done + 1, p->kernels);
  add(&l, "%d of %d", p->done, p->candidates);
  double rest = seconds_left(p);
  if (rest > 0) add(&l, "  %.0f s left", rest);
  if (p->best) add(&l, "  best %.2f us", p->best->median_us);
  for (int i = 0; p->best && i < p->best->nsettings; i++)
    add(&l, "%s%s=%s", i ? " " : "  ", p->best->settings[i].name, p->best->settings[i].value);
  if (p->kernels > 1) add(&l, "  %s", p->kernel);
  progress_show(l.text);
}

nereid_tune_progress_fn progress_of_tuner(void) { return is_shown() ? show_tuner : NULL; }
