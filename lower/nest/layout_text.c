/* Reading layouts; layout_print (lower/nest/layout.c) writes them. */
#include <string.h>

#include "lower/messages.h"
#include "lower/nest/nest_text.h"

/* Digits of one layout can be summed and multiplied along an axis within these. */
enum { MOST_EXTENT = 1 << 20, MOST_SPAN = 1 << 26, MOST_AXIS = 1 << 26 };

typedef struct {
  const char *at, *end;
} Scan;

static void skip_space(Scan *s) {
  while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at) s->at++;
}

static bool accept(Scan *s, const char *word) {
  skip_space(s);
  size_t n = strlen(word);
  if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n)) return false;
  s->at += n;
  return true;
}

static bool at_number(Scan *s) {
  skip_space(s);
  return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

/* hi is small enough for ten times it to be an int32_t. */
static bool scan_number(Scan *s, int32_t lo, int32_t hi, int32_t *out) {
  if (!at_number(s)) return false;
  const char *begin = s->at;
  int32_t v = 0;
  for (; s->at < s->end && *s->at >= '0' && *s->at <= '9' && v <= hi; s->at++)
    v = v * 10 + (*s->at - '0');
  *out = v;
  if (v >= lo && v <= hi) return true;
  s->at = begin;
  return false;
}

static bool scan_place(Scan *s, uint8_t *out) {
  for (int p = 0; p < PLACE_COUNT; p++)
    if (accept(s, place_name((Place)p))) {
      *out = (uint8_t)p;
      return true;
    }
  return false;
}

/* Digits up to what is no number; *product is that of their extents. */
static bool scan_digits(Scan *s, Layout *l, int axis) {
  int64_t product = 1;
  do {
    Digit d = {.axis = (int8_t)axis};
    skip_space(s);
    const char *begin = s->at;
    if (l->ndigits == MAX_DIGITS) return false;
    if (!scan_number(s, 1, MOST_EXTENT, &d.extent) || !accept(s, "@")) return false;
    if (!scan_place(s, &d.place) || !accept(s, ":")) return false;
    if (!scan_number(s, 1, MOST_SPAN, &d.stride)) return false;
    product *= d.extent;
    if ((int64_t)d.extent * d.stride > MOST_SPAN || product > MOST_AXIS) {
      s->at = begin;
      return false;
    }
    if (d.extent > 1) l->d[l->ndigits++] = d;
  } while (at_number(s));
  return true;
}

static bool scan_axes(Scan *s, Layout *l) {
  if (!accept(s, "[")) return false;
  if (accept(s, "]")) return true;
  do {
    if (l->rank == MAX_RANK) return false;
    int axis = l->rank++;
    if (!scan_number(s, 1, MAX_TILE, &l->shape[axis])) return false;
    if (accept(s, "=") && !scan_digits(s, l, axis)) return false;
  } while (accept(s, ","));
  return accept(s, "]");
}

/* xor bits,base,shift: all within 32-bit addresses. */
static bool scan_xor(Scan *s, Layout *l) {
  int32_t bits, base, shift;
  if (!scan_number(s, 1, 16, &bits) || !accept(s, ",")) return false;
  if (!scan_number(s, 0, 15, &base) || !accept(s, ",")) return false;
  if (!scan_number(s, 1, 16, &shift)) return false;
  l->xor_bits = (uint8_t)bits;
  l->xor_base = (uint8_t)base;
  l->xor_shift = (uint8_t)shift;
  return base + shift + bits <= 32;
}

static bool is_word_end(const Scan *s) {
  if (s->at == s->end) return true;
  char c = *s->at;
  return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_');
}

const char *layout_scan(const char *text, size_t len, Layout *out, const char **bad) {
  Scan s = {text, text + len};
  *out = (Layout){0};
  bool good = scan_axes(&s, out);
  const char *end = s.at;
  if (good && accept(&s, "*") && at_number(&s)) {
    good = scan_digits(&s, out, -1);
    end = s.at;
  }
  s.at = good ? end : s.at;
  if (good && accept(&s, "xor") && is_word_end(&s)) {
    good = scan_xor(&s, out);
    end = s.at;
  }
  *bad = s.at;
  return good ? end : NULL;
}

bool layout_parse(IrReader *r, Layout *out) {
  *out = (Layout){0};
  if (!ir_at(r, "[")) {
    ir_expected(r, "a layout ([64 = 2@warp:1 32@lane:1])");
    return false;
  }
  size_t from = ir_offset(r);
  const char *bad, *end = layout_scan(r->text + from, r->len - from, out, &bad);
  size_t stop = (size_t)((end ? end : bad) - r->text);
  while (!ir_at_kind(r, IT_END) && ir_offset(r) < stop) ir_next(r);
  if (!end) ir_error(r, r->token.span, E_NEST_LAYOUT_TEXT, MAX_DIGITS);
  return !r->failed;
}
