#include "import/text/text_forms.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "graph/ir/python_words.h"

/* A line of the copy, from `at` to `end`. */
typedef struct {
  char *at, *end;
} Line;

static void blank(char *from, const char *to) {
  while (from < to) *from++ = ' ';
}

static bool line_starts(const Line *l, const char *s) {
  size_t n = strlen(s);
  return (size_t)(l->end - l->at) >= n && !memcmp(l->at, s, n);
}

static char *find_in_line(const Line *l, const char *s) {
  return memmem(l->at, (size_t)(l->end - l->at), s, strlen(s));
}

static void skip_word(Line *l) {
  while (l->at < l->end && python_is_word_char(*l->at)) l->at++;
}

/* ---- values ---- */

/* %x becomes +x, cuda:0 becomes cuda. */
static void plain_values(char *from, char *to) {
  for (char *s = from; s < to; s++) {
    if (*s == '%') *s = '+';
    if (*s != ':' || s == from || !python_is_word_char(s[-1])) continue;
    for (; s < to && (*s == ':' || isdigit((unsigned char)*s)); s++) *s = ' ';
  }
}

/* The bracket that closes the one at `open`; NULL: there is none. */
static char *closing(char *open, char *end) {
  int depth = 0;
  for (char *s = open; s < end; s++) {
    if (strchr("([{", *s)) depth++;
    if (strchr(")]}", *s) && --depth == 0) return s;
  }
  return NULL;
}

/* Removes the last comma before `to` if only blanks are between. */
static void drop_comma(char *from, char *to) {
  char *s = to;
  while (s > from && s[-1] == ' ') s--;
  if (s > from && s[-1] == ',') s[-1] = ' ';
}

static bool is_blank(const char *from, const char *to) {
  while (from < to && *from == ' ') from++;
  return from == to;
}

/* `key: value` becomes `key= value`. */
static void plain_keys(char *from, char *to) {
  for (char *s = from; s + 1 < to; s++)
    if (*s == ':' && s[1] == ' ') *s = '=';
}

/* Does Python read it as one value?  Other text is a string with spaces or punctuation. */
static bool is_plain_value(const char *from, const char *to) {
  if (strchr("+[({-", *from) || isdigit((unsigned char)*from)) return true;
  while (from < to && (python_is_word_char(*from) || *from == '.' || *from == ':')) from++;
  return from == to;
}

/* `(ij,jk->ik, [+x])` becomes `"ij,jk->ik",[+x])`: quotes stand where a comma, a space and what
 * surrounds the arguments were. */
static void quote_strings(char *from, char *close) {
  int depth = 0;
  for (char *s = from; s <= close; s++) {
    if (s < close && strchr("([{", *s)) depth++;
    if (s < close && strchr(")]}", *s)) depth--;
    if (s < close && (depth || s[0] != ',' || s[1] != ' ')) continue;
    if (from < s && !is_blank(from, s) && !is_plain_value(from, s)) {
      from[-1] = *s = '"';
      if (s < close) s[1] = ',';
    }
    from = s + 2;
  }
}

/* (args = (A), kwargs = {K}) becomes (A, K). */
static void plain_call(Line *l) {
  static const char ARGS[] = "(args = (", KWARGS[] = "), kwargs = {";
  if (!line_starts(l, ARGS)) return;
  char *first = l->at + sizeof ARGS - 1, *close = closing(first - 1, l->end);
  if (!close) return;
  Line rest = {close, l->end};
  if (!line_starts(&rest, KWARGS)) return;
  char *keys = close + sizeof KWARGS - 1, *last = closing(keys - 1, l->end);
  if (!last) return;
  blank(l->at + 1, first);
  plain_keys(keys, last);
  plain_values(first, close);
  plain_values(keys, last);
  drop_comma(first, close);
  bool both = !is_blank(first, close) && !is_blank(keys, last);
  blank(close, keys);
  quote_strings(first, close);
  if (both) close[1] = ',';
  *last = ' ';
}

/* ---- nodes ---- */

/* placeholder[target=x] becomes placeholder |      "x". */
static void plain_input(Line *l, size_t kind) {
  char *target = l->at + kind, *close = find_in_line(l, "]");
  if (!close) return;
  memcpy(target, " |     \"", 8);
  *close = '"';
  blank(close + 1, l->end);
}

/* call_function[target=a.b](...) becomes a.b (...); other calls keep their kind, as a name that no
 * operator has. */
static void plain_target(Line *l, size_t kind) {
  bool function = kind == sizeof "call_function" - 1;
  char *target = l->at + kind + 8, *close = find_in_line(l, "](");
  if (!close) return;
  if (function) blank(l->at, target);
  else blank(l->at + kind + 1, target), l->at[kind] = '.';
  *close = ' ';
  l->at = close + 1;
  plain_call(l);
}

static void plain_value(Line *l) {
  static const char *const inputs[] = {"placeholder", "get_attr"};
  static const char *const calls[] = {"call_function", "call_method", "call_module"};
  char *bracket = find_in_line(l, "[target=");
  if (!bracket) return;
  size_t kind = (size_t)(bracket - l->at);
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (line_starts(l, inputs[i]) && kind == strlen(inputs[i])) plain_input(l, kind);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (line_starts(l, calls[i]) && kind == strlen(calls[i])) plain_target(l, kind);
}

/* `%x : [num_users=1] = ` becomes `x                   = `: the name moves, for the lines of a
 * function begin where `return` does. */
static void plain_node(Line *l) {
  char *name = l->at++;
  skip_word(l);
  memmove(name, name + 1, (size_t)(l->at - name - 1));
  l->at[-1] = ' ';
  char *equals = find_in_line(l, "] = ");
  if (!line_starts(l, " : ") || !equals) return;
  blank(l->at, equals + 2);
  l->at = equals + 4;
  plain_value(l);
}

/* ---- lines ---- */

static void convert_line(Line l) {
  while (l.at < l.end && (*l.at == ' ' || *l.at == '\t')) l.at++;
  if (line_starts(&l, "graph(")) memcpy(l.at, "def " LISTING_FUNCTION "(", 6);
  else if (line_starts(&l, "%")) plain_node(&l);
}

static TextForm form_of(const char *text, size_t len) {
  static const char LAMBDA[] = "class <lambda>";
  Line l = {(char *)(uintptr_t)text, (char *)(uintptr_t)text + len};
  while (l.at < l.end && isspace((unsigned char)*l.at)) l.at++;
  if (line_starts(&l, "graph(") && find_in_line(&l, "):")) return FORM_LISTING;
  return find_in_line(&l, LAMBDA) ? FORM_LAMBDA : FORM_PYTHON;
}

const char *text_as_python(Arena *a, const char *text, size_t len, TextForm *form) {
  *form = form_of(text, len);
  if (*form == FORM_PYTHON) return text;
  char *copy = arena_strndup(a, text, len);
  Line all = {copy, copy + len};
  if (*form == FORM_LAMBDA) {
    memcpy(find_in_line(&all, "<lambda>"), LAMBDA_CLASS, sizeof LAMBDA_CLASS - 1);
    return copy;
  }
  for (char *at = copy; at < all.end;) {
    char *stop = memchr(at, '\n', (size_t)(all.end - at));
    if (!stop) stop = all.end;
    convert_line((Line){at, stop});
    at = stop + 1;
  }
  return copy;
}
