#include "graph/rates.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lower/machine.h"
#include "runtime/device.h"

/* ---- GPUs ---- */

/* Operations of a multiprocessor in a clock: NVIDIA's white papers of each architecture.  A fused
 * multiply-add is two.  Sums of 16-bit products are in f32. */
static const struct {
  int sm;
  double f32, f16, f8;
} architectures[] = {
    {80, 128, 2048, 2048},   {86, 256, 512, 512},     {89, 256, 1024, 2048},  {90, 256, 4096, 8192},
    {100, 256, 8192, 16384}, {103, 256, 8192, 16384}, {120, 256, 1024, 2048},
};

/* What drivers that no longer tell the memory's clock leave open; and devices that are not here. */
static const struct {
  const char *name; /* a part of the device's */
  double bandwidth;
} bandwidths[] = {
    {"B200", 8e12},      {"H200", 4.8e12},   {"H100 PCIe", 2.04e12}, {"H100", 3.35e12},
    {"A100 80GB", 2e12}, {"A100", 1.555e12}, {"L40S", 8.64e11},      {"L4", 3e11},
    {"A10", 6e11},       {"4090", 1.008e12}, {"3090", 9.36e11},
};

static double operations_a_clock(const Rates *r, DType t) {
  size_t n = sizeof architectures / sizeof *architectures;
  for (size_t i = 0; i < n; i++) {
    if (architectures[i].sm != r->sm) continue;
    if (dtype_bits(t) == 16) return architectures[i].f16;
    return dtype_bits(t) == 8 ? architectures[i].f8 : architectures[i].f32;
  }
  return 0;
}

static double bandwidth_by_name(const char *name) {
  for (size_t i = 0; i < sizeof bandwidths / sizeof *bandwidths; i++)
    if (strstr(name, bandwidths[i].name)) return bandwidths[i].bandwidth;
  return 0;
}

static void finish_gpu(Rates *r) { r->operations = r->clocks * operations_a_clock(r, DT_F32); }

/* Memory sends twice a clock. */
static void rates_of_gpu(Rates *r, const nereid_device_info *info) {
  snprintf(r->device, sizeof r->device, "%s", info->description);
  r->from = "by its clocks";
  r->bandwidth = 2e3 * info->memory_clock_khz * info->memory_bus_bits / 8;
  if (r->bandwidth == 0) {
    r->bandwidth = bandwidth_by_name(info->description);
    r->from = "declared";
  }
  r->sm = (int)strtol(info->target + 3, NULL, 10);
  r->clocks = 1e3 * info->clock_khz * info->processors;
  finish_gpu(r);
}

/* ---- the CPU ---- */

enum { COPY_BYTES = 32 << 20, COPY_TIMES = 3, CORES_MAX = 64 };

typedef struct {
  pthread_t thread;
  char *memory; /* of twice COPY_BYTES */
  double rate;  /* bytes a second, read and written */
} Copier;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first copy makes the pages. */
static void *copy_some(void *arg) {
  Copier *c = arg;
  memset(c->memory, 1, COPY_BYTES);
  memcpy(c->memory + COPY_BYTES, c->memory, COPY_BYTES);
  double begin = now();
  for (int i = 0; i < COPY_TIMES; i++) memcpy(c->memory + COPY_BYTES, c->memory, COPY_BYTES);
  double took = now() - begin;
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

/* Two fused multiply-adds a clock for each 32-bit lane. */
static void rates_of_cpu(Rates *r) {
  enum { UNITS = 2, FMA = 2 };
  int cores = host_cores();
  snprintf(r->device, sizeof r->device, "cpu, %d core%s", cores, cores == 1 ? "" : "s");
  r->from = "measured by copying";
  r->bandwidth = copy_bandwidth(cores);
  r->operations = cpu_clock() * cores * machine_find("cpu")->lanes * UNITS * FMA;
}

/* ---- all ---- */

void rates_of_device(Rates *out, nereid_device *d) {
  *out = (Rates){.from = ""};
  if (d->ops == &device_cuda) rates_of_gpu(out, &d->info);
  else if (d->ops == &device_cpu) rates_of_cpu(out);
  else snprintf(out->device, sizeof out->device, "%s", d->name);
}

/* An H100 SXM at the clock that its data sheet is for. */
static void rates_declared(Rates *r) {
  *r = (Rates){.from = "declared", .bandwidth = bandwidth_by_name("H100"), .sm = 90};
  snprintf(r->device, sizeof r->device, "H100 SXM (there is no GPU here)");
  r->clocks = 132 * 1.83e9;
  finish_gpu(r);
}

void rates_of_name(Rates *out, const char *device) {
  nereid_device *d;
  bool gpu = !strncmp(device, "cuda", 4);
  if (gpu && nereid_device_count("cuda") == 0) {
    rates_declared(out);
  } else if (!nereid_device_open(&d, device)) {
    rates_of_device(out, d);
    nereid_device_close(d);
  } else {
    *out = (Rates){.from = ""};
    snprintf(out->device, sizeof out->device, "%s", device);
  }
}

double rates_of_product(const Rates *r, DType t) {
  return r->sm ? r->clocks * operations_a_clock(r, t) : r->operations;
}
