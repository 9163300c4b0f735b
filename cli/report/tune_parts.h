/* The parts of a report on a tuning (cli/report/tune_report.h): each writes a section of the page,
 * or nothing if there is nothing to show. */
#ifndef NEREID_CLI_REPORT_TUNE_PARTS_H
#define NEREID_CLI_REPORT_TUNE_PARTS_H

#include "cli/report/tune_view.h"

void tune_ranking(Text *out, const TuneView *v);
void tune_scatter(Text *out, const TuneView *v);
void tune_heat_maps(Text *out, const TuneView *v);
void tune_roofline(Text *out, const TuneView *v);

/* The names that candidates give values to, in the order of their first use. */
typedef struct {
  const char **data;
  int n;
} TuneNames;

TuneNames tune_names(Arena *a, const TuneView *v);

/* 4.56, 45.6, 456: three digits of microseconds. */
enum { TUNE_NUMBER = 32 };
void tune_us(char out[TUNE_NUMBER], double us);
/* 3.35 T: three digits, and the prefix of their thousands. */
void tune_quantity(char out[TUNE_NUMBER], double v);
/* The label of a point: the configuration and its times. */
void tune_point_title(Text *out, const nereid_candidate *c);

#endif
