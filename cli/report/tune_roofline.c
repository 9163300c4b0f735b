/* The roofline: how many operations a second each candidate reaches, below what memory and
 * arithmetic of the device allow. */
#include <math.h>

#include "cli/report/chart.h"
#include "cli/report/tune_parts.h"

typedef struct {
  Chart chart;
  const TuneView *view;
  double x_lo, x_hi, y_lo, y_hi; /* operations a byte; a second */
  int points;
} Roofline;

static bool is_roofline_point(const nereid_candidate *c) {
  return tune_is_measured(c) && c->bytes > 0 && c->flops > 0;
}

static double intensity(const nereid_candidate *c) { return c->flops / c->bytes; }
static double rate(const nereid_candidate *c) { return 1e6 * c->flops / c->median_us; }

/* The picture holds the ridge, where the roof turns, and a decade around the points. */
static void cover_points(Roofline *r) {
  const TuneView *v = r->view;
  double ridge = v->flops / v->bandwidth;
  r->x_lo = r->x_hi = ridge;
  r->y_hi = v->flops;
  r->y_lo = v->flops / 10;
  for (int i = 0; i < v->n; i++) {
    if (!is_roofline_point(v->candidates[i])) continue;
    double x = intensity(v->candidates[i]), y = rate(v->candidates[i]);
    r->x_lo = fmin(r->x_lo, x), r->x_hi = fmax(r->x_hi, x);
    r->y_lo = fmin(r->y_lo, y), r->y_hi = fmax(r->y_hi, y);
    r->points++;
  }
  r->x_lo /= 4, r->x_hi *= 4;
}

static double roof(const TuneView *v, double x) { return fmin(v->flops, v->bandwidth * x); }

/* Up along the bandwidth to the ridge, then level; the part below the picture is cut off. */
static void put_roof(const Chart *c, const TuneView *v) {
  double from = fmax(c->x.lo, c->y.lo / v->bandwidth), ridge = v->flops / v->bandwidth;
  text_printf(c->out, "<path class=\"s1 line\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n",
              scale_position(&c->x, from), scale_position(&c->y, roof(v, from)),
              scale_position(&c->x, ridge), scale_position(&c->y, v->flops), c->right);
}

static void put_points(const Chart *c, const TuneView *v) {
  for (int i = v->n; i-- > 0;) {
    const nereid_candidate *at = v->candidates[i];
    if (!is_roofline_point(at)) continue;
    double x = scale_position(&c->x, intensity(at)), y = scale_position(&c->y, rate(at));
    chart_mark(c, 0, x, y, 3.2);
    tune_point_title(c->out, at);
    text_puts(c->out, "</path>\n");
    if (at == tune_best(v))
      text_printf(c->out, "<circle class=\"best\" cx=\"%.1f\" cy=\"%.1f\" r=\"6.5\"/>\n", x, y);
  }
}

static void put_roofline_note(Text *out, const TuneView *v, const nereid_candidate *best) {
  char bytes[TUNE_NUMBER], flops[TUNE_NUMBER];
  double b = 1e6 * best->bytes / best->median_us, f = rate(best);
  tune_quantity(bytes, b);
  tune_quantity(flops, f);
  text_printf(out, "<p>The best moves %sB/s", bytes);
  if (v->bandwidth > 0) text_printf(out, " (%.0f%% of the device's)", 100 * b / v->bandwidth);
  text_printf(out, " and computes %sFLOP/s", flops);
  if (v->flops > 0) text_printf(out, " (%.0f%%)", 100 * f / v->flops);
  text_puts(out, ", as the cost model counts them.</p>\n");
}

static void put_picture(Text *out, const TuneView *v) {
  Roofline r = {.view = v};
  Chart *c = &r.chart;
  *c = (Chart){
      .out = out, .width = 480, .height = 360, .left = 54, .top = 30, .right = 464, .bottom = 310};
  cover_points(&r);
  if (!r.points) return;
  c->x = scale_around(SCALE_LOG, r.x_lo, r.x_hi);
  c->y = scale_around(SCALE_LOG, r.y_lo, r.y_hi);
  chart_begin(c, "operations a second over operations a byte", "");
  chart_axes(c, "operations a byte", "FLOP/s");
  put_roof(c, v);
  put_points(c, v);
  chart_end(c);
}

void tune_roofline(Text *out, const TuneView *v) {
  const nereid_candidate *best = tune_best(v);
  if (!best || !tune_is_measured(best) || best->bytes <= 0) return;
  text_puts(out, "<section><h2>Roofline</h2>\n");
  put_roofline_note(out, v, best);
  if (v->bandwidth > 0 && v->flops > 0) put_picture(out, v);
  text_puts(out, "</section>\n");
}
