#include "lang/base/irtext.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lang/messages.h"

/* ---- characters ---- */

static bool is_digit_byte(int c) { return c >= '0' && c <= '9'; }
/* Bytes of UTF-8 count as letters: identifiers of the kernel language may have any. */
static bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}
static bool is_name_byte(int c) { return is_letter(c) || is_digit_byte(c); }

static int ir_hex_digit(int c) {
  if (is_digit_byte(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte `ahead` of the cursor, 0 at the end. */
static int byte_at(const IrReader *r, size_t ahead) {
  return r->len - r->at > ahead ? (unsigned char)r->text[r->at + ahead] : 0;
}

/* ---- errors ---- */

void ir_error(IrReader *r, Span span, const char *fmt, ...) {
  if (r->failed) return;
  va_list ap;
  va_start(ap, fmt);
  char *text = arena_vprintf(r->arena, fmt, ap);
  va_end(ap);
  diag_error(r->diags, span, "%s", text);
  diag_format(r->diags, fmt);
  r->failed = true;
  r->token.kind = IT_END;
}

/* The next token in the words of a message; long ones are cut. */
static const char *found(const IrReader *r) {
  enum { SHOWN = 40 };
  const IrToken *t = &r->token;
  if (t->kind == IT_END) return "the end of the file";
  const char *sigil = t->kind == IT_VALUE ? "%" : t->kind == IT_SYMBOL ? "@" : "";
  const char *dots = t->len > SHOWN ? "..." : "";
  return arena_printf(r->arena, "`%s%.*s%s`", sigil, (int)(t->len > SHOWN ? SHOWN : t->len),
                      t->text, dots);
}

void ir_expected(IrReader *r, const char *what) {
  if (!r->failed) ir_error(r, r->token.span, E_TILE_EXPECTED, what, found(r));
}

/* ---- the tokenizer ---- */

/* Skips white space and comments; true if a line ended. */
static bool skip_blank(IrReader *r) {
  bool line_end = false;
  for (;; r->at++) {
    int c = byte_at(r, 0);
    if (c == '#' || (c == '/' && byte_at(r, 1) == '/')) {
      const char *nl = memchr(r->text + r->at, '\n', r->len - r->at);
      r->at = nl ? (size_t)(nl - r->text) : r->len;
      c = byte_at(r, 0);
    }
    if (c == '\n') {
      r->line++;
      r->line_start = r->at + 1;
      line_end = true;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return line_end;
    }
  }
}

/* Takes a name: parts of name characters with single dots between them. */
static void lex_name(IrReader *r) {
  while (is_name_byte(byte_at(r, 0)) || (byte_at(r, 0) == '.' && is_name_byte(byte_at(r, 1))))
    r->at++;
}

/* Takes a number's characters.  A `..` after it begins a range, and is no part of it. */
static void lex_number_text(IrReader *r, bool *is_float) {
  bool hex = byte_at(r, 0) == '0' && (byte_at(r, 1) | 32) == 'x';
  if (hex) r->at += 2;
  for (;; r->at++) {
    int c = byte_at(r, 0);
    bool exponent = hex ? (c | 32) == 'p' : (c | 32) == 'e';
    if (c == '.' && byte_at(r, 1) == '.') return;
    if (c == '.' || exponent) *is_float = true;
    if (exponent && (byte_at(r, 1) == '-' || byte_at(r, 1) == '+')) r->at++;
    if (c != '.' && !is_name_byte(c)) return;
  }
}

static bool to_uint(const char *s, size_t len, uint64_t *out) {
  unsigned base = len > 2 && s[0] == '0' && (s[1] | 32) == 'x' ? 16 : 10;
  uint64_t v = 0;
  for (size_t i = base == 16 ? 2 : 0; i < len; i++) {
    int digit = ir_hex_digit(s[i]);
    if (digit < 0 || digit >= (int)base) return false;
    if (v > (UINT64_MAX - (unsigned)digit) / base) return false;
    v = v * base + (unsigned)digit;
  }
  *out = v;
  return len > 0;
}

static void lex_number(IrReader *r, IrToken *t) {
  bool is_float = false;
  size_t begin = r->at;
  lex_number_text(r, &is_float);
  size_t len = r->at - begin;
  t->span.len = (uint32_t)len;
  t->kind = is_float ? IT_FLOAT : IT_INT;
  bool good = is_float ? text_to_double(r->text + begin, len, &t->f) && isfinite(t->f)
                       : to_uint(r->text + begin, len, &t->i);
  if (!is_float) t->f = (double)t->i;
  if (!good) ir_error(r, t->span, E_TILE_NUMBER, (int)(len > 40 ? 40 : len), r->text + begin);
}

/* Reads the escape after a backslash into *c. */
static bool lex_escape(IrReader *r, char *c) {
  int e = byte_at(r, 0);
  int hi = ir_hex_digit(byte_at(r, 1)), lo = hi < 0 ? -1 : ir_hex_digit(byte_at(r, 2));
  r->at++;
  switch (e) {
    case 'n': *c = '\n'; return true;
    case 't': *c = '\t'; return true;
    case 'r': *c = '\r'; return true;
    case '"':
    case '\\': *c = (char)e; return true;
    case 'x':
      if (lo < 0 || hi * 16 + lo == 0) return false;
      *c = (char)(hi * 16 + lo);
      r->at += 2;
      return true;
    default: return false;
  }
}

static void lex_string(IrReader *r, IrToken *t) {
  const char *nl = memchr(r->text + r->at, '\n', r->len - r->at);
  size_t end = nl ? (size_t)(nl - r->text) : r->len;
  Text out = text_new(r->arena);
  t->kind = IT_STRING;
  for (r->at++; r->at < end && r->text[r->at] != '"' && r->text[r->at];) {
    char c = r->text[r->at++];
    Span here = {r->file, r->line, (uint32_t)(r->at - r->line_start), 1};
    if (c == '\\' && !lex_escape(r, &c)) {
      ir_error(r, here, E_TILE_ESCAPE);
      return;
    }
    text_putn(&out, &c, 1);
  }
  if (r->at >= end || r->text[r->at] != '"') {
    ir_error(r, t->span, E_TILE_STRING_END);
    return;
  }
  r->at++;
  t->s = pool_namen(r->names, out.data, out.len);
}

static void lex_punct(IrReader *r, IrToken *t) {
  static const char *const pairs[] = {
      "->", "..", "+=", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};
  int c = byte_at(r, 0), next = byte_at(r, 1);
  t->kind = IT_PUNCT;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (c == pairs[i][0] && next == pairs[i][1]) {
      r->at += 2;
      return;
    }
  r->at++;
  if (c <= ' ' || c >= 127) ir_error(r, t->span, E_TILE_CHAR, (unsigned)c);
}

/* A name after a sigil. */
static void lex_sigil(IrReader *r, IrToken *t, IrTokenKind kind) {
  r->at++;
  t->kind = kind;
  lex_name(r);
}

static IrToken lex(IrReader *r) {
  bool first = r->at == 0;
  if (skip_blank(r)) first = true;
  IrToken t = {.kind = IT_END, .first = first};
  size_t begin = r->at;
  t.span = (Span){r->file, r->line, (uint32_t)(begin - r->line_start) + 1, 1};
  t.text = r->text + begin;
  if (begin == r->len) return t;
  int c = byte_at(r, 0), next = byte_at(r, 1);
  if (is_digit_byte(c)) {
    lex_number(r, &t);
  } else if (is_letter(c)) {
    t.kind = IT_WORD;
    lex_name(r);
  } else if (c == '%' && is_name_byte(next)) {
    lex_sigil(r, &t, IT_VALUE);
  } else if (c == '@' && is_letter(next)) {
    lex_sigil(r, &t, IT_SYMBOL);
  } else if (c == '"') {
    lex_string(r, &t);
  } else {
    lex_punct(r, &t);
  }
  bool sigil = t.kind == IT_VALUE || t.kind == IT_SYMBOL;
  t.span.len = (uint32_t)(r->at - begin);
  t.text += sigil;
  t.len = t.span.len - sigil;
  if (r->failed) t.kind = IT_END;
  return t;
}

/* Line ends in n bytes.  A file of many kernels is reopened after each of them, so this must be
 * fast: the inner loop is one that compilers vectorize. */
static uint32_t count_line_ends(const char *s, size_t n) {
  enum { BLOCK = 128 };
  uint32_t lines = 0;
  for (; n >= BLOCK; s += BLOCK, n -= BLOCK) {
    uint8_t here = 0;
    for (int i = 0; i < BLOCK; i++) here += s[i] == '\n';
    lines += here;
  }
  for (; n; n--) lines += *s++ == '\n';
  return lines;
}

IrReader ir_open(Arena *a, Pool *names, Diags *d, uint32_t file, size_t at) {
  const Source *s = diag_file(d, file);
  BUG_IF(!s || !s->text, "an IR file without text");
  IrReader r = {.arena = a, .names = names, .diags = d, .file = file, .text = s->text};
  r.len = s->len;
  r.at = at < s->len ? at : s->len;
  r.line = 1;
  r.line += count_line_ends(s->text, r.at);
  const char *nl = r.at ? memrchr(s->text, '\n', r.at) : NULL;
  if (nl) r.line_start = (size_t)(nl + 1 - s->text);
  r.token = lex(&r);
  return r;
}

size_t ir_offset(const IrReader *r) {
  const IrToken *t = &r->token;
  return (size_t)(t->text - r->text) - (t->kind == IT_VALUE || t->kind == IT_SYMBOL);
}

IrToken ir_next(IrReader *r) {
  IrToken t = r->token;
  if (t.kind != IT_END) r->token = lex(r);
  return t;
}

bool ir_at(const IrReader *r, const char *s) {
  const IrToken *t = &r->token;
  if (t->kind != IT_WORD && t->kind != IT_PUNCT) return false;
  return strlen(s) == t->len && !memcmp(s, t->text, t->len);
}

bool ir_accept(IrReader *r, const char *s) {
  if (!ir_at(r, s)) return false;
  ir_next(r);
  return true;
}

bool ir_expect(IrReader *r, const char *s) {
  if (ir_accept(r, s)) return true;
  if (!r->failed) ir_expected(r, arena_printf(r->arena, "`%s`", s));
  return false;
}

Name ir_clean_name(Arena *a, const char *hint) {
  if (!hint || is_digit_byte((unsigned char)*hint)) return "";
  char *s = arena_strndup(a, hint, strlen(hint));
  for (char *p = s; *p; p++) {
    bool inner_dot = *p == '.' && p > s && p[-1] != '.' && is_name_byte((unsigned char)p[1]);
    if (!is_name_byte((unsigned char)*p) && !inner_dot) *p = '_';
  }
  return s;
}
