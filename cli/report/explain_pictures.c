/* The pictures of an explanation: rings over iterations, the roofline. */
#include <math.h>

#include "cli/report/chart.h"
#include "cli/report/explain_page.h"

/* ---- rings ---- */

enum { SLOT_HEIGHT = 26, TURN_WIDTH = 64, LEFT = 60 };

static void put_bar(Text *out, const char *style, double from, double to, int slot, int turn) {
  double x = LEFT + from * TURN_WIDTH, y = 24 + slot * SLOT_HEIGHT;
  text_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>", style,
              x + 1, y, (to - from) * TURN_WIDTH - 2, SLOT_HEIGHT - 4);
  text_printf(out, "<text class=\"in\" x=\"%.1f\" y=\"%.1f\">%d</text>\n", x + 6, y + 16, turn);
}

/* Slots over iterations: a slot belongs to an iteration from its copy on until it is read. */
static void put_ring(Text *out, const RingReport *r) {
  int ahead = r->slots - 1, turns = 2 * r->slots + 2, columns = turns + ahead;
  text_printf(out, "<h3>line %u: %d slots, filled by %s</h3>\n<div class=\"wide\">", r->line,
              r->slots, r->form);
  text_printf(out, "<svg class=\"ring\" role=\"img\" aria-label=\"slots of a ring\" "
              "width=\"%d\" height=\"%d\">\n", LEFT + (columns + 1) * TURN_WIDTH,
              40 + r->slots * SLOT_HEIGHT);
  for (int i = 0; i < columns; i++)
    text_printf(out, i < ahead ? "<text x=\"%d\" y=\"14\">before</text>\n"
                               : "<text x=\"%d\" y=\"14\">%d</text>\n",
                LEFT + i * TURN_WIDTH + 4, i - ahead);
  for (int s = 0; s < r->slots; s++)
    text_printf(out, "<text x=\"4\" y=\"%d\">slot %d</text>\n", 40 + s * SLOT_HEIGHT, s);
  for (int i = 0; i < turns; i++) {
    double late = r->in_flight ? 0.6 : 0.15;
    put_bar(out, "copy", i + (i < ahead ? 0 : late), i + ahead, i % r->slots, i);
    put_bar(out, "read", i + ahead, i + ahead + (r->in_flight ? 1 + late : 1), i % r->slots, i);
  }
  text_puts(out, "</svg></div>\n");
}

void explain_rings(Text *out, const Explanation *x) {
  if (!x->rings.len) return;
  text_puts(out, "<section><h2>Rings</h2>\n<p>An iteration's operands are copied to its slot "
                    "<span class=\"key copy\">ahead</span>, and <span class=\"key read\">read"
                    "</span> by its product; numbers are iterations.</p>\n");
  for (size_t i = 0; i < x->rings.len; i++) put_ring(out, &x->rings.data[i]);
  text_puts(out, "</section>\n");
}

/* ---- roofline ---- */

void explain_roofline(Text *out, const Explanation *x) {
  const Estimate *e = &x->estimate;
  bool matrices = e->tensor_flops > 0;
  double flops = matrices ? e->tensor_flops : e->f32_flops;
  double floor = e->bound_us[matrices ? BOUND_TENSOR : BOUND_ISSUE];
  double memory = e->bound_us[BOUND_MEMORY];
  if (!x->launch || !(flops > 0 && floor > 0 && memory > 0 && e->us > 0)) return;
  double peak = 1e6 * flops / floor, bandwidth = 1e6 * e->memory_bytes / memory;
  double at = flops / e->memory_bytes, y = 1e6 * flops / e->us, ridge = peak / bandwidth;
  Chart c = {.out = out, .width = 480, .height = 360, .left = 54, .top = 30, .right = 464,
             .bottom = 310};
  c.x = scale_around(SCALE_LOG, fmin(at, ridge) / 4, fmax(at, ridge) * 4);
  c.y = scale_around(SCALE_LOG, fmin(y, peak) / 10, peak);
  text_printf(out, "<section><h2>Roofline</h2>\n<p>%.3g us, bound by %s; floors: %.3g us of "
              "memory, %.3g us of %s.</p>\n", e->us, estimate_bound_name(e->bound), memory, floor,
              matrices ? "matrix units" : "instructions");
  chart_begin(&c, "operations a second over operations a byte", "");
  chart_axes(&c, "operations a byte of memory", "FLOP/s");
  double from = fmax(c.x.lo, c.y.lo / bandwidth);
  text_printf(out, "<path class=\"s1 line\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n",
              scale_position(&c.x, from), scale_position(&c.y, fmin(peak, bandwidth * from)),
              scale_position(&c.x, ridge), scale_position(&c.y, peak), c.right);
  chart_mark(&c, 0, scale_position(&c.x, at), scale_position(&c.y, y), 4);
  text_puts(out, "<title>the estimate</title></path>\n");
  chart_end(&c);
  text_puts(out, "</section>\n");
}
