#include "runtime/compile/estimate_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lower/cost/launch_code.h"

#include "runtime/compile/compilation.h"
#include "runtime/device/device.h"
#include "runtime/nereid_tune.h"

enum { LATE_ARGS = 16, LATE_NAME = 64 };

/* Code that a launch runs other than the kernel's own: the tile IR that it is compiled from, and
 * the request. */
typedef struct {
  char *text; /* malloc'ed; NULL: it runs the kernel's own */
  nereid_request request;
  nereid_arg args[LATE_ARGS];
  char names[LATE_ARGS][LATE_NAME], types[LATE_ARGS][LATE_NAME];
} Late;

typedef struct {
  const EstimateLaunch *launch;
  Compilation *compilation;
  Estimate *out;
  LaunchStats *stats;
  Late *late; /* NULL: not asked for */
} Estimating;

static void add_divisors(Late *late, const LaunchDivisor *d, int n) {
  nereid_request *r = &late->request;
  r->known_rows = 1;
  r->args = late->args;
  for (; r->nargs < n && r->nargs < LATE_ARGS; r->nargs++) {
    int i = r->nargs;
    snprintf(late->names[i], LATE_NAME, "%s", d[i].name);
    snprintf(late->types[i], LATE_NAME, "%s:%d", d[i].dtype, d[i].divisor);
    late->args[i] = (nereid_arg){.name = late->names[i], .type = late->types[i]};
  }
}

/* A launch whose strides no tensor map takes runs code for their divisors, one of few programs code
 * with deeper rings that its loop fills. */
static void find_late(Late *late, const Estimating *e, const EstimateInput *in,
                      const LaunchStats *f) {
  const Unit *u = e->compilation->unit;
  Arena *a = e->compilation->arena;
  if (!u->tile || !in->peaks->sm) return;
  int n, deep = launch_deep_stages(a, u);
  const LaunchDivisor *divisors = launch_divisors(a, u->nest, in, &n);
  bool few = deep && f->programs <= in->peaks->processors && f->waits >= deep;
  if (!divisors && !few) return;
  Text text = lower_ordered_text(u);
  size_t size;
  if (owned_copy(&late->text, &size, text.data, text.len)) return;
  nereid_source source = {.text = late->text, .size = size, .path = "late.tile"};
  late->request = (nereid_request){.source = source, .target = e->launch->request->target};
  if (divisors) add_divisors(late, divisors, n);
  else late->request.num_stages = deep;
}

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
  if (e->late) find_late(e->late, e, &in, &f);
  return 0;
}

/* The estimate of one code; `late` says whether a launch runs another one. */
static int estimate_code(Estimate *out, LaunchStats *stats, const EstimateLaunch *l, Late *late) {
  const nereid_request *r = l->request;
  Compilation c;
  *out = (Estimate){0};
  int code = compile_open(&c, &r->source, false);
  if (!code) code = compile_specialize(&c, r);
  if (!code) code = compile_lower(&c, r, LEVEL_THREAD);
  if (!code) {
    Estimating e = {l, &c, out, stats, late};
    code = compile_guard(&c, COMPILE_CODE, estimate_body, &e);
  }
  code = compile_report(&c, code, r->on_message, r->context);
  compile_close(&c);
  return code;
}

int estimate_explain(Estimate *out, LaunchStats *stats, const EstimateLaunch *l) {
  Late late = {0};
  int code = estimate_code(out, stats, l, &late);
  if (code || !late.text) {
    nereid_text_free(late.text);
    return code;
  }
  EstimateLaunch launched = *l;
  Estimate estimate;
  LaunchStats found;
  launched.request = &late.request;
  if (!estimate_code(&estimate, &found, &launched, NULL)) {
    *out = estimate;
    if (stats) *stats = found;
  }
  nereid_text_free(late.text);
  return 0;
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
