#include "runtime/support/parallel.h"

#include <pthread.h>

#include "runtime/support/host_machine.h"

typedef struct {
  size_t n, next; /* next: atomic */
  void (*body)(void *context, size_t i);
  void *context;
} Work;

static void *take_work(void *arg) {
  Work *w = arg;
  for (;;) {
    size_t i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
    if (i >= w->n) return NULL;
    w->body(w->context, i);
  }
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
}
