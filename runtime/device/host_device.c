#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/device/device.h"
#include "runtime/messages.h"

int host_copy(nereid_device *d, void *to, const void *from, size_t size, int way, void *stream) {
  (void)d, (void)way, (void)stream;
  if (size) memmove(to, from, size);
  return 0;
}

int host_fill(nereid_device *d, void *to, int byte, size_t size, void *stream) {
  (void)d, (void)stream;
  if (size) memset(to, byte, size);
  return 0;
}

/* Launches on the host are over when they return. */
int host_sync(nereid_device *d, void *stream, bool all) {
  (void)d, (void)stream, (void)all;
  return 0;
}

int host_stream_new(nereid_device *d, void **out) {
  (void)d;
  *out = NULL;
  return 0;
}

void host_stream_free(nereid_device *d, void *stream) { (void)d, (void)stream; }

int host_event_new(nereid_device *d, void **out) {
  (void)d;
  *out = calloc(1, sizeof(struct timespec));
  return *out ? 0 : error_out_of_memory();
}

void host_event_free(nereid_device *d, void *event) {
  (void)d;
  free(event);
}

int host_event_record(nereid_device *d, void *event, void *stream) {
  (void)d, (void)stream;
  clock_gettime(CLOCK_MONOTONIC, event);
  return 0;
}

int host_event_sync(nereid_device *d, void *event) {
  (void)d, (void)event;
  return 0;
}

int host_event_elapsed(nereid_device *d, double *us, void *from, void *to) {
  (void)d;
  const struct timespec *a = from, *b = to;
  *us = (double)(b->tv_sec - a->tv_sec) * 1e6 + (double)(b->tv_nsec - a->tv_nsec) * 1e-3;
  return 0;
}

int host_check_programs(const Start *s, uint32_t most) {
  uint64_t programs = (uint64_t)s->launched[0] * s->launched[1];
  if (programs <= most) programs *= s->launched[2];
  if (programs <= most) return 0;
  error_set(NEREID_E_RESOURCES, E_RUN_GRID_PROGRAMS, s->launched[0], s->launched[1], s->launched[2],
            most);
  error_of_kernel(s->kernel->image->name);
  return error_resource((Resource){"grid", (int64_t)programs, most});
}
