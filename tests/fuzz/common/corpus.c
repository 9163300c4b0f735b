#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/common/fuzz.h"

bool corpus_add(Corpus *c, const uint8_t *data, size_t len) {
  if (c->n == c->cap) {
    size_t cap = c->cap ? c->cap * 2 : 64;
    Bytes *items = realloc(c->items, cap * sizeof *items);
    if (!items) return false;
    c->items = items;
    c->cap = cap;
  }
  uint8_t *copy = malloc(len + 1);
  if (!copy) return false;
  memcpy(copy, data, len);
  c->items[c->n++] = (Bytes){copy, len};
  return true;
}

static void read_one(Corpus *c, const char *path, size_t largest) {
  uint8_t *data = malloc(largest + 1);
  FILE *f = fopen(path, "rb");
  size_t n = f && data ? fread(data, 1, largest + 1, f) : 0;
  if (n && n <= largest) corpus_add(c, data, n);
  if (f) fclose(f);
  free(data);
}

size_t corpus_read(Corpus *c, const char *pattern, size_t largest) {
  glob_t found;
  size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
  for (size_t i = 0; i < n; i++) read_one(c, found.gl_pathv[i], largest);
  globfree(&found);
  return n;
}
