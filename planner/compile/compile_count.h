/* How many of the kernels are compiled, for somebody who follows it. */
#ifndef NEREID_PLANNER_COMPILE_COMPILE_COUNT_H
#define NEREID_PLANNER_COMPILE_COMPILE_COUNT_H

#include <stddef.h>

typedef struct {
  void (*fn)(void *context, int done, int total); /* NULL: nobody looks */
  void *context;
  int done, total; /* `done` is atomic */
} CompileCount;

static inline void compile_count_start(CompileCount *c, size_t total) {
  c->done = 0;
  c->total = (int)total;
  if (c->fn) c->fn(c->context, 0, c->total);
}

/* Counts one more compiled kernel; threads may call it at once. */
static inline void compile_count_add(CompileCount *c) {
  int done = __atomic_add_fetch(&c->done, 1, __ATOMIC_RELAXED);
  if (c->fn) c->fn(c->context, done, c->total);
}

#endif
