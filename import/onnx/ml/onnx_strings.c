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
    } else if ((strchr("$^", *s) && !whole) || (strchr("(|", *s) && (!whole || s[1] == '?'))) {
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

/* ^ and $ are the begin and the end of the text, never of a line. */
static const char *spelled_ends(OnnxCall *c, const char *s) {
  Text t = text_new(c->b.in.g->arena);
  bool in_class = false;
  for (; *s; s++) {
    if (!in_class && (*s == '^' || *s == '$')) {
      text_puts(&t, *s == '^' ? "\\A" : "\\Z");
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
  return json_text(c, spelled_ends(c, spelled));
}

/* ---- rules ---- */

/* Which strings of input 0, a row, are among the attribute's; NULL: it has none. */
static Node *stop_words(OnnxCall *c) {
  uint32_t n;
  const char *const *words = onnx_strings(c, "stopwords", &n);
  bool exact = onnx_flag(c, "is_case_sensitive", false);
  if (!n) return NULL;
  const ValueType *x = onnx_type(c, 0);
  infer_rank(&c->b.in, x, 1, 2);
  if (x->rank == 2 && !dim_is(x->shape[0], 1)) onnx_lack(c, "rows of another number than one");
  Text t = text_new(c->b.in.g->arena);
  text_printf(&t, ", \"exact\": %s, \"words\": [", exact ? "true" : "false");
  for (uint32_t i = 0; i < n; i++) text_printf(&t, "%s%s", i ? ", " : "", json_text(c, words[i]));
  text_puts(&t, "]");
  return onnx_table_rows(c, 0, "stops", t.data, DT_I1);
}

/* Result 0 are the strings that are no stop words, or the empty one where there are none. */
static void set_kept(OnnxCall *c, Node *x, Node *stops) {
  Build *b = &c->b;
  Dim one = build_const(b, 1);
  uint32_t rank = rank_of(x);
  Node *empty = build_full(b, 1, &one, build_int(b, onnx_call_text(c, "")), DT_I64);
  Node *kept = build_op1(b, OP_aten_logical_not_default, build_flat(b, stops));
  Node *any = build_op1(b, OP_aten_any_default, kept);
  Node *none = build_unsqueeze(b, build_op1(b, OP_aten_logical_not_default, any), 0);
  kept = build_cat(b, 2, (Node *[]){kept, none}, 0);
  x = build_cat(b, 2, (Node *[]){build_flat(b, x), empty}, 0);
  Node *at = build_op1(b, OP_aten_nonzero_default, kept);
  at = build_select(b, at, 1, build_const(b, 0));
  x = build(b, OP_aten_index_select_default, ARGS(arg_node(x), build_int(b, 0), arg_node(at)));
  onnx_set(c, 0, rank == 2 ? build_unsqueeze(b, x, 0) : x);
  onnx_set_text(c, 0);
  c->out[0]->is_chosen = true;
}

void onnx_op_string_normalizer(OnnxCall *c) {
  Name how = onnx_string(c, "case_change_action", "NONE");
  onnx_in(c, 0);
  onnx_ignore(c, "locale");
  bool lower = !strcmp(how, "LOWER"), none = !strcmp(how, "NONE");
  if (!lower && !none && strcmp(how, "UPPER"))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "case_change_action", how);
  Node *stops = onnx_wants(c, 0) ? stop_words(c) : NULL;
  if (none && !stops) onnx_set_alias(c, 0, c->in[0]);
  if (!none)
    onnx_set_table(c, "case", lower ? ", \"upper\": false" : ", \"upper\": true", DT_I64, false);
  if (stops) set_kept(c, none ? onnx_in(c, 0) : onnx_node_of(c, c->out[0]), stops);
}

void onnx_op_string_concat(OnnxCall *c) { onnx_set_joined_texts(c); }

/* Results are the parts, along a further axis, and how many there are. */
void onnx_op_string_split(OnnxCall *c) {
  const char *delimiter = json_text(c, onnx_string(c, "delimiter", ""));
  long long most = (long long)onnx_int(c, "maxsplit", -1);
  const char *how = arena_printf(c->b.in.g->arena, ", \"by\": %s, \"most\": %lld, \"pad\": %lld",
                                 delimiter, most, (long long)onnx_call_text(c, ""));
  if (onnx_wants(c, 1)) onnx_set(c, 1, onnx_table_rows(c, 0, "split_counts", how, DT_I64));
  onnx_set_table(c, "split", how, DT_I64, true);
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
