#include "cli/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/messages.h"

/* ---- the line ---- */

static int columns(void) {
  struct winsize w;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 20 ? 80 : w.ws_col;
}

void progress_show(const char *line) {
  if (!isatty(STDERR_FILENO) || message_is_json()) return;
  fprintf(stderr, "\r\033[K%.*s", columns() - 1, line);
  fflush(stderr);
}

void progress_end(void) { progress_show(""); }

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

nereid_tune_progress_fn progress_of_tuner(void) {
  return isatty(STDERR_FILENO) ? show_tuner : NULL;
}
