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
  const Target *target;
};

/* Has the processor what the kernels were compiled for?  One target alone was compiled for the
 * machine that built the project, or as its builder said. */
static bool has_target(const char *name) {
  if (!model_targets[1].name || !strcmp(name, "cpu:4")) return true;
#if defined(__x86_64__) || defined(__i386__)
  const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  const bool wider = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide && (!strcmp(name, "cpu:8") || (wider && !strcmp(name, "cpu:16")));
#else
  return false;
#endif
}

/* "cpu:8": lanes of 32 bits. */
static int lanes_of(const char *name) { return atoi(strchr(name, ':') + 1); }

/* The widest target that the processor has, or the one that NEREID_CPU names. */
static int choose_target(const Target **out) {
  const char *own = model_targets[1].name ? getenv("NEREID_CPU") : NULL;
  char names[64] = "";
  *out = NULL;
  for (const Target *t = model_targets; t->name; t++) {
    const size_t n = strlen(names);
    snprintf(names + n, sizeof names - n, " %s", t->name);
    if (!has_target(t->name) || (own && *own && strcmp(own, t->name) != 0)) continue;
    if (!*out || lanes_of(t->name) > lanes_of((*out)->name)) *out = t;
  }
  if (*out) return 0;
  return model_fail(MODEL_E_USAGE, "no kernels are for %s%s: there are those for%s",
                    own && *own ? "NEREID_CPU=" : "this processor", own ? own : "", names);
}

int model_device_open(Device **out, const model_options *o) {
  const int threads = o->threads > 0 ? o->threads : cores_threads(cores_usable());
  *out = NULL;
  if (!threads)
    return model_fail(MODEL_E_USAGE,
                      "NEREID_THREADS=%s is no number of threads: write 1 to %d",
                      getenv("NEREID_THREADS"), CORES_THREADS_MOST);
  const Target *target;
  const int code = choose_target(&target);
  if (code) return code;
  *out = malloc(sizeof **out);
  if (*out) **out = (Device){team_new(threads), target};
  if (*out && (*out)->team) return 0;
  free(*out);
  *out = NULL;
  return model_fail(MODEL_E_MEMORY, "out of memory");
}

void model_device_close(Device *d) {
  if (d) team_free(d->team);
  free(d);
}

const char *model_device_target(const Device *d) { return d->target->name; }

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
  const uint32_t grid[] = {(uint32_t)x, (uint32_t)y, (uint32_t)z};
  r->device->target->kernels[kernel](args, grid, &team.team);
  return 0;
}
