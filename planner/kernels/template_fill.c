#include "planner/kernels/template_fill.h"

#include <string.h>

#include "lang/base/diag.h"
#include "planner/kernels/templates.h"

static const char *find_template(const char *name) {
  const EmbeddedFile *t = template_files;
  while (t->name && strcmp(t->name, name) != 0) t++;
  BUG_IF(!t->name, "no template %s", name);
  return t->text;
}

static const char *slot_text(const char *s, size_t len, const Slot *slots, size_t n) {
  size_t i = 0;
  while (i < n && (strlen(slots[i].slot) != len || memcmp(slots[i].slot, s, len) != 0)) i++;
  BUG_IF(i == n, "the template has a slot %.*s that is not filled", (int)len, s);
  return slots[i].text;
}

/* A text of whole lines ends the line itself; of a slot alone on its line none is left if it is
 * empty. */
static size_t past_newline(const char *s, const char *text, bool alone) {
  size_t n = strlen(text);
  return *s == '\n' && (n ? text[n - 1] == '\n' : alone);
}

void template_fill_text(Text *out, const char *s, const Slot *slots, size_t n) {
  const char *first = s;
  for (const char *open; (open = strstr(s, "{{")) != NULL;) {
    const char *close = strstr(open, "}}");
    text_putn(out, s, (size_t)(open - s));
    const char *text = slot_text(open + 2, (size_t)(close - open - 2), slots, n);
    text_puts(out, text);
    s = close + 2;
    s += past_newline(s, text, open == first || open[-1] == '\n');
  }
  text_puts(out, s);
}

void template_fill(Text *out, const char *name, const Slot *slots, size_t n) {
  template_fill_text(out, find_template(name), slots, n);
}
