/* Pictures of points over two axes, as SVG: the parts that a report and a plot of a sweep share.
 *
 * Colours are classes of chart_style, which has a light and a dark set; positions are
 * attributes. */
#ifndef NEREID_CLI_REPORT_CHART_H
#define NEREID_CLI_REPORT_CHART_H

#include "cli/report/scale.h"
#include "lang/base/strings.h"

enum { CHART_SERIES = 8 }; /* classes s0 ... s7 */

typedef struct {
  Text *out;
  double width, height;            /* of the picture */
  double left, top, right, bottom; /* of the area between the axes */
  Scale x, y;
} Chart;

/* The rules of a style sheet. */
extern const char chart_style[];

/* Opens the picture; `label` is what is read aloud for it.  `attributes` go into its element. */
void chart_begin(Chart *c, const char *label, const char *attributes);
/* Grid, ticks and titles; sets the pixels of the scales. */
void chart_axes(Chart *c, const char *x_title, const char *y_title);
void chart_end(const Chart *c);

/* A mark of a series at a point of the picture: the shape differs as well as the colour.  The
 * caller puts its title and closes it with </path>. */
void chart_mark(const Chart *c, int series, double x, double y, double radius);
/* The pixel of a value, clamped to the axis. */
double chart_clamp(const Scale *s, double value);
/* About how wide a text of that many characters is. */
double chart_text_width(int characters);

#endif
