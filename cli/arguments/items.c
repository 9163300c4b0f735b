#include "cli/arguments/items.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/terminal/args.h"

/* A number, or "none". */
static bool read_count(const char *text, int64_t *n) {
  char *end;
  *n = NEREID_ABSENT;
  if (!strcmp(text, "none")) return true;
  errno = 0;
  *n = strtoll(text, &end, 10);
  return end > text && !*end && !errno && *n >= 0;
}

int items_add(Items *items, const char *text) {
  nereid_graph_items item;
  const char *equals = strrchr(text, '=');
  if (!equals || equals == text || !read_count(equals + 1, &item.n))
    return args_error(E_CLI_ITEMS, text);
  size_t len = (size_t)(equals - text);
  for (int i = 0; i < items->n; i++)
    if (!strncmp(items->data[i].input, text, len) && !items->data[i].input[len])
      return args_error(E_CLI_NAME_TWICE, "--items", items->data[i].input);
  nereid_graph_items *grown = realloc(items->data, ((size_t)items->n + 1) * sizeof *grown);
  if (!grown) return args_out_of_memory();
  items->data = grown;
  item.input = strndup(text, len);
  if (!item.input) return args_out_of_memory();
  items->data[items->n++] = item;
  return STATUS_OK;
}

void items_free(Items *items) {
  for (int i = 0; i < items->n; i++) free((char *)(uintptr_t)items->data[i].input);
  free(items->data);
}
