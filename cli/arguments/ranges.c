#include "cli/arguments/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/terminal/args.h"

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

int ranges_add(Ranges *r, const char *text) {
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

void ranges_free(Ranges *r) {
  for (int i = 0; i < r->n; i++) free((char *)(uintptr_t)r->data[i].symbol);
  free(r->data);
}
