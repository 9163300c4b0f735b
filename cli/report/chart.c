#include "cli/report/chart.h"

#include "cli/terminal/markup.h"

/* Series are told apart by shade as well as by hue; those of dark pages are lighter. */
#define LIGHT(n, colour) ".s" #n "{stroke:" colour ";fill:" colour "}"
const char chart_style[] =
    ".chart text{font:12px system-ui,sans-serif;fill:#24292f;stroke:none}"
    ".chart .title{font-size:14px;font-weight:600}"
    ".chart .muted{fill:#5b6570}"
    ".chart .grid{stroke:#dfe3e8;fill:none}"
    ".chart .axis{stroke:#8a939d;fill:none}"
    ".chart .back{fill:#ffffff;stroke:none}"
    ".chart .line{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".chart .band{stroke:none;fill-opacity:.16}"
    ".chart .best{fill:none;stroke:#24292f;stroke-width:1.6}"
    LIGHT(0, "#1f6fb4") LIGHT(1, "#d1630a") LIGHT(2, "#2a8a4a") LIGHT(3, "#a03fae")
    LIGHT(4, "#8a6d1b") LIGHT(5, "#c03a52") LIGHT(6, "#14868c") LIGHT(7, "#68707a")
    "@media screen and (prefers-color-scheme:dark){"
    ".chart text{fill:#e6e9ec}.chart .muted{fill:#a5aeb8}.chart .grid{stroke:#343b43}"
    ".chart .axis{stroke:#7b858f}.chart .back{fill:#16191d}.chart .best{stroke:#e6e9ec}"
    LIGHT(0, "#63abeb") LIGHT(1, "#f29b4b") LIGHT(2, "#5bc47f") LIGHT(3, "#d98be3")
    LIGHT(4, "#d2b456") LIGHT(5, "#f07c90") LIGHT(6, "#55c5cb") LIGHT(7, "#aab3bd")
    "}";

double chart_text_width(int characters) { return 6.7 * characters; }

void chart_begin(Chart *c, const char *label, const char *attributes) {
  text_printf(c->out, "<svg class=\"chart\" viewBox=\"0 0 %g %g\" role=\"img\"%s aria-label=\"",
              c->width, c->height, attributes);
  markup_text(c->out, label);
  text_puts(c->out, "\">\n");
}

void chart_end(const Chart *c) { text_puts(c->out, "</svg>\n"); }

/* ---- axes ---- */

static void x_axis(const Chart *c, const char *title) {
  /* Draw as many ticks as fit: a label is five characters, rarely more. */
  int most = (int)((c->right - c->left) / 52);
  Tick ticks[TICKS_MOST];
  int n = scale_ticks(ticks, &c->x, most);
  for (int i = 0; i < n; i++) {
    double x = scale_position(&c->x, ticks[i].value);
    text_printf(c->out, "<path class=\"grid\" d=\"M%.1f %gV%g\"/>", x, c->top, c->bottom);
    text_printf(c->out, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", x,
                c->bottom + 17, ticks[i].label);
  }
  text_printf(c->out, "<text class=\"muted\" x=\"%g\" y=\"%g\" text-anchor=\"middle\">",
              (c->left + c->right) / 2, c->bottom + 36);
  markup_short(c->out, title, (int)((c->right - c->left) / chart_text_width(1)));
  text_puts(c->out, "</text>\n");
}

static void y_axis(const Chart *c, const char *title) {
  Tick ticks[TICKS_MOST];
  int n = scale_ticks(ticks, &c->y, 10);
  for (int i = 0; i < n; i++) {
    double y = scale_position(&c->y, ticks[i].value);
    text_printf(c->out, "<path class=\"grid\" d=\"M%g %.1fH%g\"/>", c->left, y, c->right);
    text_printf(c->out, "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", c->left - 7,
                y + 4, ticks[i].label);
  }
  /* Above the axis, where it can be read without turning the head. */
  text_printf(c->out, "<text class=\"muted\" x=\"%g\" y=\"%g\">", c->left - 42, c->top - 10);
  markup_short(c->out, title, (int)((c->right - c->left) / chart_text_width(1)));
  text_puts(c->out, "</text>\n");
}

void chart_axes(Chart *c, const char *x_title, const char *y_title) {
  c->x.from = c->left, c->x.to = c->right;
  c->y.from = c->bottom, c->y.to = c->top;
  x_axis(c, x_title);
  y_axis(c, y_title);
  text_printf(c->out, "<path class=\"axis\" d=\"M%g %gV%gH%g\"/>\n", c->left, c->top, c->bottom,
              c->right);
}

/* ---- marks ---- */

void chart_mark(const Chart *c, int series, double x, double y, double r) {
  int class = series % CHART_SERIES;
  text_printf(c->out, "<path class=\"s%d\" d=\"M%.1f %.1f", class, x, y);
  switch (series % 4) {
    case 0: /* a circle */
      text_printf(c->out, "m%g 0a%g %g 0 1 0 %g 0a%g %g 0 1 0 %g 0z", -r, r, r, 2 * r, r, r,
                  -2 * r);
      break;
    case 1: /* a square */
      text_printf(c->out, "m%g %gh%gv%gh%gz", -r, -r, 2 * r, 2 * r, -2 * r);
      break;
    case 2: /* a triangle */
      text_printf(c->out, "m0 %gl%g %gh%gz", -1.3 * r, 1.2 * r, 2.1 * r, -2.4 * r);
      break;
    default: /* a diamond */
      text_printf(c->out, "m0 %gl%g %gl%g %gl%g %gz", -1.35 * r, 1.35 * r, 1.35 * r, -1.35 * r,
                  1.35 * r, -1.35 * r, -1.35 * r);
  }
  text_puts(c->out, "\">");
}

double chart_clamp(const Scale *s, double v) {
  return scale_position(s, v < s->lo ? s->lo : v > s->hi ? s->hi : v);
}
