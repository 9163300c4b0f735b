#include "runtime/compile/estimate_request.h"

#include <math.h>
#include <string.h>

#include "runtime/compile/compilation.h"
#include "runtime/device/device.h"
#include "runtime/nereid_tune.h"

typedef struct {
  const EstimateLaunch *launch;
  Compilation *compilation;
  Estimate *out;
  LaunchStats *stats;
} Estimating;

static int estimate_body(void *arg) {
  Estimating *e = arg;
  const EstimateLaunch *l = e->launch;
  Arena *a = e->compilation->arena;
  EstimateValue *values = ARENA_ARRAY(a, EstimateValue, (size_t)l->nints + 1);
  EstimateInput in = {.peaks = l->peaks, .values = values, .nvalues = l->nints};
  for (int i = 0; i < 3; i++) in.grid[i] = l->grid[i] ? l->grid[i] : 1;
  for (int i = 0; i < l->nints; i++) values[i] = (EstimateValue){l->ints[i].name, l->ints[i].value};
  const Nest *n = e->compilation->unit->nest;
  LaunchStats f = launch_stats_gather(a, n, &in);
  if (e->stats) *e->stats = f;
  *e->out = estimate_stats(&f, l->peaks);
  /* Not a number, as where peaks are missing, is no prediction. */
  if (!isfinite(e->out->us) || !isfinite(e->out->high_us)) *e->out = (Estimate){0};
  return 0;
}

int estimate_explain(Estimate *out, LaunchStats *stats, const EstimateLaunch *l) {
  const nereid_request *r = l->request;
  Compilation c;
  *out = (Estimate){0};
  int code = compile_open(&c, &r->source, false);
  if (!code) code = compile_specialize(&c, r);
  if (!code) code = compile_lower(&c, r, LEVEL_THREAD);
  if (!code) {
    Estimating e = {l, &c, out, stats};
    code = compile_guard(&c, COMPILE_CODE, estimate_body, &e);
  }
  code = compile_report(&c, code, r->on_message, r->context);
  compile_close(&c);
  return code;
}

static void find_peaks(DevicePeaks *out, nereid_device *d, const char *target) {
  if (d) peaks_of_device(out, d);
  else estimate_peaks(out, target);
}

void estimate_peaks(DevicePeaks *out, const char *target) {
  if (!target) peaks_of_name(out, "cuda");
  else if (!strncmp(target, "cpu", 3)) peaks_of_cpu(out);
  else peaks_of_target(out, target);
}

int nereid_estimate(nereid_estimation *out, nereid_device *d, const nereid_request *r,
                    const uint32_t grid[3], const nereid_binding *values, int n) {
  REQUIRE_OUT(out);
  REQUIRE(r);
  REQUIRE(grid);
  if (n) REQUIRE(values);
  int code = compile_check(r);
  if (code) return code;
  nereid_request request = *r;
  if (d && !r->target) request.target = device_target(d);
  DevicePeaks peaks;
  Estimate e;
  find_peaks(&peaks, d, r->target);
  EstimateLaunch l = {.request = &request, .peaks = &peaks, .ints = values, .nints = n};
  memcpy(l.grid, grid, sizeof l.grid);
  code = estimate_launch(&e, &l);
  if (code) return code;
  *out = (nereid_estimation){
      .us = e.us, .low_us = e.low_us, .high_us = e.high_us, .bound = estimate_bound_name(e.bound),
      .memory_bytes = e.memory_bytes, .cache_bytes = e.l2_bytes, .tensor_flops = e.tensor_flops,
      .f32_flops = e.f32_flops, .registers = e.registers, .spilled = e.spilled,
      .shared_bytes = e.shared, .occupancy = e.occupancy, .waves = e.waves};
  memcpy(out->device, peaks.device, sizeof out->device);
  return 0;
}

int estimate_launch(Estimate *out, const EstimateLaunch *l) {
  return estimate_explain(out, NULL, l);
}
