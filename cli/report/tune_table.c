#include "cli/report/tune_view.h"

#include <stdio.h>
#include <string.h>

#include "lang/base/options.h"
#include "runtime/compile/config.h"
#include "runtime/compile/spec.h"

/* A long ranking shows its head; --json and --report have all of it. */
enum { SHOWN = 20 };

static const char *config_cell(Text *text, const nereid_candidate *c) {
  text->len = 0;
  tune_config_text(text, c);
  return c->nsettings ? text->data : "(the only one)";
}

/* Measured, or chosen by the model where nothing is measured. */
static bool is_ranked(const TuneView *v, const nereid_candidate *c) {
  bool chosen_from = !strcmp(v->source, "model") && c->status == NEREID_TUNE_PRUNED;
  return tune_is_measured(c) || (chosen_from && tune_is_predicted(c));
}

static void print_us(double us) {
  if (us > 0) printf("%10.2f ", us);
  else printf("%10s ", "-");
}

static void print_ranking(Text *text, const TuneView *v) {
  int shown = 0;
  puts("   time us     spread  predicted  configuration");
  for (int i = 0; i < v->n; i++) {
    const nereid_candidate *c = v->candidates[i];
    if (!is_ranked(v, c) || shown++ >= SHOWN) continue;
    print_us(c->median_us);
    print_us(c->spread_us);
    print_us(c->predicted_us);
    printf(" %s", config_cell(text, c));
    if (c->status == NEREID_TUNE_OK && *c->reason) printf("  (%s)", c->reason);
    if (c->uncertain && c->median_us <= v->candidates[0]->median_us) printf("  (uncertain)");
    putchar('\n');
  }
  if (shown > SHOWN) printf("  ... and %d slower ones\n", shown - SHOWN);
}

static bool same_end(const nereid_candidate *a, const nereid_candidate *b) {
  return a->status == b->status && !strcmp(a->reason, b->reason);
}

/* Each reason once, with the first configuration that it ended. */
static void print_failures(Text *text, const TuneView *v) {
  for (int i = 0; i < v->n; i++) {
    const nereid_candidate *c = v->candidates[i];
    int count = 0, first = i;
    if (c->status == NEREID_TUNE_OK || is_ranked(v, c)) continue;
    for (int j = 0; j < v->n; j++) {
      if (!same_end(c, v->candidates[j])) continue;
      count++;
      if (j < first) first = j;
    }
    if (first == i)
      printf("%s: %d, as %s%s%s\n", nereid_tune_status_name(c->status), count, config_cell(text, c),
             *c->reason ? ": " : "", c->reason);
  }
}

void tune_use_print(const nereid_setting *settings, int n) {
  if (!n) return;
  printf("take it by:");
  for (int i = 0; i < n; i++) {
    const nereid_setting *s = &settings[i];
    const OptionRow *option = option_tuned(s->name);
    if (option) printf(" %s %s", option->flag, s->value);
    else if (!spec_begins_descriptor(s->value))
      printf(" -D %s=%s", s->name, s->value);
  }
  putchar('\n');
}

void tune_table_print(Text *text, const TuneView *v, double seconds) {
  int ran = 0;
  for (int i = 0; i < v->n; i++) ran += tune_is_measured(v->candidates[i]);
  printf("%s on %s: %d configuration%s, %d ran, in %.1f s (%s)\n", v->kernel, v->device, v->n,
         v->n == 1 ? "" : "s", ran, seconds, v->source);
  print_ranking(text, v);
  print_failures(text, v);
  const nereid_candidate *best = tune_best(v);
  if (best) tune_use_print(best->settings, best->nsettings);
}
