/* The CPU: kernels are functions of kernels*.c, which a team of threads runs. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cores.h"
#include "kernels.h"
#include "plan.h"
#include "team.h"

struct Device {
  Team *team;
};

int model_device_open(Device **out, const model_options *o) {
  const int threads = o->threads > 0 ? o->threads : cores_threads(cores_usable());
  *out = NULL;
  if (!threads)
    return model_fail(MODEL_E_USAGE,
                      "NEREID_THREADS=%s is no number of threads: write 1 to %d",
                      getenv("NEREID_THREADS"), CORES_THREADS_MOST);
  *out = malloc(sizeof **out);
  if (*out) (*out)->team = team_new(threads);
  if (*out && (*out)->team) return 0;
  free(*out);
  *out = NULL;
  return model_fail(MODEL_E_MEMORY, "out of memory");
}

void model_device_close(Device *d) {
  if (d) team_free(d->team);
  free(d);
}

const char *model_device_target(const Device *d) {
  (void)d;
  return MODEL_TARGET;
}

bool model_device_is_host(void) { return true; }

int model_device_alloc(Device *d, char **out, int64_t bytes, const char *what) {
  (void)d;
  const size_t room = (size_t)memory_aligned(bytes);
  *out = aligned_alloc(MEMORY_ALIGNMENT, room ? room : MEMORY_ALIGNMENT);
  if (*out) return 0;
  return model_fail(MODEL_E_MEMORY, "there is no memory for %lld bytes of %s", (long long)bytes,
                    what);
}

void model_device_free(Device *d, char *p) {
  (void)d;
  free(p);
}

int model_device_alloc_shared(Device *d, void **out, int64_t bytes) {
  char *p;
  const int code = model_device_alloc(d, &p, bytes, "records");
  *out = p;
  return code;
}

void model_device_free_shared(Device *d, void *p) { model_device_free(d, p); }

int model_device_copy(Device *d, void *to, const void *from, int64_t bytes, CopyWay way,
                      void *stream) {
  (void)d, (void)way, (void)stream;
  if (bytes) memmove(to, from, (size_t)bytes);
  return 0;
}

int model_device_sync(Device *d, void *stream) {
  (void)d, (void)stream;
  return 0;
}

bool model_device_replays(const Device *d) {
  (void)d;
  return false;
}

int model_device_record(Device *d) {
  (void)d;
  return 0;
}

int model_device_record_end(Device *d, int code) {
  (void)d;
  return code;
}

int model_device_replay(Device *d, void *stream) {
  (void)d, (void)stream;
  return 0;
}

/* By any thread. */
static void tell_waiting(void *context, const char *where, const uint32_t program[3], int seconds) {
  fprintf(stderr, "kernel %s: program (%u, %u, %u) has waited for %d s at %s\n",
          (const char *)context, program[0], program[1], program[2], seconds, where);
}

int model_launch(const Run *r, int kernel, const uint64_t *args, int nargs, int64_t x, int64_t y,
                 int64_t z) {
  (void)nargs;
  int64_t programs;
  if (x == 0 || y == 0 || z == 0) return 0;
  if (x < 0 || y < 0 || z < 0 || __builtin_mul_overflow(x, y, &programs) ||
      __builtin_mul_overflow(programs, z, &programs) || programs > INT_MAX)
    return model_fail(MODEL_E_USAGE, "kernel %s: a grid of %lld, %lld, %lld is not possible",
                      model_plan.kernels[kernel], (long long)x, (long long)y, (long long)z);
  const TeamHooks hooks = {.tell = tell_waiting, .context = (void *)model_plan.kernels[kernel]};
  HookedTeam team = team_hooked(r->device->team, hooks);
  model_kernels[kernel](args, (const uint32_t[]){(uint32_t)x, (uint32_t)y, (uint32_t)z},
                        &team.team);
  return 0;
}
