#include "runtime/compile/config.h"

#include <string.h>

const char *const config_options[CONFIG_OPTIONS] = {"num_warps", "num_stages", "num_ctas",
                                                    "maxnreg"};

int *config_option(nereid_request *r, const char *name) {
  int *const places[] = {&r->num_warps, &r->num_stages, &r->num_ctas, &r->maxnreg};
  for (int i = 0; i < CONFIG_OPTIONS; i++)
    if (!strcmp(config_options[i], name)) return places[i];
  return NULL;
}

bool config_is_option(const char *name) {
  nereid_request r = {0};
  return config_option(&r, name) != NULL;
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
