/* Series as a picture. */
#include <math.h>

#include "cli/report/chart.h"
#include "cli/report/series.h"
#include "cli/terminal/markup.h"

enum { LABEL_MOST = 40 };

/* ---- scales ---- */

typedef struct {
  double lo, hi;
} Range;

static Range range_of_sizes(const double *sizes, size_t n) {
  return (Range){sizes[0], sizes[n - 1]};
}

/* The range of the bands of all series. */
static Range range_of_values(const SeriesGroup *g) {
  Range r = {HUGE_VAL, 0};
  for (int i = 0; i < g->n; i++)
    for (size_t j = 0; j < g->data[i].points.len; j++) {
      const SeriesPoint *p = &g->data[i].points.data[j];
      r = (Range){fmin(r.lo, p->low), fmax(r.hi, p->high)};
    }
  return r;
}

static bool are_powers_of_two(const double *sizes, size_t n) {
  int exponent;
  for (size_t i = 0; i < n; i++)
    if (sizes[i] < 1 || frexp(sizes[i], &exponent) != 0.5) return false;
  return true;
}

/* Past this quotient small values would overlap in a linear scale. */
static const double WIDE = 20;

static Scale x_scale(const double *sizes, size_t n) {
  Range r = range_of_sizes(sizes, n);
  if (are_powers_of_two(sizes, n)) return scale_around(SCALE_BINARY, r.lo, r.hi);
  return scale_around(r.lo >= 1e-9 && r.hi > WIDE * r.lo ? SCALE_LOG : SCALE_LINEAR, r.lo, r.hi);
}

/* Rates grow to a level, which is what one looks at: they are drawn from 0. */
static Scale y_scale(const SeriesGroup *g) {
  Range r = range_of_values(g);
  bool is_time = g->data[0].unit[0] == 'u';
  return scale_around(is_time && r.hi > WIDE * r.lo ? SCALE_LOG : SCALE_FROM_ZERO, r.lo, r.hi);
}

/* ---- the legend ---- */

/* Positions of the labels, from left to right and then in a next line; returns how many lines. */
static int arrange_labels(const Chart *c, const SeriesGroup *g, double *x, int *line) {
  int lines = 0;
  double at = c->left;
  for (int i = 0; i < g->n; i++) {
    int length = markup_length(g->data[i].label);
    double width = 34 + chart_text_width(length < LABEL_MOST ? length : LABEL_MOST);
    if (at > c->left && at + width > c->right) at = c->left, lines++;
    x[i] = at;
    line[i] = lines;
    at += width;
  }
  return lines + 1;
}

static void put_plot_legend(const Chart *c, const SeriesGroup *g, const double *x, const int *line,
                            double top) {
  for (int i = 0; i < g->n; i++) {
    double y = top + 18 * line[i];
    chart_mark(c, i, x[i] + 6, y, 4);
    text_printf(c->out, "</path><text x=\"%.1f\" y=\"%g\">", x[i] + 16, y + 4);
    markup_short(c->out, g->data[i].label, LABEL_MOST);
    text_puts(c->out, "</text>\n");
  }
}

/* ---- lines ---- */

static void put_corner(const Chart *c, const char *command, double x, double y) {
  text_printf(c->out, "%s%.1f %.1f", command, scale_position(&c->x, x), scale_position(&c->y, y));
}

static void put_band(const Chart *c, const Series *s, int class) {
  text_printf(c->out, "<path class=\"s%d band\" d=\"", class);
  for (size_t i = 0; i < s->points.len; i++)
    put_corner(c, i ? "L" : "M", s->points.data[i].x, s->points.data[i].low);
  for (size_t i = s->points.len; i-- > 0;)
    put_corner(c, "L", s->points.data[i].x, s->points.data[i].high);
  text_puts(c->out, "Z\"/>\n");
}

static void put_series_line(const Chart *c, const Series *s, int class) {
  text_printf(c->out, "<path class=\"s%d line\" fill=\"none\" d=\"", class);
  for (size_t i = 0; i < s->points.len; i++)
    put_corner(c, i ? "L" : "M", s->points.data[i].x, s->points.data[i].median);
  text_puts(c->out, "\"/>\n");
}

static void put_marks(const Chart *c, const Series *s, int class) {
  for (size_t i = 0; i < s->points.len; i++) {
    const SeriesPoint *p = &s->points.data[i];
    chart_mark(c, class, scale_position(&c->x, p->x), scale_position(&c->y, p->median), 3);
    text_puts(c->out, "<title>");
    markup_text(c->out, s->label);
    text_printf(c->out, "\n%.15g: %.4g ", p->x, p->median);
    markup_text(c->out, s->unit);
    text_printf(c->out, " (%.4g to %.4g)</title></path>\n", p->low, p->high);
  }
}

/* ---- the picture ---- */

static void put_plot_title(const Chart *c, const char *title) {
  text_printf(c->out, "<text x=\"%g\" y=\"24\" class=\"title\">", c->left);
  markup_short(c->out, title, (int)((c->right - c->left) / (1.2 * chart_text_width(1))));
  text_puts(c->out, "</text>\n");
}

void series_plot(Text *out, const SeriesGroup *g) {
  Chart c = {.out = out, .width = 720, .left = 62, .right = 700};
  double *sizes, x[CHART_SERIES];
  int line[CHART_SERIES];
  size_t n = series_sizes(out->arena, &sizes, g);
  double legend = *g->title ? 44 : 22;
  c.top = legend + 18 * arrange_labels(&c, g, x, line) + 26;
  c.bottom = c.top + 330;
  c.height = c.bottom + 50;
  c.x = x_scale(sizes, n);
  c.y = y_scale(g);
  const char *size = arena_printf(out->arena, " width=\"%g\" height=\"%g\"", c.width, c.height);
  chart_begin(&c, *g->title ? g->title : g->data[0].label,
              arena_printf(out->arena, " xmlns=\"http://www.w3.org/2000/svg\"%s", size));
  text_printf(
      out, "<style>%s</style>\n<rect class=\"back\" fill=\"#fff\" width=\"%g\" height=\"%g\"/>\n",
      chart_style, c.width, c.height);
  if (*g->title) put_plot_title(&c, g->title);
  put_plot_legend(&c, g, x, line, legend);
  chart_axes(&c, g->data[0].x_name, g->data[0].unit);
  for (int i = g->n; i-- > 0;) put_band(&c, &g->data[i], i);
  for (int i = g->n; i-- > 0;) put_series_line(&c, &g->data[i], i);
  for (int i = g->n; i-- > 0;) put_marks(&c, &g->data[i], i);
  chart_end(&c);
}
