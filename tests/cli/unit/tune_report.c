/* Pictures of tunings whose times are made up.
 *
 *   tune_report                what texts, scales and marks are made of
 *   tune_report html|json CASE  one of the cases below, for tests/cli/tune_report.py */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/scale.h"
#include "cli/report/tune_view.h"
#include "cli/terminal/markup.h"
#include "tests/support/tally.h"

/* ---- cases ---- */

enum { MOST = 256, SETTINGS = 5 };

typedef struct {
  Arena *arena;
  nereid_candidate data[MOST];
  const nereid_candidate *order[MOST];
  int n;
} Made;

static const nereid_setting *settings(Arena *a, const char *const pairs[], int n) {
  nereid_setting *s = ARENA_ARRAY(a, nereid_setting, (size_t)n);
  for (int i = 0; i < n; i++) s[i] = (nereid_setting){pairs[2 * i], pairs[2 * i + 1]};
  return s;
}

/* A product: its time is short for square tiles of middle size, deep rings need much memory. */
static nereid_candidate product(Arena *a, int m, int n, int warps, int stages) {
  const char *pairs[] = {
      "BLOCK_M",    arena_printf(a, "%d", m),     "BLOCK_N",   arena_printf(a, "%d", n),
      "EVEN",       m == n ? "True" : "False",    "num_warps", arena_printf(a, "%d", warps),
      "num_stages", arena_printf(a, "%d", stages)};
  nereid_candidate c = {.settings = settings(a, pairs, SETTINGS), .nsettings = SETTINGS};
  double waste = 64.0 * 64 / (m * n) + (m > n ? m - n : n - m) / 100.0 + warps / 16.0;
  c.predicted_us = 120 * (1 + waste) / stages + 40;
  c.predicted_low_us = 0.75 * c.predicted_us;
  c.predicted_high_us = 1.4 * c.predicted_us;
  c.reason = "";
  if (m * stages > 512) {
    c.status = NEREID_TUNE_RESOURCES;
    c.reason = arena_printf(a, "wants %d bytes of shared memory, the device has 232448",
                            m * n * stages * 8);
  } else if (m == 32 && n == 256) {
    c.status = NEREID_TUNE_PRUNED;
    c.reason = "cannot win";
  } else {
    c.median_us = c.predicted_us * (1 + ((m / 32 + 3 * n / 32 + warps) % 7 - 2) / 11.0);
    c.runs = stages == 3 && warps == 8 ? 1 : 25;
    c.spread_us = c.runs > 1 ? c.median_us / 64 : 0;
  }
  return c;
}

static double sort_key(const nereid_candidate *c) {
  return c->status == NEREID_TUNE_OK ? c->median_us : 1e9 + c->status;
}

static int compare(const void *a, const void *b) {
  const nereid_candidate *x = *(nereid_candidate *const *)a, *y = *(nereid_candidate *const *)b;
  double p = sort_key(x), q = sort_key(y);
  return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

static void finish(Made *made, TuneView *v) {
  for (int i = 0; i < made->n; i++) made->order[i] = &made->data[i];
  qsort(made->order, (size_t)made->n, sizeof *made->order, compare);
  v->candidates = made->order;
  v->n = made->n;
}

static void matmul(Made *made, TuneView *v) {
  static const nereid_setting args[] = {{"a_ptr", "randn:f16[4096,4096]"}, {"M", "4096"}};
  for (int m = 32; m <= 256; m *= 2)
    for (int n = 32; n <= 256; n *= 2)
      for (int warps = 4; warps <= 8; warps *= 2)
        for (int stages = 2; stages <= 4; stages++)
          made->data[made->n++] = product(made->arena, m, n, warps, stages);
  *v = (TuneView){.kernel = "matmul_kernel",
                  .device = "NVIDIA H200",
                  .source = "measured",
                  .args = args,
                  .nargs = 2,
                  .bandwidth = 4.8e12,
                  .flops = 9.9e14};
  for (int i = 0; i < made->n; i++)
    made->data[i].bytes = 3e7 + 1e6 * (i % 4), made->data[i].flops = 2e10;
  finish(made, v);
}

static void add(Made *made, nereid_tune_status status, const char *name, const char *value,
                const char *reason, double us) {
  const char *pairs[] = {name, value};
  made->data[made->n++] = (nereid_candidate){.settings = settings(made->arena, pairs, 1),
                                             .nsettings = 1,
                                             .status = status,
                                             .reason = reason,
                                             .median_us = us,
                                             .spread_us = us / 8,
                                             .runs = us > 0 ? 7 : 0};
}

/* Names and reasons that would end an element, an attribute or a string, and bytes that are no
 * text. */
static void hostile(Made *made, TuneView *v) {
  static const nereid_setting args[] = {{"<b>\"x\"&", "'\\\n\x01\xff\xfe"}};
  add(made, NEREID_TUNE_OK, "A</td><script>", "1\"2'3<4>5&6", "", 10);
  add(made, NEREID_TUNE_OK, "A</td><script>", "\xf0\x9f\x8c\x8a", "", 12.5);
  add(made, NEREID_TUNE_FAULT, "A</td><script>", "-7", "a \"quoted\" \\ reason\n\x1b[31m <i>", 0);
  add(made, NEREID_TUNE_WRONG, "A</td><script>", "007", "\xed\xa0\x80 \xc0\x80 \xf4\x90\x80\x80",
      3);
  add(made, NEREID_TUNE_TIMEOUT, "A</td><script>", "None", "took over 2 s", 0);
  *v = (TuneView){.kernel = "</title><script>alert(1)</script>",
                  .device = "\"&<device>'",
                  .source = "records",
                  .args = args,
                  .nargs = 1};
  finish(made, v);
}

/* Nothing was measured. */
static void model(Made *made, TuneView *v) {
  matmul(made, v);
  for (int i = 0; i < made->n; i++) {
    nereid_candidate *c = &made->data[i];
    c->status = NEREID_TUNE_PRUNED;
    c->reason = "";
    c->median_us = c->spread_us = c->runs = 0;
  }
  made->n = 3;
  v->source = "model";
  finish(made, v);
}

static void nothing(Made *made, TuneView *v) {
  add(made, NEREID_TUNE_COMPILE, "BLOCK", "3", "a tile's size is no power of two: 3", 0);
  add(made, NEREID_TUNE_COMPILE, "BLOCK", "5", "a tile's size is no power of two: 5", 0);
  *v = (TuneView){.kernel = "k", .device = "2 cores", .source = "measured"};
  finish(made, v);
}

static const struct {
  const char *name;
  void (*make)(Made *made, TuneView *v);
} cases[] = {{"matmul", matmul}, {"hostile", hostile}, {"model", model}, {"nothing", nothing}};

static int print_case(const char *form, const char *name) {
  Made made = {.arena = arena_new()};
  TuneView v;
  int status = 2;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].name, name)) continue;
    Text out = text_new(made.arena);
    cases[i].make(&made, &v);
    if (!strcmp(form, "html")) tune_report(&out, &v);
    else tune_json(&out, &v);
    fwrite(out.data, 1, out.len, stdout);
    status = 0;
  }
  arena_free(made.arena);
  return status;
}

/* ---- parts ---- */

static void same(const char *got, const char *want, const char *what) {
  if (!strcmp(got, want)) passed++;
  else failed++, printf("FAIL %s: got %s, expected %s\n", what, got, want);
}

static void test_texts(Arena *a) {
  static const char WAVE[] = "\xf0\x9f\x8c\x8a", NONE[] = "\xef\xbf\xbd";
  Text t = text_new(a);
  markup_text(&t, "a<b>&\"c'");
  same(t.data, "a&lt;b&gt;&amp;&quot;c'", "what ends elements and attributes");
  t = text_new(a);
  markup_text(&t, "\x01\xc3(\xe2\x82");
  same(t.data, arena_printf(a, "%s%s(%s%s", NONE, NONE, NONE, NONE), "bytes that are no text");
  t = text_new(a);
  markup_short(&t, arena_printf(a, "%s%s%s", WAVE, WAVE, WAVE), 2);
  same(t.data, arena_printf(a, "%s\xe2\x80\xa6", WAVE), "a text that is cut");
  t = text_new(a);
  markup_short(&t, WAVE, 1);
  same(t.data, WAVE, "a text that fits");
  t = text_new(a);
  text_json(&t, "\"\\\n\x7f\xff");
  same(t.data, arena_printf(a, "\"\\\"\\\\\\u000a\\u007f%s\"", NONE), "a string of JSON");
}

static void test_numbers(Arena *a) {
  static const struct {
    double value;
    const char *text;
  } numbers[] = {{0.1, "0.1"},      {12345678, "12345678"}, {1.0 / 3, "0.3333333333333333"},
                 {1e300, "1e+300"}, {-0.5, "-0.5"},         {HUGE_VAL, "null"}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    Text t = text_new(a);
    markup_json_number(&t, numbers[i].value);
    same(t.data, numbers[i].text, "a number of JSON");
  }
}

/* The labels of a scale around two values, with blanks between them. */
static const char *labels(Arena *a, ScaleKind kind, double lo, double hi, int most) {
  Scale s = scale_around(kind, lo, hi);
  Tick ticks[TICKS_MOST];
  Text t = text_new(a);
  int n = scale_ticks(ticks, &s, most);
  for (int i = 0; i < n; i++) text_printf(&t, "%s%s", i ? " " : "", ticks[i].label);
  return t.data;
}

static void test_scales(Arena *a) {
  same(labels(a, SCALE_FROM_ZERO, 3, 97, 8), "0 20 40 60 80 100", "ticks from 0");
  same(labels(a, SCALE_FROM_ZERO, 0, 2.9, 8), "0 0.5 1 1.5 2 2.5 3", "ticks by halves");
  same(labels(a, SCALE_FROM_ZERO, 0, 0, 8), "0 0.2 0.4 0.6 0.8 1", "no extent");
  same(labels(a, SCALE_FROM_ZERO, 0, 123456, 8), "0 50k 100k 150k", "thousands");
  same(labels(a, SCALE_LINEAR, 1010, 1090, 8), "1000 1020 1040 1060 1080 1100", "not from 0");
  same(labels(a, SCALE_LINEAR, 100, 100, 8), "40 60 80 100 120 140 160", "one value");
  same(labels(a, SCALE_LINEAR, 1e-320, 2e-320, 8), "-1 -0.5 0 0.5 1", "too near to tell apart");
  same(labels(a, SCALE_LOG, 1e-320, 1e308, 4), "1e-33 1e-16 10 1E", "too far apart");
  same(labels(a, SCALE_LINEAR, -2, 1, 8), "-2 -1.5 -1 -0.5 0 0.5 1", "below 0");
  same(labels(a, SCALE_LOG, 1, 500, 12), "1 2 5 10 20 50 100 200 500", "1, 2, 5");
  same(labels(a, SCALE_LOG, 1e-3, 1e9, 7), "0.001 0.1 10 1000 100k 10M 1G", "every second power");
  same(labels(a, SCALE_LOG, 80, 130, 8), "80 90 100 110 120 130", "less than a decade");
  same(labels(a, SCALE_LOG, 7, 7, 8), "6 6.5 7 7.5 8", "one value");
  same(labels(a, SCALE_BINARY, 256, 4096, 12), "256 512 1024 2048 4096", "powers of two");
  same(labels(a, SCALE_BINARY, 4096, 1 << 28, 6), "4K 32K 256K 2M 16M 128M", "every third power");
}

int main(int argc, char **argv) {
  if (argc == 3) return print_case(argv[1], argv[2]);
  Arena *a = arena_new();
  test_texts(a);
  test_numbers(a);
  test_scales(a);
  arena_free(a);
  return report();
}
