#include "lang/base/strings.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
  struct Entry *next;
  uint32_t hash;
  uint32_t len;
  char s[];
} Entry;

struct Pool {
  Arena *arena;
  Entry **slots;
  uint32_t nslots; /* a power of two */
  uint32_t count;
};

enum { FIRST_SLOTS = 256 };

Pool *pool_new(Arena *a) {
  Pool *p = ARENA_NEW(a, Pool);
  p->arena = a;
  p->nslots = FIRST_SLOTS;
  p->slots = ARENA_ARRAY(a, Entry *, FIRST_SLOTS);
  return p;
}

/* FNV-1a, 32 bits. */
static uint32_t hash_bytes(const char *s, size_t n) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 16777619u;
  return h;
}

static void rehash(Pool *p) {
  uint32_t n = p->nslots * 2;
  Entry **slots = ARENA_ARRAY(p->arena, Entry *, n);
  for (uint32_t i = 0; i < p->nslots; i++)
    for (Entry *e = p->slots[i], *next; e; e = next) {
      next = e->next;
      e->next = slots[e->hash & (n - 1)];
      slots[e->hash & (n - 1)] = e;
    }
  p->slots = slots;
  p->nslots = n;
}

Name pool_namen(Pool *p, const char *s, size_t n) {
  uint32_t h = hash_bytes(s, n);
  for (Entry *e = p->slots[h & (p->nslots - 1)]; e; e = e->next)
    if (e->hash == h && e->len == n && !memcmp(e->s, s, n)) return e->s;
  if (p->count >= p->nslots) rehash(p);
  Entry *e = arena_alloc(p->arena, sizeof *e + n + 1);
  e->hash = h;
  e->len = (uint32_t)n;
  memcpy(e->s, s, n);
  e->next = p->slots[h & (p->nslots - 1)];
  p->slots[h & (p->nslots - 1)] = e;
  p->count++;
  return e->s;
}

Name pool_name(Pool *p, const char *s) { return pool_namen(p, s, strlen(s)); }

Text text_new(Arena *a) {
  Text t = {.arena = a};
  text_putn(&t, "", 0);
  return t;
}

void text_putn(Text *t, const char *s, size_t n) {
  if (t->len + n + 1 > t->cap)
    t->data = vec_grow_(t->arena, t->data, t->len, 1, &t->cap, t->len + n + 1);
  if (n) memcpy(t->data + t->len, s, n); /* none of them may be at NULL */
  t->len += n;
  t->data[t->len] = 0;
}

void text_puts(Text *t, const char *s) { text_putn(t, s, strlen(s)); }

void text_printf(Text *t, const char *fmt, ...) {
  char small[256];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  va_end(ap);
  if ((size_t)n < sizeof small) {
    text_putn(t, small, (size_t)n);
    return;
  }
  va_start(ap, fmt);
  char *big = arena_vprintf(t->arena, fmt, ap);
  va_end(ap);
  text_putn(t, big, (size_t)n);
}

void text_quote(Text *t, const char *s) {
  text_puts(t, "\"");
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\') text_printf(t, "\\%c", c);
    else if (c == '\n') text_puts(t, "\\n");
    else if (c == '\t') text_puts(t, "\\t");
    else if (c == '\r') text_puts(t, "\\r");
    else if (c < 32 || c == 127) text_printf(t, "\\x%02x", c);
    else text_putn(t, s, 1);
  }
  text_puts(t, "\"");
}

size_t utf8_length(const char *at, size_t left) {
  const unsigned char *s = (const unsigned char *)at;
  size_t n = *s < 0x80 ? 1 : *s < 0xC2 ? 0 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : *s < 0xF5 ? 4 : 0;
  if (left < n) return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
  bool out = (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF4 && s[1] >= 0x90);
  return n > 1 && (overlong || out) ? 0 : n;
}

enum { JSON_CHARACTER = 8 };

/* The next character of a text, as a string of JSON has it; returns its length in the text. */
static size_t escape_json(const char *s, size_t left, char out[JSON_CHARACTER]) {
  size_t n = utf8_length(s, left);
  char c = *s;
  if (n == 0) return memcpy(out, "\xef\xbf\xbd", sizeof "\xef\xbf\xbd"), 1;
  if (c == '"' || c == '\\') snprintf(out, JSON_CHARACTER, "\\%c", c);
  else if (n == 1 && (c < ' ' || c == 0x7f)) snprintf(out, JSON_CHARACTER, "\\u%04x", c);
  else snprintf(out, JSON_CHARACTER, "%.*s", (int)n, s);
  return n;
}

void text_json(Text *t, const char *s) {
  char c[JSON_CHARACTER];
  text_puts(t, "\"");
  for (size_t left = strlen(s); left; text_puts(t, c)) {
    size_t n = escape_json(s, left, c);
    s += n;
    left -= n;
  }
  text_puts(t, "\"");
}

void json_print_string(FILE *out, const char *s, size_t len) {
  char c[JSON_CHARACTER];
  putc('"', out);
  for (size_t i = 0; i < len; fputs(c, out)) i += escape_json(s + i, len - i, c);
  putc('"', out);
}

bool text_to_double(const char *s, size_t len, double *out) {
  enum { LONGEST = 400 };
  char buf[LONGEST + 1], *end;
  if (!len || len > LONGEST) return false;
  memcpy(buf, s, len);
  buf[len] = 0;
  char *dot = strchr(buf, '.');
  if (dot) *dot = localeconv()->decimal_point[0];
  *out = strtod(buf, &end);
  return end == buf + len;
}
