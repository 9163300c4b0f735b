/* Heat maps: the best time for each pair of values of two parameters, whatever the others are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/tune_parts.h"
#include "cli/terminal/markup.h"

/* A parameter that was searched, with its values: numbers by size, others as they were named. */
typedef struct {
  const char *name;
  const char **values;
  int n;
} Axis;

typedef struct {
  Axis *data;
  int n;
} Axes;

/* ---- axes ---- */

static bool parse_axis_number(const char *text, double *out) {
  char *end;
  *out = strtod(text, &end);
  return end > text && !*end;
}

/* Numbers before words, which keep their order. */
static bool is_before(const char *a, const char *b) {
  double x, y;
  bool a_number = parse_axis_number(a, &x), b_number = parse_axis_number(b, &y);
  return a_number && (!b_number || x < y);
}

static int find_value(const Axis *axis, const char *value) {
  for (int i = 0; value && i < axis->n; i++)
    if (!strcmp(axis->values[i], value)) return i;
  return -1;
}

static void add_axis_value(Axis *axis, const char *value) {
  int at = axis->n++;
  for (; at > 0 && is_before(value, axis->values[at - 1]); at--)
    axis->values[at] = axis->values[at - 1];
  axis->values[at] = value;
}

static Axis heat_axis(Arena *a, const TuneView *v, const char *name) {
  Axis axis = {.name = name, .values = ARENA_ARRAY(a, const char *, (size_t)v->n)};
  for (int i = 0; i < v->n; i++) {
    const char *value = tune_value(v->candidates[i], name);
    if (value && find_value(&axis, value) < 0) add_axis_value(&axis, value);
  }
  return axis;
}

static Axes heat_axes(Arena *a, const TuneView *v) {
  TuneNames names = tune_names(a, v);
  Axes axes = {.data = ARENA_ARRAY(a, Axis, (size_t)names.n)};
  for (int i = 0; i < names.n; i++) {
    Axis axis = heat_axis(a, v, names.data[i]);
    if (axis.n > 1) axes.data[axes.n++] = axis;
  }
  return axes;
}

/* ---- cells ---- */

/* A pair of values: its best candidate, which is the first in the ranking. */
typedef struct {
  const nereid_candidate *best;
  int failed; /* candidates that cannot be used */
} Cell;

static bool has_failed(const nereid_candidate *c) {
  return c->status != NEREID_TUNE_OK && c->status != NEREID_TUNE_PRUNED;
}

/* Rows of `down`, columns of `across`; `down` may be NULL: one row. */
static Cell *read_cells(Arena *a, const TuneView *v, const Axis *down, const Axis *across) {
  Cell *cells = ARENA_ARRAY(a, Cell, (size_t)(down ? down->n : 1) * (size_t)across->n);
  for (int i = 0; i < v->n; i++) {
    const nereid_candidate *c = v->candidates[i];
    int row = down ? find_value(down, tune_value(c, down->name)) : 0;
    int column = find_value(across, tune_value(c, across->name));
    if (row < 0 || column < 0) continue;
    Cell *cell = &cells[row * across->n + column];
    if (!cell->best) cell->best = c;
    cell->failed += has_failed(c);
  }
  return cells;
}

/* Classes of colours by how many times the best time it is. */
static const double shades[] = {1.02, 1.05, 1.1, 1.25, 1.5, 2, 4};
enum { SHADES = sizeof shades / sizeof *shades };

static int shade_of(double ratio) {
  int i = 0;
  while (i < SHADES && ratio > shades[i]) i++;
  return i;
}

static void put_cell_title(Text *out, const nereid_candidate *c) {
  Text config = text_new(out->arena);
  tune_config_text(&config, c);
  text_puts(out, " title=\"");
  markup_text(out, config.data);
  if (*c->reason) text_puts(out, ": ");
  markup_text(out, c->reason);
  text_puts(out, "\"");
}

static void put_cell(Text *out, const Cell *cell, double best_us) {
  const nereid_candidate *c = cell->best;
  char us[TUNE_NUMBER];
  if (!c) {
    text_puts(out, "<td class=\"none\"></td>");
  } else if (tune_is_measured(c)) {
    tune_us(us, c->median_us);
    text_printf(out, "<td class=\"h%d\"", shade_of(c->median_us / best_us));
    put_cell_title(out, c);
    text_printf(out, ">%s</td>", us);
  } else {
    text_printf(out, "<td class=\"%s\"", cell->failed ? "bad" : "skip");
    put_cell_title(out, c);
    text_printf(out, ">%s</td>", nereid_tune_status_name(c->status));
  }
}

/* ---- maps ---- */

static void put_heat_head(Text *out, const Axis *down, const Axis *across) {
  text_puts(out, "<table class=\"heat\"><caption>");
  if (down) markup_text(out, down->name);
  if (down) text_puts(out, " \xe2\x86\x93 \xc2\xa0 ");
  markup_text(out, across->name);
  text_puts(out, " \xe2\x86\x92</caption>\n<tr><th></th>");
  for (int i = 0; i < across->n; i++) {
    text_puts(out, "<th>");
    markup_text(out, across->values[i]);
    text_puts(out, "</th>");
  }
  text_puts(out, "</tr>\n");
}

static void put_map(Text *out, const TuneView *v, const Axis *down, const Axis *across) {
  Arena *scratch = arena_child(out->arena);
  Cell *cells = read_cells(scratch, v, down, across);
  text_puts(out, "<div class=\"wide\">");
  put_heat_head(out, down, across);
  for (int r = 0; r < (down ? down->n : 1); r++) {
    text_puts(out, "<tr><th>");
    if (down) markup_text(out, down->values[r]);
    text_puts(out, "</th>");
    for (int i = 0; i < across->n; i++)
      put_cell(out, &cells[r * across->n + i], v->candidates[0]->median_us);
    text_puts(out, "</tr>\n");
  }
  text_puts(out, "</table></div>\n");
  arena_free(scratch);
}

static void put_heat_legend(Text *out) {
  text_puts(out,
            "<p class=\"key\">times in us, the best over all other parameters; shades by the "
            "multiple of the best:");
  for (int i = 0; i < SHADES; i++)
    text_printf(out, " <span class=\"h%d\">\xe2\x89\xa4 %g</span>", i, shades[i]);
  text_printf(out, " <span class=\"h%d\">more</span> <span class=\"bad\">none ran</span></p>\n",
              SHADES);
}

void tune_heat_maps(Text *out, const TuneView *v) {
  Arena *scratch = arena_child(out->arena);
  Axes axes = heat_axes(scratch, v);
  if (axes.n && tune_best(v) && tune_is_measured(tune_best(v))) {
    text_puts(out, "<section><h2>Pairs of parameters</h2>\n");
    put_heat_legend(out);
    text_puts(out, "<div class=\"maps\">\n");
    if (axes.n == 1) put_map(out, v, NULL, &axes.data[0]);
    for (int i = 0; i < axes.n; i++)
      for (int j = i + 1; j < axes.n; j++) put_map(out, v, &axes.data[i], &axes.data[j]);
    text_puts(out, "</div></section>\n");
  }
  arena_free(scratch);
}
