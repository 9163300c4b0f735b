#include "lang/base/pass.h"

#include <string.h>

const char *level_text(Level l) {
#define X(name, text) text,
  static const char *const texts[] = {LEVELS(X)};
#undef X
  return texts[l];
}

bool pass_included(const Pass *p, unsigned conditions) {
  return (p->needs & ~conditions) == 0 && (p->without & conditions) == 0;
}

const Pass *pass_find(PassList l, const char *name, size_t len) {
  for (int i = 0; i < l.n; i++)
    if (strlen(l.rows[i].name) == len && !memcmp(l.rows[i].name, name, len)) return &l.rows[i];
  return NULL;
}

void pass_print_names(Text *out, PassList l, unsigned conditions) {
  const char *comma = "";
  for (int i = 0; i < l.n; i++) {
    if (!pass_included(&l.rows[i], conditions)) continue;
    text_printf(out, "%s%s", comma, l.rows[i].name);
    comma = ", ";
  }
}

bool pass_next_name(const char **names, const char **name, size_t *len) {
  if (!**names) return false;
  *name = *names;
  *len = strcspn(*names, ",");
  *names += *len + ((*names)[*len] == ',');
  return true;
}
