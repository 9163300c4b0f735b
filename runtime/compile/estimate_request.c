#include "runtime/compile/estimate_request.h"

#include <math.h>

#include "runtime/compile/compilation.h"

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

int estimate_launch(Estimate *out, const EstimateLaunch *l) {
  return estimate_explain(out, NULL, l);
}
