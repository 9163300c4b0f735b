#include "import/text/json.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "import/messages.h"
#include "lang/base/strings.h"

/* Members in order; of more than a few, slots by hash, 1 + the member's number, 0 for none. */
struct JsonTable {
  const JsonMember *members;
  uint32_t *slots; /* NULL: there are few */
  uint32_t mask;
};

enum { FEW = 8 };

typedef struct {
  Arena *arena;   /* of the document */
  Arena *scratch; /* of arrays and objects that are open */
  const char *text, *at, *end;
  VEC(Json) items;         /* of all arrays that are open */
  VEC(JsonMember) members; /* of all objects that are open */
  uint32_t depth;
  const char *wrong; /* NULL: nothing yet */
} Reader;

static bool read_json_value(Reader *r, Json *out);

static bool fail_json(Reader *r, const char *what) {
  if (!r->wrong) r->wrong = what;
  return false;
}

/* 0 at the end, where no text may have it. */
static char peek_char(const Reader *r) { return r->at < r->end ? *r->at : 0; }

static void skip_json_space(Reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
    r->at++;
}

static bool take_char(Reader *r, char c, const char *what) {
  skip_json_space(r);
  if (peek_char(r) != c) return fail_json(r, what);
  r->at++;
  return true;
}

/* ---- strings ---- */

static char *put_code_point(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
    return to;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char heads[] = {0, 0xC0, 0xE0, 0xF0};
  *to++ = (char)(heads[more] | c >> 6 * more);
  while (more--) *to++ = (char)(0x80 | (c >> 6 * more & 0x3F));
  return to;
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool four_digits(Reader *r, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    int d = hex_value(peek_char(r));
    if (d < 0) return fail_json(r, E_JSON_ESCAPE);
    *out = *out << 4 | (uint32_t)d;
  }
  return true;
}

/* Behind \u: one code unit, or two that make one character. */
static bool unicode(Reader *r, char **to) {
  uint32_t c, low;
  if (!four_digits(r, &c)) return false;
  if (c >= 0xDC00 && c < 0xE000) return fail_json(r, E_JSON_ESCAPE);
  if (c >= 0xD800 && c < 0xDC00) {
    if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
      return fail_json(r, E_JSON_ESCAPE);
    r->at += 2;
    if (!four_digits(r, &low)) return false;
    if (low < 0xDC00 || low >= 0xE000) return fail_json(r, E_JSON_ESCAPE);
    c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
  }
  if (c == 0) return fail_json(r, E_JSON_ESCAPE);
  *to = put_code_point(*to, c);
  return true;
}

static bool read_escape(Reader *r, char **to) {
  static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  r->at++;
  char c = peek_char(r);
  const char *known = c ? strchr(names, c) : NULL;
  if (!known && c != 'u') return fail_json(r, E_JSON_ESCAPE);
  r->at++;
  if (c == 'u') return unicode(r, to);
  *(*to)++ = meant[known - names];
  return true;
}

/* Skips characters that need no decoding. */
static bool skip_plain(Reader *r) {
  while (r->at < r->end && *r->at != '"' && *r->at != '\\') {
    if ((unsigned char)*r->at < ' ') return fail_json(r, E_JSON_CONTROL);
    size_t n = (unsigned char)*r->at < 0x80 ? 1 : utf8_length(r->at, (size_t)(r->end - r->at));
    if (!n) return fail_json(r, E_JSON_UTF8);
    r->at += n;
  }
  return r->at < r->end || fail_json(r, E_JSON_END);
}

/* A decoded string is never longer than its text. */
static bool escaped(Reader *r, const char *begin, const char **out) {
  const char *close = r->at;
  while (close < r->end && *close != '"') close += *close == '\\' && r->end - close > 1 ? 2 : 1;
  char *to = ARENA_ARRAY(r->arena, char, (size_t)(close - begin) + 1);
  *out = to;
  r->at = begin;
  while (peek_char(r) != '"') {
    const char *from = r->at;
    if (!skip_plain(r)) return false;
    memcpy(to, from, (size_t)(r->at - from));
    to += r->at - from;
    if (peek_char(r) == '\\' && !read_escape(r, &to)) return false;
  }
  return true;
}

static bool string(Reader *r, const char **out) {
  if (!take_char(r, '"', E_JSON_STRING)) return false;
  const char *begin = r->at;
  if (!skip_plain(r)) return false;
  if (*r->at == '\\') {
    if (!escaped(r, begin, out)) return false;
  } else {
    *out = arena_strndup(r->arena, begin, (size_t)(r->at - begin));
  }
  r->at++;
  return true;
}

/* ---- numbers ---- */

static bool skip_digits(Reader *r) {
  const char *begin = r->at;
  while (peek_char(r) >= '0' && peek_char(r) <= '9') r->at++;
  return r->at > begin || fail_json(r, E_JSON_NUMBER);
}

static bool read_json_integer(Reader *r, const char *begin, Json *out) {
  bool negative = *begin == '-';
  out->kind = JSON_INTEGER;
  out->integer = 0;
  for (const char *s = begin + negative; s < r->at; s++) {
    int d = negative ? '0' - *s : *s - '0';
    if (__builtin_mul_overflow(out->integer, 10, &out->integer) ||
        __builtin_add_overflow(out->integer, d, &out->integer))
      return fail_json(r, E_JSON_RANGE);
  }
  return true;
}

static bool real(Reader *r, const char *begin, Json *out) {
  out->kind = JSON_REAL;
  bool ok = text_to_double(begin, (size_t)(r->at - begin), &out->real);
  return (ok && isfinite(out->real)) || fail_json(r, E_JSON_RANGE);
}

static bool read_json_number(Reader *r, Json *out) {
  const char *begin = r->at;
  r->at += *r->at == '-';
  if (peek_char(r) == '0') r->at++;
  else if (!skip_digits(r)) return false;
  bool whole = true;
  if (peek_char(r) == '.') {
    whole = false;
    r->at++;
    if (!skip_digits(r)) return false;
  }
  if (peek_char(r) == 'e' || peek_char(r) == 'E') {
    whole = false;
    r->at++;
    r->at += peek_char(r) == '+' || peek_char(r) == '-';
    if (!skip_digits(r)) return false;
  }
  return whole ? read_json_integer(r, begin, out) : real(r, begin, out);
}

/* ---- objects ---- */

/* The file chooses the keys, but not the table's address, which the hash includes: so a file can't
 * make all of them collide. */
static uint64_t hash_key(const JsonTable *t, const char *key) {
  return XXH3_64bits_withSeed(key, strlen(key), (uintptr_t)t);
}

/* The slot of a key in the table, or the one that it would get. */
static uint32_t *key_slot(const JsonTable *t, const char *key) {
  for (uint64_t i = hash_key(t, key);; i++) {
    uint32_t *slot = &t->slots[i & t->mask];
    if (!*slot || !strcmp(t->members[*slot - 1].key, key)) return slot;
  }
}

static bool unique_few(const JsonMember *m, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    for (uint32_t j = 0; j < i; j++)
      if (!strcmp(m[i].key, m[j].key)) return false;
  return true;
}

static bool fill_slots(Reader *r, JsonTable *t, uint32_t n) {
  uint32_t size = 4 * FEW;
  while (size < 2 * n) size *= 2;
  t->slots = ARENA_ARRAY(r->arena, uint32_t, size);
  t->mask = size - 1;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t *slot = key_slot(t, t->members[i].key);
    if (*slot) return false;
    *slot = i + 1;
  }
  return true;
}

/* The members from `first` on are one object, which ends here. */
static bool close_object(Reader *r, size_t first, Json *out) {
  size_t n = r->members.len - first;
  JsonMember *members = ARENA_ARRAY(r->arena, JsonMember, n);
  if (n) memcpy(members, &r->members.data[first], n * sizeof *members);
  r->members.len = first;
  JsonTable *t = ARENA_NEW(r->arena, JsonTable);
  t->members = members;
  *out = (Json){.kind = JSON_OBJECT, .n = (uint32_t)n, .members = t};
  bool unique = n <= FEW ? unique_few(members, out->n) : fill_slots(r, t, out->n);
  return unique || fail_json(r, E_JSON_TWICE);
}

static bool read_object(Reader *r, Json *out) {
  size_t first = r->members.len;
  r->at++;
  skip_json_space(r);
  for (bool more = peek_char(r) != '}'; more; more = peek_char(r) == ',') {
    if (r->members.len > first) r->at++;
    JsonMember m;
    skip_json_space(r);
    if (!string(r, &m.key) || !take_char(r, ':', E_JSON_COLON) || !read_json_value(r, &m.value))
      return false;
    vec_push(r->scratch, &r->members, m);
    skip_json_space(r);
  }
  return take_char(r, '}', E_JSON_OBJECT) && close_object(r, first, out);
}

/* ---- arrays, and everything ---- */

static bool array(Reader *r, Json *out) {
  size_t first = r->items.len;
  r->at++;
  skip_json_space(r);
  for (bool more = peek_char(r) != ']'; more; more = peek_char(r) == ',') {
    if (r->items.len > first) r->at++;
    Json item;
    if (!read_json_value(r, &item)) return false;
    vec_push(r->scratch, &r->items, item);
    skip_json_space(r);
  }
  if (!take_char(r, ']', E_JSON_ARRAY)) return false;
  size_t n = r->items.len - first;
  Json *items = ARENA_ARRAY(r->arena, Json, n);
  if (n) memcpy(items, &r->items.data[first], n * sizeof *items);
  r->items.len = first;
  *out = (Json){.kind = JSON_ARRAY, .n = (uint32_t)n, .items = items};
  return true;
}

static bool nested(Reader *r, Json *out) {
  if (r->depth == JSON_DEPTH_MAX) return fail_json(r, E_JSON_DEPTH);
  r->depth++;
  bool ok = peek_char(r) == '{' ? read_object(r, out) : array(r, out);
  r->depth--;
  return ok;
}

static bool read_keyword(Reader *r, const char *text, JsonKind kind, Json *out) {
  size_t n = strlen(text);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n)) return fail_json(r, E_JSON_VALUE);
  r->at += n;
  *out = (Json){.kind = kind};
  return true;
}

static bool read_json_value(Reader *r, Json *out) {
  skip_json_space(r);
  switch (peek_char(r)) {
    case '{':
    case '[': return nested(r, out);
    case '"': out->kind = JSON_STRING; return string(r, &out->string);
    case 't': return read_keyword(r, "true", JSON_TRUE, out);
    case 'f': return read_keyword(r, "false", JSON_FALSE, out);
    case 'n': return read_keyword(r, "null", JSON_NULL, out);
    case '-': return read_json_number(r, out);
    default: break;
  }
  if (peek_char(r) >= '0' && peek_char(r) <= '9') return read_json_number(r, out);
  return fail_json(r, r->at == r->end ? E_JSON_END : E_JSON_VALUE);
}

static bool document(Reader *r, Json *out) {
  if (!read_json_value(r, out)) return false;
  skip_json_space(r);
  return r->at == r->end || fail_json(r, E_JSON_MORE);
}

static JsonError error_at(const Reader *r) {
  JsonError e = {1, 1, r->wrong};
  for (const char *s = r->text; s < r->at; s++) {
    e.column++;
    if (*s == '\n') e.line++, e.column = 1;
  }
  return e;
}

const Json *json_read(Arena *a, const char *text, size_t size, JsonError *error) {
  Reader r = {.arena = a, .scratch = arena_child(a), .text = text, .at = text, .end = text + size};
  Json *root = ARENA_NEW(a, Json);
  bool ok = document(&r, root);
  if (!ok) *error = error_at(&r);
  arena_free(r.scratch);
  return ok ? root : NULL;
}

const JsonMember *json_member(const Json *object, size_t i) {
  return json_is(object, JSON_OBJECT) && i < object->n ? &object->members->members[i] : NULL;
}

const Json *json_get(const Json *object, const char *key) {
  if (!json_is(object, JSON_OBJECT)) return NULL;
  const JsonTable *t = object->members;
  if (t->slots) {
    uint32_t slot = *key_slot(t, key);
    return slot ? &t->members[slot - 1].value : NULL;
  }
  for (uint32_t i = 0; i < object->n; i++)
    if (!strcmp(t->members[i].key, key)) return &t->members[i].value;
  return NULL;
}
