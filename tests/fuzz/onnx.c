/* Models of ONNX's.  An input is the bytes of a file, or behind a '@' a text of which one is made,
 * so that lengths stay right when it is changed:
 *
 *   NUMBER{...}      a field that is a message     NUMBER=7       a field with an integer
 *   NUMBER"a\x00b"   a field with bytes            NUMBER~0.5     a field with a float */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ops/graph_text.h"
#include "graph/ops/infer.h"
#include "import/onnx/onnx.h"
#include "import/text/text_forms.h"
#include "tests/fuzz/common/fuzz.h"
#include "tests/fuzz/common/pipeline.h"

enum { LARGEST = 1 << 14, ROOM = LARGEST * 4, DEPTH = 150 };

static const char *const corpus[] = {"tests/fuzz/onnx/*", NULL};
static const char *const words[] = {"1\"x\"",
                                    "2\"y\"",
                                    "4\"Relu\"",
                                    "4\"Shape\"",
                                    "4\"Gather\"",
                                    "4\"Reshape\"",
                                    "4\"Slice\"",
                                    "4\"Concat\"",
                                    "4\"Cast\"",
                                    "4\"Range\"",
                                    "4\"Expand\"",
                                    "4\"Pad\"",
                                    "4\"Loop\"",
                                    "4\"If\"",
                                    "4\"Scan\"",
                                    "4\"Conv\"",
                                    "4\"MaxPool\"",
                                    "4\"Squeeze\"",
                                    "4\"Split\"",
                                    "4\"ConstantOfShape\"",
                                    "4\"Div\"",
                                    "4\"Mod\"",
                                    "4\"Where\"",
                                    "4\"Equal\"",
                                    "4\"ReduceProd\"",
                                    "5{1\"axis\" 3=-1 20=2}",
                                    "5{1\"axes\" 8=0 20=7}",
                                    "5{1\"to\" 3=7 20=2}",
                                    "5{1\"value\" 5{2=7 7=3} 20=4}",
                                    "5{2=7 1=2 8\"s\" 7=2 7=-1}",
                                    "7=9223372036854775807",
                                    "7=-9223372036854775808",
                                    "1=4611686018427387904",
                                    "13{1\"location\" 2\"../x\"}",
                                    "14=1",
                                    "21\"alpha\"",
                                    "8{1\"\" 2=17}",
                                    "8{2=6}",
                                    "11{1\"x\" 2{1{1=1 2{1{2\"n\"} 1{1=4}}}}}",
                                    "11{1\"s\" 2{1{1=7 2{1{1=2}}}}}",
                                    "11{1\"x\" 2{4{1{1{1=1 2{1{1=2}}}}}}}",
                                    "11{1\"o\" 2{9{1{1{1=1 2{1{1=2}}}}}}}",
                                    "4\"SequenceMap\"",
                                    "4\"SequenceAt\"",
                                    "4\"OptionalHasElement\"",
                                    "12{1\"y\"}",
                                    NULL};

const FuzzTarget fuzz_target = {"onnx", corpus, words, LARGEST, 1500};

/* ---- models of texts ---- */

typedef struct {
  const char *at, *end;
  uint8_t bytes[ROOM];
  size_t len;
  unsigned depth;
} Writer;

static void put(Writer *w, uint8_t byte) {
  if (w->len < ROOM) w->bytes[w->len++] = byte;
}

static void put_varint(Writer *w, uint64_t value) {
  for (; value > 127; value >>= 7) put(w, (uint8_t)(value | 128));
  put(w, (uint8_t)value);
}

/* The length of what is written from `start` on goes before it. */
static void put_length(Writer *w, size_t start) {
  uint8_t head[10];
  size_t n = 0, size = w->len - start;
  for (size_t rest = size; n == 0 || rest; rest >>= 7)
    head[n++] = (uint8_t)((rest & 127) | (rest > 127) << 7);
  if (w->len + n > ROOM) return;
  memmove(w->bytes + start + n, w->bytes + start, size);
  memcpy(w->bytes + start, head, n);
  w->len += n;
}

static int64_t read_int(Writer *w) {
  bool negative = w->at < w->end && *w->at == '-';
  uint64_t value = 0;
  for (w->at += negative; w->at < w->end && isdigit((unsigned char)*w->at); w->at++)
    value = value * 10 + (uint64_t)(*w->at - '0');
  return (int64_t)(negative ? -value : value);
}

static int hex(char c) { return isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10; }

static void put_quoted(Writer *w) {
  for (w->at++; w->at < w->end && *w->at != '"'; w->at++) {
    bool escape = *w->at == '\\' && w->end - w->at > 3 && isxdigit((unsigned char)w->at[2]) &&
                  isxdigit((unsigned char)w->at[3]);
    put(w, escape ? (uint8_t)(hex(w->at[2]) * 16 + hex(w->at[3])) : (uint8_t)*w->at);
    if (escape) w->at += 3;
  }
  if (w->at < w->end) w->at++;
}

static void put_float(Writer *w) {
  char text[32] = "";
  size_t n = 0;
  for (w->at++; w->at < w->end && n < 31 && strchr("0123456789+-.eEinfa", *w->at); w->at++)
    text[n++] = *w->at;
  float value = strtof(text, NULL);
  uint8_t bytes[4];
  memcpy(bytes, &value, 4);
  for (int i = 0; i < 4; i++) put(w, bytes[i]);
}

static void put_fields(Writer *w);

static void put_field(Writer *w) {
  uint64_t number = (uint64_t)read_int(w);
  char kind = w->at < w->end ? *w->at : 0;
  put_varint(w, number << 3 | (kind == '=' ? 0 : kind == '~' ? 5 : 2));
  size_t start = w->len;
  if (kind == '=') w->at++, put_varint(w, (uint64_t)read_int(w));
  else if (kind == '~') put_float(w);
  else if (kind == '"') put_quoted(w), put_length(w, start);
  else if (kind == '{') w->at++, put_fields(w), put_length(w, start);
}

/* Up to the brace that ends them; what is no field is passed over. */
static void put_fields(Writer *w) {
  if (++w->depth < DEPTH) {
    for (; w->at < w->end && *w->at != '}';)
      if (isdigit((unsigned char)*w->at)) put_field(w);
      else w->at++;
  }
  if (w->at < w->end) w->at++;
  w->depth--;
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

static void read_model(Arena *a, const void *bytes, size_t size) {
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  Weights *w = weights_new(a);
  Text out = text_new(a);
  int64_t two[] = {2}, values[] = {2, -1};
  nereid_tensor given = {.data = values, .device = {1, 0}, .ndim = 1, .dtype = {0, 64, 1}};
  given.shape = two;
  nereid_tensor inputs[] = {given, given, given, given, given};
  const char *const names_of[] = {NULL, NULL, NULL, "x_0", "x_1"}; /* a sequence x has two items */
  OnnxFindings found = {0};
  OnnxFile *f = onnx_of_bytes(a, names, d, "fuzz.onnx", bytes, size);
  Graph *g =
      onnx_read(a, names, d, f, (OnnxGiven){.tensors = inputs, .n = 5, .names = names_of}, w,
                &found);
  diag_print(d, &out);
  if (!g && !diag_errors(d)) fuzz_fail("no graph, and no word about it");
  if (!g) return;
  if (!infer_graph(g)) {
    diag_print(d, &out);
    fuzz_fail("types that inference does not give again\n%s", out.data);
  }
  check_text(a, g);
  check_weights(a, w);
}

/* The text is read in memory of its own, so that a sanitizer sees its end. */
static void read_text(Arena *a, const char *at, const char *end) {
  static Writer w;
  w.at = at;
  w.end = end;
  w.len = w.depth = 0;
  while (w.at < w.end) put_fields(&w);
  uint8_t *copy = arena_alloc(a, w.len);
  memcpy(copy, w.bytes, w.len);
  read_model(a, copy, w.len);
}

static void read_input(Arena *a, const uint8_t *data, size_t size) {
  if (size && *data == '@') read_text(a, (const char *)data + 1, (const char *)data + size);
  else read_model(a, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_in_arena(read_input, data, size);
  return 0;
}
