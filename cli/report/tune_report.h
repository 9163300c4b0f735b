/* A tuning as one HTML page that needs nothing else: the ranking, predicted against measured times,
 * a heat map for each pair of parameters, and the roofline.
 *
 * It is read on a screen, light or dark, on a phone, and on paper.  It runs no script and loads
 * nothing, and says so to the browser, for the names in it come from anywhere. */
#ifndef NEREID_CLI_REPORT_TUNE_REPORT_H
#define NEREID_CLI_REPORT_TUNE_REPORT_H

#include "cli/report/tune_view.h"

void tune_report(Text *out, const TuneView *v);
/* To a file, which appears when it is complete.  Returns a status, after a message. */
int tune_report_write(const char *path, const TuneView *v);

#endif
