/* A tuning as JSON:
 *
 *   {"kernel", "device", "source": "measured|records|model", "best": {...}, "candidates":
 *    [{"config": {...}, "status", "reason", "predicted_us", "median_us", "spread_us", "runs",
 *     "uncertain"}]}
 *
 * Values of configurations are numbers, true, false and null where the text is one in the kernel
 * language, else strings.  Times that were not measured or predicted are null, and so is the spread
 * of a single run; "best" is a configuration, null if there is none. */
#ifndef NEREID_CLI_REPORT_TUNE_JSON_H
#define NEREID_CLI_REPORT_TUNE_JSON_H

#include "cli/report/tune_view.h"

void tune_json(Text *out, const TuneView *v);
/* To a file, which appears when it is complete; "-" is standard output.  Returns a status, after
 * a message. */
int tune_json_write(const char *path, const TuneView *v);

#endif
