#include "cli/report/tune_view.h"

#include <string.h>

#include "cli/terminal/markup.h"
#include "cli/terminal/output.h"

/* Digits as JSON has them: no sign but a minus, nothing before a leading 0, at most 18, which fit
 * 64 bits whoever reads them. */
static bool is_integer_text(const char *s) {
  if (*s == '-') s++;
  size_t n = strspn(s, "0123456789");
  return n > 0 && n <= 18 && !s[n] && (s[0] != '0' || n == 1);
}

static void put_json_value(Text *out, const char *value) {
  if (is_integer_text(value)) text_puts(out, value);
  else if (!strcmp(value, "True")) text_puts(out, "true");
  else if (!strcmp(value, "False")) text_puts(out, "false");
  else if (!strcmp(value, "None")) text_puts(out, "null");
  else text_json(out, value);
}

static void put_config(Text *out, const nereid_candidate *c) {
  text_puts(out, "{");
  for (int i = 0; i < c->nsettings; i++) {
    text_puts(out, i ? ", " : "");
    text_json(out, c->settings[i].name);
    text_puts(out, ": ");
    put_json_value(out, c->settings[i].value);
  }
  text_puts(out, "}");
}

static void put_us(Text *out, const char *key, bool known, double us) {
  text_printf(out, ", \"%s\": ", key);
  if (known) markup_json_number(out, us);
  else text_puts(out, "null");
}

static void put_candidate(Text *out, const nereid_candidate *c) {
  text_puts(out, "{\"config\": ");
  put_config(out, c);
  text_printf(out, ", \"status\": \"%s\", \"reason\": ", nereid_tune_status_name(c->status));
  text_json(out, c->reason);
  put_us(out, "predicted_us", tune_is_predicted(c), c->predicted_us);
  put_us(out, "median_us", c->median_us > 0, c->median_us);
  put_us(out, "spread_us", tune_has_spread(c), c->spread_us);
  text_printf(out, ", \"runs\": %d, \"uncertain\": %s}", c->runs, c->uncertain ? "true" : "false");
}

void tune_json(Text *out, const TuneView *v) {
  const nereid_candidate *best = tune_best(v);
  text_puts(out, "{\"kernel\": ");
  text_json(out, v->kernel);
  text_puts(out, ", \"device\": ");
  text_json(out, v->device);
  text_puts(out, ", \"source\": ");
  text_json(out, v->source);
  text_puts(out, ",\n \"best\": ");
  if (best) put_config(out, best);
  else text_puts(out, "null");
  text_puts(out, ",\n \"candidates\": [");
  for (int i = 0; i < v->n; i++) {
    text_puts(out, i ? ",\n  " : "\n  ");
    put_candidate(out, v->candidates[i]);
  }
  text_puts(out, "]}\n");
}

static void print_tune_json(Text *out, const void *v) { tune_json(out, v); }

int tune_json_write(const char *path, const TuneView *v) {
  return output_print(path, print_tune_json, v);
}
