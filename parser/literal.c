#include "parser/literal.h"

#include <stdlib.h>
#include <string.h>

#include "parser/ast_build.h"
#include "parser/messages.h"
#include "parser/syntax.h"

/* ---- numbers ---- */

static Expr *bad_number(Parser *p, const Token *t, const char *why) {
  PARSE_ERROR(p, parse_token_loc(t), E_PARSE_NUMBER, syntax_text(p, t), why);
  return NULL;
}

/* The digits of `t` without separators; NULL if one is out of place. */
static const char *plain_digits(Parser *p, const Token *t) {
  const char *s = p->text + t->pos;
  char *out = arena_alloc(p->scratch, t->len + 1);
  size_t n = 0;
  for (uint32_t i = 0; i < t->len; i++) {
    if (s[i] != '_') {
      out[n++] = s[i];
      continue;
    }
    bool after = i + 1 < t->len && ((s[i + 1] >= '0' && s[i + 1] <= '9') ||
                                    ((s[i + 1] | 32) >= 'a' && (s[i + 1] | 32) <= 'f'));
    if (!after || s[i - 1] == '.') return NULL;
  }
  return out;
}

static int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 32;
  return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

static void read_digits(Expr *e, const char *s, unsigned base) {
  for (; *s; s++) {
    unsigned d = (unsigned)digit_value(*s);
    if (e->ival > (UINT64_MAX - d) / base) {
      e->big = true;
      e->ival = 0;
      return;
    }
    e->ival = e->ival * base + d;
  }
}

static Expr *parse_integer(Parser *p, const Token *t, const char *s) {
  unsigned base = 10;
  if (s[0] == '0' && s[1]) {
    char c = (char)(s[1] | 32);
    base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
    if (base != 10) s += 2;
    else if (strspn(s, "0") != strlen(s)) return bad_number(p, t, "an octal number starts with 0o");
  }
  if (!*s) return bad_number(p, t, "digits are missing");
  for (const char *q = s; *q; q++)
    if (digit_value(*q) >= (int)base) return bad_number(p, t, "a digit is too large for its base");
  Expr *e = build_expr(p, EX_INT, parse_token_loc(t));
  read_digits(e, s, base);
  return e;
}

Expr *literal_number(Parser *p, const Token *t) {
  const char *s = plain_digits(p, t);
  if (!s) return bad_number(p, t, "'_' may only separate digits");
  bool hex = s[0] == '0' && (s[1] | 32) == 'x';
  if (!hex && strpbrk(s, "jJ")) return bad_number(p, t, "there are no imaginary numbers");
  if (hex || !strpbrk(s, ".eE")) return parse_integer(p, t, s);
  Expr *e = build_expr(p, EX_FLOAT, parse_token_loc(t));
  e->fval = strtod_l(s, NULL, p->c_locale);
  return e;
}

/* ---- strings ---- */

/* The bytes of a literal, decoded so far.  It never grows past the length of its text, but for
 * the escapes of two digits that become two bytes (\xff is 4 characters long). */
typedef struct {
  char *data;
  size_t len;
} Bytes;

static void put_byte(Bytes *b, char c) { b->data[b->len++] = c; }

/* Code point 0 becomes c0 80, since names hold no NUL; surrogates have no UTF-8. */
static void put_code_point(Bytes *b, uint32_t c) {
  if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
  if (c && c < 0x80) {
    put_byte(b, (char)c);
  } else if (c < 0x800) {
    put_byte(b, (char)(0xc0 | c >> 6));
    put_byte(b, (char)(0x80 | (c & 63)));
  } else if (c < 0x10000) {
    put_byte(b, (char)(0xe0 | c >> 12));
    put_byte(b, (char)(0x80 | (c >> 6 & 63)));
    put_byte(b, (char)(0x80 | (c & 63)));
  } else {
    put_byte(b, (char)(0xf0 | c >> 18));
    put_byte(b, (char)(0x80 | (c >> 12 & 63)));
    put_byte(b, (char)(0x80 | (c >> 6 & 63)));
    put_byte(b, (char)(0x80 | (c & 63)));
  }
}

/* The literal being decoded. */
typedef struct {
  Parser *p;
  const Token *t;
  const char *s, *end;
  Bytes out;
} Decoder;

static bool bad_escape(Decoder *d, const char *at, size_t len) {
  PARSE_ERROR(d->p, parse_token_loc(d->t), E_PARSE_ESCAPE, (int)len, at);
  return false;
}

/* \xhh, \uhhhh, \Uhhhhhhhh: at the letter. */
static bool hex_escape(Decoder *d, unsigned digits) {
  const char *from = d->s - 1;
  uint32_t c = 0;
  for (unsigned i = 0; i < digits; i++) {
    d->s++;
    int h = d->s < d->end ? digit_value(*d->s) : 99;
    if (h >= 16) return bad_escape(d, from, (size_t)(d->s - from));
    c = c << 4 | (unsigned)h;
  }
  d->s++;
  if (c > 0x10ffff) return bad_escape(d, from, (size_t)(d->s - from));
  put_code_point(&d->out, c);
  return true;
}

static void octal_escape(Decoder *d) {
  uint32_t c = 0;
  for (int i = 0; i < 3 && d->s < d->end && *d->s >= '0' && *d->s <= '7'; i++)
    c = c * 8 + (uint32_t)(*d->s++ - '0');
  put_code_point(&d->out, c);
}

/* \N{name} stays as it is: it would need the names of Unicode. */
static void named_escape(Decoder *d) {
  put_byte(&d->out, '\\');
  put_byte(&d->out, *d->s++);
  if (d->s == d->end || *d->s != '{') return;
  while (d->s < d->end && *d->s != '}') put_byte(&d->out, *d->s++);
  if (d->s < d->end) put_byte(&d->out, *d->s++);
}

/* At a backslash that isn't the last character. */
static bool decode_escape(Decoder *d) {
  static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
  char c = *++d->s;
  const char *simple = c ? strchr(names, c) : NULL;
  if (simple) {
    put_byte(&d->out, values[simple - names]);
    d->s++;
  } else if (c == '\r' || c == '\n') {
    d->s += c == '\r' && d->s + 1 < d->end && d->s[1] == '\n' ? 2 : 1;
  } else if (c >= '0' && c <= '7') {
    octal_escape(d);
  } else if (c == 'N') {
    named_escape(d);
  } else if (c == 'x') {
    return hex_escape(d, 2);
  } else if (c == 'u') {
    return hex_escape(d, 4);
  } else if (c == 'U') {
    return hex_escape(d, 8);
  } else {
    put_byte(&d->out, '\\');
  }
  return true;
}

/* Decodes one character without an escape. */
static bool decode_plain(Decoder *d, bool braces) {
  size_t n = utf8_length(d->s, (size_t)(d->end - d->s));
  if (!n) {
    PARSE_ERROR(d->p, parse_token_loc(d->t), E_PARSE_BYTE, (unsigned char)*d->s);
    return false;
  }
  if (!*d->s) {
    PARSE_ERROR(d->p, parse_token_loc(d->t), E_PARSE_NUL);
    return false;
  }
  if (*d->s == '\r') { /* as Python reads line ends */
    put_byte(&d->out, '\n');
    d->s += d->s + 1 < d->end && d->s[1] == '\n' ? 2 : 1;
    return true;
  }
  if (braces && (*d->s == '{' || *d->s == '}')) d->s++; /* doubled */
  for (size_t i = 0; i < n; i++) put_byte(&d->out, *d->s++);
  return true;
}

static bool decode_text(Decoder *d, bool raw, bool braces) {
  while (d->s < d->end) {
    bool last = d->s + 1 == d->end;
    bool ok = *d->s == '\\' && !raw && !last ? decode_escape(d) : decode_plain(d, braces);
    if (!ok) return false;
  }
  return true;
}

Expr *literal_string(Parser *p, const Token *t) {
  const char *s = p->text + t->pos, *end = s + t->len;
  bool inside = !(t->flags & STR_QUOTED); /* of an f-string */
  if (!inside) {
    while (*s != '"' && *s != '\'') s++;
    s += t->flags & STR_TRIPLE ? 3 : 1;
    end -= t->flags & STR_TRIPLE ? 3 : 1;
  }
  Decoder d = {.p = p, .t = t, .s = s, .end = end};
  d.out.data = arena_alloc(p->scratch, (size_t)(end - s) + 4);
  if (!decode_text(&d, t->flags & STR_RAW, inside && !(t->flags & STR_SPEC))) return NULL;
  Expr *e = build_expr(p, EX_STR, parse_token_loc(t));
  e->name = pool_namen(p->names, d.out.data, d.out.len);
  return e;
}

/* ---- putting strings together ---- */

/* Text that waits to become one EX_STR. */
typedef struct {
  Parser *p;
  Text text;
  Expr *first; /* where it began; NULL: nothing waits */
  uint32_t pieces;
  ExprList out;
} Joiner;

static void flush(Joiner *j) {
  if (!j->first) return;
  if (j->pieces > 1) {
    Expr *e = ARENA_NEW(j->p->arena, Expr);
    *e = *j->first;
    e->name = pool_namen(j->p->names, j->text.data, j->text.len);
    j->first = e;
  }
  list_push(j->p->arena, &j->out, j->first);
  j->text.len = j->pieces = 0;
  j->first = NULL;
}

static void join_items(Joiner *j, ExprList items) {
  for (uint32_t i = 0; i < items.len; i++) {
    Expr *e = items.data[i];
    if (e->kind == EX_STR) {
      if (!j->first) j->first = e;
      j->pieces++;
      text_puts(&j->text, e->name);
    } else if (e->kind == EX_FSTR) {
      join_items(j, e->items);
    } else {
      flush(j);
      list_push(j->p->arena, &j->out, e);
    }
  }
}

Expr *literal_join(Parser *p, Loc at, ExprList pieces) {
  if (pieces.len == 1 && pieces.data[0]->kind == EX_STR) return pieces.data[0];
  Joiner j = {.p = p, .text = text_new(p->scratch)};
  join_items(&j, pieces);
  flush(&j);
  if (j.out.len > 1 || (j.out.len && j.out.data[0]->kind == EX_FORMAT))
    return build_list(p, EX_FSTR, at, j.out);
  Expr *e = build_expr(p, EX_STR, at);
  e->name = j.out.len ? j.out.data[0]->name : pool_name(p->names, "");
  return e;
}

bool literal_field(Parser *p, ExprList *out, Loc at, Expr *value, const Loc *debug, char conv,
                   Expr *spec) {
  if (debug) {
    Expr *text = build_expr(p, EX_STR, *debug);
    text->name = pool_namen(p->names, p->text + debug->pos, debug->end - debug->pos);
    list_push(p->arena, out, text);
    if (!conv && !spec) conv = 'r';
  }
  Expr *e = build_node(p, EX_FORMAT, at, value, spec, NULL);
  if (!e) return false;
  e->bracket = conv;
  list_push(p->arena, out, e);
  return true;
}
