/* Predicted against measured times, one point a candidate. */
#include <math.h>
#include <stdlib.h>

#include "cli/report/chart.h"
#include "cli/report/tune_parts.h"

typedef struct {
  Chart chart;
  const TuneView *view;
  double lo, hi;      /* of all times */
  int points, within; /* measured ones that were predicted; and whose time is within the bar */
} Scatter;

static bool is_scatter_point(const nereid_candidate *c) {
  return tune_is_measured(c) && tune_is_predicted(c);
}

static void count_points(Scatter *s) {
  for (int i = 0; i < s->view->n; i++) {
    const nereid_candidate *c = s->view->candidates[i];
    if (!is_scatter_point(c)) continue;
    double lo = fmin(c->median_us, c->predicted_us), hi = fmax(c->median_us, c->predicted_us);
    s->lo = s->points ? fmin(s->lo, lo) : lo;
    s->hi = s->points ? fmax(s->hi, hi) : hi;
    s->points++;
    s->within += c->predicted_low_us <= c->median_us && c->median_us <= c->predicted_high_us;
  }
}

/* Both axes have one scale, so that correct predictions are on the diagonal. */
static void put_diagonal(const Chart *c) {
  text_printf(c->out, "<path class=\"axis\" stroke-dasharray=\"5 4\" d=\"M%g %gL%g %g\"/>\n",
              c->left, c->bottom, c->right, c->top);
}

static void put_point(const Chart *c, const nereid_candidate *p, bool best) {
  double x = scale_position(&c->x, p->predicted_us), y = scale_position(&c->y, p->median_us);
  if (p->predicted_low_us > 0 && p->predicted_high_us > 0)
    text_printf(c->out, "<path class=\"s0\" stroke-opacity=\".35\" d=\"M%.1f %.1fH%.1f\"/>",
                chart_clamp(&c->x, p->predicted_low_us), y,
                chart_clamp(&c->x, p->predicted_high_us));
  chart_mark(c, 0, x, y, 3.2);
  tune_point_title(c->out, p);
  text_puts(c->out, "</path>\n");
  if (best)
    text_printf(c->out, "<circle class=\"best\" cx=\"%.1f\" cy=\"%.1f\" r=\"6.5\"/>\n", x, y);
}

static int compare_ratios(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* How far off the middle prediction is, as a factor. */
static double middle_error(Arena *a, const Scatter *s) {
  double *logs = ARENA_ARRAY(a, double, (size_t)s->points);
  int n = 0;
  for (int i = 0; i < s->view->n; i++) {
    const nereid_candidate *c = s->view->candidates[i];
    if (is_scatter_point(c)) logs[n++] = fabs(log(c->predicted_us / c->median_us));
  }
  qsort(logs, (size_t)n, sizeof *logs, compare_ratios);
  return exp(logs[n / 2]);
}

static void put_scatter_note(Text *out, const Scatter *s) {
  text_printf(out,
              "<p>%d of %d measured times are within the predicted bar; the middle "
              "prediction is off by a factor of %.2f. The ring is the best.</p>\n",
              s->within, s->points, middle_error(out->arena, s));
}

void tune_scatter(Text *out, const TuneView *v) {
  Scatter s = {.view = v};
  Chart *c = &s.chart;
  *c = (Chart){
      .out = out, .width = 480, .height = 460, .left = 54, .top = 30, .right = 464, .bottom = 410};
  count_points(&s);
  if (!s.points) return;
  c->x = c->y = scale_around(SCALE_LOG, s.lo, s.hi);
  text_puts(out, "<section><h2>Predicted and measured</h2>\n");
  put_scatter_note(out, &s);
  chart_begin(c, "measured over predicted times", "");
  chart_axes(c, "predicted us", "measured us");
  put_diagonal(c);
  const nereid_candidate *best = tune_best(v);
  for (int i = v->n; i-- > 0;)
    if (is_scatter_point(v->candidates[i]))
      put_point(c, v->candidates[i], v->candidates[i] == best);
  chart_end(c);
  text_puts(out, "</section>\n");
}
