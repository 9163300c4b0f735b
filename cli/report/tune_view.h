/* A tuning's results, shared by its table, its JSON and its report.
 *
 * cli/report owns the presentation of measurements: tables, JSON, and pages with charts, of a
 * tuning and of a series (series.h).  It takes results, and gives text. */
#ifndef NEREID_CLI_REPORT_TUNE_VIEW_H
#define NEREID_CLI_REPORT_TUNE_VIEW_H

#include "lang/base/strings.h"
#include "runtime/nereid_tune.h"

typedef struct {
  const char *kernel, *device;
  const char *source; /* "measured", "records" or "model" */
  const nereid_setting *args;
  int nargs;
  const nereid_candidate *const *candidates; /* the best first, as nereid_tuning_candidate has it */
  int n;
  double bandwidth, flops; /* of the device, a second; 0: not known */
} TuneView;

bool tune_is_measured(const nereid_candidate *c); /* it ran, and its time is known */
bool tune_has_spread(const nereid_candidate *c);  /* it ran more than once */
bool tune_is_predicted(const nereid_candidate *c);
/* The one that wins: the first, if it ran or the model chose it; else NULL. */
const nereid_candidate *tune_best(const TuneView *v);
/* The value of a setting, NULL if the candidate has none of that name. */
const char *tune_value(const nereid_candidate *c, const char *name);
/* "BLOCK=128 num_warps=4" */
void tune_config_text(Text *out, const nereid_candidate *c);

#endif
