/* The table of all candidates. */
#include <stdio.h>
#include <string.h>

#include "cli/report/tune_parts.h"
#include "cli/terminal/markup.h"

void tune_us(char out[TUNE_NUMBER], double us) {
  int digits = us < 9.995 ? 2 : us < 99.95 ? 1 : 0;
  snprintf(out, TUNE_NUMBER, "%.*f", digits, us);
}

void tune_quantity(char out[TUNE_NUMBER], double v) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t i = 0;
  for (; v >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++) v /= 1000;
  int digits = i == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
  snprintf(out, TUNE_NUMBER, "%.*f %s", digits, v, prefixes[i]);
}

void tune_point_title(Text *out, const nereid_candidate *c) {
  char us[TUNE_NUMBER];
  Text config = text_new(out->arena);
  tune_config_text(&config, c);
  text_puts(out, "<title>");
  markup_text(out, config.data);
  if (tune_is_measured(c)) {
    tune_us(us, c->median_us);
    text_printf(out, "\nmeasured %s us", us);
  }
  if (tune_is_predicted(c)) {
    tune_us(us, c->predicted_us);
    text_printf(out, "\npredicted %s us", us);
  }
  text_puts(out, "</title>");
}

TuneNames tune_names(Arena *a, const TuneView *v) {
  TuneNames names = {0};
  size_t most = 0;
  for (int i = 0; i < v->n; i++) most += (size_t)v->candidates[i]->nsettings;
  names.data = ARENA_ARRAY(a, const char *, most);
  for (int i = 0; i < v->n; i++) {
    const nereid_candidate *c = v->candidates[i];
    for (int j = 0; j < c->nsettings; j++) {
      int k = 0;
      while (k < names.n && strcmp(names.data[k], c->settings[j].name)) k++;
      if (k == names.n) names.data[names.n++] = c->settings[j].name;
    }
  }
  return names;
}

/* ---- cells ---- */

static void number_cell(Text *out, bool known, double us) {
  char text[TUNE_NUMBER] = "";
  if (known) tune_us(text, us);
  text_printf(out, "<td class=\"n\">%s</td>", text);
}

static void ratio_cell(Text *out, const nereid_candidate *c, const nereid_candidate *best) {
  text_puts(out, "<td class=\"n\">");
  if (best && tune_is_measured(best) && tune_is_measured(c))
    text_printf(out, "%.2f", c->median_us / best->median_us);
  text_puts(out, "</td>");
}

static void bar_cell(Text *out, const nereid_candidate *c) {
  char low[TUNE_NUMBER], high[TUNE_NUMBER];
  text_puts(out, "<td class=\"bar\">");
  if (tune_is_predicted(c) && c->predicted_high_us > 0) {
    tune_us(low, c->predicted_low_us);
    tune_us(high, c->predicted_high_us);
    text_printf(out, "%s\xe2\x80\x93%s", low, high);
  }
  text_puts(out, "</td>");
}

/* Columns that some candidate has something to say in. */
typedef struct {
  TuneNames names;
  bool measured, predicted, reasons;
} Columns;

static Columns read_columns(Arena *a, const TuneView *v) {
  Columns k = {.names = tune_names(a, v)};
  for (int i = 0; i < v->n; i++) {
    k.measured |= v->candidates[i]->median_us > 0;
    k.predicted |= tune_is_predicted(v->candidates[i]);
    k.reasons |= *v->candidates[i]->reason != 0;
  }
  return k;
}

/* The most important columns come first: a phone cuts off the rest. */
static void put_candidate_row(Text *out, const TuneView *v, const Columns *k, int i) {
  const nereid_candidate *c = v->candidates[i], *best = tune_best(v);
  const char *status = nereid_tune_status_name(c->status);
  text_printf(out, "<tr%s><td class=\"n\">%d</td>", c == best ? " class=\"win\"" : "", i + 1);
  if (k->measured) number_cell(out, c->median_us > 0, c->median_us);
  if (k->measured) ratio_cell(out, c, best);
  for (int j = 0; j < k->names.n; j++) {
    const char *value = tune_value(c, k->names.data[j]);
    text_puts(out, "<td class=\"n\">");
    markup_text(out, value ? value : "");
    text_puts(out, "</td>");
  }
  text_printf(out, "<td><span class=\"st %s\">%s</span></td>", status, status);
  if (k->measured) number_cell(out, tune_has_spread(c), c->spread_us);
  if (k->predicted) number_cell(out, tune_is_predicted(c), c->predicted_us);
  if (k->predicted) bar_cell(out, c);
  if (k->reasons) {
    text_puts(out, "<td class=\"why\">");
    markup_text(out, c->reason);
    text_puts(out, "</td>");
  }
  text_puts(out, "</tr>\n");
}

static void put_table(Text *out, const TuneView *v, const Columns *k, int from, int to) {
  text_puts(out,
            "<div class=\"wide\"><table class=\"rank\"><thead><tr><th>#</th>"
            "<th>median us</th><th>\xc3\x97 best</th>");
  for (int j = 0; j < k->names.n; j++) {
    text_puts(out, "<th>");
    markup_text(out, k->names.data[j]);
    text_puts(out, "</th>");
  }
  text_puts(out, "<th class=\"l\">status</th>");
  if (k->measured) text_puts(out, "<th>spread us</th>");
  if (k->predicted) text_puts(out, "<th>predicted us</th><th class=\"l\">bar</th>");
  if (k->reasons) text_puts(out, "<th class=\"l\">reason</th>");
  text_puts(out, "</tr></thead><tbody>\n");
  for (int i = from; i < to; i++) put_candidate_row(out, v, k, i);
  text_puts(out, "</tbody></table></div>\n");
}

void tune_ranking(Text *out, const TuneView *v) {
  enum { FIRST = 40 };
  Columns columns = read_columns(out->arena, v);
  int first = v->n <= FIRST ? v->n : FIRST;
  text_puts(out, "<section><h2>Ranking</h2>\n");
  put_table(out, v, &columns, 0, first);
  if (first < v->n) {
    text_printf(out, "<details><summary>the other %d</summary>\n", v->n - first);
    put_table(out, v, &columns, first, v->n);
    text_puts(out, "</details>\n");
  }
  text_puts(out, "</section>\n");
}
