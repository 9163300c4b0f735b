/* A tuning's results, shared by its table, its JSON and its report.
 *
 * cli/report owns the presentation of measurements: tables, JSON, and pages with charts, of a
 * tuning and of a series (series.h).  It takes results, and gives text. */
#ifndef NEREID_CLI_REPORT_TUNE_VIEW_H
#define NEREID_CLI_REPORT_TUNE_VIEW_H

#include "cli/report/tune_view.h"
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

/* The ranking, what failed and why, and the options that choose the best.  `text` is room. */
void tune_table_print(Text *text, const TuneView *v, double seconds);

/* The options that choose a configuration: "take it by: -D BLOCK=128 --num-warps 8".  Blocks of
 * descriptors follow from these. */
void tune_use_print(const nereid_setting *settings, int n);

/* A tuning as JSON:
 *
 *   {"kernel", "device", "source": "measured|records|model", "best": {...}, "candidates":
 *    [{"config": {...}, "status", "reason", "predicted_us", "median_us", "spread_us", "runs",
 *     "uncertain"}]}
 *
 * Values of configurations are numbers, true, false and null where the text is one in the kernel
 * language, else strings.  Times that were not measured or predicted are null, and so is the spread
 * of a single run; "best" is a configuration, null if there is none. */
void tune_json(Text *out, const TuneView *v);
/* To a file, which appears when it is complete; "-" is standard output.  Returns a status, after
 * a message. */
int tune_json_write(const char *path, const TuneView *v);

/* A tuning as one HTML page that needs nothing else: the ranking, predicted against measured times,
 * a heat map for each pair of parameters, and the roofline.
 *
 * It is read on a screen, light or dark, on a phone, and on paper.  It runs no script and loads
 * nothing, and says so to the browser, for the names in it come from anywhere. */
void tune_report(Text *out, const TuneView *v);
/* To a file, which appears when it is complete.  Returns a status, after a message. */
int tune_report_write(const char *path, const TuneView *v);

#endif
