#include "cli/arguments/substitute.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/terminal/args.h"
#include "cli/terminal/diagnostics.h"
#include "lang/base/strings.h"

typedef struct {
  Text out;
  const char *name, *text;
  const Bindings *names;
} Substitution;

static int put_value(Substitution *s, const char *from, size_t len) {
  int64_t value;
  const char *expr = arena_strndup(s->out.arena, from, len);
  int code = nereid_expr_eval(&value, expr, s->names->data, s->names->n);
  if (code) {
    message_print("error", "%s: %s", s->name, nereid_error_message());
    return code == NEREID_E_USAGE ? STATUS_USAGE : STATUS_PROBLEM;
  }
  text_printf(&s->out, "%lld", (long long)value);
  return STATUS_OK;
}

static int no_end(const Substitution *s, char end) {
  return args_error(E_CLI_SUBSTITUTE, s->name, s->text, end);
}

int substitute_braces(Arena *a, const char **out, const char *name, const char *text,
                      const Bindings *b) {
  Substitution s = {text_new(a), name, text, b};
  const char *at = text;
  for (;;) {
    size_t plain = strcspn(at, "{");
    text_putn(&s.out, at, plain);
    at += plain;
    if (!*at) break;
    const char *end = strchr(at, '}');
    if (!end) return no_end(&s, '}');
    int status = put_value(&s, at + 1, (size_t)(end - at) - 1);
    if (status) return status;
    at = end + 1;
  }
  *out = s.out.data;
  return STATUS_OK;
}

/* The first comma or bracket outside of parentheses. */
static const char *entry_end(const char *at) {
  for (int depth = 0; *at && (depth > 0 || (*at != ',' && *at != ']')); at++)
    depth += (*at == '(') - (*at == ')');
  return at;
}

int substitute_shape(Arena *a, const char **out, const char *name, const char *text,
                     const Bindings *b) {
  Substitution s = {text_new(a), name, text, b};
  const char *at = strchr(text, '[');
  *out = text;
  if (*text == '@' || !at || at[1] == ']') return STATUS_OK;
  text_putn(&s.out, text, (size_t)(at - text));
  do {
    const char *from = at + 1;
    text_putn(&s.out, at, 1);
    at = entry_end(from);
    if (!*at) return no_end(&s, ']');
    int status = put_value(&s, from, (size_t)(at - from));
    if (status) return status;
  } while (*at == ',');
  text_puts(&s.out, at);
  *out = s.out.data;
  return STATUS_OK;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Where the name begins as a word, from `at` on; NULL: nowhere. */
static const char *find_word(const char *text, const char *at, const char *name) {
  size_t n = strlen(name);
  for (; (at = strstr(at, name)); at++)
    if ((at == text || !is_word(at[-1])) && !is_word(at[n])) return at;
  return NULL;
}

const char *substitute_word(Arena *a, const char *text, const char *name, int64_t value) {
  Text out = text_new(a);
  const char *from = text, *at;
  for (; (at = find_word(text, from, name)); from = at + strlen(name)) {
    text_putn(&out, from, (size_t)(at - from));
    text_printf(&out, "%lld", (long long)value);
  }
  text_puts(&out, from);
  return out.data;
}

bool substitute_mentions(const char *text, const char *name) { return find_word(text, text, name); }
