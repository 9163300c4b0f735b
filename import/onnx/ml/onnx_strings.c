/* Functions of strings, which the caller computes for each string once: import/onnx/onnx_text.h. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_op.h"

/* ---- regular expressions ----
 *
 * ONNX's are RE2's, which the caller's library may take otherwise: only those are passed that mean
 * the same everywhere. */

/* A character may follow a backslash: a class or a border that all have, or a sign. */
static bool is_plain_escape(char c) {
  return c && strchr("dDwWbBntrf.^$*+?()[]{}|\\/-_'\",;:!#&@~ ", c);
}

/* The longest match is the first one where a single element repeats, and nothing is a choice. */
static bool is_plain_pattern(const char *s, bool whole) {
  unsigned repeats = 0;
  bool in_class = false;
  for (; *s; s++) {
    bool escaped = *s == '\\';
    if (escaped && !is_plain_escape(*++s)) return false;
    if (escaped) continue;
    if (in_class) {
      if (*s == '[') return false;
      in_class = *s != ']';
    } else if (*s == '[') {
      in_class = true;
      if (s[1] == '^') s++;
      if (s[1] == ']') return false;
    } else if (strchr("*+?{", *s)) {
      repeats++;
      while (*s == '{' && s[1] && s[1] != '}') s++;
      char next = s[1] == '}' ? s[2] : s[1];
      if (*s == '{' || (next && strchr("*+?{", next))) return false;
    } else if (*s == '$' || *s == '^' || (strchr("(|", *s) && (!whole || s[1] == '?'))) {
      return false;
    }
  }
  return !in_class && (whole || repeats < 2);
}

static const char *json_text(OnnxCall *c, const char *s) {
  Text t = text_new(c->b.in.g->arena);
  text_json(&t, s);
  return t.data;
}

/* The pattern with its classes of spaces spelled, which are RE2's: other libraries have \v among
 * them. */
static const char *spelled_spaces(OnnxCall *c, const char *s) {
  static const char spaces[] = " \\t\\n\\f\\r";
  Text t = text_new(c->b.in.g->arena);
  bool in_class = false;
  for (; *s; s++) {
    bool space = *s == '\\' && (s[1] == 's' || s[1] == 'S');
    if (space && in_class && s[1] == 'S') onnx_lack(c, "the regular expression [\\S]");
    if (space) {
      text_printf(&t, in_class ? "%s%s" : "[%s%s]", s[1] == 'S' ? "^" : "", spaces);
      s++;
      continue;
    }
    text_printf(&t, "%c", *s);
    if (*s == '\\' && s[1]) text_printf(&t, "%c", *++s);
    else in_class = in_class ? *s != ']' : *s == '[';
  }
  return t.data;
}

static const char *json_pattern(OnnxCall *c, const char *s, bool whole) {
  const char *spelled = spelled_spaces(c, s);
  if (!is_plain_pattern(spelled, whole)) onnx_lack(c, "the regular expression %s", s);
  return json_text(c, spelled);
}

/* ---- rules ---- */

void onnx_op_string_normalizer(OnnxCall *c) {
  Name how = onnx_string(c, "case_change_action", "NONE");
  uint32_t n;
  onnx_in(c, 0);
  onnx_strings(c, "stopwords", &n);
  onnx_ignore(c, "is_case_sensitive"); /* how stopwords are looked up */
  onnx_ignore(c, "locale");
  if (n) onnx_lack(c, "stopwords");
  if (!strcmp(how, "NONE")) {
    onnx_set_alias(c, 0, c->in[0]);
    return;
  }
  if (strcmp(how, "LOWER") && strcmp(how, "UPPER"))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "case_change_action", how);
  onnx_set_table(c, "case", !strcmp(how, "LOWER") ? ", \"upper\": false" : ", \"upper\": true",
                 DT_I64, false);
}

void onnx_op_regex_full_match(OnnxCall *c) {
  const char *pattern = json_pattern(c, onnx_string(c, "pattern", ""), true);
  onnx_set_table(c, "matches", arena_printf(c->b.in.g->arena, ", \"pattern\": %s", pattern), DT_I1,
                 false);
}

/* Parts of strings along a further axis, as many as the longest one has, and pads. */
void onnx_op_tokenizer(OnnxCall *c) {
  Arena *a = c->b.in.g->arena;
  uint32_t n;
  const char *const *separators = onnx_strings(c, "separators", &n);
  Name expression = onnx_string(c, "tokenexp", "");
  Text t = text_new(a);
  infer_rank(&c->b.in, onnx_type(c, 0), 1, 2);
  if (!separators && !*expression) onnx_fail(c, E_ONNX_ATTR_MISSING, "tokenexp");
  bool characters = separators ? n == 1 && !**separators : !strcmp(expression, ".");
  text_printf(&t, ", \"mark\": %s, \"pad\": %lld, \"least\": %lld",
              onnx_flag(c, "mark", false) ? "true" : "false",
              (long long)onnx_call_text(c, onnx_string(c, "pad_value", "")),
              (long long)onnx_int(c, "mincharnum", 1));
  if (!characters && !separators)
    text_printf(&t, ", \"pattern\": %s", json_pattern(c, expression, false));
  for (uint32_t i = 0; i < n && !characters; i++)
    text_printf(&t, "%s%s", i ? ", " : ", \"separators\": [",
                json_pattern(c, separators[i], false));
  if (separators && !characters) text_puts(&t, "]");
  onnx_set_table(c, "tokens", t.data, DT_I64, true);
}

/* ---- maps ---- */

/* A map of each row, which callers make. */
void onnx_op_zip_map(OnnxCall *c) {
  uint32_t n;
  OnnxKeys *keys = ARENA_NEW(c->b.in.g->arena, OnnxKeys);
  const int64_t *names = onnx_texts(c, "classlabels_strings", &n);
  keys->is_text = names && n;
  if (!keys->is_text) names = onnx_ints(c, "classlabels_int64s", &n);
  int64_t *at = ARENA_ARRAY(c->b.in.g->arena, int64_t, n); /* the file is forgotten before */
  if (n) memcpy(at, names, n * sizeof *at);
  keys->at = at;
  keys->n = n;
  Node *x = onnx_in(c, 0);
  infer_rank(&c->b.in, &x->type, 1, 2);
  Dim columns = x->type.shape[rank_of(x) - 1];
  if (!n || !dim_is(columns, n))
    onnx_fail(c, E_ONNX_ATTR_COUNT, "classlabels_int64s", n, (unsigned)columns->value);
  onnx_set_alias(c, 0, c->in[0]);
  if (onnx_wants(c, 0)) c->out[0]->keys = keys;
}
