#include "runtime/device/peaks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/target/machine.h"
#include "runtime/device/device.h"

/* Bandwidths that drivers without the memory's clock leave open. */
static const struct {
  const char *name; /* a part of the device's */
  double bandwidth;
} bandwidths[] = {
    {"B200", 8e12},      {"H200", 4.8e12},   {"H100 PCIe", 2.04e12}, {"H100", 3.35e12},
    {"A100 80GB", 2e12}, {"A100", 1.555e12}, {"L40S", 8.64e11},      {"L4", 3e11},
    {"A10", 6e11},       {"4090", 1.008e12}, {"3090", 9.36e11},
};

/* NULL if no target is of that architecture. */
static const MachinePeaks *peaks_of_sm(int sm) {
  const Machine *m = machine_of_sm(sm);
  return m ? &m->peaks : NULL;
}

static double operations_a_clock(const DevicePeaks *r, DType t) {
  return dtype_bits(t) == 16 ? r->f16 : dtype_bits(t) == 8 ? r->f8 : r->f32;
}

static void add_architecture(DevicePeaks *r) {
  const MachinePeaks *a = peaks_of_sm(r->sm);
  if (!a) return;
  r->f32 = a->f32;
  r->f16 = a->f16;
  r->f8 = a->f8;
  r->shared = a->shared;
  r->threads = a->threads;
  if (r->cache <= 0) r->cache = a->cache;
  /* Drivers tell the highest clock; under load it is the one that peak rates are stated for. */
  if (r->clock <= 0 || r->clock > a->clock) r->clock = a->clock;
}

static double bandwidth_by_name(const char *name) {
  for (size_t i = 0; i < sizeof bandwidths / sizeof *bandwidths; i++)
    if (strstr(name, bandwidths[i].name)) return bandwidths[i].bandwidth;
  return 0;
}

static void set_source(DevicePeaks *r, const char *from) {
  snprintf(r->from, sizeof r->from, "%s", from);
}

/* Defaults of the architecture for values that the device does not report. */
static void find_bandwidth(DevicePeaks *r) {
  if (r->bandwidth > 0) return;
  set_source(r, "declared");
  r->bandwidth = bandwidth_by_name(r->device);
  const MachinePeaks *a = peaks_of_sm(r->sm);
  if (r->bandwidth > 0 || !a) return;
  set_source(r, "guessed by its architecture");
  r->bandwidth = a->bandwidth;
}

/* The number in "sm_90a". */
static int sm_of(const char *target) {
  return strncmp(target, "sm_", 3) ? 0 : (int)strtol(target + 3, NULL, 10);
}

/* Memory sends twice a clock. */
static void peaks_of_gpu(DevicePeaks *r, const nereid_device_info *info) {
  snprintf(r->device, sizeof r->device, "%s", info->description);
  set_source(r, "by its clocks");
  r->bandwidth = 2e3 * info->memory_clock_khz * info->memory_bus_bits / 8;
  r->sm = sm_of(info->target);
  r->processors = info->processors > 0 ? info->processors : 1;
  r->clock = 1e3 * info->clock_khz;
  r->cache = info->l2_bytes;
  add_architecture(r);
  find_bandwidth(r);
  r->operations = peaks_of_product(r, DT_F32);
}

void peaks_of_target(DevicePeaks *out, const char *target) {
  const Machine *m = machine_of_sm(sm_of(target));
  if (!m) m = machine_of_sm(90);
  const MachinePeaks *a = &m->peaks;
  *out = (DevicePeaks){.bandwidth = a->bandwidth, .sm = m->sm};
  set_source(out, "declared");
  snprintf(out->device, sizeof out->device, "%s (there is no GPU here)", a->device);
  out->processors = a->processors;
  out->clock = a->clock;
  add_architecture(out);
  out->operations = peaks_of_product(out, DT_F32);
}

void peaks_of_device(DevicePeaks *out, nereid_device *d) {
  *out = (DevicePeaks){0};
  if (d->ops == &device_cuda) peaks_of_gpu(out, &d->info);
  else if (d->ops == &device_cpu) peaks_of_cpu(out);
  else snprintf(out->device, sizeof out->device, "%s", d->name);
}

void peaks_of_name(DevicePeaks *out, const char *device) {
  nereid_device *d;
  bool gpu = !strncmp(device, "cuda", 4);
  if (gpu && nereid_device_count("cuda") == 0) {
    peaks_of_target(out, "");
  } else if (!nereid_device_open(&d, device)) {
    peaks_of_device(out, d);
    nereid_device_close(d);
  } else {
    *out = (DevicePeaks){0};
    snprintf(out->device, sizeof out->device, "%s", device);
  }
}

double peaks_of_product(const DevicePeaks *r, DType t) {
  return r->sm ? r->clock * r->processors * operations_a_clock(r, t) : r->operations;
}

double peaks_of_processor(const DevicePeaks *r, DType t) {
  double fitted = dtype_bits(t) <= 16 ? peaks_of_sm(90)->f16 : peaks_of_sm(90)->f32;
  double here = operations_a_clock(r, dtype_bits(t) <= 16 ? DT_F16 : DT_F32);
  return here > 0 ? here / fitted : 1;
}
