/* Device cpu: C compiled by the system's compiler, loaded, and run by a team of threads. */
#include "runtime/device/cpu_device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/messages.h"
#include "runtime/support/cores.h"
#include "runtime/support/team.h"

/* ---- opening ---- */

void cpu_identify(unsigned char processor[CPU_IDENTITY], char *description, size_t size) {
  char line[8192];
  FILE *f = fopen("/proc/cpuinfo", "r");
  KeyMaker *k = cache_key_start();
  snprintf(description, size, "%d cores", host_cores());
  while (f && fgets(line, sizeof line, f) && line[0] != '\n') {
    bool model = !strncmp(line, "model name", 10), flags = !strncmp(line, "flags", 5);
    if (model || flags || !strncmp(line, "Features", 8)) cache_key_text(k, line);
    char *name = model ? strchr(line, ':') : NULL;
    if (!name) continue;
    name[strcspn(name, "\n")] = 0;
    snprintf(description, size, "%s, %d cores", name + 2, host_cores());
  }
  if (f) fclose(f);
  CacheKey key = cache_key_end(k);
  memcpy(processor, key.bytes, CPU_IDENTITY);
}

static int open_team(Cpu *cpu) {
  int threads = cores_threads(host_cores());
  if (!threads)
    return error_set(NEREID_E_USAGE, E_RUN_NEREID_THREADS, getenv("NEREID_THREADS"),
                     CORES_THREADS_MOST);
  cpu->team = team_new(threads);
  return cpu->team ? 0 : error_out_of_memory();
}

static int open_cpu(nereid_device *d, int ordinal) {
  (void)ordinal;
  Cpu *cpu = calloc(1, sizeof *cpu);
  if (!cpu) return error_out_of_memory();
  cpu->found = tool_find_cc(cpu->cc, cpu->options);
  int code = open_team(cpu);
  if (code) {
    free(cpu);
    return code;
  }
  cpu_identify(cpu->processor, d->description, sizeof d->description);
  snprintf(d->target, sizeof d->target, "cpu");
  d->info.processors = host_cores();
  d->state = cpu;
  return 0;
}

static void close_cpu(nereid_device *d) {
  Cpu *cpu = d->state;
  cache_close(cpu->cache);
  team_free(cpu->team);
  free(cpu);
}

static bool fits(const nereid_device *d, const ImageVariant *v) {
  (void)d;
  return v->kind == NEREID_C;
}

/* ---- launching ---- */

static int check(const nereid_launch *l) {
  uint64_t programs = (uint64_t)l->launched[0] * l->launched[1];
  if (programs > INT32_MAX || programs * l->launched[2] > INT32_MAX)
    return error_set(NEREID_E_RESOURCES, E_RUN_GRID_PROGRAMS, l->launched[0], l->launched[1],
                     l->launched[2], (unsigned)INT32_MAX);
  return 0;
}

static int launch(const nereid_launch *l, void *stream) {
  (void)stream;
  nereid_device *d = l->kernel->device;
  const Cpu *cpu = d->state;
  void (*run)(const void *args, const uint32_t grid[3], Team *team);
  memcpy(&run, &l->chosen->entry, sizeof run);
  __atomic_store_n(&d->running, l->kernel->image->name, __ATOMIC_RELAXED);
  run(l->slots, l->launched, cpu->team);
  __atomic_store_n(&d->running, NULL, __ATOMIC_RELAXED);
  return 0;
}

const DeviceOps device_cpu = {.name = "cpu",
                              .kind = NEREID_C,
                              .open = open_cpu,
                              .close = close_cpu,
                              .fits = fits,
                              .load_all = cpu_load,
                              .unload = cpu_unload,
                              .check = check,
                              .launch = launch,
                              HOST_EVENTS_AND_COPIES,
                              .alloc = host_alloc};
