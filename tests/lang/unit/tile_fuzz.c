/* Mutations of the texts in tests/lang/tile/: the reader, the verifier and the printer must stand
 * any text, and what verifies must print, read and print alike.
 * `tile_fuzz [ROUNDS [SEED]]` runs that many mutations of each text; `make stress` runs it with
 * sanitizers. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/irtext.h"
#include "lang/tile/tile.h"

enum { MOST_TEXTS = 200, LONGEST = 20000, MUTATIONS = 4 };

typedef struct {
  char *data;
  size_t len;
} Bytes;

static unsigned long long state = 1;

static size_t random_below(size_t n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return n ? (size_t)((state >> 11) % n) : 0;
}

/* What hostile texts are made of. */
static const char *const pieces[] = {
    "%x",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "@",
    "\"",
    "-",
    "0",
    "1",
    "-1",
    "1e9",
    "inf",
    "nan",
    "f32",
    "i1",
    "*",
    "**u8",
    "f32[64]",
    "i32[1048576]",
    "f32[1,1,1,1,1,1,1,1]",
    "for ",
    "while ",
    "if %a {",
    "reduce ",
    "yield ",
    "condition ",
    "carry (",
    "mask ",
    "other ",
    "kernel @k() {",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "{axis 0}",
    "{combine \"add\"}",
    " : f32",
    "@\"f\":1:2",
    "@7",
    "#",
    "\n",
    "\xff",
    "\\x00",
    "0x1p-3",
    "%0 = ",
    "perm [0, 0]",
};

static size_t span_of(size_t len) { return 1 + random_below(len < 40 ? len : 40); }

/* Replaces `cut` bytes at `at` by `n` bytes. */
static void splice(Bytes *b, size_t at, size_t cut, const char *with, size_t n) {
  if (at + cut > b->len) cut = b->len - at;
  if (b->len - cut + n > LONGEST) return;
  memmove(b->data + at + n, b->data + at + cut, b->len - at - cut);
  memcpy(b->data + at, with, n);
  b->len = b->len - cut + n;
}

static void mutate(Bytes *b, const Bytes *other) {
  char copy[40];
  size_t at = random_below(b->len), from = random_below(b->len), n = span_of(b->len - from);
  const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
  switch (random_below(6)) {
    case 0: b->data[at] = (char)random_below(256); return;
    case 1: splice(b, at, random_below(12), "", 0); return;
    case 2: splice(b, at, 0, piece, strlen(piece)); return;
    case 3: splice(b, at, 1 + random_below(8), piece, strlen(piece)); return;
    case 4:
      memcpy(copy, b->data + from, n);
      splice(b, at, random_below(2) ? n : 0, copy, n);
      return;
    default:
      from = random_below(other->len);
      splice(b, at, random_below(40), other->data + from, span_of(other->len - from));
  }
}

/* Reads all kernels of a text; the text of those that verify, or NULL if there is an error. */
static const char *round_trip(Arena *a, Pool *names, const char *text, size_t len) {
  Diags *d = diags_new(a);
  Text out = text_new(a), messages = text_new(a);
  uint32_t file = diag_source(d, "fuzz.tile", text, len);
  size_t at = 0;
  for (TileFunc *f; (f = tile_parse(a, names, d, file, &at));)
    if (tile_verify(f, d)) tile_print(&out, f, d);
  diag_print(d, &messages);
  return diag_errors(d) ? NULL : out.data;
}

static bool stands(const Bytes *b) {
  Arena *a = arena_new();
  Pool *names = pool_new(a);
  const char *once = round_trip(a, names, b->data, b->len);
  const char *twice = once ? round_trip(a, names, once, strlen(once)) : NULL;
  bool good = !once || (twice && !strcmp(once, twice));
  if (!good) printf("-- text\n%.*s\n-- once\n%s\n", (int)b->len, b->data, once);
  arena_free(a);
  return good;
}

static int is_text(const struct dirent *e) {
  size_t len = strlen(e->d_name);
  return len > 5 && !strcmp(e->d_name + len - 5, ".tile");
}

static size_t read_texts(Bytes *texts) {
  struct dirent **files;
  int found = scandir("tests/lang/tile", &files, is_text, alphasort);
  size_t n = 0;
  for (int i = 0; i < found; i++) {
    char path[400];
    snprintf(path, sizeof path, "tests/lang/tile/%s", files[i]->d_name);
    free(files[i]);
    FILE *f = n < MOST_TEXTS ? fopen(path, "rb") : NULL;
    if (!f) continue;
    texts[n].data = malloc(LONGEST);
    if (texts[n].data) texts[n].len = fread(texts[n].data, 1, LONGEST, f), n++;
    fclose(f);
  }
  if (found >= 0) free(files);
  return n;
}

int main(int argc, char **argv) {
  static Bytes texts[MOST_TEXTS];
  static char room[LONGEST];
  size_t n = read_texts(texts), passed = 0, failed = 0;
  long rounds = argc > 1 ? atol(argv[1]) : 20;
  if (argc > 2) state = strtoull(argv[2], NULL, 10) | 1;
  for (long r = 0; r < rounds; r++)
    for (size_t i = 0; i < n; i++) {
      Bytes b = {room, texts[i].len};
      memcpy(room, texts[i].data, b.len);
      for (size_t m = random_below(MUTATIONS + 1); m-- && b.len;)
        mutate(&b, &texts[random_below(n)]);
      *(stands(&b) ? &passed : &failed) += 1;
    }
  for (size_t i = 0; i < n; i++) free(texts[i].data);
  printf("%zu passed, %zu failed\n", passed, failed + !n);
  return failed || !n;
}
