#include "runtime/support/owned.h"

#include <stdlib.h>
#include <string.h>

void nereid_text_free(char *text) { free(text); }

int owned_copy(char **out, size_t *size, const char *from, size_t len) {
  *out = malloc(len + 1);
  if (!*out) return error_out_of_memory();
  memcpy(*out, from, len);
  (*out)[len] = 0;
  *size = len;
  return 0;
}
