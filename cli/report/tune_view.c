#include "cli/report/tune_view.h"

#include <math.h>
#include <string.h>

#include "runtime/compile/config.h"

bool tune_is_measured(const nereid_candidate *c) {
  return c->status == NEREID_TUNE_OK && c->median_us > 0;
}

bool tune_has_spread(const nereid_candidate *c) { return c->median_us > 0 && c->runs > 1; }

bool tune_is_predicted(const nereid_candidate *c) {
  return c->predicted_us > 0 && isfinite(c->predicted_us);
}

/* The choice of the cost model is a best although it was not measured: nothing was. */
const nereid_candidate *tune_best(const TuneView *v) {
  const nereid_candidate *c = v->n > 0 ? v->candidates[0] : NULL;
  if (!c || c->status == NEREID_TUNE_OK) return c;
  return c->status == NEREID_TUNE_PRUNED && !strcmp(v->source, "model") ? c : NULL;
}

const char *tune_value(const nereid_candidate *c, const char *name) {
  for (int i = 0; i < c->nsettings; i++)
    if (!strcmp(c->settings[i].name, name)) return c->settings[i].value;
  return NULL;
}

void tune_config_text(Text *out, const nereid_candidate *c) {
  Config config = {(nereid_setting *)(uintptr_t)c->settings, c->nsettings};
  config_print(out, &config);
}
