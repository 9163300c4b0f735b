/* A tuner's results as a table. */
#ifndef NEREID_CLI_REPORT_TUNE_TABLE_H
#define NEREID_CLI_REPORT_TUNE_TABLE_H

#include "cli/report/tune_view.h"

/* The ranking, what failed and why, and the options that choose the best.  `text` is room. */
void tune_table_print(Text *text, const TuneView *v, double seconds);

#endif
