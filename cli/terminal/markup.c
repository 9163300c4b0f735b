#include "cli/terminal/markup.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t REPLACEMENT = 0xfffd;

static bool continues(unsigned char c) { return (c & 0xc0) == 0x80; }

/* The character at s, which is not at the end of the text; *n bytes of it are read.  A byte that
 * begins no character is one by itself. */
static uint32_t decode_utf8(const char *s, size_t *n) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *u = (const unsigned char *)s;
  *n = 1;
  if (u[0] < 0x80) return u[0];
  size_t length = u[0] >= 0xf8 ? 0 : u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : u[0] >= 0xc0 ? 2 : 0;
  if (!length) return REPLACEMENT;
  uint32_t c = u[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if (!continues(u[i])) return REPLACEMENT;
    c = c << 6 | (u[i] & 0x3f);
  }
  if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return REPLACEMENT;
  *n = length;
  return c;
}

/* XML has no control characters but blanks, and two characters less. */
static bool is_xml(uint32_t c) {
  return (c >= ' ' && c != 0x7f && (c < 0x80 || c >= 0xa0) && c != 0xfffe && c != 0xffff) ||
         c == '\t' || c == '\n';
}

static void put_character(Text *out, const char *s, size_t n, uint32_t c) {
  switch (c) {
    case '&': text_puts(out, "&amp;"); break;
    case '<': text_puts(out, "&lt;"); break;
    case '>': text_puts(out, "&gt;"); break;
    case '"': text_puts(out, "&quot;"); break;
    case 0xfffd: text_puts(out, "\xef\xbf\xbd"); break;
    default: text_putn(out, s, n);
  }
}

void markup_short(Text *out, const char *s, int most) {
  bool all = markup_length(s) <= most;
  for (int i = 0; *s && (all || i + 1 < most); i++) {
    size_t n;
    uint32_t c = decode_utf8(s, &n);
    put_character(out, s, n, is_xml(c) ? c : REPLACEMENT);
    s += n;
  }
  if (!all) text_puts(out, "\xe2\x80\xa6");
}

void markup_text(Text *out, const char *s) { markup_short(out, s, INT32_MAX); }

int markup_length(const char *s) {
  int count = 0;
  for (size_t n; *s; s += n, count++) decode_utf8(s, &n);
  return count;
}

void markup_json_number(Text *out, double v) {
  char text[40];
  if (!isfinite(v)) {
    text_puts(out, "null");
    return;
  }
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v);
    if (strtod(text, NULL) == v) break;
  }
  text_puts(out, text);
}
