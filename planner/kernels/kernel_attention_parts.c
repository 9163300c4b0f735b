/* One kernel of all gradients of attention, by parts of the keys.
 *
 * On a CPU a tile of scores has a row for each row of the query, so that no operand is turned for
 * a tile.  A program has the gradients of its keys in registers, and adds to its own gradient of
 * the query in memory: five products for each tile, where two kernels do seven. */
#include <math.h>

#include "planner/kernels/kernel_attention_grad.h"
#include "planner/kernels/kernel_product.h"

static void call_rows(AttentionWriter *w, const char *from, const char *to, bool edge) {
  Kernel *k = w->k;
  if (w->shape->words)
    kernel_line(k,
                "dk, next_dk, acc, next_acc = %s_rows(%s, key, next_key, value, next_value, keys, "
                "tl.trans(m), tl.trans(next_m), batch, %s, part, %s, %s, dk, next_dk, acc, "
                "next_acc, %s, BD, BE, %s, END)",
                KERNEL_NAME, kernel_parameters(k), w->head ? "head" : "0", from, to,
                attention_block(w), edge ? "True" : "False");
  else
    kernel_line(k,
                "dk, acc = %s_rows(%s, key, value, scaled, tl.trans(m), batch, %s, part, %s, %s, "
                "dk, acc, %s, BD, BE, %s, END)",
                KERNEL_NAME, kernel_parameters(k), w->head ? "head" : "0", from, to,
                attention_block(w), edge ? "True" : "False");
}

/* The pointers to the program's gradient of the query. */
static const char *part_pointers(AttentionWriter *w, Node *parts, Dim row, Dim column) {
  enum { RANK = 5, ROWS = 2, HEADS = 3 };
  Kernel *k = w->k;
  Dim at[RANK];
  attention_query_index(k->graph, &w->x, k->group->index[0], w->head, row, column, at + 1);
  at[0] = attention_bind(w, "part", parts->type.shape[0], "part", AXIS_B);
  if (!w->x.heads_first) {
    Dim head = at[ROWS];
    at[ROWS] = at[HEADS];
    at[HEADS] = head;
  }
  unsigned axes = 0;
  Dim offset = linear_of_index(k->graph->dims, at, parts->type.shape, RANK);
  const char *index = kernel_index(k, offset, &axes);
  return arena_printf(k->arena, "%s + %s", kernel_buffer(k, parts),
                      product_pointers(k, index, axes, "n", "d"));
}

static const char *place_of_part(AttentionWriter *w, const Node *parts) {
  Kernel *k = w->k;
  const char *n = kernel_index(k, parts->type.shape[0], NULL), *wide = kernel_wide(k);
  if (!w->shape->part)
    return arena_printf(k->arena,
                        "    batch = tl.program_id(0)%s\n    part = 0\n    first = 0\n"
                        "    last = %s",
                        wide, w->own);
  return arena_printf(k->arena,
                      "    batch = tl.program_id(0)%s // %s\n    part = tl.program_id(0)%s %% %s\n"
                      "    first = part * %lld\n    last = tl.minimum(first + %lld, %s)",
                      wide, n, wide, n, (long long)w->shape->part, (long long)w->shape->part,
                      w->own);
}

/* Does one tile have all keys that rows see?  Its gradient of the query is the program's. */
static bool has_one_tile(const AttentionWriter *w) {
  const Attention *x = &w->x;
  return dim_is_int(x->keys) && x->keys->value > 0 && x->keys->value <= w->shape->bm && !x->low &&
         !x->high;
}

/* "older + " */
static const char *older_of_part(const AttentionWriter *w, const char *pointers, const char *mask) {
  if (has_one_tile(w)) return "";
  return arena_printf(w->k->arena, "tl.load(%s%s) + ", pointers, attention_masked_by(w->k, mask));
}

/* The statements that make the program's gradient of the query 0, of all heads that it has. */
static const char *zeros_of_part(AttentionWriter *w, const char *pointers, const char *mask) {
  Kernel *k = w->k;
  const char *wide = kernel_wide(k);
  if (has_one_tile(w)) return "";
  k->indent = 4;
  if (w->head) kernel_line(k, "for head in range(0, %s):", kernel_index(k, w->x.sharing, NULL));
  if (w->head) k->indent += 4;
  kernel_line(k, "for start in range(0, %s, BN):", w->walked);
  k->indent += 4;
  kernel_line(k, "n = start%s + tl.arange(0, BN)[:, None]", wide);
  kernel_line(k, "tl.store(%s, tl.zeros([BN, BD], tl.%s), mask=(n < %s)%s)", pointers,
              dtype_lang_name(w->x.wide), w->walked, attention_and_mask(k, mask));
  k->indent = 4;
  return attention_take_body(k);
}

/* The calls for the program's tiles of keys. */
static const char *blocks_of_part(AttentionWriter *w) {
  Kernel *k = w->k;
  const AttentionShape *s = w->shape;
  const char *params = kernel_parameters(k), *wide = kernel_wide(k);
  bool ends = attention_within(k, "m", w->x.own_rows, s->bm) != NULL;
  long long whole = s->rest ? (long long)(w->x.keys->value / s->bm * s->bm) : 0;
  const char *last = whole ? arena_printf(k->arena, "tl.minimum(last, %lld)", whole) : "last";
  kernel_line(k, "for start in range(first, %s, BM):", last);
  kernel_line(k, "    %s_keys(%s, batch, part, start%s, BM, BN, BD, BE, %s)", KERNEL_NAME, params,
              wide, ends && !s->rest ? "True" : "False");
  if (s->rest) {
    kernel_line(k, "if last == %s:", w->own);
    kernel_line(k, "    %s_keys(%s, batch, part, %lld, %lld, BN, BD, BE, True)", KERNEL_NAME,
                params, whole, (long long)s->rest);
  }
  return attention_take_body(k);
}

/* The calls for the rows that a program's tile of keys has, and the statements that store its
 * gradients after them. */
typedef struct {
  const char *body, *end;
} TileTexts;

static TileTexts texts_of_tile(AttentionWriter *w, Node *keys, Dim d, const AttentionEnds *ends) {
  attention_set_masks(w->k, "mmask", ends->columns ? "emask" : NULL);
  const char *end = attention_grad_results(w, keys, d, ends->width);
  attention_walk_rows(w, call_rows);
  return (TileTexts){.body = attention_take_body(w->k), .end = end};
}

/* What all parameters are known after. */
typedef struct {
  const char *key, *value, *query, *grad, *sums, *delta, *parts, *mask, *chain, *seed, *keep;
} PartTexts;

static PartTexts texts_of_part(AttentionWriter *w, Node *parts, Dim d) {
  const Attention *x = &w->x;
  Dim s = attention_bind(w, "s", x->rows, "n", AXIS_M);
  return (PartTexts){.mask = attention_mask_text(w),
                     .chain = attention_grad_chain(w),
                     .seed = attention_seed_text(w),
                     .keep = attention_keep_text(w),
                     .key = attention_key_pointers(w, x->key, w->key, d, "m", "d"),
                     .value = attention_key_pointers(w, x->value, w->key, w->column, "m", "e"),
                     .query = attention_query_pointers(w, x->query, s, d, "n", "d"),
                     .grad = attention_query_pointers(w, x->grad, s, w->column, "n", "e"),
                     .sums = attention_row_pointers(w, x->sums, "n", AXIS_N),
                     .delta = attention_row_pointers(w, x->delta, "n", AXIS_N),
                     .parts = part_pointers(w, parts, s, d)};
}

static const char *masked(Kernel *k, const char *condition) {
  return condition ? arena_printf(k->arena, ", mask=%s", condition) : "";
}

/* ---- in words ---- */

/* The pointers to words of two columns of an operand of rows of the query, or of keys. */
static const char *words_of_rows(AttentionWriter *w, Node *operand, Dim row, Dim columns,
                                 const char *axis) {
  enum { WORD = 2 };
  Graph *g = w->k->graph;
  Dim at[4], half = dim_floordiv(g->dims, columns, dim_int(g->dims, WORD));
  Dim word = attention_bind(w, "word", half, axis, AXIS_N);
  attention_query_index(g, &w->x, w->k->group->index[0], w->head, row,
                        dim_mul(g->dims, word, dim_int(g->dims, WORD)), at);
  return attention_pointers_as(w, operand, at, WORD, "int32", "n", axis);
}

static const char *words_of_keys(AttentionWriter *w, Node *operand, Dim columns,
                                 const char *axis) {
  enum { WORD = 2 };
  Graph *g = w->k->graph;
  Dim at[4], half = dim_floordiv(g->dims, columns, dim_int(g->dims, WORD));
  Dim word = attention_bind(w, "word", half, axis, AXIS_N);
  attention_key_index(g, &w->x, w->k->group->index[0], w->key,
                      dim_mul(g->dims, word, dim_int(g->dims, WORD)), at);
  return attention_pointers_as(w, operand, at, WORD, "int32", "m", axis);
}

/* The pointers to the bits of elements of an operand of rows of the query, or of keys. */
static const char *bits_of_rows(AttentionWriter *w, Node *operand, Dim row, Dim column,
                                const char *axis) {
  Dim at[4];
  attention_query_index(w->k->graph, &w->x, w->k->group->index[0], w->head, row, column, at);
  return attention_pointers_as(w, operand, at, 1, "uint16", "n", axis);
}

static const char *bits_of_keys(AttentionWriter *w, Node *operand, Dim column, const char *axis) {
  Dim at[4];
  attention_key_index(w->k->graph, &w->x, w->k->group->index[0], w->key, column, at);
  return attention_pointers_as(w, operand, at, 1, "uint16", "m", axis);
}

static const char *masked_bits(Kernel *k, const char *condition) {
  return condition ? arena_printf(k->arena, ", mask=%s, other=0", condition) : "";
}

/* The share of a key, of scores in units of log 2 or of 1. */
static const char *share_in_words(const AttentionWriter *w) {
  const char *form =
      w->added ? "%s_power((scores - sums) * %.17g)" : "%s_power(scores - sums * %.17g)";
  return arena_printf(w->k->arena, form, KERNEL_NAME, M_LOG2E);
}

static void gradients_in_words(Text *out, AttentionWriter *w, Node *keys) {
  Kernel *k = w->k;
  const Attention *x = &w->x;
  AttentionEnds ends = attention_ends(w);
  const char *n = w->ragged ? arena_printf(k->arena, "(n < %s)", w->walked) : NULL;
  const char *width = ends.width, *within = attention_and(k, n, width);
  Dim d = attention_bind(w, "dq", x->width, "d", AXIS_N);
  Dim s = attention_bind(w, "s", x->rows, "n", AXIS_M);
  const char *mask = attention_mask_text(w), *chain = attention_grad_chain(w);
  const char *parts = part_pointers(w, w->parts, s, d);
  const char *key_words = words_of_keys(w, x->key, x->width, "d");
  const char *value_words = words_of_keys(w, x->value, x->columns, "e");
  const char *query_words = words_of_rows(w, x->query, s, x->width, "d");
  const char *grad_words = words_of_rows(w, x->grad, s, x->columns, "e");
  const char *key = bits_of_keys(w, x->key, d, "d");
  const char *query = bits_of_rows(w, x->query, s, d, "d");
  const char *grad = bits_of_rows(w, x->grad, s, w->column, "e");
  const char *sums = attention_row_pointers(w, x->sums, "n", AXIS_N);
  const char *delta = attention_row_pointers(w, x->delta, "n", AXIS_N);
  TileTexts t = texts_of_tile(w, keys, d, &ends);
  const char *zeros = zeros_of_part(w, parts, width), *blocks = blocks_of_part(w);
  text_puts(&k->body, t.body);
  Slot slots[] = {
      {"own", w->own},
      {"place", place_of_part(w, w->parts)},
      {"zeros", zeros}, {"blocks", blocks}, {"end", t.end},
      {"width", kernel_index(k, x->width, NULL)},
      {"columns", kernel_index(k, x->columns, NULL)},
      {"key_words", key_words}, {"value_words", value_words},
      {"query_words", query_words}, {"grad_words", grad_words},
      {"words_edge", masked_bits(k, n)},
      {"key", key}, {"key_mask", attention_and_mask(k, width)},
      {"query", query},
      {"query_mask", masked_bits(k, width)}, {"query_edge", masked_bits(k, within)},
      {"grad", grad},
      {"grad_mask", masked_bits(k, ends.columns)},
      {"grad_edge", masked_bits(k, attention_and(k, n, ends.columns))},
      {"factor", attention_float(k, x->scale)},
      {"parts", parts},
      {"older", older_of_part(w, parts, width)},
      {"older_edge", older_of_part(w, parts, within)},
      {"store_mask", masked(k, width)}, {"store_edge", masked(k, within)},
      {"sums", sums}, {"sums_edge", attention_masked_sums(k, n)},
      {"delta", delta}, {"delta_edge", attention_masked_by(k, n)},
      {"loop", attention_loop(w)},
      {"scale", attention_scale_text(w)},
      {"power", attention_power_function(w)},
      {"share", share_in_words(w)},
      {"mask", mask}, {"hide", attention_hide(w)},
      {"chain", chain}};
  kernel_emit(out, k, "attention_grad_words.py", slots, sizeof slots / sizeof *slots);
}

/* ---- the kernel ---- */

static void gradients_in_tiles(Text *out, AttentionWriter *w, Node *keys) {
  Node *parts = w->parts;
  Kernel *k = w->k;
  const Attention *x = &w->x;
  AttentionEnds ends = attention_ends(w);
  const char *n = w->ragged ? arena_printf(k->arena, "(n < %s)", w->walked) : NULL;
  const char *width = ends.width, *columns = ends.columns, *within = attention_and(k, n, width);
  Dim d = attention_bind(w, "dq", x->width, "d", AXIS_N);
  PartTexts t = texts_of_part(w, parts, d);
  TileTexts tile = texts_of_tile(w, keys, d, &ends);
  bool widens = x->query->type.dtype != x->wide;
  const char *widening =
      widens ? arena_printf(k->arena, ".to(tl.%s)", dtype_lang_name(x->wide)) : "";
  const char *zeros = zeros_of_part(w, t.parts, width), *blocks = blocks_of_part(w);
  text_puts(&k->body, tile.body);
  text_puts(&k->body, tile.end);
  Slot slots[] = {
      {"own", w->own},
      {"place", place_of_part(w, parts)},
      {"zeros", zeros}, {"blocks", blocks},
      {"width", kernel_index(k, x->width, NULL)},
      {"columns", kernel_index(k, x->columns, NULL)},
      {"key", t.key}, {"key_mask", attention_and_mask(k, width)},
      {"value", t.value}, {"value_mask", attention_and_mask(k, columns)},
      {"factor", attention_float(k, x->scale)},
      {"query", t.query},
      {"query_mask", attention_masked_by(k, width)},
      {"query_edge", attention_masked_by(k, within)},
      {"parts", t.parts},
      {"older", older_of_part(w, t.parts, width)},
      {"older_edge", older_of_part(w, t.parts, within)},
      {"store_mask", masked(k, width)}, {"store_edge", masked(k, within)},
      {"grad", t.grad},
      {"grad_mask", attention_masked_by(k, columns)},
      {"grad_edge", attention_masked_by(k, attention_and(k, n, columns))},
      {"sums", t.sums}, {"sums_edge", attention_masked_sums(k, n)},
      {"delta", t.delta}, {"delta_edge", attention_masked_by(k, n)},
      {"loop", attention_loop(w)},
      {"scale", attention_scale_text(w)},
      {"share", attention_share_of_scores(w)}, {"kept_share", attention_kept_share(w)},
      {"mask", t.mask}, {"hide", attention_hide(w)},
      {"chain", t.chain},
      {"wide", dtype_lang_name(x->wide)},
      {"seed", t.seed}, {"keep", t.keep}, {"kept", attention_kept_line(w)},
      {"widening", widening},
      {"precision", product_precision(k->graph, x->wide, ROUNDS_AS_PRODUCT)}};
  kernel_emit(out, k, "attention_grad_parts.py", slots, sizeof slots / sizeof *slots);
}

void kernel_attention_gradient(Text *out, Kernel *k, const AttentionShape *shape) {
  attention_reserve_names(k);
  AttentionWriter w = attention_writer_new(k, shape);
  Node *keys = attention_part(k, OP_nereid_attention_grad_key_default);
  if (!w.parts) attention_gradients_apart(out, &w);
  else if (shape->words) gradients_in_words(out, &w, keys);
  else gradients_in_tiles(out, &w, keys);
}
