#include "runtime/config.h"

#include <stddef.h>
#include <string.h>

static const struct {
  const char *name;
  size_t offset;
} options[] = {
    {"num_warps", offsetof(nereid_request, num_warps)},
    {"num_stages", offsetof(nereid_request, num_stages)},
    {"num_ctas", offsetof(nereid_request, num_ctas)},
    {"maxnreg", offsetof(nereid_request, maxnreg)},
};

int *config_option(nereid_request *r, const char *name) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (!strcmp(options[i].name, name)) return (int *)((char *)r + options[i].offset);
  return NULL;
}

bool config_is_option(const char *name) {
  nereid_request r;
  return config_option(&r, name) != NULL;
}

void config_print(Text *out, const Config *c) {
  for (int i = 0; i < c->n; i++)
    text_printf(out, "%s%s=%s", i ? " " : "", c->settings[i].name, c->settings[i].value);
}

bool config_equal(const Config *a, const Config *b) {
  if (a->n != b->n) return false;
  for (int i = 0; i < a->n; i++)
    if (strcmp(a->settings[i].name, b->settings[i].name) ||
        strcmp(a->settings[i].value, b->settings[i].value))
      return false;
  return true;
}
