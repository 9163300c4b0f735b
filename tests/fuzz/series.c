/* What `nereid bench --peer` reads, and the picture of it. */
#include <string.h>

#include "cli/report/series.h"
#include "tests/fuzz/common/fuzz.h"

static const char *const corpus[] = {"tests/fuzz/series/*", NULL};
static const char *const words[] = {"{\"label\": \"a\"",
                                    ", \"x_name\": \"n\"",
                                    ", \"unit\": \"us\"",
                                    ", \"unit\": \"GB/s\"",
                                    ", \"points\": [[1, 2, 2, 2]]}",
                                    "[4, 5, 4, 6]",
                                    "0.0001",
                                    "1e-9",
                                    "1e-320",
                                    "1e15",
                                    "1e308",
                                    "-7",
                                    "9007199254740993",
                                    "null",
                                    "\\ud83c\\udf0a",
                                    "\\u0001",
                                    "<&\\\"",
                                    ",",
                                    "]",
                                    "}",
                                    NULL};

const FuzzTarget fuzz_target = {"series", corpus, words, 2000, 4000};

static const char *json_of(Arena *a, const Series *s) {
  Text t = text_new(a);
  series_json(&t, s);
  return t.data;
}

static void check_again(Arena *a, const Series *s) {
  Series again;
  const char *text = json_of(a, s);
  fuzz_write((const uint8_t *)text, strlen(text));
  if (series_read(a, &again, fuzz_file())) fuzz_fail("what was written is not read");
  if (strcmp(json_of(a, &again), text)) fuzz_fail("%s is read as another series", text);
}

/* Names aside, all places are numbers. */
static void check_picture(Arena *a, Series s) {
  Text table = text_new(a), plot = text_new(a);
  SeriesGroup g = {"", &s, 1};
  series_table(&table, &g);
  series_plot(&plot, &g);
  s.label = s.x_name = "l";
  s.unit = *s.unit == 'u' ? "us" : "GB/s";
  plot = text_new(a);
  series_plot(&plot, &g);
  const char *body = strstr(plot.data, "</style>");
  if (strstr(body, "nan") || strstr(body, "inf")) fuzz_fail("a place that is no number");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  Series s;
  fuzz_write(data, size);
  if (!series_read(a, &s, fuzz_file())) {
    check_again(a, &s);
    check_picture(a, s);
  }
  arena_free(a);
  return 0;
}
