#include "cli/arguments/axes.h"
#include "cli/messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE_MOST = 1024 };

/* 1..5; numbers that are no long make an empty one. */
static bool is_range(const char *text, long *lo, long *hi) {
  char *end;
  errno = 0;
  *lo = strtol(text, &end, 10);
  if (end == text || strncmp(end, "..", 2)) return false;
  const char *from = end + 2;
  *hi = strtol(from, &end, 10);
  if (errno) *lo = 1, *hi = 0;
  return end != from && !*end;
}

static int add_item(Strings *out, const char *item) {
  long lo, hi;
  if (!*item) return STATUS_OK;
  if (!is_range(item, &lo, &hi)) return strings_add(out, item, strlen(item)) ? 0 : STATUS_PROBLEM;
  unsigned long more = (unsigned long)hi - (unsigned long)lo;
  if (lo > hi || more >= RANGE_MOST) return args_error(E_CLI_AXIS_RANGE, item, RANGE_MOST);
  for (unsigned long i = 0; i <= more; i++) {
    char text[32];
    int n = snprintf(text, sizeof text, "%ld", lo + (long)i);
    if (!strings_add(out, text, (size_t)n)) return STATUS_PROBLEM;
  }
  return STATUS_OK;
}

static int add_axis(Axes *a, const char *name, const Strings *values) {
  nereid_tune_axis *data = realloc(a->data, (size_t)(a->len + 1) * sizeof *data);
  if (!data) return args_out_of_memory();
  a->data = data;
  char *copy = strdup(name);
  if (!copy) return args_out_of_memory();
  data[a->len++] = (nereid_tune_axis){copy, (const char *const *)values->data, values->len};
  return STATUS_OK;
}

int axes_add(Axes *a, const char *name, const char *values) {
  Strings items = {0}, all = {0};
  int status = args_split(&items, values) ? STATUS_OK : STATUS_PROBLEM;
  for (int i = 0; i < items.len && !status; i++)
    status = items.len > 1 && !*items.data[i] ? args_error(E_CLI_AXIS_VALUE, values)
                                              : add_item(&all, items.data[i]);
  if (!status) status = add_axis(a, name, &all);
  if (status) strings_free(&all);
  strings_free(&items);
  return status;
}

int axes_add_pair(Axes *a, const char *pair) {
  char *copy = strdup(pair);
  if (!copy) return args_out_of_memory();
  char *values = args_value(copy, "V1,V2,...");
  int status = values ? axes_add(a, copy, values) : STATUS_USAGE;
  free(copy);
  return status;
}

void axes_free(Axes *a) {
  for (int i = 0; i < a->len; i++) {
    Strings values = {(char **)(uintptr_t)a->data[i].values, a->data[i].n};
    strings_free(&values);
    free((char *)(uintptr_t)a->data[i].name);
  }
  free(a->data);
  *a = (Axes){0};
}
