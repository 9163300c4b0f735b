#include "cli/arguments/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/args.h"

static size_t name_length(const char *text) {
  size_t n = 0;
  if (isdigit((unsigned char)*text)) return 0;
  while (text_is_name_char(text[n])) n++;
  return text[n] == '=' ? n : 0;
}

bool number_is(const char *text) {
  size_t n = name_length(text);
  char *end;
  if (!n) return false;
  errno = 0;
  strtoll(text + n + 1, &end, 10);
  return end > text + n + 1 && !*end && !errno;
}

bool number_is_for(const char *text, const char *name) {
  size_t n = name_length(text);
  return strlen(name) == n && !memcmp(text, name, n);
}

int number_of(nereid_value **out, int64_t value) {
  nereid_tensor t;
  int code = nereid_value_parse(out, "zeros:i64[]");
  if (!code) code = nereid_value_tensor(&t, *out);
  if (code) return args_failed(code);
  memcpy(t.data, &value, sizeof value);
  return STATUS_OK;
}

int number_make(nereid_value **out, const char *text) {
  return number_of(out, strtoll(text + name_length(text) + 1, NULL, 10));
}
