#include "cli/terminal/progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "runtime/support/log.h"

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

enum { LINE_SIZE = 512 };

struct Progress {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool stop;
  const char *what, *of;
  int done, total;       /* kernels; total 0: they are not counted */
  char tuner[LINE_SIZE]; /* the line of a tuner that is at work; "": none is */
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

static void show_seconds(Progress *p, int seconds) {
  char line[LINE_SIZE];
  pthread_mutex_lock(&p->lock);
  if (*p->tuner) memcpy(line, p->tuner, sizeof line);
  else if (p->total)
    snprintf(line, sizeof line, "%s %d of %d kernels (%d s)", p->what, p->done, p->total, seconds);
  else snprintf(line, sizeof line, "%s %s (%d s)", p->what, p->of, seconds);
  pthread_mutex_unlock(&p->lock);
  progress_show(line);
}

void progress_kernels(void *progress, int done, int total) {
  Progress *p = progress;
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  if (done > p->done || total != p->total) p->done = done;
  p->total = total;
  *p->tuner = 0;
  pthread_mutex_unlock(&p->lock);
}

static void *count_seconds(void *arg) {
  Progress *p = arg;
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  for (int seconds = 1;; seconds++) {
    time.tv_sec++;
    if (!wait_until(p, &time)) break;
    show_seconds(p, seconds);
  }
  return NULL;
}

Progress *progress_start(const char *what, const char *of) {
  if (!is_shown()) return NULL;
  Progress *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->what = what;
  p->of = of;
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

typedef struct {
  char text[LINE_SIZE];
  size_t len;
} Line;

/* Text that does not fit is truncated. */
static void line_printf(Line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line_printf(Line *l, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(l->text + l->len, sizeof l->text - l->len, fmt, args);
  va_end(args);
  l->len = n < 0 || (size_t)n >= sizeof l->text - l->len ? sizeof l->text - 1 : l->len + (size_t)n;
}

/* Extrapolates the time of the candidates so far, at most until the budget is spent; 0: unknown. */
static double seconds_left(const nereid_tune_progress *p) {
  double left = p->done ? p->seconds / p->done * (p->candidates - p->done) : 0;
  bool bounded = p->budget_s > 0 && (!p->done || p->seconds + left > p->budget_s);
  return bounded ? p->budget_s - p->seconds : left;
}

static void put_tuner(Line *l, const nereid_tune_progress *t) {
  if (t->kernels > 1) line_printf(l, "kernel %d of %d  ", t->kernels_done + 1, t->kernels);
  line_printf(l, "%d of %d", t->done, t->candidates);
  double rest = seconds_left(t);
  if (rest > 0) line_printf(l, "  %.0f s left", rest);
  if (t->best) line_printf(l, "  best %.2f us", t->best->median_us);
  for (int i = 0; t->best && i < t->best->nsettings; i++)
    line_printf(l, "%s%s=%s", i ? " " : "  ", t->best->settings[i].name,
                t->best->settings[i].value);
  if (t->kernels > 1) line_printf(l, "  %s", t->kernel);
}

void progress_tuner(void *progress, const nereid_tune_progress *t) {
  Progress *p = progress;
  Line l = {0};
  if (!p) return;
  put_tuner(&l, t);
  pthread_mutex_lock(&p->lock);
  memcpy(p->tuner, l.text, sizeof p->tuner);
  pthread_mutex_unlock(&p->lock);
  progress_show(l.text);
}
