/* A kernel's speed over sizes, measured here or elsewhere, as a file holds it:
 *
 *   {"label": "triton", "x_name": "n", "unit": "GB/s", "points": [[1024, 97.1, 95.2, 98], ...]}
 *
 * A point is the size, the median, and the ends of a band around it: the quartiles, where Nereid
 * measured. */
#ifndef NEREID_CLI_REPORT_SERIES_H
#define NEREID_CLI_REPORT_SERIES_H

#include "lang/base/strings.h"

typedef struct {
  double x, median, low, high; /* at most 1e18; 1e-9 <= low <= median <= high */
} SeriesPoint;

typedef struct {
  const char *label, *x_name;
  const char *unit; /* "us", "GB/s", "TFLOP/s" */
  VEC(SeriesPoint) points; /* by x */
} Series;

/* Reads such a file.  Returns a status, after a message with the location in the file. */
int series_read(Arena *a, Series *out, const char *path);
void series_json(Text *out, const Series *s);

/* Series that are drawn together: of one unit over one name. */
typedef struct {
  const char *title;
  const Series *data;
  int n; /* at least 1 */
} SeriesGroup;

/* All x at which a series has a point, each once, by size. */
size_t series_sizes(Arena *a, double **out, const SeriesGroup *g);
/* A table with a line for each x: of the first series median, low and high; of others medians. */
void series_table(Text *out, const SeriesGroup *g);
/* A picture, as SVG: a line through the medians, over the band from low to high. */
void series_plot(Text *out, const SeriesGroup *g);

#endif
