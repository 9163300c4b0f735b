/* TfIdfVectorizer: how often n-grams of a list occur in rows of numbers. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_op.h"

enum { LENGTH_MAX = 16, SKIPS_MAX = 256 };

typedef struct {
  const int64_t *pool, *starts, *columns;
  uint32_t npool, nstarts, ngrams;
  int64_t shortest, longest, skips;
} Ngrams;

/* Item j of all n-grams of that length, a vector; NULL if there are none. */
static Node *items_of(OnnxCall *c, const Ngrams *g, uint32_t length, uint32_t j) {
  int64_t from = g->starts[length - 1], to = length < g->nstarts ? g->starts[length] : g->npool;
  if (from < 0 || to > g->npool || from > to || (to - from) % length)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "ngram_counts", "inconsistent");
  int64_t n = (to - from) / length;
  OnnxKnown *k = onnx_known_new(c, DT_I64, 1, &n);
  if (!k) onnx_lack(c, "more than %d n-grams", ONNX_KNOWN_MAX);
  for (int64_t i = 0; i < n; i++) k->at[i].dim = build_const(&c->b, g->pool[from + i * length + j]);
  return n ? onnx_constant(c, k) : NULL;
}

/* Occurrences of n-grams with so many items between those that count: [rows, n-grams]. */
static Node *count_ngrams(OnnxCall *c, Node *const *items, Node *x, uint32_t length, int64_t step) {
  Build *b = &c->b;
  int64_t span = step * (length - 1) + 1, size = x->type.shape[1]->value;
  Node *all = NULL;
  if (span > size) return NULL;
  for (uint32_t j = 0; j < length; j++) {
    Dim from = build_const(b, j * step), to = build_const(b, j * step + size - span + 1);
    Node *part = build_unsqueeze(b, build_slice(b, x, 1, from, to, 1), 2);
    Node *same = build_op2(b, OP_aten_eq_Tensor, part, items[j]);
    all = all ? build_op2(b, OP_aten_logical_and_default, all, same) : same;
  }
  return build_sum(b, build_to(b, all, DT_F32), 2, false);
}

/* Counts of all n-grams, in the order of the pool: [rows, n-grams]. */
static Node *count_all(OnnxCall *c, const Ngrams *g, Node *x) {
  Build *b = &c->b;
  Node **parts = ARENA_ARRAY(b->in.g->arena, Node *, g->nstarts);
  uint32_t n = 0;
  for (uint32_t length = 1; length <= g->nstarts; length++) {
    Node *items[LENGTH_MAX], *sum = NULL;
    for (uint32_t j = 0; j < length; j++) items[j] = items_of(c, g, length, j);
    if (!*items) continue;
    bool counts = length >= g->shortest && length <= g->longest;
    for (int64_t skip = 0; skip <= (length == 1 ? 0 : g->skips) && counts; skip++) {
      Node *more = count_ngrams(c, items, x, length, skip + 1);
      if (more) sum = sum ? build_add(b, sum, more) : more;
    }
    Dim shape[] = {x->type.shape[0], items[0]->type.shape[0]};
    parts[n++] = sum ? sum : build_full(b, 2, shape, arg_float(0), DT_F32);
  }
  if (!n) onnx_fail(c, E_ONNX_ATTR_MISSING, "pool_int64s");
  return build_cat(b, n, parts, 1);
}

/* Column columns[i] of the result is that of n-gram i; columns that none has are 0. */
static Node *arranged(OnnxCall *c, const Ngrams *g, Node *counts) {
  Build *b = &c->b;
  int64_t n = 0, total = counts->type.shape[1]->value;
  if (g->ngrams != total)
    onnx_fail(c, E_ONNX_ATTR_COUNT, "ngram_indexes", g->ngrams, (unsigned)total);
  for (uint32_t i = 0; i < g->ngrams; i++) {
    if (g->columns[i] < 0 || g->columns[i] >= ONNX_KNOWN_MAX)
      onnx_lack(c, "more than %d columns", ONNX_KNOWN_MAX);
    if (g->columns[i] >= n) n = g->columns[i] + 1;
  }
  OnnxKnown *from = onnx_known_new(c, DT_I64, 1, &n);
  for (int64_t i = 0; i < n; i++) from->at[i].dim = build_const(b, total);
  for (uint32_t i = 0; i < g->ngrams; i++) from->at[g->columns[i]].dim = build_const(b, i);
  Dim zero[] = {counts->type.shape[0], build_const(b, 1)};
  Node *both[] = {counts, build_full(b, 2, zero, arg_float(0), DT_F32)};
  Arg args[] = {arg_node(build_cat(b, 2, both, 1)), build_int(b, 1),
                arg_node(onnx_constant(c, from))};
  return build(b, OP_aten_index_select_default, 3, args);
}

static Node *weight_counts(OnnxCall *c, const Ngrams *g, Node *counts) {
  Build *b = &c->b;
  Name mode = onnx_string(c, "mode", "TF");
  uint32_t n;
  const float *weights = onnx_floats(c, "weights", &n);
  if (!strcmp(mode, "TF")) return counts;
  if (strcmp(mode, "IDF") && strcmp(mode, "TFIDF")) onnx_fail(c, E_ONNX_ATTR_VALUE, "mode", mode);
  if (!strcmp(mode, "IDF"))
    counts = build_to(b, build_with(b, OP_aten_gt_Scalar, counts, arg_float(0)), DT_F32);
  if (!weights) return counts;
  if (n != g->ngrams) onnx_fail(c, E_ONNX_ATTR_COUNT, "weights", n, g->ngrams);
  if (n > ONNX_KNOWN_MAX) onnx_lack(c, "more than %d n-grams", ONNX_KNOWN_MAX);
  OnnxKnown *k = onnx_known_new(c, DT_F32, 1, (int64_t[]){n});
  for (uint32_t i = 0; i < n; i++) k->at[i].number = (double)weights[i];
  return build_mul(b, counts, onnx_constant(c, k));
}

void onnx_op_tf_idf(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  Ngrams g = {.shortest = onnx_int(c, "min_gram_length", 1),
              .skips = onnx_int(c, "max_skip_count", 0)};
  g.longest = onnx_int(c, "max_gram_length", 1);
  if (onnx_has_attr(c, "pool_strings")) onnx_lack_strings(c);
  g.pool = onnx_ints(c, "pool_int64s", &g.npool);
  g.starts = onnx_ints(c, "ngram_counts", &g.nstarts);
  g.columns = onnx_ints(c, "ngram_indexes", &g.ngrams);
  if (!g.pool || !g.starts || !g.columns || !g.nstarts)
    onnx_fail(c, E_ONNX_ATTR_MISSING, "pool_int64s");
  infer_rank(&b->in, &x->type, 1, 2);
  bool row = rank_of(x) == 1;
  if (row) x = build_unsqueeze(b, x, 0);
  if (!dim_is_int(x->type.shape[1]) || g.skips < 0 || g.skips > SKIPS_MAX || g.nstarts > LENGTH_MAX)
    onnx_lack(c, "rows of symbolic length, or n-grams that are too long");
  x = build_to(b, x, DT_I64);
  Node *y = arranged(c, &g, weight_counts(c, &g, count_all(c, &g, x)));
  onnx_set(c, 0, row ? build_select(b, y, 0, build_const(b, 0)) : y);
}
