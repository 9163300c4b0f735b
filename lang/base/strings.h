/* Interned strings: equal text is the same pointer, so names compare with ==.
 * A Name is a NUL-terminated string in the pool's arena; it may hold no NUL itself. */
#ifndef NEREID_LANG_BASE_STRINGS_H
#define NEREID_LANG_BASE_STRINGS_H

#include <stdio.h>

#include "lang/base/arena.h"

typedef const char *Name;
typedef struct Pool Pool;

Pool *pool_new(Arena *a);
Name pool_name(Pool *p, const char *s);
Name pool_namen(Pool *p, const char *s, size_t n);

/* A growing text: what all printers write to.  `data` is NUL-terminated after every call. */
typedef struct {
  Arena *arena;
  char *data;
  size_t len, cap;
} Text;

Text text_new(Arena *a);
void text_puts(Text *t, const char *s);
void text_putn(Text *t, const char *s, size_t n);
void text_printf(Text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* `s` in double quotes, with backslash escapes (\" \\ \n \t \r \xNN); UTF-8 bytes stand as they
 * are. */
void text_quote(Text *t, const char *s);
/* Bytes of the UTF-8 character at `at`, before `left` bytes end; 0: it is none, overlong, a
 * surrogate, or too large. */
size_t utf8_length(const char *at, size_t left);
/* The text as a string of JSON; bytes that are no UTF-8 become U+FFFD. */
void text_json(Text *t, const char *s);
void json_print_string(FILE *out, const char *s, size_t len); /* without memory */
/* Is it part of a name: a letter, a digit, `_`, or a byte of a character beyond ASCII? */
static inline bool text_is_name_char(char c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80);
}
/* strtod, whatever the decimal point of the program's locale; false if not all of s is a number. */
bool text_to_double(const char *s, size_t len, double *out);

#endif
