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

/* ---- the bandwidth of memory ---- */

enum { CORES_MAX = 256, CHUNKS_MOST = 1 << 16, KIB = 1 << 10, MIB = 1 << 20, CHUNK = 256 * KIB };
enum { CHUNK_WORDS = CHUNK / 8 };
/* How long each thread reads, and then copies: until it had a core for WORK_S. */
static const double WORK_S = 0.1, WALL_S = 1.0;
static const double WINDOW_S = 2e-3;

/* A part of the work that is done, and when it was. */
typedef struct {
  double end;
  double bytes;
} Moved;

/* The threads, as many as a kernel has, read and then copy arrays that are larger than the caches,
 * chunk by chunk, and note the time of each.  The bandwidth is that of the best window of 2 ms, in
 * which no other process used a core: on a busy machine the mean would be lower. */
typedef struct {
  pthread_t thread;
  int chunks; /* of each array */
  uint64_t *from, *to;
  uint64_t sum; /* of what is read, which so is not left out */
  Moved *moved;
  int n;
} Copier;

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t sum_chunk(const uint64_t *p) {
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (int i = 0; i < CHUNK_WORDS; i += 4) {
    a += p[i];
    b += p[i + 1];
    c += p[i + 2];
    d += p[i + 3];
  }
  return a + b + c + d;
}

static void move_chunks(Copier *c, bool copies) {
  double begin = seconds_of(CLOCK_MONOTONIC), had = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  int most = copies ? CHUNKS_MOST : CHUNKS_MOST / 2;
  for (double now = begin; c->n < most && now < begin + WALL_S;) {
    size_t at = (size_t)(c->n % c->chunks) * CHUNK_WORDS;
    if (copies) memcpy(c->to + at, c->from + at, CHUNK);
    else c->sum += sum_chunk(c->from + at);
    now = seconds_of(CLOCK_MONOTONIC);
    c->moved[c->n++] = (Moved){now, copies ? 2.0 * CHUNK : CHUNK};
    if (seconds_of(CLOCK_THREAD_CPUTIME_ID) - had > WORK_S) return;
  }
}

static void *copier_body(void *arg) {
  Copier *c = arg;
  memset(c->from, 1, (size_t)c->chunks * CHUNK);
  memset(c->to, 2, (size_t)c->chunks * CHUNK);
  move_chunks(c, false);
  move_chunks(c, true);
  return NULL;
}

static int by_end(const void *a, const void *b) {
  double x = ((const Moved *)a)->end, y = ((const Moved *)b)->end;
  return (x > y) - (x < y);
}

/* Bytes a second of the best window. */
static double best_window(Moved *all, size_t n) {
  double bytes = 0, best = 0;
  qsort(all, n, sizeof *all, by_end);
  for (size_t first = 0, i = 0; i < n; i++) {
    bytes += all[i].bytes;
    while (all[first].end <= all[i].end - WINDOW_S) bytes -= all[first++].bytes;
    if (first > 0 && bytes / WINDOW_S > best) best = bytes / WINDOW_S;
  }
  return best;
}

static double best_of_all(const Copier *copiers, int threads) {
  size_t n = 0;
  for (int i = 0; i < threads; i++) n += (size_t)copiers[i].n;
  Moved *all = malloc(n * sizeof *all + 1);
  if (!all) return 0;
  n = 0;
  for (int i = 0; i < threads; i++) {
    memcpy(all + n, copiers[i].moved, (size_t)copiers[i].n * sizeof *all);
    n += (size_t)copiers[i].n;
  }
  double best = best_window(all, n);
  free(all);
  return best;
}

/* Both arrays of all threads are twice as large as the last cache, if memory has room for that. */
static int chunks_of(int threads) {
  int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE), all = 2 * (cache > 0 ? cache : 64 * MIB);
  int64_t room = (int64_t)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) / 4;
  if (all > 512 * MIB) all = 512 * MIB;
  if (all > room) all = room;
  int64_t n = all / (2 * (int64_t)CHUNK * threads);
  return n < 16 ? 16 : (int)n;
}

static bool copier_start(Copier *c, int chunks) {
  size_t bytes = (size_t)chunks * CHUNK;
  *c = (Copier){.chunks = chunks, .from = malloc(bytes), .to = malloc(bytes)};
  c->moved = malloc(CHUNKS_MOST * sizeof *c->moved);
  return c->from && c->to && c->moved && !pthread_create(&c->thread, NULL, copier_body, c);
}

/* 0 where there is no memory or no thread for it. */
static double memory_bandwidth(int cores) {
  Copier copiers[CORES_MAX] = {0};
  int n = cores < CORES_MAX ? cores : CORES_MAX, started = 0, chunks = chunks_of(n);
  while (started < n && copier_start(&copiers[started], chunks)) started++;
  for (int i = 0; i < started; i++) pthread_join(copiers[i].thread, NULL);
  double best = best_of_all(copiers, started);
  for (int i = 0; i < n; i++) {
    free(copiers[i].from);
    free(copiers[i].to);
    free(copiers[i].moved);
  }
  return best;
}

/* ---- the clock ---- */

/* The highest that Linux tells: the one now is less where the processor saves power. */
static double highest_clock(void) {
  FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "r");
  char line[64];
  double khz = f && fgets(line, sizeof line, f) ? strtod(line, NULL) : 0;
  if (f) fclose(f);
  return 1e3 * khz;
}

/* The present clock; 0 where Linux does not tell it. */
static double present_clock(void) {
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
  int64_t taken; /* seconds since 1970 */
} Measured;

/* The key of a processor and a number of cores; it doesn't depend on the build. */
static CacheId cpu_peaks_id(int cores) {
  static const char METHOD[] = "peaks 2";
  unsigned char processor[CPU_IDENTITY];
  char description[256];
  cpu_identify(processor, description, sizeof description);
  KeyMaker *k = cache_key_start();
  cache_key_text(k, METHOD);
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
    double highest = highest_clock();
    m = (Measured){memory_bandwidth(cores), highest > 0 ? highest : present_clock(), time(NULL)};
    cache_put(cache, &id, &m, sizeof m);
  }
  free(kept);
  cache_close(cache);
  return m;
}

static void write_source(char *out, size_t size, int64_t taken) {
  time_t seconds = taken;
  struct tm date;
  char day[sizeof "2026-12-31"] = "";
  if (gmtime_r(&seconds, &date)) strftime(day, sizeof day, "%Y-%m-%d", &date);
  snprintf(out, size, "measured %s", day);
}

/* Two fused multiply-adds a clock for each 32-bit lane. */
void peaks_of_cpu(DevicePeaks *r) {
  enum { UNITS = 2, FMA = 2 };
  int cores = host_cores();
  Measured m = measured(cores);
  *r = (DevicePeaks){.bandwidth = m.bandwidth};
  write_source(r->from, sizeof r->from, m.taken);
  snprintf(r->device, sizeof r->device, "cpu, %d core%s", cores, cores == 1 ? "" : "s");
  r->processors = cores;
  r->clock = m.clock;
  r->cache = sysconf(_SC_LEVEL3_CACHE_SIZE) > 0 ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
  r->operations = r->clock * cores * machine_find("cpu")->lanes * UNITS * FMA;
}
