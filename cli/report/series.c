#include "cli/report/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/terminal/args.h"
#include "cli/terminal/markup.h"
#include "import/text/json.h"
#include "runtime/support/files.h"

enum { POINTS_MOST = 10000 };

/* ---- reading ---- */

typedef struct {
  Arena *arena;
  const char *path;
  Series *out;
} Reading;

static int wrong_form(const Reading *r, const char *key, const char *form) {
  args_error(E_CLI_SERIES, r->path, key, form);
  return STATUS_PROBLEM;
}

static int read_json_string(const Reading *r, const char **out, const Json *doc, const char *key) {
  const Json *v = json_get(doc, key);
  if (!json_is(v, JSON_STRING)) return wrong_form(r, key, "a string");
  *out = v->string;
  return STATUS_OK;
}

/* -0 becomes 0: written without a point, as series_json does, it is an integer. */
static bool number_of_json(double *out, const Json *v) {
  if (json_is(v, JSON_INTEGER)) *out = (double)v->integer;
  else if (json_is(v, JSON_REAL)) *out = v->real;
  else return false;
  if (*out == 0) *out = 0;
  return fabs(*out) <= 1e18;
}

static bool read_point(SeriesPoint *p, const Json *v) {
  return json_length(v) == 4 && number_of_json(&p->x, json_item(v, 0)) &&
         number_of_json(&p->median, json_item(v, 1)) && number_of_json(&p->low, json_item(v, 2)) &&
         number_of_json(&p->high, json_item(v, 3)) && p->low >= 1e-9 && p->low <= p->median &&
         p->median <= p->high;
}

static int read_points(const Reading *r, const Json *points) {
  size_t n = json_length(points);
  if (!json_is(points, JSON_ARRAY) || n == 0 || n > POINTS_MOST)
    return wrong_form(r, "points", "an array of 1 to 10000 points");
  for (size_t i = 0; i < n; i++) {
    SeriesPoint p;
    const char *point = arena_printf(r->arena, "points[%zu]", i);
    if (!read_point(&p, json_item(points, i)))
      return wrong_form(r, point,
                        "[x, median, low, high], from 1e-9 to 1e18 with low <= median <= high");
    if (i && p.x <= vec_last(&r->out->points).x)
      return wrong_form(r, point, "at a larger x than the point before it");
    vec_push(r->arena, &r->out->points, p);
  }
  return STATUS_OK;
}

int series_read(Arena *a, Series *out, const char *path) {
  Reading r = {a, path, out};
  const char *text;
  size_t size;
  JsonError error;
  *out = (Series){0};
  int code = files_read(a, path, &text, &size);
  if (code) return args_failed(code);
  const Json *doc = json_read(a, text, size, &error);
  if (!doc) {
    args_error(E_CLI_SERIES_JSON, path, error.line, error.column, error.what);
    return STATUS_PROBLEM;
  }
  int status = json_is(doc, JSON_OBJECT) ? STATUS_OK : wrong_form(&r, "the file", "an object");
  if (!status) status = read_json_string(&r, &out->label, doc, "label");
  if (!status) status = read_json_string(&r, &out->x_name, doc, "x_name");
  if (!status) status = read_json_string(&r, &out->unit, doc, "unit");
  return status ? status : read_points(&r, json_get(doc, "points"));
}

/* ---- writing ---- */

static void put_member(Text *out, const char *key, const char *value) {
  text_printf(out, "\"%s\": ", key);
  text_json(out, value);
  text_puts(out, ", ");
}

void series_json(Text *out, const Series *s) {
  text_puts(out, "{");
  put_member(out, "label", s->label);
  put_member(out, "x_name", s->x_name);
  put_member(out, "unit", s->unit);
  text_puts(out, "\"points\": [");
  for (size_t i = 0; i < s->points.len; i++) {
    const SeriesPoint *p = &s->points.data[i];
    const double numbers[] = {p->x, p->median, p->low, p->high};
    text_puts(out, i ? ",\n" : "\n");
    for (int j = 0; j < 4; j++) {
      text_puts(out, j ? ", " : " [");
      markup_json_number(out, numbers[j]);
    }
    text_puts(out, "]");
  }
  text_puts(out, "]}\n");
}

/* ---- together ---- */

/* The point at x, NULL if there is none. */
static const SeriesPoint *series_at(const Series *s, double x) {
  for (size_t i = 0; i < s->points.len; i++)
    if (s->points.data[i].x == x) return &s->points.data[i];
  return NULL;
}

static int compare_sizes(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

size_t series_sizes(Arena *a, double **out, const SeriesGroup *g) {
  VEC(double) all = {0};
  for (int i = 0; i < g->n; i++)
    for (size_t j = 0; j < g->data[i].points.len; j++)
      vec_push(a, &all, g->data[i].points.data[j].x);
  if (all.len) qsort(all.data, all.len, sizeof *all.data, compare_sizes);
  size_t n = 0;
  for (size_t i = 0; i < all.len; i++)
    if (!n || all.data[i] != all.data[n - 1]) all.data[n++] = all.data[i];
  *out = all.data;
  return n;
}

/* ---- as a table ---- */

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
