#include "runtime/compile/config.h"

#include <string.h>

#include "runtime/messages.h"
#include "runtime/support/error.h"

static const size_t places[OPTION_COUNT] = {
#define X(kind, name, ...) [OPTION_OF_##name] = offsetof(nereid_request, name),
    NEREID_KERNEL_OPTIONS(X, X)
#undef X
};

static void *place_of(nereid_request *r, const OptionRow *row) {
  return (char *)r + places[row - option_rows];
}

int *request_number(nereid_request *r, const OptionRow *row) {
  return row->kind == OPTION_WORD ? NULL : place_of(r, row);
}

const char **request_word(nereid_request *r, const OptionRow *row) {
  return row->kind == OPTION_WORD ? place_of(r, row) : NULL;
}

int *config_option(nereid_request *r, const char *name) {
  const OptionRow *row = option_tuned(name);
  return row ? request_number(r, row) : NULL;
}

int config_check(const OptionRow *row, int value) {
  if (option_admits(row, value)) return 0;
  if (row->choices)
    return error_set(NEREID_E_USAGE, E_RUN_OPTION_CHOICE, row->name, row->choices, value);
  return error_set(NEREID_E_USAGE, E_RUN_OPTION_RANGE, row->name, row->least, row->most, value);
}

int nereid_check_option(const char *name, int value) {
  if (!name) return error_null(__func__, "name");
  const OptionRow *row = option_tuned(name);
  return row && value != row->dflt ? config_check(row, value) : 0;
}

bool config_is_option(const char *name) {
  return option_tuned(name) != NULL;
}

void config_print(Text *out, const Config *c) {
  for (int i = 0; i < c->n; i++)
    text_printf(out, "%s%s=%s", i ? " " : "", c->settings[i].name, c->settings[i].value);
}

bool config_read(Config *out, Arena *a, const char *text) {
  *out = (Config){ARENA_ARRAY(a, nereid_setting, strlen(text) + 1), 0};
  for (const char *at = text; *at;) {
    size_t n = strcspn(at, " "), name = strcspn(at, "= ");
    if (!name || at[name] != '=') return false;
    out->settings[out->n++] =
        (nereid_setting){arena_strndup(a, at, name), arena_strndup(a, at + name + 1, n - name - 1)};
    at += n + (at[n] == ' ');
  }
  return true;
}

bool config_equal(const Config *a, const Config *b) {
  if (a->n != b->n) return false;
  for (int i = 0; i < a->n; i++)
    if (strcmp(a->settings[i].name, b->settings[i].name) ||
        strcmp(a->settings[i].value, b->settings[i].value))
      return false;
  return true;
}
