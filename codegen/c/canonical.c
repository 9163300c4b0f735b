/* Units that are the same but for names: kernels of different graphs, and of one, differ by their
 * numbers, and by those of the sizes that they are given.
 *
 * Renaming is the same for all places of a name, and no name becomes another's, so that units of
 * the same canonical text have the same code. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/c/c.h"
#include "codegen/codegen.h"

typedef struct {
  const char *text;
  size_t len;
} Word;

typedef struct {
  Arena *arena;
  Word entry;
  Word *params; /* by their place in the arguments; len 0: it has no name */
  size_t n;
} Canonical;

static bool begins_word(char c) { return isalpha((unsigned char)c) || c == '_'; }

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool same_word(Word a, Word b) { return a.len == b.len && !memcmp(a.text, b.text, a.len); }

/* ---- the names of parameters ---- */

static const char argument[] = "(args + ";

/* The word before " = " on the line that loads an argument. */
static Word loaded_name(const char *kernel, const char *at) {
  const char *line = at, *end;
  while (line > kernel && line[-1] != '\n') line--;
  for (end = line; end < at && strncmp(end, " = ", 3) != 0;) end++;
  const char *begin = end;
  while (begin > line && in_word(begin[-1])) begin--;
  bool found = end < at && begin > line && (begin[-1] == ' ' || begin[-1] == '*');
  return found && begins_word(*begin) ? (Word){begin, (size_t)(end - begin)} : (Word){0};
}

/* Bytes of the arguments become places; the first line that loads one names it. */
static void find_params(Canonical *c, const char *kernel) {
  size_t most = 0;
  for (const char *at = strstr(kernel, argument); at; at = strstr(at + 1, argument)) most++;
  c->params = ARENA_ARRAY(c->arena, Word, most + 1);
  for (const char *at = strstr(kernel, argument); at; at = strstr(at + 1, argument)) {
    size_t place = strtoul(at + sizeof argument - 1, NULL, 10) / 8;
    if (place >= most || c->params[place].len) continue;
    c->params[place] = loaded_name(kernel, at);
    if (place >= c->n) c->n = place + 1;
  }
}

/* ---- words of the text ---- */

/* The suffix of a function of the kernel, or NULL for another name. */
static const char *function_suffix(const Canonical *c, Word w) {
  static const char *const suffixes[] = {C_FUNCTIONS};
  if (w.len < c->entry.len || memcmp(w.text, c->entry.text, c->entry.len) != 0) return NULL;
  Word rest = {w.text + c->entry.len, w.len - c->entry.len};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (same_word(rest, (Word){suffixes[i], strlen(suffixes[i])})) return suffixes[i];
  return NULL;
}

/* No name of C has the sign. */
static void put_name(Text *out, const Canonical *c, Word w) {
  const char *suffix = function_suffix(c, w);
  if (suffix) {
    text_printf(out, "@%s", suffix);
    return;
  }
  for (size_t i = 0; i < c->n; i++) {
    if (!same_word(w, c->params[i])) continue;
    text_printf(out, "@%zu", i);
    return;
  }
  text_putn(out, w.text, w.len);
}

static const char *after_comment(const char *at) {
  const char *end = strstr(at + 2, "*/");
  return end ? end + 2 : at + strlen(at);
}

static const char *after_literal(const char *at) {
  char quote = *at++;
  while (*at && *at != quote) at += *at == '\\' && at[1] ? 2 : 1;
  return *at ? at + 1 : at;
}

/* The end of a name, a number, a literal or a comment, or of one character. */
static const char *after_token(const char *at) {
  if (at[0] == '/' && at[1] == '*') return after_comment(at);
  if (*at == '"' || *at == '\'') return after_literal(at);
  const char *end = at + 1;
  while (in_word(*at) && (in_word(*end) || (isdigit((unsigned char)*at) && *end == '.'))) end++;
  return end;
}

void c_canonical(Text *out, Arena *a, const char *unit, const char *entry) {
  Canonical c = {.arena = a, .entry = {entry, strlen(entry)}};
  const char *kernel = c_kernel_of(unit);
  if (!kernel) {
    text_puts(out, unit);
    return;
  }
  find_params(&c, kernel);
  text_putn(out, unit, (size_t)(kernel - unit));
  for (const char *at = kernel, *end; *at; at = end) {
    end = after_token(at);
    Word w = {at, (size_t)(end - at)};
    if (begins_word(*at)) put_name(out, &c, w);
    else if (at[0] != '/' || at[1] != '*') text_putn(out, at, w.len);
  }
}
