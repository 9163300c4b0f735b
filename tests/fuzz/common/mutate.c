/* Changes of an input.  Most work on words and lines, since most inputs are texts; on bytes that
 * are none they do no harm. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/common/fuzz.h"

uint64_t random_next(Random *r) {
  uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

size_t random_below(Random *r, size_t n) { return n ? (size_t)(random_next(r) % n) : 0; }

typedef struct {
  Bytes *b;
  size_t largest;
  const Corpus *corpus;
  const char *const *words;
  Random *random;
} Mutation;

typedef struct {
  size_t at, len;
} Range;

/* Replaces a range by `n` bytes that lie elsewhere. */
static void splice(Mutation *m, Range cut, const void *with, size_t n) {
  Bytes *b = m->b;
  if (b->len - cut.len + n > m->largest) return;
  memmove(b->data + cut.at + n, b->data + cut.at + cut.len, b->len - cut.at - cut.len);
  memcpy(b->data + cut.at, with, n);
  b->len = b->len - cut.len + n;
}

/* ---- ranges ---- */

enum { LONGEST_RANGE = 256 };

static Range some_bytes(Random *r, const Bytes *b) {
  Range range = {random_below(r, b->len + 1), 0};
  size_t left = b->len - range.at, most = random_below(r, 4) ? 16 : LONGEST_RANGE;
  range.len = random_below(r, (left < most ? left : most) + 1);
  return range;
}

static Range some_lines(Random *r, const Bytes *b) {
  size_t from = random_below(r, b->len), to = from;
  while (from && b->data[from - 1] != '\n') from--;
  for (size_t lines = 1 + random_below(r, 3); lines && to < b->len; to++)
    lines -= b->data[to] == '\n';
  return (Range){from, to - from < LONGEST_RANGE ? to - from : LONGEST_RANGE};
}

static bool in_word(uint8_t c) {
  return isalnum(c) || c == '_' || c == '%' || c == '.' || c >= 128;
}

/* A word, or one byte that is in none. */
static Range some_word(Random *r, const Bytes *b) {
  size_t from = random_below(r, b->len), to = from;
  while (from && in_word(b->data[from - 1]) && in_word(b->data[from])) from--;
  while (to < b->len && in_word(b->data[to])) to++;
  size_t len = to > from ? to - from : from < b->len;
  return (Range){from, len < LONGEST_RANGE ? len : LONGEST_RANGE};
}

static Range some_number(Random *r, const Bytes *b) {
  Range range = {0, 0};
  size_t start = random_below(r, b->len);
  for (size_t k = 0; k < b->len; k++) {
    range.at = (start + k) % b->len;
    if (isdigit(b->data[range.at])) break;
  }
  while (range.at + range.len < b->len && isdigit(b->data[range.at + range.len])) range.len++;
  return range;
}

static Range some_range(Random *r, const Bytes *b) {
  switch (random_below(r, 3)) {
    case 0: return some_lines(r, b);
    case 1: return some_word(r, b);
    default: return some_bytes(r, b);
  }
}

/* ---- changes ---- */

static void insert_word(Mutation *m) {
  size_t n = 0;
  while (m->words[n]) n++;
  const char *word = m->words[random_below(m->random, n)];
  Range cut = some_word(m->random, m->b);
  if (random_below(m->random, 2)) cut.len = 0;
  if (n) splice(m, cut, word, strlen(word));
}

static void change_byte(Mutation *m) {
  if (!m->b->len) return;
  uint8_t *byte = &m->b->data[random_below(m->random, m->b->len)];
  if (random_below(m->random, 2)) *byte ^= (uint8_t)(1u << random_below(m->random, 8));
  else *byte = (uint8_t)random_next(m->random);
}

static void change_number(Mutation *m) {
  static const long long numbers[] = {
      0,    1,     2,     3,       4,         7,         8,         16,       31,
      32,   33,    64,    128,     255,       256,       -1,        -2,       1024,
      4096, 65535, 65536, 1 << 20, INT32_MAX, INT32_MIN, 1LL << 32, INT64_MAX};
  char text[32];
  long long v = numbers[random_below(m->random, sizeof numbers / sizeof *numbers)];
  Range cut = some_number(m->random, m->b);
  int n = snprintf(text, sizeof text, "%lld", v);
  if (cut.len) splice(m, cut, text, (size_t)n);
}

/* A range of the input, or of another one, goes to another place of it. */
static void copy_range(Mutation *m, const Bytes *from) {
  uint8_t copy[LONGEST_RANGE];
  size_t how = random_below(m->random, 3);
  Range what, to;
  if (!from->len || !m->b->len) return;
  if (how == 0) what = some_lines(m->random, from), to = some_lines(m->random, m->b);
  else if (how == 1) what = some_word(m->random, from), to = some_word(m->random, m->b);
  else what = some_bytes(m->random, from), to = some_bytes(m->random, m->b);
  if (random_below(m->random, 2)) to.len = 0;
  memcpy(copy, from->data + what.at, what.len);
  splice(m, to, copy, what.len);
}

static void change(Mutation *m) {
  switch (random_below(m->random, 8)) {
    case 0: change_byte(m); return;
    case 1: change_number(m); return;
    case 2: insert_word(m); return;
    case 3: splice(m, some_range(m->random, m->b), "", 0); return;
    case 4:
    case 5: copy_range(m, m->b); return;
    default: copy_range(m, &m->corpus->items[random_below(m->random, m->corpus->n)]);
  }
}

void mutate(Bytes *b, size_t largest, const Corpus *c, const char *const *words, Random *r) {
  Mutation m = {b, largest, c, words, r};
  size_t n = 1 + random_below(r, 4);
  if (!random_below(r, 8)) n += random_below(r, 16);
  while (n--) change(&m);
}
