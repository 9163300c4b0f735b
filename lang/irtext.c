#include "lang/irtext.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/messages.h"

/* ---- characters ---- */

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
/* Bytes of UTF-8 count as letters: identifiers of the kernel language may have any. */
static bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}
static bool is_name(int c) { return is_letter(c) || is_digit(c); }

static int hex_digit(int c) {
  if (is_digit(c)) return c - '0';
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
static void take_name(IrReader *r) {
  while (is_name(byte_at(r, 0)) || (byte_at(r, 0) == '.' && is_name(byte_at(r, 1)))) r->at++;
}

/* Takes a number's characters.  `..` behind it is a range, and no part of it. */
static void take_number(IrReader *r, bool *is_float) {
  bool hex = byte_at(r, 0) == '0' && (byte_at(r, 1) | 32) == 'x';
  if (hex) r->at += 2;
  for (;; r->at++) {
    int c = byte_at(r, 0);
    bool exponent = hex ? (c | 32) == 'p' : (c | 32) == 'e';
    if (c == '.' && byte_at(r, 1) == '.') return;
    if (c == '.' || exponent) *is_float = true;
    if (exponent && (byte_at(r, 1) == '-' || byte_at(r, 1) == '+')) r->at++;
    if (c != '.' && !is_name(c)) return;
  }
}

static bool to_uint(const char *s, size_t len, uint64_t *out) {
  unsigned base = len > 2 && s[0] == '0' && (s[1] | 32) == 'x' ? 16 : 10;
  uint64_t v = 0;
  for (size_t i = base == 16 ? 2 : 0; i < len; i++) {
    int digit = hex_digit(s[i]);
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
  take_number(r, &is_float);
  size_t len = r->at - begin;
  t->span.len = (uint32_t)len;
  t->kind = is_float ? IT_FLOAT : IT_INT;
  bool good = is_float ? text_to_double(r->text + begin, len, &t->f) && isfinite(t->f)
                       : to_uint(r->text + begin, len, &t->i);
  if (!is_float) t->f = (double)t->i;
  if (!good) ir_error(r, t->span, E_TILE_NUMBER, (int)(len > 40 ? 40 : len), r->text + begin);
}

/* Reads the escape behind a backslash into *c. */
static bool lex_escape(IrReader *r, char *c) {
  int e = byte_at(r, 0);
  int hi = hex_digit(byte_at(r, 1)), lo = hi < 0 ? -1 : hex_digit(byte_at(r, 2));
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

/* A name behind a sigil. */
static void lex_sigil(IrReader *r, IrToken *t, IrTokenKind kind) {
  r->at++;
  t->kind = kind;
  take_name(r);
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
  if (is_digit(c)) {
    lex_number(r, &t);
  } else if (is_letter(c)) {
    t.kind = IT_WORD;
    take_name(r);
  } else if (c == '%' && is_name(next)) {
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

/* Line ends in n bytes.  A file of many kernels is opened behind each of them, so this must be
 * fast: the inner loop is one that compilers vectorize. */
static uint32_t count_lines(const char *s, size_t n) {
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
  if (!s || !s->text) BUG("an IR file without text");
  IrReader r = {.arena = a, .names = names, .diags = d, .file = file, .text = s->text};
  r.len = s->len;
  r.at = at < s->len ? at : s->len;
  r.line = 1;
  r.line += count_lines(s->text, r.at);
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

/* ---- pieces ---- */

static Name name_of_kind(IrReader *r, IrTokenKind kind, const char *what) {
  if (!ir_at_kind(r, kind)) {
    ir_expected(r, what);
    return NULL;
  }
  IrToken t = ir_next(r);
  return kind == IT_STRING ? t.s : pool_namen(r->names, t.text, t.len);
}

Name ir_word(IrReader *r, const char *what) { return name_of_kind(r, IT_WORD, what); }
Name ir_value(IrReader *r) { return name_of_kind(r, IT_VALUE, "a value (%name)"); }
Name ir_symbol(IrReader *r) { return name_of_kind(r, IT_SYMBOL, "a name (@name)"); }
Name ir_string(IrReader *r) { return name_of_kind(r, IT_STRING, "a string"); }

int64_t ir_int(IrReader *r) { return ir_int_in(r, INT64_MIN, INT64_MAX); }

int64_t ir_int_in(IrReader *r, int64_t lo, int64_t hi) {
  Span span = r->token.span;
  bool minus = ir_accept(r, "-");
  if (!ir_at_kind(r, IT_INT)) {
    ir_expected(r, "an integer");
    return 0;
  }
  uint64_t most = (uint64_t)INT64_MAX + minus, u = r->token.i;
  int64_t v = (int64_t)(minus ? -u : u);
  if (u > most || v < lo || v > hi) {
    ir_error(r, span, E_TILE_INT_RANGE, (long long)lo, (long long)hi);
    return 0;
  }
  ir_next(r);
  return v;
}

static bool read_shape(IrReader *r, Type *t) {
  Span span = r->token.span;
  do {
    if (t->rank == MAX_RANK) {
      ir_error(r, r->token.span, E_TILE_RANK, MAX_RANK);
      return false;
    }
    t->shape[t->rank++] = (int32_t)ir_int_in(r, 1, MAX_TILE);
    if (!r->failed && type_numel(*t) > MAX_TILE) ir_error(r, span, E_TILE_NUMEL, MAX_TILE);
    if (r->failed) return false;
  } while (ir_accept(r, ","));
  return ir_expect(r, "]");
}

Type ir_type(IrReader *r) {
  unsigned stars = 0;
  while (stars < 2 && ir_accept(r, "*")) stars++;
  if (!ir_at_kind(r, IT_WORD)) {
    ir_expected(r, "a type");
    return type_scalar(DT_NONE);
  }
  DType d = dtype_parse(r->token.text, r->token.len);
  if (d == DT_NONE) {
    ir_expected(r, "a type");
    return type_scalar(DT_NONE);
  }
  ir_next(r);
  Type t = stars == 2 ? type_ptr(DT_PTR) : stars ? type_ptr(d) : type_scalar(d);
  if (ir_accept(r, "[") && !read_shape(r, &t)) return type_scalar(DT_NONE);
  return t;
}

/* The file named in a place.  Their number is limited, as each new one is compared with all. */
static uint32_t place_file(IrReader *r) {
  enum { MOST_FILES = 1000 };
  Span span = r->token.span;
  Name name = ir_string(r);
  if (name && diag_file_count(r->diags) >= MOST_FILES) ir_error(r, span, E_TILE_FILES, MOST_FILES);
  return r->failed ? 0 : diag_source(r->diags, name, NULL, 0);
}

bool ir_place(IrReader *r, Span *out) {
  if (!ir_at(r, "@")) return false;
  ir_next(r);
  Span p = r->place;
  bool file = ir_at_kind(r, IT_STRING);
  if (file) {
    p.file = place_file(r);
    ir_expect(r, ":");
  }
  if (!file && !p.file) ir_expected(r, "a file's name: no place comes before this one");
  uint32_t first = (uint32_t)ir_int_in(r, 0, INT32_MAX);
  if (file && !ir_at(r, ":")) ir_expect(r, ":");
  if (ir_accept(r, ":")) {
    p.line = first;
    first = (uint32_t)ir_int_in(r, 0, INT32_MAX);
  }
  p.col = first;
  p.len = 1;
  if (r->failed) return false;
  *out = r->place = p;
  return true;
}

/* ---- attribute lists ---- */

void ir_attr_wrong(IrReader *r, const IrAttr *a, const char *what) {
  ir_error(r, a->span, E_TILE_ATTR_KIND, what, a->key);
}

static void read_list(IrReader *r, IrAttr *a) {
  VEC(int64_t) list = {0};
  a->kind = IA_INTS;
  while (!r->failed && !ir_at(r, "]")) {
    vec_push(r->arena, &list, ir_int(r));
    if (!ir_accept(r, ",")) break;
  }
  ir_expect(r, "]");
  a->list = list.data;
  a->len = (uint32_t)list.len;
}

static void read_number(IrReader *r, IrAttr *a) {
  bool minus = ir_accept(r, "-");
  IrToken t = r->token;
  double sign = minus ? -1 : 1;
  a->kind = IA_NUM;
  if (ir_accept(r, "inf")) {
    a->f = sign * INFINITY;
  } else if (ir_accept(r, "nan")) {
    a->f = NAN;
  } else if (t.kind == IT_FLOAT) {
    ir_next(r);
    a->f = sign * t.f;
  } else if (t.kind == IT_INT && (!minus || t.i <= (uint64_t)INT64_MAX + 1)) {
    ir_next(r);
    a->kind = IA_INT;
    a->f = sign * t.f;
    a->i = (int64_t)(minus ? -t.i : t.i);
    a->wide = !minus && t.i > INT64_MAX;
  } else {
    ir_expected(r, "an attribute's value");
  }
}

static void read_attr(IrReader *r, IrAttr *a) {
  a->span = r->token.span;
  a->key = ir_word(r, "an attribute's name");
  if (r->failed) return;
  if (ir_at(r, ",") || ir_at(r, "}") || ir_accept(r, "true")) {
    a->i = 1;
  } else if (ir_accept(r, "false")) {
    a->i = 0;
  } else if (ir_at_kind(r, IT_STRING)) {
    a->kind = IA_STR;
    a->s = ir_next(r).s;
  } else if (ir_accept(r, "[")) {
    read_list(r, a);
  } else {
    read_number(r, a);
  }
}

/* Reports a list that is too long, or a key that came before. */
static void check_attr(IrReader *r, const IrAttr *list, size_t n) {
  const IrAttr *a = &list[n - 1];
  if (n > IR_MAX_ATTRS) ir_error(r, a->span, E_TILE_ATTR_MANY, IR_MAX_ATTRS);
  for (size_t i = 0; i + 1 < n; i++)
    if (list[i].key == a->key) ir_error(r, a->span, E_TILE_ATTR_TWICE, a->key);
}

IrAttr *ir_attrs(IrReader *r, uint32_t *n) {
  VEC(IrAttr) list = {0};
  *n = 0;
  if (!ir_accept(r, "{")) return NULL;
  while (!r->failed && !ir_at(r, "}")) {
    IrAttr a = {.kind = IA_FLAG};
    read_attr(r, &a);
    if (r->failed) break;
    vec_push(r->arena, &list, a);
    check_attr(r, list.data, list.len);
    if (!ir_accept(r, ",")) break;
  }
  ir_expect(r, "}");
  *n = r->failed ? 0 : (uint32_t)list.len;
  return list.data;
}

static void print_list(Text *out, const IrAttr *a) {
  text_puts(out, " [");
  for (uint32_t i = 0; i < a->len; i++)
    text_printf(out, "%s%lld", i ? ", " : "", (long long)a->list[i]);
  text_puts(out, "]");
}

static void print_attr(Text *out, const IrAttr *a) {
  text_puts(out, a->key);
  switch (a->kind) {
    case IA_FLAG: text_puts(out, a->i ? "" : " false"); return;
    case IA_INT:
      if (a->wide) text_printf(out, " %llu", (unsigned long long)a->i);
      else text_printf(out, " %lld", (long long)a->i);
      return;
    case IA_NUM:
      text_puts(out, " ");
      ir_print_float(out, a->f, a->f32);
      return;
    case IA_STR:
      text_puts(out, " ");
      text_quote(out, a->s);
      return;
    case IA_INTS: print_list(out, a); return;
  }
}

void ir_print_attrs(Text *out, const IrAttr *attrs, uint32_t n) {
  if (!n) return;
  for (uint32_t i = 0; i < n; i++) {
    text_puts(out, i ? ", " : " {");
    print_attr(out, &attrs[i]);
  }
  text_puts(out, "}");
}

/* ---- printing ---- */

void ir_print_float(Text *out, double v, bool f32) {
  char buf[40];
  if (isnan(v) || isinf(v)) {
    text_puts(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
    return;
  }
  /* Whole numbers of moderate size as such: 100.0, not 1e+02. */
  bool whole = fabs(v) < 1e15 && v == trunc(v);
  for (int digits = whole ? 15 : 1; digits <= 17; digits++) {
    double back;
    int n = snprintf(buf, sizeof buf, "%.*g", digits, v);
    char *point = strpbrk(buf, localeconv()->decimal_point);
    if (point) *point = '.';
    if (text_to_double(buf, (size_t)n, &back) && (back == v || (f32 && (float)back == (float)v)))
      break;
  }
  text_puts(out, buf);
  if (!strpbrk(buf, ".e")) text_puts(out, ".0");
}

void ir_print_place(Text *out, const Diags *d, Span at, Span *last, uint32_t own_file) {
  const Source *s = diag_file(d, at.file);
  if (!s || at.file == own_file) return;
  text_puts(out, " @");
  bool same_file = last->file == at.file;
  if (!same_file) {
    text_quote(out, s->name);
    text_puts(out, ":");
  }
  if (!same_file || last->line != at.line) text_printf(out, "%u:", at.line);
  text_printf(out, "%u", at.col);
  *last = at;
}

Name ir_clean_name(Arena *a, const char *hint) {
  if (!hint || is_digit((unsigned char)*hint)) return "";
  char *s = arena_strndup(a, hint, strlen(hint));
  for (char *p = s; *p; p++) {
    bool inner_dot = *p == '.' && p > s && p[-1] != '.' && is_name((unsigned char)p[1]);
    if (!is_name((unsigned char)*p) && !inner_dot) *p = '_';
  }
  return s;
}

/* ---- maps ---- */

typedef struct IrSlot {
  Name name;
  void *thing;
} IrSlot;

enum { FIRST_SLOTS = 64 };

IrMap ir_map_new(Arena *a) { return (IrMap){.arena = a}; }

/* The slot of a name, or the free one where it belongs.  Names are interned: addresses differ. */
static IrSlot *slot_of(IrSlot *slots, uint32_t nslots, Name name) {
  uint64_t h = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15);
  for (uint32_t i = (uint32_t)(h >> 32);; i++) {
    IrSlot *s = &slots[i & (nslots - 1)];
    if (!s->name || s->name == name) return s;
  }
}

void *ir_map_get(const IrMap *m, Name name) {
  return m->nslots ? slot_of(m->slots, m->nslots, name)->thing : NULL;
}

static void grow(IrMap *m) {
  uint32_t n = m->nslots ? m->nslots * 2 : FIRST_SLOTS;
  IrSlot *slots = ARENA_ARRAY(m->arena, IrSlot, n);
  for (uint32_t i = 0; i < m->nslots; i++)
    if (m->slots[i].name) *slot_of(slots, n, m->slots[i].name) = m->slots[i];
  m->slots = slots;
  m->nslots = n;
}

bool ir_map_put(IrMap *m, Name name, void *thing) {
  if (m->count * 2 >= m->nslots) grow(m);
  IrSlot *s = slot_of(m->slots, m->nslots, name);
  if (s->name) return false;
  *s = (IrSlot){name, thing};
  m->count++;
  return true;
}

/* ---- names for values ---- */

IrNamer ir_namer_new(Arena *a, Pool *names) {
  return (IrNamer){.names = names, .taken = ir_map_new(a), .counters = ir_map_new(a)};
}

/* The hint without a `.12` that made it unique in an earlier text. */
static Name base_of(IrNamer *n, Name hint) {
  const char *dot = strrchr(hint, '.');
  if (!dot || strspn(dot + 1, "0123456789") != strlen(dot + 1)) return hint;
  return pool_namen(n->names, hint, (size_t)(dot - hint));
}

static Name numbered(IrNamer *n, Name base, uint32_t i) {
  char digits[16];
  Arena *a = n->taken.arena;
  int len = snprintf(digits, sizeof digits, "%s%u", *base ? "." : "", i);
  size_t size = strlen(base) + (size_t)len;
  char *s = arena_alloc(a, size + 1);
  memcpy(s, base, strlen(base));
  memcpy(s + strlen(base), digits, (size_t)len + 1);
  return pool_namen(n->names, s, size);
}

Name ir_namer_give(IrNamer *n, Name hint) {
  Arena *a = n->taken.arena;
  Name name = pool_name(n->names, ir_clean_name(a, hint));
  if (*name && ir_map_put(&n->taken, name, n)) return name;
  Name base = base_of(n, name);
  if (!*base) {
    /* Numbers clash with no hint: those begin with no digit. */
    return numbered(n, base, n->next++);
  }
  uint32_t *count = ir_map_get(&n->counters, base);
  if (!count) ir_map_put(&n->counters, base, count = ARENA_NEW(a, uint32_t));
  do name = numbered(n, base, ++*count);
  while (!ir_map_put(&n->taken, name, n));
  return name;
}
