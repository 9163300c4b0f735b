#include "cli/arguments/graph_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"

/* ---- ranges ---- */

/* Two numbers with two points between them. */
static bool read_range_bounds(const char *text, int64_t *lo, int64_t *hi) {
  char *end;
  errno = 0;
  *lo = strtoll(text, &end, 10);
  if (end == text || strncmp(end, "..", 2)) return false;
  text = end + 2;
  *hi = strtoll(text, &end, 10);
  return end > text && !*end && !errno;
}

/* Adds what "s0=1..64" says. */
static int ranges_add(Ranges *r, const char *text) {
  size_t len = strcspn(text, "=");
  nereid_graph_range range;
  if (!len || !text[len] || !read_range_bounds(text + len + 1, &range.lo, &range.hi))
    return args_error(E_CLI_RANGE, text);
  for (int i = 0; i < r->n; i++)
    if (!strncmp(r->data[i].symbol, text, len) && !r->data[i].symbol[len])
      return args_error(E_CLI_NAME_TWICE, "--range", r->data[i].symbol);
  nereid_graph_range *grown = realloc(r->data, ((size_t)r->n + 1) * sizeof *grown);
  if (!grown) return args_out_of_memory();
  r->data = grown;
  range.symbol = strndup(text, len);
  if (!range.symbol) return args_out_of_memory();
  r->data[r->n++] = range;
  return STATUS_OK;
}

static void ranges_free(Ranges *r) {
  for (int i = 0; i < r->n; i++) free((char *)(uintptr_t)r->data[i].symbol);
  free(r->data);
}

/* ---- options ---- */

static int take_file(Strings *to, const char *path) {
  return strings_add(to, path, strlen(path)) ? STATUS_OK : STATUS_PROBLEM;
}

#define TAKE_WORD(name) return s->options.name = value, STATUS_OK
#define TAKE_WORD_OF(name, word) return s->options.name = word, STATUS_OK
#define TAKE_TEXT(name) return s->options.name = value, STATUS_OK
#define TAKE_FLAG(name) return s->options.name = 1, STATUS_OK
#define TAKE_RANGES(name) return ranges_add(&s->name, value)
#define TAKE_FILES(name) return take_file(&s->name, value)

int graph_settings_take(GraphSettings *s, int id, const char *value) {
#define X(kind, name, ...) \
  if (id == OPT_GRAPH_##name) TAKE_##kind(name);
#define Y(...)
  NEREID_GRAPH_OPTIONS(X, X, Y)
#undef X
#undef Y
#define S(flag, name, word) \
  if (id == OPT_GRAPH_SHORT_##name) TAKE_WORD_OF(name, word);
  NEREID_GRAPH_SHORTHANDS(S)
#undef S
  return STATUS_USAGE;
}

void graph_settings_finish(GraphSettings *s) {
  s->options.ranges = s->ranges.data;
  s->options.nranges = s->ranges.n;
  s->options.rewrites = (const char *const *)s->rewrites.data;
  s->options.nrewrites = s->rewrites.len;
}

void graph_settings_free(GraphSettings *s) {
  ranges_free(&s->ranges);
  strings_free(&s->rewrites);
}

const char *graph_source_path(const char *operand) {
  return strcmp(operand, "-") != 0 ? operand : "/dev/stdin";
}
