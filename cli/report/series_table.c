/* Series as a table. */
#include <stdio.h>
#include <string.h>

#include "cli/report/series.h"
#include "cli/terminal/markup.h"

enum { CELL = 24 };

/* Five digits, as many as timings are good for and more; sizes as they are. */
static void format_cell(char cell[CELL], double v, int digits) {
  snprintf(cell, CELL, "%.*g", digits, v);
}

/* Labels come from files: what would move the cursor is shown as ?. */
static void put_label(Text *out, const char *label, int width) {
  int blanks = width - markup_length(label);
  text_printf(out, "  %*s", blanks > 0 ? blanks : 0, "");
  for (const char *c = label; *c; c++) {
    bool control = (unsigned char)*c < ' ' || *c == 0x7f;
    text_putn(out, control ? "?" : c, 1);
  }
}

static int label_width(const char *label) {
  enum { LEAST = 10 };
  int n = markup_length(label);
  return n > LEAST ? n : LEAST;
}

static void put_series_head(Text *out, const SeriesGroup *g, int x_width) {
  const Series *first = &g->data[0];
  put_label(out, first->x_name, x_width);
  for (int i = 0; i < g->n; i++) {
    put_label(out, g->data[i].label, label_width(g->data[i].label));
    if (i == 0) text_printf(out, "  %10s  %10s", "low", "high");
  }
  text_printf(out, "  (%s)\n", first->unit);
}

static void put_series_row(Text *out, const SeriesGroup *g, double x, int x_width) {
  char cell[CELL];
  format_cell(cell, x, 15);
  text_printf(out, "  %*s", x_width, cell);
  for (int i = 0; i < g->n; i++) {
    const SeriesPoint *p = series_at(&g->data[i], x);
    format_cell(cell, p ? p->median : 0, 5);
    text_printf(out, "  %*s", label_width(g->data[i].label), p ? cell : "-");
    if (i) continue;
    format_cell(cell, p ? p->low : 0, 5);
    text_printf(out, "  %10s", p ? cell : "-");
    format_cell(cell, p ? p->high : 0, 5);
    text_printf(out, "  %10s", p ? cell : "-");
  }
  text_puts(out, "\n");
}

void series_table(Text *out, const SeriesGroup *g) {
  double *sizes;
  size_t n = series_sizes(out->arena, &sizes, g);
  int x_width = markup_length(g->data[0].x_name);
  for (size_t i = 0; i < n; i++) {
    char cell[CELL];
    format_cell(cell, sizes[i], 15);
    if ((int)strlen(cell) > x_width) x_width = (int)strlen(cell);
  }
  put_series_head(out, g, x_width);
  for (size_t i = 0; i < n; i++) put_series_row(out, g, sizes[i], x_width);
}
