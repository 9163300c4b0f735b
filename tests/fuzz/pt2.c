/* Exported programs.  An input is the bytes of a .pt2 file, or a text of which one is made:
 *
 *   @ NAME          an entry; the lines up to the next one are its contents
 *   @ NAME NUMBER   an entry of so many zeros */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ops/graph_text.h"
#include "import/pt2/pt2.h"
#include "import/text/text_forms.h"
#include "tests/fuzz/common/fuzz.h"
#include "tests/fuzz/common/pipeline.h"

enum { LARGEST = 1 << 15, ENTRIES = 64, ZEROS_MAX = 4096, ROOM = LARGEST + ENTRIES * 8192 };

static const char *const corpus[] = {"tests/fuzz/pt2/*", NULL};
static const char *const words[] = {"\"as_int\":9223372036854775807",
                                    "\"as_int\":-1",
                                    "\"as_expr\":{\"expr_str\":\"Symbol('s0', positive=True)\"}",
                                    "Add(Mul(Integer(2), Symbol('s1')), Rational(1, 2))",
                                    "FloorDiv(",
                                    "Pow(",
                                    "Max(",
                                    "\"as_tensor\":{\"name\":\"x\"}",
                                    "\"as_tensors\":[{\"name\":\"a\"},{\"name\":\"b\"}]",
                                    "\"as_none\":true",
                                    "\"as_sym_int\":{\"as_name\":\"n\"}",
                                    "\"as_float\":\"Infinity\"",
                                    "\"name\":\"input\"",
                                    "_unused_1",
                                    "\"storage_offset\":{\"as_int\":1}",
                                    "\"use_pickle\":true",
                                    "aten.relu.default",
                                    "torch.ops.",
                                    "\"stack_trace\":\"File \\\"a\\\", line 1, in f\\n  x\"",
                                    "user_input_mutation",
                                    "[",
                                    "]",
                                    "{",
                                    "}",
                                    "null",
                                    "\n@ ",
                                    "\\u0000",
                                    "PK\3\4",
                                    "PK\1\2",
                                    "PK\5\6",
                                    "../",
                                    NULL};

const FuzzTarget fuzz_target = {"pt2", corpus, words, LARGEST, 1500};

/* ---- archives of texts ---- */

typedef struct {
  uint8_t bytes[ROOM], directory[ENTRIES * 512];
  size_t len, directory_len;
  unsigned entries;
} Zip;

static void put(uint8_t *at, size_t n, uint64_t value) {
  for (size_t i = 0; i < n; i++) at[i] = (uint8_t)(value >> 8 * i);
}

/* The 26 bytes that both headers of an entry share. */
static void put_header(uint8_t *at, size_t size, size_t name_len, size_t extra_len) {
  memset(at, 0, 26);
  put(at, 2, 20);
  put(at + 14, 4, size);
  put(at + 18, 4, size);
  put(at + 22, 2, name_len);
  put(at + 24, 2, extra_len);
}

static void add_entry(Zip *z, const char *name, size_t name_len, const uint8_t *data, size_t size) {
  size_t start = z->len, extra = -(start + 30 + name_len) % 64;
  if (z->entries == ENTRIES || name_len > 400) return;
  uint8_t *local = z->bytes + start, *entry = z->directory + z->directory_len;
  memcpy(local, "PK\3\4", 4);
  put_header(local + 4, size, name_len, extra);
  memcpy(local + 30, name, name_len);
  memset(local + 30 + name_len, 0, extra);
  z->len += 30 + name_len + extra;
  if (data) memcpy(z->bytes + z->len, data, size);
  else memset(z->bytes + z->len, 0, size);
  z->len += size;
  memset(entry, 0, 46);
  memcpy(entry, "PK\1\2", 4);
  put_header(entry + 6, size, name_len, 0);
  put(entry + 42, 4, start);
  memcpy(entry + 46, name, name_len);
  z->directory_len += 46 + name_len;
  z->entries++;
}

static void finish(Zip *z) {
  uint8_t *end = z->bytes + z->len + z->directory_len;
  memcpy(z->bytes + z->len, z->directory, z->directory_len);
  memset(end, 0, 22);
  memcpy(end, "PK\5\6", 4);
  put(end + 8, 2, z->entries);
  put(end + 10, 2, z->entries);
  put(end + 12, 4, z->directory_len);
  put(end + 16, 4, z->len);
  z->len += z->directory_len + 22;
}

/* Adds an entry from its "@ " on; returns where the next one begins. */
static const char *add_text(Zip *z, const char *at, const char *end) {
  char name[256] = "model/";
  const char *line = memchr(at, '\n', (size_t)(end - at)), *first = at += 2;
  if (!line) line = end;
  while (at < line && *at != ' ') at++;
  size_t len = (size_t)(at - first) < 200 ? (size_t)(at - first) : 200;
  memcpy(name + 6, first, len);
  const char *data = line < end ? line + 1 : end, *next = data;
  while (next + 1 < end && !(next[0] == '@' && next[1] == ' ' && next[-1] == '\n')) next++;
  if (next + 1 >= end) next = end;
  size_t size = (size_t)(next - data);
  if (at + 1 < line && isdigit((unsigned char)at[1])) {
    size_t zeros = 0;
    while (++at < line && isdigit((unsigned char)*at) && zeros < ZEROS_MAX)
      zeros = 10 * zeros + (size_t)(*at - '0');
    add_entry(z, name, len + 6, NULL, zeros < ZEROS_MAX ? zeros : ZEROS_MAX);
  } else {
    add_entry(z, name, len + 6, (const uint8_t *)data, size && next < end ? size - 1 : size);
  }
  return next;
}

/* ---- the target ---- */

static void check_weights(Arena *a, const Weights *w) {
  for (size_t i = 0; i < w->list.len; i++) {
    const Weight *t = w->list.data[i];
    int64_t bytes = weight_bytes(t);
    if (bytes < 0) fuzz_fail("a tensor of too many bytes");
    if (bytes < 1 << 20) weight_copy(arena_alloc(a, (size_t)bytes), t);
  }
}

/* What the graph prints is read back, and prints the same. */
static void check_text(Arena *a, const Graph *g) {
  Text text = text_new(a), again = text_new(a);
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  graph_print(&text, g);
  uint32_t file = diag_source(d, pool_name(names, "graph.py"), text.data, text.len);
  const Graph *read = graph_read_text(a, names, d, file);
  if (read) graph_print(&again, read);
  else diag_print(d, &again);
  if (!read || strcmp(text.data, again.data))
    fuzz_fail("-- printed\n%s\n-- read back\n%s", text.data, again.data);
}

static void read_archive(Arena *a, const void *bytes, size_t size) {
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  Weights *w = weights_new(a);
  Text out = text_new(a);
  Archive *f = archive_of_bytes(a, names, d, "fuzz.pt2", bytes, size);
  Graph *g = f ? pt2_read(a, names, d, f, w) : NULL;
  diag_print(d, &out);
  if (!g && !diag_errors(d)) fuzz_fail("no graph, and no word about it");
  if (!g) return;
  check_text(a, g);
  check_weights(a, w);
}

static bool is_text(const uint8_t *data, size_t size) { return size > 2 && !memcmp(data, "@ ", 2); }

/* The text is read in memory of its own, so that a sanitizer sees its end. */
static void read_text(Arena *a, const char *at, const char *end) {
  static Zip z __attribute__((aligned(64)));
  z.len = z.directory_len = z.entries = 0;
  while (at < end) at = add_text(&z, at, end);
  finish(&z);
  uint8_t *copy = arena_alloc(a, z.len);
  memcpy(copy, z.bytes, z.len);
  read_archive(a, copy, z.len);
}

static void read_input(Arena *a, const uint8_t *data, size_t size) {
  if (is_text(data, size)) read_text(a, (const char *)data, (const char *)data + size);
  else read_archive(a, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_in_arena(read_input, data, size);
  return 0;
}
