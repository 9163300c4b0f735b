#include "runtime/support/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lang/base/bug.h"
#include "runtime/support/host_machine.h"

typedef struct {
  size_t n;
  atomic_size_t next;
  void (*body)(void *context, size_t i);
  void *context;
  atomic_bool ended; /* by an internal error; the first one's report */
  BugReport report;
} Work;

static void take_pieces(void *arg) {
  Work *w = arg;
  for (size_t i; !w->ended && (i = atomic_fetch_add(&w->next, 1)) < w->n;) w->body(w->context, i);
}

/* Errors may not leave the thread, nor leave the caller's frame while others use it. */
static void *take_work(void *arg) {
  Work *w = arg;
  if (!bug_guard(take_pieces, w) && !atomic_exchange(&w->ended, true)) w->report = *bug_report();
  return NULL;
}

void parallel_for(size_t n, void (*body)(void *context, size_t i), void *context) {
  enum { THREADS_MAX = 64 };
  pthread_t threads[THREADS_MAX];
  Work w = {.n = n, .body = body, .context = context};
  size_t cores = (size_t)host_cores(), started = 1;
  for (; started < n && started < cores && started < THREADS_MAX; started++)
    if (pthread_create(&threads[started], NULL, take_work, &w)) break;
  take_work(&w);
  for (size_t i = 1; i < started; i++) pthread_join(threads[i], NULL);
  if (w.ended) bug_raise(&w.report);
}
