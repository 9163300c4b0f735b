/* How fast the CPU at hand can be. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lower/target/machine.h"
#include "runtime/device/cpu_device.h"
#include "runtime/device/peaks.h"

enum { COPY_BYTES = 32 << 20, COPY_TIMES = 3, CORES_MAX = 64 };

typedef struct {
  pthread_t thread;
  char *memory; /* of twice COPY_BYTES */
  double rate;  /* bytes a second, read and written */
} Copier;

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first copy makes the pages. */
static void *copy_some(void *arg) {
  Copier *c = arg;
  memset(c->memory, 1, COPY_BYTES);
  memcpy(c->memory + COPY_BYTES, c->memory, COPY_BYTES);
  double begin = now_seconds();
  for (int i = 0; i < COPY_TIMES; i++) memcpy(c->memory + COPY_BYTES, c->memory, COPY_BYTES);
  double took = now_seconds() - begin;
  c->rate = took > 0 ? 2.0 * COPY_TIMES * COPY_BYTES / took : 0;
  return NULL;
}

static double copy_bandwidth(int cores) {
  Copier copiers[CORES_MAX] = {0};
  int n = cores < CORES_MAX ? cores : CORES_MAX, started = 0;
  double sum = 0;
  for (; started < n; started++) {
    Copier *c = &copiers[started];
    c->memory = malloc(2 * (size_t)COPY_BYTES);
    if (!c->memory || pthread_create(&c->thread, NULL, copy_some, c)) break;
  }
  for (int i = 0; i < started; i++) pthread_join(copiers[i].thread, NULL);
  for (int i = 0; i < n; i++) {
    sum += copiers[i].rate;
    free(copiers[i].memory);
  }
  return sum;
}

/* The clock that Linux tells now; 0 where it does not. */
static double cpu_clock(void) {
  FILE *f = fopen("/proc/cpuinfo", "r");
  char line[256];
  double mhz = 0;
  while (f && mhz == 0 && fgets(line, sizeof line, f)) {
    const char *colon = strchr(line, ':');
    if (colon && !strncmp(line, "cpu MHz", 7)) mhz = strtod(colon + 1, NULL);
  }
  if (f) fclose(f);
  return 1e6 * mhz;
}

/* ---- what is kept ---- */

typedef struct {
  double bandwidth, clock;
} Measured;

static CacheId cpu_peaks_id(int cores) {
  unsigned char processor[CPU_IDENTITY];
  char description[256];
  cpu_identify(processor, description, sizeof description);
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "rates");
  cache_key_text(k, nereid_build_id());
  cache_key_add(k, processor, sizeof processor);
  cache_key_add(k, &cores, sizeof cores);
  return (CacheId){.key = cache_key_end(k), .kind = CACHE_DEVICE, .name = "cpu"};
}

/* Measured once: each time anew it would take longer than all else that records answer, and the
 * same kernel would be predicted otherwise from run to run. */
static Measured measured(int cores) {
  CacheId id = cpu_peaks_id(cores);
  Cache *cache = cache_open(NULL, NULL);
  Measured m;
  char *kept = NULL;
  size_t size = 0;
  if (cache_get(cache, &id, &kept, &size) && size == sizeof m) {
    memcpy(&m, kept, sizeof m);
  } else {
    m = (Measured){copy_bandwidth(cores), cpu_clock()};
    cache_put(cache, &id, &m, sizeof m);
  }
  free(kept);
  cache_close(cache);
  return m;
}

/* Two fused multiply-adds a clock for each 32-bit lane. */
void peaks_of_cpu(DevicePeaks *r) {
  enum { UNITS = 2, FMA = 2 };
  int cores = host_cores();
  Measured m = measured(cores);
  *r = (DevicePeaks){.from = "measured by copying", .bandwidth = m.bandwidth};
  snprintf(r->device, sizeof r->device, "cpu, %d core%s", cores, cores == 1 ? "" : "s");
  r->processors = cores;
  r->clock = m.clock;
  r->cache = sysconf(_SC_LEVEL3_CACHE_SIZE) > 0 ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
  r->operations = r->clock * cores * machine_find("cpu")->lanes * UNITS * FMA;
}
