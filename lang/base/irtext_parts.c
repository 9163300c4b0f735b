/* The parts of both IRs' texts, read and written: names, numbers, types, places, attribute lists.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lang/base/irtext.h"
#include "lang/messages.h"

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

static bool read_type_shape(IrReader *r, Type *t) {
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
  if (ir_accept(r, "[") && !read_type_shape(r, &t)) return type_scalar(DT_NONE);
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
  if (!file && !p.file) ir_expected(r, "a file's name: no location comes before this one");
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

static void read_int_list(IrReader *r, IrAttr *a) {
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

static void read_attr_number(IrReader *r, IrAttr *a) {
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
    read_int_list(r, a);
  } else {
    read_attr_number(r, a);
  }
}

/* Reports a list that is too long, or a key that came before. */
static void check_new_attr(IrReader *r, const IrAttr *list, size_t n) {
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
    check_new_attr(r, list.data, list.len);
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
