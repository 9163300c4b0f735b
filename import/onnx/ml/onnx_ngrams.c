/* TfIdfVectorizer: how often n-grams of a list occur in rows of numbers, of which strings are some.
 *
 * The items of the list are counted from 0, in order, and an element of a row is the number of the
 * item that it equals, or the next number after all.  An n-gram is one number of its items'
 * numbers, as digits, which is looked up among those of the list. */
#include <stdlib.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_op.h"

enum { LENGTH_MAX = 16, SKIPS_MAX = 256, COLUMNS_MAX = 1 << 24 };

typedef struct {
  const int64_t *pool, *starts, *columns;
  uint32_t npool, nstarts, ngrams;
  int64_t shortest, longest, skips;
  int64_t *items; /* of the pool, each once, in order */
  uint32_t nitems;
} Ngrams;

/* ---- sorted lists ---- */

typedef struct {
  int64_t key, at;
} Key;

static int compare_ints(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int compare_keys(const void *a, const void *b) {
  const Key *x = a, *y = b;
  int order = compare_ints(&x->key, &y->key);
  return order ? order : compare_ints(&x->at, &y->at);
}

static void sort_items(OnnxCall *c, Ngrams *g) {
  g->items = ARENA_ARRAY(c->b.in.g->arena, int64_t, g->npool + 1);
  memcpy(g->items, g->pool, g->npool * sizeof *g->items);
  qsort(g->items, g->npool, sizeof *g->items, compare_ints);
  for (uint32_t i = 0; i < g->npool; i++)
    if (!g->nitems || g->items[i] != g->items[g->nitems - 1]) g->items[g->nitems++] = g->items[i];
}

static Node *vector(OnnxCall *c, int64_t n, const int64_t *list) {
  return onnx_table(c, DT_I64, 1, &n, list);
}

static Node *looked_up(Build *b, Node *table, Node *at) {
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(at);
  return build_with(b, OP_aten_index_Tensor, table, list);
}

/* The index of x in a sorted list, or the element of `values` there (unless NULL); else `none`. */
static Node *found_at(Build *b, Node *x, Node *list, Node *values, int64_t none) {
  int64_t last = list->type.shape[0]->value - 1;
  Node *at = build_with(b, OP_aten_bucketize_Tensor, x, arg_node(list));
  at = build_with(b, OP_aten_clamp_max_default, at, build_int(b, last));
  Node *same = build_op2(b, OP_aten_eq_Tensor, looked_up(b, list, at), x);
  return build_where(b, same, arg_node(values ? looked_up(b, values, at) : at),
                     build_int(b, none));
}

/* ---- n-grams ---- */

/* The n-grams of a length: where they begin in the pool, how many there are, and before them. */
typedef struct {
  uint32_t length, begin, n, before;
  Node *keys, *at; /* in order, and which n-gram each is */
} Group;

static Group group_of(OnnxCall *c, const Ngrams *g, uint32_t length, uint32_t before) {
  int64_t from = g->starts[length - 1], to = length < g->nstarts ? g->starts[length] : g->npool;
  if (from < 0 || to > g->npool || from > to || (to - from) % length)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "ngram_counts", "inconsistent");
  return (Group){.length = length, .begin = (uint32_t)from, .n = (uint32_t)(to - from) / length,
                 .before = before};
}

static void make_keys(OnnxCall *c, const Ngrams *g, Group *group) {
  Arena *a = c->b.in.g->arena;
  Key *keys = ARENA_ARRAY(a, Key, group->n);
  int64_t *list = ARENA_ARRAY(a, int64_t, group->n), *at = ARENA_ARRAY(a, int64_t, group->n);
  for (uint32_t i = 0; i < group->n; i++) {
    keys[i].at = group->before + i;
    for (uint32_t j = 0; j < group->length; j++) {
      const int64_t *item = g->pool + group->begin + i * group->length + j;
      const int64_t *where = bsearch(item, g->items, g->nitems, sizeof *item, compare_ints);
      if (__builtin_mul_overflow(keys[i].key, g->nitems + 1, &keys[i].key) ||
          __builtin_add_overflow(keys[i].key, where - g->items, &keys[i].key))
        onnx_lack(c, "n-grams of %u among %u items", group->length, g->nitems);
    }
  }
  qsort(keys, group->n, sizeof *keys, compare_keys);
  for (uint32_t i = 0; i < group->n; i++) list[i] = keys[i].key, at[i] = keys[i].at;
  group->keys = vector(c, group->n, list);
  group->at = vector(c, group->n, at);
}

/* The n-grams that begin at each place of rows, with so many items from one to the next; `none`
 * where there is none.  x is followed by numbers of no item. */
static Node *ngrams_at(OnnxCall *c, const Ngrams *g, const Group *group, Node *x, Dim size,
                       int64_t step) {
  Build *b = &c->b;
  Node *key = NULL;
  for (uint32_t j = 0; j < group->length; j++) {
    Dim from = build_const(b, j * step), to = dim_add(build_dims(b), size, from);
    Node *part = build_slice(b, x, 1, from, to, 1);
    if (key) key = build_with(b, OP_aten_mul_Tensor, key, build_int(b, g->nitems + 1));
    key = key ? build_add(b, key, part) : part;
  }
  return found_at(b, key, group->keys, group->at, g->ngrams);
}

/* Adds 1 to the columns of a row's n-grams; the last column is for those that are none. */
static Node *counted(Build *b, Node *counts, Node *at) {
  Node *ones = build_full(b, 2, at->type.shape, arg_float(1), DT_F32);
  return build(b, OP_aten_scatter_add_default,
               ARGS(arg_node(counts), build_int(b, 1), arg_node(at), arg_node(ones)));
}

/* Counts of all n-grams, in the order of the pool: [rows, n-grams]. */
static Node *count_all(OnnxCall *c, Ngrams *g, Node *x) {
  Build *b = &c->b;
  Dim size = x->type.shape[1], shape[] = {x->type.shape[0], build_const(b, g->ngrams + 1)};
  sort_items(c, g);
  if (!g->nitems) onnx_fail(c, E_ONNX_ATTR_MISSING, "pool_int64s");
  x = found_at(b, x, vector(c, g->nitems, g->items), NULL, g->nitems);
  Arg pads = arg_list(b->in.g, 2);
  pads.items[0] = build_int(b, 0);
  pads.items[1] = build_int(b, (g->nstarts - 1) * (g->skips + 1));
  x = build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), pads, build_int(b, g->nitems)));
  Node *counts = build_full(b, 2, shape, arg_float(0), DT_F32);
  for (uint32_t length = 1, before = 0; length <= g->nstarts; length++) {
    Group group = group_of(c, g, length, before);
    before += group.n;
    if (before > g->ngrams) onnx_fail(c, E_ONNX_ATTR_COUNT, "ngram_indexes", g->ngrams, before);
    if (!group.n || length < g->shortest || length > g->longest) continue;
    make_keys(c, g, &group);
    for (int64_t skip = 0; skip <= (length == 1 ? 0 : g->skips); skip++)
      counts = counted(b, counts, ngrams_at(c, g, &group, x, size, skip + 1));
    if (length == g->nstarts && before != g->ngrams)
      onnx_fail(c, E_ONNX_ATTR_COUNT, "ngram_indexes", g->ngrams, before);
  }
  return build_slice(b, counts, 1, build_const(b, 0), build_const(b, g->ngrams), 1);
}

/* Column columns[i] of the result is that of n-gram i; columns that none has are 0. */
static Node *arranged(OnnxCall *c, const Ngrams *g, Node *counts) {
  Build *b = &c->b;
  int64_t n = 0;
  for (uint32_t i = 0; i < g->ngrams; i++) {
    if (g->columns[i] < 0 || g->columns[i] >= COLUMNS_MAX)
      onnx_lack(c, "more than %d columns", COLUMNS_MAX);
    if (g->columns[i] >= n) n = g->columns[i] + 1;
  }
  int64_t *from = ARENA_ARRAY(b->in.g->arena, int64_t, (size_t)n);
  for (int64_t i = 0; i < n; i++) from[i] = g->ngrams;
  for (uint32_t i = 0; i < g->ngrams; i++) {
    if (from[g->columns[i]] < g->ngrams) onnx_lack(c, "n-grams that share a column");
    from[g->columns[i]] = i;
  }
  Dim zero[] = {counts->type.shape[0], build_const(b, 1)};
  Node *both[] = {counts, build_full(b, 2, zero, arg_float(0), DT_F32)};
  Arg args[] = {arg_node(build_cat(b, 2, both, 1)), build_int(b, 1), arg_node(vector(c, n, from))};
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
  return build_mul(b, counts, onnx_table(c, DT_F32, 1, (int64_t[]){n}, weights));
}

void onnx_op_tf_idf(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  Ngrams g = {.shortest = onnx_int(c, "min_gram_length", 1),
              .skips = onnx_int(c, "max_skip_count", 0)};
  g.longest = onnx_int(c, "max_gram_length", 1);
  bool is_text = onnx_has_attr(c, "pool_strings");
  if (is_text != c->in[0]->is_text) onnx_lack(c, "a pool of another type");
  g.pool = is_text ? onnx_texts(c, "pool_strings", &g.npool)
                   : onnx_ints(c, "pool_int64s", &g.npool);
  g.starts = onnx_ints(c, "ngram_counts", &g.nstarts);
  g.columns = onnx_ints(c, "ngram_indexes", &g.ngrams);
  if (!g.pool || !g.starts || !g.columns || !g.nstarts)
    onnx_fail(c, E_ONNX_ATTR_MISSING, "pool_int64s");
  infer_rank(&b->in, &x->type, 1, 2);
  bool row = rank_of(x) == 1;
  if (row) x = build_unsqueeze(b, x, 0);
  if (g.skips < 0 || g.skips > SKIPS_MAX || g.nstarts > LENGTH_MAX)
    onnx_lack(c, "n-grams that are too long");
  x = build_to(b, x, DT_I64);
  Node *y = arranged(c, &g, weight_counts(c, &g, count_all(c, &g, x)));
  onnx_set(c, 0, row ? build_select(b, y, 0, build_const(b, 0)) : y);
}
